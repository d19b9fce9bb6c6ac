//! Byte order as a type.

use zerocopy::ByteOrder;

pub use zerocopy::{BigEndian, LittleEndian, NativeEndian};

/// A byte order, as a type parameter of what is parsed or stored.
///
/// It is zerocopy's `ByteOrder`, so on-disk structures have `zerocopy::U32<E>` fields; the set is
/// closed by that trait: [`LittleEndian`] and [`BigEndian`].
pub trait Endian: ByteOrder + 'static {
    /// Whether words of this order are words of the running machine: then they are borrowed.
    const IS_NATIVE: bool;
}

impl Endian for LittleEndian {
    const IS_NATIVE: bool = cfg!(target_endian = "little");
}

impl Endian for BigEndian {
    const IS_NATIVE: bool = cfg!(target_endian = "big");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_is_native() {
        assert_ne!(LittleEndian::IS_NATIVE, BigEndian::IS_NATIVE);
        assert_eq!(LittleEndian::IS_NATIVE, 1u16.to_le() == 1);
    }
}
