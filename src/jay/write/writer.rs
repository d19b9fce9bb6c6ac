//! The file: signature, buffers, metadata.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::WriteOptions;
use super::cells::{self, Tally};
use super::ends::Ends;
use super::keys::Keys;
use super::tree::{Tree, text};
use crate::bytes::{Sink, WriteError};
use crate::column::{Batch, Build, Column, Feed, Values};
use crate::error::{Error, Kind, Result, What};
use crate::generated::owned::jay as owned;
use crate::jay::raw::{self, ALIGN, HEAD, SType, TAIL};
use crate::jay::{Layout, Stats};
use crate::limits::{Depth, Limits};

type Done<S> = Result<(), WriteError<<S as Sink>::Error>>;

/// Writes every column that [`convert`](crate::column::convert) feeds it.
///
/// [`storage`](super::storage) returns the storage type of a type. A type without storage is
/// [`Kind::WrongType`](crate::error::Kind::WrongType) with the column's number. A value that means "missing" in Jay is
/// [`Kind::Lossy`](crate::error::Kind::Lossy) with the row, unless [`WriteOptions::sentinels`] allows it. NaN is missing
/// in Jay, and counts as missing.
///
/// For columns of an application, call [`Build::batch`] with each batch of a column, then [`Build::close`]. A column
/// without rows has one empty batch. [`Build::open`] does nothing, and the row number of a batch is not used. Columns
/// may arrive in any order. Strings are passed twice, as [`Build::passes`] returns: the first pass takes their lengths,
/// the second their characters. The offsets of over 4 million strings are not kept: the second pass writes them, and after it
/// [`Build::again`] asks for a third one. Integers that may require a wider type
/// ([`Sentinels::Widen`](super::Sentinels::Widen)) are passed twice, too.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Once, Part, Value, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::jay::{File, ReadOptions, write};
///
/// // Four 32-bit ints of a Filo vector.
/// let chunk = [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101];
/// let vector = Vector::open(&chunk, Element::Int)?;
/// let mut builder = write::Builder::new(Vec::new(), &write::WriteOptions::DEFAULT).unwrap();
/// convert(&mut Once::new(vector), &mut builder, &mut Scratch::new(&mut [0; 256])).unwrap();
/// let bytes = builder.finish().unwrap();
///
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!((file.rows(), file.name(0)?), (4, "v"));
/// assert_eq!(file.column(0)?.get(2)?, Value::Int(-5));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<S> {
    sink: S,
    options: WriteOptions,
    /// Number of bytes of data so far.
    at: u64,
    rows: Option<u64>,
    keys: Keys,
    columns: Vec<(usize, owned::Column)>,
    open: Option<Open>,
    most_ends: u64,
}

/// Maximum number of offsets of strings that are kept: 16 MiB, or 32 if they are wide.
const MOST_ENDS: u64 = 1 << 22;

/// What the rows of a column are read for.
#[derive(Clone, Debug)]
enum Pass {
    /// Only looks for values that need a wider type.
    Looks,
    /// Takes values, or the lengths of strings.
    Rows,
    /// Writes the offsets of strings; the last one so far.
    Ends(u64),
    /// Writes characters, whose offsets are in a buffer.
    Text(owned::Buffer),
}

/// The column that is being written.
#[derive(Debug)]
struct Open {
    k: usize,
    name: String,
    tree: Tree,
    /// Start of the current buffer in the data section.
    start: u64,
    pass: Pass,
}

