//! A table of files, and the codec by which it travels to the scheduler.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{TableReference, exec_datafusion_err, plan_datafusion_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::Result;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use pilaster_datafusion::{Format, Options};

/// Files of one format. Ballista can encode tables of its own formats only, and asks the codec for this one.
#[derive(Debug)]
pub struct Files {
    table: ListingTable,
    /// What the table is made of: format, location, options.
    made: (String, String, HashMap<String, String>),
}

impl Files {
    /// Opens files, whose columns are read here.
    pub async fn open(
        state: &SessionState,
        format: &str,
        location: &str,
        options: HashMap<String, String>,
    ) -> Result<Self> {
        let made = (format.to_owned(), location.to_owned(), options);
        let config = config(&made)?.infer_schema(state).await?;
        Ok(Files { table: ListingTable::try_new(config)?, made })
    }
}

fn config((format, location, given): &(String, String, HashMap<String, String>)) -> Result<ListingTableConfig> {
    let format = format.parse().map_err(|_| plan_datafusion_err!("no format is called {format:?}"))?;
    let options = Options::new(format).with(given)?;
    let extension = options.extension();
    let listing = ListingOptions::new(Arc::new(Format::new(options))).with_file_extension(extension);
    Ok(ListingTableConfig::new(ListingTableUrl::parse(location)?).with_listing_options(listing))
}

#[async_trait]
impl TableProvider for Files {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.table.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.table.scan(state, projection, filters, limit).await
    }
}

/// Encodes tables of files; Ballista's codec does everything else.
#[derive(Debug, Default)]
pub struct Logical(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for Logical {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.0.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, buffer: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buffer)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        _: &TableReference,
        schema: SchemaRef,
        _: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let made = serde_json::from_slice(bytes).map_err(|e| exec_datafusion_err!("a table cannot be decoded: {e}"))?;
        let table = ListingTable::try_new(config(&made)?.with_schema(schema))?;
        Ok(Arc::new(Files { table, made }))
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        match table.downcast_ref::<Files>() {
            Some(files) => serde_json::to_writer(buffer, &files.made)
                .map_err(|e| exec_datafusion_err!("a table cannot be encoded: {e}")),
            None => self.0.try_encode_table_provider(name, table, buffer),
        }
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, buffer: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(buffer, format)
    }
}
