//! The fuzz bodies. `cargo test` and the targets under `fuzz/` run the same functions: a target is
//! three lines, and a test fails if one is missing (`tests/suite/fuzz_targets.rs`).
//!
//! A body is `pub fn run(data: &[u8])` in a file of its own. It parses, then walks everything that
//! the interface offers, and asserts what must hold whatever the bytes are. It allocates nothing, so
//! that `tests/no_heap.rs` can run it too, and its work is bounded by the length of `data`: a vector
//! of a few bytes may claim 2^31 rows.

#![allow(dead_code, reason = "each user of this directory takes a part of it")]

pub mod any_file;
pub mod bcolz_chunk;
pub mod bcolz_dataset;
pub mod bcolz_meta;
pub mod bcolz_roundtrip;
pub mod bytes;
pub mod cell;
pub mod codec;
pub mod codec_host;
pub mod codec_roundtrip;
pub mod codec_shuffle;
pub mod codec_zstd;
pub mod dataseries;
pub mod dataseries_chunks;
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
pub mod generate;
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
pub mod vortex_log;
pub mod vortex_metadata;
pub mod vortex_notation;
pub mod vortex_numbers;
pub mod vortex_pco;
pub mod vortex_roundtrip;
pub mod vortex_rows;
pub mod vortex_texts;
pub mod vortex_written;
pub mod walk;
pub mod xml;

/// Whether all bytes are `byte`: as slices, of which a fuzzer traces one comparison, not one per byte.
pub fn filled(bytes: &[u8], byte: u8) -> bool {
    bytes.chunks(256).all(|part| *part == [byte; 256][..part.len()])
}

/// Runs a check without the vectors of this processor, and with them. The choice is one for all threads, so one check runs at a time.
pub fn with_each_lanes(check: impl Fn()) {
    use pilaster::unstable::simd::ONLY_PLAIN;
    use std::sync::{Mutex, PoisonError, atomic::Ordering};

    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for plain in [true, false] {
        ONLY_PLAIN.store(plain, Ordering::Relaxed);
        check();
    }
}

/// The bodies of the codecs that have no dictionary: the input is a stream, see [`codec::decode`].
macro_rules! decoders {
    ($($name:ident $codec:ident),*) => {$(
        pub mod $name {
            pub fn run(data: &[u8]) {
                super::codec::decode(pilaster::unstable::codec::Codec::$codec, data);
            }
        }
    )*};
}

decoders!(codec_blosclz Blosclz, codec_bzip2 Bzip2, codec_lz4 Lz4, codec_lzf Lzf, codec_lzo Lzo, codec_snappy Snappy);
decoders!(codec_zlib Zlib);

/// The bodies that make a file, bend it and read it. The input is what `generate` makes of it.
macro_rules! makers {
    ($($name:ident $format:ident),*) => {$(
        pub mod $name {
            pub fn run(data: &[u8]) {
                made(data);
            }

            /// Tells what became of the input; `None` if it is too short to be one.
            pub fn made(data: &[u8]) -> Option<super::generate::Reach> {
                use super::generate::$format::{Made, check};
                let mut input = arbitrary::Unstructured::new(data);
                Some(check(&arbitrary::Arbitrary::arbitrary(&mut input).ok().filter(|_: &Made| !data.is_empty())?))
            }
        }
    )*};
}

makers!(filo_made filo, dataseries_made dataseries, jay_made jay, bcolz_made bcolz, vortex_made vortex);

/// What a fuzz target runs.
pub type Body = fn(&[u8]);

macro_rules! targets {
    ($($name:ident)*) => { &[$((stringify!($name), $name::run)),*] };
}

/// Every body under the name of its module and fuzz target.
pub const TARGETS: &[(&str, Body)] = targets! {
    bytes codec_lz4 codec_lzf codec_snappy codec_lzo codec_zlib codec_bzip2 codec_roundtrip codec_host codec_blosclz
    codec_zstd codec_shuffle flat filo_vector filo_dirty filo_roundtrip filo_append filo_damage dataseries_header
    dataseries_trailer dataseries_types dataseries_index dataseries_extent dataseries_file dataseries_roundtrip
    dataseries_log dataseries_recover dataseries_chunks bcolz_chunk bcolz_dataset bcolz_roundtrip json bcolz_meta jay_tail
    jay_meta jay_strings
    any_file filo_made dataseries_made jay_made bcolz_made vortex_made jay_file jay_roundtrip xml proto vortex_file vortex_array vortex_dtype vortex_footer vortex_lanes vortex_layout
    vortex_log vortex_metadata vortex_notation vortex_numbers vortex_pco vortex_roundtrip vortex_texts
    vortex_written
};
