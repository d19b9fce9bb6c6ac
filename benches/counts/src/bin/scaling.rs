//! How the costs of reading grow: files in which one dimension grows over three decades, and the exponents of the growth.
//!
//! `.ci/counts scaling` runs `write` to make the files, `read` under callgrind, and `fit` on the counts.

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};
use std::path::Path;

use pilaster::any::Format;
use pilaster::bcolz::Compressor;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::{Borrowed, Prim, Ranges, Type, Values};
use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, IndexSlot, Writer, describe};
use pilaster::dataseries::{ExtentType, Mode};
use pilaster::filo::write::{Plain, encode_auto};
use pilaster::limits::Limits;
use pilaster::vortex::write::WriteOptions;
use pilaster_counts::Run;
use pilaster_counts::table::{Ask, Columns, Memory, Rows, Stored};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", dir] => write(Path::new(dir)),
        ["read", dir] => read(Path::new(dir)),
        ["fit"] => fit(),
        _ => panic!("arguments: write DIR, read DIR, or fit"),
    }
}

const DECADES: [usize; 4] = [1, 10, 100, 1000];

/// Writes a file for each format, dimension and size. Its name tells them, and the numbers of columns and rows.
fn write(dir: &Path) {
    let save = |format: &str, dimension: &str, n: usize, (columns, rows): (usize, usize), stored: Stored| {
        stored.save(&dir.join(format!("{format} {dimension} {n} {columns} {rows}")));
    };
    for n in DECADES.map(|n| 1000 * n) {
        let rows = Rows::new(n);
        for (format, stored) in everywhere(&rows.columns(), 2000) {
            save(format, "rows", n, (4, n), stored);
        }
        let times = pilaster::filo::write::Rows::all(Plain::Long(rows.times()));
        let mut chunk = vec![0; 9 * n + 1000];
        let len = encode_auto(&times, &mut chunk, &mut Scratch::new(&mut [])).expect("enough space");
        chunk.truncate(len);
        save("filo", "rows", n, (1, n), Stored::Bytes(Format::Filo, chunk));
    }
    for n in DECADES {
        let values: Vec<i32> = (0..100).map(|i| i * i % 97).collect();
        let names: Vec<String> = (0..n).map(|k| format!("column{k}")).collect();
        let column = Borrowed::new(Type::Prim(Prim::I32), Values::I32(&values));
        let columns: Vec<_> = names.iter().map(|name| (name.as_str(), column)).collect();
        for (format, stored) in everywhere(&columns, 100) {
            save(format, "columns", n, (n, 100), stored);
        }
        let values: Vec<i64> = (0..1024 * n as i64).map(|i| i * i % 9973).collect();
        let columns = [("v", Borrowed::new(Type::Prim(Prim::I64), Values::I64(&values)))];
        let options = WriteOptions { chunk_size: 1, zone_rows: 1024, ..WriteOptions::DEFAULT };
        save("vortex", "chunks", n, (1, 1024 * n), Stored::vortex(&columns, &options));
        save("dataseries", "chunks", n, (1, 1024 * n), Stored::dataseries(&columns, Mode::Lz4, 1024));
        save("bcolz", "chunks", n, (1, 1024 * n), Stored::bcolz(&columns, Compressor::Lz4, Some(1024)));
        save("dataseries", "types", n, (1, 100), types(n));
    }
    for depth in [1, 4, 16, 28] {
        let values: Vec<i32> = (0..1000).collect();
        save(
            "vortex",
            "nesting",
            depth,
            (1, 1000),
            nested(depth, Borrowed::new(Type::Prim(Prim::I32), Values::I32(&values))),
        );
    }
}

/// Writes a table in all formats of tables, DataSeries and bcolz in groups of `rows` rows.
fn everywhere(columns: &Columns<'_>, rows: u64) -> [(&'static str, Stored); 4] {
    [
        ("jay", Stored::jay(columns)),
        ("vortex", Stored::vortex(columns, &WriteOptions::DEFAULT)),
        ("dataseries", Stored::dataseries(columns, Mode::Lz4, rows)),
        ("bcolz", Stored::bcolz(columns, Compressor::Lz4, Some(rows))),
    ]
}

