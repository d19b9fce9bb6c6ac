//! Workers, and connections to them.

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::exec_datafusion_err;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::{
    ChannelResolver, CoordinatorToWorkerMsg, DistributedExt as _, ExecuteTaskRequest, GetWorkerInfoRequest,
    GetWorkerInfoResponse, MaybeEncoded, SetPlanRequest, Worker, WorkerChannel, WorkerQueryContext, WorkerResolver,
    WorkerToCoordinatorMsg, grpc,
};
use futures::StreamExt as _;
use futures::future::try_join_all;
use futures::stream::BoxStream;
use http::HeaderMap;
use pilaster_datafusion::{Codec, shown};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use url::Url;
use uuid::Uuid;

use super::stores;

/// How long a worker may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// How long a worker may take to answer at the start.
const ANSWER: Duration = Duration::from_secs(6);

/// How often the other end of a connection must show that it is alive, and how long it may take.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(5));

/// The version of this program. Plans and rows of other versions may be different.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Serves coordinators at an address, which is printed.
pub async fn serve(listen: &str, mut out: impl Write) -> Result<()> {
    let listener = TcpListener::bind(listen).await.map_err(|e| exec_datafusion_err!("{listen}: {e}"))?;
    writeln!(out, "listening on {}", listener.local_addr()?)?;
    out.flush()?;
    // One codec, whose metadata of files are shared by all queries.
    let codec = Codec::default();
    // Workers also read from each other.
    let channels: Arc<dyn ChannelResolver + Send + Sync> = Arc::new(Channels::default());
    let worker = Worker::from_session_builder(move |query: WorkerQueryContext| {
        let (codec, channels) = (codec.clone(), Arc::clone(&channels));
        let builder = query.builder.with_distributed_user_codec(codec).with_distributed_channel_resolver(channels);
        async move { Ok(builder.build()) }
    })
    .with_runtime_env(stores::environment()?)
    .with_version(VERSION);
    // A coordinator that is frozen or cut off needs no rows.
    let server = Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE.0))
        .http2_keepalive_timeout(Some(KEEP_ALIVE.1))
        .add_service(worker.into_worker_server());
    let served = server.serve_with_incoming(TcpListenerStream::new(listener)).await;
    served.map_err(|e| exec_datafusion_err!("{listen}: {e}"))
}

/// The addresses of workers.
pub struct Addresses(pub Vec<Url>);

impl WorkerResolver for Addresses {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

/// Connections to workers, which notice within seconds that one is frozen, and whose errors name the worker.
#[derive(Default)]
pub struct Channels(Known);

/// The workers that are connected.
type Known = Arc<Mutex<HashMap<Url, Connected>>>;

impl Channels {
    /// Asks every worker whether it answers, and has the version of this program.
    pub async fn greet(&self, workers: &[Url]) -> Result<()> {
        let one = async |url: &Url| {
            let mut channel = self.get_worker_client_for_url(url).await?;
            match timeout(ANSWER, channel.get_worker_info(GetWorkerInfoRequest {})).await {
                Ok(answer) => fits(&answer?.version).map_err(|e| named(url, &Reads::default(), e)),
                Err(_) => Err(named(url, &Reads::default(), format!("no answer within {} s", ANSWER.as_secs()))),
            }
        };
        try_join_all(workers.iter().map(one)).await.map(|_| ())
    }
}

/// A connection, and what the worker reads.
#[derive(Clone)]
struct Connected {
    channel: Channel,
    reading: Arc<Mutex<Reads>>,
}

/// The files that a worker reads for a query, by their names.
#[derive(Default)]
struct Reads {
    query: Uuid,
    files: BTreeSet<String>,
}

/// Number of files that an error names.
const NAMED: usize = 3;

/// The text between the name of a worker and its files.
const READS: &str = ", which reads ";

impl Reads {
    /// Adds the files of a task. Files of an earlier query are forgotten.
    fn add(&mut self, request: &SetPlanRequest) {
        if self.query != request.task_key.query_id {
            *self = Reads { query: request.task_key.query_id, files: BTreeSet::new() };
        }
        if let MaybeEncoded::Decoded(plan) = &request.plan {
            self.walk(plan);
        }
    }

