//! The records of CSV text. Unlike other readers, this one tells an empty field (`,,`) from an empty text in quotes (`""`),
//! and counts the blank lines of a table with one column, which are its missing values.
//!
//! Fields without quotes that are complete in a piece of the text are found by the words that it consists of ([`ends`]).
//! A state machine reads all other fields, and gathers those that are not contiguous.

mod ends;
mod store;
#[cfg(test)]
mod tests;
mod values;

pub(super) use self::store::{Kinds, Store};
pub(super) use self::values::Values;

use std::io::BufRead;

use self::ends::Ends;
use self::store::{Strings, Text};
use super::forms::Front;
use super::{BATCH, FIELDS, RECORD};

/// Reads records in batches, whose fields a store takes.
pub(super) struct Records<R, S = Strings> {
    from: R,
    state: State<S>,
    /// The bytes of the last piece that are not read yet.
    left: usize,
}

/// How records are separated and read.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub delimiter: u8,
    /// Texts that mean a missing value, besides an empty one.
    pub missing: Vec<String>,
    /// Maximum number of records in a batch.
    pub rows: usize,
}

/// Where the next byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Bare,
    Quoted,
    /// After a quote within quotes: the end of the text, or the first of two quotes.
    Closing,
}

/// Which fields are kept.
enum Width {
    /// All fields of one record, below each other in the first column.
    Any,
    /// Every record has this number of fields. Each item is the column of the batch that receives the field, if one does.
    Fields(Vec<Option<usize>>),
}

struct State<S> {
    dialect: Dialect,
    width: Width,
    store: S,
    lines: Vec<u64>,
    place: Place,
    /// The number of the field, and whether it has a quote at its start.
    field: usize,
    quoted: bool,
    /// The bytes of the field so far, unless they are the last of the piece.
    gathered: Vec<u8>,
    /// Whether all bytes of the piece are ASCII; `false` if it does not matter.
    ascii: bool,
    /// Whether the record has any character besides its end.
    begun: bool,
    /// The bytes of the record, and of the batch.
    record: usize,
    size: usize,
    line: u64,
    /// The first line of the record, and the line of the last quote at the start of a field.
    first: u64,
    opened: u64,
    /// Whether a carriage return ended the last line.
    returned: bool,
    /// Whether the one record of [`Width::Any`] is read.
    done: bool,
}

impl<R: BufRead> Records<R> {
    pub fn new(from: R, dialect: Dialect) -> Self {
        let state = State {
            dialect,
            width: Width::Any,
            store: Strings::new(),
            lines: Vec::new(),
            place: Place::Start,
            field: 0,
            quoted: false,
            gathered: Vec::new(),
            ascii: false,
            begun: false,
            record: 0,
            size: 0,
            line: 1,
            first: 1,
            opened: 1,
            returned: false,
            done: false,
        };
        Records { from, state, left: 0 }
    }

    /// Returns the fields of the first record that is no blank line; none if there is no record.
    pub fn head(&mut self) -> Result<Vec<String>, String> {
        self.fill()?;
        let wrong = |k: usize| format!("line {}, field {}: no UTF-8", self.state.first, k.saturating_add(1));
        let names = self.state.store.array().map_err(wrong)?;
        Ok(names.iter().map(|name| name.unwrap_or_default().to_owned()).collect())
    }

    /// Sets the number of fields in each record that follows, which of them are stored, in ascending order, and where.
    pub fn choose<S: Store>(self, width: usize, columns: &[usize], store: S) -> Records<R, S> {
        let mut places = vec![None; width];
        for (column, chosen) in columns.iter().enumerate() {
            if let Some(place) = places.get_mut(*chosen) {
                *place = Some(column);
            }
        }
        Records { from: self.from, state: self.state.with(places, store), left: 0 }
    }
}

impl<R: BufRead, S: Store> Records<R, S> {
    /// Reads records until the batch is full.
    pub fn next_batch(&mut self) -> Result<Option<S::Batch>, String> {
        self.fill()?;
        if self.state.lines.is_empty() {
            return Ok(None);
        }
        self.state.size = 0;
        self.state.store.batch(&mut self.state.lines).map(Some)
    }

