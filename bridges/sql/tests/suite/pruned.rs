//! Rows that statistics leave out.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float32Array, Float64Array, Int64Array, RecordBatch, TimestampSecondArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use datafusion::physical_plan::displayable;

use crate::made::{FORMATS, batch, put, trust, vortex};
use crate::session::{count, counted, session, table, text};

const TRUST: &str = "'trust_statistics' 'true'";

#[tokio::test]
async fn a_range_of_rows_reads_a_part_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = vortex(&batch(0, 1 << 20));
    let path = put(dir.path(), "log.vortex", &bytes);
    for partitions in [1, 3] {
        let context = session(partitions);
        table(&context, "log", "VORTEX", &path, TRUST).await.unwrap();
        let sql = "SELECT count(k), sum(k), min(x) FROM log WHERE t BETWEEN 500000 AND 510000";
        let (trusted, plan) = counted(&context, sql).await.unwrap();
        let (zones, pruned) = (count(&plan, "zones"), count(&plan, "zones_pruned"));
        assert!(zones >= 100 && pruned + 4 >= zones, "{pruned} of {zones} zones");
        let read = count(&plan, "bytes_read");
        assert!(read * 8 < bytes.len(), "{read} of {} bytes", bytes.len());

        // Without trust, claims of the file leave out nothing.
        let context = session(partitions);
        table(&context, "log", "VORTEX", &path, "").await.unwrap();
        let (strict, plan) = counted(&context, sql).await.unwrap();
        assert_eq!(count(&plan, "zones_pruned"), 0);
        assert_eq!(strict, trusted);
    }
}

#[tokio::test]
async fn pruned_answers_are_those_of_all_rows() {
    let dir = tempfile::tempdir().unwrap();
    let conditions = [
        "t = 77777",
        "t < 10 OR t > 199990",
        "t IN (5, 100000, 150000)",
        "t > 150000 AND host = 'host7'",
        "NOT (t < 190000)",
        "host IS NULL AND t < 1000",
        "host > 'host98'",
        "host LIKE 'host9%' AND t < 5000",
        "k = 999",
        "x < 25.0",
        "x BETWEEN 100.0 AND 200.0",
        "t + 1 < 100",
        "CAST(t AS SMALLINT) = 5 AND t < 30000",
        "t BETWEEN 5 AND 4",
        "t IS NULL",
    ];
    for (format, extension, write) in FORMATS {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 200_000)));
        let (strict, trusting) = (session(2), session(2));
        table(&strict, "log", format, &path, "").await.unwrap();
        table(&trusting, "log", format, &path, trust(format)).await.unwrap();
        // Host is bytes in DataSeries.
        let host = if format == "DATASERIES" { "arrow_cast(host, 'Utf8')" } else { "host" };
        for condition in conditions {
            let condition = condition.replace("host ", &format!("{host} "));
            let sql = format!("SELECT count(t), sum(t), sum(k), count(host) FROM log WHERE {condition}");
            let (a, b) = (text(&strict, &sql).await, text(&trusting, &sql).await);
            assert_eq!(a.unwrap(), b.unwrap(), "{format}: {condition}");
        }
    }
}

#[tokio::test]
async fn files_are_left_out_of_the_plan_by_their_statistics() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        for day in 0..4 {
            put(dir.path(), &format!("{extension}/{day}.{extension}"), &write(&batch(day * 10_000, 10_000)));
        }
        let location = dir.path().join(extension).join("");
        for (condition, rows, files) in [
            ("t = 25000", 1, 1),
            ("t IN (5, 35000)", 2, 2),
            ("t < 0", 0, 1),
            ("t IS NULL", 0, 1),
            ("k >= 0", 40_000, 4),
        ] {
            for options in [TRUST, ""] {
                let context = session(1);
                table(&context, "log", format, &location, options).await.unwrap();
                let sql = format!("SELECT t FROM log WHERE {condition}");
                let (found, plan) = counted(&context, &sql).await.unwrap();
                assert_eq!(found.iter().map(|batch| batch.num_rows()).sum::<usize>(), rows, "{format} {condition}");
                let shown = displayable(plan.as_ref()).indent(true).to_string();
                let listed = shown.matches(&format!(".{extension}")).count();
                let wanted = if options.is_empty() { 4 } else { files };
                assert_eq!(listed, wanted, "{format} {condition}: {shown}");
            }
        }
        // Bounds of a file are claims, which answer no question.
        let context = session(1);
        table(&context, "log", format, &location, TRUST).await.unwrap();
        let plan = text(&context, "EXPLAIN SELECT min(t), max(t) FROM log").await.unwrap();
        assert!(plan.contains("DataSourceExec"), "{format}: {plan}");
    }
}

