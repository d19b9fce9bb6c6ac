//! A file of one table whose rows are one part: Filo, Jay, Vortex.

#[cfg(all(feature = "info", feature = "filo"))]
mod filo;
#[cfg(all(feature = "info", feature = "jay"))]
mod jay;
#[cfg(all(feature = "info", feature = "vortex"))]
mod vortex;

use pilaster::Result;
#[cfg(feature = "verify")]
use pilaster::any::FileError;
use pilaster::any::{Column, File, Format, Part};
use pilaster::bytes::Fetch as _;
#[cfg(feature = "verify")]
use pilaster::bytes::Input;
use pilaster::bytes::Scratch;
use pilaster::column::Part as _;
use pilaster::error::{Error, Kind, What};

use crate::describe;
use crate::heap::lasting;
use crate::json::Json;
use crate::pieces::{LASTING, Pieces};
#[cfg(feature = "rows")]
use crate::session::Call;
#[cfg(feature = "verify")]
use crate::session::Progress;
use crate::session::Source;
#[cfg(feature = "rows")]
use crate::tape::Tape;

/// Maximum size in bytes of a Jay column that is fetched completely. The next call then needs no request.
const COMPLETE: u64 = 8 << 20;

/// An open file: its metadata. The bytes of rows are read through the pieces of each call.
pub struct Single(File<'static>);

impl Single {
    pub fn open(format: Format, source: &Source) -> Result<Self> {
        let input = LASTING.input(source.len);
        // Fetched even without a type, because the error then lists the types that fit.
        #[cfg(feature = "filo")]
        if format == Format::Filo {
            input.get(pilaster::bytes::FileRange { at: 0, len: source.len }, What::FILO_VECTOR)?;
        }
        let hints = source.hints();
        lasting(|scratch| File::open_input(input, format, &hints, scratch)).map(Single)
    }

    pub const fn format(&self) -> Format {
        self.0.format()
    }

    #[cfg(feature = "rows")]
    pub fn tables(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let file = self.0.with_input(pieces.input(source.len));
        let part = part(&file)?;
        describe::table(json, "", part.rows());
        for k in 0..part.width() {
            describe::column(json, part.name(k)?, &part.column(k)?)?;
        }
        describe::end(json);
        Ok(())
    }

    #[cfg(feature = "rows")]
    pub fn read(&self, call: &Call<'_>, tape: &mut Tape, scratch: &mut Scratch<'_>) -> Result<u32> {
        let file = self.0.with_input(call.pieces.input(call.source.len));
        let part = part(&file)?;
        let len = call.only(part.rows())?;
        for k in call.columns() {
            request(&part.column(k)?, call)?;
        }
        call.pieces.complete()?;
        let mut scratch = scratch.scope();
        for k in call.columns() {
            match tape.column(&part.column(k)?, call.rows.clone(), &mut scratch) {
                // The other columns note what they lack, too.
                Err(e) if e.kind() == Kind::Missing => {}
                done => done?,
            }
        }
        call.pieces.complete()?;
        Ok(len)
    }

    #[cfg(feature = "verify")]
    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        _: &mut u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        let bytes = pieces.whole(source.len, What::INPUT)?;
        let file = self.0.with_input(Input::whole(bytes));
        file.verify(scratch).map(|()| None).map_err(|FileError::Format(e)| e)
    }

    #[cfg(feature = "info")]
    pub fn info(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let file = self.0.with_input(pieces.input(source.len));
        match &file {
            #[cfg(feature = "filo")]
            File::Filo(vector) => filo::info(vector, source, json),
            #[cfg(feature = "jay")]
            File::Jay(file) => jay::info(file, json)?,
            #[cfg(feature = "vortex")]
            File::Vortex(file) => vortex::info(file, pieces, source, json)?,
            #[allow(unreachable_patterns, reason = "other formats are opened elsewhere")]
            _ => {}
        }
        Ok(())
    }

    /// Adds the id of an unknown encoding or layout to the JSON.
    pub fn name_unknown(&self, e: &Error, json: &mut Json) {
        match &self.0 {
            #[cfg(any(feature = "vortex", feature = "verifier"))]
            File::Vortex(file) => {
                if let Some(id) = file.unknown_id(e) {
                    json.name("id", id);
                }
            }
            #[allow(unreachable_patterns, reason = "the other formats")]
            _ => {}
        }
    }
}

/// Returns all rows.
#[cfg(feature = "rows")]
fn part<'f>(file: &'f File<'f>) -> Result<Part<'f>> {
    match file {
        #[cfg(feature = "filo")]
        File::Filo(vector) => Ok(Part::Filo(*vector)),
        #[cfg(feature = "jay")]
        File::Jay(file) => Ok(Part::Jay(*file)),
        #[cfg(feature = "vortex")]
        File::Vortex(file) => file.part().map(Part::Vortex),
        #[allow(unreachable_patterns, reason = "other formats are opened elsewhere")]
        other => Err(other.format().unreadable()),
    }
}

/// Requests what the metadata say about the position of rows, so that the page provides all of it together.
#[cfg(feature = "rows")]
fn request(column: &Column<'_>, call: &Call<'_>) -> Result<()> {
    match column {
        #[cfg(feature = "vortex")]
        Column::Vortex(column) => column.segments(call.rows.clone(), &mut |span| {
            call.pieces.fetch(span);
            Ok(())
        }),
        #[cfg(feature = "jay")]
        Column::Jay(column) => {
            let span = column.field().span()?;
            if span.len > 0 && span.len <= COMPLETE {
                call.pieces.fetch(span);
            }
            Ok(())
        }
        #[allow(unreachable_patterns, reason = "the other formats")]
        _ => Ok(()),
    }
}
