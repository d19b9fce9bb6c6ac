//! The fuzz bodies, compiled once for all targets.

#[path = "../../tests/harness/mod.rs"]
pub mod harness;