impl<S: Sink> Builder<S> {
    /// Creates a builder that writes into `sink`, and writes the signature.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn new(mut sink: S, options: &WriteOptions) -> Result<Self, WriteError<S::Error>> {
        sink.put(&HEAD).map_err(WriteError::Sink)?;
        let keys = Keys::new(options.keys);
        Ok(Builder {
            sink,
            options: *options,
            at: 0,
            rows: None,
            keys,
            columns: Vec::new(),
            open: None,
            most_ends: MOST_ENDS,
        })
    }

    /// Starts column `k` of the file, with the type of `col`. Does nothing if this column is already open.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format or the options have no storage type for it; [`Kind::Misuse`] if another column
    /// is open, or column `k` is already complete; [`Kind::Invalid`] if the name is empty or contains a control
    /// character.
    fn begin<C: Column>(&mut self, k: usize, name: &str, col: &C) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.k == k && open.name == name) {
            return Ok(());
        }
        if self.open.is_some() || self.columns.iter().any(|(other, _)| *other == k) {
            return Err(Error::new(Kind::Misuse, What::COLUMN, k as u64));
        }
        if name.is_empty() || name.bytes().any(|byte| byte < 0x20) {
            return Err(Error::new(Kind::Invalid, What::JAY_NAME, k as u64));
        }
        let tree = Tree::of(col, &self.options, Depth::new(&Limits::DEFAULT)).map_err(|e| match e.kind() {
            Kind::WrongType => Error::new(Kind::WrongType, What::JAY_TYPE, k as u64),
            _ => e,
        })?;
        let pass = if tree.wider.is_some() { Pass::Looks } else { Pass::Rows };
        self.open = Some(Open { k, name: name.into(), tree, start: self.at, pass });
        Ok(())
    }

    /// Writes a gathered column.
    fn tree(&mut self, tree: &Tree) -> Result<owned::Column, WriteError<S::Error>> {
        let stype = tree.stored();
        let mut children = Vec::new();
        let mut buffers = Vec::from([NO_BUFFER]);
        if stype.is_array() {
            if tree.tally.nulls > 0 {
                let start = self.at;
                self.bytes(&tree.valid)?;
                // The original pads bitmaps to 64-bit words.
                while !self.at.wrapping_sub(start).is_multiple_of(8) {
                    self.bytes(&[0])?;
                }
                buffers = Vec::from([self.close_buffer(start)?]);
            }
            buffers.push(self.ends(tree)?);
            if let Some(child) = &tree.child {
                children.push(self.tree(child)?);
            }
        } else if stype == SType::Void0 {
            buffers.clear();
        } else {
            if stype.is_text() {
                buffers.push(self.ends(tree)?);
            }
            let start = self.at;
            self.bytes(&tree.data)?;
            buffers.push(self.close_buffer(start)?);
        }
        Ok(column(tree, &buffers, children, &self.options, true))
    }

    fn ends(&mut self, tree: &Tree) -> Result<owned::Buffer, WriteError<S::Error>> {
        let start = self.at;
        let Builder { sink, at, .. } = self;
        tree.ends.put(0, &mut |bytes| put(sink, at, bytes))?;
        self.close_buffer(start)
    }

    /// Writes the offsets of strings, or the first one if they were only counted. Returns the next pass; `None` after the last.
    fn after_ends(&mut self, open: &Open) -> Result<Option<Pass>, WriteError<S::Error>> {
        let ends = &open.tree.ends;
        Ok(match open.pass {
            Pass::Looks | Pass::Rows => {
                self.keys.end(open.k)?;
                if let Ends::Counted(..) = ends {
                    let Builder { sink, at, .. } = self;
                    Ends::after(0, ends.is_wide()).put(0, &mut |bytes| put(sink, at, bytes))?;
                    Some(Pass::Ends(0))
                } else {
                    Some(Pass::Text(self.ends(&open.tree)?))
                }
            }
            Pass::Ends(last) if last != ends.last() || self.at.wrapping_sub(open.start) != ends.size() => {
                return Err(Error::new(Kind::Misuse, What::JAY_TEXT, self.at).into());
            }
            Pass::Ends(_) => Some(Pass::Text(self.close_buffer(open.start)?)),
            Pass::Text(_) => None,
        })
    }

    fn bytes(&mut self, bytes: &[u8]) -> Done<S> {
        put(&mut self.sink, &mut self.at, bytes)
    }

    /// Ends the buffer that began at `start`.
    fn close_buffer(&mut self, start: u64) -> Result<owned::Buffer, WriteError<S::Error>> {
        let length = self.at.wrapping_sub(start);
        let pad = usize::try_from(self.at.next_multiple_of(ALIGN).wrapping_sub(self.at)).unwrap_or(0);
        self.bytes([0; 8].get(..pad).unwrap_or_default())?;
        Ok(owned::Buffer { offset: start, length })
    }

    /// Writes the metadata and returns the sink.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if a column is incomplete, or a column of the key is missing; [`Kind::Invalid`] if two columns
    /// have the same name; [`Kind::Overflow`] if the metadata exceeds 2 GiB; errors of the sink.
    pub fn finish(mut self) -> Result<S, WriteError<S::Error>> {
        if let Some(open) = &self.open {
            return Err(Error::new(Kind::Misuse, What::COLUMN, open.k as u64).into());
        }
        let nkeys = core::mem::replace(&mut self.keys, Keys::new(0)).finish()?;
        self.columns.sort_by_key(|(k, _)| *k);
        let mut names: Vec<_> = self.columns.iter().map(|(k, column)| (column.name.as_deref(), *k)).collect();
        names.sort_unstable();
        if let Some((_, (_, k))) = names.iter().zip(names.iter().skip(1)).find(|(a, b)| a.0 == b.0) {
            return Err(Error::new(Kind::Invalid, What::JAY_NAME, *k as u64).into());
        }
        let columns: Vec<owned::Column> = self.columns.drain(..).map(|(_, column)| column).collect();
        let frame =
            owned::Frame { nrows: self.rows.unwrap_or(0), ncols: columns.len() as u64, nkeys, columns: Some(columns) };
        let mut builder = planus::Builder::new();
        let meta = builder.finish(frame, None);
        if meta.len() > i32::MAX as usize {
            return Err(Error::new(Kind::Overflow, What::JAY_META, self.at).into());
        }
        let start = self.at;
        put(&mut self.sink, &mut self.at, meta)?;
        self.close_buffer(start)?;
        let len = self.at.wrapping_sub(start);
        self.bytes(&len.to_le_bytes())?;
        self.bytes(&TAIL)?;
        Ok(self.sink)
    }
}

