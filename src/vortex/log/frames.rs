//! The frames of row groups between checkpoints, and the search for the last checkpoint (format description, section 17).

use super::source::Source;
use crate::bytes::{FileRange, Input, len32};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::hash::Lookup2;
use crate::limits::Limits;
use crate::meta::flat::{Flat, Table};
use crate::vortex::end::{postscript_range, span_in};
use crate::vortex::{File, raw};

/// Initial value of the checks of a frame: its first word.
pub(super) const SEED: u32 = u32::from_le_bytes(raw::GROUP_MAGIC);

/// Size in bytes of the word and the row count, which precede the lengths.
const HEAD: u64 = 8;

/// Size in bytes of a check.
const CHECK: u64 = 4;

/// Size in bytes of the windows through which a source is read.
const WINDOW: usize = 64;

/// Rounds up to a multiple of 8.
pub(super) const fn up8(n: u64) -> u64 {
    n.saturating_add(7) & !7
}

/// Returns the number of bytes that segments take in a frame, each padded to a multiple of 8.
pub(super) fn segments_len(lens: &[u32]) -> u64 {
    // Less than 2^32 lengths of 32 bits.
    lens.iter().fold(0, |sum: u64, len| sum.wrapping_add(up8(u64::from(*len))))
}

/// Returns the number of bytes of a frame.
pub(super) fn frame_len(lens: &[u32]) -> u64 {
    raw::group_segments_at(lens.len()).wrapping_add(segments_len(lens)).wrapping_add(CHECK)
}

/// A row group in its frame.
///
/// [`Frames`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Frame {
    /// Offset of the frame.
    pub at: u64,
    /// Number of rows, at least 1.
    pub rows: u32,
    /// Offset of the first segment.
    pub segments: u64,
    /// Offset after the frame.
    pub end: u64,
}

impl Frame {
    /// Returns the range of the segment of `column`; `lens` has the lengths of all segments. `None` if there is no such
    /// column.
    #[must_use]
    pub fn segment(&self, lens: &[u32], column: usize) -> Option<FileRange> {
        let (before, rest) = lens.split_at_checked(column)?;
        let at = self.segments.saturating_add(segments_len(before));
        Some(FileRange { at, len: u64::from(*rest.first()?) })
    }
}

/// Walks over frames, starting after a checkpoint. The checks of each are verified.
///
/// ```
/// use pilaster::bytes::Input;
/// use pilaster::vortex::log::{Frames, last_checkpoint};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
/// // A complete file without frames after its end.
/// let end = last_checkpoint(&Input::whole(bytes))?.expect("a complete file");
/// assert_eq!(end, bytes.len() as u64);
/// let mut lens = [0; 4];
/// let mut frames = Frames::new(&bytes[..], end);
/// assert_eq!(frames.next(&mut lens)?, None);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frames<T> {
    source: T,
    at: u64,
}

impl<T: Source> Frames<T> {
    /// Creates a walk from the end of a checkpoint or frame at offset `at`.
    pub const fn new(source: T, at: u64) -> Self {
        Frames { source, at }
    }

    /// Returns the offset after the last intact frame, or the offset at which the walk began.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Reads the next frame of as many columns as `lens` has items, and sets them to the lengths in bytes of the
    /// segments. Returns `None` if the source ends there. After an error, [`at`](Self::at) is unchanged, and `lens` has
    /// arbitrary contents.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the source ends inside the frame; [`Kind::Invalid`] if no frame begins there, or a length or
    /// the number of rows is zero; [`Kind::Checksum`] if a check value differs; errors of the source.
    pub fn next(&mut self, lens: &mut [u32]) -> Result<Option<Frame>> {
        let at = up8(self.at);
        let left = self.source.size().saturating_sub(at);
        if left == 0 {
            return Ok(None);
        }
        let segments = raw::group_segments_at(lens.len());
        let short = |need| Error::needing(Kind::Truncated, What::VORTEX_LOG, at, need);
        if left < segments {
            return Err(short(segments));
        }
        let mut check = Lookup2::new(SEED);
        let mut word = |source: &mut T, offset: u64| -> Result<[u8; 4]> {
            let mut four = [0; 4];
            source.read(at.saturating_add(offset), &mut four)?;
            check.update(&four);
            Ok(four)
        };
        let first = word(&mut self.source, 0)?;
        if first != raw::GROUP_MAGIC {
            return Err(invalid(at, first));
        }
        let rows = u32::from_le_bytes(word(&mut self.source, 4)?);
        let mut offset = HEAD;
        for len in lens.iter_mut() {
            *len = u32::from_le_bytes(word(&mut self.source, offset)?);
            offset = offset.saturating_add(4);
        }
        let header = check.value();
        self.verify(at, offset, header)?;
        if rows == 0 || lens.contains(&0) {
            return Err(invalid(at.saturating_add(4), rows.to_le_bytes()));
        }
        let len = frame_len(lens);
        if left < len {
            return Err(short(len));
        }
        let body = len.saturating_sub(CHECK);
        check.update(&header.to_le_bytes());
        self.hash(&mut check, at.saturating_add(offset).saturating_add(CHECK)..at.saturating_add(body))?;
        self.verify(at, body, check.value())?;
        self.at = at.saturating_add(len);
        Ok(Some(Frame { at, rows, segments: at.saturating_add(segments), end: self.at }))
    }

