//! A table against its expectation, whatever its format is: types, values, zones, and columns as vectors.

#[path = "../../../cli/src/type_name.rs"]
mod type_name;

use std::cmp::Ordering;

use pilaster::bytes::Scratch;
use pilaster::column::{Column, FromColumn, Memory, Part, Prim, Table, Type, Value, Zone, fit};
use pilaster::error::Kind;
use serde_json::Value as Json;

pub use self::type_name::{Budget, type_name};
use super::expect::{as_expected, equal, hex, text, values};
use crate::harness::walk::{ROOMS, batches};

/// Sizes of the scratch memory for a batch. Few nodes of Vortex can be read in less than its smallest.
fn rooms(format: &str) -> &'static [usize] {
    if format == "vortex" { &[24 << 10, 4 << 20] } else { &ROOMS }
}

/// What of a table was compared.
#[derive(Clone, Copy, Default)]
pub struct Compared {
    pub columns: usize,
    /// Bounds and counts of zones.
    pub facts: usize,
}

/// The contents of a column: its type, and the values of its leaves.
#[derive(Clone, Default)]
struct Got {
    ty: Option<Type>,
    leaves: Vec<Vec<String>>,
}

/// Compares all columns of a table in batches of several sizes; with `more`, also their zones and what vectors of them
/// hold.
pub fn table<T: Table>(table: &mut T, format: &str, expected: &Json, more: bool) -> Result<Compared, String> {
    let columns = expected["columns"].as_array().ok_or("no columns")?;
    let mut compared = Compared::default();
    for room in rooms(format) {
        let mut got = vec![Got::default(); columns.len()];
        let (mut memory, mut rows) = (Memory::default(), 0);
        table.restart().map_err(text)?;
        loop {
            let mut scratch = memory.scratch();
            let part = match table.next_part(&mut scratch) {
                Ok(Some(part)) => part,
                Ok(None) => break,
                Err(e) => {
                    memory.grow(e).map_err(text)?;
                    continue;
                }
            };
            equal("columns", &columns.len().into(), &part.width().into())?;
            rows += part.rows();
            for (k, (expected, got)) in columns.iter().zip(&mut got).enumerate() {
                let why = |why| format!("column {k} ({}): {why}", expected["name"]);
                of_part(&part, k, format, expected, *room, got).map_err(why)?;
                if more && *room == rooms(format)[0] {
                    compared.facts += part.column(k).map_err(text).and_then(|column| zones(&column)).map_err(why)?;
                }
            }
        }
        equal("nrows", &expected["nrows"], &rows.into())?;
        for (expected, got) in columns.iter().zip(&got) {
            for (leaf, got) in expected_leaves(expected).iter().zip(&got.leaves) {
                let why = |why| format!("column {} ({}) in {room} bytes: {why}", expected["name"], leaf["name"]);
                as_expected(got, leaf).map_err(why)?;
            }
            let alone = columns.iter().filter(|other| other["name"] == expected["name"]).count() == 1;
            if got.ty.is_none() {
                // No part, but a column.
                let name = expected["name"].as_str().ok_or("no name")?;
                assert_eq!(table.to_vec::<i64>(name), Ok(vec![]), "{name}");
            }
            let (Some(ty), [got], true) = (got.ty, &got.leaves[..], alone && *room == rooms(format)[0]) else {
                continue;
            };
            compared.columns += 1;
            if !matches!(ty, Type::List | Type::FixedList(_) | Type::Struct(_) | Type::Map) {
                let why = |why| format!("column {} as a vector: {why}", expected["name"]);
                by_vec(table, expected, ty, got).map_err(why)?;
            }
        }
    }
    assert_eq!(table.to_vec::<i64>("no such column").map(drop).unwrap_err().kind(), Kind::Unknown);
    Ok(compared)
}