    /// Returns the store.
    pub fn into_store(self) -> S {
        self.state.store
    }

    fn fill(&mut self) -> Result<(), String> {
        while !self.state.is_full() {
            let bytes = self.from.fill_buf().map_err(|e| e.to_string())?;
            if bytes.is_empty() {
                return self.state.finish();
            }
            if S::ASCII && bytes.len() != self.left {
                self.state.ascii = bytes.is_ascii();
            }
            let read = self.state.feed(bytes)?;
            self.left = bytes.len().saturating_sub(read);
            self.from.consume(read);
        }
        Ok(())
    }
}

impl<S: Store> State<S> {
    fn with<T: Store>(self, places: Vec<Option<usize>>, store: T) -> State<T> {
        State {
            dialect: self.dialect,
            width: Width::Fields(places),
            store,
            lines: Vec::new(),
            place: self.place,
            field: self.field,
            quoted: self.quoted,
            gathered: self.gathered,
            ascii: false,
            begun: self.begun,
            record: self.record,
            size: 0,
            line: self.line,
            first: self.first,
            opened: self.opened,
            returned: self.returned,
            done: false,
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.done || self.lines.len() >= self.dialect.rows.max(1) || self.size >= BATCH
    }

    /// Takes bytes until the batch is full. Returns their number.
    fn feed(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let mut at = 0usize;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.is_full() {
                break;
            }
            let mut read = if self.place == Place::Start { self.bare(rest)? } else { 0 };
            if read == 0 {
                read = self.step(rest)?;
            }
            at = at.saturating_add(read);
        }
        Ok(at)
    }

    /// Takes the fields up to the first that has a quote at its start, or that may go on after the bytes. Returns the number
    /// of bytes.
    fn bare(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let delimiter = self.dialect.delimiter;
        let is_quote = |at: usize| delimiter != b'"' && bytes.get(at) == Some(&b'"');
        let mut start = 0usize;
        if is_quote(start) {
            return Ok(0);
        }
        for end in Ends::new(bytes, delimiter) {
            let byte = bytes.get(end).copied().unwrap_or_default();
            let after = end.saturating_add(1);
            if std::mem::take(&mut self.returned) && byte == b'\n' && end == start {
                self.first = self.line;
            } else {
                let text = Front::new(bytes.get(start..).unwrap_or_default(), end.saturating_sub(start));
                self.opened = self.line;
                self.count(text.text())?;
                self.end(byte, text, self.ascii)?;
            }
            start = after;
            if is_quote(start) || self.is_full() {
                break;
            }
        }
        Ok(start)
    }

    /// Takes a piece of a field, and what ends it. Returns the number of bytes; a change of the place may take none.
    fn step(&mut self, rest: &[u8]) -> Result<usize, String> {
        let delimiter = self.dialect.delimiter;
        let first = rest.first().copied().unwrap_or_default();
        if std::mem::take(&mut self.returned) && first == b'\n' {
            self.first = self.line;
            return Ok(1);
        }
        match self.place {
            Place::Start => {
                self.quoted = first == b'"' && delimiter != b'"';
                self.place = if self.quoted { Place::Quoted } else { Place::Bare };
                self.opened = self.line;
                self.begun |= self.quoted;
                Ok(self.quoted.into())
            }
            Place::Closing if first == b'"' => {
                self.put(b"\"")?;
                self.place = Place::Quoted;
                Ok(1)
            }
            Place::Closing => {
                self.place = Place::Bare;
                Ok(0)
            }
            Place::Quoted => {
                let end = ends::find(rest, b'"');
                let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                self.line = self.line.saturating_add(lines as u64);
                self.put(text)?;
                if end.is_some() {
                    self.place = Place::Closing;
                }
                Ok(text.len().saturating_add(end.is_some().into()))
            }
            Place::Bare => {
                let is_end = |byte: &u8| *byte == delimiter || matches!(byte, b'\n' | b'\r');
                let end = rest.iter().position(is_end);
                let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                self.put(text)?;
                if let Some(byte) = end.and_then(|end| rest.get(end)) {
                    let mut gathered = std::mem::take(&mut self.gathered);
                    self.end_gathered(*byte, &gathered)?;
                    // A long field does not keep its memory.
                    gathered.clear();
                    gathered.shrink_to(BATCH);
                    self.gathered = gathered;
                }
                Ok(text.len().saturating_add(end.is_some().into()))
            }
        }
    }

