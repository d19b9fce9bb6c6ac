//! The CRC of bzip2 blocks, over the `crc` crate.

use crc::{CRC_32_BZIP2, Crc};

/// 16 KiB of tables are for hosts only: elsewhere the checksum is the smaller part of the decoding time.
#[cfg(feature = "std")]
type Tables = crc::Table<16>;
#[cfg(not(feature = "std"))]
type Tables = crc::Table<0>;

static BZIP2: Crc<u32, Tables> = Crc::<u32, Tables>::new(&CRC_32_BZIP2);

/// Returns the CRC-32 of bzip2: the usual polynomial, highest bit first.
///
/// ```
/// use pilaster::unstable::hash::bzip_crc;
///
/// assert_eq!(bzip_crc(b"123456789"), 0xfc89_1918);
/// ```
#[must_use]
pub fn bzip_crc(bytes: &[u8]) -> u32 {
    BZIP2.checksum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn naive(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte) << 24;
            for _ in 0..8 {
                crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
            }
        }
        !crc
    }

    #[test]
    fn agrees_with_the_bitwise_form() {
        let bytes: Vec<u8> = (0..700u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for n in [0, 1, 2, 15, 16, 17, 255, 700] {
            assert_eq!(bzip_crc(&bytes[..n]), naive(&bytes[..n]), "{n} bytes");
        }
    }
}
