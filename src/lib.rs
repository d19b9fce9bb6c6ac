//! Columnar file formats over borrowed byte slices, without a heap.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod bytes;
pub mod column;
pub mod encoding;
pub mod error;
#[doc(hidden)]
pub mod generated;
pub mod hash;
pub mod limits;
pub mod meta;

#[cfg(feature = "filo")]
pub mod filo;

pub use error::{Error, Result};
