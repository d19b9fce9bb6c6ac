//! Parquet files.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::{AnyReader, Input, InputOptions};
use crate::import::Bounds;
use crate::{Error, Filter};

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

impl Parquet {
    pub fn open(input: Input, options: &InputOptions) -> Result<Self, Error> {
        let metadata = ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()).map_err(failed)?;
        let rows = |group: &RowGroupMetaData| {
            u64::try_from(group.num_rows()).map_err(|_| input.failed(format!("row group of {} rows", group.num_rows())))
        };
        let groups = metadata.metadata().row_groups().iter().enumerate();
        let groups = groups.map(|(k, group)| Ok((k, rows(group)?))).collect::<Result<Vec<_>, Error>>()?;
        let mut parquet = Parquet { input, metadata, groups, batch_rows: options.batch_rows.max(1) };
        for filter in &options.filters {
            parquet.leave_out(filter).map_err(|e| e.in_column(&filter.column))?;
        }
        Ok(parquet)
    }

    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    pub fn rows(&self) -> Option<u64> {
        Some(self.groups.iter().fold(0, |sum, (_, rows)| sum.saturating_add(*rows)))
    }

    /// Removes the row groups that a filter excludes.
    fn leave_out(&mut self, filter: &Filter<'_>) -> Result<(), Error> {
        let schema = Arc::clone(self.schema());
        let field = schema.field_with_name(&filter.column)?;
        let converter =
            StatisticsConverter::try_new(&filter.column, &schema, self.metadata.parquet_schema()).map_err(failed)?;
        let all = self.metadata.metadata().row_groups();
        let mins = converter.row_group_mins(all).map_err(failed)?;
        let maxes = converter.row_group_maxes(all).map_err(failed)?;
        let nulls = converter.row_group_null_counts(all).map_err(failed)?;
        let bounds = Bounds::new(field, &mins, &maxes, &nulls)?;
        let mut kept = Vec::new();
        for (k, rows) in &self.groups {
            if bounds.zone(*k, *rows, |zone| (filter.may_match)(zone))? {
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
