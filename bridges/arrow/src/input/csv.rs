//! CSV files.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};

use super::exact;
use super::infer::{Texts, reader};
use super::records::{Dialect, Kinds, Records, Store, Values};
use super::{AnyReader, Inferred, Input, InputOptions, Refuted};
use crate::Error;

/// An open CSV file, whose types are known.
#[derive(Debug)]
pub(super) struct Csv {
    input: Input,
    dialect: Dialect,
    header: bool,
    schema: SchemaRef,
    /// For each column whose type the first rows told: what they told.
    supposed: Vec<Option<Texts>>,
    refuted: Refuted,
}

impl Csv {
    pub fn open(input: Input, options: InputOptions) -> Result<Self, Error> {
        let name = input.name().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let tab = name.ends_with(".tsv") || name.ends_with(".tab");
        let delimiter = options.delimiter.unwrap_or(if tab { b'\t' } else { b',' });
        let mut dialect = Dialect { delimiter, missing: options.missing.clone(), rows: 1 };
        let from = reader(&input).map_err(|e| input.failed(e))?;
        let mut names = Records::new(from, dialect.clone()).head().map_err(|e| input.failed(e))?;
        if !options.header {
            names = (1..=names.len()).map(|k| format!("column_{k}")).collect();
        }
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect::<Fields>();
        let texts = Schema::new(fields);
        dialect.rows = options.rows_of(&texts);
        let supposed = vec![None; texts.fields().len()];
        let refuted = Refuted::default();
        let mut csv = Csv { input, dialect, header: options.header, schema: Arc::new(texts), supposed, refuted };
        csv.schema = Arc::new(csv.typed(options.schema.as_ref(), options.inferred)?);
        Ok(csv)
    }

    /// Returns the records after the header: the fields `columns`.
    fn records<S: Store>(&self, columns: &[usize], store: S) -> Result<Records<Box<dyn BufRead + Send>, S>, Error> {
        let mut records = Records::new(reader(&self.input).map_err(|e| self.input.failed(e))?, self.dialect.clone());
        if self.header {
            records.head().map_err(|e| self.input.failed(e))?;
        }
        Ok(records.choose(self.schema.fields().len(), columns, store))
    }

    /// Returns the schema: types that are given, and those that fit all rows.
    fn typed(&mut self, given: Option<&Schema>, inferred: Inferred) -> Result<Schema, Error> {
        let names = self.schema.fields();
        let known: HashMap<&str, &Arc<Field>> =
            given.iter().flat_map(|given| given.fields()).map(|field| (field.name().as_str(), field)).collect();
        for field in given.map(Schema::fields).into_iter().flatten() {
            if self.schema.field_with_name(field.name()).is_err() {
                return Err(self.input.failed(format!("no column {:?}, for which a type is given", field.name())));
            }
            if field.data_type().is_nested() || !exact::is_known(field.data_type()) {
                let why = format!("column {:?}: CSV is not read as {}", field.name(), field.data_type());
                return Err(self.input.failed(why));
            }
        }
        let is_unknown = |field: &Field| !known.contains_key(field.name().as_str());
        let unknown = names.iter().enumerate().filter(|(_, field)| is_unknown(field)).map(|(k, _)| k);
        let unknown: Vec<usize> = unknown.collect();
        let mut kinds = Kinds::new(unknown.len());
        let mut is_all = true;
        if !unknown.is_empty() {
            let mut records = self.records(&unknown, kinds)?;
            while records.next_batch().map_err(|e| self.input.failed(e))?.is_some() {
                if inferred == Inferred::FromFirst {
                    is_all = false;
                    break;
                }
            }
            kinds = records.into_store();
        }
        let mut inferred = kinds.columns().iter();
        let fields = names.iter().map(|field| match known.get(field.name().as_str()) {
            Some(field) => Field::clone(field),
            None => Field::new(field.name(), inferred.next().map_or(DataType::Null, Texts::ty), true),
        });
        let schema = Schema::new(fields.collect::<Fields>());
        for (k, texts) in unknown.iter().zip(kinds.columns()).filter(|_| !is_all) {
            if let Some(place) = self.supposed.get_mut(*k) {
                *place = Some(*texts);
            }
        }
        Ok(schema)
    }

    pub fn refuted(&self) -> Refuted {
        self.refuted.clone()
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub const fn rows(&self) -> Option<u64> {
        None
    }

    pub fn batches(&self, columns: Option<&[usize]>, _: u64) -> Result<(AnyReader, u64), Error> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let columns = columns.unwrap_or(&all);
        let schema = Arc::new(self.schema.project(columns)?);
        let supposed = columns.iter().map(|k| self.supposed.get(*k).copied().flatten());
        let values = Values::new(schema.fields(), supposed, self.refuted());
        Ok((Box::new(Rows { records: self.records(columns, values)?, schema }), 0))
    }
}

/// The batches of a CSV file, with the schema of the chosen columns.
struct Rows<R> {
    records: Records<R, Values>,
    schema: SchemaRef,
}

impl<R: BufRead> Rows<R> {
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(batch) = self.records.next_batch().map_err(ArrowError::CsvError)? else { return Ok(None) };
        let options = RecordBatchOptions::new().with_row_count(Some(batch.lines.len()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), batch.columns, &options).map(Some)
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
