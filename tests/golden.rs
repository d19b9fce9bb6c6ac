//! Every file under `tests/golden` with an expectation beside it reads as the original program says:
//! row by row, and in batches through scratch memory of several sizes.

mod common;
mod harness;

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use common::Golden;
use harness::cell::Cell;
use harness::walk::{Memory, ROOMS, batches};
use pilaster::column::{Column as _, Part, Type, Unit};
use pilaster::filo::{Element, Vector};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Formats whose goldens lie here for other tests; this one has no reader for them yet.
const WITHOUT_READER: &[&str] = &["jay", "vortex", "bcolz", "dataseries"];

#[test]
fn goldens() {
    let mut wrong = Vec::new();
    let mut passed_over = BTreeMap::new();
    let mut read = 0;
    for golden in common::all() {
        let result = match golden.format.as_str() {
            "filo" => filo(&golden),
            format if WITHOUT_READER.contains(&format) => {
                *passed_over.entry(golden.format).or_insert(0) += 1;
                continue;
            }
            _ => Err("a format that this test does not know".into()),
        };
        read += 1;
        wrong.extend(result.err().map(|why| format!("{}: {why}", golden.name)));
    }
    // Not by `println!`, which `cargo test` keeps to itself.
    for (format, count) in passed_over {
        writeln!(io::stderr(), "NO READER YET for {count} goldens of {format}").unwrap();
    }
    assert!(read >= 177, "only {read} goldens found");
    assert!(wrong.is_empty(), "{} of {read} goldens:\n{}", wrong.len(), wrong.join("\n"));
}

/// The types of section 3 in the words of the expectations: there an instant is its stored integer.
fn filo_type(ty: Type) -> String {
    match ty {
        Type::Timestamp(Unit::Milli) => "int64".into(),
        ty => ty.to_string(),
    }
}

fn filo(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    let element: Element = golden.fact("element_type").parse().map_err(text)?;
    let header = u32::from_str_radix(golden.fact("header").trim_start_matches("0x"), 16).map_err(text)?;
    equal("size", &golden.expected["facts"]["size_bytes"], &bytes.len().into())?;

    let vector = Vector::open(&bytes, element).map_err(text)?;
    vector.verify().map_err(text)?;
    // An empty vector has its row count above the type, every other zeros.
    let count = if vector.header().word() == 1 { (vector.rows() as u32) << 8 } else { 0 };
    equal("header", &header.into(), &(vector.header().word() | count).into())?;
    equal("nrows", &golden.expected["nrows"], &vector.rows().into())?;

    let columns = golden.expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &vector.width().into())?;
    for (k, expected) in columns.iter().enumerate() {
        let column = vector.column(k).map_err(text)?;
        let ty = filo_type(column.ty());
        equal("name", &expected["name"], &vector.name(k).map_err(text)?.into())?;
        equal("type", &expected["type"], &ty.as_str().into())?;
        if expected["nullable"] == false && column.nullable() {
            return Err(format!("column {k} is nullable"));
        }

        let by_row: Vec<String> = (0..vector.rows())
            .map(|row| vector.get(row).map(|value| json(harness::filo_vector::cell(value, k), &ty)))
            .collect::<Result<_, _>>()
            .map_err(text)?;
        as_expected(&by_row, expected).map_err(|why| format!("column {k} by row: {why}"))?;
        if by_row.iter().any(|value| value == "null") && !column.nullable() {
            return Err(format!("column {k} has missing rows and is not nullable"));
        }

        for room in ROOMS {
            let mut by_batch = Vec::new();
            batches(&column, 0..column.rows(), Memory::filled(0x77).odd(room), |batch| {
                by_batch.extend((0..batch.len).map(|i| json(Cell::of_batch(batch, i).expect("verified"), &ty)));
            })
            .map_err(text)?;
            as_expected(&by_batch, expected).map_err(|why| format!("column {k} in {room} bytes: {why}"))?;
        }
    }
    Ok(())
}

/// The JSON text of a value in the form of the expectations.
fn json(cell: Cell<'_>, ty: &str) -> String {
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
        Cell::F16(_) | Cell::Wide(_) | Cell::Nested => panic!("no Filo value: {cell:?}"),
    }
}

/// Compares the values of a column: all of them, or of a long one digest, head and tail.
fn as_expected(got: &[String], expected: &Json) -> Result<(), String> {
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

fn equal(what: &str, expected: &Json, got: &Json) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what} is {got} and not {expected}")) }
}

fn text(e: impl ToString) -> String {
    e.to_string()
}
