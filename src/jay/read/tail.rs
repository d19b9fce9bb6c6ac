//! The frame of a file: both signatures, and the position of the metadata (section 1).

use super::ReadOptions;
use crate::bytes::{FileRange, LittleEndian, Reader};
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::{ALIGN, HEAD, MIN_LEN, MIN_META, OLD_TAIL, TAIL, TAIL_LEN};

/// The range of the start signature: the first eight bytes.
pub(crate) const HEAD_SPAN: FileRange = FileRange { at: 0, len: HEAD.len() as u64 };

/// Checks the start signature. `bytes` is the range [`HEAD_SPAN`] of the file.
///
/// # Errors
/// [`Kind::Truncated`] if `bytes` is shorter than 8 bytes; [`Kind::Unsupported`] for another version of the format;
/// [`Kind::Invalid`] for any other signature.
pub(crate) fn check_head(bytes: &[u8]) -> Result<()> {
    let head = *Reader::<LittleEndian>::new(bytes).array::<{ HEAD.len() }>(What::JAY_HEAD)?;
    if head == HEAD {
        return Ok(());
    }
    let [j, a, y, version, ..] = head;
    let kind = if [j, a, y] == *b"JAY" { Kind::Unsupported } else { Kind::Invalid };
    Err(Error::needing(kind, What::JAY_HEAD, 0, version.into()))
}

/// The contents of the end of a file: the position of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tail {
    /// The range of the metadata.
    pub meta: FileRange,
    /// Length of the file in bytes.
    pub file: u64,
}

impl Tail {
    /// Returns the range of the last 16 bytes of a file of `len` bytes, the input of [`of`](Self::of).
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `len` is below the minimum of 24 bytes.
    pub(crate) fn span(len: u64) -> Result<FileRange> {
        match len.checked_sub(MIN_LEN) {
            Some(_) => Ok(FileRange { at: len.saturating_sub(TAIL_LEN), len: TAIL_LEN }),
            None => Err(Error::needing(Kind::Truncated, What::JAY_TAIL, 0, MIN_LEN)),
        }
    }

    /// Parses `bytes`, the end of a file of `len` bytes: the range that [`span`](Self::span) returns.
    ///
    /// # Errors
    /// Errors of an invalid signature or metadata size.
    pub(crate) fn of(bytes: &[u8], len: u64, options: &ReadOptions) -> Result<Self> {
        let FileRange { at, .. } = Tail::span(len)?;
        let mut r = Reader::<LittleEndian>::new_at(bytes, at);
        r.u64(What::JAY_META)?;
        let found = r.at();
        let tail = *r.array::<{ TAIL.len() }>(What::JAY_TAIL)?;
        // The original compares only three bytes. Very old releases wrote another end signature.
        let known = tail == TAIL || options.tolerant && (tail.ends_with(b"JAY") || tail.ends_with(&OLD_TAIL));
        if !known {
            let [.., a, b, c, d] = tail;
            let last = u32::from_le_bytes([a, b, c, d]);
            return Err(Error::needing(Kind::Invalid, What::JAY_TAIL, found, last.into()));
        }
        Tail::unsigned(bytes, len, options)
    }

    /// Parses both ends of a file of `len` bytes: the ranges [`HEAD_SPAN`] and [`span`](Self::span). In tolerant mode, one
    /// of the signatures may be wrong if the other one is exact. Returns its error, too.
    ///
    /// # Errors
    /// Errors of the signatures and of the metadata size.
    pub(crate) fn of_ends(head: &[u8], end: &[u8], len: u64, options: &ReadOptions) -> Result<(Self, Option<Error>)> {
        match (check_head(head), Tail::of(end, len, options)) {
            (Err(e), Ok(tail)) if options.tolerant && end.ends_with(&TAIL) => Ok((tail, Some(e))),
            (Ok(()), Err(e)) if options.tolerant && e.what() == What::JAY_TAIL => {
                Tail::unsigned(end, len, options).map(|tail| (tail, Some(e))).map_err(|_| e)
            }
            (head, tail) => head.and(tail).map(|tail| (tail, None)),
        }
    }

