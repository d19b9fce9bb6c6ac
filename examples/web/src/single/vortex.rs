//! The storage of a Vortex file.

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::error::What;
use pilaster::limits::Limits;
use pilaster::vortex::{File, Role, Visit};

use crate::heap::{copy, push};
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::Source;

pub fn info(file: &File<'_>, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
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
    // Arrays are in the segments, which are fetched only for a small file.
    let whole = source.len <= Limits::DEFAULT.max_decoded >> 4;
    if whole {
        pieces.whole(source.len, What::INPUT)?;
        let shares = shares(file)?;
        json.key("encodings").open(b'[');
        for share in &shares {
            json.open(b'{').key("id").text(&share.id);
            if let Some(column) = share.column {
                json.count("column", column as u64);
            }
            json.key("zones").bool(share.zones).count("arrays", share.arrays).count("size", share.bytes).close(b'}');
        }
        json.close(b']');
    }
    Ok(())
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

/// The size of one encoding in one column.
struct Share {
    column: Option<usize>,
    zones: bool,
    id: Vec<u8>,
    arrays: u64,
    bytes: u64,
}

fn shares(file: &File<'_>) -> Result<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    file.visit(false, &mut |visit| {
        if !visit.is_array {
            return Ok(());
        }
        let (column, zones, id) = (visit.column, visit.in_zones, visit.id);
        match shares.iter_mut().find(|share| (share.column, share.zones, &*share.id) == (column, zones, id)) {
            Some(share) => {
                share.arrays = share.arrays.saturating_add(1);
                share.bytes = share.bytes.saturating_add(visit.bytes);
            }
            None => push(&mut shares, Share { column, zones, id: copy(id)?, arrays: 1, bytes: visit.bytes })?,
        }
        Ok(())
    })?;
    Ok(shares)
}
