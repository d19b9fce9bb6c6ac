//! Workers as processes of their own, and the tool that asks them.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::made::{FORMATS, batch, dataseries, dataset, put, vortex};

/// A worker, which ends with the test.
pub struct Worker {
    pub child: Child,
    pub address: String,
}

impl Worker {
    pub fn start() -> Self {
        Self::within(&[])
    }

    /// Starts a worker with variables of its environment.
    pub fn within(environment: &[(&str, &str)]) -> Self {
        let mut command = tool();
        command.args(["worker", "--listen", "127.0.0.1:0"]).envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Worker { child, address }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn tool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pilaster-sql"))
}

pub fn ask(workers: &[Worker], more: &[&str], sql: &str) -> Output {
    asking(workers, more, sql).output().unwrap()
}

pub fn asking(workers: &[Worker], more: &[&str], sql: &str) -> Command {
    let mut command = tool();
    let addresses: Vec<_> = workers.iter().map(|worker| worker.address.as_str()).collect();
    if !addresses.is_empty() {
        command.args(["--workers", &addresses.join(","), "--split", "1"]);
    }
    command.args(more).arg(sql).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn out(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{err}");
    out.into_owned()
}

pub fn error(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A query for which workers read from each other, and which takes every reader much time.
fn grouped(path: &Path) -> String {
    format!(
        "SELECT host, sum(n) FROM (SELECT host, k, sum(length(repeat(host, 20000))) AS n FROM '{}' GROUP BY host, k) \
         GROUP BY host",
        path.display()
    )
}

/// A query that takes every reader much time for each of its rows.
fn slow(path: &Path) -> String {
    format!("SELECT sum(length(repeat(host, 20000))) FROM '{}'", path.display())
}

#[test]
fn any_number_of_workers_gives_the_same_answers() {
    let dir = tempfile::tempdir().unwrap();
    for (_, extension, write) in FORMATS {
        let one = put(dir.path(), &format!("{extension}/log.{extension}"), &write(&batch(0, 300_000)));
        for day in 0..8 {
            let bytes = write(&batch(day * 10_000, 10_000));
            put(dir.path(), &format!("{extension}-days/day={day}/log.{extension}"), &bytes);
        }
        let many = dir.path().join(format!("{extension}-days"));
        let queries = [
            format!("SELECT count(*), sum(t), min(x), max(k), count(host) FROM '{}'", one.display()),
            format!(
                "SELECT host, count(*) AS n, sum(t) FROM '{}' WHERE t >= 1234 GROUP BY host ORDER BY n DESC, host LIMIT 7",
                one.display()
            ),
            format!("SELECT day, count(*), min(t) FROM '{}' WHERE day > '2' GROUP BY day ORDER BY day", many.display()),
            format!("SELECT t, k FROM '{}' WHERE t BETWEEN 77770 AND 77780 ORDER BY t", one.display()),
            format!("SELECT t FROM '{}' ORDER BY t DESC LIMIT 3", one.display()),
        ];
        let local: Vec<_> = queries.iter().map(|sql| out(&ask(&[], &[], sql))).collect();
        for count in [1, 2, 4] {
            let workers: Vec<_> = (0..count).map(|_| Worker::start()).collect();
            // One worker is not used, which the tool tells.
            let out = |output: &Output| match count {
                1 => String::from_utf8_lossy(&output.stdout).into_owned(),
                _ => out(output),
            };
            for (sql, local) in queries.iter().zip(&local) {
                for trust in [&[][..], &["--trust-statistics"]] {
                    assert_eq!(&out(&ask(&workers, trust, sql)), local, "{count} workers: {sql}");
                }
            }
            let plan = out(&ask(&workers, &["--threads", "2"], &format!("EXPLAIN ANALYZE {}", queries[1])));
            assert!(count == 1 || plan.contains("DistributedLeafExec"), "{plan}");
        }
    }
}

/// A query that needs no more rows ends, though a worker has not answered.
#[test]
fn a_limit_does_not_wait_for_all_workers() {
    let dir = tempfile::tempdir().unwrap();
    let workers = [Worker::start(), Worker::start()];
    for k in 0..4 {
        put(dir.path(), &format!("{k}.ds"), &dataseries(&batch(k * 10_000, 10_000)));
    }
    for options in [&[][..], &["--skip-damaged"]] {
        for _ in 0..10 {
            let begin = Instant::now();
            let answer = ask(&workers, options, &format!("SELECT t FROM '{}' LIMIT 1", dir.path().display()));
            assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
            assert!(begin.elapsed() < Duration::from_secs(20), "{options:?}");
        }
    }
}

#[test]
fn a_predicate_prunes_on_workers() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 1 << 20)));
    let workers = [Worker::start(), Worker::start()];
    for (sql, least) in [
        ("WHERE t BETWEEN 5000 AND 6000", 900_000),
        ("ORDER BY t LIMIT 3", 700_000),
        ("ORDER BY t DESC LIMIT 3", 700_000),
    ] {
        let sql = format!("EXPLAIN ANALYZE SELECT t, k FROM '{}' {sql}", path.display());
        let plan = out(&ask(&workers, &["--trust-statistics"], &sql));
        assert!(plan.contains("DistributedLeafExec") || plan.contains("Stage"), "{plan}");
        let pruned = plan.split("rows_pruned").skip(1).map(number).sum::<f64>();
        assert!(pruned >= f64::from(least), "{pruned} rows: {plan}");
    }
}

