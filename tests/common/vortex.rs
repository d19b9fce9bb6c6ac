//! Vortex goldens: every value by rows, in batches of several sizes, and one at a time.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column as _, Part as _, Ranges, Type, Values, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{Column, DType, File, Source};

use crate::common::{self, Golden};
use crate::expect::{as_expected, equal, text};
use crate::harness::cell::Cell;

/// Encodings that this version does not decode, with the goldens that have columns of them. Every such
/// column must say so with the id; the other columns of these files read as always.
pub const UNDECODED: &[(&str, &[&str])] =
    &[("vortex/enc_v2_preview_a", &["vortex.decimal_byte_parts.v2", "fastlanes.for.v2", "fastlanes.bitpacked.v2"])];

/// Memory for a batch: some rows at a time, and all.
const ROOMS: [usize; 2] = [24 << 10, 4 << 20];

/// The type in the words of the expectations.
pub fn type_name(column: &Column<'_>) -> String {
    let child = |k| type_name(&column.child(k).expect("a child of the type"));
    match column.ty() {
        Type::Timestamp(unit) => match column.zone().expect("a zone") {
            Some(zone) => format!("timestamp[{},{zone}]", unit.name()),
            None => format!("timestamp[{}]", unit.name()),
        },
        Type::List => format!("list<{}>", child(0)),
        Type::FixedList(n) => format!("fixed_size_list<{},{n}>", child(0)),
        Type::Map => {
            let entry = column.child(0).expect("entries");
            let part = |k| type_name(&entry.child(k).expect("key and value"));
            format!("map<{},{}>", part(0), part(1))
        }
        Type::Struct(n) => {
            let field = |k| format!("{}:{}", column.child_name(k).expect("a name"), child(k));
            format!("struct<{}>", (0..n as usize).map(field).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// A 256-bit integer in decimal digits.
fn wide(words: [u64; 4]) -> String {
    let mut left = words;
    let negative = left[3] >> 63 == 1;
    if negative {
        let mut carry = true;
        for word in &mut left {
            (*word, carry) = (!*word).overflowing_add(carry.into());
        }
    }
    let mut digits = Vec::new();
    while left != [0; 4] {
        let mut rest = 0u128;
        for word in left.iter_mut().rev() {
            let part = rest << 64 | u128::from(*word);
            (*word, rest) = ((part / 10) as u64, part % 10);
        }
        digits.push(b'0' + rest as u8);
    }
    let sign = if negative { "-" } else { "" };
    let digits: String = digits.iter().rev().map(|digit| char::from(*digit)).collect();
    format!("{sign}{}", if digits.is_empty() { "0" } else { &digits })
}

/// JSON texts of some rows, read as often as `memory` makes necessary.
pub fn values(column: &Column<'_>, rows: std::ops::Range<u64>, memory: &mut [u8]) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    let mut row = rows.start;
    while row < rows.end {
        let mut scratch = Scratch::new(memory);
        let (room, asked) = (scratch.room(), fit(column, row..rows.end, scratch.room())?);
        let need = column.need(asked.clone())?;
        let batch = match column.read(asked.clone(), &mut scratch) {
            Err(e) if e.kind() == Kind::NoRoom => panic!("{asked:?} of {column:?} takes more than {need}: {e}"),
            batch => batch?,
        };
        assert!((room - scratch.room()) as u64 <= need, "took more than it said");
        assert!(batch.len > 0 && batch.first == row && batch.len as u64 <= asked.end - asked.start);
        assert!(column.nullable() || batch.validity.nulls(batch.len) == 0);
        out.extend(batch_values(&batch, column.ty())?);
        row += batch.len as u64;
    }
    Ok(out)
}

fn batch_values(batch: &Batch<'_, Column<'_>>, ty: Type) -> Result<Vec<String>, Error> {
    let ty = if ty == Type::Bytes { "bytes" } else { "" };
    let mut out = Vec::new();
    for i in 0..batch.len {
        out.push(match Cell::of_batch(batch, i)? {
            Cell::F16(bits) => format!("\"bits:{bits:04x}\""),
            Cell::Wide(words) => format!("\"{}\"", wide(words)),
            Cell::Nested => match batch.values {
                Values::Nested(rows) => nested(rows, batch.of, i)?,
                _ => unreachable!("a nested cell"),
            },
            cell => crate::expect::json(cell, ty),
        });
    }
    Ok(out)
}

fn nested(rows: Ranges<'_>, of: Column<'_>, i: usize) -> Result<String, Error> {
    let rows = rows.get(i)?;
    let mut memory = vec![0; 1 << 20];
    Ok(match of.ty() {
        Type::Struct(n) => {
            let mut fields = Vec::new();
            for k in 0..n as usize {
                let child = of.child(k)?;
                let value = values(&child, rows.clone(), &mut memory)?;
                fields.push(format!("{}:{}", serde_json::to_string(of.child_name(k)?).unwrap(), value[0]));
            }
            format!("{{{}}}", fields.join(","))
        }
        _ => format!("[{}]", values(&of.child(0)?, rows, &mut memory)?.join(",")),
    })
}

/// Nodes that finding one row may visit, each counted once and again for every 256 of its rows that are read:
/// far fewer than the rows of the larger goldens.
const ONE_ROW: Limits = Limits { max_nodes: 50, ..Limits::DEFAULT };

/// Compares everything that a golden says.
pub fn golden(golden: &Golden) -> Result<(), String> {
    let bytes = golden.bytes();
    if golden.path.extension().is_some_and(|extension| extension == "varr") {
        return array(golden, &bytes);
    }
    if golden.expected["facts"]["open_without_dtype"].is_string() {
        let e = File::open(&bytes).map(drop).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxDType));
        let like = sibling("lay_no_file_stats_a");
        let like = File::open(&like).map_err(text)?;
        let open = |limits| File::open_source(Source::whole(&bytes), Some(like.dtype()), limits).map_err(text);
        return file(golden, &open(&Limits::DEFAULT)?, &open(&ONE_ROW)?);
    }
    let open = |limits| File::open_source(Source::whole(&bytes), None, limits).map_err(text);
    file(golden, &open(&Limits::DEFAULT)?, &open(&ONE_ROW)?)
}

fn sibling(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a golden beside it")
}

/// One array: its type is that of a column in the file that it was cut out of.
fn array(golden: &Golden, bytes: &[u8]) -> Result<(), String> {
    let notes = golden.expected["notes"].as_str().ok_or("no notes")?;
    let (_, rest) = notes.split_once(" of enc_").ok_or("no file in the notes")?;
    let (name, rest) = rest.split_once(".vortex, column ").ok_or("no column in the notes")?;
    let (column, _) = rest.split_once(':').ok_or("no column in the notes")?;
    let whole = sibling(&format!("enc_{name}"));
    let whole = File::open(&whole).map_err(text)?;
    let dtype: DType<'_> = (0..whole.dtype().children())
        .find(|k| whole.dtype().name(*k) == Ok(column))
        .map(|k| whole.dtype().child(k).unwrap())
        .ok_or("no such column")?;
    let ids = golden.expected["facts"]["encoding_ids"].as_array().ok_or("no ids")?;
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
    let rows = golden.expected["nrows"].as_u64().ok_or("no rows")?;
    let open = |limits| File::of_array(bytes, dtype, rows, &ids, limits).map_err(text);
    file(golden, &open(&Limits::DEFAULT)?, &open(&ONE_ROW)?)
}

/// `small` is the same file, which allows for no more work than one row takes.
fn file(golden: &Golden, file: &File<'_>, small: &File<'_>) -> Result<(), String> {
    let verified = file.verify(&mut Scratch::new(&mut vec![0x33; 4 << 20]));
    let known = UNDECODED.iter().all(|(name, _)| *name != golden.name);
    match verified {
        Err(e) if !known => assert!(file.unknown_id(&e).is_some(), "{e}"),
        verified => verified.map_err(|e| format!("verify: {e}"))?,
    }
    let part = file.part().map_err(text)?;
    let undecoded = UNDECODED.iter().find(|(name, _)| *name == golden.name).map(|(_, ids)| *ids);
    let mut not_decoded = 0;
    equal("nrows", &golden.expected["nrows"], &part.rows().into())?;
    let columns = golden.expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &part.width().into())?;
    for (k, expected) in columns.iter().enumerate() {
        let column = part.column(k).map_err(text)?;
        if golden.path.extension().is_some_and(|extension| extension == "vortex") {
            equal("name", &expected["name"], &part.name(k).map_err(text)?.into())?;
        }
        equal("type", &expected["type"], &type_name(&column).into())?;
        equal("nullable", &expected["nullable"], &column.nullable().into())?;
        // A frame is unpacked whole, whatever rows are asked for, and pco has tables: only those may take more
        // than the first room.
        let large = ids_of(file).iter().any(|id| ["vortex.zstd", "vortex.pco"].contains(&id.as_str()));
        let mut least = 0;
        for row in (0..column.rows()).take(if large { usize::MAX } else { 1 }) {
            least = match column.need(row..row + 1) {
                Err(e) if e.kind() == Kind::Unsupported && undecoded.is_some() => 0,
                need => need.map_err(text)?.max(least),
            };
        }
        for room in ROOMS {
            assert!(least <= room as u64 || large, "{least}");
            let mut memory = vec![0x77; room.max(least as usize)];
            match (values(&column, 0..column.rows(), &mut memory), undecoded) {
                (Ok(values), _) => {
                    let why = |why| format!("column {k} ({}) in {room} bytes: {why}", expected["name"]);
                    as_expected(&values, expected).map_err(why)?;
                }
                (Err(e), Some(ids)) => {
                    let id = file.unknown_id(&e).ok_or(format!("column {k}: {e}"))?;
                    assert!(ids.contains(&id), "{}: {id}", golden.name);
                    not_decoded += 1;
                }
                (Err(e), None) => {
                    let id = file.unknown_id(&e);
                    return Err(format!("column {k} ({}) in {room} bytes: {e} {id:?}", expected["name"]));
                }
            }
        }
        let one = small.part().and_then(|part| part.column(k)).map_err(text)?;
        single_rows(&column, &one)
            .map_err(|e| format!("column {k} by row: {e}"))
            .or_else(|e| if undecoded.is_some() { Ok(()) } else { Err(e) })?;
    }
    if undecoded.is_some() && not_decoded == 0 {
        return Err("every column reads: it belongs no longer into UNDECODED".into());
    }
    Ok(())
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

/// Some rows on their own are what they are in a batch, and take no more work than `one` allows.
fn single_rows(column: &Column<'_>, one: &Column<'_>) -> Result<(), Error> {
    let mut memory = vec![0x55; 1 << 20];
    let all = values(column, 0..column.rows().min(3000), &mut memory)?;
    for row in (0..all.len()).step_by(all.len() / 40 + 1) {
        let batch = one.scalar_at(row as u64, &mut Scratch::new(&mut memory))?;
        assert_eq!((batch.first, batch.len), (row as u64, 1));
        assert_eq!(batch_values(&batch, one.ty())?, all[row..=row], "row {row}");
    }
    if let Some(last) = column.rows().checked_sub(1) {
        one.scalar_at(last, &mut Scratch::new(&mut memory))?;
    }
    Ok(())
}

/// All names in [`UNDECODED`] are goldens.
pub fn undecoded_exist() {
    let names: Vec<String> = common::of("vortex").into_iter().map(|golden| golden.name).collect();
    for (name, _) in UNDECODED {
        assert!(names.iter().any(|known| known == name), "{name} is no golden");
    }
}
