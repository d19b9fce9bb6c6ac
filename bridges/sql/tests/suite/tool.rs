//! The tool: files named in queries, and answers in files.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};

use crate::made::{FORMATS, batch, dataseries, dataset, put, vortex};
use crate::workers::{Worker, ask, asking, error, out, tool};

fn lines(place: &Path, columns: &str, more: &[&str]) -> Vec<String> {
    let sql = format!("SELECT {columns} FROM '{}' ORDER BY 1", place.display());
    let more: Vec<_> = ["--format", "csv"].iter().chain(more).copied().collect();
    let answer = ask(&[], &more, &sql);
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8_lossy(&answer.stdout).lines().map(ToOwned::to_owned).collect()
}

/// A glob has the columns of all its files, not only of the first one.
#[test]
fn a_glob_of_files_with_other_columns() {
    let dir = tempfile::tempdir().unwrap();
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let y: ArrayRef = Arc::new(Float64Array::from(vec![2.5]));
    let file = |columns: &[(&str, &ArrayRef)]| {
        let columns = columns.iter().map(|(name, column)| (*name, Arc::clone(column)));
        vortex(&RecordBatch::try_from_iter(columns).unwrap())
    };
    put(dir.path(), "a.vortex", &file(&[("x", &x)]));
    put(dir.path(), "b.vortex", &file(&[("x", &x), ("y", &y)]));
    for place in ["*.vortex", ""] {
        assert_eq!(lines(&dir.path().join(place), "y, x", &[]), ["y,x", "2.5,1", ",1"], "{place}");
    }
    put(dir.path(), "c.vortex", &file(&[("x", &y)]));
    let sql = format!("SELECT x FROM '{}/*.vortex'", dir.path().display());
    let error = error(&ask(&[], &[], &sql));
    assert!(error.contains("/c.vortex: its columns do not fit other files"), "{error}");
}

#[test]
fn files_without_bytes_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.ds", &dataseries(&batch(0, 10)));
    put(dir.path(), "b.ds", b"");
    for place in ["", "*.ds"] {
        let place = dir.path().join(place);
        let sql = format!("SELECT count(*) FROM '{}'", place.display());
        let error = error(&ask(&[], &[], &sql));
        assert!(error.contains("/b.ds: the file has 0 bytes; --skip-damaged"), "{error}");
        assert_eq!(lines(&place, "count(*)", &["--skip-damaged"])[1], "10");
    }
}

#[test]
fn a_damaged_file_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.ds", &dataseries(&batch(0, 1000)));
    put(dir.path(), "b.ds", &dataseries(&batch(0, 1000))[..20_000]);
    let answer = ask(&[], &["--skip-damaged"], &format!("SELECT max(t) FROM '{}'", dir.path().display()));
    let told = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(answer.status.success() && told.matches("/b.ds: ").count() == 1, "{told}");
    assert!(told.contains("left out, from the damage on: 1\n"), "{told}");
    // A statement tells its own damage.
    let sql = format!("SELECT max(t) FROM '{0}'; SELECT min(t) FROM '{0}'", dir.path().display());
    let told = String::from_utf8_lossy(&ask(&[], &["--skip-damaged"], &sql).stderr).into_owned();
    assert_eq!(told.matches("left out, from the damage on: 1\n").count(), 2, "{told}");
}

/// More files than a sample has.
#[test]
fn files_outside_the_directories_of_others_are_errors() {
    let bytes = dataseries(&batch(0, 10));
    for (stray, wanted) in [("zone=1/0.ds", "zone"), ("stray.ds", ""), ("day=99/hour=1/0.ds", "day, hour")] {
        let dir = tempfile::tempdir().unwrap();
        for day in 10..30 {
            put(dir.path(), &format!("day={day}/log.ds"), &bytes);
        }
        assert_eq!(lines(dir.path(), "count(t), count(DISTINCT day)", &[])[1], "200,20");
        put(dir.path(), stray, &bytes);
        let error = error(&ask(&[], &[], &format!("SELECT count(t) FROM '{}'", dir.path().display())));
        assert!(error.contains(stray) && error.contains(&format!("[{wanted}]")) && error.contains("[day]"), "{error}");
    }
}

#[test]
fn several_datasets_are_no_table() {
    let dir = tempfile::tempdir().unwrap();
    let one = dir.path().join("one.bcolz");
    dataset(&one, 1000);
    assert_eq!(lines(&one, "count(*)", &[])[1], "1000");
    let error = error(&ask(&[], &[], &format!("SELECT 1 FROM '{}'", dir.path().display())));
    assert!(error.contains("bcolz datasets are a table each, such as '") && error.contains("one.bcolz'"), "{error}");
}

#[test]
fn extensions_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.ds", &dataseries(&batch(0, 10)));
    put(dir.path(), "words", b"no table");
    assert_eq!(lines(dir.path(), "count(t)", &[])[1], "10");
}

