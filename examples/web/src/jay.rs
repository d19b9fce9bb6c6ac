//! A Jay file. Its metadata is read once, then only the buffers of the requested columns.

#[cfg(feature = "check")]
mod check;

use pilaster::Result;
use pilaster::bytes::{Input, Piece, Scratch};
use pilaster::error::What;
use pilaster::jay::{self, Column, Field, Meta, ReadOptions, Tail};

use crate::describe;
use crate::heap::memory;
use crate::json::Json;
use crate::pieces::{Missing, Pieces};
use crate::session::{Call, Source};
use crate::tape::Tape;

/// An open file.
pub struct Jay {
    tail: Tail,
    meta: Meta<'static>,
    options: ReadOptions,
}

impl Jay {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        let options = ReadOptions { tolerant: source.tolerant, check_null_counts: true, ..ReadOptions::DEFAULT };
        let end = Tail::span(source.len)?;
        jay::check_head(pieces.get(jay::HEAD_SPAN, What::JAY_HEAD)?)?;
        let tail = Tail::of(pieces.get(end, What::JAY_TAIL)?, source.len, &options)?;
        let bytes = pieces.keep(tail.meta, What::JAY_META)?;
        // The memory to compare names and buffers is proportional to the metadata.
        let mut room = memory(tail.meta.len.saturating_mul(4).saturating_add(1 << 12))?;
        let meta = Meta::open(bytes, &tail, &options, &mut Scratch::new(&mut room))?;
        Ok(Jay { tail, meta, options })
    }

    pub fn tables(&self, _: &Pieces, _: &Source, json: &mut Json) -> Result<()> {
        describe::table(json, "", self.meta.rows());
        for k in 0..self.meta.width() {
            described(json, self.meta.name(k)?, &self.meta.field(k)?)?;
        }
        describe::end(json);
        Ok(())
    }

    pub fn read<'s>(&self, call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u32> {
        let len = call.only(self.meta.rows())?;
        // Requests the buffers of all columns together.
        let mut missing = Missing::default();
        for k in call.columns() {
            let span = self.meta.field(k)?.span()?;
            missing.look(call.pieces.get(span, What::JAY_BUFFER));
        }
        missing.end()?;
        for k in call.columns() {
            let field: Field<'s> = self.meta.field(k)?;
            let span = field.span()?;
            let piece = Piece { at: span.at, bytes: call.pieces.get(span, What::JAY_BUFFER)? };
            let column = Column::new(field, Input::piece(piece, self.tail.file))?;
            tape.column(&column, call.rows.clone(), scratch)?;
        }
        Ok(len)
    }
}

/// Describes a column from the metadata, without its buffers.
fn described(json: &mut Json, name: &str, field: &Field<'_>) -> Result<()> {
    let ty = field.stype().ty().unwrap_or(pilaster::column::Type::Opaque);
    describe::begin(json, name, ty, field.null_count() > 0 || field.stype() == jay::SType::Void0);
    json.name("stored", field.stype().name());
    if let Some(child) = field.child()? {
        json.key("children").open(b'[');
        described(json, "", &child)?;
        json.close(b']');
    }
    json.close(b'}');
    Ok(())
}
