//! Scans that travel to workers.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion_common::tree_node::TreeNode as _;
use datafusion_common::{DataFusionError, Result, exec_datafusion_err, exec_err, not_impl_err};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::source::DataSourceExec;
use datafusion_execution::TaskContext;
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::from_proto::{parse_protobuf_file_scan_config, parse_table_schema_from_proto};
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use prost::Message as _;

use crate::heads::Heads;
use crate::options::Options;
use crate::order::Order;
use crate::source::Source;

/// Encodes scans of files, with predicate and options. Coordinator and workers must have the same codecs, in the same order.
#[derive(Clone, Debug, Default)]
pub struct Codec {
    /// The metadata of files, for all scans of a worker.
    heads: Arc<Heads>,
}

/// A scan.
#[derive(Clone, PartialEq, prost::Message)]
struct Scan {
    #[prost(message, optional, tag = "1")]
    base: Option<protobuf::FileScanExecConf>,
    /// Is not in `base`. The worker applies it, and leaves out rows by statistics.
    #[prost(message, optional, tag = "2")]
    predicate: Option<protobuf::PhysicalExprNode>,
    #[prost(message, optional, tag = "3")]
    options: Option<Choices>,
    /// The column by which rows are wanted first.
    #[prost(string, optional, tag = "4")]
    first_by: Option<String>,
    #[prost(bool, tag = "5")]
    descending: bool,
    /// The directory of a dataset.
    #[prost(string, optional, tag = "6")]
    directory: Option<String>,
    /// The version of each file, which `base` does not have. Empty: unknown. Local file systems of several machines tell different
    /// versions of copies of a file; their times of change, which are in `base`, can be the same.
    #[prost(string, repeated, tag = "7")]
    versions: Vec<String>,
    /// The version of this crate that encoded the scan. Another one may apply other parts of the predicate.
    #[prost(string, tag = "8")]
    crate_version: String,
}

/// The version of this crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the versions of the files of a scan; none if they are unknown.
fn versions(scan: &FileScanConfig) -> Vec<String> {
    let version = |file: &PartitionedFile| file.object_meta.e_tag.clone().unwrap_or_default();
    let versions: Vec<_> = scan.file_groups.iter().flat_map(FileGroup::iter).map(version).collect();
    let known = versions.iter().any(|version| !version.is_empty());
    if known && scan.object_store_url != ObjectStoreUrl::local_filesystem() { versions } else { Vec::new() }
}

/// Whether a predicate has a subquery, whose value only the plan above has.
fn has_subquery(predicate: &Arc<dyn PhysicalExpr>) -> bool {
    let is_subquery = |part: &Arc<dyn PhysicalExpr>| Ok(part.downcast_ref::<ScalarSubqueryExpr>().is_some());
    predicate.exists(is_subquery).unwrap_or(true)
}

/// Sets the versions of the files of a scan.
fn set_versions(scan: &mut FileScanConfig, versions: Vec<String>) -> Result<()> {
    let files = scan.file_groups.iter().fold(0usize, |sum, group| sum.saturating_add(group.len()));
    if versions.is_empty() {
        return Ok(());
    }
    if versions.len() != files {
        return exec_err!(
            "a scan of {files} files with {} versions; is the coordinator another version?",
            versions.len()
        );
    }
    let mut versions = versions.into_iter();
    for group in &mut scan.file_groups {
        let mut files = std::mem::take(group).into_inner();
        for (file, version) in files.iter_mut().zip(versions.by_ref()) {
            file.object_meta.e_tag = Some(version).filter(|version| !version.is_empty());
        }
        *group = FileGroup::new(files);
    }
    Ok(())
}

/// [`Options`].
#[derive(Clone, PartialEq, prost::Message)]
struct Choices {
    #[prost(string, tag = "1")]
    format: String,
    #[prost(string, optional, tag = "2")]
    table: Option<String>,
    #[prost(string, optional, tag = "3")]
    element: Option<String>,
    #[prost(string, optional, tag = "4")]
    dtype: Option<String>,
    #[prost(bool, tag = "5")]
    sequential: bool,
    #[prost(bool, tag = "6")]
    tolerant: bool,
    #[prost(bool, tag = "7")]
    trust_statistics: bool,
    #[prost(bool, tag = "8")]
    skip_damaged: bool,
    #[prost(bool, tag = "9")]
    binary_as_string: bool,
}

