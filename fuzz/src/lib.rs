//! The fuzz bodies, compiled once for all targets.

#[path = "../../tests/harness/mod.rs"]
pub mod harness;

/// The bodies of the bridge to Arrow, which lie there.
#[path = "../../bridges/arrow/tests/harness/arrays.rs"]
pub mod arrow_arrays;
#[path = "../../bridges/arrow/tests/harness/mod.rs"]
pub mod arrow_batches;
#[path = "../../bridges/arrow/tests/harness/input.rs"]
pub mod arrow_input;
