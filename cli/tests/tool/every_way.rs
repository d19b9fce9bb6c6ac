//! Every extension that is read, to every extension that is written: the rows stay equal.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{good, place};

/// The extensions, with the options that a source of each needs.
const ALL: [(&str, &[&str]); 17] = [
    ("filo", &["--type", "long"]),
    ("ds", &[]),
    ("jay", &[]),
    ("bcolz", &[]),
    ("blosc", &["--dtype", "int64"]),
    ("vortex", &[]),
    ("parquet", &[]),
    ("pq", &[]),
    ("arrow", &[]),
    ("feather", &[]),
    ("ipc", &[]),
    ("arrows", &[]),
    ("csv", &[]),
    ("csv.gz", &[]),
    ("jsonl", &[]),
    ("ndjson", &[]),
    ("jsonl.gz", &[]),
];

/// Whether files of an extension hold one column of numbers.
fn is_single(extension: &str) -> bool {
    matches!(extension, "filo" | "blosc")
}

/// The options that keep the texts of a source, which does not tell them from bytes.
fn texts(from: &str, to: &str) -> &'static [&'static str] {
    let is_text = to.starts_with("csv") || to.contains("json");
    if matches!(from, "ds" | "bcolz") && !is_text { &["--bytes-as-text"] } else { &[] }
}

/// Whether an extension stands for the format of another one, so that one way from it is enough.
fn is_alias(extension: &str) -> bool {
    matches!(extension, "pq" | "feather" | "ipc" | "ndjson")
}

#[test]
fn rows_are_equal_from_every_extension_to_every_extension() {
    let place = place("every_way");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let number = |row: i64| row * 37 - 5 + (row % 7) * 1_000_000_007;
    let single: String = (0..300).map(|row| format!("{}\n", number(row))).collect();
    let line = |row: i64| format!("{},{},t{}\n", number(row), row as f64 / 8.0 + 0.0625, row % 11);
    let several: String = (0..300).map(line).collect();
    let expected =
        |extension: &str, from: &str| if is_single(extension) || is_single(from) { &single } else { &several };
    fs::write(place.join("single.csv"), format!("v\n{single}")).unwrap();
    fs::write(place.join("several.csv"), format!("v,d,t\n{several}")).unwrap();
    for (extension, _) in ALL {
        let source = if is_single(extension) { "single.csv" } else { "several.csv" };
        good(&["convert", &path(source), &path(&format!("source.{extension}"))]);
    }
    let all = ALL.iter().flat_map(|from| ALL.iter().map(move |to| (from, to)));
    let tasks: Vec<_> = all.filter(|(from, to)| !is_alias(from.0) || to.0 == "jay").collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(((from, how), (to, _))) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (source, target) = (path(&format!("source.{from}")), path(&format!("{from}.{to}")));
            let chosen: &[&str] = if is_single(to) && !is_single(from) { &["--columns", "v"] } else { &[] };
            good(&[&["convert"], *how, texts(from, to), chosen, &[&source, &target]].concat());
            let how = ALL.iter().find(|(extension, _)| extension == to).unwrap().1;
            let rows = good(&[&["cat", "--no-header"], how, &[&target]].concat());
            assert!(rows == *expected(to, from), "{from} to {to}: {}", rows.lines().next().unwrap_or(""));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
}
