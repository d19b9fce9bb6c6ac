//! The value of one row.

/// The value of one row.
///
/// In contrast to [`column::Value`](crate::column::Value), which is a value of one column, it has both columns of a
/// date-time. It is also smaller on 32-bit targets, because it has no integers of 128 and 256 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A value of a boolean vector.
    Boolean(bool),
    /// A value of an int vector.
    Int(i32),
    /// A value of a long vector.
    Long(i64),
    /// A value of a float vector.
    Float(f32),
    /// A value of a double vector.
    Double(f64),
    /// A value of a string, UTF8 or blob vector. Whether it is valid UTF-8 is not checked.
    Bytes(&'a [u8]),
    /// A value of a timestamp vector: milliseconds since 1970-01-01.
    Timestamp(i64),
    /// A value of a date-time vector.
    DateTime {
        /// Milliseconds since 1970-01-01T00:00Z.
        millis: i64,
        /// Offset from UTC in milliseconds, east positive, in whole quarters of an hour.
        offset_ms: i32,
    },
}