/// Columns of partitions are no columns of files, and parts of files may lack a column.
#[tokio::test]
async fn files_with_other_columns_and_parts_of_paths_stay() {
    let dir = tempfile::tempdir().unwrap();
    for day in 0..4 {
        let rows = batch(day * 1000, 1000);
        let rows = if day == 3 { rows.project(&[1, 2, 3]).unwrap() } else { rows };
        put(dir.path(), &format!("day={day}/log.vortex"), &vortex(&rows));
    }
    let context = session(2);
    table(&context, "log", "VORTEX", &dir.path().join(""), TRUST).await.unwrap();
    for (condition, rows) in [
        ("t >= 2500 OR day = '0'", 1500),
        ("t IS NULL", 1000),
        ("t < 10 AND day = '1'", 0),
        ("t IS NULL OR t = 5", 1001),
    ] {
        let answer = text(&context, &format!("SELECT count(*) FROM log WHERE {condition}")).await.unwrap();
        assert!(answer.contains(&format!("| {rows} ")), "{condition}: {answer}");
    }
}

#[tokio::test]
async fn the_first_rows_in_an_order_prune_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&batch(0, 1 << 20)));
    for partitions in [1, 3] {
        let context = session(partitions);
        table(&context, "log", "VORTEX", &path, TRUST).await.unwrap();
        let last = (1 << 20) - 1;
        for (order, first) in
            [("t", 0), ("t DESC", last), ("t DESC NULLS LAST, k", last), ("x DESC, t", last), ("x", 0)]
        {
            let (rows, plan) = counted(&context, &format!("SELECT t FROM log ORDER BY {order} LIMIT 3")).await.unwrap();
            let all = concat_batches(&rows[0].schema(), &rows).unwrap();
            assert_eq!((all.num_rows(), all.column(0).as_primitive::<Int64Type>().value(0)), (3, first), "{order}");
            let pruned = count(&plan, "rows_pruned");
            assert!(pruned >= (1 << 20) - partitions * (1 << 16), "{order} in {partitions}: {pruned} rows");
        }
    }
}

#[tokio::test]
async fn keys_of_a_join_prune() {
    let dir = tempfile::tempdir().unwrap();
    let log = put(dir.path(), "log.vortex", &vortex(&batch(0, 1 << 20)));
    let keys = put(dir.path(), "keys.vortex", &vortex(&batch(700_000, 20)));
    let context = session(1);
    table(&context, "log", "VORTEX", &log, TRUST).await.unwrap();
    table(&context, "keys", "VORTEX", &keys, TRUST).await.unwrap();
    let sql = "SELECT count(*), sum(log.k) FROM log JOIN keys ON log.t = keys.t";
    let (rows, plan) = counted(&context, sql).await.unwrap();
    assert!(format!("{rows:?}").contains("20"), "{rows:?}");
    let pruned = count(&plan, "rows_pruned");
    assert!(pruned > 900_000, "{pruned} rows");
}

#[tokio::test]
async fn floats_that_are_not_numbers_are_found() {
    // For SQL, NaN is above all numbers, and the statistics of zones leave it out.
    let values: Float64Array =
        (0..50_000).map(|row| if row == 40_000 { f64::NAN } else { 1.0 }).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 1] = [("v", Arc::new(values))];
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&RecordBatch::try_from_iter(columns).unwrap()));
    let context = session(1);
    table(&context, "log", "VORTEX", &path, TRUST).await.unwrap();
    let answer = text(&context, "SELECT count(*) FROM log WHERE v > 2.0").await.unwrap();
    assert!(answer.contains("| 1 "), "{answer}");
}

