//! Runs queries, on this machine or on workers.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::{ViewTable, source_as_provider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::planner::object_name_to_table_reference;
use datafusion::sql::sqlparser::ast;
use datafusion_distributed::{
    ChannelResolver, DistributedExec, DistributedExt as _, DistributedMetricsFormat, SessionStateBuilderExt as _,
    rewrite_distributed_plan_with_metrics,
};
use pilaster_cli::Form;
use pilaster_datafusion::{Codec, Dataset, Format, register, skipped};
use tokio::time::timeout;

use super::answer::{Target, explained, printed};
use super::args::Args;
use super::{Output, files, stores, workers};

/// Returns a session, whose scans are distributed if there are workers.
fn session(args: &Args, channels: &Arc<dyn ChannelResolver + Send + Sync>) -> Result<SessionContext> {
    // All files below a directory are its table.
    let mut config = SessionConfig::new().set_bool("datafusion.execution.listing_table_ignore_subdirectory", false);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.get());
    }
    if !args.workers.is_empty() {
        // A plan of one partition has no place at which rows are passed from machine to machine.
        if args.threads == Some(NonZeroUsize::MIN) {
            return plan_err!("--threads 1 is too few for --workers: rows are passed on between two readers at least");
        }
        let partitions = config.target_partitions().max(2);
        let least = config.options().optimizer.repartition_file_min_size.min(args.split);
        config = config
            .with_target_partitions(partitions)
            .set_usize("datafusion.optimizer.repartition_file_min_size", least);
    }
    let builder =
        SessionStateBuilder::new().with_default_features().with_config(config).with_runtime_env(stores::environment()?);
    let builder = match &args.workers[..] {
        [] => builder,
        addresses => builder
            .with_distributed_worker_resolver(workers::Addresses(addresses.to_vec()))
            .with_distributed_channel_resolver(Arc::clone(channels))
            .with_distributed_user_codec(Codec::default())
            .with_distributed_file_scan_config_bytes_per_partition(args.split)?
            .with_distributed_planner(),
    };
    let mut state = builder.build();
    register(&mut state)?;
    Ok(SessionContext::new_with_state(state))
}

/// Runs the statements. Rows are printed, or the rows of the last one are written to a file.
pub async fn run(args: &Args, out: Output) -> Result<()> {
    let channels = Arc::new(workers::Channels::default());
    let context = session(args, &(Arc::clone(&channels) as _))?;
    let target = args.output.as_deref().map(|path| Target::new(path, args.force)).transpose()?;
    let statements = DFParser::parse_sql(args.sql.as_deref().unwrap_or_default())?;
    let count = statements.len();
    if count == 0 {
        return plan_err!("there is no statement");
    }
    channels.greet(&args.workers).await?;
    for (k, statement) in statements.into_iter().enumerate() {
        super::forget_warnings();
        let names = read(&context, &statement)?;
        if let Some(name) = inserted(&context, &statement)?
            && !context.table_exist(name.clone())?
            && Path::new(name.table()).is_file()
        {
            return plan_err!(
                "INSERT INTO '{name}': it takes a table of CREATE EXTERNAL TABLE … LOCATION with a directory; COPY … TO writes a file"
            );
        }
        files::register(&context, &names, &args.reading).await?;
        let plan = context.state().statement_to_plan(statement).await.map_err(planned)?;
        let explains = matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_));
        let skips = args.reading.skip_damaged || skips(&plan)?;
        let plan = context.execute_logical_plan(plan).await.map_err(planned)?.create_physical_plan().await?;
        // Tasks of datafusion-distributed have this number of bytes at least.
        let least = args.split.saturating_mul(context.state().config().target_partitions());
        match (args.workers.len(), read_here(&plan)) {
            (0, _) | (_, 0) => {}
            (_, bytes) if bytes <= least => log::warn!(
                "no worker is used: the files have {bytes} bytes, and a worker reads {least} at least; --split changes it"
            ),
            (1, _) => log::warn!("no worker is used: a query is divided among two workers at least"),
            _ => {}
        }
        let rows = execute_stream(Arc::clone(&plan), context.task_ctx())?;
        match target.as_ref().filter(|_| k.saturating_add(1) == count) {
            Some(target) => target.write(rows).await?,
            None if explains && args.format == Form::Table => explained(rows, out.clone()).await?,
            None => printed(rows, args.format, out.clone()).await?,
        }
        if skips {
            report(plan, args).await;
        }
    }
    Ok(())
}

