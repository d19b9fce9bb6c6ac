//! Value encodings.
