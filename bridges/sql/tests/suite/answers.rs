//! Answers of the tool: rows in every form, plans, and what a signal leaves.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::made::{batch, put, vortex};
use crate::workers::{ask, asking, error, out};

/// `pilaster cat` prints the same forms.
#[test]
fn values_that_other_printers_lose() {
    let sql = "SELECT CAST('NaN' AS DOUBLE) AS x, '' AS empty, CAST(NULL AS VARCHAR) AS missing, struct(1, 2) AS pair, \
        -CAST('Infinity' AS REAL) AS low, DATE '2026-11-27' AS day";
    let answer = |format: &str| out(&ask(&[], &["--format", format], sql));
    assert_eq!(
        answer("csv"),
        "x,empty,missing,pair,low,day\nNaN,\"\",,\"{\"\"c0\"\":1,\"\"c1\"\":2}\",-Infinity,2026-11-27\n"
    );
    let json = r#"{"x":"NaN","empty":"","missing":null,"pair":{"c0":1,"c1":2},"low":"-Infinity","day":"2026-11-27"}"#;
    assert_eq!(answer("json"), format!("{json}\n"));
    let table = answer("table");
    // Names, types, a line, and the row.
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(table.contains("null") && table.contains(r#"{"c0":1,"c1":2}"#), "{table}");
    // Dates after the year 262142, of which other printers print an error as the value.
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/jay/date32_n9.jay");
    for format in ["table", "csv", "json"] {
        let rows = out(&ask(&[], &["--format", format], &format!("SELECT * FROM '{golden}'")));
        assert!(rows.contains("+5879610-09-09") && !rows.contains("ERROR"), "{format}: {rows}");
    }
}

/// Types that no file has become texts.
#[test]
fn intervals_are_texts() {
    for (sql, wanted) in [
        ("SELECT INTERVAL '1 month 3 days' AS i", "1 mons 3 days"),
        ("SELECT TIMESTAMP '2026-01-02' - TIMESTAMP '2026-01-01' AS d", "PT86400S"),
    ] {
        let answer = out(&ask(&[], &["--format", "csv"], sql));
        assert!(answer.lines().nth(1).is_some_and(|line| line.contains(wanted)), "{answer}");
    }
}

#[test]
fn plans_have_lines() {
    let plan = out(&ask(&[], &[], "EXPLAIN SELECT 1 AS a"));
    assert!(plan.lines().count() > 3 && plan.starts_with("logical_plan\n"), "{plan}");
    // As rows of other forms, they are texts.
    assert_eq!(out(&ask(&[], &["--format", "csv"], "EXPLAIN SELECT 1 AS a")).lines().next(), Some("plan_type,plan"));
}

#[test]
fn rows_before_an_error_are_printed() {
    let answer = ask(&[], &["--format", "csv"], "SELECT 1 AS a; SELECT 1 / 0 AS b");
    assert_eq!(String::from_utf8_lossy(&answer.stdout), "a\n1\n");
    assert!(error(&answer).contains("Divide by zero"), "{}", error(&answer));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_incomplete_file() {
    let dir = tempfile::tempdir().unwrap();
    let log = put(dir.path(), "log.vortex", &vortex(&batch(0, 100_000)));
    // 10¹⁰ rows.
    let rows = format!("SELECT a.t * 7919 + b.t AS t FROM '{0}' a CROSS JOIN '{0}' b", log.display());
    let place = dir.path().join("out");
    std::fs::create_dir(&place).unwrap();
    let copy = format!("COPY ({rows}) TO '{}' STORED AS VORTEX", place.join("x.vortex").display());
    let files = || std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    for (name, signal, status) in [("", "-INT", 130), ("x.csv", "-TERM", 143), ("x.ds", "-INT", 130)] {
        let output = place.join(name).display().to_string();
        let (more, sql) = if name.is_empty() { (vec![], &copy) } else { (vec!["--output", &output], &rows) };
        let mut child = asking(&[], &more, sql).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begin = Instant::now();
        while files().is_empty() && begin.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(50));
        }
        assert!(!files().is_empty(), "{sql}: nothing is written");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{sql}");
        assert!(files().is_empty(), "{sql}: {:?}", files());
    }
}
