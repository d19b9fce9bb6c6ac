//! The two CRCs of 32 bits that formats here use, over the `crc` crate.
//!
//! Tables of 16 KiB are for hosts only. Elsewhere one table of 1 KiB serves for CRC-32C, as logs are written by it, and
//! none for bzip2's: that is the smaller part of what decoding it takes.

use crc::{CRC_32_BZIP2, CRC_32_ISCSI, Crc, Digest};

#[cfg(feature = "std")]
type Bzip2 = crc::Table<16>;
#[cfg(not(feature = "std"))]
type Bzip2 = crc::Table<0>;

#[cfg(feature = "std")]
type Castagnoli = crc::Table<16>;
#[cfg(not(feature = "std"))]
type Castagnoli = crc::Table<1>;

static BZIP2: Crc<u32, Bzip2> = Crc::<u32, Bzip2>::new(&CRC_32_BZIP2);
static CASTAGNOLI: Crc<u32, Castagnoli> = Crc::<u32, Castagnoli>::new(&CRC_32_ISCSI);

macro_rules! checksum {
    ($(#[$doc:meta])* $name:ident, $crc:ident, $tables:ty) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Digest<'static, u32, $tables>);

        impl $name {
            /// Of no bytes yet.
            #[must_use]
            pub fn new() -> Self {
                Self($crc.digest())
            }

            /// The checksum of `bytes`.
            #[must_use]
            pub fn of(bytes: &[u8]) -> u32 {
                $crc.checksum(bytes)
            }

            /// Takes the next bytes.
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }

            /// The checksum of all bytes so far.
            #[must_use]
            pub fn value(&self) -> u32 {
                self.0.clone().finalize()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($name), "({:#010x})"), self.value())
            }
        }
    };
}

checksum! {
    /// CRC-32 as bzip2 counts it: the usual polynomial, highest bit first.
    ///
    /// ```
    /// use pilaster::hash::BzipCrc;
    ///
    /// assert_eq!(BzipCrc::of(b"123456789"), 0xfc89_1918);
    /// let mut crc = BzipCrc::new();
    /// crc.update(b"12345");
    /// crc.update(b"6789");
    /// assert_eq!(crc.value(), 0xfc89_1918);
    /// ```
    BzipCrc, BZIP2, Bzip2
}

checksum! {
    /// CRC-32C, of Castagnoli's polynomial: better at short bursts than the usual one.
    ///
    /// ```
    /// use pilaster::hash::Crc32c;
    ///
    /// assert_eq!(Crc32c::of(b"123456789"), 0xe306_9283);
    /// ```
    Crc32c, CASTAGNOLI, Castagnoli
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bzip2_naive(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte) << 24;
            for _ in 0..8 {
                crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
            }
        }
        !crc
    }

    fn castagnoli_naive(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            }
        }
        !crc
    }

    #[test]
    fn known_answers() {
        // RFC 3720, section B.4, for the 32 bytes.
        assert_eq!(Crc32c::of(&[0; 32]), 0x8a91_36aa);
        assert_eq!(Crc32c::of(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(Crc32c::of(b""), 0);
        assert_eq!(BzipCrc::of(b""), 0);
    }

    #[test]
    fn agree_with_the_bitwise_form_in_pieces() {
        let bytes: Vec<u8> = (0..700u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for n in [1, 2, 15, 16, 17, 255, 700] {
            let (mut bzip, mut castagnoli) = (BzipCrc::new(), Crc32c::default());
            for piece in bytes[..n].chunks(37) {
                bzip.update(piece);
                castagnoli.update(piece);
            }
            assert_eq!(bzip.value(), bzip2_naive(&bytes[..n]), "{n} bytes");
            assert_eq!(castagnoli.value(), castagnoli_naive(&bytes[..n]), "{n} bytes");
        }
    }
}
