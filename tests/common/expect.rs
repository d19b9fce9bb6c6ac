//! Values in the form of the expectations.

#![allow(dead_code, reason = "each test takes a part of it")]

use pilaster::column::{Column, Type};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::harness::cell::Cell;

/// The JSON text of a value; a string is one where `ty` says so, else bytes.
pub fn json(cell: Cell<'_>, ty: &str) -> String {
    match cell {
        Cell::Missing => "null".into(),
        Cell::Bool(v) => v.to_string(),
        Cell::Int(v) => format!("\"{v}\""),
        Cell::F32(bits) => format!("\"bits:{bits:08x}\""),
        Cell::F64(bits) => format!("\"bits:{bits:016x}\""),
        Cell::Bytes(v) if ty == "bytes" => {
            let hex: String = v.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("\"hex:{hex}\"")
        }
        Cell::Bytes(v) => serde_json::to_string(core::str::from_utf8(v).expect("verified text")).unwrap(),
        Cell::F16(_) | Cell::Wide(_) | Cell::Nested => panic!("no value of these formats: {cell:?}"),
    }
}

/// The name of the type of a DataSeries column; variable32 is text if all its values are.
pub fn dataseries_type(column: &impl Column, text: bool) -> String {
    match column.ty() {
        Type::Bytes if text => "string".into(),
        Type::FixedBytes(_) => "bytes".into(),
        ty => ty.to_string(),
    }
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
    let digest: String = Sha256::digest(got.join("\n")).iter().map(|byte| format!("{byte:02x}")).collect();
    equal("sha256", &expected["sha256"], &digest.into())
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
