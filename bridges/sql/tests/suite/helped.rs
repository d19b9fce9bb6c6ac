//! Errors name what helps.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};

use crate::made::{batch, dataseries, put, vortex};
#[cfg(feature = "remote")]
use crate::server::{Fault, Server};
use crate::session::{session, table};
use crate::workers::{Worker, ask, error};

/// The error of reading a file with options of the tool.
fn refused(place: &Path, options: &[&str]) -> String {
    error(&ask(&[], options, &format!("SELECT * FROM '{}'", place.display())))
}

/// A file of bytes that are not valid UTF-8.
fn bytes(dir: &Path) -> PathBuf {
    let column: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff\xfe"[..]]));
    put(dir, "bytes.ds", &dataseries(&RecordBatch::try_from_iter([("b", column)]).unwrap()))
}

#[test]
fn options_that_help_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dataseries(&batch(0, 1000));
    let cut = put(dir.path(), "cut.ds", &whole[..whole.len() - 20]);
    let torn = vortex(&batch(0, 1000));
    let torn = put(dir.path(), "torn.vortex", &torn[..torn.len() - 20]);
    let mut keyed = fs::read("../../examples/data/keyed_1.jay").unwrap();
    let end = keyed.len() - 24;
    keyed[end] ^= 0xff;
    let keyed = put(dir.path(), "keyed.jay", &keyed);
    let sevens = put(dir.path(), "sevens.filo", &[6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0]);
    let typeless = PathBuf::from("../../tests/golden/vortex/lay_no_dtype_a.vortex");
    for (place, options, part) in [
        (&cut, &[][..], "(--no-index, or option sequential of a created table, reads the file from the start"),
        (&torn, &[], "pilaster recover saves what is before it)"),
        (&keyed, &[], "(--tolerant, or option tolerant of a created table, reads the readable part)"),
        (&sevens, &[], "its element type (--type, or option element of a created table, gives it; types that fit: int"),
        (
            &sevens,
            &["--type", "boolean"],
            "(--type, or option element of a created table, gives it; types that fit: int",
        ),
        (&typeless, &[], "--dtype, or option dtype of a created table, gives it, as '{a=i64"),
        (&cut, &["--no-index", "--table", "Trace"], "names one of \"Log\")"),
        (&bytes(dir.path()), &[], "(--bytes, or option binary_as_string 'false' of a created table, returns bytes)"),
    ] {
        let error = refused(place, options);
        assert!(error.contains(part) && error.contains(&*place.file_name().unwrap().to_string_lossy()), "{error}");
    }
    // Damage of rows, also in columns that Arrow reads.
    let mut rows = vortex(&batch(0, 300_000));
    let middle = rows.len() / 2;
    rows[middle..middle + 64].fill(0xa5);
    let rows = put(dir.path(), "rows.vortex", &rows);
    let extent = put(dir.path(), "extent.ds", &{
        let mut bytes = whole.clone();
        bytes[30_000] ^= 1;
        bytes
    });
    for place in [&rows, &extent] {
        let error = refused(place, &[]);
        let part = "(--skip-damaged, or option skip_damaged of a created table, leaves out what follows the damage; pilaster recover";
        assert!(error.contains(part), "{error}");
    }
    // What helps does help.
    for (place, options) in [
        (&cut, &["--no-index", "--skip-damaged"][..]),
        (&keyed, &["--tolerant"]),
        (&sevens, &["--type", "int"]),
        (&typeless, &["--dtype", "{a=i64, b=f64?, s=utf8?}"]),
        (&bytes(dir.path()), &["--bytes"]),
    ] {
        let answer = ask(&[], options, &format!("SELECT * FROM '{}'", place.display()));
        assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    }
}

/// A logger that lost power has written no index, and maybe half an extent.
#[test]
fn rows_of_a_log_without_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let workers = [Worker::start(), Worker::start()];
    let whole = dataseries(&batch(0, 10_000));
    for cut in [20, 700, whole.len() / 2] {
        let place = put(dir.path(), "cut.ds", &whole[..whole.len() - cut]);
        for threads in ["1", "3"] {
            let sql = format!("SELECT count(t) % 1000 = 0 AND count(t) > 4000, sum(t) FROM '{}'", place.display());
            let failed = error(&ask(&[], &["--no-index", "--threads", threads], &sql));
            assert!(failed.contains("cut.ds: dataseries") && failed.contains("at offset"), "{failed}");
            let options = ["--no-index", "--skip-damaged", "--format", "csv", "--threads", threads];
            let answer = ask(&[], &options, &sql);
            let told = String::from_utf8_lossy(&answer.stderr).into_owned();
            assert!(answer.status.success() && told.contains("left out from the damage on: "), "{told}");
            let found = String::from_utf8_lossy(&answer.stdout).into_owned();
            assert!(found.lines().nth(1).is_some_and(|line| line.starts_with("true,")), "{found}");
            // Workers split the file, unless its damage is left out.
            let failed = error(&ask(&workers, &["--no-index"], &sql));
            assert!(failed.contains("cut.ds: dataseries") && failed.contains("at offset"), "{failed}");
            let others = ask(&workers, &["--no-index", "--skip-damaged", "--format", "csv"], &sql);
            assert_eq!(String::from_utf8_lossy(&others.stdout), found);
        }
    }
}