    /// Reads the next intact frame at or after [`at`](Self::at), as [`next`](Self::next) does. Skips other bytes, such as
    /// checkpoints and damaged frames. Returns `None` if there is no intact frame up to the end of the source.
    ///
    /// ```
    /// use pilaster::vortex::log::Frames;
    ///
    /// let mut lens = [0; 4];
    /// let mut frames = Frames::new(&b"12345678PLRG, and no row group"[..], 0);
    /// assert_eq!(frames.find(&mut lens)?, None);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Limit`] if bytes that only look like frames have more than twice the length of the source, counted each time
    /// they are hashed; errors of the source.
    pub fn find(&mut self, lens: &mut [u32]) -> Result<Option<Frame>> {
        let size = self.source.size();
        let mut fuel = size.saturating_mul(2).saturating_add(1 << 16);
        let before = self.at;
        while let Some(at) = magic(&mut self.source, self.at)? {
            self.at = at;
            match self.next(lens) {
                Err(e) if e.what() == What::VORTEX_LOG => {
                    let limit = Error::needing(Kind::Limit, What::VORTEX_LOG, at, size);
                    fuel = fuel.checked_sub(e.at().saturating_sub(at)).ok_or(limit)?;
                    // Not after the frame: a log that was continued after a torn one has row groups in its length.
                    self.at = at.saturating_add(8);
                }
                done => return done,
            }
        }
        self.at = before;
        Ok(None)
    }

    /// Reads the next intact frame, as [`find`](Self::find) does, if [`next`](Self::next) has returned an error.
    pub(super) fn find_after(&mut self, lens: &mut [u32]) -> Result<Option<Frame>> {
        let before = self.at;
        self.at = up8(before).saturating_add(8);
        let found = self.find(lens);
        if found == Ok(None) {
            self.at = before;
        }
        found
    }

    /// Returns whether a frame, perhaps a damaged one, begins at or after [`at`](Self::at).
    pub(super) fn begins(&mut self) -> Result<bool> {
        Ok(magic(&mut self.source, self.at)?.is_some())
    }

    /// Compares the check value at `offset` of the frame with the computed one.
    fn verify(&mut self, at: u64, offset: u64, computed: u32) -> Result<()> {
        let (at, mut four) = (at.saturating_add(offset), [0; 4]);
        self.source.read(at, &mut four)?;
        let stored = u32::from_le_bytes(four);
        if stored == computed {
            Ok(())
        } else {
            Err(Error::needing(Kind::Checksum, What::VORTEX_LOG, at, stored.into()))
        }
    }

    /// Adds the bytes of a range to a check.
    fn hash(&mut self, check: &mut Lookup2, range: core::ops::Range<u64>) -> Result<()> {
        let (mut at, mut window) = (range.start, [0; WINDOW]);
        while at < range.end {
            let len = usize::try_from(range.end.saturating_sub(at)).unwrap_or(WINDOW).min(WINDOW);
            let part = window.get_mut(..len).unwrap_or_default();
            self.source.read(at, part)?;
            check.update(part);
            at = at.saturating_add(len as u64);
        }
        Ok(())
    }
}

/// Returns whether the head of a frame is intact and says other rows or lengths than these. `segments` is the offset of the
/// first segment.
pub(super) fn differs(source: &mut impl Source, segments: u64, rows: u32, lens: &[u32]) -> Result<bool> {
    let mut at = segments.saturating_sub(raw::group_segments_at(lens.len()));
    let (mut check, mut is_same) = (Lookup2::new(SEED), true);
    for expected in [SEED, rows].iter().chain(lens) {
        let mut four = [0; 4];
        source.read(at, &mut four)?;
        check.update(&four);
        is_same &= four == expected.to_le_bytes();
        at = at.saturating_add(4);
    }
    let mut four = [0; 4];
    source.read(at, &mut four)?;
    Ok(!is_same && four == check.value().to_le_bytes())
}