/// How long workers may take to tell what they left out, after the last row.
const REPORT: Duration = Duration::from_secs(5);

/// Warns of the damaged files that a plan left out.
async fn report(mut plan: Arc<dyn ExecutionPlan>, args: &Args) {
    if !args.workers.is_empty() {
        // The counters of workers are in the plan only after this. A worker whose rows were not needed may never tell.
        let told = rewrite_distributed_plan_with_metrics(Arc::clone(&plan), DistributedMetricsFormat::Aggregated);
        match timeout(REPORT, told).await {
            Ok(Ok(told)) => plan = told,
            _ => log::warn!("not all workers have told whether they left out damaged files"),
        }
    }
    let skipped = skipped(&plan);
    // A worker warns on its own machine only.
    for failure in &skipped {
        log::warn!("left out from the damage on: {failure}");
    }
    if !skipped.is_empty() {
        log::warn!("damaged files that were left out, from the damage on: {}", skipped.len());
    }
}

/// Whether a table that a statement created leaves out damaged files.
fn skips(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let table = source_as_provider(&scan.source)?;
            let format = table.downcast_ref::<ListingTable>().map(|listing| &listing.options().format);
            found |=
                format.and_then(|format| format.downcast_ref::<Format>()).is_some_and(|f| f.options().skip_damaged);
            found |= table.downcast_ref::<Dataset>().is_some_and(|dataset| dataset.options().skip_damaged);
            if let Some(view) = table.downcast_ref::<ViewTable>() {
                found |= skips(view.logical_plan())?;
            }
        }
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Returns an error of planning with what helps.
fn planned(e: DataFusionError) -> DataFusionError {
    let text = e.strip_backtrace();
    let help = [
        (
            "registered file format",
            "COPY writes vortex, jay, dataseries, csv, json and arrow. --output writes parquet, bcolz and Filo, too",
        ),
        ("Unable to find factory", "the formats are DATASERIES, JAY, VORTEX, FILO, BCOLZ, CSV, JSON and ARROW"),
        ("' not found", "files are named in quotes, as in FROM 'logs/a.ds'"),
    ];
    match help.iter().find(|(about, _)| text.contains(about)) {
        Some((_, help)) => plan_datafusion_err!("{text}; {help}"),
        None => e,
    }
}

/// Returns the name of the table that rows are added to.
fn inserted(context: &SessionContext, statement: &Statement) -> Result<Option<TableReference>> {
    let Statement::Statement(statement) = statement else { return Ok(None) };
    let ast::Statement::Insert(insert) = &**statement else { return Ok(None) };
    let ast::TableObject::TableName(name) = &insert.table else { return Ok(None) };
    let normal = context.state().config_options().sql_parser.enable_ident_normalization;
    object_name_to_table_reference(name.clone(), normal).map(Some)
}

/// Returns the names of tables that a statement reads, or writes to, without the name that it creates.
fn read(context: &SessionContext, statement: &Statement) -> Result<Vec<TableReference>> {
    let state = context.state();
    let created = match statement {
        // It refers to no other table.
        Statement::CreateExternalTable(_) => return Ok(Vec::new()),
        Statement::Statement(statement) => match &**statement {
            ast::Statement::CreateTable(table) => Some(&table.name),
            ast::Statement::CreateView(view) => Some(&view.name),
            _ => None,
        },
        _ => None,
    };
    let normal = state.config_options().sql_parser.enable_ident_normalization;
    let created = created.map(|name| object_name_to_table_reference(name.clone(), normal)).transpose()?;
    let mut names = state.resolve_table_references(statement)?;
    names.retain(|name| Some(name) != created.as_ref());
    Ok(names)
}

/// Returns the number of bytes of files that a plan reads without workers.
fn read_here(plan: &Arc<dyn ExecutionPlan>) -> usize {
    if plan.downcast_ref::<DistributedExec>().is_some() {
        return 0;
    }
    let scan =
        plan.downcast_ref::<DataSourceExec>().and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    let files = scan.iter().flat_map(|scan| &scan.file_groups).flat_map(|group| group.iter());
    let own = files.map(|file| usize::try_from(file.effective_size()).unwrap_or(usize::MAX));
    own.chain(plan.children().into_iter().map(read_here)).fold(0, usize::saturating_add)
}
