//! Finds the intact extents of a segment.

use embedded_storage_03::nor_flash::NorFlash;
use zerocopy::IntoBytes;

use super::ring::align;
use crate::bytes::{Endian, WriteError, len32};
use crate::dataseries::raw::{ADLER_AT, EXTENT_HEADER_LEN, FileHeader, HEADER_LEN};
use crate::dataseries::write::{Descriptions, List};
use crate::dataseries::{Header, Next};
use crate::hash::Adler32;

/// The contents at an offset of the flash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// An intact extent.
    Extent(Header),
    /// Erased bytes, to the end of the segment.
    Erased,
    /// An incomplete or damaged extent.
    Torn,
}

/// The file of a segment up to its first data extent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Front {
    /// Header and types are intact; the first data extent begins at this offset.
    Whole(u32),
    /// The type extent is intact, but lists other types.
    Others,
    /// Erased: nothing was written yet.
    Erased,
    /// Header or types are incomplete, so no data follows.
    Torn,
}

/// Number of bytes read at once, a multiple of 4.
const STEP: usize = 64;

/// Calls `see` with the bytes from `at` to `end`, both multiples of 4, up to [`STEP`] bytes per call.
fn read<F: NorFlash>(
    flash: &mut F,
    mut at: u32,
    end: u32,
    see: &mut dyn FnMut(&[u8]),
) -> Result<(), WriteError<F::Error>> {
    let mut bytes = [0; STEP];
    while at < end {
        let len = end.wrapping_sub(at).min(len32(STEP));
        let bytes = bytes.get_mut(..len as usize).unwrap_or_default();
        flash.read(at, bytes).map_err(WriteError::Sink)?;
        see(bytes);
        at = at.wrapping_add(len);
    }
    Ok(())
}

/// Returns whether all bytes from `at` to `end` are erased.
fn erased<F: NorFlash>(flash: &mut F, at: u32, end: u32) -> Result<bool, WriteError<F::Error>> {
    let mut ones = true;
    read(flash, at, end, &mut |bytes| ones &= bytes.iter().all(|byte| *byte == 0xff))?;
    Ok(ones)
}

/// Examines the bytes at `at` in a segment that ends at `end`. Offsets in headers are offsets in the flash.
pub(super) fn extent<E: Endian, F: NorFlash>(flash: &mut F, at: u32, end: u32) -> Result<Found, WriteError<F::Error>> {
    let left = end.saturating_sub(at);
    if left < len32(EXTENT_HEADER_LEN) {
        return Ok(if erased(flash, at, end)? { Found::Erased } else { Found::Torn });
    }
    let mut head = [0; EXTENT_HEADER_LEN];
    flash.read(at, &mut head).map_err(WriteError::Sink)?;
    match Next::of::<E>(&head, at.into()) {
        Ok(Next::Extent(header)) => {
            let Some(len) = u32::try_from(header.span().len).ok().filter(|len| *len <= left) else {
                return Ok(Found::Torn);
            };
            let mut sum = Adler32::new();
            sum.update(head.get(..ADLER_AT).unwrap_or_default());
            sum.update(head.get(ADLER_AT.saturating_add(4)..).unwrap_or_default());
            let body = at.wrapping_add(len32(EXTENT_HEADER_LEN));
            read(flash, body, at.wrapping_add(len), &mut |bytes| sum.update(bytes))?;
            Ok(if sum.value() == header.adler { Found::Extent(header) } else { Found::Torn })
        }
        Ok(Next::End(_)) if erased(flash, at, end)? => Ok(Found::Erased),
        _ => Ok(Found::Torn),
    }
}

/// The start of the extent after this one.
pub(super) fn after<F: NorFlash>(header: &Header) -> u32 {
    // The extent ends within its segment, so the end fits into 32 bits.
    let end = header.span().end().and_then(|end| u32::try_from(end).ok()).unwrap_or(u32::MAX);
    align::<F>(end)
}

/// Examines the file that begins at `at`, in a segment that ends at `end`.
pub(super) fn front<E: Endian, F: NorFlash>(
    flash: &mut F,
    at: u32,
    end: u32,
    types: Descriptions<'_>,
) -> Result<Front, WriteError<F::Error>> {
    let mut head = [0; HEADER_LEN];
    flash.read(at, &mut head).map_err(WriteError::Sink)?;
    if head.as_slice() != FileHeader::<E>::STANDARD.as_bytes() {
        return Ok(if erased(flash, at, end)? { Front::Erased } else { Front::Torn });
    }
    match extent::<E, F>(flash, at.wrapping_add(len32(HEADER_LEN)), end)? {
        Found::Extent(header) if header.hash == List::types(types.list()).hash::<E>().0 => {
            Ok(Front::Whole(after::<F>(&header)))
        }
        Found::Extent(_) => Ok(Front::Others),
        Found::Erased | Found::Torn => Ok(Front::Torn),
    }
}
