//! What `codegen/` makes of the FlatBuffers schemas: views for all builds, planus's types for the Jay writer.
//!
//! `cargo run -p codegen` writes the files beside this one.
//!
//! | module | what |
//! |---|---|
//! | `filo`, `jay`, `vortex` | views built on [`meta::flat`](crate::meta::flat); its page says what can fail |
//! | `owned` | planus's own types of the Jay schema, with a heap and without readers |

#![allow(missing_docs, reason = "schemas have no text for each of their names")]
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

/// planus's own types, as far as they write.
#[cfg(all(feature = "alloc", feature = "jay"))]
#[allow(
    unsafe_code,
    reason = "planus writes through uninitialised memory: its traits are unsafe, and so is every implementation it makes"
)]
#[allow(
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "the Jay writer uses a part, with sizes of its own; no reader of this crate goes through these types"
)]
pub(crate) mod owned {
    pub mod jay;
}
