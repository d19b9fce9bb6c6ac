//! Rows that conditions leave. DataFusion answers the same over the same rows in memory, whose conditions it applies itself.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, Int64Builder, ListBuilder, RecordBatch, StringViewArray};
use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;

use crate::made::{FORMATS, batch, put, trust, vortex};
use crate::session::{counted, session, table, text};

/// A batch with texts as views, as tables of files have them.
fn viewed(rows: &RecordBatch) -> RecordBatch {
    let fields = rows.schema();
    let columns = fields.fields().iter().zip(rows.columns()).map(|(field, column)| {
        let column: ArrayRef = match column.data_type() {
            arrow::datatypes::DataType::Utf8 => {
                arrow::compute::cast(column, &arrow::datatypes::DataType::Utf8View).unwrap()
            }
            _ => Arc::clone(column),
        };
        (field.name().clone(), column)
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Sessions with the rows in memory, and in a file of Vortex and of Jay, without and with statistics.
async fn sessions(
    dir: &std::path::Path,
    tables: &[(&str, RecordBatch)],
) -> (SessionContext, Vec<(String, SessionContext)>) {
    let memory = session(1);
    for (name, rows) in tables {
        memory.register_batch(*name, viewed(rows)).unwrap();
    }
    let mut others = Vec::new();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        for (partitions, options) in [(1, ""), (3, ""), (2, trust(format))] {
            let context = session(partitions);
            for (name, rows) in tables {
                let path = put(dir, &format!("{name}.{extension}"), &write(rows));
                table(&context, name, format, &path, options).await.unwrap();
            }
            others.push((format!("{format} by {partitions} {options}"), context));
        }
    }
    (memory, others)
}

async fn same(memory: &SessionContext, others: &[(String, SessionContext)], sql: &str) {
    let wanted = text(memory, sql).await.unwrap();
    for (name, context) in others {
        assert_eq!(text(context, sql).await.unwrap(), wanted, "{name}: {sql}");
    }
}

const CONDITIONS: [&str; 22] = [
    "k > 500",
    "k > 998",
    "x < 100.0 OR k = 7",
    "host = 'host5'",
    "host <> 'host5'",
    "NOT (host = 'host5')",
    "host IS NULL",
    "host IS NOT NULL AND k < 3",
    "(host = 'host5') IS NULL",
    "(host = 'host5') IS NOT TRUE AND k < 3",
    "host IN ('host1', NULL)",
    "host NOT IN ('host1', NULL)",
    "host NOT IN ('host1', 'host2')",
    "host LIKE '%9' OR t < 10",
    "CASE WHEN k = 0 THEN host IS NULL ELSE 1000 / (k + 1) > 500 END",
    "nullif(k, 3) > 997",
    "(k > 990 AND x < 9000.0) OR (k < 5 AND x > 20000.0)",
    "t % 5000 = 0",
    "t BETWEEN 65530 AND 65540 OR t = 69999",
    "upper(host) = 'HOST7' AND k + t > 60000",
    "false",
    "NULL",
];

#[tokio::test]
async fn all_columns_and_none() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, others) = sessions(dir.path(), &[("log", batch(0, 70_000))]).await;
    for condition in CONDITIONS {
        for wanted in ["count(*)", "count(host), sum(t), min(host), max(x), sum(k)", "sum(x)", "count(DISTINCT host)"] {
            same(&memory, &others, &format!("SELECT {wanted} FROM log WHERE {condition}")).await;
        }
        same(&memory, &others, &format!("SELECT * FROM log WHERE {condition} ORDER BY t LIMIT 20")).await;
        let some = format!("SELECT count(*) FROM (SELECT x FROM log WHERE {condition} LIMIT 1000)");
        same(&memory, &others, &some).await;
    }
}

/// The scan applies the condition, and DataFusion does not; not even to rows that a limit counts.
#[tokio::test]
async fn conditions_are_applied_once() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 100_000)));
        let context = session(2);
        table(&context, "log", format, &path, "").await.unwrap();
        for sql in ["SELECT t FROM log WHERE k = 7", "SELECT x FROM log WHERE k = 7 LIMIT 50"] {
            let (found, plan) = counted(&context, sql).await.unwrap();
            let rows = found.iter().map(|batch| batch.num_rows()).sum::<usize>();
            assert_eq!(rows, if sql.ends_with("50") { 50 } else { 100 }, "{format}: {sql}");
            let shown = displayable(plan.as_ref()).indent(true).to_string();
            assert_eq!(shown.contains("FilterExec"), format == "DATASERIES", "{format}: {shown}");
        }
    }
}

