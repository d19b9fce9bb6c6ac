//! `head` with conditions: the first rows that meet them.

use super::*;

const DOUBLES: &str = "../tests/golden/dataseries/doublebase.ds";

/// Returns the rows of a call, without the header.
fn rows(args: &[&str]) -> Vec<String> {
    good(&[args, &["--no-header"]].concat()).lines().map(str::to_owned).collect()
}

#[test]
fn rows_are_counted_after_conditions() {
    let all = rows(&["cat", DOUBLES]);
    let kept = rows(&["cat", "--where", "u is not missing", DOUBLES]);
    assert!(kept.len() > 3 && kept.len() < all.len() && kept[..3] != all[..3], "{kept:?}");
    let head = |args: &[&str]| rows(&[&["head", "--where", "u is not missing", DOUBLES], args].concat());
    assert_eq!(head(&[]), kept[..kept.len().min(10)]);
    for n in 0..=kept.len() + 1 {
        assert_eq!(head(&["-n", &n.to_string()]), kept[..n.min(kept.len())], "{n}");
    }
    // A range counts rows before conditions, and so does `cat`.
    let before = |n: usize| kept.iter().filter(|row| all[..n].contains(row)).cloned().collect::<Vec<_>>();
    assert_ne!(before(3), kept[..3]);
    assert_eq!(head(&["--rows", "..3"]), before(3));
    assert_eq!(head(&["--rows", "0..3"]), before(3));
    assert_eq!(rows(&["cat", "-n", "3", "--where", "u is not missing", DOUBLES]), before(3));
    // Without rows, the names are printed all the same.
    assert_eq!(good(&["head", "-n", "0", "--where", "u is not missing", DOUBLES]), "t,u\n");
    assert_eq!(good(&["head", "--where", "t is missing", DOUBLES]), "t,u\n");
}

#[test]
fn rows_meet_every_condition() {
    let kept = |wheres: &[&str]| {
        let wheres: Vec<&str> = wheres.iter().flat_map(|condition| ["--where", condition]).collect();
        rows(&[&["cat", DOUBLES], &wheres[..]].concat())
    };
    let (first, second) = ("u is not missing", "t > 3");
    let both = kept(&["u is not missing and t > 3"]);
    assert!(!both.is_empty() && both.len() < kept(&[first]).len().min(kept(&[second]).len()), "{both:?}");
    assert_eq!(kept(&[first, second]), both);
    assert_eq!(kept(&[second, first]), both);
}

#[test]
fn times_are_conditions_too() {
    let all = rows(&["cat", DOUBLES]);
    let time = |row: &str| row.split(',').next().unwrap().to_owned();
    let from = time(&all[12]);
    let late = rows(&["cat", "--time", "t", &format!("--from={from}"), DOUBLES]);
    assert!(late.len() > 1 && all[..10] != late[..late.len().min(10)], "{late:?}");
    assert_eq!(rows(&["head", "--time", "t", &format!("--from={from}"), DOUBLES]), late[..late.len().min(10)]);
    assert_eq!(rows(&["head", "-n1", "--time", "t", &format!("--from={from}"), DOUBLES]), late[..1]);
}

/// The rows of all files count. A file after the last row is not opened.
#[test]
fn rows_are_counted_over_all_files() {
    let kept = rows(&["cat", "--where", "u is not missing", DOUBLES]);
    let twice = [&kept[..], &kept].concat();
    for n in [1, kept.len(), kept.len() + 1, 2 * kept.len(), 2 * kept.len() + 1] {
        let found = rows(&["head", "-n", &n.to_string(), "--where", "u is not missing", DOUBLES, DOUBLES]);
        assert_eq!(found, twice[..n.min(twice.len())], "{n}");
    }
    let (n, nowhere) = ((kept.len() + 1).to_string(), "no/such/file");
    rows(&["head", "-n", &n, "--where", "u is not missing", DOUBLES, DOUBLES, nowhere]);
    assert_eq!(run(&["head", "-n", &n, "--where", "u is not missing", DOUBLES, nowhere]).status.code(), Some(1));
}

#[cfg(target_os = "linux")]
mod large {
    use std::fs::OpenOptions;
    use std::os::unix::fs::FileExt as _;

    use super::super::ranges::{GIB, large_jay, measured};
    use super::*;

    /// A match in every 100,000 rows after the first million, in a file of a gigabyte.
    #[test]
    fn nothing_is_read_after_the_last_row() {
        let path = large_jay("head_where", GIB / 8);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        for k in 0..30 {
            file.write_all_at(&7u64.to_le_bytes(), 8 + 8 * (1_000_000 + k * 100_000)).unwrap();
        }
        drop(file);
        // Most of what a small file takes is the code of the program.
        let small = path.replace(".jay", ".small.jay");
        let (_, _, small) = measured(&["head", "--where", "time = 7", "--threads", "2", &small]);
        let room = small + 25;
        // With two threads, pieces after the last row may be read, more of them if one thread waits.
        for (threads, ahead) in [("1", 0), ("2", 8 << 20)] {
            for (n, rows, most) in [("1", 1, 10 << 20), ("10", 10, 20 << 20), ("25", 25, 32 << 20)] {
                let most = most + ahead;
                let args = ["head", "-n", n, "--where", "time = 7", "--no-header", "--threads", threads, &path];
                let (text, bytes, memory) = measured(&args);
                assert_eq!(text, "7\n".repeat(rows));
                assert!(bytes < most, "{n} rows, {threads} threads: {bytes} bytes");
                assert!(memory < room, "{n} rows, {threads} threads: {memory} MiB");
            }
        }
        fs::remove_file(path).unwrap();
    }

    /// Pieces of many threads with a row in most of their rows, in every form.
    #[test]
    fn the_rows_do_not_depend_on_the_number_of_threads() {
        let path = large_jay("head_threads", 1 << 20);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let numbers: Vec<u8> = (0..1u64 << 20).flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&numbers, 8).unwrap();
        drop(file);
        for form in ["csv", "jsonl", "table"] {
            for n in ["10", "8192", "300000", "2000000"] {
                let condition = "time in (1, 3) or time >= 8000";
                let args = ["head", "-n", n, "--where", condition, "--format-out", form, &path];
                let one = good(&[&args[..], &["--threads", "1"]].concat());
                for threads in ["2", "5"] {
                    assert!(good(&[&args[..], &["--threads", threads]].concat()) == one, "{form} {n} {threads}");
                }
                let header = match form {
                    "csv" => 1,
                    "jsonl" => 0,
                    _ => 3,
                };
                let kept = (2 + (1 << 20) - 8000).min(n.parse().unwrap());
                assert_eq!(one.lines().count(), header + kept, "{form} {n}");
                let last = if kept < 1_000_000 { 8000 + kept - 3 } else { (1 << 20) - 1 };
                assert!(one.lines().last().unwrap().contains(&last.to_string()), "{form} {n}");
            }
        }
        fs::remove_file(path).unwrap();
    }
}
