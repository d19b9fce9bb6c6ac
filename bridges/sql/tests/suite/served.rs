//! Files of a server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use url::Url;

use crate::made::{FORMATS, batch};
use crate::server::{Fault, Server};
use crate::session::{session, table, text};

/// A session with the store of a server, and the table of a file of it.
async fn open(server: &Server, format: &str, name: &str) -> Result<SessionContext> {
    let url = format!("http://{}", server.address);
    let backoff = BackoffConfig { init_backoff: Duration::from_millis(5), ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_secs(10) };
    let options = ClientOptions::new().with_allow_http(true);
    let store = HttpBuilder::new().with_url(&url).with_client_options(options).with_retry(retry).build().unwrap();
    let context = session(1);
    context.register_object_store(&Url::parse(&url).unwrap(), Arc::new(store));
    table(&context, "log", format, std::path::Path::new(&format!("{url}/{name}")), "").await?;
    Ok(context)
}

/// A file is opened by two requests, queries fetch the chunks of their columns, and a second one does not open it again.
#[tokio::test]
async fn requests_of_queries() {
    for (format, extension, write) in FORMATS {
        let (server, name) = (Server::start(true), format!("log.{extension}"));
        server.put(&format!("/{name}"), write(&batch(0, 1 << 20)));
        let context = open(&server, format, &name).await.unwrap();
        let (opened, bytes) = server.taken();
        assert!(opened <= 2, "{format}: {opened} requests of {bytes} bytes");
        // The chunks of a column, and one of metadata; reads of 128 KiB; extents, which have all columns.
        let chunks = [("VORTEX", 129), ("JAY", 64), ("DATASERIES", 1049)];
        let chunks = chunks.iter().find(|(known, _)| *known == format).unwrap().1;
        for (sql, columns, part) in [
            ("SELECT sum(t) FROM log", 1, "549755289600"),
            ("SELECT sum(t), sum(k) FROM log", 2, "549755289600"),
            ("SELECT sum(x), sum(k), sum(t) FROM log", 3, "549755289600"),
            // Texts are missing values, offsets and characters.
            ("SELECT count(DISTINCT host), sum(k) FROM log", 4, "| 100 "),
            ("SELECT sum(k), count(t) FROM log WHERE t BETWEEN 500000 AND 599999", 2, "| 100000 "),
            ("SELECT count(t), sum(x) FROM log WHERE k = 7", 3, "| 1048 "),
        ] {
            let most = if format == "DATASERIES" { chunks } else { chunks * columns };
            let mut taken = Vec::new();
            for _ in 0..2 {
                let answer = text(&context, sql).await.unwrap();
                assert!(answer.contains(part), "{format}, {sql}: {answer}");
                let (requests, bytes) = server.taken();
                // The chunks of `t` in Vortex are a few bytes each, so that they are fetched together.
                let most = if format == "VORTEX" && sql == "SELECT sum(t) FROM log" { 17 } else { most };
                assert!((1..=most).contains(&requests), "{format}, {sql}: {requests} requests of {bytes} bytes");
                taken.push((requests, bytes));
            }
            assert_eq!(taken[0], taken[1], "{format}, {sql}");
        }
        if format != "DATASERIES" {
            assert!(text(&context, "SELECT count(*) FROM log").await.unwrap().contains("| 1048576 "));
            assert_eq!(server.taken(), (0, 0), "{format}");
        }
    }
}

const SQL: &str = "SELECT count(host), sum(t), sum(k), max(x) FROM log";

#[tokio::test]
async fn requests_that_fail_are_tried_again() {
    for (format, extension, write) in FORMATS {
        let (server, name) = (Server::start(true), format!("log.{extension}"));
        server.put(&format!("/{name}"), write(&batch(0, 1 << 17)));
        let right = text(&open(&server, format, &name).await.unwrap(), SQL).await.unwrap();
        let (without, _) = server.taken();
        for fault in [Fault::Busy(2), Fault::Busy(3), Fault::Cut(2), Fault::Cut(3)] {
            server.fault(fault);
            let found = text(&open(&server, format, &name).await.unwrap(), SQL).await.unwrap();
            assert_eq!(found, right, "{format}, {fault:?}");
            let (requests, _) = server.taken();
            assert!(requests > without, "{format}, {fault:?}: {requests} requests, and {without} without faults");
        }
    }
}

