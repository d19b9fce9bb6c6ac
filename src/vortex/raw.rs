//! Constants and identifiers of the format.

use crate::bytes::word_list;

/// First and last word of a file.
pub const MAGIC: [u8; 4] = *b"VTXF";

/// First bytes of the frame of a row group, in logs of this crate (section 17).
pub const GROUP_MAGIC: [u8; 4] = *b"PLRG";

/// Returns the offset of the first segment in the frame of a row group: after the magic, the number of rows, the length of
/// each segment and a check, at a multiple of 8 (section 17).
pub const fn group_segments_at(columns: usize) -> u64 {
    (columns as u64).saturating_mul(4).saturating_add(12 + 7) & !7
}

/// The only version of the container.
pub const VERSION: u16 = 1;

/// Size in bytes of the end of a file, after the postscript: version, length of the postscript, magic.
pub const END_LEN: u64 = 8;

/// Suggested size in bytes of a first request from the end of a file ([`File::open_input`](super::File::open_input)).
/// It contains all metadata of most files.
pub const TAIL_LEN: u64 = 1 << 16;

/// Largest alignment, as an exponent of two, that the original implementation accepts.
pub const MAX_ALIGNMENT: u8 = 16;

macro_rules! ids {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $id:literal,)* } $(preview { $($new:ident = $new_id:literal,)* })?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $id, "`.")] $variant,)*
            $($(
                #[doc = concat!("`", $new_id, "`, which is in no edition yet. Requires the feature `vortex-preview`.")]
                #[cfg(feature = "vortex-preview")]
                $new,
            )*)?
            /// An id that this version does not know.
            Unknown,
        }

        impl $name {
            /// Every known id.
            pub const ALL: &[$name] = &[$($name::$variant,)* $($(
                #[cfg(feature = "vortex-preview")]
                $name::$new,
            )*)?];

            /// The ids, in the order of [`ALL`](Self::ALL).
            const IDS: &str = if cfg!(feature = "vortex-preview") {
                concat!($($id, " ",)* $($($new_id, " ",)*)?)
            } else {
                concat!($($id, " ",)*)
            };

            /// Parses an id as it is in the footer of a file.
            #[must_use]
            pub fn of(id: &[u8]) -> Self {
                let place = word_list::place($name::IDS, id);
                place.and_then(|place| $name::ALL.get(place)).map_or($name::Unknown, |found| *found)
            }

            /// Returns the id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $($name::$variant => $id,)*
                    $($(
                        #[cfg(feature = "vortex-preview")]
                        $name::$new => $new_id,
                    )*)?
                    $name::Unknown => "unknown",
                }
            }
        }
    };
}

ids! {
    /// A layout: the distribution of rows over segments (format description, section 7).
    LayoutId {
        Flat = "vortex.flat",
        Struct = "vortex.struct",
        Chunked = "vortex.chunked",
        Dict = "vortex.dict",
        Zoned = "vortex.zoned",
        Stats = "vortex.stats",
    }
}

ids! {
    /// An array encoding (format description, section 10).
    ///
    /// ```
    /// use pilaster::vortex::{Encoding, File};
    ///
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// // The encodings of the four columns of a file.
    /// let file = File::open(bytes)?;
    /// let mut found = vec![];
    /// file.visit(false, &mut |node| {
    ///     if node.is_array {
    ///         found.push(Encoding::of(node.id));
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(found, [Encoding::Sequence; 4]);
    /// assert_eq!(Encoding::Sequence.id(), "vortex.sequence");
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    Encoding {
        Null = "vortex.null",
        Primitive = "vortex.primitive",
        Bool = "vortex.bool",
        ByteBool = "vortex.bytebool",
        Constant = "vortex.constant",
        VarBinView = "vortex.varbinview",
        VarBin = "vortex.varbin",
        List = "vortex.list",
        ListView = "vortex.listview",
        FixedSizeList = "vortex.fixed_size_list",
        Struct = "vortex.struct",
        Map = "vortex.map",
        Ext = "vortex.ext",
        Chunked = "vortex.chunked",
        Masked = "vortex.masked",
        Dict = "vortex.dict",
        RunEnd = "vortex.runend",
        Sparse = "vortex.sparse",
        Sequence = "vortex.sequence",
        ZigZag = "vortex.zigzag",
        BitPacked = "fastlanes.bitpacked",
        For = "fastlanes.for",
        Rle = "fastlanes.rle",
        Delta = "fastlanes.delta",
        Alp = "vortex.alp",
        AlpRd = "vortex.alprd",
        Fsst = "vortex.fsst",
        OnPair = "vortex.onpair",
        DateTimeParts = "vortex.datetimeparts",
        Decimal = "vortex.decimal",
        DecimalByteParts = "vortex.decimal_byte_parts",
        Zstd = "vortex.zstd",
        Pco = "vortex.pco",
        Variant = "vortex.variant",
        ParquetVariant = "vortex.parquet.variant",
    }
    preview {
        BitPackedV2 = "fastlanes.bitpacked.v2",
        ForV2 = "fastlanes.for.v2",
        DecimalBytePartsV2 = "vortex.decimal_byte_parts.v2",
    }
}

ids! {
    /// A calendar type of the standard extensions (format description, section 5).
    Calendar {
        Date = "vortex.date",
        Time = "vortex.time",
        Timestamp = "vortex.timestamp",
    }
}

/// Fields of the protobuf messages, by message.
pub mod field {
    /// `ScalarValue` (format description, section 6).
    pub mod scalar {
        /// Null.
        pub const NULL: u32 = 1;
        /// A boolean.
        pub const BOOL: u32 = 2;
        /// A signed integer, zigzag-encoded.
        pub const INT: u32 = 3;
        /// An unsigned integer.
        pub const UINT: u32 = 4;
        /// A float of 32 bits.
        pub const F32: u32 = 5;
        /// A float of 64 bits.
        pub const F64: u32 = 6;
        /// Text.
        pub const STRING: u32 = 7;
        /// A byte string or decimal.
        pub const BYTES: u32 = 8;
        /// The items of a list, or the fields of a struct.
        pub const LIST: u32 = 9;
        /// The bits of a half float.
        pub const F16: u32 = 10;
        /// The values of a `ListValue`.
        pub const ITEM: u32 = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back() {
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::of(encoding.id().as_bytes()), *encoding);
        }
        for layout in LayoutId::ALL {
            assert_eq!(LayoutId::of(layout.id().as_bytes()), *layout);
        }
        assert_eq!(Encoding::of(b"vortex.patched"), Encoding::Unknown);
    }
}