/// Adds the values of a column of one part.
fn of_part<P: Part>(
    part: &P,
    k: usize,
    format: &str,
    expected: &Json,
    room: usize,
    got: &mut Got,
) -> Result<(), String> {
    let column = part.column(k).map_err(text)?;
    let name = part.name(k).map_err(text)?;
    // An array that was cut out of a file has no name.
    if !name.is_empty() || format != "vortex" {
        equal("name", &expected["name"], &name.into())?;
    }
    if part.find(name) == Ok(Some(k)) {
        assert_eq!(part.named(name).map(|named| named.ty()), Ok(column.ty()));
    }
    assert_eq!(column.rows(), part.rows());
    let mut leaves = vec![column];
    if format == "bcolz" {
        leaves = self::leaves(column).map_err(text)?;
    }
    let expected = expected_leaves(expected);
    equal("leaves", &expected.len().into(), &leaves.len().into())?;
    got.ty = Some(column.ty());
    got.leaves.resize(leaves.len(), Vec::new());
    for ((leaf, expected), got) in leaves.iter().zip(expected).zip(&mut got.leaves) {
        // A byte string may be text in the expectation.
        let texts = expected["type"] == "string";
        equal(
            "type",
            &expected["type"],
            &type_name(leaf, (format, texts), &mut Budget::default()).map_err(text)?.into(),
        )?;
        // With tolerance any column of Jay may have missing rows; instants of bcolz have NaT; rows of Filo may all have
        // values where the original allows for missing ones.
        let nullable = column.nullable();
        match (format, expected["nullable"].as_bool()) {
            ("jay", _) | ("filo", Some(true)) | (_, None) => {}
            ("bcolz", _) if matches!(leaf.ty(), Type::Timestamp(_)) => {}
            (_, Some(expected)) => equal("nullable", &expected.into(), &nullable.into())?,
        }
        got.extend(values(leaf, 0..leaf.rows(), room, texts).map_err(text)?);
    }
    Ok(())
}

/// Returns the columns that hold the values of one: itself, its items, or their fields.
fn leaves<C: Column>(column: C) -> pilaster::Result<Vec<C>> {
    match column.ty() {
        Type::FixedList(_) => {
            let items = column.child(0)?;
            // Row ranges take no memory.
            batches(&column, 0..column.rows(), &mut [], |batch| {
                for i in 0..batch.len {
                    let Ok(Value::Nested(range)) = batch.value(i) else { panic!("a list is nested") };
                    assert!(range.end <= items.rows());
                }
            })?;
            leaves(items)
        }
        Type::Struct(count) => {
            let fields = (0..count as usize).map(|k| leaves(column.child(k)?)).collect::<pilaster::Result<Vec<_>>>();
            Ok(fields?.concat())
        }
        _ => Ok(vec![column]),
    }
}

/// Returns the expectations of the leaves of a column: of a record, the fields have what others have themselves.
fn expected_leaves(column: &Json) -> Vec<&Json> {
    match column["fields"].as_array() {
        Some(fields) => fields.iter().flat_map(expected_leaves).collect(),
        None => vec![column],
    }
}

