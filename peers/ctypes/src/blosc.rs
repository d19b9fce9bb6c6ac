//! Chunks of Blosc 1.

use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;

use crate::{slice, slice_mut};

/// Encodes a chunk and returns its length.
///
/// # Safety
/// The arrays have these lengths and do not overlap.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn pl_enc(
    src: *const u8,
    n: usize,
    compressor: i32,
    level: i32,
    shuffle: i32,
    typesize: i32,
    blocksize: usize,
    dst: *mut u8,
    capacity: usize,
    scratch: *mut u8,
    scratch_len: usize,
) -> i64 {
    let params = Params {
        compressor: Compressor::ALL[compressor as usize],
        level: level as u8,
        shuffle: [Shuffle::None, Shuffle::Byte, Shuffle::Bit][shuffle as usize],
        typesize: typesize as u8,
        blocksize: (blocksize > 0).then_some(blocksize as u32),
    };
    if encode_scratch_len(&params, n) > scratch_len {
        return -2;
    }
    // SAFETY: as the caller promises.
    let (src, dst, scratch) = unsafe { (slice(src, n), slice_mut(dst, capacity), slice_mut(scratch, scratch_len)) };
    encode(src, &params, dst, &mut Scratch::new(scratch)).map_or(-1, |len| len as i64)
}

/// Decodes a chunk and returns the number of bytes.
///
/// # Safety
/// The arrays have these lengths and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_dec(
    src: *const u8,
    n: usize,
    dst: *mut u8,
    capacity: usize,
    scratch: *mut u8,
    scratch_len: usize,
) -> i64 {
    // SAFETY: as the caller promises.
    let (src, dst, scratch) = unsafe { (slice(src, n), slice_mut(dst, capacity), slice_mut(scratch, scratch_len)) };
    let Ok(chunk) = Chunk::open(src) else { return -1 };
    if chunk.scratch_len() > scratch_len {
        return -2;
    }
    chunk.decode(dst, &mut Scratch::new(scratch)).map_or(-3, |len| len as i64)
}

/// Returns the name of a compressor as a C string, which is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn pl_name(compressor: i32) -> *const std::ffi::c_char {
    let name = std::ffi::CString::new(Compressor::ALL[compressor as usize].name());
    name.expect("a name has no zero byte").into_raw()
}
