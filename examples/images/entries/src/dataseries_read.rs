//! DataSeries files in.

use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::{Column as _, Part as _, Table as _, fit};
use pilaster::dataseries::write::Cell;
use pilaster::dataseries::{AnyFile, Column, File, Part, ReadOptions};
use pilaster::error::Result;

use crate::Call;

/// What a value is used for is not the library's: it only must be there.
fn used<T>(value: T) -> u32 {
    core::hint::black_box(&value);
    1
}

/// The reader of firmware: open a file, walk and verify its extents, read a column row by row.
#[inline(never)]
pub fn read(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    rows(File::<LittleEndian>::open(call.bytes, &ReadOptions::DEFAULT, &mut kept)?, call.kind, &mut kept)
}

/// The same for the other byte order, from the front, without index and trailer.
#[inline(never)]
pub fn read_big(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    rows(File::<BigEndian>::open_sequential(call.bytes, &ReadOptions::DEFAULT, &mut kept)?, call.kind, &mut kept)
}

#[inline(always)]
fn rows<E: Endian>(file: File<'_, E>, kind: u32, scratch: &mut Scratch<'_>) -> Result<u32> {
    let mut n = 0u32;
    for extent in file.extents() {
        let extent = extent?;
        let mut scratch = scratch.scope();
        let part = extent.unpack(&file.type_of(&extent)?, &ReadOptions::DEFAULT, &mut scratch)?;
        let column = part.column(kind as usize)?;
        for row in 0..part.rows() {
            n = n.wrapping_add(match column.get(row)? {
                Some(Cell::Bytes(bytes)) => bytes.len() as u32,
                value => used(value),
            });
        }
    }
    Ok(n)
}

/// Either byte order, and all that is read besides: a table by its name, columns batch by batch, how
/// much memory it takes, and the check of everything.
#[inline(never)]
pub fn any(call: Call<'_>) -> Result<u32> {
    let mut kept = Scratch::new(call.memory);
    let open = if call.row == 0 { AnyFile::open } else { AnyFile::open_sequential };
    let file = open(call.bytes, &ReadOptions::DEFAULT, &mut kept)?;
    let mut n = used(file.verify(&mut kept.scope())?).wrapping_add(file.need()? as u32);
    for ty in file.types().iter() {
        let mut table = file.table(ty.name())?;
        loop {
            let mut inner = kept.scope();
            let Some(part) = table.next_part(&mut inner)? else { break };
            for k in 0..part.width() {
                n = n.wrapping_add(part.name(k)?.len() as u32);
                n = n.wrapping_add(batches(part, part.column(k)?, &mut inner)?);
            }
        }
        table.restart()?;
    }
    Ok(n)
}

fn batches(part: Part<'_>, column: Column<'_>, scratch: &mut Scratch<'_>) -> Result<u32> {
    let (mut row, mut n) = (0, 0u32);
    while row < part.rows() {
        let mut inner = scratch.scope();
        let rows = fit(&column, row..part.rows(), inner.room())?;
        let read = column.read(rows, &mut inner)?;
        n = n.wrapping_add(used(&read));
        row = row.saturating_add(read.len as u64);
    }
    Ok(n)
}
