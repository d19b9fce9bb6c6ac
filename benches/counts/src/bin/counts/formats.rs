//! Tables of 20,000 rows in every format: written, opened, one row, all rows, verified.

use std::hint::black_box;

use pilaster::bcolz::Compressor;
use pilaster::dataseries::Mode;
use pilaster::vortex::write::{Encodings, WriteOptions};
use pilaster_counts::Run;
use pilaster_counts::table::{Ask, Columns, Memory, Rows, Stored};

const ROWS: usize = 20_000;

/// Rows of an extent.
const EXTENT: u64 = 2000;

pub fn all(run: &Run) {
    let rows = Rows::new(ROWS);
    let columns = &rows.columns()[..];
    let mut memory = Memory::new();
    table(run, "Jay", columns, &mut memory, Stored::jay);
    table(run, "Vortex", columns, &mut memory, |columns| Stored::vortex(columns, &WriteOptions::DEFAULT));
    let compact = WriteOptions { encodings: Encodings::COMPACT, ..WriteOptions::DEFAULT };
    table(run, "Vortex, compact", columns, &mut memory, |columns| Stored::vortex(columns, &compact));
    for mode in [Mode::None, Mode::Lz4, Mode::Lzf, Mode::Snappy, Mode::Zlib] {
        let name = format!("DataSeries, {}", mode.name());
        table(run, &name, columns, &mut memory, |columns| Stored::dataseries(columns, mode, EXTENT));
    }
    for compressor in [Compressor::Lz4, Compressor::Zstd] {
        let name = format!("bcolz, {compressor:?}");
        table(run, &name, columns, &mut memory, |columns| Stored::bcolz(columns, compressor, None));
    }
}

fn table(run: &Run, name: &str, columns: &Columns<'_>, memory: &mut Memory, write: impl Fn(&Columns<'_>) -> Stored) {
    run.case(&format!("{name}, write"), || _ = black_box(write(black_box(columns))));
    let stored = write(columns);
    let asks =
        [("open", Ask::Nothing), ("one row", Ask::Row(1, 9000)), ("one column", Ask::Column(3)), ("scan", Ask::All)];
    for (what, ask) in asks {
        run.case(&format!("{name}, {what}"), || _ = black_box(black_box(&stored).read(ask, memory)));
    }
    run.case(&format!("{name}, verify"), || black_box(&stored).verify(memory));
}