#[tokio::test]
async fn orders_and_their_first_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, others) = sessions(dir.path(), &[("log", batch(0, 140_000))]).await;
    for order in [
        "k DESC, t",
        "k, t DESC",
        "host, t",
        "host DESC NULLS LAST, t",
        "host NULLS FIRST, x DESC",
        "t DESC",
        "k + t, t",
    ] {
        for condition in ["true", "host = 'host3'", "k < 2 OR host IS NULL"] {
            let sql = format!("SELECT t, host, k FROM log WHERE {condition} ORDER BY {order} LIMIT 7");
            same(&memory, &others, &sql).await;
        }
    }
}

/// More rows than a step has are kept, of an order and without one.
#[tokio::test]
async fn limits_above_a_step() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, others) = sessions(dir.path(), &[("log", batch(0, 140_000))]).await;
    for sql in [
        "SELECT count(*), sum(t), sum(k) FROM (SELECT t, k FROM log WHERE k > 10 ORDER BY k DESC, t LIMIT 100000)",
        "SELECT count(*), max(k) FROM (SELECT k FROM log WHERE k > 10 LIMIT 100000)",
        "SELECT count(*), min(t) FROM (SELECT t FROM log WHERE k > 10 ORDER BY t OFFSET 70000 LIMIT 66000)",
    ] {
        same(&memory, &others, sql).await;
    }
}

/// Rows with lists wait for others, and are copied, like all columns.
#[tokio::test]
async fn lists_of_rows_that_are_left() {
    let dir = tempfile::tempdir().unwrap();
    let rows = 70_000;
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in 0..rows {
        (0..row % 5).for_each(|k| lists.values().append_value(row * 10 + k));
        lists.append(row % 7 != 0);
    }
    let columns: [(&str, ArrayRef); 2] =
        [("t", Arc::new(Int64Array::from_iter_values(0..rows))), ("l", Arc::new(lists.finish()))];
    let table_of = RecordBatch::try_from_iter(columns).unwrap();
    let memory = session(1);
    memory.register_batch("log", table_of.clone()).unwrap();
    let path = put(dir.path(), "log.vortex", &vortex(&table_of));
    for partitions in [1, 3] {
        let context = session(partitions);
        table(&context, "log", "VORTEX", &path, "").await.unwrap();
        for condition in
            ["t % 3 = 0", "t % 5000 = 4", "t > 69000", "l IS NULL AND t < 9000", "l IS NOT NULL AND t % 20 = 3"]
        {
            let sql = format!("SELECT l, t FROM log WHERE {condition} ORDER BY t");
            same(&memory, &[(format!("by {partitions}"), context.clone())], &sql).await;
        }
    }
}

/// Which rows are left of a damaged file must not depend on the condition: DataFusion applies it.
#[tokio::test]
async fn conditions_over_damaged_files() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, _) = sessions(dir.path(), &[("log", batch(0, 70_000))]).await;
    for (format, extension, option) in [
        ("VORTEX", "vortex", "'skip_damaged' 'true'"),
        ("JAY", "jay", "'skip_damaged' 'true'"),
        ("JAY", "jay", "'tolerant' 'true'"),
    ] {
        let context = session(2);
        table(&context, "log", format, &dir.path().join(format!("log.{extension}")), option).await.unwrap();
        let sql = "SELECT count(*), sum(t), count(host) FROM log WHERE k < 5 OR host = 'host7'";
        same(&memory, &[(format!("{format} {option}"), context.clone())], sql).await;
        let (_, plan) = counted(&context, sql).await.unwrap();
        let shown = displayable(plan.as_ref()).indent(true).to_string();
        assert!(shown.contains("FilterExec"), "{format} {option}: {shown}");
    }
}

/// Joins make conditions while they run: bounds or sets of keys.
#[tokio::test]
async fn joins() {
    let dir = tempfile::tempdir().unwrap();
    let id: Int64Array = [Some(5), None, Some(77_777), Some(139_999), None, Some(-1)].into_iter().collect();
    let name: StringViewArray =
        [Some("host5"), None, Some("host77"), Some("none"), Some("host5"), None].into_iter().collect();
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(id)), ("name", Arc::new(name))];
    let small = RecordBatch::try_from_iter(columns).unwrap();
    let (memory, others) = sessions(dir.path(), &[("log", batch(0, 140_000)), ("s", small)]).await;
    let queries = [
        "SELECT log.t, log.host, name FROM log JOIN s ON log.t = s.id ORDER BY log.t",
        "SELECT count(*), sum(t) FROM log JOIN s ON log.host = s.name",
        "SELECT count(*), sum(t) FROM log JOIN s ON log.host IS NOT DISTINCT FROM s.name",
        "SELECT count(*), sum(t) FROM log LEFT JOIN s ON log.t = s.id WHERE s.name IS NULL",
        "SELECT id, name, t FROM s LEFT JOIN log ON log.t = s.id ORDER BY id, name, t",
        "SELECT count(*), count(t), count(id) FROM log FULL JOIN s ON log.t = s.id",
        "SELECT count(*) FROM log WHERE host IN (SELECT name FROM s)",
        "SELECT count(*) FROM log WHERE host NOT IN (SELECT name FROM s)",
        "SELECT count(*) FROM log WHERE host NOT IN (SELECT name FROM s WHERE name IS NOT NULL)",
        "SELECT count(*) FROM log WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.name = log.host)",
        "SELECT host FROM log INTERSECT SELECT name FROM s ORDER BY 1",
        "SELECT count(*) FROM (SELECT host FROM log EXCEPT SELECT name FROM s)",
        "SELECT count(*), min(a.t), max(b.t) FROM log a JOIN log b ON a.k = b.t WHERE a.host = 'host1'",
        "SELECT max(t), min(x) FROM log WHERE k = 3",
    ];
    for sql in queries {
        same(&memory, &others, sql).await;
    }
    // Both sides are partitioned, instead of one that all readers share.
    for (_, context) in &others {
        for name in ["hash_join_single_partition_threshold", "hash_join_single_partition_threshold_rows"] {
            context.sql(&format!("SET datafusion.optimizer.{name} = 0")).await.unwrap();
        }
    }
    for sql in queries {
        same(&memory, &others, sql).await;
    }
}

