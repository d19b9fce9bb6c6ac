//! Runs queries, on this machine or on workers.

use std::io::Write;
use std::sync::Arc;

use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::DFParser;
use datafusion_distributed::{
    DistributedExt as _, DistributedMetricsFormat, SessionStateBuilderExt as _, rewrite_distributed_plan_with_metrics,
};
use pilaster_datafusion::{Codec, register};

use super::answer::Answer;
use super::args::Args;
use super::{files, workers};

/// Returns a session, whose scans are distributed if there are workers.
pub fn session(args: &Args) -> Result<SessionContext> {
    // All files below a directory are its table.
    let mut config = SessionConfig::new().set_bool("datafusion.execution.listing_table_ignore_subdirectory", false);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    if !args.workers.is_empty() {
        // A plan of one partition has no place at which rows are passed from machine to machine.
        let partitions = config.target_partitions().max(2);
        let least = config.options().optimizer.repartition_file_min_size.min(args.split);
        config = config
            .with_target_partitions(partitions)
            .set_usize("datafusion.optimizer.repartition_file_min_size", least);
    }
    let builder = SessionStateBuilder::new().with_default_features().with_config(config);
    let builder = match &args.workers[..] {
        [] => builder,
        addresses => builder
            .with_distributed_worker_resolver(workers::Addresses::new(addresses)?)
            .with_distributed_channel_resolver(workers::Channels::default())
            .with_distributed_user_codec(Codec::default())
            .with_distributed_file_scan_config_bytes_per_partition(args.split)?
            .with_distributed_planner(),
    };
    let mut state = builder.build();
    register(&mut state)?;
    Ok(SessionContext::new_with_state(state))
}

/// Runs the statements. Rows are printed, or the rows of the last one are written to a file.
pub async fn run(args: &Args, mut out: impl Write) -> Result<()> {
    let context = session(args)?;
    let statements = DFParser::parse_sql(args.sql.as_deref().unwrap_or_default())?;
    let count = statements.len();
    if count == 0 {
        return plan_err!("there is no statement");
    }
    for (k, statement) in statements.into_iter().enumerate() {
        let state = context.state();
        files::register(&context, &state.resolve_table_references(&statement)?, &args.reading).await?;
        let plan = context.state().statement_to_plan(statement).await?;
        let plan = context.execute_logical_plan(plan).await?.create_physical_plan().await?;
        let rows = execute_stream(Arc::clone(&plan), context.task_ctx())?;
        let file = args.output.as_deref().filter(|_| k.saturating_add(1) == count);
        let answer = Answer { format: args.format, file };
        answer.write(rows, &mut out).await?;
        if !args.reading.skip_damaged {
            continue;
        }
        // The counters of workers are in the plan only after this.
        let plan = rewrite_distributed_plan_with_metrics(plan, DistributedMetricsFormat::Aggregated).await?;
        let skipped = skipped(&plan);
        if skipped > 0 {
            log::warn!("{skipped} damaged files or parts of files were left out");
        }
    }
    Ok(())
}

/// Returns how many damaged files a plan left out.
fn skipped(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name("files_skipped")).map_or(0, |sum| sum.as_usize());
    plan.children().into_iter().map(skipped).fold(own, usize::saturating_add)
}