impl From<&Options> for Choices {
    fn from(options: &Options) -> Self {
        Choices {
            format: options.format.name().to_owned(),
            table: options.table.clone(),
            element: options.element.map(|element| element.to_string()),
            dtype: options.dtype.clone(),
            sequential: options.sequential,
            tolerant: options.tolerant,
            trust_statistics: options.trust_statistics,
            skip_damaged: options.skip_damaged,
            binary_as_string: options.binary_as_string,
        }
    }
}

impl TryFrom<Choices> for Options {
    type Error = DataFusionError;

    fn try_from(choices: Choices) -> Result<Self> {
        let unknown = |what: &str| exec_datafusion_err!("this worker does not know {what}; is it another version?");
        let element = choices.element.map(|name| name.parse().map_err(|_| unknown(&name))).transpose()?;
        Ok(Options {
            format: choices.format.parse().map_err(|_| unknown(&choices.format))?,
            table: choices.table,
            element,
            dtype: choices.dtype,
            sequential: choices.sequential,
            tolerant: choices.tolerant,
            trust_statistics: choices.trust_statistics,
            skip_damaged: choices.skip_damaged,
            binary_as_string: choices.binary_as_string,
        })
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let scan = node.downcast_ref::<DataSourceExec>().and_then(|exec| {
            let scan = exec.data_source().downcast_ref::<FileScanConfig>()?;
            Some((scan, scan.file_source().downcast_ref::<Source>()?))
        });
        let Some((scan, source)) = scan else {
            return not_impl_err!("{} is no scan of pilaster", node.name());
        };
        let (predicate, order) = source.chosen(scan);
        if predicate.as_ref().is_some_and(has_subquery) {
            return not_impl_err!(
                "a scan whose condition has a subquery cannot be sent to workers; `SET \
                 datafusion.optimizer.enable_physical_uncorrelated_scalar_subquery = false` makes it a join"
            );
        }
        let predicate = predicate.map(|predicate| converter.physical_expr_to_proto(&predicate, self));
        let text = |path: &PathBuf| path.to_str().map(ToOwned::to_owned);
        let directory = source
            .directory()
            .map(|path| text(path).ok_or_else(|| exec_datafusion_err!("{}: the path is not UTF-8", path.display())));
        let message = Scan {
            base: Some(serialize_file_scan_config(scan, self, converter)?),
            predicate: predicate.transpose()?,
            options: Some(source.options().into()),
            descending: order.as_ref().is_some_and(|order| order.descending),
            first_by: order.map(|order| order.column),
            directory: directory.transpose()?,
            versions: versions(scan),
            crate_version: VERSION.to_owned(),
        };
        message.encode(buffer).map_err(|e| exec_datafusion_err!("a scan cannot be encoded: {e}"))
    }

    fn try_decode(
        &self,
        bytes: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message = Scan::decode(bytes).map_err(|e| exec_datafusion_err!("a scan cannot be decoded: {e}"))?;
        if message.crate_version != VERSION {
            return exec_err!(
                "a scan of pilaster-datafusion {:?}, and this one is {VERSION:?}: coordinator and workers must have the same version",
                message.crate_version
            );
        }
        let missing = |what: &str| exec_datafusion_err!("a scan without {what}; is the coordinator another version?");
        let base = message.base.ok_or_else(|| missing("files"))?;
        let options: Options = message.options.ok_or_else(|| missing("options"))?.try_into()?;
        let context = PhysicalPlanDecodeContext::new(context, self);
        let table = parse_table_schema_from_proto(&base)?;
        // A predicate may refer to columns that are parts of paths.
        let predicate = message
            .predicate
            .map(|predicate| converter.proto_to_physical_expr(&predicate, table.table_schema(), &context))
            .transpose()?;
        let descending = message.descending;
        let source = Source::new(table, options)
            .with_predicate(predicate)
            .with_heads(Arc::clone(&self.heads))
            .with_order(message.first_by.map(|column| Order { column, descending }))
            .with_directory(message.directory.map(PathBuf::from));
        let mut scan = parse_protobuf_file_scan_config(&base, &context, converter, Arc::new(source))?;
        set_versions(&mut scan, message.versions)?;
        Ok(DataSourceExec::from_data_source(scan))
    }
}
