//! A Filo vector: one chunk, read completely.

#[cfg(feature = "check")]
mod check;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::error::{Error, Kind, What};
use pilaster::filo::{Element, Vector};

use crate::describe;
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Call, Source};
use crate::tape::Tape;

/// A vector of which opening succeeded.
pub struct Filo {
    element: Element,
}

impl Filo {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        // Read even without a type, because the error then lists the types that fit.
        let bytes = bytes(pieces, source)?;
        let element = source.element.ok_or_else(|| Error::new(Kind::Misuse, What::FILO_ELEMENT, 0))?;
        Vector::open(bytes, element)?;
        Ok(Filo { element })
    }

    fn vector<'p>(&self, pieces: &'p Pieces, source: &Source) -> Result<Vector<'p>> {
        Vector::open(bytes(pieces, source)?, self.element)
    }

    pub fn tables(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let vector = self.vector(pieces, source)?;
        describe::table(json, "", vector.rows());
        for k in 0..vector.width() {
            // The column has no children.
            let column = vector.column(k)?;
            describe::begin(json, vector.name(k)?, column.ty(), column.nullable());
            json.close(b'}');
        }
        describe::end(json);
        Ok(())
    }

    pub fn read<'s>(&self, call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u32> {
        let vector = self.vector(call.pieces, call.source)?;
        let len = call.only(vector.rows())?;
        for k in call.columns() {
            tape.column(&vector.column(k)?, call.rows.clone(), scratch)?;
        }
        Ok(len)
    }
}

fn bytes<'p>(pieces: &'p Pieces, source: &Source) -> Result<&'p [u8]> {
    pieces.whole(source.len, What::FILO_VECTOR)
}
