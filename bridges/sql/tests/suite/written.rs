//! Files that SQL writes.

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

#[tokio::test]
async fn columns_that_a_format_cannot_store_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("x.jay");
    let sql = format!("COPY (SELECT struct(1, 2) AS pair) TO '{}' STORED AS JAY", target.display());
    let error = text(&session(1), &sql).await.unwrap_err().to_string();
    assert!(error.contains("pair") && error.contains("x.jay"), "{error}");
    assert!(!target.exists());
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
