//! A DataSeries file against its expectation: tables, and all facts.

#[path = "../../../cli/src/dataseries_facts.rs"]
mod dataseries_facts;

use pilaster::bytes::{Endian, Scratch};
use pilaster::column::{Part as _, Table};
use pilaster::dataseries::{AnyFile, ExtentType, File, ReadOptions};
use pilaster::error::Kind;
use serde_json::Value as Json;

use super::expect::{equal, text, values};
use super::table::table;
use crate::harness::walk::ROOMS;

/// The three ways of opening that the damaged files are tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through trailer and index, all checks on.
    Indexed,
    /// From the front.
    Sequential,
    /// Through trailer and index, checks off.
    Unchecked,
}

impl Way {
    pub const ALL: [(Way, &str); 3] = [
        (Way::Indexed, "tail_and_index_all_checks"),
        (Way::Sequential, "sequential_without_tail_all_checks"),
        (Way::Unchecked, "tail_and_index_no_checks"),
    ];
}

/// Reads everything in `bytes` in one way, and compares it with the `tables` and, where there are some,
/// `facts`.
pub fn read(bytes: &[u8], way: Way, tables: Option<&Json>, facts: &Json) -> Result<(), String> {
    let options = ReadOptions { verify: way != Way::Unchecked, ..ReadOptions::DEFAULT };
    // Memory at an odd address, filled.
    let mut memory = vec![0x77; (8 << 20) + 1];
    let mut scratch = Scratch::new(&mut memory[1..]);
    let file = match way {
        Way::Sequential => AnyFile::open_sequential(bytes, &options, &mut scratch),
        Way::Indexed | Way::Unchecked => AnyFile::open(bytes, &options, &mut scratch),
    }
    .map_err(text)?;
    if way != Way::Unchecked {
        file.verify(&mut scratch.scope()).map_err(text)?;
    }
    match &file {
        AnyFile::Little(file) => needs(file, &options, &mut scratch)?,
        AnyFile::Big(file) => needs(file, &options, &mut scratch)?,
    }
    if facts.is_object() {
        for (key, got) in dataseries_facts::facts(&file, bytes.len() as u64).map_err(text)? {
            equal(key, &facts[key], &got)?;
        }
    }
    let Some(tables) = tables.and_then(Json::as_array) else {
        for ty in file.types().iter() {
            walk(&mut file.table(ty.name()).map_err(text)?, &mut scratch).map_err(text)?;
        }
        return Ok(());
    };
    equal("tables", &tables.len().into(), &file.types().len().into())?;
    for expected in tables {
        let name = expected["type_name"].as_str().ok_or("no type_name")?;
        let ty = file.types().find(name.as_bytes()).ok_or("no such type")?;
        let compare = |mut found| fields(&ty, expected).and_then(|()| table(&mut found, "dataseries", expected, false));
        file.table(name).map_err(text).and_then(compare).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Every extent unpacks in as much memory as it said, and says no more than twice what it takes.
fn needs<E: Endian>(file: &File<'_, E>, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<(), String> {
    for extent in file.extents() {
        let extent = extent.map_err(text)?;
        let ty = file.type_of(&extent).map_err(text)?;
        let need = extent.need(&ty, options).map_err(text)? as usize;
        let mut all = scratch.scope();
        let room = all.take::<u8>(need).map_err(text)?;
        match extent.unpack(&ty, options, &mut Scratch::new(room)) {
            Err(e) if e.kind() == Kind::NoRoom => return Err(format!("{need} bytes are not enough: {e}")),
            unpacked => unpacked.map(drop).map_err(text)?,
        }
    }
    Ok(())
}

/// Reads all values of a table.
fn walk(table: &mut impl Table, scratch: &mut Scratch<'_>) -> pilaster::Result<()> {
    while let Some(part) = table.next_part(&mut scratch.scope())? {
        for k in 0..part.width() {
            values(&part.column(k)?, 0..part.rows(), ROOMS[2], false)?;
        }
    }
    Ok(())
}

fn fields(ty: &ExtentType<'_>, expected: &Json) -> Result<(), String> {
    let columns = expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &ty.fields().count().into())?;
    for (field, expected) in ty.fields().zip(columns) {
        equal("name", &expected["name"], &field.name.into())?;
        equal("nullable", &expected["nullable"], &field.nullable.into())?;
        equal("ds_type", &expected["ds_type"], &field.ty.name().into())?;
    }
    Ok(())
}
