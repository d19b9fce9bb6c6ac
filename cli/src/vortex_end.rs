//! The end of a Vortex file, of which a part is lost: the end marker, the last eight bytes, which only say how long the
//! postscript before them is, or the type.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pilaster::any::{File, Format, Hints};
use pilaster::bytes::{FileRange, Ranges, Scratch};
use pilaster::column::Part as _;
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::generated::vortex as flat;
use pilaster::unstable::meta::flat::write::{Field, Writer};
use pilaster::unstable::meta::flat::{Flat, Table};
use pilaster::vortex::{self, DTypeBuf};

use crate::failure::Failure;
use crate::open::{Input, ReadAt};

/// Maximum size in bytes of the postscript and of the end marker after it.
const POSTSCRIPT: u64 = 1 << 16;

/// Number of bytes of the end marker.
const MARKER: u64 = 8;

/// Maximum size in bytes of a part of the metadata before the postscript.
const PART: u64 = 32 << 20;

/// Maximum number of bytes that are read in search of the postscript, besides the length of the file. In a hostile file,
/// any number of positions lead to long metadata.
const SEARCHED: u64 = 256 << 20;

/// Opens a Vortex file.
pub fn opened<'i>(input: &'i Input<'_>) -> pilaster::Result<vortex::File<'i>> {
    let hints = Hints { dtype: input.hints().dtype, ..Hints::default() };
    match File::open_input(input.input(), Format::Vortex, &hints, &mut Scratch::new(&mut []))? {
        File::Vortex(file) => Ok(file),
        // The format was given.
        _ => Err(pilaster::Error::new(pilaster::error::Kind::WrongType, What::INPUT, 0)),
    }
}

/// Returns the bytes of `input` up to `len`, followed by `end`.
pub fn ended<'s>(input: &Input<'s>, len: u64, end: Vec<u8>) -> Input<'s> {
    let reader: Arc<ReadAt> = input.reader().into();
    let whole = len.saturating_add(end.len() as u64);
    let read = move |from: u64, to: &mut [u8]| {
        let stored = usize::try_from(len.saturating_sub(from)).unwrap_or(usize::MAX).min(to.len());
        let (before, after) = to.split_at_mut_checked(stored).ok_or(std::io::ErrorKind::InvalidInput)?;
        if !before.is_empty() {
            reader(from, before)?;
        }
        let skipped = usize::try_from(from.saturating_sub(len)).unwrap_or(usize::MAX);
        let bytes = end.get(skipped..).and_then(|end| end.get(..after.len()));
        after.copy_from_slice(bytes.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    input.with(Ranges::new(whole, read))
}

/// Returns the range of the postscript of a file with an end marker.
pub fn postscript_of(input: &Input<'_>) -> Result<FileRange, Failure> {
    let marker = FileRange { at: input.len().saturating_sub(MARKER), len: MARKER.min(input.len()) };
    let bytes = input.input();
    let Some([_, _, low, high, ..]) = bytes.get(marker, What::VORTEX_END)?.first_chunk::<8>() else {
        return Err(Error::needing(Kind::Truncated, What::VORTEX_END, 0, MARKER).into());
    };
    let len = u64::from(u16::from_le_bytes([*low, *high]));
    Ok(FileRange { at: marker.at.saturating_sub(len), len })
}

/// Returns the file with a new end marker, if the postscript is still there. Only its length is lost.
pub fn completed<'s>(input: &Input<'s>) -> Result<Option<Input<'s>>, Failure> {
    let len = input.len();
    let at = len.saturating_sub(POSTSCRIPT);
    // Most of what is tried needs these bytes alone.
    let window = input.window();
    let bytes = window.as_ref().map_or(input.input(), Ranges::input);
    let tail: Arc<[u8]> = bytes.get(FileRange { at, len: len.saturating_sub(at) }, What::VORTEX_END)?.into();
    let reader: Arc<ReadAt> = input.reader().into();
    let most = u16::try_from(len.min(u16::MAX.into())).unwrap_or(u16::MAX);
    let (read, left) = (Arc::new(AtomicU64::new(0)), len.saturating_add(SEARCHED));
    for postscript in 1..=most {
        if !is_postscript(tail.get(tail.len().saturating_sub(postscript.into())..).unwrap_or_default(), len) {
            continue;
        }
        let [low, high] = postscript.to_le_bytes();
        let marker = [1, 0, low, high, b'V', b'T', b'X', b'F'];
        if read.load(Ordering::Relaxed) > left {
            let why = format!("the postscript is not found in the first {left} bytes that were read for it");
            return Err(Failure::Input(why));
        }
        let (tail, reader, read) = (tail.clone(), reader.clone(), read.clone());
        let read = move |from: u64, to: &mut [u8]| {
            let end = from.saturating_add(to.len() as u64);
            if from < at {
                let before = at.min(end).saturating_sub(from);
                if before > PART {
                    return Err(std::io::ErrorKind::InvalidInput.into());
                }
                read.fetch_add(before, Ordering::Relaxed);
                let before = usize::try_from(before).unwrap_or(usize::MAX);
                let rest = to.split_at_mut_checked(before).ok_or(std::io::ErrorKind::InvalidInput)?;
                reader(from, rest.0)?;
                copy(&tail, at, at.max(from), rest.1);
                copy(&marker, len, at.max(from), rest.1);
            } else {
                copy(&tail, at, from, to);
                copy(&marker, len, from, to);
            }
            Ok(())
        };
        let completed = input.with(Ranges::new(len.saturating_add(MARKER), read));
        if is_file(&completed) {
            return Ok(Some(completed));
        }
    }
    Ok(None)
}