#[test]
fn outputs_are_checked_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).display().to_string();
    let sql = format!("COPY (SELECT 1 AS a) TO '{}' STORED AS VORTEX; SELECT 2 AS b", place("first.vortex"));
    put(dir.path(), "there.csv", b"mine");
    fs::create_dir(dir.path().join("folder.csv")).unwrap();
    for (output, part) in [
        ("b.txt", "the extension is none of"),
        ("there.csv", "there.csv exists; --force replaces it"),
        ("folder.csv", "folder.csv is a directory"),
    ] {
        let error = error(&ask(&[], &["--output", &place(output)], &sql));
        assert!(error.contains(part), "{error}");
        assert!(!dir.path().join("first.vortex").exists(), "{output}");
    }
    assert_eq!(fs::read(dir.path().join("there.csv")).unwrap(), b"mine");
    out(&ask(&[], &["--output", &place("there.csv"), "--force"], &sql));
    assert_eq!(fs::read(dir.path().join("there.csv")).unwrap(), b"b\n2\n");
    // A column that the format cannot store.
    let pair = "SELECT struct(1, 2) AS pair";
    for name in ["pair.ds", "pair.jay"] {
        let error = error(&ask(&[], &["--output", &place(name)], pair));
        assert!(error.contains(&format!("{}: cannot be written", place(name))), "{error}");
    }
    out(&ask(&[], &["--output", &place("pair.csv")], pair));
    assert_eq!(fs::read_to_string(dir.path().join("pair.csv")).unwrap(), "pair\n\"{\"\"c0\"\":1,\"\"c1\"\":2}\"\n");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".partial")), "{left:?}");
}

/// Formats that the tool writes with rules of its own.
#[test]
fn outputs_of_bcolz_and_filo() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).display().to_string();
    let sql = "SELECT value AS v, value * 0.5 AS x FROM generate_series(1, 1000)";
    out(&ask(&[], &["--output", &place("made.bcolz")], sql));
    let read = format!("SELECT count(*), sum(v), max(x) FROM '{}'", place("made.bcolz"));
    assert_eq!(out(&ask(&[], &["--format", "csv"], &read)).lines().nth(1), Some("1000,500500,500.0"));
    out(&ask(&[], &["--output", &place("v.filo")], "SELECT value AS v FROM generate_series(1, 1000)"));
    let read = format!("SELECT count(*), sum(v) FROM '{}'", place("v.filo"));
    assert_eq!(out(&ask(&[], &["--format", "csv", "--type", "long"], &read)).lines().nth(1), Some("1000,500500"));
    // What exists stays, unless it is to be replaced; what cannot be stored says why.
    for (name, sql, part) in [
        ("made.bcolz", sql, "made.bcolz exists; a dataset is written to a new directory"),
        ("v.filo", sql, "v.filo exists; --force replaces it"),
        ("two.filo", sql, "two.filo: cannot be written: "),
        ("null.bcolz", "SELECT nullif(value, 3) AS v FROM generate_series(1, 9)", "null.bcolz: cannot be written: "),
    ] {
        let error = error(&ask(&[], &["--output", &place(name)], sql));
        assert!(error.contains(part) && !error.contains(".partial"), "{error}");
    }
    out(&ask(&[], &["--output", &place("v.filo"), "--force"], "SELECT 7 AS v"));
    let read = format!("SELECT v FROM '{}'", place("v.filo"));
    assert_eq!(out(&ask(&[], &["--format", "csv", "--type", "long"], &read)), "v\n7\n");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// As `pilaster cat` prints them.
#[test]
fn rows_without_columns() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT * FROM '../../tests/golden/jay/rows_no_columns.jay'";
    assert_eq!(out(&ask(&[], &["--format", "json"], sql)), "{}\n".repeat(5));
    assert_eq!(out(&ask(&[], &["--format", "csv"], sql)).lines().count(), 6);
    assert_eq!(out(&ask(&[], &[], "CREATE VIEW none AS SELECT 1")), "");
    let [json, arrow, vortex, jay] = ["a.json", "a.arrow", "a.vortex", "a.jay"].map(|name| dir.path().join(name));
    for path in [&json, &arrow, &vortex, &jay] {
        out(&ask(&[], &["--output", path.to_str().unwrap()], sql));
    }
    assert_eq!(fs::read_to_string(&json).unwrap(), "{}\n".repeat(5));
    for path in [&vortex, &jay] {
        let again = format!("SELECT count(*) AS n FROM '{}'", path.display());
        assert_eq!(out(&ask(&[], &["--format", "json"], &again)), "{\"n\":5}\n");
    }
    let no_columns = "no columns, and";
    for (name, why) in [
        ("a.ds", no_columns),
        ("a.bcolz", no_columns),
        ("a.parquet", "Parquet has no rows without columns"),
        ("a.filo", "one column, and there are 0"),
    ] {
        let path = dir.path().join(name);
        let said = error(&ask(&[], &["--output", path.to_str().unwrap()], sql));
        assert!(said.contains(why) && !path.exists(), "{name}: {said}");
    }
}

#[test]
fn a_reader_that_needs_no_more_is_no_error() {
    for format in ["csv", "json"] {
        let sql = "SELECT value FROM generate_series(1, 5000000)";
        let mut child = asking(&[], &["--format", format], sql).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && error.is_empty(), "{format}: {error}");
    }
}

