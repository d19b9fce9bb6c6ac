//! Damaged files among valid ones.

use std::fs;

use arrow::array::RecordBatch;

use crate::common;
use crate::made::{FORMATS, batch, dataseries, put};
use crate::session::{count, counted, rows, session, table, text};

const SKIP: &str = "'skip_damaged' 'true'";

#[tokio::test]
async fn a_damaged_file_is_an_error_with_its_path() {
    for (format, extension, write) in FORMATS {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), &format!("a.{extension}"), &write(&batch(0, 5000)));
        put(dir.path(), &format!("b.{extension}"), &write(&batch(0, 5000))[..3000]);
        let location = dir.path().join("");
        let error = table(&session(2), "log", format, &location, "").await.unwrap_err().to_string();
        assert!(error.contains(&format!("b.{extension}: ")), "{format}: {error}");
        let context = session(2);
        table(&context, "log", format, &location, SKIP).await.unwrap();
        let (_, plan) = counted(&context, "SELECT sum(t) FROM log").await.unwrap();
        assert!(count(&plan, "files_skipped") >= 1, "{format}");
        let answer = text(&context, "SELECT count(t), sum(t) FROM log").await.unwrap();
        assert!(answer.contains("| 5000 ") && answer.contains("| 12497500 "), "{format}: {answer}");
    }
}

#[tokio::test]
async fn damage_after_the_metadata_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = dataseries(&batch(0, 20_000));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let path = put(dir.path(), "b.ds", &bytes);
    for partitions in [1, 4] {
        let context = session(partitions);
        table(&context, "log", "DATASERIES", &path, "").await.unwrap();
        let error = text(&context, "SELECT sum(t) FROM log").await.unwrap_err().to_string();
        let place = path.display().to_string();
        assert!(error.contains(&format!("{place}: dataseries")) && error.contains("at offset"), "{error}");
    }
}

/// The rows before the damage, whatever the number of readers is, and as many as are counted.
#[tokio::test]
async fn rows_before_damage_do_not_depend_on_readers() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let mut bytes = write(&batch(0, 300_000));
        // Several places, most of which are not in metadata.
        for k in [3, 5] {
            let at = bytes.len() / 8 * k;
            bytes[at..at + 64].fill(0xa5);
        }
        let path = put(dir.path(), &format!("log.{extension}"), &bytes);
        let mut answers = Vec::new();
        for partitions in 1..=8 {
            let context = session(partitions);
            table(&context, "log", format, &path, SKIP).await.unwrap();
            answers.push(text(&context, "SELECT count(t), min(t), max(t), sum(t) FROM log").await.unwrap());
            if format == "DATASERIES" {
                let sql =
                    "SELECT (SELECT count(*) FROM log) = (SELECT count(t) FROM log) AS same, count(*) > 0 FROM log";
                let answer = text(&context, sql).await.unwrap();
                assert!(answer.contains("| true | true "), "{answer}");
                assert!(!answers[0].contains("| 300000 "), "{}", answers[0]);
            }
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{format}: {answers:?}");
    }
}

/// A table that no file has is no damage: all files would be left out.
#[tokio::test]
async fn a_wrong_call_is_an_error_even_if_damage_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.ds", &dataseries(&batch(0, 1000)));
    let options = format!("{SKIP}, 'table' 'Trcae'");
    let error = table(&session(1), "log", "DATASERIES", &path, &options).await.unwrap_err().to_string();
    assert!(error.contains("log.ds: ") && error.contains("Trcae"), "{error}");
}

#[tokio::test]
async fn a_table_of_damaged_files_only_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let folder = dir.path().join(extension);
        put(&folder, &format!("a.{extension}"), &write(&batch(0, 1000))[..700]);
        put(&folder, &format!("b.{extension}"), b"no such file");
        let error = table(&session(1), "log", format, &folder.join(""), SKIP).await.unwrap_err().to_string();
        assert!(error.contains("all files of the table are damaged") && error.contains("/a."), "{format}: {error}");
        let empty = dir.path().join(format!("{extension}-empty"));
        put(&empty, &format!("a.{extension}"), b"");
        let error = table(&session(1), "log", format, &empty.join(""), "").await.unwrap_err().to_string();
        assert!(error.contains("have 0 bytes"), "{format}: {error}");
    }
}