/// A limit counts rows before conditions of joins and of orders above it leave any out.
#[tokio::test]
async fn a_limit_below_a_join() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        let path = put(dir.path(), &format!("log.{extension}"), &write(&batch(0, 140_000)));
        for options in ["", trust(format)] {
            let context = session(1);
            let options = if options.is_empty() { String::new() } else { format!(" OPTIONS ({options})") };
            let location = path.display();
            let sql = format!(
                "CREATE EXTERNAL TABLE log STORED AS {format} WITH ORDER (t ASC) LOCATION '{location}'{options}"
            );
            context.sql(&sql).await.unwrap();
            let first = "(SELECT t, k FROM log ORDER BY t LIMIT 70000)";
            for (sql, wanted) in [
                (format!("SELECT count(*) FROM (VALUES (139999), (5)) s(id) JOIN {first} l ON l.t = s.id"), "| 1 "),
                (format!("SELECT t FROM {first} l ORDER BY t DESC LIMIT 1"), "| 69999 "),
                (format!("SELECT max(t) FROM {first} l"), "| 69999 "),
                (format!("SELECT count(*), max(t) FROM {first} l WHERE k > 997"), "| 140 "),
            ] {
                let found = text(&context, &sql).await.unwrap();
                assert!(found.contains(wanted), "{format} {options}, {sql}: {found}");
            }
        }
    }
}

/// Columns that a file does not have are null in conditions, too, and columns of paths are not in files.
#[tokio::test]
async fn columns_that_are_not_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS.into_iter().take(2) {
        let rows = batch(0, 3000);
        put(dir.path(), &format!("{extension}/day=1/a.{extension}"), &write(&rows));
        put(dir.path(), &format!("{extension}/day=1/b.{extension}"), &write(&rows.project(&[0, 3]).unwrap()));
        put(dir.path(), &format!("{extension}/day=2/a.{extension}"), &write(&rows.project(&[1]).unwrap()));
        let context = session(2);
        table(&context, "log", format, &dir.path().join(extension).join(""), "").await.unwrap();
        for (condition, count) in [
            ("host IS NULL", 177 + 3000 + 3000),
            ("host IS NULL AND day = '1'", 177 + 3000),
            ("host IS NULL AND t < 17", 1 + 17),
            ("t < 17 OR day = '2'", 17 + 17 + 3000),
            ("x < 1.0", 4 + 4),
            ("x < 1.0 AND day = '2'", 4),
            ("t IS NULL AND k IS NULL", 3000),
            ("coalesce(t, k, 7) = 7", 1 + 1 + 3000),
        ] {
            let found = text(&context, &format!("SELECT count(*) AS n FROM log WHERE {condition}")).await.unwrap();
            assert!(found.contains(&format!("| {count} ")), "{format}, {condition}: {found}");
        }
    }
}

#[tokio::test]
async fn conditions_that_fail_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let (memory, others) = sessions(dir.path(), &[("log", batch(0, 140_000))]).await;
    for (condition, error) in [("1000 / k > 500", "Divide by zero"), ("CAST(host AS INT) = 1", "host")] {
        for wanted in ["count(*)", "sum(x)"] {
            let sql = format!("SELECT {wanted} FROM log WHERE {condition}");
            assert!(text(&memory, &sql).await.unwrap_err().to_string().contains(error));
            for (name, context) in &others {
                let found = text(context, &sql).await.unwrap_err().to_string();
                assert!(found.contains(error) && found.contains("log."), "{name}: {found}");
            }
        }
    }
}
