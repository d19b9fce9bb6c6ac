//! Flat segments (section 8), and the buffers of arrays in them.

use crate::bytes::saturated;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::meta::flat::Inline;

/// A flat segment (section 8).
#[derive(Clone, Copy)]
pub(super) struct Blob<'f> {
    /// All of it.
    pub(super) bytes: &'f [u8],
    /// Where it lies in the file.
    pub(super) at: u64,
}

/// A buffer: its bytes, and where they begin in the blob.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'f> {
    pub(super) bytes: &'f [u8],
    pub(super) start: usize,
    /// Offset in the file.
    pub(super) at: u64,
}

#[cfg(feature = "zstd")]
impl Buffer<'_> {
    /// No bytes.
    pub(super) const EMPTY: Buffer<'static> = Buffer { bytes: &[], start: 0, at: 0 };
}

impl<'f> Blob<'f> {
    /// The blob of a layout: a layout has segments of its own.
    pub(super) const NONE: Blob<'static> = Blob { bytes: &[], at: 0 };

    /// Buffer `i` of those that `specs` lists. Buffers follow each other, so this walks over those before.
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