/// What a server cannot mend is an error that names the file and the place.
#[tokio::test]
async fn a_server_that_stays_bad_is_a_named_error() {
    for (format, extension, write) in FORMATS {
        for (fault, cause) in [
            (Fault::Down, "the server is down"),
            (Fault::Less, "Requested"),
            (Fault::Whole, "Range request not supported"),
            // Without its version, a file may be another one, and an answer is not continued.
            (Fault::Cut(1), "response body error"),
        ] {
            let (server, name) = (Server::start(false), format!("log.{extension}"));
            server.put(&format!("/{name}"), write(&batch(0, 1 << 17)));
            let context = open(&server, format, &name).await.unwrap();
            server.fault(fault);
            let begin = Instant::now();
            for context in [Ok(context), open(&server, format, &name).await] {
                let error = match context {
                    Ok(context) => text(&context, SQL).await.unwrap_err(),
                    Err(e) => e,
                };
                let error = error.to_string();
                let named = error.contains(&name) && error.contains("at offset") && error.contains(cause);
                assert!(named, "{format}, {fault:?}: {error}");
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        }
    }
}

/// The tool and its workers read files of HTTP and S3.
#[cfg(feature = "tool")]
#[test]
fn urls_in_queries() {
    use crate::workers::{Worker, asking, error, out};

    let server = Server::start(true);
    let endpoint = format!("http://{}", server.address);
    let environment = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "tester"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
    ];
    let ask = |workers: &[Worker], sql: &str| asking(workers, &[], sql).envs(environment).output().unwrap();
    let workers = [Worker::within(&environment), Worker::within(&environment)];
    for (_, extension, write) in FORMATS {
        for day in 0..3 {
            let bytes = write(&batch(day * 10_000, 10_000));
            server.put(&format!("/files/{extension}/day={day}/log.{extension}"), bytes);
        }
        let folder = format!("s3://files/{extension}");
        for (place, rows) in [
            (format!("{endpoint}/files/{extension}/day=1/log.{extension}"), 10_000),
            (format!("{folder}/day=1/log.{extension}"), 10_000),
            (format!("{folder}/"), 30_000),
            (folder.clone(), 30_000),
            (format!("{folder}/day=1/*.{extension}"), 10_000),
            (format!("{folder}/*.{extension}"), 30_000),
        ] {
            let sql = format!("SELECT count(t) AS n, sum(k) FROM '{place}' WHERE t >= 0");
            let (local, remote) = (out(&ask(&[], &sql)), out(&ask(&workers, &sql)));
            let found = local.lines().last().and_then(|row| row.split_whitespace().next()?.parse().ok());
            assert_eq!(found, Some(rows), "{place}: {local}");
            assert_eq!(local, remote, "{place}");
        }
        let days = out(&ask(&workers, &format!("SELECT day, count(*) FROM '{folder}' GROUP BY day ORDER BY day")));
        assert!(days.lines().last().is_some_and(|row| row.split_whitespace().eq(["2", "10000"])), "{days}");
        assert!(server.lists() > 0 && server.taken().0 > 0);
    }
    for (place, part) in [
        (format!("{endpoint}/files/ds/none.ds"), "none.ds"),
        ("s3://files/none/".to_owned(), "has no files"),
        ("s3://files/ds/day=[12]/*.ds".to_owned(), "day=1/"),
        (format!("{endpoint}/files/ds/day=1/log.ds?version=1"), "neither '?' nor '#'"),
    ] {
        let error = error(&ask(&[], &format!("SELECT 1 FROM '{place}'")));
        assert!(error.contains(part) && error.lines().count() == 1, "{place}: {error}");
    }
}