    fn walk(&mut self, plan: &Arc<dyn ExecutionPlan>) {
        let scan = plan.downcast_ref::<DataSourceExec>();
        if let Some(scan) = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) {
            let files = scan.file_groups.iter().flat_map(|group| group.iter());
            self.files.extend(files.map(|file| shown(&scan.object_store_url, &file.object_meta.location)));
        }
        plan.children().into_iter().for_each(|plan| self.walk(plan));
    }
}

impl Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, file) in self.files.iter().take(NAMED).enumerate() {
            write!(f, "{}{file}", if k == 0 { READS } else { ", " })?;
        }
        match self.files.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connected = match known.get(url) {
            Some(connected) => connected.clone(),
            None => {
                let endpoint = Endpoint::from_shared(url.to_string()).map_err(|e| named(url, &Reads::default(), e))?;
                let endpoint = endpoint
                    .connect_timeout(CONNECT)
                    .http2_keep_alive_interval(KEEP_ALIVE.0)
                    .keep_alive_timeout(KEEP_ALIVE.1)
                    .keep_alive_while_idle(true);
                let connected = Connected { channel: endpoint.connect_lazy(), reading: Arc::default() };
                known.insert(url.clone(), connected.clone());
                connected
            }
        };
        let inner = grpc::create_worker_client(grpc::BoxCloneSyncChannel::new(connected.channel));
        Ok(Box::new(Named {
            name: Name { url: url.clone(), known: Arc::clone(&self.0), reading: connected.reading },
            inner,
        }))
    }
}

/// Returns why a worker of another version is not used.
fn fits(version: &str) -> Result<(), String> {
    if version == VERSION {
        return Ok(());
    }
    Err(format!(
        "the worker is version {version:?}, and this program {VERSION:?}: install the same one on all machines"
    ))
}

/// Returns an error of a worker.
fn named(url: &Url, reads: &Reads, e: impl Display) -> DataFusionError {
    let text = e.to_string();
    // The library shows the structure of its error.
    let text = match text.split_once("tonic::transport::Error(Transport, ConnectError(") {
        Some((_, error)) => {
            let cause =
                error.split_once("message: \"").and_then(|(_, cause)| cause.split_once('"')).map(|(cause, _)| cause);
            let cause = cause.map_or_else(String::new, |cause| format!(" ({cause})"));
            format!("it cannot be reached{cause}: is it running, and is this its address?")
        }
        None => text,
    };
    exec_datafusion_err!("{}{reads}: {text}", title(url))
}

/// Returns how errors call a worker.
fn title(url: &Url) -> String {
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    format!("worker {host}:{port}")
}

/// Returns which of some workers an error names last, and what it says of that one: workers read from each other, so that the error
/// of one passes through others. Each names the one that it reads from, and the last one has the error.
fn innermost<'w, 't>(text: &'t str, workers: impl Iterator<Item = &'w Url>) -> Option<(&'w Url, &'t str)> {
    let found = workers.filter_map(|url| {
        let title = title(url);
        // Ports begin with the same digits.
        let ends = [": ", READS].into_iter().filter_map(|next| text.rfind(&format!("{title}{next}")));
        let at = ends.max()?;
        Some((at, url, text.get(at.saturating_add(title.len())..)?))
    });
    found.max_by_key(|(at, ..)| *at).map(|(_, url, rest)| (url, rest))
}

/// A worker, and what it reads.
#[derive(Clone)]
struct Name {
    url: Url,
    known: Known,
    reading: Arc<Mutex<Reads>>,
}

