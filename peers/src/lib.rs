//! The code that several programs of this folder share.

pub mod filo;
pub mod random;
