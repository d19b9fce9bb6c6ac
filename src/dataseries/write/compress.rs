//! How parts of an extent are compressed: the user's choice, made at compile time on firmware.

#[cfg(feature = "alloc")]
use crate::codec::Codec;
use crate::codec::{HashTable, lz4, lzf, snappy};
use crate::dataseries::raw::Mode;
use crate::error::Result;
#[cfg(feature = "alloc")]
use crate::error::{Error, Kind, What};

/// Both parts as they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'c> {
    /// The fixed part.
    pub fixed: (Mode, &'c [u8]),
    /// The variable part, without the four zero bytes of the pool.
    pub variable: (Mode, &'c [u8]),
}

/// Compresses the parts of extents.
pub trait Compress {
    /// Whether the extents of types and index are compressed, too. Needs the heap; without it they are
    /// written piece by piece as they are.
    const LISTS: bool = false;

    /// Compresses both parts. Each is either the shortest of what was tried, if that is strictly shorter
    /// than the part, or the part as it is (section 4).
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c>;
}

/// No compression: mode none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored;

impl Compress for Stored {
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        Compressed { fixed: (Mode::None, fixed), variable: (Mode::None, variable) }
    }
}

/// Compresses both parts into `out`, one behind the other. Every part gets less room than it has
/// bytes, so that what fits is worth it; an `out` that is too small costs compression, nothing else.
fn both<'c>(
    mode: Mode,
    out: &'c mut [u8],
    fixed: &'c [u8],
    variable: &'c [u8],
    mut encode: impl FnMut(&[u8], &mut [u8]) -> Result<usize>,
) -> Compressed<'c> {
    let mut part = |bytes: &[u8], out: &mut [u8]| {
        let most = bytes.len().saturating_sub(1).min(out.len());
        match out.get_mut(..most) {
            Some(room) if most > 0 => encode(bytes, room).unwrap_or(0),
            _ => 0,
        }
    };
    let fixed_len = part(fixed, out);
    let (head, tail) = out.split_at_mut_checked(fixed_len).unwrap_or_default();
    let variable_len = part(variable, tail);
    let pick = |len: usize, packed: &'c [u8], bytes: &'c [u8]| match packed.get(..len) {
        Some(packed) if len > 0 => (mode, packed),
        _ => (Mode::None, bytes),
    };
    Compressed { fixed: pick(fixed_len, head, fixed), variable: pick(variable_len, tail, variable) }
}

macro_rules! heapless {
    ($($(#[$doc:meta])* $name:ident, $mode:ident, $codec:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Works in lent memory: a table of `N` slots of two bytes, and room for the compressed parts.
        /// Half of the bytes of an extent do for data that is worth compressing.
        #[derive(Debug)]
        pub struct $name<'m, const N: usize> {
            table: &'m mut HashTable<N>,
            out: &'m mut [u8],
        }

        impl<'m, const N: usize> $name<'m, N> {
            /// With this table and this room.
            #[must_use]
            pub const fn new(table: &'m mut HashTable<N>, out: &'m mut [u8]) -> Self {
                $name { table, out }
            }
        }

        impl<const N: usize> Compress for $name<'_, N> {
            fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
                let table = &mut *self.table;
                both(Mode::$mode, self.out, fixed, variable, |bytes, room| $codec::encode(bytes, room, table))
            }
        }
    )*};
}

heapless! {
    /// Mode lz4.
    Lz4, Lz4, lz4;
    /// Mode lzf.
    Lzf, Lzf, lzf;
    /// Mode snappy.
    Snappy, Snappy, snappy;
}

/// Tries several modes on each part and keeps the shortest, as the original does: the modes in the
/// order of section 4, a later one only if it is strictly shorter.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct Smallest {
    modes: [bool; Mode::ALL.len()],
    level: u8,
    out: [alloc::vec::Vec<u8>; 2],
    trial: alloc::vec::Vec<u8>,
}

#[cfg(feature = "alloc")]
impl Smallest {
    /// Of these modes and mode none, with the level of zlib, bz2 and lz4hc: 1 to 9, the original's
    /// default is 9.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a mode that this build has no codec for.
    pub fn of(modes: &[Mode], level: u8) -> Result<Self> {
        let mut wanted = [false; Mode::ALL.len()];
        for mode in modes {
            let supported = *mode == Mode::None || mode.codec().is_some_and(Codec::supported);
            match wanted.get_mut(usize::from(mode.id())) {
                Some(wanted) if supported => *wanted = true,
                _ => return Err(Error::needing(Kind::Unsupported, What::DATASERIES_MODE, 0, mode.id().into())),
            }
        }
        Ok(Smallest { modes: wanted, level, out: Default::default(), trial: alloc::vec::Vec::new() })
    }

    /// Of all modes that this build has.
    #[must_use]
    pub fn all() -> Self {
        let modes = Mode::ALL.map(|mode| mode.codec().is_some_and(Codec::supported));
        Smallest { modes, level: 9, out: Default::default(), trial: alloc::vec::Vec::new() }
    }

    /// The best mode for `bytes`; what it makes of them is left in part `k` of the output.
    fn part(&mut self, k: usize, bytes: &[u8]) -> Mode {
        let Smallest { modes, level, out, trial } = self;
        let (mut best, mut most) = (Mode::None, bytes.len().saturating_sub(1));
        let Some(out) = out.get_mut(k) else { return best };
        for (mode, _) in Mode::ALL.into_iter().zip(modes).filter(|(_, wanted)| **wanted) {
            let Some(codec) = mode.codec() else { continue };
            trial.resize(most, 0);
            if let Ok(len) = codec.encode(bytes, trial, *level)
                && len <= most
                && len > 0
            {
                trial.truncate(len);
                core::mem::swap(out, trial);
                (best, most) = (mode, len.saturating_sub(1));
            }
        }
        best
    }
}

#[cfg(feature = "alloc")]
impl Compress for Smallest {
    const LISTS: bool = true;

    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        let (fixed_mode, variable_mode) = (self.part(0, fixed), self.part(1, variable));
        let [packed_fixed, packed_variable] = &self.out;
        let pick = |mode, packed: &'c [u8], bytes| if mode == Mode::None { (mode, bytes) } else { (mode, packed) };
        Compressed {
            fixed: pick(fixed_mode, packed_fixed, fixed),
            variable: pick(variable_mode, packed_variable, variable),
        }
    }
}