fn invalid(at: u64, found: [u8; 4]) -> Error {
    Error::needing(Kind::Invalid, What::VORTEX_LOG, at, u32::from_le_bytes(found).into())
}

/// Returns the offset of the next first word of a frame at or after `from`, at a multiple of 8.
pub(super) fn magic(source: &mut impl Source, from: u64) -> Result<Option<u64>> {
    let (mut at, mut window, end) = (up8(from), [0; WINDOW], source.size());
    while at < end {
        let len = usize::try_from(end.saturating_sub(at)).unwrap_or(WINDOW).min(WINDOW);
        let part = window.get_mut(..len).unwrap_or_default();
        source.read(at, part)?;
        if let Some(place) = part.chunks(8).position(|eight| eight.starts_with(&raw::GROUP_MAGIC)) {
            return Ok(Some(at.saturating_add(u64::from(len32(place)).saturating_mul(8))));
        }
        at = at.saturating_add(WINDOW as u64);
    }
    Ok(None)
}

/// Finds the last end marker that ends at `before` or a smaller offset: version, length of a postscript, magic. Returns
/// the offset after it. Reads windows of `W` bytes, a multiple of 4 and at least 8. Markers end at multiples of 4.
pub(super) fn marker<const W: usize>(source: &mut impl Source, before: u64) -> Result<Option<u64>> {
    let mut end = before & !3;
    let mut window = [0; W];
    while end >= raw::END_LEN {
        let start = end.saturating_sub(W as u64);
        let len = usize::try_from(end.saturating_sub(start)).unwrap_or(W);
        let bytes = window.get_mut(..len).unwrap_or_default();
        source.read(start, bytes)?;
        // With `windows` and `rposition`, a path to a panic would stay.
        let (words, _) = bytes.as_chunks::<4>();
        let pairs = words.iter().zip(words.iter().skip(1)).enumerate();
        let is_marker =
            |[a, b, ..]: &[u8; 4], magic: &[u8; 4]| [*a, *b] == raw::VERSION.to_le_bytes() && *magic == raw::MAGIC;
        let found = pairs.filter(|(_, (word, magic))| is_marker(word, magic)).map(|(place, _)| place).max();
        if let Some(place) = found {
            return Ok(Some(
                start.saturating_add(u64::from(len32(place)).saturating_mul(4)).saturating_add(raw::END_LEN),
            ));
        }
        // The next window has the first word of this one again: a marker may begin before it.
        end = if start == 0 { 0 } else { start.saturating_add(4) };
    }
    Ok(None)
}

/// Returns the offset after the last complete checkpoint: the bytes before it are a valid file. Its footer ends where its
/// postscript begins, as this crate writes it. Returns `None` if no checkpoint is complete.
///
/// [`Frames`] has an example.
///
/// # Errors
/// [`Kind::Limit`] if the search reads more metadata than twice the length of the input, because of many markers that
/// end no checkpoint; errors of the input.
pub fn last_checkpoint(input: &Input<'_>) -> Result<Option<u64>> {
    let mut fuel = input.len().saturating_mul(2).saturating_add(1 << 16);
    let mut before = input.len();
    while let Some(end) = marker::<{ 1 << 14 }>(&mut { *input }, before)? {
        let window = input.window();
        let prefix = window.input().up_to(end);
        match metadata(&prefix) {
            Ok(len) => {
                fuel = fuel.checked_sub(len).ok_or(Error::new(Kind::Limit, What::VORTEX_CHECKPOINT, end))?;
                match File::open_input(prefix, None, &Limits::DEFAULT) {
                    Ok(_) => return Ok(Some(end)),
                    Err(e) if e.kind() == Kind::Missing => return Err(e),
                    Err(_) => {}
                }
            }
            Err(e) if e.kind() == Kind::Missing => return Err(e),
            Err(_) => {}
        }
        before = end.saturating_sub(4);
    }
    Ok(None)
}

/// Returns the number of bytes of the metadata of a file whose footer ends where the postscript begins.
fn metadata(input: &Input<'_>) -> Result<u64> {
    let range = postscript_range(input)?;
    let postscript: Table<'_> = Flat::new_at(input.get(range, What::VORTEX_POSTSCRIPT)?, range.at).root()?;
    let (mut len, mut footer_end) = (range.len, None);
    for field in flat::Postscript::DTYPE..=flat::Postscript::FOOTER {
        if let Some(segment) = postscript.table::<Table<'_>>(field)? {
            let span = span_in(segment)?;
            // A length that exceeds the file is not charged.
            if span.end().is_none_or(|end| end > range.at) {
                return Err(invalid_end(range.at));
            }
            (len, footer_end) = (len.saturating_add(span.len), span.end());
        }
    }
    if footer_end == Some(range.at) { Ok(len) } else { Err(invalid_end(range.at)) }
}

