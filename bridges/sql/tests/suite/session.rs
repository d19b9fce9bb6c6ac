//! Sessions and their answers.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};

/// A session with all formats that splits files of any size into `partitions`.
pub fn session(partitions: usize) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .set_usize("datafusion.optimizer.repartition_file_min_size", 1);
    let mut state = SessionStateBuilder::new().with_default_features().with_config(config).build();
    pilaster_datafusion::register(&mut state).unwrap();
    SessionContext::new_with_state(state)
}

/// Creates table `name` of the files at `location`.
pub async fn table(context: &SessionContext, name: &str, format: &str, location: &Path, options: &str) -> Result<()> {
    let options = if options.is_empty() { String::new() } else { format!(" OPTIONS ({options})") };
    let location = location.display();
    let sql = format!("CREATE EXTERNAL TABLE {name} STORED AS {format} LOCATION '{location}'{options}");
    context.sql(&sql).await.map(|_| ())
}

/// The rows of a query.
pub async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    context.sql(sql).await?.collect().await
}

/// The rows of a query as text.
pub async fn text(context: &SessionContext, sql: &str) -> Result<String> {
    Ok(pretty_format_batches(&rows(context, sql).await?)?.to_string())
}

/// The rows of a query, and the plan that counted.
pub async fn counted(context: &SessionContext, sql: &str) -> Result<(Vec<RecordBatch>, Arc<dyn ExecutionPlan>)> {
    let plan = context.sql(sql).await?.create_physical_plan().await?;
    Ok((collect(Arc::clone(&plan), context.task_ctx()).await?, plan))
}

/// The sum of a counter over all nodes and partitions of a plan.
pub fn count(plan: &Arc<dyn ExecutionPlan>, name: &str) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name)).map_or(0, |value| value.as_usize());
    own + plan.children().into_iter().map(|child| count(child, name)).sum::<usize>()
}
