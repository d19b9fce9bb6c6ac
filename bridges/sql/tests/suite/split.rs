//! A file in byte ranges.

use crate::made::{FORMATS, batch, put};
use crate::session::{count, counted, session, table, text};

#[tokio::test]
async fn any_number_of_ranges_has_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 100_003)));
        let mut answers = Vec::new();
        for partitions in 1..8 {
            let context = session(partitions);
            table(&context, "log", format, &path, "").await.unwrap();
            let sql = "SELECT count(t), min(t), max(t), sum(t), sum(x), sum(k), count(host), min(host) FROM log";
            let plan = text(&context, &format!("EXPLAIN {sql}")).await.unwrap();
            // The file is read in `partitions` ranges.
            assert!(partitions == 1 || plan.contains(&format!("{partitions} groups")), "{plan}");
            answers.push(text(&context, sql).await.unwrap());
        }
        assert!(answers[0].contains("| 100003 "), "{}", answers[0]);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{format}: {answers:?}");
    }
}

#[tokio::test]
async fn columns_that_are_not_wanted_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in [FORMATS[0], FORMATS[1]] {
        let bytes = write(&batch(0, 1 << 20));
        let path = put(dir.path(), &format!("log.{extension}"), &bytes);
        let context = session(2);
        table(&context, "log", format, &path, "").await.unwrap();
        let (_, all) = counted(&context, "SELECT * FROM log").await.unwrap();
        let (_, one) = counted(&context, "SELECT sum(t) FROM log").await.unwrap();
        let (all, one) = (count(&all, "bytes_read"), count(&one, "bytes_read"));
        assert!(one * 2 < all, "{format}: {one} of {all} bytes");
    }
}

#[tokio::test]
async fn row_counts_come_from_metadata() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let bytes = write(&batch(0, 400_000));
        let path = put(dir.path(), &format!("log.{extension}"), &bytes);
        let context = session(3);
        table(&context, "log", format, &path, "").await.unwrap();
        let (rows, plan) = counted(&context, "SELECT count(*) FROM log").await.unwrap();
        let shown = format!("{rows:?}");
        assert!(shown.contains("400000"), "{shown}");
        let read = count(&plan, "bytes_read");
        assert!(format == "DATASERIES" || read == 0, "{format}: {read} of {} bytes", bytes.len());
    }
}

#[tokio::test]
async fn a_limit_reads_little() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let bytes = write(&batch(0, 1 << 20));
        let path = put(dir.path(), &format!("log.{extension}"), &bytes);
        let context = session(1);
        table(&context, "log", format, &path, "").await.unwrap();
        let (rows, plan) = counted(&context, "SELECT t FROM log LIMIT 5").await.unwrap();
        assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 5, "{format}");
        let read = count(&plan, "bytes_read");
        assert!(read * 4 < bytes.len(), "{format}: {read} of {} bytes", bytes.len());
    }
}