#[tokio::test]
async fn options_of_sql_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let sevens = put(dir.path(), "sevens.filo", &[6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0]);
    let error = table(&session(1), "sevens", "FILO", &sevens, "").await.unwrap_err().to_string();
    assert!(error.contains("option element gives it; types that fit: int"), "{error}");
}

#[test]
fn a_dataset_that_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("made.bcolz");
    crate::made::dataset(&place, 10_000);
    let column = fs::read_dir(&place).unwrap().flatten().find(|entry| entry.path().join("data").is_dir()).unwrap();
    fs::remove_file(column.path().join("data").join("__0.blp")).unwrap();
    assert!(refused(&place, &[]).contains("--tolerant, or option tolerant of a created table, reads"));
}

/// Names that SQL cannot tell apart are no reason to lose a column.
#[test]
fn two_columns_of_one_name() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT a.n, b.n FROM (SELECT 1 AS n) a, (SELECT 2 AS n) b";
    for extension in ["vortex", "jay", "ds"] {
        let place = dir.path().join(format!("two.{extension}"));
        let error = error(&ask(&[], &["--output", &place.display().to_string()], sql));
        assert!(error.contains("two columns are called \"n\"; AS gives one of them another name"), "{error}");
    }
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let field = Field::new("n", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field.clone(), field]));
    let double = RecordBatch::try_new(schema, vec![Arc::clone(&column), column]).unwrap();
    let double = put(dir.path(), "double.vortex", &vortex(&double));
    let created =
        format!("CREATE EXTERNAL TABLE t (n BIGINT) STORED AS VORTEX LOCATION '{}'; SELECT n FROM t", double.display());
    for error in [refused(&double, &[]), error(&ask(&[], &[], &created))] {
        assert!(error.contains("double.vortex: ") && error.contains("two columns are called \"n\""), "{error}");
    }
}

#[test]
fn statements_that_cannot_be_planned() {
    let dir = tempfile::tempdir().unwrap();
    let log = put(dir.path(), "log.ds", &dataseries(&batch(0, 10)));
    let place = log.display();
    put(dir.path(), "log.jay", &crate::made::jay(&batch(0, 10)));
    let folder = dir.path().display();
    for (sql, part) in [
        (format!("INSERT INTO '{place}' SELECT * FROM '{place}'"), "it takes a table of CREATE EXTERNAL TABLE"),
        (format!("CREATE EXTERNAL TABLE t STORED AS DATASRIES LOCATION '{place}'"), "the formats are DATASERIES, JAY,"),
        ("SELECT * FROM log.ds".to_owned(), "files are named in quotes"),
        (format!("SELECT * FROM '{folder}'"), "files of several formats, .ds, .jay: a pattern"),
        (format!("COPY (SELECT 1 AS a) TO '{folder}/a.filo' STORED AS FILO"), "pilaster convert writes them"),
    ] {
        let error = error(&ask(&[], &[], &sql));
        assert!(error.contains(part) && error.lines().count() == 1, "{error}");
    }
    // Names are in lower case unless they are quoted.
    let folder = dir.path().join("new").join("");
    let sql = format!(
        "CREATE EXTERNAL TABLE Log (t BIGINT) STORED AS VORTEX LOCATION '{}'; INSERT INTO Log SELECT t FROM '{place}'",
        folder.display()
    );
    assert!(ask(&[], &[], &sql).status.success());
    // A query that fails before its first row prints no empty lines.
    let failed = ask(&[], &[], &format!("SELECT t / (t - 3) FROM '{place}'"));
    assert!(!failed.status.success() && failed.stdout.is_empty());
}

#[test]
fn one_worker_and_none() {
    let dir = tempfile::tempdir().unwrap();
    let log = put(dir.path(), "log.ds", &dataseries(&batch(0, 1000)));
    let answer = ask(&[Worker::start()], &[], &format!("SELECT count(t) FROM '{}'", log.display()));
    let told = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(answer.status.success() && told.contains("among two workers at least"), "{told}");
    let mut gone = Worker::start();
    gone.child.kill().unwrap();
    gone.child.wait().unwrap();
    let error = error(&ask(&[gone], &[], "SELECT 1"));
    assert!(error.contains("it cannot be reached (Connection refused): is it running"), "{error}");
}

#[test]
fn formats_that_copy_does_not_write() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "a.bcolz"] {
        let error = error(&ask(&[], &[], &format!("COPY (SELECT 1 AS n) TO '{}'", dir.path().join(name).display())));
        assert!(
            error.contains("COPY writes vortex, jay,") && error.contains("--output writes parquet, bcolz and Filo"),
            "{error}"
        );
    }
}

#[test]
fn a_type_that_is_none() {
    let error = error(&ask(&[], &["--dtype", "foo"], "SELECT 1"));
    assert!(error.contains("\"foo\" is no type of rows in Vortex's notation"), "{error}");
}

#[cfg(feature = "remote")]
#[test]
fn servers_without_the_file_or_without_ranges() {
    let server = Server::start(true);
    server.put("/log.vortex", vortex(&batch(0, 100_000)));
    let place = |name: &str| PathBuf::from(format!("http://{}/{name}", server.address));
    let missing = refused(&place("none.vortex"), &[]);
    assert!(missing.contains("/none.vortex\" has no files") && !missing.contains("PROPFIND"), "{missing}");
    server.fault(Fault::Whole);
    let error = refused(&place("log.vortex"), &[]);
    assert!(error.contains("/log.vortex: ") && error.contains("does not answer ranges of bytes"), "{error}");
    assert!(error.contains(&server.address.to_string()), "{error}");
}
