//! The end of a file: the end marker, the postscript, and the list of segments in the footer (sections 3 and 4).

use super::raw;
use crate::bytes::{FileRange, Input};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, SegmentSpec};
use crate::meta::flat::{Inline, Table};

/// Reads the end marker of a file, its last 8 bytes, and returns the byte range of the postscript.
///
/// # Errors
/// [`Kind::Truncated`] if the file is shorter or the postscript does not fit, [`Kind::Invalid`] if the magic number is
/// another, [`Kind::Unsupported`] for other versions than 1.
pub(super) fn postscript_range(input: &Input<'_>) -> Result<FileRange> {
    let short = || Error::needing(Kind::Truncated, What::VORTEX_END, 0, raw::END_LEN);
    let at = input.len().checked_sub(raw::END_LEN).ok_or_else(short)?;
    let bytes = input.get(FileRange { at, len: raw::END_LEN }, What::VORTEX_END)?;
    let Some(&[a, b, c, d, magic @ ..]) = bytes.first_chunk::<8>() else { return Err(short()) };
    if magic != raw::MAGIC {
        let found = u32::from_le_bytes(magic);
        return Err(Error::needing(Kind::Invalid, What::VORTEX_END, at.saturating_add(4), found.into()));
    }
    let (version, len) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    if version != raw::VERSION {
        return Err(Error::needing(Kind::Unsupported, What::VORTEX_VERSION, at, version.into()));
    }
    let len = u64::from(len);
    let start = at.checked_sub(len).ok_or_else(|| Error::needing(Kind::Truncated, What::VORTEX_POSTSCRIPT, 0, len))?;
    Ok(FileRange { at: start, len })
}

/// Widens the range of a [`Kind::Missing`] error to all missing parts of the metadata. Most writers store them
/// contiguously, so that one request fetches all. Parts that are far apart are fetched one by one.
#[cold]
pub(super) fn missing_parts(e: Error, postscript: Table<'_>, input: &Input<'_>) -> Error {
    let what = e.what();
    if e.kind() != Kind::Missing {
        return e;
    }
    let (mut start, mut end, mut sum) = (u64::MAX, 0, 0u64);
    for field in flat::Postscript::DTYPE..=flat::Postscript::FOOTER {
        let Ok(Some(segment)) = postscript.table(field) else { continue };
        let Ok(span) = span_in(segment) else { continue };
        if input.get(span, what).is_err_and(|e| e.kind() == Kind::Missing) {
            (start, end) = (start.min(span.at), end.max(span.at.saturating_add(span.len)));
            sum = sum.saturating_add(span.len);
        }
    }
    let len = end.saturating_sub(start);
    if len > sum.saturating_add(raw::TAIL_LEN) {
        return e;
    }
    Error::needing(Kind::Missing, what, start, len)
}

/// Returns the byte range in an entry of the postscript.
pub(super) fn span_in(segment: Table<'_>) -> Result<FileRange> {
    let segment = flat::PostscriptSegment::from(segment);
    Ok(FileRange { at: segment.offset()?, len: segment.length()?.into() })
}

/// Checks that segments are in order of their offsets and inside the file.
pub(super) fn check_segments(segments: &Inline<'_, SegmentSpec>, input: &Input<'_>) -> Result<()> {
    let mut before = 0;
    for (i, spec) in segments.iter().enumerate() {
        let (kind, need) = if spec.offset < before {
            (Kind::Invalid, spec.offset)
        } else if spec.offset.saturating_add(spec.length.into()) > input.len() {
            (Kind::Truncated, spec.length.into())
        } else if spec.alignment_exponent > raw::MAX_ALIGNMENT {
            (Kind::Invalid, spec.alignment_exponent.into())
        } else {
            before = spec.offset;
            continue;
        };
        let at = segments.at().saturating_add((i as u64).saturating_mul(16));
        return Err(Error::needing(kind, What::VORTEX_SEGMENT, at, need));
    }
    Ok(())
}