/// Writes a DataSeries file with `n` types, each with one extent of 100 rows.
fn types(n: usize) -> Stored {
    let values: Vec<i32> = (0..100).collect();
    let columns = [("v", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&values)))];
    let columns = &columns[..];
    // Names are in ascending order.
    let xml: Vec<Vec<u8>> =
        (0..n).map(|k| describe(&format!("Type{k:04}"), &columns, Vec::new()).expect("a type")).collect();
    let mut memory = vec![[0; 2048]; n];
    let types: Vec<_> = xml
        .iter()
        .zip(&mut memory)
        .map(|(xml, memory)| ExtentType::parse(xml, &Limits::DEFAULT, &mut Scratch::new(memory)).expect("a type"))
        .collect();
    let descriptions: Vec<_> = types.iter().map(Description::from).collect();
    let mut slots = vec![IndexSlot::EMPTY; n + 8];
    let descriptions = Descriptions::new(&descriptions).expect("different names");
    let mut writer = Writer::<LittleEndian, _>::new(Vec::new(), descriptions, &mut slots);
    for ty in &types {
        let mut extent = ExtentBuffer::growing(*ty).expect("a record");
        for value in &values {
            let mut row = extent.row().expect("enough memory");
            row.set(0, pilaster::dataseries::write::Cell::Int32(*value)).expect("a field");
            row.end().expect("a row");
        }
        writer.flush(&mut extent).expect("a sink that takes everything");
    }
    Stored::Bytes(Format::DataSeries, writer.finish().expect("a complete file"))
}

/// Writes a Vortex file with lists of one item, at `depth` levels.
fn nested(depth: usize, column: Borrowed<'_>) -> Stored {
    if depth == 0 {
        return Stored::vortex(&[("v", column)], &WriteOptions::DEFAULT);
    }
    let rows = Values::Nested(Ranges::Stride { first: 0, size: 1, count: 1000 });
    let item = [("item", column)];
    nested(depth - 1, Borrowed::new(Type::List, rows).with_children(&item))
}

/// Opens each file, reads one row of the last column, this column, and everything. Prints the names of the cases.
fn read(dir: &Path) {
    let (run, mut memory) = (Run::default(), Memory::new());
    let entries = std::fs::read_dir(dir).expect("the folder of `write`");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name of `write`");
        let numbers: Vec<u64> = name.split(' ').skip(3).map(|n| n.parse().expect("a number")).collect();
        let (last, middle) = (numbers[0] as usize - 1, numbers[1] / 2);
        let stored = Stored::load(&path);
        let asks = [Ask::Nothing, Ask::Row(last, middle), Ask::Column(last), Ask::All];
        for (ask, what) in asks.into_iter().zip(ASKS) {
            run.case(&format!("{name} {what}"), || _ = std::hint::black_box(stored.read(ask, &mut memory)));
        }
    }
}

/// The names of what is asked for.
const ASKS: [&str; 4] = ["open", "row", "column", "all"];

/// Reads lines of counts and names, and prints a row for each format, dimension and ask: thousands of instructions per
/// size, and the exponents of their growth, from a line through the logarithms.
fn fit() {
    let mut all = BTreeMap::<[String; 3], BTreeMap<usize, f64>>::new();
    for line in stdin().lock().lines() {
        let line = line.expect("text");
        let (count, name) = line.split_once('\t').expect("a count and a name");
        let words: Vec<&str> = name.split(' ').collect();
        let [format, dimension, n, _, _, ask] = words[..] else { panic!("not a name of `read`: {name}") };
        let costs = all.entry([format, dimension, ask].map(String::from)).or_default();
        costs.insert(n.parse().expect("a number"), count.parse().expect("a number"));
    }
    println!("| format | grows | asked | thousands of instructions | exponent |\n|---|---|---|---|---|");
    let mut worse = 0;
    for ([format, dimension, ask], costs) in &all {
        // Opening is part of the other three.
        let opening = all.get(&[format.clone(), dimension.clone(), "open".into()]).filter(|_| ask != "open");
        let costs: Vec<(f64, f64)> = costs
            .iter()
            .map(|(n, cost)| (*n as f64, (cost - opening.and_then(|costs| costs.get(n)).unwrap_or(&0.0)).max(1.0)))
            .collect();
        let exponent = slope(&costs);
        let above = exponent > limit(format, dimension, ask);
        worse += u32::from(above);
        let counts: Vec<String> = costs.iter().map(|(n, cost)| format!("{n}: {:.1}", cost / 1000.0)).collect();
        println!(
            "| {format} | {dimension} | {ask} | {} | {exponent:.2}{} |",
            counts.join(", "),
            if above { " WORSE" } else { "" }
        );
    }
    assert_eq!(worse, 0, "rows above the limit of their exponent");
}

/// Returns the largest exponent without a defect. A row costs its chunk and the search for it; one column of many costs its
/// rows and the search for it, except in DataSeries, whose records have all columns. Everything else is linear at most, or
/// linear times a logarithm.
fn limit(format: &str, dimension: &str, ask: &str) -> f64 {
    match (dimension, ask) {
        ("rows" | "chunks", "row") => 0.35,
        ("columns", "row" | "column") if format != "dataseries" => 0.35,
        _ => 1.15,
    }
}

/// Returns the slope of the line through the logarithms, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let over = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    over / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}
