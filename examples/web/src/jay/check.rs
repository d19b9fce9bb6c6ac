//! A Jay file: verification and storage.

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::error::What;
use pilaster::jay::{File, Stats};

use super::Jay;
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Progress, Source};

impl Jay {
    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        _: &mut u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        let bytes = pieces.whole(source.len, What::INPUT)?;
        File::open(bytes, &self.options, scratch)?.verify(scratch).map(|()| None)
    }

    pub fn info(&self, _: &Pieces, _: &Source, json: &mut Json) -> Result<()> {
        let data = self.tail.data();
        json.count("keys", self.meta.keys() as u64);
        json.key("metadata")
            .open(b'{')
            .count("offset", self.tail.meta.at)
            .count("size", self.tail.meta.len)
            .close(b'}');
        json.key("data").open(b'{').count("offset", data.at).count("size", data.len).close(b'}');
        json.key("columns").open(b'[');
        for k in 0..self.meta.width() {
            let field = self.meta.field(k)?;
            json.open(b'{').name("name", self.meta.name(k)?).count("nulls", field.null_count());
            json.key("buffers").open(b'[');
            for span in field.buffers() {
                json.open(b'{').count("offset", span.at).count("size", span.len).close(b'}');
            }
            json.close(b']');
            if let Some(Stats::Int { min, max }) = field.stats()? {
                json.key("min").signed(min).key("max").signed(max);
            }
            json.close(b'}');
        }
        json.close(b']');
        Ok(())
    }
}
