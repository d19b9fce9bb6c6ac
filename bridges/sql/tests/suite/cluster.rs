//! Workers within the process of the test: the bytes that each reads, of one file and of many.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_distributed::{
    DistributedExt as _, DistributedMetricsFormat, SessionStateBuilderExt as _, Worker, WorkerQueryContext,
    WorkerResolver, rewrite_distributed_plan_with_metrics,
};
use pilaster_datafusion::{Codec, register};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use url::Url;

use crate::made::{FORMATS, batch, put};
use crate::session::{rows, table};

struct Workers(Vec<Url>);

impl WorkerResolver for Workers {
    fn get_urls(&self) -> datafusion::error::Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

/// Starts workers, and returns a session that asks them.
async fn cluster(count: usize) -> SessionContext {
    let mut urls = Vec::new();
    for _ in 0..count {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        urls.push(Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap());
        let worker = Worker::from_session_builder(|query: WorkerQueryContext| async move {
            Ok(query.builder.with_distributed_user_codec(Codec::default()).build())
        });
        let server = Server::builder().add_service(worker.into_worker_server());
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    }
    let config =
        SessionConfig::new().with_target_partitions(2).set_usize("datafusion.optimizer.repartition_file_min_size", 1);
    let builder = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .with_distributed_worker_resolver(Workers(urls))
        .with_distributed_user_codec(Codec::default())
        .with_distributed_file_scan_config_bytes_per_partition(1)
        .unwrap()
        .with_distributed_planner();
    let mut state = builder.build();
    register(&mut state).unwrap();
    SessionContext::new_with_state(state)
}

/// The rows of a query, and the bytes that each task read.
async fn read(context: &SessionContext, sql: &str) -> (String, Vec<usize>) {
    let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let shown = displayable(plan.as_ref()).indent(true).to_string();
    assert!(shown.contains("DistributedLeafExec"), "{shown}");
    let batches = collect(Arc::clone(&plan), context.task_ctx()).await.unwrap();
    let plan = rewrite_distributed_plan_with_metrics(plan, DistributedMetricsFormat::PerTask).await.unwrap();
    let mut tasks = BTreeMap::new();
    bytes(&plan, &mut tasks);
    (format!("{batches:?}"), tasks.into_values().collect())
}

/// Adds the bytes that tasks read, by the label of the task.
fn bytes(plan: &Arc<dyn ExecutionPlan>, tasks: &mut BTreeMap<String, usize>) {
    for metric in plan.metrics().iter().flat_map(|metrics| metrics.iter()) {
        let name = metric.value().name().to_owned();
        if name.starts_with("bytes_read") {
            let labels: Vec<_> = metric.labels().iter().map(|label| label.value().to_owned()).collect();
            *tasks.entry(format!("{name} {labels:?}")).or_default() += metric.value().as_usize();
        }
    }
    plan.children().into_iter().for_each(|child| bytes(child, tasks));
}

#[tokio::test]
async fn workers_read_the_same_number_of_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for (format, extension, write) in FORMATS {
        put(dir.path(), &format!("{extension}/log.{extension}"), &write(&batch(0, 1 << 20)));
        for file in 0..8 {
            let bytes = write(&batch(file << 18, 1 << 18));
            put(dir.path(), &format!("{extension}-many/{file}.{extension}"), &bytes);
        }
        for folder in [format!("{extension}/log.{extension}"), format!("{extension}-many")] {
            let location = dir.path().join(&folder);
            let location = if location.is_dir() { location.join("") } else { location };
            let sql = "SELECT sum(t), sum(x), sum(k), count(host) FROM log";
            let local = answer(&location, format, sql).await;
            for count in [2, 4] {
                let context = cluster(count).await;
                table(&context, "log", format, &location, "").await.unwrap();
                let (answer, tasks) = read(&context, sql).await;
                assert_eq!(answer, local, "{folder} by {count}");
                let (least, most) = (tasks.iter().min().unwrap(), tasks.iter().max().unwrap());
                assert!(tasks.len() == count && most * 10 <= least * 12, "{folder} by {count}: {tasks:?}");
            }
        }
    }
}

async fn answer(location: &Path, format: &str, sql: &str) -> String {
    let context = crate::session::session(2);
    table(&context, "log", format, location, "").await.unwrap();
    format!("{:?}", rows(&context, sql).await.unwrap())
}
