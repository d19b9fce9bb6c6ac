//! Datasets that are damaged, incomplete, or out for more than their directory.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use pilaster::any::{FileError, Hints, Owned};
use pilaster::bcolz::{Cause, Dataset, Failure};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _};
use pilaster::error::{Kind, What};

use crate::common;

/// A copy of a golden dataset, to be damaged.
fn copied(golden: &str, to: &str) -> PathBuf {
    let to = common::tmp().join("bcolz_dataset").join(to);
    let _ = fs::remove_dir_all(&to);
    common::copy(&Path::new("tests/golden/bcolz").join(golden), &to);
    to
}

/// Everything that can be read of a dataset; how many rows.
fn read(dir: &Path) -> Result<u64, Box<dyn std::error::Error>> {
    let dataset = Dataset::open(dir)?;
    let need = dataset.need()?;
    assert!(need < 1 << 30, "{need} bytes for {}", dir.display());
    let mut memory = vec![0x77; need as usize + 64];
    let (mut scratch, mut table, mut rows) = (Scratch::new(&mut memory), dataset.table(), 0);
    loop {
        let mut outer = scratch.scope();
        let Some(part) = table.next_part(&mut outer)? else { return Ok(rows) };
        rows += part.rows();
        for k in 0..part.width() {
            let column = part.column(k)?;
            let need = column.need(0..part.rows())?;
            let mut memory = vec![0; need as usize + 64];
            let batch = column.read(0..part.rows(), &mut Scratch::new(&mut memory))?;
            assert_eq!(batch.len as u64, part.rows());
        }
    }
}

fn failure(dir: &Path) -> Failure {
    Dataset::open(dir).and_then(|dataset| dataset.verify()).unwrap_err()
}

