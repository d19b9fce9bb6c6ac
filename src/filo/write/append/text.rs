//! Row-by-row writers of strings (sections 8.5, 10.1, 10.2).
//!
//! Two of the layouts begin with a table of one word per row, followed by the text. Its space is reserved for the
//! maximum number of rows, which is given at the start. Unused space is closed at the end.

use super::super::len::{mask_bytes, pad4};
use super::super::mask::FlatMask;
use super::super::out::{MAX_LEN, Out};
use super::super::utf8::word;
use super::Append;
use super::store::{move_down, no_row, rows_and_room, set_bits};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{FIXED_NA, HEADER_LEN, Header, UTF8_LEN_BITS, UTF8_NA};

/// A table of words, followed by text that grows.
#[derive(Debug)]
struct Words<'b> {
    buffer: &'b mut [u8],
    /// Position of the table.
    table: usize,
    capacity: usize,
    rows: usize,
    /// Position of the next string.
    end: usize,
}

impl<'b> Words<'b> {
    /// Creates an empty table at `table` for at most `max_rows` rows. A row without text takes `empty` bytes beside its
    /// word.
    const fn new(buffer: &'b mut [u8], table: usize, max_rows: usize, empty: usize) -> Result<Self> {
        let capacity = if max_rows < MAX_LEN { max_rows } else { MAX_LEN };
        let end = table.saturating_add(capacity.saturating_mul(4));
        let need = end.saturating_add(empty);
        if capacity == 0 || need > most(buffer) {
            return Err(no_row(0, need));
        }
        Ok(Words { buffer, table, capacity, rows: 0, end })
    }

    /// Appends a row with this word and a text of `len` bytes. Returns the bytes for the caller to fill, or an error if
    /// they do not fit.
    fn push(&mut self, word: u32, len: usize) -> Result<&mut [u8]> {
        let at = self.table.saturating_add(self.rows.saturating_mul(4));
        let end = self.end.saturating_add(len);
        if self.rows >= self.capacity || end > most(self.buffer) {
            return Err(self.no_room(end, len));
        }
        if let Some(slot) = self.buffer.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *slot = word.to_le_bytes();
        }
        let text = self.buffer.get_mut(self.end..end).unwrap_or_default();
        self.end = end;
        self.rows = self.rows.saturating_add(1);
        Ok(text)
    }

    /// Creates the error for a text of `len` bytes that would end at `end`.
    #[cold]
    fn no_room(&self, end: usize, len: usize) -> Error {
        let alone = self.table.saturating_add(self.capacity.saturating_mul(4)).saturating_add(len);
        if alone > most(self.buffer) {
            return no_row(self.rows, alone);
        }
        Error::needing(Kind::NoRoom, What::DESTINATION, self.rows as u64, end as u64)
    }

    const fn rows(&self) -> usize {
        self.rows
    }

    const fn room(&self) -> usize {
        self.capacity.saturating_sub(self.rows)
    }

    /// Closes the gap between table and text, and moves the table to `table`. `moved` corrects a word for a text that
    /// moves forward by the given number of bytes. Returns the buffer, and the end of the text.
    fn close(self, table: usize, moved: &dyn Fn(u32, u32) -> u32) -> (&'b mut [u8], usize) {
        let (text, size) = (self.capacity.saturating_mul(4), self.rows.saturating_mul(4));
        let Words { buffer, table: from, end, .. } = self;
        let gap = u32::try_from(text.saturating_sub(size)).unwrap_or(u32::MAX);
        if let Some(words) = buffer.get_mut(from..from.saturating_add(size)) {
            for word in words.as_chunks_mut::<4>().0 {
                *word = moved(u32::from_le_bytes(*word), gap).to_le_bytes();
            }
        }
        move_down(buffer, from, table, size);
        let (text_from, text_to) = (from.saturating_add(text), table.saturating_add(size));
        let len = end.saturating_sub(text_from);
        move_down(buffer, text_from, text_to, len);
        (buffer, text_to.saturating_add(len))
    }
}

/// Returns the maximum length of a chunk in `buffer`.
const fn most(buffer: &[u8]) -> usize {
    if buffer.len() < MAX_LEN { buffer.len() } else { MAX_LEN }
}

fn fill(to: &mut [u8], bytes: impl Iterator<Item = u8>) {
    for (to, byte) in to.iter_mut().zip(bytes.chain(core::iter::repeat(0))) {
        *to = byte;
    }
}

/// Byte strings of any length, one by one, as a [`Utf8`](super::super::super::Encoding::Utf8) vector.
///
/// ```
/// use pilaster::error::Kind;
/// use pilaster::filo::write::append::{Append, Utf8s};
///
/// let mut buffer = [0; Utf8s::max_len(2, 5)];
/// let mut names = Utf8s::new(&mut buffer, 2)?;
/// assert_eq!(names.push(b"gneiss").unwrap_err().kind(), Kind::Misuse, "it does not fit an empty buffer either");
/// names.push(b"tuff")?;
/// names.push_na()?;
/// assert_eq!(names.room(), 0);
/// assert_eq!(names.finish()?[16..], *b"tuff");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Utf8s<'b>(Words<'b>);

