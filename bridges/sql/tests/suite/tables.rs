//! Tables over several files.

use arrow::array::RecordBatch;

use crate::made::{FORMATS, batch, put, vortex};
use crate::session::{count, counted, session, table, text};

#[tokio::test]
async fn directories_globs_and_parts_of_paths() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let dir = dir.path().join(extension);
        for day in 1..4 {
            put(&dir, &format!("day={day}/log.{extension}"), &write(&batch(day * 1000, 1000)));
            put(&dir, &format!("day={day}/notes.txt"), b"not a table");
        }
        let context = session(2);
        table(&context, "log", format, &dir.join(""), "").await.unwrap();
        let sql = "SELECT day, count(t), min(t) FROM log WHERE day > '1' GROUP BY day ORDER BY day";
        let answer = text(&context, sql).await.unwrap();
        assert!(answer.contains("| 2   | 1000         | 2000"), "{answer}");
        assert!(answer.contains("| 3   | 1000         | 3000") && !answer.contains("| 1 "), "{answer}");
        // A predicate on both.
        let sql = "SELECT count(t) FROM log WHERE t >= 1500 AND day < '3'";
        assert!(text(&context, sql).await.unwrap().contains("| 1500 "));
        let glob = dir.join(format!("day=2/l*.{extension}"));
        table(&context, "globbed", format, &glob, "").await.unwrap();
        let answer = text(&context, "SELECT count(t) FROM globbed").await.unwrap();
        assert!(answer.contains("| 1000 "), "{answer}");
    }
}

#[tokio::test]
async fn files_with_other_columns() {
    let dir = tempfile::tempdir().unwrap();
    let all = batch(0, 100);
    let some = |columns: &[usize]| -> RecordBatch { all.project(columns).unwrap() };
    put(dir.path(), "a.vortex", &vortex(&some(&[0, 1])));
    put(dir.path(), "b.vortex", &vortex(&some(&[2, 0])));
    put(dir.path(), "c.vortex", &vortex(&some(&[3])));
    let context = session(2);
    table(&context, "log", "VORTEX", &dir.path().join(""), "'trust_statistics' 'true'").await.unwrap();
    let sql = "SELECT count(*), count(t), count(x), count(host), count(k) FROM log";
    let answer = text(&context, sql).await.unwrap();
    assert!(answer.contains("| 300      | 200          | 100          | 94              | 100 "), "{answer}");
    // A condition on a column that two of the files do not have.
    let answer = text(&context, "SELECT count(*) FROM log WHERE k >= 0").await.unwrap();
    assert!(answer.contains("| 100 "), "{answer}");
    let answer = text(&context, "SELECT count(*) FROM log WHERE t IS NULL").await.unwrap();
    assert!(answer.contains("| 100 "), "{answer}");
}

#[tokio::test]
async fn columns_of_given_types() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 5000)));
    let context = session(1);
    let location = path.display();
    let sql = format!(
        "CREATE EXTERNAL TABLE log (k DOUBLE, t INT, more VARCHAR) STORED AS VORTEX LOCATION '{location}' \
         OPTIONS ('trust_statistics' 'true')"
    );
    context.sql(&sql).await.unwrap();
    let answer = text(&context, "SELECT sum(t), max(k), count(more) FROM log WHERE t < 10").await.unwrap();
    assert!(answer.contains("| 45         | 919.0      | 0 ") || answer.contains("| 45 "), "{answer}");
}

#[tokio::test]
async fn options_that_do_not_exist_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 10)));
    let error = table(&session(1), "log", "VORTEX", &path, "'trust' 'true'").await.unwrap_err().to_string();
    assert!(error.contains("unknown option \"trust\"") && error.contains("trust_statistics"), "{error}");
}

#[tokio::test]
async fn empty_directories_and_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 0)));
    let context = session(3);
    table(&context, "log", "VORTEX", &path, "").await.unwrap();
    let (rows, plan) = counted(&context, "SELECT t, host FROM log").await.unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    assert_eq!(count(&plan, "files_skipped"), 0);
}
