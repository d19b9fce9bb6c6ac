//! Byte order as a type.

use zerocopy::ByteOrder;

pub use zerocopy::{BigEndian, LittleEndian, NativeEndian};

/// A byte order, as a type parameter of readers and writers: [`LittleEndian`] or [`BigEndian`].
///
/// It extends zerocopy's `ByteOrder`, which is sealed, so there is no third one. On-disk structures have
/// `zerocopy::U32<E>` fields.
///
/// ```
/// # #[cfg(feature = "dataseries")] {
/// use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
/// use pilaster::dataseries::{File, ReadOptions};
///
/// /// Returns the number of extent types of a file, which is an error in the other byte order.
/// fn types<E: Endian>(bytes: &[u8]) -> pilaster::Result<usize> {
///     let mut memory = [0; 2048];
///     let file = File::<E>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
///     Ok(file.types().iter().count())
/// }
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// assert_eq!(types::<BigEndian>(bytes)?, 1);
/// assert!(types::<LittleEndian>(bytes).is_err());
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Endian: ByteOrder + 'static {
    /// True if this is the native byte order of the target: values in place are then borrowed, not converted.
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
