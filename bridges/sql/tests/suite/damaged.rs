//! Damaged files among valid ones.

use std::fs;

use crate::common;
use crate::made::{FORMATS, batch, dataseries, put, vortex};
use crate::session::{count, counted, session, table, text};

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
        for at in (0..bytes.len()).step_by(bytes.len() / 60) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let path = put(dir.path(), &format!("x.{extension}"), &damaged);
            let context = session(3);
            let answer = match table(&context, "log", format, &path, "").await {
                Ok(()) => text(&context, "SELECT * FROM log").await.map(|_| ()),
                failed => failed,
            };
            if let Err(e) = answer {
                let e = e.to_string();
                // Names of columns may be damaged, too, which SQL then refuses.
                assert!(e.contains(&format!("x.{extension}: ")) || e.contains("Schema"), "{format} {at}: {e}");
                assert!(!e.contains("report this as a bug"), "{format} {at}: {e}");
            }
        }
    }
}

#[tokio::test]
async fn hostile_goldens_among_good_ones() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "good.vortex", &vortex(&batch(0, 1000)));
    let mut hostile = 0;
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
        if let Err(e) = strict {
            let e = e.to_string();
            assert!(e.contains(&format!("hostile.{extension}: ")) || e.contains("Log"), "{}: {e}", golden.name);
            hostile += 1;
        }
        let context = session(2);
        if table(&context, "log", format, &location, SKIP).await.is_ok() {
            let answer = text(&context, "SELECT count(t), sum(t) FROM log").await;
            if let Ok(answer) = answer {
                assert!(answer.contains("499500"), "{}: {answer}", golden.name);
            }
        }
    }
    assert!(hostile >= 10, "{hostile}");
}