/// Returns a file whose end can be read apart from its type with the type that `--dtype` gives; `None` if it has no such end
/// or no columns.
pub fn retyped<'s>(input: &Input<'s>) -> Option<Input<'s>> {
    let dtype = input.hints().dtype?.parse::<DTypeBuf>().ok()?;
    let (bytes, range) = (input.input(), postscript_of(input).ok()?);
    let postscript: Table<'_> = Flat::new(bytes.get(range, What::VORTEX_POSTSCRIPT).ok()?).root().ok()?;
    let mut to = Writer::default();
    let mut part = |at: u64, len: u32| {
        let fields =
            [(flat::PostscriptSegment::OFFSET, Field::U64(at)), (flat::PostscriptSegment::LENGTH, Field::U32(len))];
        Field::Place(to.table(&fields))
    };
    // The type takes the place of the old postscript.
    let mut fields = vec![(flat::Postscript::DTYPE, part(range.at, u32::try_from(dtype.as_bytes().len()).ok()?))];
    for field in [flat::Postscript::LAYOUT, flat::Postscript::STATISTICS, flat::Postscript::FOOTER] {
        if let Some(old) = postscript.table::<Table<'_>>(field).ok()?.map(flat::PostscriptSegment::from) {
            fields.push((field, part(old.offset().ok()?, old.length().ok()?)));
        }
    }
    let root = to.table(&fields);
    let postscript = to.finish(root);
    let [low, high] = u16::try_from(postscript.len()).ok()?.to_le_bytes();
    let end = [dtype.as_bytes(), &postscript, &[1, 0, low, high], b"VTXF"].concat();
    let retyped = ended(input, range.at, end);
    is_file(&retyped).then_some(retyped)
}

/// Returns whether bytes look like the postscript of a file of `len` bytes: whether they name a layout and a footer inside.
fn is_postscript(bytes: &[u8], len: u64) -> bool {
    let part = |of: pilaster::Result<Option<flat::PostscriptSegment<'_>>>| {
        let part = of.ok().flatten()?;
        part.offset().ok()?.checked_add(part.length().ok()?.into()).filter(|end| *end <= len)
    };
    let root: pilaster::Result<Table<'_>> = Flat::new(bytes).root();
    root.map(flat::Postscript::from).is_ok_and(|file| part(file.layout()).and(part(file.footer())).is_some())
}

/// Returns whether a file can be opened and has columns.
fn is_file(input: &Input<'_>) -> bool {
    opened(input).is_ok_and(|file| file.rows().is_ok() && file.part().is_ok_and(|part| part.width() > 0))
}

/// Copies the bytes of `part`, which begins at offset `at` of the file, that are also in `to`, which begins at `from`.
fn copy(part: &[u8], at: u64, from: u64, to: &mut [u8]) {
    let start = usize::try_from(from.saturating_sub(at)).unwrap_or(usize::MAX);
    let skipped = usize::try_from(at.saturating_sub(from)).unwrap_or(usize::MAX);
    let to = to.get_mut(skipped..).unwrap_or_default();
    for (to, from) in to.iter_mut().zip(part.get(start..).unwrap_or_default()) {
        *to = *from;
    }
}
