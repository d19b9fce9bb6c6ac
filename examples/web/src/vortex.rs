//! A Vortex file: opened from pieces, by the errors that name the next one.

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::{Scratch, Span};
use pilaster::column::Part as _;
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{File, Piece, Role, Source as Bytes, Visit};

use crate::describe;
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Call, Progress, Source, no_column};
use crate::tape::Tape;

/// The metadata of a file, which every call needs again.
pub struct Vortex {
    metadata: Vec<Piece<'static>>,
}

impl Vortex {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        let mut metadata = Vec::new();
        loop {
            match File::open_source(Bytes::pieces(&metadata, source.len), None, &Limits::DEFAULT) {
                // What is kept is what was asked for, not the piece that it lies in.
                Err(e) if e.kind() == Kind::Missing => {
                    let span = Span { at: e.at(), len: e.need().into() };
                    metadata.push(Piece { at: span.at, bytes: pieces.keep(span, e.what())? });
                }
                opened => break opened.map(drop)?,
            }
        }
        Ok(Vortex { metadata })
    }

    fn pieces<'p>(&self, pieces: &'p Pieces) -> Vec<Piece<'p>> {
        let mut all: Vec<Piece<'p>> = self.metadata.clone();
        all.extend(pieces.all().map(|(at, bytes)| Piece { at, bytes }));
        all
    }

    pub fn tables(&self, _: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let file = File::open_pieces(&self.metadata, source.len, &Limits::DEFAULT)?;
        let part = file.part()?;
        json.open(b'{').name("name", "").count("rows", part.rows()).key("columns").open(b'[');
        for k in 0..part.width() {
            describe::column(json, part.name(k)?, &part.column(k)?)?;
        }
        json.close(b']').close(b'}');
        Ok(())
    }

    pub fn read(&self, call: &Call<'_>, tape: &mut Tape, scratch: &mut Scratch<'_>) -> Result<u64> {
        let all = self.pieces(call.pieces);
        let file = File::open_pieces(&all, call.source.len, &Limits::DEFAULT)?;
        let part = file.part()?;
        let len = call.len(part.rows())?;
        if call.table > 0 {
            return Err(no_column(call.table, 1));
        }
        // All segments of all columns are asked for at once.
        let mut missing = None;
        for k in call.columns {
            part.column(*k as usize)?.segments(call.rows.clone(), &mut |span| {
                if let Err(e) = call.pieces.get(span, What::VtxSegment) {
                    missing = Some(e);
                }
                Ok(())
            })?;
        }
        missing.map_or(Ok(()), Err)?;
        let mut scratch = scratch.scope();
        for k in call.columns {
            tape.column(&part.column(*k as usize)?, call.rows.clone(), &mut scratch)?;
        }
        Ok(len)
    }

    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        _: &mut u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        let bytes = pieces.get(Span { at: 0, len: source.len }, What::Input)?;
        File::open(bytes)?.verify(scratch).map(|()| None)
    }

    pub fn info(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        let all = self.pieces(pieces);
        let file = File::open_pieces(&all, source.len, &Limits::DEFAULT)?;
        json.count("segments", file.segments() as u64);
        json.key("metadata").open(b'[');
        for k in 0..file.metadata_len() {
            let (key, span) = file.metadata(k)?;
            json.open(b'{').name("name", key).count("offset", span.at).count("size", span.len).close(b'}');
        }
        json.close(b']');
        json.key("tree").open(b'[');
        file.visit(true, &mut |visit| {
            node(json, visit);
            Ok(())
        })?;
        json.close(b']');
        // The arrays lie in the segments, which need not be there.
        let whole = source.len <= pilaster::limits::Limits::DEFAULT.max_decoded >> 4;
        if whole {
            let bytes = pieces.get(Span { at: 0, len: source.len }, What::Input)?;
            let file = File::open(bytes)?;
            let shares = shares(&file)?;
            json.key("encodings").open(b'[');
            for share in &shares {
                json.open(b'{').key("id").text(share.id);
                if let Some(column) = share.column {
                    json.count("column", column as u64);
                }
                json.key("zones")
                    .bool(share.zones)
                    .count("arrays", share.arrays)
                    .count("size", share.bytes)
                    .close(b'}');
            }
            json.close(b']');
        }
        Ok(())
    }

    /// The id of an encoding or a layout that is not known.
    pub fn name_unknown(&self, pieces: &Pieces, source: &Source, e: &Error, json: &mut Json) {
        let all = self.pieces(pieces);
        let Ok(file) = File::open_pieces(&all, source.len, &Limits::DEFAULT) else { return };
        if let Some(id) = file.unknown_id(e) {
            json.name("id", id);
        }
    }
}

fn node(json: &mut Json, visit: &Visit<'_>) {
    json.open(b'{').count("depth", visit.depth.into()).key("id").text(visit.id);
    match visit.role {
        Role::Root => json.name("role", "root"),
        Role::Field(name) => json.name("role", "field").name("name", name),
        Role::Validity => json.name("role", "validity"),
        Role::Chunk(k) => json.name("role", "chunk").count("number", k as u64),
        Role::Values => json.name("role", "values"),
        Role::Codes => json.name("role", "codes"),
        Role::Data => json.name("role", "data"),
        Role::Zones => json.name("role", "zones"),
        Role::Child(k) => json.name("role", "child").count("number", k as u64),
    };
    if let Some(rows) = visit.rows {
        json.count("rows", rows);
    }
    if let Some(span) = visit.segment {
        json.count("offset", span.at).count("size", span.len);
    }
    if let Some(column) = visit.column {
        json.count("column", column as u64);
    }
    json.close(b'}');
}

/// What one encoding holds of one column.
struct Share<'f> {
    column: Option<usize>,
    zones: bool,
    id: &'f [u8],
    arrays: u64,
    bytes: u64,
}

fn shares<'f>(file: &'f File<'f>) -> Result<Vec<Share<'f>>> {
    let mut shares: Vec<Share<'f>> = Vec::new();
    file.visit(false, &mut |visit| {
        if !visit.is_array {
            return Ok(());
        }
        let (column, zones, id) = (visit.column, visit.in_zones, visit.id);
        match shares.iter_mut().find(|share| (share.column, share.zones, share.id) == (column, zones, id)) {
            Some(share) => {
                share.arrays = share.arrays.saturating_add(1);
                share.bytes = share.bytes.saturating_add(visit.bytes);
            }
            None => shares.push(Share { column, zones, id, arrays: 1, bytes: visit.bytes }),
        }
        Ok(())
    })?;
    Ok(shares)
}
