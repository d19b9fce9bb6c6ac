//! One row.

/// The value of one row.
///
/// It says more than [`column::Value`](crate::column::Value), which has one value of one column: a date-time has two
/// columns. And it is smaller, without integers of 128 and 256 bits, which 32-bit firmware would carry around.
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
    /// A value of a string, UTF8 or blob vector; it is not checked for UTF-8 here.
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