/// The number of a metric: `_1=1.05 M, …`.
fn number(rest: &str) -> f64 {
    let text = rest.split_once('=').map_or("", |(_, value)| value);
    let value: f64 =
        text.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default().parse().unwrap_or(0.0);
    match text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start().chars().next() {
        Some('K') => value * 1e3,
        Some('M') => value * 1e6,
        _ => value,
    }
}

#[test]
fn a_killed_worker_is_an_error_at_once() {
    stopped("-KILL", slow);
}

#[test]
fn a_frozen_worker_is_an_error_within_ten_seconds() {
    stopped("-STOP", slow);
}

/// A worker reads from the killed one.
#[test]
fn a_killed_worker_is_an_error_for_other_workers() {
    stopped("-KILL", grouped);
}

/// A worker reads from the frozen one.
#[test]
fn a_frozen_worker_is_an_error_for_other_workers() {
    stopped("-STOP", grouped);
}

fn stopped(signal: &str, sql: impl Fn(&Path) -> String) {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 1 << 20)));
    let workers = [Worker::start(), Worker::start()];
    let asking = asking(&workers, &["--threads", "2"], &sql(&path)).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let begin = Instant::now();
    workers[1].signal(signal);
    let output = asking.wait_with_output().unwrap();
    let (error, took) = (error(&output), begin.elapsed());
    let named = format!("worker {}, which reads {}: ", workers[1].address, path.display());
    assert!(error.contains(&named), "{error}");
    // Not one that read from it.
    assert_eq!(error.matches("worker 127.").count(), 1, "{error}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    if signal == "-STOP" {
        workers[1].signal("-CONT");
    }
}

#[test]
fn an_absent_worker_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 100_000)));
    let mut gone = Worker::start();
    gone.child.kill().unwrap();
    gone.child.wait().unwrap();
    let workers = [Worker::start(), gone];
    let begin = Instant::now();
    let error = error(&ask(&workers, &[], &format!("SELECT sum(t) FROM '{}'", path.display())));
    assert!(error.contains(&workers[1].address), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_damaged_file_is_named_with_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = dataseries(&batch(0, 200_000));
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    let path = put(dir.path(), "log.ds", &bytes);
    let workers = [Worker::start(), Worker::start()];
    let sql = format!("SELECT sum(t) FROM '{}'", path.display());
    let error = error(&ask(&workers, &[], &sql));
    let named = workers.iter().any(|worker| error.contains(&worker.address));
    assert!(named && error.contains("log.ds: ") && error.contains("at offset"), "{error}");
    let skipped = ask(&workers, &["--skip-damaged"], &sql);
    assert!(skipped.status.success());
    let report = String::from_utf8_lossy(&skipped.stderr).into_owned();
    assert!(report.contains("damaged files that were left out, from the damage on: 1\n"), "{report}");
    // The coordinator tells what only the worker has seen.
    assert!(report.contains(&format!("left out from the damage on: {}: dataseries", path.display())), "{report}");
    // So does one that a statement asked to leave damage out.
    let (place, options) = (path.display(), "OPTIONS ('skip_damaged' 'true')");
    let created = format!(
        "CREATE EXTERNAL TABLE log STORED AS DATASERIES LOCATION '{place}' {options}; SELECT sum(a.t) FROM log a, log b WHERE a.t = b.t"
    );
    let created = ask(&workers, &[], &created);
    let report = String::from_utf8_lossy(&created.stderr).into_owned();
    assert!(created.status.success() && report.matches("log.ds: dataseries").count() == 1, "{report}");
    assert!(report.contains("damaged files that were left out, from the damage on: 1\n"), "{report}");
    // The rows before the damage, whoever reads them.
    let local = ask(&[], &["--skip-damaged", "--threads", "3"], &sql);
    assert!(local.status.success());
    assert_eq!(String::from_utf8_lossy(&skipped.stdout), String::from_utf8_lossy(&local.stdout));
}

