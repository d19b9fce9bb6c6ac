//! A Filo vector: verification and storage.

use pilaster::Result;
use pilaster::bytes::Scratch;

use super::Filo;
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Progress, Source};

impl Filo {
    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        _: &mut u64,
        _: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        self.vector(pieces, source)?.verify().map(|()| None)
    }

    pub fn info(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let vector = self.vector(pieces, source)?;
        let encoding = vector.encoding();
        json.name("element", self.element.name()).name("header", vector.header().name());
        if let Some(packing) = encoding.packing() {
            json.count("bits", packing.bits().into());
        }
        Ok(())
    }
}
