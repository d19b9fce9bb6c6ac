//! Blosc chunks and bcolz datasets against their expectations.

use pilaster::bcolz::chunk::{Chunk, small};
use pilaster::bcolz::{Column, Compressor, Dataset, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _, Type, Values};
use pilaster::error::Kind;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::common::Golden;
use super::expect::{as_expected, equal, json, text};
use super::harness::cell::Cell;
use super::harness::walk::{Memory, ROOMS, batches};

/// A chunk: its bytes, its header, its verdict.
pub fn chunk(golden: &Golden) -> Result<(), String> {
    let (bytes, expected) = (golden.bytes(), &golden.expected);
    let read = decode(&bytes, expected);
    match expected["expect"].as_str() {
        Some("error") => read.err().map(|_| ()).ok_or_else(|| "is taken".into()),
        _ => read,
    }
}

fn decode(bytes: &[u8], expected: &Json) -> Result<(), String> {
    let chunk = Chunk::open(bytes).map_err(text)?;
    let mut memory = vec![0x77; chunk.range_scratch_len()];
    let mut scratch = Scratch::new(&mut memory[..chunk.scratch_len()]);
    let mut all = vec![0xee; chunk.nbytes() + 1];
    equal("decoded", &chunk.nbytes().into(), &chunk.decode(&mut all, &mut scratch).map_err(text)?.into())?;
    equal("what is behind", &0xee.into(), &all.pop().into())?;
    let mut again = vec![0x11; chunk.nbytes()];
    match chunk.decode_with(&mut again, &mut scratch, small) {
        Ok(_) => equal("the small form", &true.into(), &(again == all).into())?,
        Err(e) => equal("the small form's error", &"Unsupported".into(), &format!("{:?}", e.kind()).into())?,
    }
    ranges(&chunk, &all, &mut Scratch::new(&mut memory))?;

    equal("nbytes", &expected["nbytes"], &chunk.nbytes().into())?;
    let digest: String = Sha256::digest(&all).iter().map(|byte| format!("{byte:02x}")).collect();
    equal("sha256", &expected["sha256"], &digest.into())?;
    match expected["header"].as_object() {
        Some(_) => header(&chunk, bytes, &expected["header"]),
        None => Ok(()),
    }
}

/// Some of the items are what they are among all.
fn ranges(chunk: &Chunk<'_>, all: &[u8], scratch: &mut Scratch<'_>) -> Result<(), String> {
    let items = all.len() / chunk.typesize();
    for (from, to) in [(0, items.min(1)), (items / 3, items / 2), (items.saturating_sub(3), items), (items, items)] {
        let mut some = vec![0xee; (to - from) * chunk.typesize()];
        chunk.decode_items(from..to, &mut some, scratch).map_err(text)?;
        if some != all[from * chunk.typesize()..to * chunk.typesize()] {
            return Err(format!("items {from}..{to} differ"));
        }
    }
    let e = chunk.decode_items(0..items + 1, &mut vec![0; all.len() + 300], scratch).unwrap_err();
    equal("error", &true.into(), &(e.kind() == Kind::OutOfRange).into())
}

fn header(chunk: &Chunk<'_>, bytes: &[u8], expected: &Json) -> Result<(), String> {
    // The expectations name what the flags say; both LZ4 are one there.
    let name = |compressor: Compressor| compressor.name();
    equal("codec", &expected["codec"], &chunk.compressor().map(name).map_err(text)?.into())?;
    equal("typesize", &expected["typesize"], &chunk.typesize().into())?;
    equal("blocksize", &expected["blocksize"], &chunk.blocksize().into())?;
    equal("ctbytes", &expected["ctbytes"], &bytes.len().into())?;
    equal("memcpyed", &expected["memcpyed"], &u8::from(chunk.is_copy()).into())?;
    let shuffle = match (expected["byte_shuffle"].as_u64(), expected["bit_shuffle"].as_u64()) {
        (Some(1), _) if chunk.typesize() > 1 => Shuffle::Byte,
        (_, Some(1)) => Shuffle::Bit,
        _ => Shuffle::None,
    };
    equal("shuffle", &true.into(), &(shuffle == chunk.shuffle()).into())
}

