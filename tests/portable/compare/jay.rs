//! A Jay file against its expectation: verdict, values, and all facts.

#[path = "../../../cli/src/jay_layout.rs"]
mod jay_layout;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Once, Part as _, Value};
use pilaster::jay::{Column, File, ReadOptions};
use serde_json::Value as Json;

use self::jay_layout::{layout, stype_name};
use super::expect::{as_expected, equal, json as scalar, text, values};
use super::table::table;
use crate::common::Golden;
use crate::harness::walk::{Memory, ROOMS};

/// Damaged files get the verdict that they name, in strict mode; the others are read in every way.
pub fn read(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    let mut memory = Memory::filled(0x77);
    let strict = ReadOptions::DEFAULT;
    let opened = File::open(&bytes, &strict, &mut Scratch::new(memory.odd(ROOMS[2])));
    let verdict = opened.and_then(|file| file.verify(&mut Scratch::new(memory.odd(ROOMS[2]))).map(|()| file));
    match (golden.expected["expect"].as_str(), verdict) {
        (Some("error"), Err(_)) => return tolerated(golden, &bytes),
        (Some("error"), Ok(_)) => return Err("a damaged file is taken".into()),
        (Some("either"), Err(_)) => return tolerated(golden, &bytes),
        (_, verdict) => verdict.map_err(text)?,
    };
    for options in [strict, ReadOptions { check_null_counts: true, ..strict }, ReadOptions { tolerant: true, ..strict }]
    {
        whole(golden, &bytes, &options).map_err(|why| format!("{options:?}: {why}"))?;
    }
    Ok(())
}

/// A damaged file, read with tolerance: where it opens, it says what is wrong, and every column is
/// either read or refused.
fn tolerated(golden: &Golden, bytes: &[u8]) -> Result<(), String> {
    let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
    let mut memory = Memory::filled(0x77);
    let Ok(file) = File::open(bytes, &options, &mut Scratch::new(&mut [])) else { return Ok(()) };
    let mut problems = 0;
    file.problems(&mut Scratch::new(memory.odd(ROOMS[2])), &mut |_, _| problems += 1);
    if problems == 0 {
        return Err(format!("{}: tolerance finds nothing wrong", golden.name));
    }
    for k in 0..file.width() {
        let Ok(column) = file.column(k) else { continue };
        let got = values(&column, 0..column.rows(), ROOMS[2], false).map_err(text)?;
        equal("rows", &file.rows().into(), &got.len().into())?;
    }
    Ok(())
}

fn whole(golden: &Golden, bytes: &[u8], options: &ReadOptions) -> Result<(), String> {
    let expected = &golden.expected;
    let mut memory = Memory::filled(0x77);
    // Also from an odd address, where nothing can be borrowed.
    let moved = [&[0], bytes].concat();
    for bytes in [bytes, &moved[1..]] {
        let file = File::open(bytes, options, &mut Scratch::new(memory.odd(ROOMS[2]))).map_err(text)?;
        table(&mut Once::new(file), "jay", expected, false)?;
        let columns = expected["columns"].as_array().ok_or("no columns")?;
        for (k, expected) in columns.iter().enumerate() {
            let column = file.column(k).map_err(text)?;
            equal("stype", &expected["stype"], &stype_name(column.field()).map_err(text)?.into())?;
            let nullable = column.field().null_count() > 0;
            equal("nullable", &expected["nullable"], &nullable.into())?;
            assert_eq!(column.nullable(), nullable || options.tolerant);
            let by_row: Vec<String> = (0..column.rows()).map(|row| value(&column, row)).collect::<Result<_, _>>()?;
            as_expected(&by_row, expected).map_err(|why| format!("{} by row: {why}", expected["name"]))?;
        }
        let facts = &expected["facts"];
        equal("meta_size", &facts["meta_size"], &file.tail().meta.len.into())?;
        equal("data_section_bytes", &facts["data_section_bytes"], &file.tail().data().len.into())?;
        equal("nkeys", &facts["nkeys"], &file.meta().keys().into())?;
        if facts["key"].is_array() {
            let key: Vec<_> = (0..file.meta().keys()).map(|k| file.name(k).unwrap()).collect();
            equal("key", &facts["key"], &key.into())?;
        }
        let layout: Vec<Json> = (0..file.width())
            .map(|k| layout(&file.meta().field(k)?, Some(file.name(k)?)))
            .collect::<pilaster::Result<_>>()
            .map_err(text)?;
        for (expected, got) in facts["layout"].as_array().ok_or("no layout")?.iter().zip(layout) {
            // The expectation leaves some out if there are many.
            if !expected.is_object() {
                continue;
            }
            equal("layout", &comparable(expected), &got)?;
        }
    }
    Ok(())
}

/// The value of one row.
fn value(column: &Column<'_>, row: u64) -> Result<String, String> {
    match column.get(row).map_err(text)? {
        Value::Nested(rows) => {
            let child = column.child(0).map_err(text)?;
            let items: Vec<_> = rows.map(|row| value(&child, row)).collect::<Result<_, _>>()?;
            Ok(format!("[{}]", items.join(",")))
        }
        value => Ok(scalar(value.into(), true)),
    }
}

/// Without what a reader does not show: a tag of statistics that are not there (section 5), and a
/// place of a validity buffer that is empty.
fn comparable(expected: &Json) -> Json {
    let mut expected = expected.clone();
    if expected["stats"].is_null() {
        expected.as_object_mut().unwrap().remove("stats_type");
    }
    expected
}