impl Name {
    /// Returns an error of this worker, or of the one that it read from.
    fn error(&self, e: &DataFusionError) -> DataFusionError {
        let text = e.strip_backtrace();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = match innermost(&text, known.keys()) {
            // It names the files, too.
            Some((url, rest)) if rest.starts_with(READS) => return exec_datafusion_err!("{}{rest}", title(url)),
            // A worker does not know what others read.
            Some((url, rest)) => known.get(url).map(|other| (url, &other.reading, rest.trim_start_matches(": "))),
            None => None,
        };
        let (url, reading, cause) = reading.unwrap_or((&self.url, &self.reading, &text));
        named(url, &reading.lock().unwrap_or_else(PoisonError::into_inner), cause)
    }
}

/// A connection whose errors name the worker.
struct Named {
    name: Name,
    inner: Box<dyn WorkerChannel>,
}

impl Named {
    fn stream<T: 'static>(&self, stream: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        let name = self.name.clone();
        stream.map(move |item| item.map_err(|e| name.error(&e))).boxed()
    }
}

#[async_trait]
impl WorkerChannel for Named {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        request: SetPlanRequest,
        messages: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        self.name.reading.lock().unwrap_or_else(PoisonError::into_inner).add(&request);
        let answer = self.inner.coordinator_channel(headers, request, messages, metrics, context).await;
        Ok(self.stream(answer.map_err(|e| self.name.error(&e))?))
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let streams = self.inner.execute_task(headers, request, metrics, context).await;
        let streams = streams.map_err(|e| self.name.error(&e))?;
        Ok(streams.into_iter().map(|stream| self.stream(stream)).collect())
    }

    async fn get_worker_info(&mut self, request: GetWorkerInfoRequest) -> Result<GetWorkerInfoResponse> {
        self.inner.get_worker_info(request).await.map_err(|e| self.name.error(&e))
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    fn url(port: u16) -> Url {
        Url::parse(&format!("http://127.0.0.1:{port}/")).expect("valid")
    }

    #[test]
    fn workers_of_other_versions_are_refused() {
        assert_eq!(fits(env!("CARGO_PKG_VERSION")), Ok(()));
        for version in ["", "0.0.9"] {
            assert!(fits(version).is_err_and(|e| e.contains(&format!("{version:?}"))));
        }
    }

    #[tokio::test]
    async fn the_worker_that_has_the_error_is_named() {
        let channels = Channels::default();
        let mut known = channels.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (port, file) in [(7001, "/a.ds"), (7002, "/b.ds"), (70, "/c.ds")] {
            let channel = Endpoint::from_static("http://127.0.0.1:1").connect_lazy();
            let reads = Reads { query: Uuid::nil(), files: [file.to_owned()].into() };
            known.insert(url(port), Connected { channel, reading: Arc::new(Mutex::new(reads)) });
        }
        let outer =
            Name { url: url(7001), known: Arc::clone(&channels.0), reading: Arc::clone(&known[&url(7001)].reading) };
        drop(known);
        for (text, wanted) in [
            ("x", "worker 127.0.0.1:7001, which reads /a.ds: Execution error: x"),
            ("worker 127.0.0.1:7002: x: y", "worker 127.0.0.1:7002, which reads /b.ds: x: y"),
            ("Execution error: worker 127.0.0.1:7002: x", "worker 127.0.0.1:7002, which reads /b.ds: x"),
            (
                "worker 127.0.0.1:7001, which reads /a.ds: worker 127.0.0.1:7002, which reads /d.ds: x",
                "worker 127.0.0.1:7002, which reads /d.ds: x",
            ),
            // No worker that is known.
            (
                "worker 127.0.0.1:7003: x",
                "worker 127.0.0.1:7001, which reads /a.ds: Execution error: worker 127.0.0.1:7003: x",
            ),
        ] {
            let found = outer.error(&DataFusionError::Execution(text.to_owned()));
            assert_eq!(found.strip_backtrace(), format!("Execution error: {wanted}"));
        }
    }
}
