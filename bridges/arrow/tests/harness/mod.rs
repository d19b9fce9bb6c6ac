//! The fuzz body of the bridge: any bytes as a file of any format, in batches of Arrow. `cargo test` and the target
//! `arrow_batches` of `fuzz/` run it.

use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::Table;
use pilaster::filo::Element;
use pilaster::limits::Limits;
use pilaster_arrow::arrow_array::Array;
use pilaster_arrow::{Buffer, ReadOptions, read};

/// Item types of Blosc chunks, which do not store theirs.
const DTYPES: [&str; 5] = ["<i4", "|S5", "<U2", "<M8[ns]", "bool"];

/// Maximum number of tables, batches of each, rows and bytes that are read: a few bytes may claim any number.
const TABLES: usize = 4;
const BATCHES: usize = 8;
const ROWS: u64 = 2000;
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

/// Reads the tables of a file: at once with dictionaries, and in small batches without.
fn tables(file: &File<'_>, bytes: &Buffer) {
    for name in file.tables().take(TABLES) {
        for (batch_rows, flat) in [(1 << 16, false), (7, true)] {
            let Ok(table) = file.table(Some(name)) else { continue };
            let options = ReadOptions {
                bytes: Some(bytes.clone()),
                rows: Some(0..ROWS),
                batch_rows,
                flat,
                limits: LIMITS,
                ..ReadOptions::default()
            };
            batches(table, options);
        }
    }
}

fn batches<T: Table>(table: T, options: ReadOptions<'_>) {
    let Ok(reader) = read(table, options) else { return };
    for batch in reader.take(BATCHES).flatten() {
        for array in batch.columns() {
            array.to_data().validate_full().expect("an array that Arrow accepts");
        }
    }
}
