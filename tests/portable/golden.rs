//! Every file under `tests/golden` with an expectation beside it reads as the original program says: through `any`,
//! and through the types of its own format what only these show.

use pilaster::any::{Format, Hints, Owned};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Table as _, Type};
use pilaster::error::Kind;
use pilaster::filo::{Element, Vector};

use crate::common::{self, Golden};
use crate::compare::dataseries::{self, Way};
use crate::compare::expect::{as_expected, equal, json, text};
use crate::compare::table::{Compared, table};
use crate::compare::{bcolz, jay, vortex};
use crate::harness;

/// How many files there are of each format, in the order of [`Format::ALL`], and how many of them `any` reads.
const FILES: [usize; 5] = [177, 212, 66, 246, 120];
const BY_ANY: [usize; 5] = [177, 166, 48, 205, 98];

#[test]
fn goldens() {
    let (mut wrong, mut files, mut by_any, mut facts, mut columns) = (Vec::new(), [0; 5], [0; 5], [0; 5], 0);
    for golden in common::all() {
        let k = Format::ALL.iter().position(|format| format.name() == golden.format).expect("a format");
        files[k] += 1;
        let own = match Format::ALL[k] {
            Format::Filo => filo(&golden),
            Format::DataSeries => data_series(&golden),
            Format::Bcolz if golden.path.is_file() => bcolz::chunk(&golden),
            Format::Bcolz => bcolz::dataset(&golden),
            Format::Jay => jay::read(&golden),
            Format::Vortex => vortex::golden(&golden),
        };
        match own.and_then(|()| if golden.by_any() { any(&golden).map(Some) } else { Ok(None) }) {
            Ok(compared) => {
                by_any[k] += usize::from(compared.is_some());
                let compared = compared.unwrap_or_default();
                (columns, facts[k]) = (columns + compared.columns, facts[k] + compared.facts);
            }
            Err(why) => wrong.push(format!("{}: {why}", golden.name)),
        }
    }
    assert!(wrong.is_empty(), "{} of {files:?} goldens:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((files, by_any), (FILES, BY_ANY));
    println!("{columns} columns, {facts:?} facts of zones");
    let least = [0, 1000, 700, 0, 2500];
    assert!(facts.iter().zip(least).all(|(facts, least)| *facts >= least), "{facts:?} facts of zones");
}

/// All tables of a file.
fn any(golden: &Golden) -> Result<Compared, String> {
    let expected = &golden.expected;
    let element = expected["facts"]["element_type"].as_str().map(|name| name.parse().unwrap());
    // Some chunks have no whole number of the items that they name.
    let dtype = expected["columns"].is_null().then_some("uint8");
    let hints = Hints { element, dtype, ..Hints::default() };
    let mut owned = Owned::open(&golden.path, &hints).map_err(text)?;
    let file = owned.file().map_err(text)?;
    assert_eq!(file.format().name(), golden.format);
    file.verify(&mut Scratch::new(&mut vec![0; 16 << 20])).map_err(text)?;
    let (tables, one) = (file.tables().count(), [expected.clone()]);
    let expected = expected["tables"].as_array().map_or(&one[..], Vec::as_slice);
    equal("tables", &expected.len().into(), &tables.into())?;
    let mut compared = Compared::default();
    for expected in expected {
        let name = expected["type_name"].as_str();
        let mut found = file.table(name).map_err(text)?;
        if expected["columns"].is_null() {
            // A chunk has the number of its bytes in its expectation, and no columns.
            equal("nbytes", &expected["nbytes"], &found.to_vec::<u8>("").map_err(text)?.len().into())?;
            continue;
        }
        let more = table(&mut found, &golden.format, expected, true).map_err(|why| format!("{name:?}: {why}"))?;
        compared = Compared { columns: compared.columns + more.columns, facts: compared.facts + more.facts };
        assert!(name.is_none() || file.table(Some("no such table")).unwrap_err().kind() == Kind::Unknown);
    }
    Ok(compared)
}

/// The header, the size, and every value by its row.
fn filo(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    let element: Element = golden.fact("element_type").parse().map_err(text)?;
    let header = u32::from_str_radix(golden.fact("header").trim_start_matches("0x"), 16).map_err(text)?;
    equal("size", &golden.expected["facts"]["size_bytes"], &bytes.len().into())?;

    let vector = Vector::open(&bytes, element).map_err(text)?;
    // An empty vector has its row count above the type, every other zeros.
    let count = if vector.header().word() == 1 { (vector.rows() as u32) << 8 } else { 0 };
    equal("header", &header.into(), &(vector.header().word() | count).into())?;
    let columns = golden.expected["columns"].as_array().ok_or("no columns")?;
    for (k, expected) in columns.iter().enumerate() {
        let column = vector.column(k).map_err(text)?;
        let of = |value| json(harness::filo_vector::cell(value, k), column.ty() == Type::Utf8);
        let by_row = (0..vector.rows()).map(|row| vector.get(row).map(of)).collect::<Result<Vec<_>, _>>();
        let by_row = by_row.map_err(text)?;
        as_expected(&by_row, expected).map_err(|why| format!("column {k} by row: {why}"))?;
        if by_row.iter().any(|value| value == "null") && !column.nullable() {
            return Err(format!("column {k} has missing rows and is not nullable"));
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
            // Without checks the original follows a cell out of its pool (section 3.5); this crate must not.
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
