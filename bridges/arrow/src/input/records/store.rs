//! What becomes of the fields of records: texts one below the other, or the types of columns.

use arrow_array::StringArray;
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer};

use super::super::BATCH;
use super::super::forms::Front;
use super::super::infer::Texts;

/// A complete field.
#[derive(Clone, Copy)]
pub struct Text<'b> {
    pub front: Front<'b>,
    /// Whether it means a missing value: no character, or one of the texts that mean so, outside of quotes.
    pub missing: bool,
    /// Whether it is known that all bytes are ASCII.
    pub ascii: bool,
    /// The first line of its record.
    pub line: u64,
}

/// Takes fields.
pub trait Store {
    /// The fields of a batch of records.
    type Batch;

    /// Whether [`Text::ascii`] matters.
    const ASCII: bool;

    /// Takes the next field of a column.
    fn field(&mut self, column: usize, text: Text<'_>) -> Result<(), String>;

    /// Ends a batch of records, which begin in the given lines. May take them.
    fn batch(&mut self, lines: &mut Vec<u64>) -> Result<Self::Batch, String>;
}

/// Copies texts below each other, whatever their column.
pub struct Strings {
    data: Vec<u8>,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Strings {
    pub fn new() -> Self {
        Strings { data: Vec::new(), ends: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    /// Adds a text, or `None` if it is missing.
    #[inline(always)]
    pub fn add(&mut self, text: &Text<'_>) -> Result<(), String> {
        if text.missing {
            self.nulls.append_null();
        } else {
            text.front.append_to(&mut self.data);
            self.nulls.append_non_null();
        }
        let end = i32::try_from(self.data.len()).map_err(|_| format!("line {}: a text of over 2 GiB", text.line))?;
        self.ends.push(end);
        Ok(())
    }

    /// Takes the texts, or the number of one that is no UTF-8.
    pub fn array(&mut self) -> Result<StringArray, usize> {
        // The next batch is about as large.
        let data = Vec::with_capacity(self.data.len().min(BATCH));
        let data = std::mem::replace(&mut self.data, data);
        let mut ends = Vec::with_capacity(self.ends.len());
        ends.push(0);
        let ends = std::mem::replace(&mut self.ends, ends);
        let nulls = self.nulls.finish();
        let (offsets, buffer) = (OffsetBuffer::new(ends.into()), Buffer::from_vec(data));
        // A field may end within a character whose rest is in the next one, so that all texts together are UTF-8.
        let wrong = || {
            let ends = offsets.iter().zip(offsets.iter().skip(1));
            let texts = ends.map(|(start, end)| Some(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?));
            let mut texts = texts.map(|range| buffer.get(range?));
            texts.position(|text| text.is_none_or(|text| str::from_utf8(text).is_err())).unwrap_or(0)
        };
        StringArray::try_new(offsets.clone(), buffer.clone(), nulls).map_err(|_| wrong())
    }
}

impl Store for Strings {
    type Batch = Result<StringArray, usize>;

    const ASCII: bool = false;

    fn field(&mut self, _: usize, text: Text<'_>) -> Result<(), String> {
        self.add(&text)
    }

    fn batch(&mut self, lines: &mut Vec<u64>) -> Result<Self::Batch, String> {
        lines.clear();
        Ok(self.array())
    }
}

/// Finds the types of columns, and copies nothing.
pub struct Kinds {
    columns: Vec<Texts>,
    /// The column and the line of a text of the batch that is no UTF-8.
    wrong: Option<(usize, u64)>,
}

impl Kinds {
    pub fn new(columns: usize) -> Self {
        Kinds { columns: vec![Texts::default(); columns], wrong: None }
    }

    pub fn columns(&self) -> &[Texts] {
        &self.columns
    }
}

impl Store for Kinds {
    type Batch = ();

    const ASCII: bool = true;

    #[inline(always)]
    fn field(&mut self, column: usize, text: Text<'_>) -> Result<(), String> {
        if text.missing {
            return Ok(());
        }
        if !text.ascii && str::from_utf8(text.front.text()).is_err() {
            // The first one in the first column.
            if self.wrong.is_none_or(|(first, _)| column < first) {
                self.wrong = Some((column, text.line));
            }
            return Ok(());
        }
        if let Some(texts) = self.columns.get_mut(column) {
            texts.add(text.front);
        }
        Ok(())
    }

    fn batch(&mut self, lines: &mut Vec<u64>) -> Result<(), String> {
        lines.clear();
        self.wrong.map_or(Ok(()), |(_, line)| Err(format!("line {line}: no UTF-8")))
    }
}
