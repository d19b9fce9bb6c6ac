//! The fuzz body of the bridge: any bytes as a file of any format, in batches of Arrow. `cargo test` and the target
//! `arrow_batches` of `fuzz/` run it.

use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Part, Table, convert};
use pilaster::filo::Element;
use pilaster::limits::Limits;
use pilaster_arrow::arrow_array::{Array, RecordBatch, RecordBatchReader};
use pilaster_arrow::arrow_schema::SchemaRef;
use pilaster_arrow::{Buffer, Builder, Filter, ReadOptions, read};

/// Item types of Blosc chunks, which do not store theirs.
const DTYPES: [&str; 5] = ["<i4", "|S5", "<U2", "<M8[ns]", "bool"];

/// Maximum number of tables, batches of each, rows and bytes that are read: a few bytes may claim any number.
const TABLES: usize = 4;
const BATCHES: usize = 8;
const ROWS: u64 = 2000;
/// Maximum number of rows of a table that is fed to a builder.
const FED: u64 = 200;
const LIMITS: Limits = Limits { max_decoded: 1 << 20, ..Limits::DEFAULT };

/// Reads `data` as a file of every format, with several hints.
pub fn run(data: &[u8]) {
    let bytes = Buffer::from(data);
    let plain = Hints { limits: LIMITS, ..Hints::default() };
    let mut ways = vec![(Format::DataSeries, plain), (Format::Jay, plain), (Format::Vortex, plain)];
    ways.push((Format::Jay, Hints { tolerant: true, ..plain }));
    ways.push((Format::DataSeries, Hints { sequential: true, ..plain }));
    ways.push((Format::Bcolz, plain));
    ways.extend(DTYPES.map(|dtype| (Format::Bcolz, Hints { dtype: Some(dtype), ..plain })));
    ways.extend(Element::ALL.map(|element| (Format::Filo, Hints { element: Some(element), ..plain })));
    let mut memory = vec![0; 1 << 18];
    for (format, hints) in ways {
        if let Ok(file) = File::open(&bytes, format, &hints, &mut Scratch::new(&mut memory)) {
            tables(&file, &bytes);
        }
    }
}

/// Reads the tables of a file: at once with dictionaries, in small batches without, some rows of one column, and as a conversion
/// feeds them.
fn tables(file: &File<'_>, bytes: &Buffer) {
    let all =
        || ReadOptions { bytes: Some(bytes.clone()), rows: Some(0..ROWS), limits: LIMITS, ..ReadOptions::default() };
    for name in file.tables().take(TABLES) {
        let opened = |options: ReadOptions<'_>| file.table(Some(name)).ok().and_then(|table| batches(table, options));
        let Some(schema) = opened(all()) else { continue };
        opened(ReadOptions { batch_rows: 7, flat: true, ..all() });
        opened(ReadOptions { batch_rows: 7, flat: true, offsets: true, bytes: None, ..all() });
        opened(ReadOptions { batch_rows: 7, flat: true, offsets: true, views: true, ..all() });
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if let (Some(first), Some(last)) = (names.first(), names.last()) {
            // Zones that end at an even number are left out.
            let filter = Filter { column: first.clone(), may_match: Box::new(|zone| zone.rows.end % 2 > 0) };
            let some = ReadOptions { columns: Some(vec![last.clone()]), rows: Some(3..ROWS), batch_rows: 50, ..all() };
            opened(ReadOptions { filters: vec![filter], ..some });
        }
        if let Ok(table) = file.table(Some(name)) {
            converted(table);
        }
    }
}

/// Reads batches, and checks their arrays. Returns the schema.
fn batches<T: Table>(table: T, options: ReadOptions<'_>) -> Option<SchemaRef> {
    let reader = read(table, options).ok()?;
    let schema = reader.schema();
    reader.take(BATCHES).flatten().for_each(|batch| checked(&batch));
    Some(schema)
}

fn checked(batch: &RecordBatch) {
    for array in batch.columns() {
        array.to_data().validate_full().expect("an array that Arrow accepts");
    }
}

/// Passes a table of few rows to a builder.
fn converted<T: Table>(mut table: T) {
    let mut memory = vec![0; 1 << 18];
    let mut rows = 0u64;
    while let Ok(Some(part)) = table.next_part(&mut Scratch::new(&mut memory)) {
        rows = rows.saturating_add(part.rows());
        if rows > FED {
            return;
        }
    }
    for group_rows in [1000, 7] {
        let put = |batch: RecordBatch| {
            checked(&batch);
            Ok(())
        };
        let mut builder = Builder::new(group_rows, put).with_limits(LIMITS).bounded(LIMITS.max_decoded);
        if table.restart().is_err() {
            return;
        }
        // Errors of the file, or a group of too many bytes.
        let _ = convert(&mut table, &mut builder, &mut Scratch::new(&mut memory));
    }
}
