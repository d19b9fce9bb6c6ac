//! The fuzz bodies, compiled once for all targets.

#[path = "../../tests/harness/mod.rs"]
pub mod harness;

/// The body of the bridge to Arrow, which lies there.
#[path = "../../bridges/arrow/tests/harness/mod.rs"]
pub mod arrow_batches;