impl<'b> Utf8s<'b> {
    /// Position of the words: after header word and count.
    const TABLE: usize = HEADER_LEN + 4;

    /// Creates an empty vector in `buffer` for at most `max_rows` rows.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if `buffer` holds no row, which has space for the words of `max_rows` rows.
    pub const fn new(buffer: &'b mut [u8], max_rows: usize) -> Result<Self> {
        match Words::new(buffer, Self::TABLE, max_rows, 0) {
            Ok(words) => Ok(Utf8s(words)),
            Err(e) => Err(e),
        }
    }

    /// Returns the size in bytes of a buffer for `rows` rows with `text_bytes` bytes in total, if no string is longer
    /// than 2,047 bytes or more than 1 MiB after its word: each such string takes four bytes more.
    #[must_use]
    pub const fn max_len(rows: usize, text_bytes: usize) -> usize {
        rows.saturating_mul(4).saturating_add(text_bytes).saturating_add(Self::TABLE)
    }
}

impl<'b> Append<'b> for Utf8s<'b> {
    type Value<'v> = &'v [u8];

    rows_and_room!(0);

    fn push(&mut self, text: &[u8]) -> Result<()> {
        let (word, long) = word(self.0.end.saturating_sub(HEADER_LEN), text.len());
        let prefix = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
        let prefix = if long { &prefix[..] } else { &[] };
        let to = self.0.push(word, text.len().saturating_add(prefix.len()))?;
        fill(to, prefix.iter().chain(text).copied());
        Ok(())
    }

    fn push_na(&mut self) -> Result<()> {
        self.0.push(UTF8_NA, 0)?;
        Ok(())
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let rows = self.0.rows;
        let (buffer, end) = self.0.close(Self::TABLE, &|word, gap| match word {
            UTF8_NA => UTF8_NA,
            word if word & UTF8_NA != 0 => word.wrapping_sub(gap.wrapping_shl(UTF8_LEN_BITS)),
            word => word.wrapping_sub(gap),
        });
        let mut out = Out::chunk(Header::Utf8, end.saturating_sub(HEADER_LEN), buffer)?;
        out.u32(rows)?;
        Ok((buffer, end))
    }
}

/// Text, one by one, as a [`SimpleString`](super::super::super::Encoding::SimpleString) vector.
///
/// ```
/// use pilaster::filo::write::append::{Append, SimpleStrings};
/// use pilaster::filo::{Element, Value, Vector};
///
/// let mut buffer = [0; SimpleStrings::max_len(2, 6)];
/// let mut names = SimpleStrings::new(&mut buffer, 2)?;
/// names.push("gneiss")?;
/// names.push_na()?;
/// let vector = Vector::open(names.finish()?, Element::String)?;
/// assert_eq!((vector.get(0)?, vector.get(1)?), (Some(Value::Bytes(b"gneiss")), None));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct SimpleStrings<'b> {
    words: Words<'b>,
    nulls: bool,
}

impl<'b> SimpleStrings<'b> {
    /// End of the table, whose fields are offsets to mask and strings.
    const TABLE_END: usize = 28;

    /// Returns the positions of the mask words and of the string offsets for `rows` rows.
    const fn layout(rows: usize, nulls: bool) -> (usize, usize) {
        let words = FlatMask { rows, nulls }.words(Self::TABLE_END).saturating_add(HEADER_LEN);
        let mask = if nulls { mask_bytes(rows) } else { 0 };
        (words, words.saturating_add(mask).saturating_add(4))
    }

    /// Creates an empty vector in `buffer` for at most `max_rows` rows.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if `buffer` holds no row, which has space for the offsets of `max_rows` rows.
    pub const fn new(buffer: &'b mut [u8], max_rows: usize) -> Result<Self> {
        let (_, table) = Self::layout(max_rows, true);
        match Words::new(buffer, table, max_rows, stored_len(0)) {
            Ok(words) => Ok(SimpleStrings { words, nulls: false }),
            Err(e) => Err(e),
        }
    }

    /// Returns the size in bytes of a buffer for `rows` rows with `text_bytes` bytes in total.
    #[must_use]
    pub const fn max_len(rows: usize, text_bytes: usize) -> usize {
        let (_, table) = Self::layout(rows, true);
        table.saturating_add(rows.saturating_mul(12)).saturating_add(text_bytes)
    }

    fn append(&mut self, text: &[u8], present: bool) -> Result<()> {
        let row = self.words.rows;
        let slot = self.words.table.saturating_add(row.saturating_mul(4));
        let offset = u32::try_from(self.words.end.saturating_sub(slot)).unwrap_or(u32::MAX);
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let to = self.words.push(offset, stored_len(text.len()))?;
        fill(to, len.to_le_bytes().iter().chain(text).copied());

        let (mask, _) = Self::layout(self.words.capacity, true);
        set_bits(self.words.buffer, mask, row, 1, u8::from(!present));
        self.nulls |= !present;
        Ok(())
    }
}

