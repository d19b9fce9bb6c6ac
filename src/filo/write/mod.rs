//! Filo vectors out.

mod encode;
mod len;
mod rows;

pub use encode::{encode, holds};
pub use len::{
    boolean_len, date_time_len, delta_delta_len, dict_string_len, dict_utf8_len, diff_len, fixed_max_len, masked_len,
    max_len, packed_len, repeated_len, simple_len, simple_string_len, utf8_len,
};
pub use rows::{Plain, Rows, Strings};

/// Bytes of scratch with which [`encode`] finds any `rows` strings' dictionary. Less may do if few of
/// them are different.
#[must_use]
pub const fn scratch_len(rows: usize) -> usize {
    rows.saturating_mul(34).saturating_add(256)
}