/// Other columns are read only where the predicate leaves rows, also without statistics.
#[tokio::test]
async fn columns_are_read_for_rows_that_are_left() {
    const ROWS: usize = 1 << 20;
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        let bytes = write(&batch(0, 1 << 20));
        let path = put(dir.path(), &format!("log.{extension}"), &bytes);
        for partitions in [1, 3] {
            let context = session(partitions);
            table(&context, "log", format, &path, "").await.unwrap();
            let mut read = Vec::new();
            for (condition, rows, filtered) in [
                ("t >= 0", ROWS, 0),
                ("t BETWEEN 500000 AND 500009", 10, ROWS - 10),
                ("t < 3 OR t IN (4, 900000)", 5, ROWS - 6),
                ("t < 0", 0, ROWS),
                ("host IS NULL AND t < 17", 1, ROWS - 1),
                // Rows everywhere: a request for each would read more than the file.
                ("t % 20000 = 0", 53, 0),
            ] {
                let sql = format!("SELECT count(t), sum(x), max(host), sum(k) FROM log WHERE {condition}");
                let (found, plan) = counted(&context, &sql).await.unwrap();
                let found = found[0].column(0).as_primitive::<Int64Type>().value(0);
                assert_eq!(found, i64::try_from(rows).unwrap(), "{format} {condition}");
                let left_out = count(&plan, "rows_filtered");
                assert!(left_out >= filtered && left_out <= ROWS - rows, "{format} {condition}: {left_out}");
                read.push(count(&plan, "bytes_read"));
            }
            // What DataFusion cannot ask either is its error.
            let error = text(&context, "SELECT sum(x) FROM log WHERE 10 / (t - 5) > 1").await.unwrap_err().to_string();
            assert!(error.contains("Divide by zero"), "{error}");
            assert!(read[1] * 2 < read[0] && read[3] <= read[1], "{format}: {read:?}");
            assert!(read[5] * 4 <= read[0] * 5, "{format}: {read:?}");
        }
    }
}

/// The first rows of any order are found by its column.
#[tokio::test]
async fn columns_are_read_for_the_first_rows() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 1 << 20)));
        let context = session(1);
        table(&context, "log", format, &path, "").await.unwrap();
        for (order, first) in [("t", 0), ("k DESC, t", 321)] {
            let sql = format!("SELECT t, x, host, k FROM log ORDER BY {order} LIMIT 3");
            let (rows, plan) = counted(&context, &sql).await.unwrap();
            assert_eq!(rows[0].column(0).as_primitive::<Int64Type>().value(0), first, "{order}");
            let filtered = count(&plan, "rows_filtered");
            assert!(order != "t" || filtered > 1 << 19, "{format} {order}: {filtered} rows");
        }
    }
}

/// Zones of 8,192 rows: numbers, NaN among them, zeros of both signs, nothing at all.
fn floats() -> RecordBatch {
    let rows = 0..60_000;
    let value = |row: i64| match row / 8192 {
        1 if row % 100 == 7 => Some(f64::NAN),
        2 => Some(if row % 2 == 0 { 0.0 } else { -0.0 }),
        3 => None,
        4 => Some(f64::NAN),
        _ => Some(row as f64 - 30_000.0),
    };
    let wide: Float64Array = rows.clone().map(value).collect();
    let narrow: Float32Array = rows.clone().map(|row| value(row).map(|value| value as f32)).collect();
    let t: Int64Array = rows.collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 3] = [("t", Arc::new(t)), ("x", Arc::new(wide)), ("y", Arc::new(narrow))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test]
