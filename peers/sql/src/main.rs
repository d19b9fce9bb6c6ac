//! Queries over files by DataFusion, with the readers of several crates: CPU time, bytes and answers.
//!
//! `sql_speed READER FILE SQL…`: READER is `pilaster`, `vortex` (vortex-datafusion) or `parquet`, and the table of the file is
//! called `t`. For each query a line: milliseconds of CPU, milliseconds by the clock, bytes read (of pilaster), and the
//! answer. The first query runs once before, so that no time has the start of threads.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use cpu_time::ProcessTime;
use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use vortex_datafusion::VortexFormatFactory;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// As many readers as the machine has processors, and the default of everything else.
fn builder() -> SessionStateBuilder {
    SessionStateBuilder::new().with_default_features().with_config(SessionConfig::new())
}

fn state(reader: &str) -> Result<SessionState> {
    if reader != "vortex" {
        let mut state = builder().build();
        pilaster_datafusion::register(&mut state)?;
        return Ok(state);
    }
    let factory = Arc::new(VortexFormatFactory::new());
    let mut builder = builder().with_table_factory("VORTEX".to_owned(), Arc::new(DefaultTableFactory::new()));
    if let Some(formats) = builder.file_formats() {
        formats.push(factory as _);
    }
    Ok(builder.build())
}

/// The sum of a counter over all nodes of a plan.
fn sum(plan: &Arc<dyn ExecutionPlan>, name: &str) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name)).map_or(0, |value| value.as_usize());
    plan.children().into_iter().fold(own, |all, child| all + sum(child, name))
}

async fn answer(context: &SessionContext, sql: &str) -> Result<(Arc<dyn ExecutionPlan>, String)> {
    let plan = context.sql(sql).await?.create_physical_plan().await?;
    let batches = collect(Arc::clone(&plan), context.task_ctx()).await?;
    let rows = datafusion::arrow::util::pretty::pretty_format_batches(&batches)?.to_string();
    let text: Vec<_> = rows.lines().filter(|line| line.starts_with('|')).skip(1).map(str::trim).collect();
    Ok((plan, text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")))
}

async fn run(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let (Some(reader), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("sql_speed READER FILE SQL…".into());
    };
    let format = match file.rsplit('.').next() {
        Some("ds") => "dataseries",
        extension => extension.unwrap_or_default(),
    }
    .to_owned();
    let context = SessionContext::new_with_state(state(&reader)?);
    let options = match (&reader[..], &format[..]) {
        ("pilaster", "dataseries") => " OPTIONS ('binary_as_string' 'true')",
        ("pilaster", _) => " OPTIONS ('trust_statistics' 'true')",
        _ => "",
    };
    let sql = format!("CREATE EXTERNAL TABLE t STORED AS {format} LOCATION '{file}'{options}");
    context.sql(&sql).await?;
    for (k, sql) in arguments.enumerate() {
        if k == 0 {
            answer(&context, &sql).await?;
        }
        let (cpu, clock) = (ProcessTime::try_now()?, Instant::now());
        let (plan, text) = answer(&context, &sql).await?;
        let (cpu, clock) = (cpu.elapsed().as_secs_f64() * 1e3, clock.elapsed().as_secs_f64() * 1e3);
        println!("{cpu:.1} {clock:.1} {} {text}", sum(&plan, "bytes_read"));
    }
    Ok(())
}

fn main() -> Result<()> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    threads.block_on(run(std::env::args().skip(1)))
}
