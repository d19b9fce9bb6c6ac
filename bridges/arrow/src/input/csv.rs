//! CSV files.

use std::io::{BufRead, Read};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_csv::reader::{BufReader, Format, ReaderBuilder};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};

use super::infer::{Texts, reader};
use super::{AnyReader, Input, InputOptions};
use crate::Error;

/// An open CSV file, whose types are known.
#[derive(Debug)]
pub(super) struct Csv {
    input: Input,
    format: Format,
    schema: SchemaRef,
    batch_rows: usize,
}

impl Csv {
    pub fn open(input: Input, options: InputOptions) -> Result<Self, Error> {
        let name = input.name().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let tab = name.ends_with(".tsv") || name.ends_with(".tab");
        let delimiter = options.delimiter.unwrap_or(if tab { b'\t' } else { b',' });
        let mut format = Format::default().with_header(options.header).with_delimiter(delimiter);
        if !options.missing.is_empty() {
            let texts: Vec<_> = options.missing.iter().map(|text| regex::escape(text)).collect();
            let missing = regex::Regex::new(&format!("^(|{})$", texts.join("|")));
            format = format.with_null_regex(missing.map_err(|e| input.failed(e))?);
        }
        let from = reader(&input).map_err(|e| input.failed(e))?;
        let (names, _) = format.infer_schema(from, Some(0))?;
        let batch_rows = options.rows_of(&names);
        let mut csv = Csv { input, format, schema: Arc::new(names), batch_rows };
        csv.schema = Arc::new(csv.typed(options.schema.as_ref())?);
        Ok(csv)
    }

    /// Returns the schema: types that are given, and those that fit all rows.
    fn typed(&self, given: Option<&Schema>) -> Result<Schema, Error> {
        let names = self.schema.fields();
        let known = |field: &Field| given.and_then(|given| given.field_with_name(field.name()).ok());
        for field in given.map(Schema::fields).into_iter().flatten() {
            if self.schema.field_with_name(field.name()).is_err() {
                return Err(self.input.failed(format!("no column {:?}, for which a type is given", field.name())));
            }
        }
        let unknown: Vec<usize> =
            names.iter().enumerate().filter(|(_, field)| known(field).is_none()).map(|(k, _)| k).collect();
        let mut texts = vec![Texts::default(); unknown.len()];
        if !unknown.is_empty() {
            let fields: Fields = names.iter().map(|field| Field::new(field.name(), DataType::Utf8, true)).collect();
            let from = ReaderBuilder::new(Arc::new(Schema::new(fields)))
                .with_format(self.format.clone())
                .with_batch_size(self.batch_rows)
                .with_projection(unknown.clone())
                .build_buffered(reader(&self.input).map_err(|e| self.input.failed(e))?)?;
            for batch in from {
                for (texts, column) in texts.iter_mut().zip(batch?.columns()) {
                    let column = column.as_string::<i32>();
                    (0..column.len()).filter(|i| column.is_valid(*i)).for_each(|i| texts.add(column.value(i)));
                }
            }
        }
        let mut inferred = texts.iter();
        let fields = names.iter().map(|field| match known(field) {
            Some(field) => field.clone(),
            None => Field::new(field.name(), inferred.next().map_or(DataType::Null, Texts::ty), true),
        });
        Ok(Schema::new(fields.collect::<Fields>()))
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub const fn rows(&self) -> Option<u64> {
        None
    }

    pub fn batches(&self, columns: Option<&[usize]>, _: u64) -> Result<(AnyReader, u64), Error> {
        let mut builder = ReaderBuilder::new(Arc::clone(&self.schema))
            .with_format(self.format.clone())
            .with_batch_size(self.batch_rows);
        let mut schema = Arc::clone(&self.schema);
        if let Some(columns) = columns {
            schema = Arc::new(schema.project(columns)?);
            builder = builder.with_projection(columns.to_vec());
        }
        let from = reader(&self.input).map_err(|e| self.input.failed(e))?;
        Ok((Box::new(Rows { reader: builder.build_buffered(from)?, schema }), 0))
    }
}

/// The batches of a CSV file, with the schema of the chosen columns.
struct Rows<R> {
    reader: BufReader<R>,
    schema: SchemaRef,
}

impl<R: BufRead + Read> Iterator for Rows<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next()
    }
}

impl<R: BufRead + Read> RecordBatchReader for Rows<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
