//! Blosc 1 chunks.

use std::cell::RefCell;

use pilaster::bcolz::chunk::{self, Chunk, Params};
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Failure, Result, detached};
use crate::options::chunk_params;
use crate::raw;

/// Returns the bytes of a chunk.
#[pyfunction]
#[pyo3(signature = (chunk, /))]
pub fn _blosc_decompress<'py>(py: Python<'py>, chunk: &Bound<'py, PyAny>) -> Result<Bound<'py, PyBytes>> {
    let bytes = raw::buffered(chunk, false)?;
    let chunk = Chunk::open(&bytes)?;
    // The memory of the result is written without the interpreter: no other code knows it yet.
    raw::bytes(py, chunk.nbytes(), |to| detached(py, || decode(&chunk, to)))
}

thread_local! {
    /// Scratch memory of the last chunk, so that the next one finds it in the cache.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Size in bytes of the scratch memory that is kept.
const KEPT: usize = 4 << 20;

fn decode(chunk: &Chunk<'_>, to: &mut [u8]) -> Result<()> {
    let need = chunk.scratch_len();
    if need > KEPT {
        chunk.decode(to, &mut Scratch::new(&mut raw::zeros(need)?))?;
        return Ok(());
    }
    SCRATCH.with_borrow_mut(|memory| {
        if memory.len() < need {
            *memory = raw::zeros(need)?;
        }
        chunk.decode(to, &mut Scratch::new(memory))?;
        Ok(())
    })
}

/// Decodes a chunk into a buffer, and returns the number of bytes.
#[pyfunction]
#[pyo3(signature = (chunk, out, /))]
pub fn _blosc_decompress_into(py: Python<'_>, chunk: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> Result<usize> {
    let bytes = raw::buffered(chunk, false)?;
    let chunk = Chunk::open(&bytes)?;
    let (buffer, len) = (PyUntypedBuffer::get(out)?, chunk.nbytes());
    // Before memory is taken: a damaged chunk states any size.
    if buffer.len_bytes() != len {
        return Err(Error::needing(Kind::NoRoom, What::DESTINATION, buffer.len_bytes() as u64, len as u64).into());
    }
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(Failure::Value("out is read-only, or its items do not follow each other".to_owned()));
    }
    // Other threads may use the buffer while the chunk is decoded without the interpreter.
    let mut decoded = raw::zeros(len)?;
    detached(py, || decode(&chunk, &mut decoded))?;
    raw::copy_to(&decoded, &buffer)?;
    Ok(len)
}

/// Returns bytes as a chunk.
#[pyfunction]
#[pyo3(signature = (data, typesize, level, shuffle, codec, blocksize))]
pub fn _blosc_compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    typesize: i64,
    level: i64,
    shuffle: &str,
    codec: &str,
    blocksize: u32,
) -> Result<Bound<'py, PyBytes>> {
    let bytes = raw::buffered(data, false)?;
    let names = ("cname", "clevel");
    let level = u8::try_from(level).map_err(|_| Failure::Value(format!("clevel={level}; the levels are 0 to 9")))?;
    let params = chunk_params(names, Some(codec), level, Some(shuffle), Params::DEFAULT)?;
    let typesize = u8::try_from(typesize)
        .ok()
        .filter(|size| *size > 0)
        .ok_or_else(|| Failure::Value(format!("typesize={typesize}; items of a chunk have 1 to 255 bytes")))?;
    let params = Params { typesize, blocksize: Some(blocksize).filter(|size| *size > 0), ..params };
    let made = detached(py, || {
        let mut out = raw::zeros(chunk::max_len(bytes.len()))?;
        let mut memory = raw::zeros(chunk::encode_scratch_len(&params, bytes.len()))?;
        let len = chunk::encode(&bytes, &params, &mut out, &mut Scratch::new(&mut memory))?;
        out.truncate(len);
        Ok(out)
    })?;
    Ok(raw::new_bytes(py, &made)?)
}

/// Describes a chunk: number of bytes, of bytes of an item, of bytes of a block; compressor, shuffle.
#[pyfunction]
#[pyo3(signature = (chunk, /))]
pub fn _blosc_info(chunk: &Bound<'_, PyAny>) -> Result<(usize, usize, usize, &'static str, &'static str)> {
    let bytes = raw::buffered(chunk, false)?;
    let chunk = Chunk::open(&bytes)?;
    let shuffle = match chunk.shuffle() {
        pilaster::bcolz::Shuffle::None => "none",
        pilaster::bcolz::Shuffle::Byte => "bytes",
        pilaster::bcolz::Shuffle::Bit => "bits",
    };
    Ok((chunk.nbytes(), chunk.typesize(), chunk.blocksize(), chunk.compressor()?.name(), shuffle))
}
