//! The fuzz body of inputs: any bytes as Parquet, an Arrow file or an Arrow stream, as their first bytes say, else as CSV and as JSON
//! lines. `cargo test` and the target `arrow_input` of `fuzz/` run it.

use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table};
use pilaster_arrow::arrow_array::Array;
use pilaster_arrow::input::{FileKind, Input, InputFile, InputOptions, open, pipe};
use pilaster_arrow::{Batches, Source};

/// Maximum number of batches and of rows that are read: a few bytes may claim any number.
const BATCHES: usize = 8;
const ROWS: u64 = 200;

/// Reads `data` as a file, in every way.
pub fn run(data: &[u8]) {
    let found = FileKind::detect(data, "");
    let kinds = found.map_or(vec![FileKind::Csv, FileKind::JsonLines], |kind| vec![kind]);
    for kind in kinds {
        if kind == FileKind::IpcStream
            && let Ok(reader) = pipe(std::io::Cursor::new(data.to_vec()))
        {
            reader.take(BATCHES).for_each(drop);
        }
        for plain in [true, false] {
            let options = InputOptions {
                kind: Some(kind),
                batch_rows: if plain { 1 << 10 } else { 7 },
                header: plain,
                missing: if plain { Vec::new() } else { vec!["NA".to_owned()] },
                ..InputOptions::default()
            };
            if let Ok(file) = open(Input::from(data.to_vec()), options) {
                read(file);
            }
        }
    }
}

fn read(mut file: InputFile) {
    let _ = file.storage();
    let width = file.schema().fields().len();
    let mut ways = vec![(None, 0)];
    if width > 0 {
        ways.extend([(Some(vec![width - 1]), 5), (Some(vec![0]), u64::MAX)]);
    }
    for (columns, row) in ways {
        let Ok((batches, first)) = file.open(columns.as_deref(), row) else { continue };
        assert!(first <= row);
        for batch in batches.take(BATCHES).flatten() {
            assert!(columns.as_ref().is_none_or(|columns| columns.len() == batch.num_columns()));
            for array in batch.columns() {
                array.to_data().validate_full().expect("an array that Arrow accepts");
            }
        }
    }
    let rows = file.rows();
    let columns: Vec<usize> = (0..width.min(3)).collect();
    // Half of the row groups.
    let mut keep = false;
    let retained = file.retain(&columns, &mut |zones| {
        assert_eq!(zones.len(), columns.len());
        keep = !keep;
        Ok(keep)
    });
    assert!(retained.is_err() || file.rows() <= rows);
    let Ok(mut table) = Batches::tolerant(file) else { return };
    for _ in 0..BATCHES {
        let Ok(Some(part)) = table.next_part(&mut Scratch::new(&mut [])) else { break };
        for k in 0..part.width() {
            let Ok(column) = part.column(k) else { continue };
            let rows = 0..column.rows().min(ROWS);
            let Ok(need) = column.need(rows.clone()) else { continue };
            let mut memory = vec![0; usize::try_from(need.min(1 << 20)).unwrap_or(0)];
            let Ok(batch) = column.read(rows, &mut Scratch::new(&mut memory)) else { continue };
            (0..batch.len).for_each(|i| drop(batch.value(i)));
        }
    }
}
