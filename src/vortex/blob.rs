//! Array blobs (format description, section 8): the contents of flat segments, and the buffers in them.

use crate::bytes::saturated;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::meta::flat::Inline;

/// The contents of a flat segment.
#[derive(Clone, Copy)]
pub(super) struct Blob<'f> {
    /// All bytes of the blob.
    pub(super) bytes: &'f [u8],
    /// Offset in the file.
    pub(super) at: u64,
}

/// A buffer of an array.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'f> {
    pub(super) bytes: &'f [u8],
    /// Offset in the blob.
    pub(super) start: usize,
    /// Offset in the file.
    pub(super) at: u64,
}

#[cfg(feature = "zstd")]
impl Buffer<'_> {
    /// A buffer without bytes.
    pub(super) const EMPTY: Buffer<'static> = Buffer { bytes: &[], start: 0, at: 0 };
}

impl<'f> Blob<'f> {
    /// The blob of a layout, which has segments instead.
    pub(super) const NONE: Blob<'static> = Blob { bytes: &[], at: 0 };

    /// Returns buffer `i` of `specs`. Buffers are consecutive, so this adds up the lengths of the buffers before it.
    pub(super) fn buffer(&self, specs: &Inline<'f, flat::Buffer>, i: u16) -> Result<Buffer<'f>> {
        let none = || Error::needing(Kind::OutOfRange, What::VORTEX_BUFFER, i.into(), specs.len() as u64);
        let (mut start, mut end, mut compression) = (0, 0u64, flat::Compression::None);
        for k in 0..=usize::from(i) {
            let spec = specs.get(k).ok_or_else(none)?;
            start = end.saturating_add(spec.padding.into());
            end = start.saturating_add(spec.length.into());
            compression = spec.compression;
        }
        let at = self.at.saturating_add(start);
        if compression != flat::Compression::None {
            return Err(Error::needing(Kind::Unsupported, What::VORTEX_BUFFER, at, i.into()));
        }
        let bytes = self.bytes.get(saturated(start)..saturated(end));
        let cut = || Error::needing(Kind::Truncated, What::VORTEX_BUFFER, at, end.saturating_sub(start));
        Ok(Buffer { bytes: bytes.ok_or_else(cut)?, start: saturated(start), at })
    }
}