impl<'b> Append<'b> for SimpleStrings<'b> {
    type Value<'v> = &'v str;

    rows_and_room!(words);

    fn push(&mut self, text: &str) -> Result<()> {
        self.append(text.as_bytes(), true)
    }

    fn push_na(&mut self) -> Result<()> {
        self.append(&[], false)
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let SimpleStrings { words, nulls } = self;
        let rows = words.rows;
        let (words_at, _) = Self::layout(words.capacity, true);
        let (_, table) = Self::layout(rows, nulls);
        // The bytes of the last mask word after the last row are not written yet.
        let (used, all) = (rows.div_ceil(8), mask_bytes(rows));
        if let Some(rest) = words.buffer.get_mut(words_at.saturating_add(used)..words_at.saturating_add(all)) {
            rest.fill(0);
        }
        let (buffer, end) = words.close(table, &u32::wrapping_sub);

        let mask = FlatMask { rows, nulls };
        let mut out = Out::chunk(Header::SimpleString, end.saturating_sub(HEADER_LEN), buffer)?;
        out.root(16, [8, 12, 4, 8])?;
        out.offset_to(mask.table(Self::TABLE_END))?;
        out.offset_to(mask.end(Self::TABLE_END))?;
        mask.put_tables(&mut out)?;
        out.take(mask.words_len())?;
        out.u32(rows)?;
        Ok((buffer, end))
    }
}

/// Returns the size in bytes of a string of `len` bytes in a [`SimpleStrings`]: length, text, and at least one NUL.
const fn stored_len(len: usize) -> usize {
    pad4(len.saturating_add(5))
}

/// Byte strings in slots of one size, one by one, as a
/// [`FixedMaxUtf8`](super::super::super::Encoding::FixedMaxUtf8) vector.
///
/// ```
/// use pilaster::filo::write::append::{Append, FixedMax};
///
/// let mut buffer = [0; FixedMax::max_len(3, 2)];
/// let mut units = FixedMax::new(&mut buffer, 3)?;
/// units.push(b"mV")?;
/// assert_eq!(units.push(b"degC").unwrap_err().to_string(), "filo fixed-max slot: 4 bytes do not fit 3");
/// units.push_na()?;
/// assert_eq!(units.finish()?, [6, 3, 0, 0, 4, 2, b'm', b'V', 0, 0, 0xff, 0, 0]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct FixedMax<'b> {
    buffer: &'b mut [u8],
    slot: u8,
    rows: usize,
}

impl<'b> FixedMax<'b> {
    /// Position of the slots: after header word and slot size.
    const SLOTS: usize = HEADER_LEN + 1;

    /// Creates a vector of strings of at most `longest` bytes.
    ///
    /// # Errors
    /// [`Kind::Lossy`] if `longest` is 0 or 255; [`Kind::Misuse`] if `buffer` holds no row.
    pub fn new(buffer: &'b mut [u8], longest: u8) -> Result<Self> {
        if !matches!(longest, 1..=254) {
            return Err(Error::new(Kind::Lossy, What::FILO_SLOT, 0));
        }
        let one = Self::max_len(longest, 1);
        if one > most(buffer) {
            return Err(no_row(0, one));
        }
        Ok(FixedMax { buffer, slot: longest.saturating_add(1), rows: 0 })
    }

    /// Returns the size in bytes of a buffer for `rows` rows.
    #[must_use]
    pub const fn max_len(longest: u8, rows: usize) -> usize {
        rows.saturating_mul((longest as usize).saturating_add(1)).saturating_add(Self::SLOTS)
    }

    fn append<'t>(&mut self, bytes: impl Iterator<Item = &'t u8>) -> Result<()> {
        let end = Self::max_len(self.slot.saturating_sub(1), self.rows.saturating_add(1));
        if self.room() == 0 {
            return Err(Error::needing(Kind::NoRoom, What::DESTINATION, self.rows as u64, end as u64));
        }
        let start = end.saturating_sub(self.slot.into());
        fill(self.buffer.get_mut(start..end).unwrap_or_default(), bytes.copied());
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }
}

impl<'b> Append<'b> for FixedMax<'b> {
    type Value<'v> = &'v [u8];

    fn rows(&self) -> usize {
        self.rows
    }

    fn room(&self) -> usize {
        match most(self.buffer).saturating_sub(Self::SLOTS).checked_div(self.slot as usize) {
            Some(rows) => rows.saturating_sub(self.rows),
            None => 0,
        }
    }

    fn push(&mut self, text: &[u8]) -> Result<()> {
        match u8::try_from(text.len()) {
            Ok(len) if len < self.slot => self.append([len].iter().chain(text)),
            _ => {
                Err(Error::needing(Kind::Lossy, What::FILO_SLOT, text.len() as u64, self.slot.saturating_sub(1).into()))
            }
        }
    }

    fn push_na(&mut self) -> Result<()> {
        self.append([0, FIXED_NA].iter())
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let FixedMax { buffer, slot, rows } = self;
        let len = Self::max_len(slot.saturating_sub(1), rows);
        let mut out = Out::chunk(Header::FixedMaxUtf8, len.saturating_sub(HEADER_LEN), buffer)?;
        out.put([slot])?;
        Ok((buffer, len))
    }
}