impl<S: Sink> Build for Builder<S> {
    type Error = WriteError<S::Error>;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        let is_text = super::storage(col.ty(), &self.options).is_some_and(SType::is_text);
        if is_text || super::wider(col.ty(), &self.options).is_some() { 2 } else { 1 }
    }

    fn again(&self) -> bool {
        self.open.is_some()
    }

    /// Keeps the number of rows. The original shows such a frame without rows.
    fn no_columns(&mut self, rows: u64) -> Done<S> {
        self.rows = Some(rows);
        Ok(())
    }

    fn open(&mut self, _rows: u64) -> Done<S> {
        Ok(())
    }

    /// Writes the next rows of a column or, in the last pass, their characters.
    ///
    /// # Errors
    /// [`Kind::WrongType`], [`Kind::Misuse`] or [`Kind::Invalid`] for a column that cannot start here; [`Kind::Lossy`]
    /// for a value that would be read as missing or does not fit the storage type; [`Kind::Utf8`] for bytes that are
    /// not valid UTF-8; errors of an invalid batch; errors of the sink.
    fn batch<C: Column>(&mut self, k: usize, name: &str, _at: u64, col: &C, batch: &Batch<'_, C>) -> Done<S> {
        self.begin(k, name, col)?;
        let Builder { sink, at, open, keys, options, most_ends, .. } = self;
        let Some(open) = open else { return Err(Error::new(Kind::Misuse, What::COLUMN, 0).into()) };
        if let Pass::Looks = open.pass {
            if let Some(wider) = open.tree.wider
                && cells::has_sentinel(batch)
            {
                open.tree.stype = wider;
            }
            return Ok(());
        }
        let mut put = |bytes: &[u8]| put(sink, at, bytes);
        match (open.tree.stype, batch.values) {
            (SType::Str32, Values::Utf8(strings) | Values::Bytes(strings)) => match &mut open.pass {
                Pass::Text(_) => return text(&strings, &batch.validity, &mut put),
                Pass::Ends(last) => {
                    let mut ends = Ends::after(*last, open.tree.ends.is_wide());
                    ends.append(&strings, batch)?;
                    *last = ends.last();
                    return ends.put(1, &mut put);
                }
                Pass::Looks | Pass::Rows => {
                    open.tree.lengths(&strings, batch)?;
                    open.tree.ends.bound(*most_ends);
                }
            },
            (SType::Void0 | SType::Arr32, _) => open.tree.push(col, batch)?,
            (stype, _) => cells::put(stype, col, batch, &mut open.tree.tally, options.sentinels, &mut put)?,
        }
        Ok(keys.add(open.k, batch)?)
    }

    /// Ends a pass. After the last one the column is written.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the number of rows differs from the other columns; [`Kind::Invalid`] if rows do not ascend
    /// by the key; errors of the sink.
    fn close(&mut self) -> Done<S> {
        let Some(open) = self.open.take() else {
            return Err(Error::new(Kind::Misuse, What::COLUMN, 0).into());
        };
        if let Pass::Looks = open.pass {
            self.open = Some(Open { pass: Pass::Rows, ..open });
            return Ok(());
        }
        let rows = open.tree.tally.rows;
        if *self.rows.get_or_insert(rows) != rows {
            return Err(Error::new(Kind::Misuse, What::JAY_ROWS, rows).into());
        }
        let stype = open.tree.stored();
        if stype.is_text()
            && let Some(pass) = self.after_ends(&open)?
        {
            let start = if let Pass::Ends(_) = pass { open.start } else { self.at };
            self.open = Some(Open { pass, start, ..open });
            return Ok(());
        }
        let mut column = match open.pass {
            Pass::Text(offsets) => {
                if self.at.wrapping_sub(open.start) != open.tree.ends.last() {
                    return Err(Error::new(Kind::Misuse, What::JAY_TEXT, self.at).into());
                }
                let text = self.close_buffer(open.start)?;
                column(&open.tree, &[NO_BUFFER, offsets, text], Vec::new(), &self.options, false)
            }
            _ if stype.is_array() => {
                self.keys.end(open.k)?;
                self.tree(&open.tree)?
            }
            _ => {
                self.keys.end(open.k)?;
                let data = self.close_buffer(open.start)?;
                let buffers = [NO_BUFFER, data];
                column(&open.tree, if stype == SType::Void0 { &[] } else { &buffers }, Vec::new(), &self.options, false)
            }
        };
        column.name = Some(open.name);
        self.columns.push((open.k, column));
        Ok(())
    }
}