/// Compares the values of a column with the bounds and counts of its zones; returns how many of these there are.
fn zones<C: Column>(column: &C) -> Result<usize, String> {
    let (mut lent, mut memory, mut row, mut facts) = (vec![0; 1 << 20], Memory::default(), 0, 0);
    while row < column.rows() {
        let zone = column.zone_around(row, &mut Scratch::new(&mut lent)).map_err(text)?;
        let Some(Zone { rows, min, max, nulls }) = zone else { break };
        assert!(rows.contains(&row) && rows.end <= column.rows(), "{rows:?} around {row}");
        facts += [min.get().is_some(), max.get().is_some(), nulls.get().is_some()]
            .into_iter()
            .map(usize::from)
            .sum::<usize>();
        let (mut missing, mut at) = (0, rows.start);
        while at < rows.end {
            let mut scratch = memory.scratch();
            let read = fit(column, at..rows.end, scratch.room()).and_then(|rows| column.read(rows, &mut scratch));
            let batch = match read {
                Ok(batch) => batch,
                Err(e) => {
                    memory.grow(e).map_err(text)?;
                    continue;
                }
            };
            for i in 0..batch.len {
                let value = batch.value(i).map_err(text)?;
                missing += u64::from(value == Value::Null);
                // Values that no order is defined for are in no bounds; all others must compare.
                let unordered = match value {
                    Value::Null | Value::F16(_) | Value::Nested(_) => true,
                    Value::F32(value) => value.is_nan(),
                    Value::F64(value) => value.is_nan(),
                    Value::Bool(_) | Value::Int(_) | Value::Int256(_) | Value::Bytes(_) | Value::Text(_) => false,
                };
                let within = |bound: Option<&Value<'_>>, wrong| {
                    bound.is_none_or(|bound| value.compare(bound).map_or(unordered, |order| order != wrong))
                };
                if !(within(min.get(), Ordering::Less) && within(max.get(), Ordering::Greater)) {
                    return Err(format!("row {}: {value:?} is outside of {min:?} to {max:?}", at + i as u64));
                }
            }
            at += batch.len as u64;
        }
        if nulls.get().is_some_and(|nulls| *nulls != missing) {
            return Err(format!("{missing} missing rows in {rows:?}, and {nulls:?}"));
        }
        row = rows.end;
    }
    let after = column.zone_around(column.rows(), &mut Scratch::new(&mut lent)).map_err(text)?;
    assert!(after.is_none(), "{after:?} around a row that does not exist");
    Ok(facts)
}

/// Compares what `to_vec` and `to_strings` return, and their error for every other type.
fn by_vec<T: Table>(table: &mut T, expected: &Json, ty: Type, got: &[String]) -> Result<(), String> {
    fn all<T: FromColumn>(
        table: &mut impl Table,
        name: &str,
        got: &[String],
        json: impl Fn(&T) -> String,
    ) -> Result<(), String> {
        let values = table.to_vec::<Option<T>>(name).map_err(text)?;
        let values: Vec<String> = values.iter().map(|value| value.as_ref().map_or("null".into(), &json)).collect();
        if values != got {
            return Err("another value".into());
        }
        // Missing rows are an error that names the first.
        match (table.to_vec::<T>(name), got.iter().position(|value| value == "null")) {
            (Ok(_), None) => Ok(()),
            (Err(e), Some(row)) if e.kind() == Kind::Lossy && e.at() == row as u64 => Ok(()),
            (other, row) => Err(format!("{:?} with a missing row {row:?}", other.map(drop))),
        }
    }
    let (name, texts) = (expected["name"].as_str().ok_or("no name")?, expected["type"] == "string");
    let integer = |value: &i128| format!("\"{value}\"");
    match ty {
        Type::Null | Type::Bool => all::<bool>(table, name, got, bool::to_string)?,
        Type::Prim(Prim::F16) => {}
        Type::Prim(Prim::F32) => all::<f32>(table, name, got, |v| format!("\"bits:{:08x}\"", v.to_bits()))?,
        Type::Prim(Prim::F64) => all::<f64>(table, name, got, |v| format!("\"bits:{:016x}\"", v.to_bits()))?,
        Type::Decimal { precision, .. } if precision > 38 => {}
        Type::Prim(_) | Type::Date(_) | Type::Time(_) | Type::Timestamp(_) | Type::Decimal { .. } => {
            all::<i128>(table, name, got, integer)?;
        }
        Type::Bytes | Type::FixedBytes(_) | Type::Opaque if !texts => {
            all::<Vec<u8>>(table, name, got, |v| format!("\"hex:{}\"", hex(v)))?;
        }
        _ => {
            all::<String>(table, name, got, |v| serde_json::to_string(v).unwrap())?;
            if got.iter().all(|value| value != "null") {
                assert_eq!(table.to_strings(name).map(|texts| texts.len()), Ok(got.len()));
            }
        }
    }
    // A type that the column has not.
    let other = match ty {
        Type::Null => return Ok(()),
        Type::Bool => table.to_vec::<Option<i64>>(name).map(drop),
        _ => table.to_vec::<Option<bool>>(name).map(drop),
    };
    match other {
        Err(e) if e.kind() == Kind::WrongType && e.what() == ty.what() => Ok(()),
        other => Err(format!("{other:?} for another type")),
    }
}
