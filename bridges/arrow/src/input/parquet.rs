//! Parquet files.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::nullif::nullif;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use super::contained::outside;
use super::{AnyReader, BATCH, Input, InputOptions, MayMatch, Storage, StoredColumn, old_times};
use crate::Error;
use crate::import::Bounds;

/// Number of rows that are read at once if their texts may have any length.
const FEW: usize = 256;

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
        for (k, group) in metadata.metadata().row_groups().iter().enumerate() {
            // Each row of a column without lists is a value. The reader would leave out what is beyond the rows of the group.
            let flat = group.columns().iter().filter(|chunk| chunk.column_descr().max_rep_level() == 0);
            let wrong = flat.into_iter().find(|chunk| chunk.num_values() != group.num_rows());
            if let Some(chunk) = wrong {
                let (name, values, rows) = (chunk.column_path().string(), chunk.num_values(), group.num_rows());
                return Err(input.failed(format!("row group {k}: {rows} rows, and column {name:?} has {values}")));
            }
        }
        let (sum, all) = (groups.iter().fold(0u64, |sum, (_, rows)| sum.saturating_add(*rows)), metadata.metadata());
        let stated = all.file_metadata().num_rows();
        if u64::try_from(stated) != Ok(sum) {
            return Err(input.failed(format!("the footer states {stated} rows, and its row groups have {sum}")));
        }
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
            let unordered = all.iter().map(|group| is_unordered(group, converter.parquet_column_index()));
            let unordered = unordered.collect::<Vec<bool>>().into();
            let known = |bounds: ArrayRef| nullif(&bounds, &unordered);
            Ok((known(converter.row_group_mins(all)?)?, known(converter.row_group_maxes(all)?)?, nulls))
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
            let zones = zones.collect::<Result<Vec<_>, _>>()?;
            if outside(|| may_match(&zones))? {
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
        let roots: Vec<usize> = columns.map_or_else(|| (0..self.schema().fields().len()).collect(), <[usize]>::to_vec);
        let most = self.rows_of(&roots, &groups);
        let few = self.is_unknown(&roots, &groups) && most > FEW;
        let batch_rows = if few { FEW } else { most };
        let reader = |metadata: &ArrowReaderMetadata, roots: &[usize]| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.input.clone(), metadata.clone())
                .with_batch_size(batch_rows)
                .with_row_groups(groups.clone())
                .with_offset(offset)
                .with_projection(ProjectionMask::roots(self.metadata.parquet_schema(), roots.iter().copied()))
                .build()
                .map_err(failed)
        };
        let left = (!roots.is_empty()).then(|| self.rows().unwrap_or(0).saturating_sub(first));
        let mut checked = Checked { reader: reader(&self.metadata, &roots)?, old: None, left, row: first };
        let old: Vec<usize> = roots.iter().copied().filter(|k| self.is_old(*k)).collect();
        if !old.is_empty() {
            let leaves = self.metadata.parquet_schema().columns().iter();
            let leaves: Vec<bool> = leaves.map(|leaf| leaf.physical_type() == PhysicalType::INT96).collect();
            let seconds = old_times::in_seconds(self.schema(), &leaves);
            let options = ArrowReaderOptions::new().with_schema(seconds);
            let metadata =
                ArrowReaderMetadata::try_new(Arc::clone(self.metadata.metadata()), options).map_err(failed)?;
            // Both return the same rows in each batch.
            let places = old.iter().filter_map(|k| roots.iter().position(|root| root == k)).collect();
            checked.old = Some((reader(&metadata, &old)?, places));
        }
        if few {
            return Ok((Box::new(Joined { from: checked, most, next: None }), first));
        }
        Ok((Box::new(checked), first))
    }

    /// Whether texts with a dictionary may take any number of bytes in a batch, as the metadata does not say how long they are
    /// together.
    fn is_unknown(&self, roots: &[usize], groups: &[usize]) -> bool {
        let (metadata, schema) = (self.metadata.metadata(), self.metadata.parquet_schema());
        let groups = groups.iter().filter_map(|k| metadata.row_groups().get(*k));
        let mut chunks = groups.flat_map(|group| group.columns().iter().enumerate());
        chunks.any(|(k, chunk)| {
            chunk.column_type() == PhysicalType::BYTE_ARRAY
                && chunk.unencoded_byte_array_data_bytes().is_none()
                && chunk.dictionary_page_offset().is_some()
                && roots.contains(&schema.get_column_root_idx(k))
        })
    }

    /// Whether a column contains timestamps of 96 bits.
    fn is_old(&self, root: usize) -> bool {
        let schema = self.metadata.parquet_schema();
        let leaves = schema.columns().iter().enumerate();
        leaves
            .into_iter()
            .any(|(k, leaf)| leaf.physical_type() == PhysicalType::INT96 && schema.get_column_root_idx(k) == root)
    }

    /// Returns the number of rows in a batch, such that the columns of no row group take more than [`BATCH`] bytes, by its
    /// metadata.
    fn rows_of(&self, roots: &[usize], groups: &[usize]) -> usize {
        let (metadata, schema) = (self.metadata.metadata(), self.metadata.parquet_schema());
        let mut rows = self.batch_rows as u64;
        for group in groups.iter().filter_map(|k| metadata.row_groups().get(*k)) {
            let chunks = group.columns().iter().enumerate();
            let chosen = chunks.filter(|(k, _)| roots.contains(&schema.get_column_root_idx(*k)));
            let size = chosen.map(|(_, chunk)| {
                // Values with a dictionary or in runs take more than they do in the file.
                let texts = chunk.unencoded_byte_array_data_bytes().unwrap_or(0);
                let values = chunk.num_values().saturating_mul(width(chunk.column_descr()));
                u64::try_from(chunk.uncompressed_size().max(texts).max(values)).unwrap_or(0)
            });
            let size = size.fold(0, u64::saturating_add);
            let all = u64::try_from(group.num_rows()).unwrap_or(0);
            if size > BATCH as u64 {
                let most = u128::from(all).saturating_mul(BATCH as u128).checked_div(size.into());
                rows = rows.min(most.and_then(|most| u64::try_from(most).ok()).unwrap_or(rows));
            }
        }
        usize::try_from(rows.max(1)).unwrap_or(usize::MAX)
    }
}

