//! A Vortex file, opened from pieces: each error names the next one to request.

#[cfg(feature = "check")]
mod check;

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::{FileRange, Piece, Scratch};
use pilaster::column::Part as _;
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::File;

use crate::describe;
use crate::heap::push;
use crate::json::Json;
use crate::pieces::{Missing, Pieces};
use crate::session::{Call, Source};
use crate::tape::Tape;

/// The metadata of a file, which every call uses.
pub struct Vortex {
    metadata: Vec<Piece<'static>>,
}

impl Vortex {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        let mut metadata = Vec::new();
        loop {
            match File::open_pieces(&metadata, source.len, &Limits::DEFAULT) {
                // Keeps the requested range only, not the piece that contains it.
                Err(e) if e.kind() == Kind::Missing => {
                    let span = FileRange { at: e.at(), len: e.need().into() };
                    push(&mut metadata, Piece { at: span.at, bytes: pieces.keep(span, e.what())? })?;
                }
                opened => break opened.map(drop)?,
            }
        }
        Ok(Vortex { metadata })
    }

    fn pieces<'p>(&self, pieces: &'p Pieces) -> Result<Vec<Piece<'p>>> {
        let mut all: Vec<Piece<'p>> = Vec::new();
        let given = pieces.all().map(|(at, bytes)| Piece { at, bytes });
        self.metadata.iter().copied().chain(given).try_for_each(|piece| push(&mut all, piece))?;
        Ok(all)
    }

    pub fn tables(&self, _: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let file = File::open_pieces(&self.metadata, source.len, &Limits::DEFAULT)?;
        let part = file.part()?;
        describe::table(json, "", part.rows());
        for k in 0..part.width() {
            describe::column(json, part.name(k)?, &part.column(k)?)?;
        }
        describe::end(json);
        Ok(())
    }

    pub fn read(&self, call: &Call<'_>, tape: &mut Tape, scratch: &mut Scratch<'_>) -> Result<u32> {
        let all = self.pieces(call.pieces)?;
        let file = File::open_pieces(&all, call.source.len, &Limits::DEFAULT)?;
        let part = file.part()?;
        let len = call.only(part.rows())?;
        // Requests all segments of all columns together.
        let mut missing = Missing::default();
        for k in call.columns() {
            part.column(k)?.segments(call.rows.clone(), &mut |span| {
                missing.look(call.pieces.get(span, What::VORTEX_SEGMENT));
                Ok(())
            })?;
        }
        missing.end()?;
        let mut scratch = scratch.scope();
        for k in call.columns() {
            tape.column(&part.column(k)?, call.rows.clone(), &mut scratch)?;
        }
        Ok(len)
    }

    /// Adds the id of an unknown encoding or layout to the JSON.
    pub fn name_unknown(&self, pieces: &Pieces, source: &Source, e: Error, json: &mut Json) {
        let Ok(all) = self.pieces(pieces) else { return };
        let Ok(file) = File::open_pieces(&all, source.len, &Limits::DEFAULT) else { return };
        if let Some(id) = file.unknown_id(&e) {
            json.name("id", id);
        }
    }
}
