//! A Jay file against its expectation: verdict, values, and all facts.

use pilaster::bytes::{FileRange, Scratch};
use pilaster::column::{Column as _, Once, Part as _, Value};
use pilaster::jay::{Column, Field, File, Layout, ReadOptions, SType, Stats};
use serde_json::{Map, Value as Json, json};

use super::common::Golden;
use super::expect::{as_expected, equal, json as scalar, text, values};
use super::table::table;
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
            // Of many columns some are left out.
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

fn stype_name(field: &Field<'_>) -> pilaster::Result<String> {
    let name = field.stype().name();
    Ok(match field.child()? {
        Some(child) => format!("{name}({})", stype_name(&child)?),
        None => name.into(),
    })
}

/// The description of a column in the form of the expectations: only what is not zero or absent.
fn layout(field: &Field<'_>, name: Option<&str>) -> pilaster::Result<Json> {
    let mut facts = Map::new();
    let mut put = |key: &str, value: Json| facts.insert(key.into(), value);
    let pair = |span: FileRange| json!([span.at.saturating_sub(8), span.len]);
    let stype = |field: &Field<'_>| format!("{:?}", field.stype());
    if let Some(name) = name {
        put("name", name.into());
    }
    if field.null_count() > 0 {
        put("nullcount", field.null_count().into());
    }
    if let Some(stats) = field.stats()? {
        let tag = match field.stype() {
            SType::Date32 => 4,
            SType::Time64 => 5,
            stype => u8::from(stype) + 1,
        };
        put("stats_type", tag.into());
        put("stats", self::stats(stats, field.stype()));
    }
    let [validity, data, text] = *field.buffers();
    match field.layout() {
        Layout::Old => {
            if field.stype() != SType::Bool8 {
                put("stype", stype(field).into());
            }
            if field.stype() != SType::Void0 {
                put("data", pair(data));
            }
            if field.stype().is_text() {
                put("strdata", pair(text));
            }
        }
        Layout::New => {
            put("type", ty(field)?);
            if field.rows() > 0 {
                put("nrows", field.rows().into());
            }
            let all = [validity, data, text];
            put("buffers", all[..field.stype().buffers()].iter().map(|span| pair(*span)).collect());
            if let Some(child) = field.child()? {
                put("children", json!([layout(&child, None)?]));
            }
        }
    }
    Ok(facts.into())
}

fn ty(field: &Field<'_>) -> pilaster::Result<Json> {
    let stype = format!("{:?}", field.stype());
    Ok(match field.child()? {
        Some(child) => json!({ "stype": stype, "extra_type": 1, "child": ty(&child)? }),
        None => json!({ "stype": stype }),
    })
}

fn stats(stats: Stats, stype: SType) -> Json {
    match (stats, stype) {
        (Stats::Int { min, max }, _) => json!([min.to_string(), max.to_string()]),
        (Stats::Float32 { min, max }, _) => {
            json!([format!("bits:{:08x}", min.to_bits()), format!("bits:{:08x}", max.to_bits())])
        }
        (Stats::Float64 { min, max }, _) => {
            json!([format!("bits:{:016x}", min.to_bits()), format!("bits:{:016x}", max.to_bits())])
        }
        (Stats::Empty, SType::Float32) => json!(["bits:7fc00000", "bits:7fc00000"]),
        (Stats::Empty, SType::Float64) => json!(["bits:7ff8000000000000", "bits:7ff8000000000000"]),
        (Stats::Empty, stype) => {
            let least = (-1i64 << (8 * stype.width() - 1)).to_string();
            json!([least, least])
        }
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
