//! The codec of scans, beside the one of Ballista's own nodes.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use pilaster_datafusion::Codec;

/// Encodes a node by the codec that has it. The first byte tells which.
#[derive(Debug, Default)]
pub struct Physical {
    ballista: BallistaPhysicalExtensionCodec,
    scans: Codec,
}

const BALLISTA: u8 = 0;
const SCAN: u8 = 1;

impl PhysicalExtensionCodec for Physical {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let start = buffer.len();
        buffer.push(SCAN);
        let Err(ours) = self.scans.try_encode(Arc::clone(&node), buffer, converter) else { return Ok(()) };
        buffer.truncate(start);
        buffer.push(BALLISTA);
        self.ballista.try_encode(node, buffer, converter).map_err(|theirs| exec_datafusion_err!("{ours}; {theirs}"))
    }

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match bytes.split_first() {
            Some((&SCAN, bytes)) => self.scans.try_decode(bytes, inputs, context, converter),
            Some((_, bytes)) => self.ballista.try_decode(bytes, inputs, context, converter),
            None => Err(exec_datafusion_err!("a node without bytes")),
        }
    }
}
