//! SQL over files of every format.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

#[path = "../../../../tests/common/mod.rs"]
mod common;
mod counting;
mod made;
mod session;

#[cfg(feature = "tool")]
mod answers;
#[cfg(feature = "tool")]
mod cluster;
#[cfg(feature = "codec")]
mod codec;
mod damaged;
#[cfg(feature = "tool")]
mod documented;
mod filtered;
mod goldens;
#[cfg(feature = "tool")]
mod helped;
mod pruned;
mod remote;
#[cfg(feature = "remote")]
mod served;
#[cfg(feature = "remote")]
mod server;
mod split;
mod tables;
#[cfg(feature = "tool")]
mod tool;
#[cfg(feature = "tool")]
mod workers;
mod written;