/// A dataset: every value, through every kind of batch.
pub fn dataset(golden: &Golden) -> Result<(), String> {
    let (dataset, expected) = (Dataset::open(&golden.path).map_err(text)?, &golden.expected);
    dataset.verify().map_err(text)?;
    equal("nrows", &expected["nrows"], &dataset.rows().into())?;
    equal("kind", &expected["facts"]["kind"], &(if dataset.is_table() { "ctable" } else { "carray" }).into())?;
    equal("attrs", &expected["facts"]["files"]["__attrs__"]["text"], &String::from_utf8_lossy(dataset.attrs()).into())?;
    let columns = expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &dataset.arrays().len().into())?;
    for (array, expected) in dataset.arrays().iter().zip(columns) {
        equal("name", &expected["name"], &array.name().into())?;
        // Of a record, the fields have what the others have themselves.
        if expected["fields"].is_null() {
            equal("dtype", &expected["dtype"], &array.dtype_text().into())?;
            equal("shape", &expected["shape"], &array.shape().lengths().into())?;
        }
    }
    for room in ROOMS {
        values(&dataset, columns, room).map_err(|why| format!("{room} bytes: {why}"))?;
    }
    Ok(())
}

fn values(dataset: &Dataset, columns: &[Json], room: usize) -> Result<(), String> {
    // Of each column, the values of its fields, or its own.
    let mut got: Vec<Vec<Vec<String>>> = vec![Vec::new(); columns.len()];
    let mut memory = vec![0x77; dataset.need().map_err(text)? as usize];
    let (mut scratch, mut table) = (Scratch::new(&mut memory), dataset.table());
    loop {
        let mut outer = scratch.scope();
        let Some(part) = table.next_part(&mut outer).map_err(text)? else { break };
        for (k, got) in got.iter_mut().enumerate() {
            let leaves = leaves(part.column(k).map_err(text)?).map_err(text)?;
            got.resize(leaves.len(), Vec::new());
            for (leaf, got) in leaves.iter().zip(got) {
                let ty = type_name(leaf.ty());
                let hex = if ty == "object" { "bytes" } else { &ty };
                batches(leaf, 0..leaf.rows(), Memory::filled(0x77).odd(room), |batch| {
                    got.extend((0..batch.len).map(|i| json(Cell::of_batch(batch, i).expect("a value"), hex)));
                })
                .map_err(text)?;
            }
        }
    }
    for (expected, got) in columns.iter().zip(&got) {
        let mut fields = Vec::new();
        expected_leaves(expected, &mut fields);
        equal("fields", &fields.len().into(), &got.len().into())?;
        for (field, got) in fields.iter().zip(got) {
            as_expected(got, field).map_err(|why| format!("column {}, {}: {why}", expected["name"], field["name"]))?;
        }
    }
    Ok(())
}

/// The columns that hold the values of one: its items, or their fields.
fn leaves<'p>(column: Column<'p>) -> pilaster::Result<Vec<Column<'p>>> {
    match column.ty() {
        Type::FixedList(_) => {
            batches(&column, 0..column.rows(), &mut [], |batch| {
                let Values::Nested(rows) = batch.values else { panic!("a list is nested") };
                for i in 0..batch.len {
                    let range = rows.get(i).expect("a row");
                    assert!(range.end <= column.child(0).expect("items").rows());
                }
            })?;
            leaves(column.child(0)?)
        }
        Type::Struct(count) => {
            let fields = (0..count as usize).map(|k| leaves(column.child(k)?)).collect::<pilaster::Result<Vec<_>>>();
            Ok(fields?.concat())
        }
        _ => Ok(vec![column]),
    }
}

/// What is expected of them.
fn expected_leaves<'j>(column: &'j Json, all: &mut Vec<&'j Json>) {
    match column["fields"].as_array() {
        Some(fields) => fields.iter().for_each(|field| expected_leaves(field, all)),
        None => all.push(column),
    }
}

/// The name that the expectations have for a type.
fn type_name(ty: Type) -> String {
    match ty {
        Type::Timestamp(unit) => format!("datetime64[{}]", unit.name()),
        Type::FixedBytes(_) => "bytes".into(),
        ty => ty.to_string(),
    }
}