const NO_BUFFER: owned::Buffer = owned::Buffer { offset: 0, length: 0 };

/// Maximum number of bytes that are put at once. The data of a file begins at offset 8, and some processors copy more bytes than
/// these, with the instruction that the C library chooses for them, at a quarter of the speed to such a place.
const PIECE: usize = 2048;

fn put<S: Sink>(sink: &mut S, at: &mut u64, bytes: &[u8]) -> Done<S> {
    *at = at.wrapping_add(bytes.len() as u64);
    bytes.chunks(PIECE).try_for_each(|piece| sink.put(piece)).map_err(WriteError::Sink)
}

/// Creates the description of a column.
fn column(
    tree: &Tree,
    buffers: &[owned::Buffer],
    children: Vec<owned::Column>,
    options: &WriteOptions,
    is_child: bool,
) -> owned::Column {
    let Tally { rows, nulls, stats } = tree.tally;
    let stype = tree.stored();
    let stats = if options.stats { stored_stats(stats, stype) } else { None };
    let described = owned::Column { nullcount: nulls, stats, ..Default::default() };
    // The original describes void columns in the old layout only.
    if options.layout == Layout::Old || stype == SType::Void0 && !is_child {
        return owned::Column {
            stype: number(stype),
            data: buffers.get(raw::DATA).cloned(),
            strdata: buffers.get(raw::TEXT).cloned(),
            ..described
        };
    }
    owned::Column {
        type_: Some(Box::new(described_type(tree))),
        nrows: rows,
        buffers: Some(buffers.to_vec()),
        children: if children.is_empty() { None } else { Some(children) },
        ..described
    }
}

