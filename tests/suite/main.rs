//! The tests that need to run on one host only. Those that depend on byte order or pointer width are in `tests/portable`.

mod bcolz_dataset;
mod bcolz_edit;
mod bcolz_salvage;
mod bcolz_verdicts;
mod bcolz_wide;
mod bcolz_write;
mod bookmarks;
#[path = "../support/vortex.rs"]
mod build;
mod codec_reference;
#[path = "../common/mod.rs"]
mod common;
mod convert;
#[cfg(feature = "embedded-io-async-07")]
mod dataseries_async;
mod dataseries_foreign;
mod dataseries_log;
mod dataseries_read;
mod dataseries_types;
mod dataseries_verdicts;
#[cfg(all(target_endian = "little", target_pointer_width = "64"))]
mod encoding_reference;
mod flat_views;
mod fuzz_targets;
mod generate;
#[path = "../harness/mod.rs"]
mod harness;
mod hostile;
mod jay_read;
mod layering;
mod ranges;
mod vortex_bounds;
mod vortex_budgets;
mod vortex_costs;
mod vortex_dense;
mod vortex_file;
mod vortex_kept;
mod vortex_log;
mod vortex_log_calls;
mod vortex_log_cuts;
mod vortex_log_damage;
mod vortex_log_replace;
mod vortex_need;
mod vortex_nested;
mod vortex_notation;
mod vortex_places;
#[cfg(feature = "vortex-preview")]
mod vortex_preview;
mod vortex_read;
mod vortex_refused;
mod vortex_shredded;
mod vortex_strict;
mod vortex_threads;
mod vortex_variant;
mod vortex_verify;
mod vortex_write;
mod vortex_writer;
mod xml;
mod zstd;