async fn floats_prune_where_zones_have_no_nan() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&floats()));
        let (strict, trusting) = (session(2), session(2));
        table(&strict, "log", format, &path, "").await.unwrap();
        table(&trusting, "log", format, &path, TRUST).await.unwrap();
        let mut pruned = 0;
        for column in ["x", "y"] {
            for condition in
                ["> 29000", "< -29000", "= 0", "= -0.0", "< 0", "> -0.0", "= 'NaN'", "IS NULL", "> 1e9", "<> 5"]
            {
                let sql = format!("SELECT count(*), sum(t) FROM log WHERE {column} {condition}");
                let all = text(&strict, &sql).await.unwrap();
                assert_eq!(all, text(&trusting, &sql).await.unwrap(), "{format}: {column} {condition}");
                let (_, plan) = counted(&trusting, &sql).await.unwrap();
                pruned += count(&plan, "zones_pruned");
            }
            let sql = format!("SELECT t, {column} FROM log ORDER BY {column} DESC, t LIMIT 5");
            assert_eq!(text(&strict, &sql).await.unwrap(), text(&trusting, &sql).await.unwrap(), "{format}: {column}");
        }
        assert!(format != "VORTEX" || pruned > 40, "{pruned} zones");
    }
}

/// Bounds of a column are no bounds of its times of day, or of what is true.
#[tokio::test]
async fn casts_that_change_the_order_do_not_prune() {
    let rows = 0..60_000;
    // From one afternoon to another night.
    let t: TimestampSecondArray = rows.clone().map(|row| 46_800 + row * 5).collect::<Vec<_>>().into();
    let x: Float64Array = rows.clone().map(|row| if row < 49_152 { -5.0 + (row % 6) as f64 } else { 1e300 }).collect();
    let n: Int64Array = rows.map(|row| row - 60_000).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 3] = [("t", Arc::new(t)), ("x", Arc::new(x)), ("n", Arc::new(n))];
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&RecordBatch::try_from_iter(columns).unwrap()));
    let (strict, trusting) = (session(1), session(1));
    table(&strict, "log", "VORTEX", &path, "").await.unwrap();
    table(&trusting, "log", "VORTEX", &path, TRUST).await.unwrap();
    for condition in [
        "CAST(t AS TIME) > '12:00'",
        "CAST(t AS DATE) = '1970-01-02'",
        "CAST(x AS BOOLEAN) >= true",
        "CAST(n AS VARCHAR) > '-2'",
        "TRY_CAST(x AS SMALLINT) = -3",
        // 1e300 is no integer: the bounds of the last zones have no value of this type.
        "x < 0 AND CAST(x AS BIGINT) = -3",
    ] {
        let sql = format!("SELECT count(*), sum(n) FROM log WHERE {condition}");
        let (a, b) = (text(&strict, &sql).await, text(&trusting, &sql).await);
        assert_eq!(a.as_ref().ok(), b.as_ref().ok(), "{condition}: {a:?} {b:?}");
    }
}

/// More steps than are asked one by one while the condition changes.
#[tokio::test]
async fn the_first_rows_of_many_steps() {
    const ROWS: i64 = 80 << 16;
    let t: Int64Array = (0..ROWS).collect::<Vec<_>>().into();
    // Each step has its own range of values, in another order than the rows.
    let k: Int64Array =
        (0..ROWS).map(|row| (((row >> 16) * 37 % 80) << 16) + (row & 0xffff)).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 2] = [("t", Arc::new(t)), ("k", Arc::new(k))];
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&RecordBatch::try_from_iter(columns).unwrap()));
    for partitions in [1, 2] {
        let context = session(partitions);
        table(&context, "log", "VORTEX", &path, TRUST).await.unwrap();
        for order in ["t", "k"] {
            for (direction, first) in [("", 0), ("DESC", ROWS - 1)] {
                let sql = format!("SELECT {order} FROM log ORDER BY {order} {direction} LIMIT 3");
                let (rows, plan) = counted(&context, &sql).await.unwrap();
                let all = concat_batches(&rows[0].schema(), &rows).unwrap();
                assert_eq!((all.num_rows(), all.column(0).as_primitive::<Int64Type>().value(0)), (3, first), "{sql}");
                let (pruned, zones) = (count(&plan, "rows_pruned"), count(&plan, "zones"));
                assert!(pruned >= ROWS as usize - partitions * (1 << 17), "{sql}: {pruned} rows");
                assert!(zones <= ROWS as usize / 8192 + 1, "{sql}: {zones} zones, each is counted once");
            }
        }
    }
}
