//! Values of a fixed size: scalars, enums and structs.

/// A value of a fixed size, stored little-endian and at any alignment.
///
/// Implemented here for the scalars, and by generated code for enums and structs.
pub trait Fixed: Copy {
    /// Size in bytes.
    const SIZE: usize;

    /// Returns the value at the start of `bytes`, or `None` if they are too few.
    fn load(bytes: &[u8]) -> Option<Self>;
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        impl Fixed for $scalar {
            const SIZE: usize = size_of::<$scalar>();

            #[inline]
            fn load(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().map(|bytes| <$scalar>::from_le_bytes(*bytes))
            }
        }
    )*};
}

scalars! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

/// 0 is false, every other byte is true.
impl Fixed for bool {
    const SIZE: usize = 1;

    #[inline]
    fn load(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|byte| *byte != 0)
    }
}

/// The two lengths at the start of a vtable.
impl Fixed for [u16; 2] {
    const SIZE: usize = 4;

    #[inline]
    fn load(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|[a, b, c, d]| [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])])
    }
}
