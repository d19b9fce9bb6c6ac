//! Words at addresses of words, for machines that load no others.

/// Whether a word at any address takes a load for each of its bytes. So it is on the smallest machines, as a
/// Cortex-M0. They are known here by what else they lack, an exchange that nothing interrupts.
pub(crate) const STRICT: bool = cfg!(not(target_has_atomic = "32"));