fn described_type(tree: &Tree) -> owned::Type {
    let extra = tree.child.as_ref().map(|child| owned::TypeExtra::Child(Box::new(described_type(child))));
    owned::Type { stype: number(tree.stored()), extra }
}

/// Converts the storage type to planus's type.
fn number(stype: SType) -> owned::SType {
    // Both types have the same members.
    owned::SType::try_from(u8::from(stype)).unwrap_or(owned::SType::Bool8)
}

/// Converts minimum and maximum to planus's type. If there are no values, both are the missing-value marker of the
/// type.
fn stored_stats(stats: Stats, stype: SType) -> Option<owned::Stats> {
    let ints = match stats {
        Stats::Int { min, max } => Some((min, max)),
        _ => None,
    };
    macro_rules! ints {
        ($int:ident as $stats:ident of $member:ident) => {{
            // They are values of the column, so they fit.
            let cut = |value: i64| $int::try_from(value).unwrap_or($int::MIN);
            let (min, max) = ints.map_or(($int::MIN, $int::MIN), |(min, max)| (cut(min), cut(max)));
            owned::Stats::$member(owned::$stats { min, max })
        }};
    }
    Some(match stype {
        SType::Bool8 => ints!(i8 as StatsBool of Bool),
        SType::Int8 => ints!(i8 as StatsInt8 of Int8),
        SType::Int16 => ints!(i16 as StatsInt16 of Int16),
        SType::Int32 | SType::Date32 => ints!(i32 as StatsInt32 of Int32),
        SType::Int64 | SType::Time64 => ints!(i64 as StatsInt64 of Int64),
        SType::Float32 => {
            let na = f32::from_bits(raw::NA_F32);
            let (min, max) = if let Stats::Float32 { min, max } = stats { (min, max) } else { (na, na) };
            owned::Stats::Float32(owned::StatsFloat32 { min, max })
        }
        SType::Float64 => {
            let na = f64::from_bits(raw::NA_F64);
            let (min, max) = if let Stats::Float64 { min, max } = stats { (min, max) } else { (na, na) };
            owned::Stats::Float64(owned::StatsFloat64 { min, max })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::bytes::Scratch;
    use crate::column::{Once, Part as _, convert};
    use crate::jay::{File, ReadOptions};

    use super::*;

    fn written(file: &[u8], most_ends: u64) -> Result<Vec<u8>, WriteError<core::convert::Infallible>> {
        let file = File::open(file, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
        let mut builder = Builder { most_ends, ..Builder::new(Vec::new(), &WriteOptions::DEFAULT)? };
        convert(&mut Once::new(file), &mut builder, &mut Scratch::new(&mut std::vec![0; 1 << 16]))?;
        builder.finish()
    }

    #[test]
    fn offsets_that_are_not_kept_are_written_alike() {
        let mut texts = 0;
        for entry in std::fs::read_dir("tests/golden/jay").unwrap() {
            let path = entry.unwrap().path();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let Ok(whole) = written(&bytes, MOST_ENDS) else { continue };
            for most in [0, 2, 100] {
                assert!(written(&bytes, most).unwrap() == whole, "{path:?} with {most} offsets");
            }
            let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut [])).unwrap();
            texts += (0..file.width()).filter(|k| file.meta().field(*k).is_ok_and(|f| f.stype().is_text())).count();
        }
        assert!(texts > 10, "{texts}");
    }
}