/// Whether the bounds of a column in a row group are in an order of their writer. The old fields `min` and `max` had no order by the
/// type of the column: programs compared texts as signed bytes, and unsigned integers as signed ones.
fn is_unordered(group: &RowGroupMetaData, column: Option<usize>) -> bool {
    let Some(chunk) = column.and_then(|k| group.columns().get(k)) else { return false };
    if !chunk.statistics().is_some_and(Statistics::is_min_max_deprecated) {
        return false;
    }
    match chunk.column_type() {
        PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE => false,
        PhysicalType::INT32 | PhysicalType::INT64 => !chunk.column_descr().sort_order().is_signed(),
        _ => true,
    }
}

/// Returns the size in bytes of a value, or of the offset to a text.
fn width(column: &ColumnDescriptor) -> i64 {
    match column.physical_type() {
        // Bits.
        PhysicalType::BOOLEAN => 0,
        PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE | PhysicalType::INT96 => 8,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => column.type_length().into(),
    }
}

/// Batches of [`FEW`] rows, joined until they have enough rows or bytes.
struct Joined {
    from: Checked,
    most: usize,
    /// What comes after the last batch, if it is known.
    next: Option<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Joined {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut batches, mut rows, mut size) = (Vec::new(), 0usize, 0usize);
        loop {
            match self.next.take().or_else(|| self.from.next()) {
                Some(Ok(batch)) => {
                    let (all, sum) =
                        (rows.saturating_add(batch.num_rows()), size.saturating_add(batch.get_array_memory_size()));
                    if !batches.is_empty() && (all > self.most || sum > BATCH) {
                        self.next = Some(Ok(batch));
                        break;
                    }
                    (rows, size) = (all, sum);
                    batches.push(batch);
                }
                end if batches.is_empty() => return end,
                end => {
                    self.next = end;
                    break;
                }
            }
        }
        match &batches[..] {
            [_] => batches.pop().map(Ok),
            _ => Some(concat_batches(&self.from.schema(), &batches)),
        }
    }
}

impl RecordBatchReader for Joined {
    fn schema(&self) -> SchemaRef {
        self.from.schema()
    }
}

/// The batches of a file, with checks that the reader of Parquet does not make.
struct Checked {
    reader: ParquetRecordBatchReader,
    /// The columns with timestamps of 96 bits, read in seconds, and their places in the batches.
    old: Option<(ParquetRecordBatchReader, Vec<usize>)>,
    /// The number of rows that the footer promises and that were not read. Without columns there is nothing to compare.
    left: Option<u64>,
    row: u64,
}

impl Checked {
    fn check(&mut self, batch: Option<&RecordBatch>) -> Result<(), ArrowError> {
        let rows = batch.map_or(0, |batch| batch.num_rows() as u64);
        if let Some(left) = &mut self.left {
            let is_wrong = batch.map_or(*left > 0, |_| rows > *left);
            if is_wrong {
                let (read, stated) = (self.row.saturating_add(rows), self.row.saturating_add(*left));
                return Err(ArrowError::ParquetError(format!(
                    "the columns have {read} rows, and the footer states {stated}"
                )));
            }
            *left = left.saturating_sub(rows);
        }
        if let (Some(batch), Some((reader, places))) = (batch, &mut self.old) {
            let seconds = reader.next().transpose()?;
            let seconds = seconds.filter(|seconds| seconds.num_rows() == batch.num_rows());
            let seconds =
                seconds.ok_or_else(|| ArrowError::ParquetError("rows differ between two readings".to_owned()))?;
            for (place, seconds) in places.iter().zip(seconds.columns()) {
                let (Some(array), Some(field)) =
                    (batch.columns().get(*place), self.reader.schema().fields().get(*place).cloned())
                else {
                    continue;
                };
                old_times::check(array, seconds, self.row).map_err(|e| ArrowError::from(e.in_column(field.name())))?;
            }
        }
        self.row = self.row.saturating_add(rows);
        Ok(())
    }
}

impl Iterator for Checked {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.reader.next();
        if let Some(Err(e)) = next {
            return Some(Err(e));
        }
        let batch = next.and_then(Result::ok);
        match self.check(batch.as_ref()) {
            Ok(()) => batch.map(Ok),
            Err(e) => Some(Err(e)),
        }
    }
}

impl RecordBatchReader for Checked {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
