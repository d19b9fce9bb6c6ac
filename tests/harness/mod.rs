//! The fuzz bodies. `cargo test` and the targets under `fuzz/` run the same functions: a target is
//! three lines, and a test fails if one is missing (`tests/fuzz_targets.rs`).
//!
//! A body is `pub fn run(data: &[u8])` in a file of its own. It parses, then walks everything that
//! the interface offers, and asserts what must hold whatever the bytes are. It allocates nothing, so
//! that `tests/no_heap.rs` can run it too, and its work is bounded by the length of `data`: a vector
//! of a few bytes may claim 2^31 rows.

#![allow(dead_code, reason = "each user of this directory takes a part of it")]

pub mod bcolz_chunk;
pub mod bcolz_meta;
pub mod bcolz_roundtrip;
pub mod bytes;
pub mod cell;
pub mod codec;
pub mod codec_blosclz;
pub mod codec_bzip2;
pub mod codec_host;
pub mod codec_lz4;
pub mod codec_lzf;
pub mod codec_lzo;
pub mod codec_roundtrip;
pub mod codec_shuffle;
pub mod codec_snappy;
pub mod codec_zlib;
pub mod codec_zstd;
pub mod dataseries;
pub mod dataseries_extent;
pub mod dataseries_file;
pub mod dataseries_header;
pub mod dataseries_index;
pub mod dataseries_log;
pub mod dataseries_recover;
pub mod dataseries_roundtrip;
pub mod dataseries_trailer;
pub mod dataseries_types;
pub mod filo_append;
pub mod filo_damage;
pub mod filo_dirty;
pub mod filo_roundtrip;
pub mod filo_rows;
pub mod filo_vector;
pub mod flat;
pub mod jay_file;
pub mod jay_meta;
pub mod jay_roundtrip;
pub mod jay_strings;
pub mod jay_tail;
pub mod json;
pub mod proto;
pub mod vortex;
pub mod vortex_array;
pub mod vortex_dtype;
pub mod vortex_file;
pub mod vortex_footer;
pub mod vortex_lanes;
pub mod vortex_layout;
pub mod vortex_metadata;
pub mod vortex_numbers;
pub mod vortex_pco;
pub mod vortex_texts;
pub mod walk;
pub mod xml;

/// What a fuzz target runs.
pub type Body = fn(&[u8]);

/// Every body under its name, which is also that of its file and its fuzz target.
pub const TARGETS: &[(&str, Body)] = &[
    ("bytes", bytes::run),
    ("codec_lz4", codec_lz4::run),
    ("codec_lzf", codec_lzf::run),
    ("codec_snappy", codec_snappy::run),
    ("codec_lzo", codec_lzo::run),
    ("codec_zlib", codec_zlib::run),
    ("codec_bzip2", codec_bzip2::run),
    ("codec_roundtrip", codec_roundtrip::run),
    ("codec_host", codec_host::run),
    ("codec_blosclz", codec_blosclz::run),
    ("codec_zstd", codec_zstd::run),
    ("codec_shuffle", codec_shuffle::run),
    ("flat", flat::run),
    ("filo_vector", filo_vector::run),
    ("filo_dirty", filo_dirty::run),
    ("filo_roundtrip", filo_roundtrip::run),
    ("filo_append", filo_append::run),
    ("filo_damage", filo_damage::run),
    ("dataseries_header", dataseries_header::run),
    ("dataseries_trailer", dataseries_trailer::run),
    ("dataseries_types", dataseries_types::run),
    ("dataseries_index", dataseries_index::run),
    ("dataseries_extent", dataseries_extent::run),
    ("dataseries_file", dataseries_file::run),
    ("dataseries_roundtrip", dataseries_roundtrip::run),
    ("dataseries_log", dataseries_log::run),
    ("dataseries_recover", dataseries_recover::run),
    ("bcolz_chunk", bcolz_chunk::run),
    ("bcolz_roundtrip", bcolz_roundtrip::run),
    ("json", json::run),
    ("bcolz_meta", bcolz_meta::run),
    ("jay_tail", jay_tail::run),
    ("jay_meta", jay_meta::run),
    ("jay_strings", jay_strings::run),
    ("jay_file", jay_file::run),
    ("jay_roundtrip", jay_roundtrip::run),
    ("xml", xml::run),
    ("proto", proto::run),
    ("vortex_file", vortex_file::run),
    ("vortex_array", vortex_array::run),
    ("vortex_dtype", vortex_dtype::run),
    ("vortex_footer", vortex_footer::run),
    ("vortex_lanes", vortex_lanes::run),
    ("vortex_layout", vortex_layout::run),
    ("vortex_metadata", vortex_metadata::run),
    ("vortex_numbers", vortex_numbers::run),
    ("vortex_pco", vortex_pco::run),
    ("vortex_texts", vortex_texts::run),
];