    /// Parses the end of a file without a look at its signature.
    fn unsigned(bytes: &[u8], len: u64, options: &ReadOptions) -> Result<Self> {
        let FileRange { at, .. } = Tail::span(len)?;
        let size = Reader::<LittleEndian>::new_at(bytes, at).u64(What::JAY_META)?;
        let room = len.saturating_sub(MIN_LEN);
        if size > room {
            return Err(Error::needing(Kind::Truncated, What::JAY_META, at, size));
        }
        let meta = FileRange { at: at.saturating_sub(size), len: size };
        let fits =
            size >= MIN_META && (options.tolerant || size.is_multiple_of(ALIGN) && meta.at.is_multiple_of(ALIGN));
        if !fits {
            return Err(Error::needing(Kind::Invalid, What::JAY_META, at, size));
        }
        Ok(Tail { meta, file: len })
    }

    /// Returns the range of the data section, which contains all buffers.
    #[must_use]
    pub const fn data(&self) -> FileRange {
        let at = HEAD.len() as u64;
        FileRange { at, len: self.meta.at.saturating_sub(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(size: u64, signature: &[u8], len: u64, tolerant: bool) -> Result<Tail> {
        let bytes = [&size.to_le_bytes()[..], signature].concat();
        Tail::of(&bytes, len, &ReadOptions { tolerant, ..ReadOptions::DEFAULT })
    }

    #[test]
    fn the_metadata_lies_in_front_of_the_tail() {
        let found = tail(32, &TAIL, 64, false).unwrap();
        assert_eq!((found.meta, found.data()), (FileRange { at: 16, len: 32 }, FileRange { at: 8, len: 8 }));
        for size in [0, 8, 33, 36] {
            assert_eq!(tail(size, &TAIL, 64, false).unwrap_err().what(), What::JAY_META, "{size}");
        }
        assert_eq!(tail(41, &TAIL, 64, false).unwrap_err().kind(), Kind::Truncated);
        assert_eq!(tail(u64::MAX, &TAIL, 64, true).unwrap_err().kind(), Kind::Truncated);
        assert!(tail(33, &TAIL, 64, true).is_ok());
        assert_eq!(Tail::span(23).unwrap_err().need(), 24);
    }

    #[test]
    fn old_ends_are_for_the_tolerant() {
        for signature in [b"\0\0\0\0JAY1", b"xxxxxJAY", b"\0\0\0\x002JAY"] {
            assert_eq!(tail(32, signature, 64, false).unwrap_err().what(), What::JAY_TAIL);
            assert!(tail(32, signature, 64, true).is_ok());
        }
        assert!(tail(32, b"\0\0\0\x001JAZ", 64, true).is_err());
    }

    #[test]
    fn the_tolerant_need_one_signature() {
        const BAD: &[u8; 8] = b"\0\0\0\x001JAZ";
        let ends = |head: &[u8], signature: &[u8], size: u64, tolerant: bool| {
            let end = [&size.to_le_bytes()[..], signature].concat();
            let found = Tail::of_ends(head, &end, 64, &ReadOptions { tolerant, ..ReadOptions::DEFAULT });
            found.map(|(tail, wrong)| (tail.meta.at, wrong.map(|e| e.what()))).map_err(|e| e.what())
        };
        for (head, signature, tolerant, found) in [
            (&HEAD, &TAIL, false, Ok((16, None))),
            (&HEAD, &TAIL, true, Ok((16, None))),
            (&HEAD, BAD, true, Ok((16, Some(What::JAY_TAIL)))),
            (&HEAD, BAD, false, Err(What::JAY_TAIL)),
            (BAD, &TAIL, true, Ok((16, Some(What::JAY_HEAD)))),
            (BAD, &TAIL, false, Err(What::JAY_HEAD)),
            (BAD, BAD, true, Err(What::JAY_HEAD)),
            // The end of another release is no proof.
            (BAD, b"\0\0\0\0JAY1", true, Err(What::JAY_HEAD)),
        ] {
            assert_eq!(ends(head, signature, 32, tolerant), found, "{head:?} {signature:?} {tolerant}");
        }
        // The end is lost: what would be the size of the metadata is any number.
        assert_eq!(ends(&HEAD, BAD, 1 << 40, true), Err(What::JAY_TAIL));
        assert_eq!(ends(&HEAD, &TAIL, 1 << 40, true), Err(What::JAY_META));
    }

    #[test]
    fn other_versions_are_named() {
        assert_eq!(check_head(&HEAD), Ok(()));
        let e = check_head(b"JAY2\0\0\0\0").unwrap_err();
        assert_eq!((e.kind(), e.need()), (Kind::Unsupported, u32::from(b'2')));
        assert_eq!(check_head(b"PAR1\0\0\0\0").unwrap_err().kind(), Kind::Invalid);
        assert_eq!(check_head(b"JAY1").unwrap_err().kind(), Kind::Truncated);
    }
}
