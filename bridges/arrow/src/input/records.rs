//! The records of CSV text. Unlike other readers, this one tells an empty field (`,,`) from an empty text in quotes (`""`),
//! and counts the blank lines of a table with one column, which are its missing values.

use std::io::BufRead;

use arrow_array::StringArray;
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer};

use super::{BATCH, FIELDS, RECORD};

/// Reads records in batches. `None` in a column is a field without a character, or one of the texts that mean so, outside of
/// quotes.
pub(super) struct Records<R> {
    from: R,
    state: State,
}

/// The records of a batch.
pub(super) struct Batch {
    /// The texts of the chosen columns.
    pub columns: Vec<StringArray>,
    /// The line in which each record begins, counted from 1.
    pub lines: Vec<u64>,
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

struct State {
    dialect: Dialect,
    width: Width,
    columns: Vec<Texts>,
    lines: Vec<u64>,
    place: Place,
    /// The number of the field, and whether it has a quote at its start.
    field: usize,
    quoted: bool,
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

/// The texts of a column.
struct Texts {
    data: Vec<u8>,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Texts {
    fn new() -> Self {
        Texts { data: Vec::new(), ends: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    fn start(&self) -> usize {
        self.ends.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or(0)
    }

    fn array(&mut self) -> Result<StringArray, usize> {
        let rows = self.ends.len().saturating_sub(1);
        let data = std::mem::take(&mut self.data);
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        let nulls = self.nulls.finish();
        let wrong = |ends: &[i32], data: &[u8]| {
            let end = str::from_utf8(data).err().map_or(0, |e| e.valid_up_to());
            ends.partition_point(|at| usize::try_from(*at).is_ok_and(|at| at <= end)).saturating_sub(1).min(rows)
        };
        if str::from_utf8(&data).is_err() {
            return Err(wrong(&ends, &data));
        }
        let (offsets, buffer) = (OffsetBuffer::new(ends.into()), Buffer::from_vec(data));
        // A field may end within a character of several bytes, whose rest is in the next one.
        StringArray::try_new(offsets, buffer, nulls).map_err(|_| 0)
    }
}

impl<R: BufRead> Records<R> {
    pub fn new(from: R, dialect: Dialect) -> Self {
        let state = State {
            dialect,
            width: Width::Any,
            columns: vec![Texts::new()],
            lines: Vec::new(),
            place: Place::Start,
            field: 0,
            quoted: false,
            begun: false,
            record: 0,
            size: 0,
            line: 1,
            first: 1,
            opened: 1,
            returned: false,
            done: false,
        };
        Records { from, state }
    }

    /// Returns the fields of the first record that is no blank line; none if there is no record.
    pub fn head(&mut self) -> Result<Vec<String>, String> {
        self.fill()?;
        let texts = self.state.columns.first_mut().map(Texts::array);
        let names = match texts {
            Some(Ok(texts)) => texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect(),
            Some(Err(k)) => return Err(format!("line {}, field {}: no UTF-8", self.state.first, k.saturating_add(1))),
            None => Vec::new(),
        };
        Ok(names)
    }

    /// Sets the number of fields in each record that follows, and which of them are returned, in ascending order.
    pub fn choose(&mut self, width: usize, columns: &[usize]) {
        let mut places = vec![None; width];
        for (column, chosen) in columns.iter().enumerate() {
            if let Some(place) = places.get_mut(*chosen) {
                *place = Some(column);
            }
        }
        self.state.width = Width::Fields(places);
        self.state.columns = columns.iter().map(|_| Texts::new()).collect();
        self.state.lines.clear();
        (self.state.done, self.state.size) = (false, 0);
    }

    /// Reads records until the batch is full.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, String> {
        self.fill()?;
        if self.state.lines.is_empty() {
            return Ok(None);
        }
        self.state.size = 0;
        let lines = std::mem::take(&mut self.state.lines);
        let arrays = self.state.columns.iter_mut().map(|texts| {
            let wrong = |row: usize| format!("line {}: no UTF-8", lines.get(row).copied().unwrap_or_default());
            texts.array().map_err(wrong)
        });
        Ok(Some(Batch { columns: arrays.collect::<Result<_, _>>()?, lines }))
    }

    fn fill(&mut self) -> Result<(), String> {
        while !self.state.is_full() {
            let bytes = self.from.fill_buf().map_err(|e| e.to_string())?;
            if bytes.is_empty() {
                return self.state.finish();
            }
            let read = self.state.feed(bytes)?;
            self.from.consume(read);
        }
        Ok(())
    }
}

impl State {
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
            let read = self.step(rest)?;
            at = at.saturating_add(read);
        }
        Ok(at)
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
                let end = rest.iter().position(|byte| *byte == b'"');
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
                match end.and_then(|end| rest.get(end)) {
                    Some(byte) if *byte == delimiter => {
                        self.begun = true;
                        self.record = self.record.saturating_add(1);
                        self.end_field()?;
                    }
                    Some(byte) => {
                        self.returned = *byte == b'\r';
                        self.line = self.line.saturating_add(1);
                        self.end_record()?;
                    }
                    None => {}
                }
                Ok(text.len().saturating_add(end.is_some().into()))
            }
        }
    }

    /// Returns the column of the current field.
    fn column(&mut self) -> Option<&mut Texts> {
        let k = match &self.width {
            Width::Any => 0,
            Width::Fields(places) => places.get(self.field).copied().flatten()?,
        };
        self.columns.get_mut(k)
    }