/// A worker that has an error is named, and not those that read from it.
#[test]
fn a_damaged_file_is_named_once() {
    let dir = tempfile::tempdir().unwrap();
    let workers = [Worker::start(), Worker::start()];
    let sound = dataseries(&batch(0, 200_000));
    for eighth in [1, 3, 5, 7] {
        let mut bytes = sound.clone();
        let place = bytes.len() / 8 * eighth;
        bytes[place] ^= 1;
        let path = put(dir.path(), &format!("{eighth}.ds"), &bytes);
        for sql in
            ["SELECT host, k, sum(t) FROM '{}' GROUP BY host, k", "SELECT t, k FROM '{}' ORDER BY k DESC, t LIMIT 5"]
        {
            let error = error(&ask(&workers, &["--threads", "2"], &sql.replace("{}", path.to_str().unwrap())));
            let named = workers.iter().filter(|worker| error.contains(&format!("worker {}", worker.address))).count();
            assert_eq!((named, error.matches("worker 127.").count()), (1, 1), "{error}");
            let file = path.to_str().unwrap();
            assert!(error.contains(&format!("{file}: ")) && error.contains("at offset"), "{error}");
        }
    }
}

#[test]
fn results_are_printed_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.ds", &dataseries(&batch(0, 1000)));
    let sql = format!("SELECT t, host, x FROM '{}' WHERE t < 3 ORDER BY t", path.display());
    assert!(out(&ask(&[], &[], &sql)).lines().any(|line| line.split_whitespace().eq(["1", "host1", "0.25"])));
    assert_eq!(out(&ask(&[], &["--format", "csv"], &sql)), "t,host,x\n0,,0.0\n1,host1,0.25\n2,host2,0.5\n");
    assert_eq!(out(&ask(&[], &["--format", "json"], &sql)).lines().nth(1), Some(r#"{"t":1,"host":"host1","x":0.25}"#));
    for extension in ["vortex", "jay", "ds", "parquet", "arrow", "arrows", "csv", "json"] {
        let target = dir.path().join(format!("answer.{extension}"));
        let written = ask(&[], &["--output", target.to_str().unwrap()], &sql);
        assert_eq!(out(&written), "", "{extension}");
        assert!(std::fs::metadata(&target).unwrap().len() > 0, "{extension}");
        if ["vortex", "jay", "ds"].contains(&extension) {
            let again = format!("SELECT t, host, x FROM '{}' ORDER BY t", target.display());
            assert_eq!(out(&ask(&[], &[], &again)), out(&ask(&[], &[], &sql)), "{extension}");
        }
    }
    let failing = format!("SELECT 1 / (500 - t) FROM '{}'", path.display());
    for extension in ["vortex", "jay", "ds", "parquet", "csv"] {
        let target = dir.path().join(format!("failed.{extension}"));
        let failed = error(&ask(&[], &["--output", target.to_str().unwrap()], &failing));
        assert!(failed.contains("Divide by zero") && !target.exists(), "{extension}: {failed}");
        assert!(!dir.path().join(format!("failed.{extension}.part")).exists(), "{extension}");
    }
    let many = "SELECT value FROM generate_series(1, 1100000)";
    assert_eq!(out(&ask(&[], &[], many)).lines().last().map(str::trim), Some("1100000"));
    let failed = error(&ask(&[], &["--output", "/nowhere/answer.csv"], &sql));
    assert!(failed.contains("/nowhere/answer.csv: "), "{failed}");
}

#[test]
fn errors_are_one_line() {
    for (sql, part) in [
        ("SELECT 1 FROM 'no/such.ds'", "no table or file is called \"no/such.ds\""),
        ("SELECT 1 FROM '../../tests/golden/filo'", "--type, or option element of a created table, gives it"),
        ("SELECT 1 FROM 'Cargo.toml'", "DataSeries, Jay, Vortex, Filo and bcolz are read"),
        ("SELEC 1", "SELEC"),
        ("", "there is no statement"),
    ] {
        let error = error(&ask(&[], &[], sql));
        assert!(error.starts_with("pilaster-sql: ") && error.lines().count() == 1 && error.contains(part), "{error}");
    }
}

#[test]
fn names_of_files_in_queries() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = dataseries(&batch(0, 10));
    for name in ["a/1.ds", "a/[x] 2.ds", "b/c/3.ds"] {
        put(dir.path(), name, &bytes);
    }
    put(dir.path(), "b/notes.txt", b"Three files of a log.");
    put(dir.path(), "plain", &vortex(&batch(0, 7)));
    let count = |place: &str| {
        let sql = format!("SELECT count(*) FROM '{}/{place}'", dir.path().display());
        out(&ask(&[], &["--format", "csv"], &sql)).lines().nth(1).unwrap().parse::<u32>().unwrap()
    };
    for (place, rows) in [
        ("a", 20),
        ("a/", 20),
        ("a/1.ds", 10),
        ("a/[x] 2.ds", 10),
        ("*/*.ds", 20),
        ("b/../a/1.ds", 10),
        ("b/../*/*.ds", 20),
        ("b", 10),
        ("**/*.ds", 30),
        ("plain", 7),
    ] {
        assert_eq!(count(place), rows, "{place}");
    }
    put(dir.path(), "a/x.vortex", &vortex(&batch(0, 7)));
    for (place, part) in
        [("a", "several formats"), ("none/*.ds", "no table or file"), ("b/notes.txt", "unknown format")]
    {
        let error = error(&ask(&[], &[], &format!("SELECT 1 FROM '{}/{place}'", dir.path().display())));
        assert!(error.contains(part), "{error}");
    }
}

