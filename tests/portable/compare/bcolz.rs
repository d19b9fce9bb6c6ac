//! Blosc chunks and bcolz datasets against their expectations.

use pilaster::bcolz::chunk::{Chunk, small};
use pilaster::bcolz::{Compressor, Dataset, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::error::Kind;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::expect::{equal, hex, text};
use crate::common::Golden;

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
    equal("sha256", &expected["sha256"], &hex(&Sha256::digest(&all)).into())?;
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

/// A dataset: what its files say beside the values.
pub fn dataset(golden: &Golden) -> Result<(), String> {
    let (dataset, expected) = (Dataset::open(&golden.path).map_err(text)?, &golden.expected);
    equal("nrows", &expected["nrows"], &dataset.rows().into())?;
    equal("kind", &expected["facts"]["kind"], &(if dataset.is_table() { "ctable" } else { "carray" }).into())?;
    equal("attrs", &expected["facts"]["files"]["__attrs__"]["text"], &String::from_utf8_lossy(dataset.attrs()).into())?;
    let columns = expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &dataset.arrays().len().into())?;
    for (array, expected) in dataset.arrays().iter().zip(columns) {
        equal("name", &expected["name"], &array.name().into())?;
        // The expectation of a record has these for its fields only.
        if expected["fields"].is_null() {
            equal("dtype", &expected["dtype"], &array.dtype_text().into())?;
            equal("shape", &expected["shape"], &array.shape().lengths().into())?;
        }
    }
    Ok(())
}
