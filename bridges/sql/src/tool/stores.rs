//! Stores of the files that queries name: the local file system, and servers, which are connected when a query first names one.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::error::Result;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::ObjectStore;
use url::Url;

/// Returns what sessions of coordinators and workers share: the stores.
pub fn environment() -> Result<Arc<RuntimeEnv>> {
    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default())).build_arc()
}

/// Returns an error for a URL with a user or a password, which plans and errors would show, and a connection would share.
pub fn without_user(url: &Url) -> Result<()> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(());
    }
    let host = url.host_str().unwrap_or_default();
    datafusion::common::plan_err!(
        "a URL of {host} has a user or a password, which plans and errors would show: leave it out"
    )
}

/// The stores, each of which is connected once: metadata of files are kept for a store.
#[derive(Debug, Default)]
struct Stores {
    known: DefaultObjectStoreRegistry,
    connecting: Mutex<()>,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.known.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        without_user(url)?;
        let _one = self.connecting.lock().unwrap_or_else(PoisonError::into_inner);
        self.known.get_store(url).or_else(|unknown| match connected(url)? {
            Some(store) => {
                self.known.register_store(url, Arc::clone(&store));
                Ok(store)
            }
            None => Err(unknown),
        })
    }
}

/// How long an answer may take. A chunk may have a hundred megabytes, which take long where the line is slow; a server that accepts
/// connections and does not answer is an error after this time.
#[cfg(feature = "remote")]
const TIMEOUT: &str = "90 seconds";

#[cfg(feature = "remote")]
fn connected(url: &Url) -> Result<Option<Arc<dyn ObjectStore>>> {
    use std::time::Duration;

    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
    use object_store::http::HttpBuilder;
    use object_store::{ClientConfigKey, ClientOptions, RetryConfig};

    use super::named::Named;

    // A server that refuses connections is an error after seconds, not minutes.
    let retry = RetryConfig { max_retries: 5, retry_timeout: Duration::from_secs(30), ..RetryConfig::default() };
    Ok(match url.scheme() {
        "http" | "https" => {
            let origin = &url[..url::Position::BeforePath];
            let options = ClientOptions::new().with_allow_http(true).with_config(ClientConfigKey::Timeout, TIMEOUT);
            let store = HttpBuilder::new().with_url(origin).with_client_options(options).with_retry(retry).build()?;
            Some(Arc::new(Named::new(store, origin)))
        }
        "s3" => {
            let store = AmazonS3Builder::from_env().with_bucket_name(url.host_str().unwrap_or_default());
            let store = match std::env::var_os("AWS_TIMEOUT") {
                Some(_) => store,
                None => store.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), TIMEOUT),
            };
            Some(Arc::new(Named::new(store.with_retry(retry).build()?, &url[..url::Position::BeforePath])))
        }
        _ => None,
    })
}

#[cfg(not(feature = "remote"))]
fn connected(url: &Url) -> Result<Option<Arc<dyn ObjectStore>>> {
    match url.scheme() {
        "http" | "https" | "s3" => datafusion::common::plan_err!(
            "{url}: this pilaster-sql was built without remote files; build it with --features tool,remote"
        ),
        _ => Ok(None),
    }
}
