//! Vortex goldens: every value by rows, in batches of several sizes, and one at a time.

use pilaster::bytes::{Input, Scratch};
use pilaster::column::{Column as _, Once, Part as _};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{Array, Column, DTypeBuf, File};

use super::expect::{as_expected, equal, nested, text, values};
use super::table::{Budget, table, type_name};
use crate::common::Golden;

/// Nodes that finding one row may visit, each counted once and again for every 256 of its rows that are read:
/// far fewer than the rows of the larger goldens.
const ONE_ROW: Limits = Limits { max_nodes: 50, ..Limits::DEFAULT };

/// Compares everything that a golden says.
pub fn golden(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    if golden.is("varr") {
        return array(golden, &bytes);
    }
    if golden.expected["facts"]["open_without_dtype"].is_string() {
        let e = File::open(&bytes).map(drop).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VORTEX_DTYPE));
        let dtype: DTypeBuf = "{a=i64, b=f64?, s=utf8?}".parse().map_err(text)?;
        let open = |limits| File::open_input(Input::whole(&bytes), Some(dtype.as_dtype()), limits).map_err(text);
        return file(golden, &open(&Limits::DEFAULT)?, &open(&ONE_ROW)?);
    }
    let open = |limits| File::open_input(Input::whole(&bytes), None, limits).map_err(text);
    file(golden, &open(&Limits::DEFAULT)?, &open(&ONE_ROW)?)
}

/// One array, of the type and with the ids that the expectation has.
fn array(golden: &Golden, bytes: &[u8]) -> Result<(), String> {
    let dtype: DTypeBuf = golden.fact("dtype").parse().map_err(text)?;
    let ids = golden.expected["facts"]["encoding_ids"].as_array().ok_or("no ids")?;
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
    let rows = golden.expected["nrows"].as_u64().ok_or("no rows")?;
    let open = |limits| Array::parse_with(bytes, dtype.as_dtype(), rows, &ids, limits).map_err(text);
    file(golden, open(&Limits::DEFAULT)?.as_file(), open(&ONE_ROW)?.as_file())
}

/// `small` is the same file, which allows for no more work than one row takes.
fn file(golden: &Golden, file: &File<'_>, small: &File<'_>) -> Result<(), String> {
    file.verify(&mut Scratch::new(&mut vec![0x33; 4 << 20])).map_err(|e| format!("verify: {e}"))?;
    let part = file.part().map_err(text)?;
    equal("nrows", &golden.expected["nrows"], &part.rows().into())?;
    let columns = golden.expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &part.width().into())?;
    // A frame is unpacked whole, whatever rows are asked for, and pco has tables: only those may take more
    // than the smallest memory.
    let large = ids_of(file).iter().any(|id| ["vortex.zstd", "vortex.pco"].contains(&id.as_str()));
    for (k, expected) in columns.iter().enumerate() {
        let column = part.column(k).map_err(text)?;
        let one = small.part().and_then(|part| part.column(k)).map_err(text)?;
        if golden.is("vortex") {
            equal("name", &expected["name"], &part.name(k).map_err(text)?.into())?;
        }
        equal(
            "type",
            &expected["type"],
            &type_name(&column, ("vortex", false), &mut Budget::default()).map_err(text)?.into(),
        )?;
        equal("nullable", &expected["nullable"], &column.nullable().into())?;
        // `table` reads it in less memory.
        let all = values(&column, 0..column.rows(), 4 << 20, false).map_err(text)?;
        single_rows(&column, &one, &all, large).map_err(text)?;
        as_expected(&all, expected).map_err(|why| format!("column {k}: {why}"))?;
    }
    if golden.by_any() {
        return Ok(());
    }
    table(&mut Once::new(part), "vortex", &golden.expected, true).map(drop)
}

/// The ids of all arrays of a file.
fn ids_of(file: &File<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    file.visit(false, &mut |visit| {
        ids.push(String::from_utf8_lossy(visit.id).into_owned());
        Ok(())
    })
    .expect("verified");
    ids
}

/// Some rows on their own are what they are among `all`, and take no more work than `one` allows, and no more memory
/// than the smallest for a batch, unless they are `large`.
fn single_rows(column: &Column<'_>, one: &Column<'_>, all: &[String], large: bool) -> Result<(), Error> {
    let need = column.need(0..column.rows().min(1))?;
    assert!(need <= 24 << 10 || large, "{need}");
    let mut memory = vec![0x55; 1 << 20];
    let some = (0..all.len().min(3000)).step_by(all.len().min(3000) / 40 + 1);
    for row in some.chain(all.len().checked_sub(1)) {
        let batch = one.scalar_at(row as u64, &mut Scratch::new(&mut memory))?;
        assert_eq!((batch.first, batch.len), (row as u64, 1));
        assert_eq!(nested(batch.value(0)?, &batch.of, 1 << 16, false)?, all[row], "row {row}");
    }
    Ok(())
}
