//! What `codegen/` makes of the FlatBuffers schemas: views for all builds, planus's types with a heap.
//!
//! Not part of the public interface: it is `pub` so that tests and fuzz targets can hold the two
//! against each other. `cargo run -p codegen` writes the files beside this one.
//!
//! | module | what |
//! |---|---|
//! | `filo`, `jay`, `vortex` | views built on [`meta::flat`](crate::meta::flat); its page says what can fail |
//! | `owned` | planus's own types of the same schemas, with a heap: they write |

#![allow(
    clippy::len_without_is_empty,
    reason = "an accessor `len` of a generated view reads the schema's field of that name"
)]

#[cfg(feature = "filo")]
pub mod filo;
#[cfg(feature = "jay")]
pub mod jay;
#[cfg(feature = "vortex")]
pub mod vortex;

/// planus's own types.
#[cfg(feature = "alloc")]
#[allow(
    unsafe_code,
    reason = "planus writes through uninitialised memory: its traits are unsafe, and so is every implementation it makes"
)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "the writing side computes with sizes of its own; no reader of this crate goes through these types"
)]
pub mod owned {
    /// The run time of these types, for who compares them with the views.
    pub use planus;

    #[cfg(feature = "filo")]
    pub mod filo;
    #[cfg(feature = "jay")]
    pub mod jay;
    #[cfg(feature = "vortex")]
    pub mod vortex;
}