/// An extent whose stored place is wrong would be in no byte range, or in a wrong one.
#[tokio::test]
async fn a_part_at_a_wrong_place_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = dataseries(&batch(0, 20_000));
    // The index is the last extent. Any change of its bytes fails its checks, and so does one of the trailer.
    let index = bytes.len() - 28 - 40;
    for at in [index, bytes.len() - 20, bytes.len() - 5] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        let path = put(dir.path(), "log.ds", &bytes);
        for partitions in [1, 3] {
            let context = session(partitions);
            let failed = match table(&context, "log", "DATASERIES", &path, "").await {
                Ok(()) => text(&context, "SELECT count(t) FROM log").await.map(|_| ()),
                failed => failed,
            };
            assert!(failed.unwrap_err().to_string().contains("log.ds: "), "{at}");
        }
    }
}

/// Each byte of a small file, damaged: the same rows, or an error with the path. Never a panic, nor an end without one.
#[tokio::test]
async fn damage_anywhere_is_an_error_or_changes_no_number_of_rows() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let bytes = write(&batch(0, 300));
        let (mut valid, mut others) = (0, 0);
        for at in (0..bytes.len()).step_by(bytes.len() / 60) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let path = put(dir.path(), &format!("x.{extension}"), &damaged);
            let context = session(3);
            let answer = match table(&context, "log", format, &path, "").await {
                Ok(()) => rows(&context, "SELECT * FROM log").await,
                Err(e) => Err(e),
            };
            let answer = answer.map(|batches| batches.iter().map(RecordBatch::num_rows).sum::<usize>());
            valid += usize::from(answer.is_ok());
            if let Ok(rows) = answer {
                // The number of rows is in metadata of Vortex and Jay, without a check value.
                assert!(rows == 300 || format != "DATASERIES", "{format} {at}: {rows} rows");
                others += usize::from(rows != 300);
            }
            if let Err(e) = answer {
                let e = e.to_string();
                // Names of columns may be damaged, too, which SQL then refuses.
                assert!(e.contains(&format!("x.{extension}: ")) || e.contains("Schema"), "{format} {at}: {e}");
                assert!(!e.contains("report this as a bug"), "{format} {at}: {e}");
            }
        }
        assert!(others <= 3, "{format}: {others} of {valid} files have another number of rows");
    }
}

#[tokio::test]
async fn hostile_goldens_among_good_ones() {
    let (mut hostile, mut skipped) = (0, 0);
    for golden in common::all().iter().filter(|golden| !golden.by_any() && golden.path.is_file()) {
        let Some((format, extension, write)) = FORMATS.iter().find(|(_, extension, _)| golden.is(extension)) else {
            continue;
        };
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), &format!("good.{extension}"), &write(&batch(0, 1000)));
        fs::copy(&golden.path, folder.path().join(format!("hostile.{extension}"))).unwrap();
        let (location, context) = (folder.path().join(""), session(2));
        let strict = match table(&context, "log", format, &location, "").await {
            Ok(()) => text(&context, "SELECT * FROM log").await.map(|_| ()),
            failed => failed,
        };
        // Some are valid files of other options or columns.
        let Err(strict) = strict else { continue };
        let e = strict.to_string();
        assert!(e.contains(&format!("hostile.{extension}: ")) || e.contains("Log"), "{}: {e}", golden.name);
        hostile += 1;
        // Without the damaged file, the other one is read; what is no damage stays an error.
        let context = session(2);
        let answer = match table(&context, "log", format, &location, SKIP).await {
            Ok(()) => text(&context, "SELECT count(t), sum(t) FROM log").await,
            Err(e) => Err(e),
        };
        match answer {
            Ok(answer) => {
                assert!(answer.contains("| 1000 ") && answer.contains("| 499500 "), "{}: {answer}", golden.name);
                skipped += 1;
            }
            Err(e) => {
                assert!(e.to_string().contains("hostile.") || e.to_string().contains("Log"), "{}: {e}", golden.name)
            }
        }
    }
    assert!(hostile >= 10 && skipped * 2 >= hostile, "{skipped} of {hostile}");
}
