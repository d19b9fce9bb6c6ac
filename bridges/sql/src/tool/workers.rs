//! Workers, and connections to them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{exec_datafusion_err, plan_datafusion_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::{
    ChannelResolver, CoordinatorToWorkerMsg, DistributedExt as _, ExecuteTaskRequest, GetWorkerInfoRequest,
    GetWorkerInfoResponse, SetPlanRequest, Worker, WorkerChannel, WorkerQueryContext, WorkerResolver,
    WorkerToCoordinatorMsg, grpc,
};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::HeaderMap;
use pilaster_datafusion::Codec;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use url::Url;

/// How long a worker may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// How often a worker must show that it is alive, and how long it may take.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(3));

/// Serves coordinators at an address, which is printed.
pub async fn serve(listen: &str, mut out: impl Write) -> Result<()> {
    let listener = TcpListener::bind(listen).await.map_err(|e| exec_datafusion_err!("{listen}: {e}"))?;
    writeln!(out, "listening on {}", listener.local_addr()?)?;
    out.flush()?;
    // One codec, whose metadata of files are shared by all queries.
    let codec = Codec::default();
    let worker = Worker::from_session_builder(move |query: WorkerQueryContext| {
        let codec = codec.clone();
        async move { Ok(query.builder.with_distributed_user_codec(codec).build()) }
    });
    let server = Server::builder().add_service(worker.into_worker_server());
    let served = server.serve_with_incoming(TcpListenerStream::new(listener)).await;
    served.map_err(|e| exec_datafusion_err!("{listen}: {e}"))
}

/// The addresses of workers.
pub struct Addresses(Vec<Url>);

impl Addresses {
    pub fn new(addresses: &[String]) -> Result<Self> {
        let url = |address: &String| {
            Url::parse(&format!("http://{address}/"))
                .map_err(|e| plan_datafusion_err!("worker {address:?} is no host:port: {e}"))
        };
        addresses.iter().map(url).collect::<Result<_>>().map(Addresses)
    }
}

impl WorkerResolver for Addresses {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

/// Connections to workers, which notice within seconds that one is frozen, and whose errors name the worker.
#[derive(Default)]
pub struct Channels(Mutex<HashMap<Url, Channel>>);

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = match known.get(url) {
            Some(channel) => channel.clone(),
            None => {
                let endpoint = Endpoint::from_shared(url.to_string()).map_err(|e| named(url, e))?;
                let endpoint = endpoint
                    .connect_timeout(CONNECT)
                    .http2_keep_alive_interval(KEEP_ALIVE.0)
                    .keep_alive_timeout(KEEP_ALIVE.1)
                    .keep_alive_while_idle(true);
                let channel = endpoint.connect_lazy();
                known.insert(url.clone(), channel.clone());
                channel
            }
        };
        let inner = grpc::create_worker_client(grpc::BoxCloneSyncChannel::new(channel));
        Ok(Box::new(Named { url: url.clone(), inner }))
    }
}

/// Returns an error of a worker.
fn named(url: &Url, e: impl Display) -> DataFusionError {
    let host = url.host_str().unwrap_or_default();
    exec_datafusion_err!("worker {host}:{}: {e}", url.port_or_known_default().unwrap_or_default())
}

/// A connection whose errors name the worker.
struct Named {
    url: Url,
    inner: Box<dyn WorkerChannel>,
}

impl Named {
    fn stream<T: 'static>(&self, stream: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        let url = self.url.clone();
        stream.map(move |item| item.map_err(|e| named(&url, e))).boxed()
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
        let answer = self.inner.coordinator_channel(headers, request, messages, metrics, context).await;
        Ok(self.stream(answer.map_err(|e| named(&self.url, e))?))
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let streams = self.inner.execute_task(headers, request, metrics, context).await;
        let streams = streams.map_err(|e| named(&self.url, e))?;
        Ok(streams.into_iter().map(|stream| self.stream(stream)).collect())
    }

    async fn get_worker_info(&mut self, request: GetWorkerInfoRequest) -> Result<GetWorkerInfoResponse> {
        self.inner.get_worker_info(request).await.map_err(|e| named(&self.url, e))
    }
}
