//! Files that SQL writes.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::ObjectStore as _;
use url::Url;

use crate::counting::{Counting, Fault};
use crate::made::{FORMATS, batch, put, vortex};
use crate::session::{session, table, text};

#[tokio::test]
async fn copies_and_inserts() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 10_000)));
    for (format, extension, _) in FORMATS {
        let context = session(2);
        table(&context, "log", "VORTEX", &path, "").await.unwrap();
        let target = dir.path().join(format!("copy.{extension}"));
        let sql =
            format!("COPY (SELECT t, host, x FROM log WHERE t < 5000) TO '{}' STORED AS {format}", target.display());
        assert!(text(&context, &sql).await.unwrap().contains("| 5000 "), "{format}");
        let options = if format == "DATASERIES" { "'binary_as_string' 'true'" } else { "" };
        table(&context, "copy", format, &target, options).await.unwrap();
        let sql = "SELECT count(*) FROM copy JOIN log ON copy.t = log.t AND copy.host = log.host AND copy.x = log.x";
        let answer = text(&context, sql).await.unwrap();
        // One of 17 texts is missing.
        assert!(answer.contains("| 4705 "), "{format}: {answer}");

        let folder = dir.path().join(format!("{extension}-files")).join("");
        std::fs::create_dir(&folder).unwrap();
        let location = folder.display();
        let sql = format!("CREATE EXTERNAL TABLE grown (t BIGINT, x DOUBLE) STORED AS {format} LOCATION '{location}'");
        context.sql(&sql).await.unwrap();
        for _ in 0..2 {
            text(&context, "INSERT INTO grown SELECT t, x FROM log").await.unwrap();
        }
        let answer = text(&context, "SELECT count(*), sum(t) FROM grown").await.unwrap();
        assert!(answer.contains("| 20000    | 99990000 "), "{format}: {answer}");
    }
}

/// The error of the writer, even if the source of rows notices first that a writer needs no more.
#[tokio::test]
async fn columns_that_a_format_cannot_store_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension) in [("JAY", "jay"), ("DATASERIES", "ds")] {
        let target = dir.path().join(format!("x.{extension}"));
        for rows in [1, 200_000] {
            let select = format!("SELECT struct(value, 2) AS pair FROM generate_series(1, {rows})");
            let sql = format!("COPY ({select}) TO '{}' STORED AS {format}", target.display());
            let error = text(&session(1), &sql).await.unwrap_err().to_string();
            let named = error.contains("column \"pair\"") && error.contains(&target.display().to_string());
            assert!(named && !error.contains("to file stream"), "{format} {rows}: {error}");
            assert!(!target.exists());
        }
    }
}

/// More files than the runtime has threads for calls that block.
#[tokio::test(flavor = "multi_thread")]
async fn many_partitions() {
    let dir = tempfile::tempdir().unwrap();
    let copy = async |parts: u32| {
        let target = dir.path().join(parts.to_string()).join("");
        let sql = format!(
            "COPY (SELECT value, CAST(value % {parts} AS VARCHAR) AS part FROM generate_series(1, 6000)) TO '{}' \
             STORED AS VORTEX PARTITIONED BY (part)",
            target.display()
        );
        let answer = tokio::time::timeout(Duration::from_secs(120), text(&session(2), &sql)).await;
        (answer.expect("an end"), std::fs::read_dir(target).map_or(0, Iterator::count))
    };
    let (answer, files) = copy(600).await;
    assert!(answer.unwrap().contains("| 6000 "));
    assert_eq!(files, 600);
    let (answer, files) = copy(1100).await;
    let error = answer.unwrap_err().to_string();
    assert!(error.contains("more than 1024 files") && error.contains("/part="), "{error}");
    assert_eq!(files, 0);
}

/// All files of a statement, or none.
#[tokio::test]
async fn an_upload_that_fails_leaves_no_file() {
    for (fault, left) in [(Fault::None, 4), (Fault::Put(0), 0), (Fault::Put(1), 0), (Fault::Put(3), 0)] {
        let (store, context) = (Counting::empty(fault), session(1));
        context.register_object_store(&Url::parse("mem://files").unwrap(), Arc::clone(&store) as _);
        let sql = "CREATE EXTERNAL TABLE grown (value BIGINT) STORED AS VORTEX LOCATION 'mem://files/out/'";
        context.sql(sql).await.unwrap();
        let answer = text(&context, "INSERT INTO grown SELECT value FROM generate_series(1, 100000)").await;
        let files: Vec<_> = store.store.list(None).try_collect().await.unwrap();
        assert_eq!(files.len(), left, "{fault:?}");
        match answer {
            Ok(answer) => assert!(left > 0 && answer.contains("| 100000 "), "{answer}"),
            Err(e) => {
                let e = e.to_string();
                assert!(e.contains("the server is down") && e.contains("out/"), "{fault:?}: {e}");
            }
        }
    }
}

/// Rows that fail after the first ones: no file, rather than one that looks complete.
#[tokio::test]
async fn a_failed_query_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 200_000)));
    for (format, extension, _) in FORMATS {
        let context = session(1);
        table(&context, "log", "VORTEX", &path, "").await.unwrap();
        let target = dir.path().join(format!("copy.{extension}"));
        let sql =
            format!("COPY (SELECT t, 1 / (150000 - t) AS q FROM log) TO '{}' STORED AS {format}", target.display());
        let error = text(&context, &sql).await.unwrap_err().to_string();
        assert!(error.contains("Divide by zero"), "{format}: {error}");
        assert!(!target.exists(), "{format}");
    }
}