/// A dataset is a directory, too.
#[test]
fn a_dataset_is_a_table() {
    let golden = crate::common::of("bcolz").into_iter().find(|golden| golden.name == "bcolz/ctable_basic").unwrap();
    let rows = out(&ask(&[], &["--format", "json"], &format!("SELECT count(*) AS n FROM '{}'", golden.path.display())));
    assert!(rows.starts_with("{\"n\":"), "{rows}");
}

#[test]
fn a_dataset_is_read_by_workers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.bcolz");
    dataset(&path, 400_000);
    let workers = [Worker::start(), Worker::start()];
    let sql = format!("SELECT count(*), sum(t), max(x), min(t) FROM '{}' WHERE t >= 100", path.display());
    assert_eq!(out(&ask(&workers, &[], &sql)), out(&ask(&[], &[], &sql)));
    let plan = out(&ask(&workers, &["--threads", "2"], &format!("EXPLAIN ANALYZE {sql}")));
    assert!(plan.contains("DistributedLeafExec"), "{plan}");
    // A chunk that is damaged.
    let chunk = path.join("t/data/__3.blp");
    let mut bytes = std::fs::read(&chunk).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&chunk, bytes).unwrap();
    let failed = error(&ask(&workers, &[], &sql));
    let named = workers.iter().any(|worker| failed.contains(&worker.address));
    assert!(named && failed.contains("t/data/__3.blp"), "{failed}");
    assert!(ask(&workers, &["--skip-damaged"], &sql).status.success());
}
