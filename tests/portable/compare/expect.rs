//! Values in the form of the expectations.

#![allow(dead_code, reason = "each test takes a part of it")]

#[path = "../../../cli/src/digits.rs"]
mod digits;

use std::ops::Range;

use pilaster::column::{Column, Type, Value};
use pilaster::error::{Error, Kind};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

pub use self::digits::hex;
use self::digits::wide;
use crate::harness::cell::Cell;
use crate::harness::walk::batches;

/// The JSON text of a value; a byte string is text if `is_text`, else hexadecimal digits.
pub fn json(cell: Cell<'_>, is_text: bool) -> String {
    match cell {
        Cell::Missing => "null".into(),
        Cell::Bool(v) => v.to_string(),
        Cell::Int(v) => format!("\"{v}\""),
        Cell::F16(bits) => format!("\"bits:{bits:04x}\""),
        Cell::F32(bits) => format!("\"bits:{bits:08x}\""),
        Cell::F64(bits) => format!("\"bits:{bits:016x}\""),
        Cell::Bytes(v) if is_text => serde_json::to_string(str::from_utf8(v).expect("verified text")).unwrap(),
        Cell::Bytes(v) => format!("\"hex:{}\"", hex(v)),
        Cell::Wide(words) => format!("\"{}\"", wide(words)),
        Cell::Nested => panic!("rows of children, no value"),
    }
}

/// Returns the JSON texts of some rows, read in batches of at most `size` bytes; a row that needs more is read alone.
/// Byte strings are text if `texts`.
pub fn values<C: Column>(column: &C, rows: Range<u64>, size: usize, texts: bool) -> Result<Vec<String>, Error> {
    // An odd address: what is aligned is the work of the reader.
    let (mut memory, mut got, mut row) = (vec![0x77; size + 1], Vec::new(), rows.start);
    while row < rows.end {
        let mut wrong = Ok(());
        let read = batches(column, row..rows.end, &mut memory[1..], |batch| {
            for i in 0..batch.len {
                let value = batch.value(i).and_then(|value| nested(value, &batch.of, size, texts));
                match value {
                    Ok(value) => got.push(value),
                    Err(e) => wrong = wrong.and(Err(e)),
                }
            }
            row += batch.len as u64;
        });
        wrong?;
        match read {
            Err(e) if e.kind() == Kind::NoRoom && e.need() as usize >= memory.len() => {
                memory.resize(e.need() as usize + 1, 0x77);
            }
            read => read?,
        }
    }
    Ok(got)
}

/// The JSON text of a value; the rows of a nested one are in the children of `of`.
pub fn nested<C: Column>(value: Value<'_>, of: &C, room: usize, texts: bool) -> Result<String, Error> {
    let rows = match value {
        Value::Nested(rows) => rows,
        value => {
            let is_text = texts || matches!(value, Value::Text(_));
            return Ok(json(value.into(), is_text));
        }
    };
    let child = |k| values(&of.child(k)?, rows.clone(), room.min(1 << 14), texts);
    let Type::Struct(n) = of.ty() else { return Ok(format!("[{}]", child(0)?.join(","))) };
    let fields = (0..n as usize).map(|k| {
        let name = serde_json::to_string(of.child_name(k)?).expect("a text");
        Ok(format!("{name}:{}", child(k)?.concat()))
    });
    Ok(format!("{{{}}}", fields.collect::<Result<Vec<_>, Error>>()?.join(",")))
}

/// Compares the values of a column: all of them, or of a long one digest, head and tail.
pub fn as_expected(got: &[String], expected: &Json) -> Result<(), String> {
    let texts =
        |key: &str| -> Option<Vec<String>> { Some(expected[key].as_array()?.iter().map(Json::to_string).collect()) };
    if let Some(values) = texts("values") {
        return same(got, &values);
    }
    let (Some(head), Some(tail)) = (texts("head"), texts("tail")) else { return Err("no values, head, tail".into()) };
    same(&got[..head.len().min(got.len())], &head)?;
    same(&got[got.len().saturating_sub(tail.len())..], &tail)?;
    equal("sha256", &expected["sha256"], &hex(&Sha256::digest(got.join("\n"))).into())
}

fn same(got: &[String], expected: &[String]) -> Result<(), String> {
    if let Some(row) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
        return Err(format!("row {row} is {} and not {}", got[row], expected[row]));
    }
    equal("values", &expected.len().into(), &got.len().into())
}

pub fn equal(what: &str, expected: &Json, got: &Json) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what} is {got} and not {expected}")) }
}

pub fn text(e: impl ToString) -> String {
    e.to_string()
}
