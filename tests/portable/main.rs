//! The tests that depend on byte order or pointer width: the golden files, and what is written and read again. They also
//! run on other hosts (`.ci/s390x`, `.ci/i686`) and with the small code (`.ci/small`).

mod append;
mod auto;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod dataseries_write;
mod golden;
#[path = "../harness/mod.rs"]
mod harness;
mod jay_write;
mod like_original;
mod roundtrip;
mod support;
mod upstream;
mod write_golden;