    /// Appends a piece of the current field.
    fn put(&mut self, text: &[u8]) -> Result<(), String> {
        self.count(text)?;
        if self.column().is_some() {
            self.gathered.extend_from_slice(text);
        }
        Ok(())
    }

    /// Counts the bytes of a piece of the current field.
    #[inline]
    fn count(&mut self, text: &[u8]) -> Result<(), String> {
        self.begun |= !text.is_empty();
        self.record = self.record.saturating_add(text.len());
        if self.record > RECORD && !text.is_empty() {
            return Err(self.too_long());
        }
        Ok(())
    }

    #[cold]
    fn too_long(&self) -> String {
        let quote = format!("is the quote of line {} not closed?", self.opened);
        format!("line {}: a record of more than {RECORD} bytes; {quote}", self.first)
    }

    /// Returns the column of the current field.
    #[inline]
    fn column(&self) -> Option<usize> {
        match &self.width {
            Width::Any => Some(0),
            Width::Fields(places) => places.get(self.field).copied().flatten(),
        }
    }

    /// Ends a field that the state machine read.
    #[inline(never)]
    fn end_gathered(&mut self, byte: u8, text: &[u8]) -> Result<(), String> {
        self.end(byte, Front::new(text, text.len()), false)
    }

    /// Ends the current field, and the record with it unless `byte`, which follows, is the delimiter.
    #[inline(always)]
    fn end(&mut self, byte: u8, text: Front<'_>, ascii: bool) -> Result<(), String> {
        if byte == self.dialect.delimiter {
            self.begun = true;
            self.record = self.record.saturating_add(1);
            return self.end_field(text, ascii);
        }
        self.returned = byte == b'\r';
        self.line = self.line.saturating_add(1);
        self.end_record(text, ascii)
    }

    #[inline(always)]
    fn end_field(&mut self, text: Front<'_>, ascii: bool) -> Result<(), String> {
        let (most, is_name) = match &self.width {
            Width::Any => (FIELDS, true),
            Width::Fields(places) => (places.len(), false),
        };
        if self.field >= most {
            return Err(format!("line {}: more than {most} fields", self.first));
        }
        if let Some(column) = self.column() {
            let bytes = text.text();
            let is_known = |known: &String| known.as_bytes() == bytes;
            let missing = !self.quoted && !is_name && (bytes.is_empty() || self.dialect.missing.iter().any(is_known));
            let text = Text { front: text, missing, ascii, line: self.first };
            self.store.field(column, text)?;
        }
        (self.field, self.place, self.quoted) = (self.field.saturating_add(1), Place::Start, false);
        Ok(())
    }

    #[inline(always)]
    fn end_record(&mut self, text: Front<'_>, ascii: bool) -> Result<(), String> {
        let is_row = self.begun || matches!(&self.width, Width::Fields(places) if places.len() == 1);
        if is_row {
            self.end_field(text, ascii)?;
            if let Width::Fields(places) = &self.width
                && self.field < places.len()
            {
                return Err(format!("line {}: {} fields instead of {}", self.first, self.field, places.len()));
            }
            self.lines.push(self.first);
            self.done = matches!(self.width, Width::Any);
        }
        self.size = self.size.saturating_add(self.record);
        (self.field, self.place, self.quoted, self.begun) = (0, Place::Start, false, false);
        (self.record, self.first) = (0, self.line);
        Ok(())
    }

    /// Ends the last record, which may have no end of its line.
    fn finish(&mut self) -> Result<(), String> {
        if self.place == Place::Quoted {
            return Err(format!("line {}: the quote is not closed", self.opened));
        }
        let gathered = std::mem::take(&mut self.gathered);
        if self.begun { self.end_record(Front::new(&gathered, gathered.len()), false) } else { Ok(()) }
    }
}
