//! Writes the intact rows of a damaged dataset to a new one.

use core::ops::Range;
use std::path::Path;
use std::vec;

use super::disk::{Disk, FileSystem};
use super::writer::{Spec, Writer};
use crate::bcolz::array::Array;
use crate::bcolz::dataset::Dataset;
use crate::bcolz::meta::Storage;
use crate::bcolz::part::Part;
use crate::bytes::{Scratch, saturated};
use crate::column::{Part as _, Table as _};
use crate::error::Failure;

/// Writes the rows of `dataset` to a new one in `dir`, which must not exist yet: with the same columns, types,
/// parameters and attributes. For a dataset that was opened by [`Dataset::open_tolerant`], these are the rows that are
/// readable in every column. Returns their number.
///
/// # Errors
/// Errors of the [`Writer`]; for a dataset that was opened strictly, the error of the first invalid file.
pub fn recover(dataset: &Dataset, dir: impl AsRef<Path>) -> Result<u64, Failure> {
    recover_to(FileSystem::default(), dataset, dir.as_ref())
}

/// Like [`recover`], to a directory of `disk`.
///
/// # Errors
/// Errors of [`recover`].
pub fn recover_to<D: Disk>(disk: D, dataset: &Dataset, dir: &Path) -> Result<u64, Failure> {
    let (mut writer, mut disk) = (None, Some(disk));
    if let Some(disk) = disk.take_if(|_| dataset.is_table()) {
        writer = Some(Writer::create_table(disk, dir, dataset.attrs())?);
    }
    for array in dataset.arrays() {
        let path = array.dir().join("meta/storage");
        let bytes = array.read("meta/storage")?;
        let mut memory = vec![0; bytes.len()];
        let storage = Storage::parse(&bytes, &mut Scratch::new(&mut memory)).map_err(|e| Failure::format(&path, e))?;
        let attrs = array.read("__attrs__").unwrap_or_default();
        let spec = Spec {
            inner: array.shape().inner(),
            params: storage.params,
            chunklen: Some(storage.chunklen),
            expectedlen: storage.expectedlen,
            // The rows are rounded already.
            quantize: 0,
            dflt: core::str::from_utf8(storage.dflt).ok(),
            attrs: &attrs,
            ..Spec::new(storage.dtype_text)
        };
        match (&mut writer, disk.take()) {
            (Some(writer), _) => {
                writer.add(array.name(), &spec)?;
            }
            (None, Some(disk)) => writer = Some(Writer::create_array(disk, dir, &spec)?),
            (None, None) => {}
        }
    }
    let mut rows = 0u64;
    let Some(mut writer) = writer else { return Ok(0) };
    let need = saturated(dataset.need()?.saturating_add(64));
    let (mut memory, mut table) = (vec![0; need], dataset.table());
    let mut next = 0;
    loop {
        if dataset.is_tolerant() {
            // Skips rows without chunks.
            let Some(row) = dataset.next_present(next) else { break };
            next = row.saturating_sub(row.checked_rem(dataset.part_rows()).unwrap_or(0));
            table.go_to(next);
        }
        let mut scratch = Scratch::new(&mut memory);
        let part = match table.next_part(&mut scratch) {
            Ok(Some(part)) => part,
            Ok(None) => break,
            Err(e) => return Err(table.take_failure().unwrap_or_else(|| Failure::format(dataset.dir(), e))),
        };
        for (k, array) in dataset.arrays().iter().enumerate().filter(|_| !dataset.is_tolerant()) {
            let valid = part.column(k).and_then(|column| column.check());
            valid.map_err(|e| Failure::format(array.dir(), e))?;
        }
        let mut row = 0;
        while row < part.rows() {
            let run = whole(&part, dataset.arrays().len(), row);
            for (k, array) in dataset.arrays().iter().enumerate() {
                put(&mut writer, k, array, &part, run.clone())?;
            }
            rows = rows.saturating_add(run.end.saturating_sub(run.start));
            row = run.end.max(row.saturating_add(1));
        }
        next = next.saturating_add(part.rows());
    }
    writer.finish()?;
    Ok(rows)
}

/// Returns the rows starting at `row` that every column has; empty if a column lacks `row`.
fn whole(part: &Part<'_>, width: usize, row: u64) -> Range<u64> {
    let has = |k: usize, row: u64| {
        let at = saturated(row);
        part.there(k).is_none_or(|bits| bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1))
    };
    let end = (row..part.rows()).find(|row| !(0..width).all(|k| has(k, *row)));
    row..end.unwrap_or(part.rows())
}

fn put<D: Disk>(
    writer: &mut Writer<D>,
    k: usize,
    array: &Array,
    part: &Part<'_>,
    rows: Range<u64>,
) -> Result<(), Failure> {
    let (data, spans) = part.bytes(k);
    if array.row > 0 {
        let [from, to] = [rows.start, rows.end].map(|row| saturated(row.saturating_mul(array.row)));
        return writer.put(k, data.get(from..to).unwrap_or_default());
    }
    for [at, len] in spans.get(saturated(rows.start)..saturated(rows.end)).unwrap_or_default() {
        let object = data.get(*at as usize..).and_then(|data| data.get(..*len as usize));
        writer.put_object(k, object.unwrap_or_default())?;
    }
    Ok(())
}
