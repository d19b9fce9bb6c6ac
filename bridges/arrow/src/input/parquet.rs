//! Parquet files.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use super::{AnyReader, Input, InputOptions, MayMatch, Storage, StoredColumn};
use crate::Error;
use crate::import::Bounds;

/// An open Parquet file.
#[derive(Debug)]
pub(super) struct Parquet {
    input: Input,
    metadata: ArrowReaderMetadata,
    /// The row groups that are read: their number, and their number of rows.
    groups: Vec<(usize, u64)>,
    batch_rows: usize,
}

fn failed(e: ParquetError) -> Error {
    Error::Arrow(e.into())
}

/// Returns the field without a dictionary of other values than texts and bytes: the reader of Parquet refuses one, which the
/// stored Arrow schema may ask for.
fn without_dictionary(field: &FieldRef) -> FieldRef {
    let nested = |item: &FieldRef| without_dictionary(item);
    let ty = match field.data_type() {
        DataType::Dictionary(_, values)
            if !matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary) =>
        {
            DataType::clone(values)
        }
        DataType::List(item) => DataType::List(nested(item)),
        DataType::LargeList(item) => DataType::LargeList(nested(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(nested(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(nested(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(without_dictionary).collect()),
        _ => return Arc::clone(field),
    };
    if ty == *field.data_type() { Arc::clone(field) } else { Arc::new(Field::clone(field).with_data_type(ty)) }
}

impl Parquet {
    pub fn open(input: Input, options: &InputOptions) -> Result<Self, Error> {
        let mut metadata = ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()).map_err(failed)?;
        let fields = metadata.schema().fields().iter().map(without_dictionary).collect::<Fields>();
        if fields != *metadata.schema().fields() {
            let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
            let options = ArrowReaderOptions::new().with_schema(schema.into());
            metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(failed)?;
        }
        let rows = |group: &RowGroupMetaData| {
            u64::try_from(group.num_rows()).map_err(|_| input.failed(format!("row group of {} rows", group.num_rows())))
        };
        let groups = metadata.metadata().row_groups().iter().enumerate();
        let groups = groups.map(|(k, group)| Ok((k, rows(group)?))).collect::<Result<Vec<_>, Error>>()?;
        let batch_rows = options.rows_of(metadata.schema());
        let mut parquet = Parquet { input, metadata, groups, batch_rows };
        for filter in &options.filters {
            let k = parquet.schema().index_of(&filter.column).map_err(|e| Error::from(e).in_column(&filter.column))?;
            parquet.retain(&[k], &mut |zones| Ok(zones.iter().all(|zone| (filter.may_match)(zone))))?;
        }
        Ok(parquet)
    }

    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    pub fn rows(&self) -> Option<u64> {
        Some(self.groups.iter().fold(0, |sum, (_, rows)| sum.saturating_add(*rows)))
    }

    /// Returns how the columns are stored.
    pub fn storage(&self) -> Storage {
        let metadata = self.metadata.metadata();
        let groups = metadata.row_groups();
        let mut columns: Vec<StoredColumn> = Vec::new();
        for group in groups {
            for (i, chunk) in group.columns().iter().enumerate() {
                if columns.len() == i {
                    let (name, ty) = (chunk.column_path().string(), chunk.column_type().to_string());
                    columns.push(StoredColumn { name, ty, missing: Some(0), ..StoredColumn::default() });
                }
                let Some(column) = columns.get_mut(i) else { continue };
                chunk.encodings().for_each(|one| StoredColumn::add(&mut column.encodings, one.to_string()));
                StoredColumn::add(&mut column.compressions, chunk.compression().to_string());
                let size = |size: i64| u64::try_from(size).unwrap_or(0);
                column.stored = column.stored.saturating_add(size(chunk.compressed_size()));
                column.unpacked = column.unpacked.saturating_add(size(chunk.uncompressed_size()));
                let missing = chunk.statistics().and_then(Statistics::null_count_opt);
                column.missing = column.missing.zip(missing).map(|(sum, missing)| sum.saturating_add(missing));
            }
        }
        let writer = metadata.file_metadata().created_by().map(str::to_owned);
        Storage { writer, groups: groups.len(), columns }
    }

    /// Returns the statistics of a column, of all row groups.
    fn bounds(&self, column: usize) -> Result<Bounds, Error> {
        let (schema, all) = (self.schema(), self.metadata.metadata().row_groups());
        let field = schema.fields().get(column);
        let field = field.ok_or_else(|| self.input.failed(format!("column {column} of {}", schema.fields().len())))?;
        let read = || {
            let converter = StatisticsConverter::try_new(field.name(), schema, self.metadata.parquet_schema())?;
            // An absent count does not mean that no value is missing.
            let converter = converter.with_missing_null_counts_as_zero(false);
            let nulls = converter.row_group_null_counts(all)?;
            Ok((converter.row_group_mins(all)?, converter.row_group_maxes(all)?, nulls))
        };
        let bounds = read().map_err(failed).and_then(|(mins, maxes, nulls)| Bounds::new(field, &mins, &maxes, &nulls));
        bounds.map_err(|e| e.in_column(field.name()))
    }

    /// Removes the row groups of which `may_match` returns `false`.
    pub fn retain(&mut self, columns: &[usize], may_match: MayMatch<'_>) -> Result<(), Error> {
        // Statistics are found by the name of their column.
        let schema = self.schema();
        let name = |k: usize| schema.fields().get(k).map(|field| field.name());
        let is_unique = |k: &usize| schema.fields().iter().filter(|field| Some(field.name()) == name(*k)).count() < 2;
        if !columns.iter().all(is_unique) {
            return Ok(());
        }
        let bounds = columns.iter().map(|k| self.bounds(*k)).collect::<Result<Vec<_>, _>>()?;
        let mut kept = Vec::new();
        for (k, rows) in &self.groups {
            let mut memories = vec![[0; Bounds::ROOM]; bounds.len()];
            let zones = bounds.iter().zip(&mut memories).map(|(bounds, memory)| bounds.zone(*k, *rows, memory));
            if may_match(&zones.collect::<Result<Vec<_>, _>>()?)? {
                kept.push((*k, *rows));
            }
        }
        self.groups = kept;
        Ok(())
    }

    pub fn batches(&self, columns: Option<&[usize]>, row: u64) -> Result<(AnyReader, u64), Error> {
        let (mut groups, mut before) = (Vec::new(), 0u64);
        let first = row.min(self.rows().unwrap_or(0));
        for (k, rows) in &self.groups {
            // Groups before the row are not opened.
            let end = before.saturating_add(*rows);
            if groups.is_empty() && end <= first {
                before = end;
            } else {
                groups.push(*k);
            }
        }
        let offset = first.saturating_sub(before);
        let offset = usize::try_from(offset).map_err(|_| self.input.failed(format!("row {row}")))?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.input.clone(), self.metadata.clone())
            .with_batch_size(self.batch_rows)
            .with_row_groups(groups)
            .with_offset(offset);
        if let Some(columns) = columns {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
            builder = builder.with_projection(mask);
        }
        Ok((Box::new(builder.build().map_err(failed)?), first))
    }
}
