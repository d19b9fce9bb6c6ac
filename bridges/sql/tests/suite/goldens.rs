//! `select *` of every golden file returns what the bridge to Arrow reads.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use pilaster::any::{File, Hints, Owned};
use pilaster_arrow::{ReadOptions, read};

use crate::common::{self, Golden};
use crate::session::{rows, session, table};

/// The names of tables in a golden, with their rows; `None` for those that SQL must refuse: they cannot be read, or two columns have the same
/// name. Tables without rows or columns are left out.
fn expected(file: &File<'_>) -> Vec<(String, Option<RecordBatch>)> {
    let mut tables = Vec::new();
    for name in file.tables() {
        let options = ReadOptions { flat: true, offsets: true, views: true, ..ReadOptions::default() };
        let read = read(file.table(Some(name)).unwrap(), options);
        let Ok(batches) = read.and_then(|reader| Ok(reader.collect::<std::result::Result<Vec<_>, _>>()?)) else {
            tables.push((name.to_owned(), None));
            continue;
        };
        let Some(first) = batches.first() else { continue };
        let fields = first.schema();
        let names: HashSet<_> = fields.fields().iter().map(|field| field.name()).collect();
        if names.is_empty() {
            continue;
        }
        if names.len() < fields.fields().len() {
            tables.push((name.to_owned(), None));
            continue;
        }
        let nullable = fields.fields().iter().map(|field| Field::clone(field).with_nullable(true)).collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(nullable));
        let batches: Vec<_> = batches.iter().map(|batch| with_schema(batch, &schema)).collect();
        tables.push((name.to_owned(), Some(concat_batches(&schema, &batches).unwrap())));
    }
    tables
}

fn with_schema(batch: &RecordBatch, schema: &Arc<Schema>) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options).unwrap()
}

/// Creates the table of a golden.
async fn create(context: &SessionContext, golden: &Golden, name: &str) -> Result<()> {
    let mut options = Vec::new();
    if golden.format == "dataseries" && !name.is_empty() {
        options.push(format!("'table' '{}'", name.replace('\'', "''")));
    }
    if let Some(element) = golden.expected["facts"]["element_type"].as_str() {
        options.push(format!("'element' '{element}'"));
    }
    let format = golden.format.to_ascii_uppercase();
    table(context, "golden", &format, &golden.path, &options.join(", ")).await
}

/// A table that the bridge to Arrow cannot read is an error here, too, and not fewer rows.
async fn refused(golden: &Golden, name: &str) {
    let context = session(1);
    let answer = match create(&context, golden, name).await {
        Ok(()) => rows(&context, "SELECT * FROM golden").await.map(|_| ()),
        refused => refused,
    };
    let error = answer.expect_err(&golden.name).to_string();
    assert!(error.contains(&*golden.path.file_name().unwrap().to_string_lossy()), "{} {name}: {error}", golden.name);
}

async fn compare(golden: &Golden, name: &str, wanted: &RecordBatch, split: usize) {
    let context = session(split);
    create(&context, golden, name).await.unwrap_or_else(|e| panic!("{} {name}: {e}", golden.name));
    // Ranges of a file are read at the same time, and return rows in any order.
    let batches =
        rows(&context, "SELECT * FROM golden").await.unwrap_or_else(|e| panic!("{} {name}: {e}", golden.name));
    let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(rows, wanted.num_rows(), "{} {name} in {split}", golden.name);
    let Some(first) = batches.first() else { return };
    assert_eq!(first.schema().fields(), wanted.schema().fields(), "{} {name}", golden.name);
    let batches: Vec<_> = batches.iter().map(|batch| with_schema(batch, &wanted.schema())).collect();
    let found = concat_batches(&wanted.schema(), &batches).unwrap();
    if split == 1 {
        assert_eq!(&found, wanted, "{} {name}", golden.name);
    } else {
        assert!(lines(&found) == lines(wanted), "{} {name} in {split}", golden.name);
    }
}

/// The rows as texts, in the order of the texts.
fn lines(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("\0");
    let columns: Vec<_> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    let line = |row| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join("\u{1}");
    let mut lines: Vec<_> = (0..batch.num_rows()).map(line).collect();
    lines.sort_unstable();
    lines
}

/// Returns how many tables were compared, and how many are refused.
async fn checked<'g>(goldens: impl Iterator<Item = &'g Golden>) -> (usize, usize) {
    let (mut compared, mut hostile) = (0, 0);
    for golden in goldens {
        let facts = &golden.expected["facts"];
        let element = facts["element_type"].as_str().and_then(|element| element.parse().ok());
        let hints = Hints { element, ..Hints::default() };
        let Ok(mut owned) = Owned::open(&golden.path, &hints) else {
            refused(golden, "").await;
            hostile += 1;
            continue;
        };
        for (name, wanted) in expected(&owned.file().unwrap()) {
            let Some(wanted) = wanted else {
                refused(golden, &name).await;
                hostile += 1;
                continue;
            };
            for split in [1, 3] {
                compare(golden, &name, &wanted, split).await;
            }
            compared += 1;
        }
    }
    (compared, hostile)
}

async fn all_of(format: &str, least: usize) {
    // A single chunk of bcolz is not a table.
    let is_table = |golden: &&Golden| golden.by_any() && (format != "bcolz" || golden.path.is_dir());
    let (compared, _) = checked(common::of(format).iter().filter(is_table)).await;
    assert!(compared >= least, "{compared} tables of {format}");
}

/// Damage that the library finds is found here, too, also where the rows of a table lie beside it.
#[tokio::test]
async fn damaged() {
    let all = common::all();
    // DataFusion lists no file of 0 bytes.
    let is_file = |golden: &&Golden| {
        let len = golden.path.metadata().map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 });
        !golden.by_any() && len > 0 && golden.format != "bcolz"
    };
    let (compared, hostile) = checked(all.iter().filter(is_file)).await;
    assert!(hostile >= 60, "{compared} tables, {hostile} refused");
}

#[tokio::test]
async fn filo() {
    all_of("filo", 100).await;
}

#[tokio::test]
async fn dataseries() {
    all_of("dataseries", 100).await;
}

#[tokio::test]
async fn jay() {
    all_of("jay", 30).await;
}

#[tokio::test]
async fn vortex() {
    all_of("vortex", 60).await;
}

#[tokio::test]
async fn bcolz() {
    all_of("bcolz", 40).await;
}
