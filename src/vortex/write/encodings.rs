//! Which encodings may be chosen: a set, and what the releases of the original read.

use core::fmt;

use super::Profile;
use crate::vortex::raw::Encoding;

/// A set of encodings from which the writer chooses.
///
/// ```
/// use pilaster::vortex::Encoding;
/// use pilaster::vortex::write::{Encodings, WriteOptions};
///
/// let without = Encodings::DEFAULT.without(Encoding::OnPair).without(Encoding::AlpRd);
/// assert!(Encodings::DEFAULT.has(Encoding::OnPair) && !without.has(Encoding::OnPair));
/// let only = Encodings::BASIC.with(Encoding::BitPacked).with(Encoding::For);
/// let options = WriteOptions { encodings: only, ..WriteOptions::DEFAULT };
/// assert_eq!(options.check(), Ok(()));
/// assert_eq!(Encodings::COMPACT.iter().filter(|one| !Encodings::DEFAULT.has(*one)).count(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Encodings(u64);

impl Encodings {
    /// The encodings that every file may need, whatever its values are. They are always chosen from.
    pub const BASIC: Encodings = Encodings::of(&[
        Encoding::Null,
        Encoding::Primitive,
        Encoding::Bool,
        Encoding::Constant,
        Encoding::VarBin,
        Encoding::List,
        Encoding::ListView,
        Encoding::FixedSizeList,
        Encoding::Struct,
        Encoding::Map,
        Encoding::Ext,
        Encoding::Decimal,
        Encoding::Variant,
        Encoding::ParquetVariant,
    ]);

    /// The encodings that are fast to read.
    pub const DEFAULT: Encodings = Encodings::of(&[
        Encoding::VarBinView,
        Encoding::Masked,
        Encoding::Dict,
        Encoding::RunEnd,
        Encoding::Sparse,
        Encoding::Sequence,
        Encoding::ZigZag,
        Encoding::BitPacked,
        Encoding::For,
        Encoding::Rle,
        Encoding::Alp,
        Encoding::AlpRd,
        Encoding::Fsst,
        Encoding::OnPair,
        Encoding::DateTimeParts,
        Encoding::DecimalByteParts,
    ])
    .and(Encodings::BASIC);

    /// The smallest files: [`DEFAULT`](Self::DEFAULT), pco for numbers and zstd for texts. They need the features
    /// `pco-encode` and `zstd-encode`.
    pub const COMPACT: Encodings = Encodings::DEFAULT.with(Encoding::Pco).with(Encoding::Zstd);

    /// Returns the set of some encodings.
    const fn of(all: &[Encoding]) -> Self {
        let (mut set, mut rest) = (Encodings(0), all);
        while let [first, others @ ..] = rest {
            (set, rest) = (set.with(*first), others);
        }
        set
    }

    const fn and(self, other: Encodings) -> Self {
        Encodings(self.0 | other.0)
    }

    /// Returns the encodings of both sets.
    pub(super) const fn common(self, other: Encodings) -> Self {
        Encodings(self.0 & other.0)
    }

    /// Returns the set with one more encoding.
    #[must_use]
    pub const fn with(self, encoding: Encoding) -> Self {
        Encodings(self.0 | bit(encoding))
    }

    /// Returns the set without an encoding.
    #[must_use]
    pub const fn without(self, encoding: Encoding) -> Self {
        Encodings(self.0 & !bit(encoding))
    }

    /// Returns whether an encoding is in the set.
    #[must_use]
    pub const fn has(self, encoding: Encoding) -> bool {
        self.0 & bit(encoding) != 0
    }

    /// Iterates over the encodings of the set.
    pub fn iter(self) -> impl Iterator<Item = Encoding> {
        Encoding::ALL.iter().copied().filter(move |encoding| self.has(*encoding))
    }

    /// Returns the set for integers inside of another encoding of integers, so that the work is bounded.
    pub(in crate::vortex) const fn leaf(self) -> Self {
        self.without(Encoding::RunEnd).without(Encoding::Sparse).without(Encoding::Rle)
    }

    /// Returns an encoding of the set that this build cannot write, if there is one.
    pub(super) fn unwritten(self) -> Option<Encoding> {
        let all = Encodings::COMPACT;
        let all = if cfg!(feature = "pco-encode") { all } else { all.without(Encoding::Pco) };
        let all = if cfg!(feature = "zstd-encode") { all } else { all.without(Encoding::Zstd) };
        self.iter().find(|encoding| !all.has(*encoding))
    }
}

/// The place of an encoding in a set.
const fn bit(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::Unknown => 0,
        known => 1u64.wrapping_shl(known as u32),
    }
}

const _: () = assert!(Encoding::ALL.len() <= 64, "each encoding has a bit");

impl fmt::Debug for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Encoding::id)).finish()
    }
}

/// What the oldest release of a profile reads (format description, sections 2.2 and 2.4).
#[derive(Clone, Copy, Debug)]
pub(in crate::vortex) struct Edition {
    pub encodings: Encodings,
    /// Zone maps.
    pub zones: bool,
    /// The member of scalars for half floats, which replaced an unsigned integer.
    pub half_scalars: bool,
    /// The codes of `vortex.fsst` in a buffer, which replaced a `vortex.varbin`.
    pub fsst_codes: bool,
    /// The validity of a struct in a struct, both stored field by field.
    pub struct_validity: bool,
    /// Decimals by parts that are narrower than their number of digits requires.
    pub narrow_decimals: bool,
    /// Times before 1970 by parts.
    pub negative_parts: bool,
    /// The type of variants.
    #[cfg(feature = "vortex-variant")]
    pub variants: bool,
}

impl Edition {
    /// The edition core2026.08.3, without encodings that are not chosen.
    const CORE_2026: Edition = Edition {
        encodings: Encodings::COMPACT,
        zones: true,
        half_scalars: true,
        fsst_codes: true,
        struct_validity: true,
        narrow_decimals: true,
        negative_parts: true,
        #[cfg(feature = "vortex-variant")]
        variants: true,
    };

    /// The edition core2025.05.0. It lacks the basic encodings for maps, variants and lists of a fixed size, which
    /// are types that its releases do not know either.
    const CORE_2025: Edition = Edition {
        encodings: Encodings::of(&[
            Encoding::VarBinView,
            Encoding::Dict,
            Encoding::RunEnd,
            Encoding::Sparse,
            Encoding::ZigZag,
            Encoding::BitPacked,
            Encoding::For,
            Encoding::Alp,
            Encoding::AlpRd,
            Encoding::Fsst,
            Encoding::DateTimeParts,
            Encoding::DecimalByteParts,
        ])
        .and(Encodings::BASIC),
        zones: false,
        half_scalars: false,
        fsst_codes: false,
        struct_validity: false,
        narrow_decimals: false,
        negative_parts: false,
        #[cfg(feature = "vortex-variant")]
        variants: false,
    };
}

impl Profile {
    pub(in crate::vortex) const fn edition(self) -> Edition {
        match self {
            Profile::Edition2026 => Edition::CORE_2026,
            Profile::Wide => Edition::CORE_2025,
        }
    }
}
