//! JSON lines.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, FieldRef, Fields, Schema, SchemaRef};
use serde::de::DeserializeSeed as _;

use super::exact::{self, From};
use super::guess::{Guess, Named, Row};
use super::infer::reader;
use super::{AnyReader, BATCH, Input, InputOptions, RECORD};
use crate::Error;

/// An open file of JSON lines, whose types are known.
#[derive(Debug)]
pub(super) struct Json {
    input: Input,
    schema: SchemaRef,
    /// The names of columns whose types are given.
    given: HashSet<String>,
    batch_rows: usize,
}

/// A reader that fails if an object does not end.
struct Bounded<'b, R> {
    from: R,
    /// Number of bytes since the end of the last object.
    read: &'b Cell<usize>,
    most: usize,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.from.read(buf)?;
        let read = self.read.get().saturating_add(len);
        self.read.set(read);
        if read > self.most {
            return Err(io::Error::other(format!("it does not end within {} bytes", self.most)));
        }
        Ok(len)
    }
}

impl Json {
    pub fn open(input: Input, options: &InputOptions) -> Result<Self, Error> {
        Self::bounded(input, options, RECORD)
    }

    /// Opens a file whose objects have at most `most` bytes each, with what is before them.
    fn bounded(input: Input, options: &InputOptions, most: usize) -> Result<Self, Error> {
        let known: HashMap<&str, &FieldRef> =
            options.schema.iter().flat_map(Schema::fields).map(|field| (field.name().as_str(), field)).collect();
        for (name, field) in &known {
            if !exact::is_known(field.data_type()) {
                return Err(input.failed(format!("column {name:?}: JSON is not read as {}", field.data_type())));
            }
        }
        let given: HashSet<String> = known.keys().map(|name| (*name).to_owned()).collect();
        let types = known.iter().map(|(name, field)| ((*name).to_owned(), field.data_type().clone())).collect();
        let mut rows = Guess::Struct(Named::with(types));
        let from = reader(&input).map_err(|e| input.failed(e))?;
        let read = Cell::new(0);
        let mut values = serde_json::Deserializer::from_reader(Bounded { from, read: &read, most });
        let mut number = 0u64;
        // An error of the end says that there is another value, unless it is one of reading.
        while let Err(e) = values.end() {
            number = number.saturating_add(1);
            let value = if e.is_io() { Err(e) } else { Row(&mut rows).deserialize(&mut values) };
            value.map_err(|e| input.failed(format!("object {number}: {e}")))?;
            read.set(0);
        }
        let columns = if let Guess::Struct(columns) = rows { columns } else { Named::default() };
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut seen = HashSet::new();
        for (name, guess) in columns.fields() {
            seen.insert(name.as_str());
            fields.push(match known.get(name.as_str()) {
                Some(field) => Arc::clone(field),
                None => guess.field(name).map_err(|e| input.failed(e))?,
            });
        }
        // A column that is given may have no value in any row.
        let unseen =
            options.schema.iter().flat_map(Schema::fields).filter(|field| !seen.contains(field.name().as_str()));
        fields.extend(unseen.cloned());
        let schema = Schema::new(fields);
        Ok(Json { input, given, batch_rows: options.rows_of(&schema), schema: Arc::new(schema) })
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub const fn rows(&self) -> Option<u64> {
        None
    }

    pub fn batches(&self, columns: Option<&[usize]>, _: u64) -> Result<(AnyReader, u64), Error> {
        let schema = match columns {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let from = reader(&self.input).map_err(|e| self.input.failed(e))?;
        let given: Vec<bool> = schema.fields().iter().map(|field| self.given.contains(field.name())).collect();
        // Arrow's reader would round and cut numbers to the types that are given.
        let pairs = schema.fields().iter().zip(&given);
        let read = pairs.map(|(field, given)| if *given { exact::as_texts(field) } else { Arc::clone(field) });
        let builder = ReaderBuilder::new(Arc::new(Schema::new(read.collect::<Fields>())))
            .with_batch_size(self.batch_rows)
            .with_coerce_primitive(given.contains(&true));
        Ok((Box::new(Rows { from, decoder: builder.build_decoder()?, schema, given, done: 0 }), 0))
    }
}

/// The batches of a file.
struct Rows<R> {
    from: R,
    decoder: Decoder,
    schema: SchemaRef,
    /// Whether the type of each column is given.
    given: Vec<bool>,
    /// Number of rows that were returned.
    done: u64,
}

impl<R: BufRead> Rows<R> {
    /// Decodes rows until the batch has as many as it may have, or takes as many bytes.
    fn decode(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut size = 0usize;
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            // Then up to each brace, as a batch ends between two objects.
            let brace = bytes.iter().position(|byte| *byte == b'}').map_or(bytes.len(), |end| end.saturating_add(1));
            let some = if size < BATCH { bytes } else { bytes.get(..brace).unwrap_or(bytes) };
            let (len, decoded) = (some.len(), self.decoder.decode(some)?);
            self.from.consume(decoded);
            size = size.saturating_add(decoded);
            if decoded != len || (size >= BATCH && !self.decoder.has_partial_record() && !self.decoder.is_empty()) {
                break;
            }
        }
        self.decoder.flush()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(read) = self.decode()? else { return Ok(None) };
        let mut arrays = Vec::with_capacity(read.num_columns());
        for ((array, field), given) in read.columns().iter().zip(self.schema.fields()).zip(&self.given) {
            if !given {
                arrays.push(Arc::clone(array));
                continue;
            }
            arrays.push(exact::nested(array, field.data_type(), From::Json).map_err(|e| {
                let number = self.done.saturating_add(e.row as u64).saturating_add(1);
                ArrowError::JsonError(format!("object {number}, column {:?}: {}", field.name(), e.why))
            })?);
        }
        self.done = self.done.saturating_add(read.num_rows() as u64);
        let options = RecordBatchOptions::new().with_row_count(Some(read.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options).map(Some)
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl<R: BufRead> RecordBatchReader for Rows<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn objects_have_a_limit() {
        let open = |bytes: Vec<u8>, most: usize| {
            let input = Input::from(bytes).with_name("a.jsonl.gz");
            Json::bounded(input, &InputOptions::default(), most).map(|_| ()).map_err(|e| e.to_string())
        };
        let object = format!("{{\"a\":\"{}\"}}\n", "x".repeat(1000));
        let text = object.repeat(3) + &format!("{{\"b\":[{}0]}}", "{\"b\":0},".repeat(300));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        assert!(gzip.write_all(text.as_bytes()).is_ok());
        let is_long = |e: Result<(), String>, number: u32, most: usize| {
            let expected = format!("a.jsonl.gz: object {number}: it does not end within {most} bytes");
            assert!(e.as_ref().is_err_and(|e| e.starts_with(&expected)), "{e:?}");
        };
        for bytes in [text.clone().into_bytes(), gzip.finish().unwrap_or_default()] {
            is_long(open(bytes.clone(), 1500), 4, 1500);
            is_long(open(bytes, 1000), 1, 1000);
        }
        assert_eq!(open(object.repeat(100).into_bytes(), 1100), Ok(()));
        // A text that is not closed.
        is_long(open(format!("{{\"a\":\"{}", "x".repeat(5000)).into_bytes(), 2000), 1, 2000);
    }
}
