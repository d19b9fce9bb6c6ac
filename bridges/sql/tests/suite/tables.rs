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
    assert!(answer.contains("| 45         | 919.0      | 0 "), "{answer}");
}

#[tokio::test]
async fn a_value_that_a_given_type_does_not_have_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 100_000)));
        let context = session(1);
        let location = path.display();
        let sql = format!("CREATE EXTERNAL TABLE log (x DOUBLE, t SMALLINT) STORED AS {format} LOCATION '{location}'");
        context.sql(&sql).await.unwrap();
        let error = text(&context, "SELECT sum(t), sum(x) FROM log").await.unwrap_err().to_string();
        let row = if format == "DATASERIES" { "column \"t\": " } else { "column \"t\", row 32768: " };
        assert!(error.contains(&format!("{location}: ")) && error.contains(row), "{format}: {error}");
    }
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
    for (format, _, _) in FORMATS {
        let empty = dir.path().join(format).join("");
        std::fs::create_dir(&empty).unwrap();
        let error = table(&session(1), "log", format, &empty, "").await.unwrap_err().to_string();
        assert!(error.contains("No files found") && error.contains(format), "{format}: {error}");
        let context = session(1);
        let sql = format!("CREATE EXTERNAL TABLE log (t BIGINT) STORED AS {format} LOCATION '{}'", empty.display());
        context.sql(&sql).await.unwrap();
        assert!(text(&context, "SELECT count(t) FROM log").await.unwrap().contains("| 0 "), "{format}");
    }
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 0)));
    let context = session(3);
    table(&context, "log", "VORTEX", &path, "").await.unwrap();
    let (rows, plan) = counted(&context, "SELECT t, host FROM log").await.unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    assert_eq!(count(&plan, "files_skipped"), 0);
}

/// A place of SQL for a dataset, and what a dataset does not have.
#[tokio::test]
async fn datasets_by_path_and_url() {
    let golden = crate::common::of("bcolz").into_iter().find(|golden| golden.name == "bcolz/ctable_basic").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a b");
    std::os::unix::fs::symlink(&golden.path, &folder).unwrap();
    let url = format!("file://{}/a%20b", dir.path().display());
    for location in [folder.display().to_string(), url.clone()] {
        table(&session(1), "log", "BCOLZ", location.as_ref(), "").await.unwrap();
    }
    for (before, after, part) in [
        (" (a BIGINT)", "", "its columns are those of its files"),
        (" (a BIGINT)", " WITH ORDER (a)", "its columns are"),
        ("", " PARTITIONED BY (a)", "its directories are no partitions"),
    ] {
        let sql = format!("CREATE EXTERNAL TABLE log{before} STORED AS BCOLZ{after} LOCATION '{url}'");
        let error = session(1).sql(&sql).await.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = table(&session(1), "log", "BCOLZ", "mem://files/a".as_ref(), "").await.unwrap_err().to_string();
    assert!(error.contains("is a directory of the local file system"), "{error}");
}

/// Options that concern reading change nothing that is written.
#[tokio::test]
async fn options_of_copies() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("x.vortex");
    let copy = async |options: &str| {
        let sql = format!("COPY (SELECT 1 AS a) TO '{}' STORED AS VORTEX OPTIONS ({options})", target.display());
        text(&session(1), &sql).await
    };
    let error = copy("'trust_statistics' 'true'").await.unwrap_err().to_string();
    assert!(error.contains("x.vortex: the options of vortex concern reading"), "{error}");
    copy("'aws.region' 'eu', 'execution.keep_partition_by_columns' 'false'").await.unwrap();
}
