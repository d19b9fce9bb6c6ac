//! Every file under `tests/golden` with an expectation beside it reads as the original program says:
//! row by row, and in batches through scratch memory of several sizes.

#[path = "common/bcolz.rs"]
mod bcolz;
mod common;
#[path = "common/dataseries.rs"]
mod dataseries;
#[path = "common/expect.rs"]
mod expect;
mod harness;
#[path = "common/jay.rs"]
mod jay;
#[path = "common/vortex.rs"]
mod vortex;

use std::io::{self, Write as _};

use common::Golden;
use dataseries::Way;
use expect::{as_expected, equal, json, text};
use harness::cell::Cell;
use harness::walk::{Memory, ROOMS, batches};
use pilaster::column::{Column as _, Part, Type, Unit};
use pilaster::filo::{Element, Vector};

#[test]
fn goldens() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for golden in common::all() {
        let result = match golden.format.as_str() {
            "filo" => filo(&golden),
            "dataseries" => data_series(&golden),
            "bcolz" if golden.path.is_file() => bcolz::chunk(&golden),
            "bcolz" => bcolz::dataset(&golden),
            "jay" => jay::read(&golden),
            "vortex" => vortex::golden(&golden),
            _ => Err("a format that this test does not know".into()),
        };
        read += 1;
        wrong.extend(result.err().map(|why| format!("{}: {why}", golden.name)));
    }
    // Not by `println!`, which `cargo test` keeps to itself.
    vortex::undecoded_exist();
    for (name, ids) in vortex::UNDECODED {
        writeln!(io::stderr(), "NOT DECODED YET in {name}: {}", ids.join(", ")).unwrap();
    }
    assert!(read >= 177 + 166 + 48 + 81 + 108 + 117, "only {read} goldens found");
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

/// Files with a cell that names no place in its pool.
const OUTSIDE: &[&str] = &["dataseries/damaged/offset_beyond", "dataseries/damaged/offset_negative"];

/// An undamaged file in every way; a damaged one as the original judges it.
fn data_series(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    let expected = &golden.expected;
    for (way, name) in Way::ALL {
        let verdict = expected["reference_verdict"][name].as_str();
        let tables = match way {
            Way::Sequential if expected["tables_without_tail"].is_array() => &expected["tables_without_tail"],
            _ => &expected["tables"],
        };
        let tables = Some(tables).filter(|tables| tables.is_array());
        let read = dataseries::read(&bytes, way, tables, &expected["facts"]);
        match verdict {
            // Without checks the original follows a cell out of its pool (section 3.5); nobody else should.
            Some("accept") if way == Way::Unchecked && OUTSIDE.contains(&golden.name.as_str()) => {
                let why = read.err().ok_or("a cell outside of the pool is followed")?;
                assert!(why.starts_with("dataseries string cell"), "{why}");
            }
            None | Some("accept") => read.map_err(|why| format!("{way:?}: {why}"))?,
            Some(_) if read.is_ok() => return Err(format!("{way:?}: is taken")),
            Some(_) => {}
        }
    }
    Ok(())
}
