//! c-blosc, through its functions without global state, on one thread.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::ffi::CString;

use pilaster::bcolz::Shuffle;
use pilaster::bcolz::chunk::Params;

/// Encodes `src` with c-blosc and returns the length of the chunk.
pub fn encode(src: &[u8], params: &Params, dst: &mut [u8]) -> usize {
    let name = CString::new(params.compressor.name()).expect("a name");
    let shuffle = match params.shuffle {
        Shuffle::None => 0,
        Shuffle::Byte => 1,
        Shuffle::Bit => 2,
    };
    // SAFETY: both pointers are valid for the lengths that are passed with them.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            params.level.into(),
            shuffle,
            params.typesize.into(),
            src.len(),
            src.as_ptr().cast(),
            dst.as_mut_ptr().cast(),
            dst.len(),
            name.as_ptr(),
            params.blocksize.unwrap_or(0) as usize,
            1,
        )
    };
    usize::try_from(len).ok().filter(|len| *len > 0).unwrap_or_else(|| panic!("{params:?}: {len}"))
}

/// Returns the decoded size in bytes, or `None` if c-blosc refuses header and length.
pub fn claims(chunk: &[u8]) -> Option<usize> {
    let mut nbytes = 0;
    // SAFETY: the pointer is valid for the length that is passed with it.
    let bad = unsafe { blosc_src::blosc_cbuffer_validate(chunk.as_ptr().cast(), chunk.len(), &raw mut nbytes) };
    (bad == 0).then_some(nbytes)
}

/// Decodes a chunk with c-blosc and returns the number of bytes, or `None` if c-blosc returns an error. c-blosc does
/// not check the length in the header, so the caller must do so first.
pub fn decode(chunk: &[u8], dst: &mut [u8]) -> Option<usize> {
    // SAFETY: both pointers are valid for their lengths, and the caller has checked the length in the header.
    let len = unsafe { blosc_src::blosc_decompress_ctx(chunk.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1) };
    usize::try_from(len).ok()
}