#[test]
fn a_missing_or_short_chunk_is_named() {
    let dir = copied("bound_128", "missing");
    let chunk = dir.join("data/__1.blp");
    let whole = fs::read(&chunk).unwrap();
    fs::write(&chunk, &whole[..whole.len() - 1]).unwrap();
    let e = failure(&dir);
    assert!(e.path == chunk && matches!(e.cause, Cause::Format(e) if e.kind() == Kind::Truncated), "{e}");
    assert!(e.to_string().starts_with(chunk.to_str().unwrap()), "{e}");

    fs::remove_file(&chunk).unwrap();
    let e = failure(&dir);
    assert!(e.path == chunk && matches!(e.cause, Cause::Io(_)), "{e}");
    // The rows say the same, and their table knows the file.
    let dataset = Dataset::open(&dir).unwrap();
    let mut memory = vec![0; 1 << 16];
    let (mut table, mut scratch) = (dataset.table(), Scratch::new(&mut memory));
    table.next_part(&mut scratch.scope()).unwrap();
    let e = table.next_part(&mut scratch.scope()).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at()), (Kind::Truncated, What::BCOLZ_FILE, 1));
    assert_eq!(table.failed().unwrap().path, chunk);

    // The first chunk has 64 rows, and the sizes may say that there are only these.
    fs::write(dir.join("meta/sizes"), "{\"shape\": [64], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    assert_eq!(read(&dir).unwrap(), 64);
    // Or that the last of its rows are not written yet; but not that there are more.
    fs::write(dir.join("meta/sizes"), "{\"shape\": [60], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    assert_eq!(read(&dir).unwrap(), 60);
    fs::rename(dir.join("data/__0.blp"), dir.join("data/__1.blp")).unwrap();
    fs::write(dir.join("meta/sizes"), "{\"shape\": [128], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    assert!(matches!(failure(&dir).cause, Cause::Io(_)));
}

#[test]
fn a_missing_chunk_is_named_by_any_format_too() {
    let dir = copied("object", "missing_by_any");
    let chunk = dir.join("data/__0.blp");
    fs::remove_file(&chunk).unwrap();
    let mut owned = Owned::open(&dir, &Hints::default()).unwrap();
    let file = owned.file().unwrap();
    for e in [file.verify(&mut Scratch::new(&mut [])).unwrap_err(), file.need().unwrap_err()] {
        assert!(e.to_string().starts_with(chunk.to_str().unwrap()), "{e}");
        assert!(std::error::Error::source(&e).is_some_and(|e| e.is::<std::io::Error>()), "{e:?}");
        assert!(matches!(e, FileError::Dataset(e) if e.path == chunk && matches!(e.cause, Cause::Io(_))));
    }
}

#[test]
fn a_chunk_of_other_rows_is_refused() {
    let dir = copied("bound_65", "other");
    fs::copy(dir.join("data/__1.blp"), dir.join("data/__0.blp")).unwrap();
    let e = failure(&dir);
    assert!(matches!(e.cause, Cause::Format(e) if e.what() == What::BLOSC_NBYTES && e.need() == 4), "{e}");
}

#[test]
fn names_do_not_leave_the_directory() {
    let outside = copied("bound_63", "outside");
    let dir = copied("ctable_multi", "inside");
    for name in ["../outside", outside.to_str().unwrap(), "m/../../outside", "..", ".", "", "m/", r"m\\x", r"m\u0000"] {
        fs::write(dir.join("__rootdirs__"), format!("{{\"names\": [\"m\", \"{name}\"]}}")).unwrap();
        let e = Dataset::open(&dir).unwrap_err();
        assert!(matches!(e.cause, Cause::Format(e) if e.what() == What::BCOLZ_NAME), "{name}: {e}");
    }
}

#[test]
fn tables_of_no_columns_and_of_unequal_ones() {
    let dir = copied("ctable_multi", "unequal");
    fs::write(dir.join("f/meta/sizes"), "{\"shape\": [19], \"nbytes\": 0, \"cbytes\": 0}").unwrap();
    let e = Dataset::open(&dir).unwrap_err();
    assert!(matches!(e.cause, Cause::Format(e) if e.what() == What::BCOLZ_ROWS && e.need() == 19), "{e}");
    fs::write(dir.join("__rootdirs__"), "{\"names\": []}").unwrap();
    assert_eq!(read(&dir).unwrap(), 0);
    // Attributes are optional, whatever the original says.
    fs::remove_file(dir.join("__attrs__")).unwrap();
    assert_eq!(Dataset::open(&dir).unwrap().attrs(), b"");
}

#[test]
fn claims_are_not_believed() {
    let dir = copied("bound_1", "claims");
    for (sizes, storage) in [
        ("[1099511627776]", r#""dtype": "int64", "chunklen": 1099511627776"#),
        ("[1099511627776]", r#""dtype": "int8", "chunklen": 1"#),
        ("[1, 4294967296, 4294967296]", r#""dtype": "int8", "chunklen": 1"#),
        ("[1, 1073741824]", r#""dtype": "int8", "chunklen": 18446744073709551615"#),
        ("[1099511627776, 0]", r#""dtype": "int8", "chunklen": 1"#),
        ("[1099511627776]", r#""dtype": "object", "chunklen": 1"#),
        ("[1]", r#""dtype": "|S4194304", "chunklen": 1"#),
    ] {
        fs::write(dir.join("meta/sizes"), format!("{{\"shape\": {sizes}, \"nbytes\": 0, \"cbytes\": 0}}")).unwrap();
        fs::write(dir.join("meta/storage"), format!("{{{storage}}}")).unwrap();
        let dataset = match Dataset::open(&dir) {
            Ok(dataset) => dataset,
            Err(e) => {
                println!("{e}");
                continue;
            }
        };
        let e = dataset.verify().unwrap_err();
        println!("{e}");
        let mut memory = vec![0; 1 << 16];
        assert!(dataset.table().next_part(&mut Scratch::new(&mut memory)).is_err());
    }
}

/// Every byte of every file of some datasets, changed; every file cut and removed.
#[test]
fn damaged_files() {
    let (mut tried, mut taken) = (0, 0);
    for golden in ["dtype_M8ns", "dtype_U4", "struct", "object", "multi_2d_empty", "bound_65", "ctable_multi"] {
        let dir = copied(golden, &format!("damaged_{golden}"));
        assert!(read(&dir).is_ok(), "{golden}");
        for file in common::files(&dir) {
            let whole = fs::read(&file).unwrap();
            let count = whole.len() * 4;
            let most = std::env::var("PILASTER_SAMPLE").map_or(160, |n| n.parse::<usize>().expect("a number") / 4);
            for i in (0..count).step_by((count / most.max(1)).max(1) | 1) {
                let (at, kind) = (i / 4, i % 4);
                let mut bytes = whole.clone();
                match kind {
                    0 => bytes.truncate(at),
                    1 => bytes[at] ^= 1,
                    2 => bytes[at] = b'9',
                    _ => bytes[at] = 0xff,
                }
                fs::write(&file, &bytes).unwrap();
                let done = catch_unwind(AssertUnwindSafe(|| read(&dir).is_ok()));
                taken += usize::from(done.unwrap_or_else(|_| panic!("{}: byte {at}, damage {kind}", file.display())));
                tried += 1;
            }
            fs::remove_file(&file).unwrap();
            let needed = !file.ends_with("__attrs__");
            // A table without its list of columns is no dataset either.
            assert_eq!(read(&dir).is_err(), needed, "{}", file.display());
            fs::write(&file, &whole).unwrap();
        }
    }
    println!("{tried} damaged datasets, {taken} read");
    assert!(taken > 0 && taken < tried);
}

/// A field of a struct is read from all parts.
#[test]
fn a_field_of_structs_in_several_chunks() {
    let dataset = Dataset::open("tests/golden/bcolz/struct_nested").unwrap();
    let mut table = dataset.table();
    // The column of an array has no name, so the path starts with a dot.
    let numbers: Vec<i64> = table.to_vec(".a").unwrap();
    assert_eq!((numbers.len(), &numbers[..3], &numbers[27..]), (30, &[0, 8, 16][..], &[22, 30, 38][..]));
    let inner: Vec<f64> = table.to_vec(".b.x").unwrap();
    assert_eq!((inner.len(), &inner[..3]), (30, &[0.0, 64.0, 31.0][..]));
    for wrong in ["", "a", ".b", ".b.z", ".a.x", "..a"] {
        assert!(table.to_vec::<i64>(wrong).is_err(), "{wrong:?}");
    }
}
