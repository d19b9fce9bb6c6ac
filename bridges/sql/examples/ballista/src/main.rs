//! SQL over files of pilaster by Apache DataFusion Ballista: a scheduler and an executor in this process, to which plans travel as bytes.
//! `cargo run -- FORMAT LOCATION SQL`, where the table of the files is called `t`. From the root of the sources:
//!
//! ```sh
//! cargo run --manifest-path bridges/sql/examples/ballista/Cargo.toml -- \
//!   dataseries 'tests/golden/dataseries/sensor_log_*.ds' 'select dev, count(*) as n from t group by dev order by dev'
//! ```
//!
//! Ballista plans at the scheduler, so that the table travels, too: by a logical codec. The scans go to the executors by the physical
//! codec of `pilaster-datafusion`. Executables of a cluster (`remote_with_state`) need both codecs in their configuration.

mod logical;
mod physical;

use std::collections::HashMap;
use std::sync::Arc;

use ballista::prelude::{SessionConfigExt as _, SessionContextExt as _};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::logical::{Files, Logical};
use crate::physical::Physical;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [format, location, sql] = &arguments[..] else {
        return Err(DataFusionError::Plan("give a format, a location and a query".to_owned()));
    };
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(2)
        .with_ballista_logical_extension_codec(Arc::new(Logical::default()))
        .with_ballista_physical_extension_codec(Arc::new(Physical::default()));
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    let context = SessionContext::standalone_with_state(state).await?;
    // DataSeries stores texts as bytes.
    let options = match &format[..] {
        "dataseries" => HashMap::from([("binary_as_string".to_owned(), "true".to_owned())]),
        _ => HashMap::new(),
    };
    let files = Files::open(&context.state(), format, location, options).await?;
    context.register_table("t", Arc::new(files))?;
    context.sql(sql).await?.show().await
}