    /// Appends a piece of the current field.
    fn put(&mut self, text: &[u8]) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        self.begun = true;
        self.record = self.record.saturating_add(text.len());
        if self.record > RECORD {
            let quote = format!("is the quote of line {} not closed?", self.opened);
            return Err(format!("line {}: a record of more than {RECORD} bytes; {quote}", self.first));
        }
        if let Some(column) = self.column() {
            column.data.extend_from_slice(text);
        }
        Ok(())
    }

    fn end_field(&mut self) -> Result<(), String> {
        let (most, is_name) = match &self.width {
            Width::Any => (FIELDS, true),
            Width::Fields(places) => (places.len(), false),
        };
        if self.field >= most {
            return Err(format!("line {}: more than {most} fields", self.first));
        }
        let (quoted, first) = (self.quoted || is_name, self.first);
        let missing = std::mem::take(&mut self.dialect.missing);
        if let Some(column) = self.column() {
            let start = column.start();
            let text = column.data.get(start..).unwrap_or_default();
            let is_missing = !quoted && (text.is_empty() || missing.iter().any(|known| known.as_bytes() == text));
            if is_missing {
                column.data.truncate(start);
                column.nulls.append_null();
            } else {
                column.nulls.append_non_null();
            }
            let end = i32::try_from(column.data.len()).map_err(|_| format!("line {first}: a text of over 2 GiB"))?;
            column.ends.push(end);
        }
        self.dialect.missing = missing;
        (self.field, self.place, self.quoted) = (self.field.saturating_add(1), Place::Start, false);
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), String> {
        let is_row = self.begun || matches!(&self.width, Width::Fields(places) if places.len() == 1);
        if is_row {
            self.end_field()?;
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
        if self.begun { self.end_record() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use arrow_array::Array as _;

    use super::*;

    /// The records of a text in batches of two, read in pieces of each size.
    fn records(text: &str) -> Result<Vec<Vec<Option<String>>>, String> {
        let mut all = Vec::new();
        for size in [1, 2, 3, 1000] {
            let dialect = Dialect { delimiter: b',', missing: vec!["NA".to_owned()], rows: 2 };
            let mut records = Records::new(BufReader::with_capacity(size, text.as_bytes()), dialect);
            let width = records.head()?.len();
            records.choose(width, &(0..width).collect::<Vec<_>>());
            let mut rows = Vec::new();
            while let Some(batch) = records.next_batch()? {
                for row in 0..batch.lines.len() {
                    let text = |texts: &StringArray| texts.is_valid(row).then(|| texts.value(row).to_owned());
                    rows.push(batch.columns.iter().map(text).collect::<Vec<_>>());
                }
            }
            all.push(rows);
        }
        assert!(all.windows(2).all(|pair| pair.first() == pair.last()), "{all:?}");
        Ok(all.pop().unwrap_or_default())
    }

    fn rows(rows: &[&[Option<&str>]]) -> Result<Vec<Vec<Option<String>>>, String> {
        Ok(rows.iter().map(|row| row.iter().map(|text| text.map(str::to_owned)).collect()).collect())
    }

    #[test]
    fn quotes_and_ends_of_lines() {
        assert_eq!(records("a,b\n1,\"x\"\"y\nz, \"\r\n,\"\"\r\"NA\",NA"), {
            rows(&[&[Some("1"), Some("x\"y\nz, ")], &[None, Some("")], &[Some("NA"), None]])
        });
        // Text after the quotes belongs to the field; a quote within a field is one.
        assert_eq!(records("\n\na,b\n\"x\" y,z\"\n\n\n,\n"), rows(&[&[Some("x y"), Some("z\"")], &[None, None]]));
        assert_eq!(records("a\n\n\"\"\n\nx\n"), rows(&[&[None], &[Some("")], &[None], &[Some("x")]]));
        assert_eq!((records(""), records("\n\n"), records("a,b")), (rows(&[]), rows(&[]), rows(&[])));
        assert_eq!(records("a,b\r\n1,").map(|rows| rows.len()), Ok(1));
    }

    #[test]
    fn names_are_not_missing() {
        let dialect = Dialect { delimiter: b',', missing: vec!["NA".to_owned()], rows: 10 };
        let mut records = Records::new(&b"NA,,b\nNA,1,\n"[..], dialect);
        assert_eq!(records.head(), Ok(vec!["NA".to_owned(), String::new(), "b".to_owned()]));
    }

    #[test]
    fn the_number_of_fields_has_a_limit() {
        let dialect = Dialect { delimiter: b',', missing: Vec::new(), rows: 10 };
        let head = |fields: usize| {
            let names = ",".repeat(fields - 1);
            let mut records = Records::new(names.as_bytes(), dialect.clone());
            let width = records.head()?.len();
            let start = std::time::Instant::now();
            records.choose(width, &(0..width).collect::<Vec<_>>());
            assert!(start.elapsed().as_secs() < 2);
            Ok::<_, String>(width)
        };
        assert_eq!(head(FIELDS), Ok(FIELDS));
        assert_eq!(head(FIELDS + 1), Err("line 1: more than 100000 fields".to_owned()));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(records("a,b\n1,\"\n\n\"\n3\n"), Err("line 5: 1 fields instead of 2".to_owned()));
        assert_eq!(records("a,b\n1,2,3\n"), Err("line 2: more than 2 fields".to_owned()));
        assert_eq!(records("a,b\n1,2\n3,\"4\n5,6\n"), Err("line 3: the quote is not closed".to_owned()));
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let dialect = Dialect { delimiter: b',', missing: Vec::new(), rows: 10 };
        let mut records = Records::new(&b"a,b\nx,y\nz,\xff\n"[..], dialect);
        assert_eq!(records.head().map(|head| head.len()), Ok(2));
        records.choose(2, &[0, 1]);
        assert_eq!(records.next_batch().err(), Some("line 3: no UTF-8".to_owned()));
    }
}
