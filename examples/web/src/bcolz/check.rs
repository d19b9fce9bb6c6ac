//! bcolz: verification of all chunks, and their storage.

use pilaster::Result;
use pilaster::bcolz::Shuffle;
use pilaster::bcolz::chunk::Chunk;
use pilaster::bytes::Scratch;

use super::{Array, Bcolz, chunk, range};
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Progress, Source};

/// Number of chunks that one step of [`Bcolz::verify`] requests together and decodes.
const STEP: u64 = 16;

impl Bcolz {
    /// Decodes some chunks, column by column.
    #[cfg(feature = "verify")]
    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        walk: &mut u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        let arrays = match self {
            Bcolz::Chunk => return decode(&chunk(pieces, source)?, scratch).map(|()| None),
            Bcolz::Dataset(arrays) => arrays,
        };
        let of = arrays.iter().fold(0u64, |sum, array| sum.saturating_add(array.chunks()));
        let end = of.min(walk.saturating_add(STEP));
        let place = |mut n: u64| {
            arrays.iter().find_map(|array| match n.checked_sub(array.chunks()) {
                Some(rest) => {
                    n = rest;
                    None
                }
                None => Some((array, n)),
            })
        };
        for (array, number) in (*walk..end).filter_map(place) {
            // Another error than missing bytes is returned below.
            let _ = array.chunk(number, pieces);
        }
        pieces.complete()?;
        for (array, number) in (*walk..end).filter_map(place) {
            decode(&array.chunk(number, pieces)?, &mut scratch.scope())?;
        }
        *walk = end;
        Ok((end < of).then_some(Progress { done: end, of }))
    }

    #[cfg(feature = "info")]
    pub fn info(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        match self {
            Bcolz::Chunk => {
                let chunk = chunk(pieces, source)?;
                json.name("codec", chunk.compressor().map_or("unknown", |compressor| compressor.name()));
                json.name("shuffle", shuffle(chunk.shuffle())).key("copy").bool(chunk.is_copy());
                json.count("typesize", chunk.typesize() as u64).count("blocks", chunk.blocks().into());
                json.count("blocksize", chunk.blocksize() as u64).count("size", chunk.ctbytes() as u64);
                json.count("unpacked", chunk.nbytes() as u64);
            }
            Bcolz::Dataset(arrays) => {
                json.key("arrays").open(b'[');
                for array in arrays {
                    let params = array.storage.params;
                    json.open(b'{').name("name", array.name).name("dtype", array.storage.dtype_text);
                    json.count("chunks", array.chunks()).count("chunklen", array.storage.chunklen);
                    json.name("codec", params.compressor.name()).count("level", params.level.into());
                    json.name("shuffle", shuffle(params.shuffle));
                    json.count("size", array.sizes.cbytes).count("unpacked", array.sizes.nbytes).close(b'}');
                }
                json.close(b']');
            }
        }
        Ok(())
    }
}

impl Array {
    fn chunks(&self) -> u64 {
        self.rows().div_ceil(self.storage.chunklen.max(1))
    }
}

fn decode(chunk: &Chunk<'_>, scratch: &mut Scratch<'_>) -> Result<()> {
    range(chunk, 0, chunk.nbytes() as u64, scratch).map(drop)
}

const fn shuffle(shuffle: Shuffle) -> &'static str {
    match shuffle {
        Shuffle::None => "none",
        Shuffle::Byte => "bytes",
        Shuffle::Bit => "bits",
    }
}