fn invalid_end(at: u64) -> Error {
    Error::new(Kind::Invalid, What::VORTEX_CHECKPOINT, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// A frame, as the format description says it.
    fn frame(rows: u32, segments: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"PLRG".to_vec();
        bytes.extend(rows.to_le_bytes());
        segments.iter().for_each(|segment| bytes.extend((segment.len() as u32).to_le_bytes()));
        let check = |bytes: &mut Vec<u8>| bytes.extend(crate::hash::lookup2(0x4752_4c50, bytes).to_le_bytes());
        check(&mut bytes);
        for segment in segments {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.extend_from_slice(segment);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        check(&mut bytes);
        bytes
    }

    #[test]
    fn frames_are_walked_while_their_checks_agree() {
        let mut bytes = std::vec![7; 20];
        bytes.resize(24, 0);
        bytes.extend(frame(5, &[b"first", b"second one"]));
        let first_end = bytes.len();
        bytes.resize(first_end.next_multiple_of(8), 0);
        bytes.extend(frame(1, &[b"x", &[9; 300]]));
        let walk = |bytes: &[u8]| {
            let (mut frames, mut lens, mut found) = (Frames::new(bytes, 20), [0; 2], Vec::new());
            loop {
                match frames.next(&mut lens) {
                    Ok(Some(frame)) => found.push((frame, lens)),
                    end => return (found, end, frames.at()),
                }
            }
        };
        let (found, end, at) = walk(&bytes);
        assert_eq!((found.len(), end, at), (2, Ok(None), bytes.len() as u64));
        let (frame, lens) = found[0];
        assert_eq!((frame.at, frame.rows, lens), (24, 5, [5, 10]));
        let second = frame.segment(&lens, 1).unwrap();
        assert_eq!(&bytes[second.at as usize..][..second.len as usize], b"second one");
        assert_eq!(frame.segment(&lens, 2), None);
        for cut in first_end..bytes.len() {
            let (found, end, at) = walk(&bytes[..cut]);
            assert_eq!((found.len(), at), (1, first_end as u64), "cut at {cut}");
            assert!(cut <= first_end.next_multiple_of(8) || end.is_err(), "cut at {cut}");
        }
        for bad in 24..bytes.len() {
            // Zeros between frames have no meaning.
            if (first_end..first_end.next_multiple_of(8)).contains(&bad) {
                continue;
            }
            let mut bytes = bytes.clone();
            bytes[bad] ^= 1;
            let (found, end, _) = walk(&bytes);
            assert_eq!(found.len(), usize::from(bad >= first_end), "damage at {bad}");
            assert!(end.is_err(), "damage at {bad}");
            // The search finds the other frame.
            let (mut frames, mut lens) = (Frames::new(&bytes[..], 0), [0; 2]);
            let frame = frames.find(&mut lens).unwrap().expect("the other frame");
            assert_eq!(frame.rows, if bad < first_end { 1 } else { 5 }, "damage at {bad}");
            assert_eq!((frames.find(&mut lens), frames.at()), (Ok(None), frame.end));
        }
    }

    /// A frame with another one in a segment, and frames with an intact header in front of few bytes.
    #[test]
    fn the_search_is_bounded_and_does_not_look_into_frames() {
        let inner = frame(9, &[b"inner"]);
        let outer = frame(4, &[&inner]);
        let (mut frames, mut lens) = (Frames::new(&outer[..], 0), [0]);
        assert_eq!(frames.find(&mut lens).unwrap().map(|frame| frame.rows), Some(4));
        assert_eq!(frames.find(&mut lens), Ok(None));
        let mut head = frame(1, &[&[0; 1 << 16]]);
        head.truncate(16);
        let mut bytes = head.repeat(1 << 13);
        bytes.resize(bytes.len() + (1 << 16), 0);
        let e = Frames::new(&bytes[..], 0).find(&mut [0]).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Limit, What::VORTEX_LOG));
    }

    #[test]
    fn markers_are_found_in_every_window() {
        for at in (0..200).step_by(4) {
            let mut bytes = std::vec![0; 240];
            bytes[at..at + 8].copy_from_slice(b"\x01\0\x70\0VTXF");
            let end = at as u64 + 8;
            assert_eq!(marker::<16>(&mut &bytes[..], 240), Ok(Some(end)));
            assert_eq!(marker::<64>(&mut &bytes[..], end), Ok(Some(end)));
            assert_eq!(marker::<64>(&mut &bytes[..], end - 4), Ok(None));
        }
    }
}
