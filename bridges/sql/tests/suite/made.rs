//! Files that tests write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::{Build, Table as _};
use pilaster::dataseries::ExtentType;
use pilaster::dataseries::write::{Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Writer, describe};
use pilaster::{jay, vortex};
use pilaster_arrow::{Batches, Cause, Kept, convert};

/// Rows `first..first + count`: their number, a float, a text of 100 values with every 17th missing, and a number without order.
pub fn batch(first: i64, count: i64) -> RecordBatch {
    let rows = first..first + count;
    let t: Int64Array = rows.clone().collect::<Vec<_>>().into();
    let x: Float64Array = rows.clone().map(|row| row as f64 / 4.0).collect::<Vec<_>>().into();
    let host: StringArray = rows.clone().map(|row| (row % 17 != 0).then(|| format!("host{}", row % 100))).collect();
    let k: Int64Array = rows.map(|row| row * 7919 % 1000).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 4] =
        [("t", Arc::new(t)), ("x", Arc::new(x)), ("host", Arc::new(host)), ("k", Arc::new(k))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn fed<B: Build<Error: Cause>>(batch: &RecordBatch, build: &mut B) {
    let mut table = Batches::from_source(Kept::new(batch.schema(), [batch.clone()])).unwrap();
    convert(&mut table, build).unwrap();
}

pub fn vortex(batch: &RecordBatch) -> Vec<u8> {
    let options = vortex::write::WriteOptions { chunk_size: 1 << 16, ..vortex::write::WriteOptions::DEFAULT };
    let mut builder = vortex::write::Builder::new(Vec::new(), &options).unwrap();
    fed(batch, &mut builder);
    builder.finish().unwrap()
}

pub fn jay(batch: &RecordBatch) -> Vec<u8> {
    let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT).unwrap();
    fed(batch, &mut builder);
    builder.finish().unwrap()
}

/// A DataSeries file of extents of 1,000 rows.
pub fn dataseries(batch: &RecordBatch) -> Vec<u8> {
    let mut table = Batches::from_source(Kept::new(batch.schema(), [batch.clone()])).unwrap();
    let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().unwrap();
    let xml = describe("Log", &part, Vec::new()).unwrap();
    let mut memory = vec![0; 1 << 16];
    let ty = ExtentType::parse(&xml, &Default::default(), &mut Scratch::new(&mut memory)).unwrap();
    let (types, mut slots) = ([Description::from(&ty)], vec![IndexSlot::EMPTY; 10_000]);
    let writer = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::new(&types).unwrap(), &mut slots);
    let mut builder = Builder::new(writer, ExtentBuffer::growing(ty).unwrap(), 1000);
    table.restart().unwrap();
    convert(&mut table, &mut builder).unwrap();
    builder.finish().unwrap()
}

/// Writes a bcolz dataset of three columns of [`batch`].
#[cfg(feature = "tool")]
pub fn dataset(dir: &Path, rows: i64) {
    use pilaster::bcolz::write::{Builder, FileSystem, WriteOptions};
    let options = WriteOptions { chunklen: Some(1 << 14), ..WriteOptions::default() };
    let mut builder = Builder::create(FileSystem { durable: false }, dir, &options);
    fed(&batch(0, rows).project(&[0, 1, 3]).unwrap(), &mut builder);
    builder.finish().unwrap();
}

/// Returns a file with the rows of a batch.
type Write = fn(&RecordBatch) -> Vec<u8>;

/// The formats that tests write, by their names in SQL, with the extension of files.
pub const FORMATS: [(&str, &str, Write); 3] =
    [("VORTEX", "vortex", vortex), ("JAY", "jay", jay), ("DATASERIES", "ds", dataseries)];

/// The option that trusts statistics, of a format that has any.
pub fn trust(format: &str) -> &'static str {
    if format == "DATASERIES" { "" } else { "'trust_statistics' 'true'" }
}

/// Writes a file below `dir`, with the folders that its path needs.
pub fn put(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}
