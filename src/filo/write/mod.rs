//! Filo vectors out.

pub mod append;
mod binary;
mod cells;
mod choose;
mod dictionary;
mod encode;
mod flat;
mod flat_strings;
mod len;
mod mask;
mod original;
mod out;
mod rows;
mod stats;
mod texts;
mod utf8;
mod width;

pub use binary::line;
pub use choose::{choose, encode_auto};
pub use dictionary::{Dictionary, scratch_len};
pub use encode::{encode, holds};
pub use flat_strings::dict_string;
pub use len::{
    boolean_len, date_time_len, delta_delta_len, dict_string_len, dict_utf8_len, diff_len, fixed_max_len, masked_len,
    max_len, packed_len, repeated_len, simple_len, simple_string_len, utf8_len,
};
pub use original::{Builder, Hint, Original, choose_like_original, encode_like_original};
pub use rows::{Plain, Rows, Strings};
pub use utf8::dict_utf8;
