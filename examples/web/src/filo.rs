//! A Filo vector: one chunk, taken whole.

#[cfg(feature = "check")]
mod check;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};
use pilaster::filo::{Element, Vector};

use crate::describe;
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Call, Source, no_column};
use crate::tape::Tape;

/// A vector that could be opened.
pub struct Filo {
    element: Element,
}

impl Filo {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        // Also where the type is not told: then what fits is.
        let bytes = bytes(pieces, source)?;
        let element = source.element.ok_or(Error::new(Kind::Misuse, What::FiloElement, 0))?;
        Vector::open(bytes, element)?;
        Ok(Filo { element })
    }

    fn vector<'p>(&self, pieces: &'p Pieces, source: &Source) -> Result<Vector<'p>> {
        Vector::open(bytes(pieces, source)?, self.element)
    }

    pub fn tables(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let vector = self.vector(pieces, source)?;
        json.open(b'{').name("name", "").count("rows", vector.rows()).key("columns").open(b'[');
        for k in 0..pilaster::column::Part::width(&vector) {
            describe::column(json, pilaster::column::Part::name(&vector, k)?, &vector.column(k)?)?;
        }
        json.close(b']').close(b'}');
        Ok(())
    }

    pub fn read<'s>(&self, call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u64> {
        let vector = self.vector(call.pieces, call.source)?;
        let len = call.len(vector.rows())?;
        if call.table > 0 {
            return Err(no_column(call.table, 1));
        }
        for k in call.columns {
            tape.column(&vector.column(*k as usize)?, call.rows.clone(), scratch)?;
        }
        Ok(len)
    }
}

fn bytes<'p>(pieces: &'p Pieces, source: &Source) -> Result<&'p [u8]> {
    pieces.whole(source.len, What::FiloVector)
}