#[test]
fn numbers_of_readers_that_cannot_be() {
    let zero = tool().args(["--threads", "0", "SELECT 1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&zero.stderr).contains("--threads"));
    let one = tool().args(["--threads", "1", "--workers", "127.0.0.1:1", "SELECT 1"]).output().unwrap();
    assert!(error(&one).contains("--threads 1 is too few for --workers"));
}

/// Number of threads of a worker that read.
fn reading(worker: &Worker) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", worker.child.id())).unwrap();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.filter_map(Result::ok).map(name).filter(|name| name.trim() == "pilaster-scan").count()
}

/// A worker ends the readers of a coordinator that is frozen. The query would take five minutes on two idle processors.
#[cfg(target_os = "linux")]
#[test]
fn a_frozen_coordinator_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "0.vortex", &vortex(&batch(0, 1 << 20)));
    for k in 1..16 {
        fs::hard_link(&path, dir.path().join(format!("{k}.vortex"))).unwrap();
    }
    let workers = [Worker::start(), Worker::start()];
    let sql = format!("SELECT sum(length(repeat(host, 4000))) FROM '{}'", dir.path().display());
    let mut child = asking(&workers, &["--threads", "2"], &sql).stdout(Stdio::null()).spawn().unwrap();
    let within = |seconds: u64, wanted: &dyn Fn(usize) -> bool| {
        (0..seconds * 10).any(|_| {
            thread::sleep(Duration::from_millis(100));
            wanted(workers.iter().map(reading).sum())
        })
    };
    assert!(within(30, &|readers| readers > 0), "the workers do not read");
    let signal =
        |name: &str| std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(signal("-STOP").success());
    let ended = within(180, &|readers| readers == 0);
    assert!(signal("-KILL").success());
    child.wait().unwrap();
    assert!(ended, "the workers still read");
}

/// A file that has none of the columns of a query has rows, too.
#[test]
fn files_without_any_of_the_columns() {
    let workers = [Worker::start(), Worker::start()];
    for (_, extension, write) in FORMATS {
        let dir = tempfile::tempdir().unwrap();
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let other = RecordBatch::try_from_iter([("other", column)]).unwrap();
        put(dir.path(), &format!("a.{extension}"), &write(&batch(0, 10_000)));
        put(dir.path(), &format!("b.{extension}"), &write(&other));
        for (columns, condition, wanted) in [
            ("count(*), count(t), max(k)", "true", "11000,10000,999"),
            ("count(*), count(t), max(k)", "t IS NULL", "1000,0,"),
            ("count(other), count(*)", "true", "1000,11000"),
        ] {
            let sql = format!("SELECT {columns} FROM '{}' WHERE {condition}", dir.path().display());
            for workers in [&[][..], &workers] {
                let answer = out(&ask(workers, &["--format", "csv"], &sql));
                assert_eq!(answer.lines().nth(1), Some(wanted), "{extension}: {sql}");
            }
        }
    }
}

#[test]
fn tables_that_statements_create() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.ds", &dataseries(&batch(0, 1000)));
    let place = path.display();
    let folder = dir.path().join("grown").join("");
    for sql in [
        format!("CREATE EXTERNAL TABLE log STORED AS DATASERIES LOCATION '{place}'; SELECT max(t) FROM log"),
        format!("CREATE TABLE log AS SELECT t FROM '{place}'; SELECT max(t) FROM log"),
        format!("CREATE VIEW log AS SELECT t FROM '{place}'; SELECT max(t) FROM log"),
        format!("CREATE TABLE log (t BIGINT); INSERT INTO log SELECT t FROM '{place}'; SELECT max(t) FROM log"),
        format!(
            "CREATE EXTERNAL TABLE log (t BIGINT) STORED AS VORTEX LOCATION '{}'; INSERT INTO log SELECT t FROM '{place}'; \
             SELECT max(t) FROM log",
            folder.display()
        ),
    ] {
        fs::create_dir_all(&folder).unwrap();
        assert!(out(&ask(&[], &[], &sql)).lines().any(|line| line.trim() == "999"), "{sql}");
    }
}

#[test]
fn workers_are_asked_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.ds", &dataseries(&batch(0, 1000)));
    let sql = format!("SELECT max(t) FROM '{}'", path.display());
    for address in ["7001", "host", "host:port", "host:1/path", ":80"] {
        let answer = tool().args(["--workers", address, &sql]).output().unwrap();
        assert!(error(&answer).contains("no HOST:PORT"), "{address}");
    }
    let worker = Worker::start();
    let both = format!("{}, 127.0.0.1:1", worker.address);
    let answer = tool().args(["--workers", &both, &sql]).output().unwrap();
    assert!(error(&answer).contains("worker 127.0.0.1:1: "));
    // A small file is read here, which is said.
    let answer = tool().args(["--workers", &worker.address, &sql]).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(answer.status.success() && said.contains("no worker is used"), "{said}");
}
