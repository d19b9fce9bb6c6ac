//! Compression of the parts of an extent. The codec is a type parameter, chosen at compile time on firmware.

#[cfg(feature = "alloc")]
use crate::codec::Codec;
use crate::codec::{HashTable, lz4, lzf, snappy};
use crate::dataseries::raw::Mode;
use crate::error::{Error, Kind, Result, What};

/// Both parts of an extent in stored form, each with its mode.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'c> {
    /// The fixed part.
    pub fixed: (Mode, &'c [u8]),
    /// The variable part, without the four zero bytes at the start of the pool.
    pub variable: (Mode, &'c [u8]),
}

/// Compresses the parts of extents.
///
/// ```
/// use pilaster::codec::HashTable;
/// use pilaster::dataseries::Mode;
/// use pilaster::dataseries::write::{Compress, Compressed, Lz4};
///
/// /// Compresses the records and leaves the strings uncompressed.
/// struct RecordsOnly<C>(C);
///
/// impl<C: Compress> Compress for RecordsOnly<C> {
///     fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
///         let Compressed { fixed, .. } = self.0.compress(fixed, b"");
///         Compressed { fixed, variable: (Mode::None, variable) }
///     }
/// }
///
/// let (mut table, mut out) = (HashTable::<256>::new(), [0; 512]);
/// let mut compress = RecordsOnly(Lz4::new(&mut table, &mut out));
/// let stored = compress.compress(&[7; 1000], &[8; 1000]);
/// assert_eq!((stored.fixed.0, stored.fixed.1.len()), (Mode::Lz4, 14));
/// assert_eq!(stored.variable, (Mode::None, &[8; 1000][..]));
/// ```
pub trait Compress {
    /// Whether the extents of types and index are compressed, too. This requires the heap; without it they
    /// are written piece by piece, uncompressed.
    const LISTS: bool = false;

    /// Compresses both parts. Each result is either the shortest output, if it is strictly shorter than the
    /// part, or the part itself with mode none (section 4).
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

/// Compresses both parts into consecutive bytes of `out`. The output of a part is limited to one byte less
/// than the part, so that an output that fits is shorter. If `out` is too small, a part stays uncompressed.
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
        /// Uses caller-provided memory: a table of `N` slots of two bytes, and `out` for the compressed parts.
        /// An `out` of half the size of an extent suffices for data that is worth compressing; a part that
        /// does not fit is stored uncompressed.
        ///
        /// ```
        /// use pilaster::codec::HashTable;
        /// use pilaster::dataseries::Mode;
        #[doc = concat!("use pilaster::dataseries::write::{Compress, ", stringify!($name), "};")]
        ///
        /// let (mut table, mut out) = (HashTable::<256>::new(), [0; 512]);
        #[doc = concat!("let mut compress = ", stringify!($name), "::new(&mut table, &mut out);")]
        /// let stored = compress.compress(&[7; 1000], b"short");
        #[doc = concat!("assert_eq!(stored.fixed.0, Mode::", stringify!($mode), ");")]
        /// assert!(stored.fixed.1.len() < 100);
        /// assert_eq!(stored.variable, (Mode::None, &b"short"[..]), "no output was shorter");
        /// ```
        #[derive(Debug)]
        pub struct $name<'m, const N: usize> {
            table: &'m mut HashTable<N>,
            out: &'m mut [u8],
        }

        impl<'m, const N: usize> $name<'m, N> {
            /// Creates the compressor over its hash table and the memory for its output.
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
    /// Compresses with mode lz4.
    Lz4, Lz4, lz4;
    /// Compresses with mode lzf.
    Lzf, Lzf, lzf;
    /// Compresses with mode snappy.
    Snappy, Snappy, snappy;
}

/// A compressor whose mode is chosen when the program runs, from a set of modes that is chosen when it is compiled: the image contains the
/// code of those modes only.
///
/// `MODES` has the [bit](Mode::bit) of each mode: of lz4, lzf and snappy, which need no heap. Memory is as for [`Lz4`].
///
/// ```
/// use pilaster::codec::HashTable;
/// use pilaster::dataseries::Mode;
/// use pilaster::dataseries::write::{AnyMode, Compress};
///
/// type Chosen<'m> = AnyMode<'m, 256, { Mode::Lz4.bit() | Mode::Lzf.bit() }>;
///
/// # fn setting(name: &str) -> &str { "lzf" }
/// let mode = Mode::of_name(setting("mode")).expect("the name of a mode");
/// let (mut table, mut out) = (HashTable::new(), [0; 512]);
/// let mut compress = Chosen::new(mode, &mut table, &mut out)?;
/// assert_eq!(compress.compress(&[7; 1000], b"").fixed.0, Mode::Lzf);
///
/// let refused = Chosen::new(Mode::Snappy, &mut table, &mut out).unwrap_err();
/// assert_eq!(refused.kind(), pilaster::error::Kind::Unsupported);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct AnyMode<'m, const N: usize, const MODES: u8>(Chosen<'m, N>);

#[derive(Debug)]
enum Chosen<'m, const N: usize> {
    Stored,
    Lz4(Lz4<'m, N>),
    Lzf(Lzf<'m, N>),
    Snappy(Snappy<'m, N>),
}

impl<'m, const N: usize, const MODES: u8> AnyMode<'m, N, MODES> {
    const LZ4: bool = MODES & Mode::Lz4.bit() != 0;
    const LZF: bool = MODES & Mode::Lzf.bit() != 0;
    const SNAPPY: bool = MODES & Mode::Snappy.bit() != 0;

    /// Creates a compressor that compresses nothing, mode none, without memory.
    #[must_use]
    pub const fn stored() -> Self {
        AnyMode(Chosen::Stored)
    }

    /// Creates the compressor of `mode` over a hash table and the memory for its output. Mode none is in every set.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a mode that is not in the set, with its number.
    pub fn new(mode: Mode, table: &'m mut HashTable<N>, out: &'m mut [u8]) -> Result<Self> {
        const {
            let heapless = Mode::None.bit() | Mode::Lz4.bit() | Mode::Lzf.bit() | Mode::Snappy.bit();
            assert!(MODES & !heapless == 0, "only lz4, lzf and snappy compress without a heap");
        }
        match mode {
            Mode::None => Ok(Self::stored()),
            Mode::Lz4 if Self::LZ4 => Ok(AnyMode(Chosen::Lz4(Lz4::new(table, out)))),
            Mode::Lzf if Self::LZF => Ok(AnyMode(Chosen::Lzf(Lzf::new(table, out)))),
            Mode::Snappy if Self::SNAPPY => Ok(AnyMode(Chosen::Snappy(Snappy::new(table, out)))),
            _ => Err(Error::needing(Kind::Unsupported, What::DATASERIES_MODE, 0, mode.id().into())),
        }
    }
}

impl<const N: usize, const MODES: u8> Compress for AnyMode<'_, N, MODES> {
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        match &mut self.0 {
            // A mode that is not in the set was refused; its code must not be in the image.
            Chosen::Lz4(lz4) if Self::LZ4 => lz4.compress(fixed, variable),
            Chosen::Lzf(lzf) if Self::LZF => lzf.compress(fixed, variable),
            Chosen::Snappy(snappy) if Self::SNAPPY => snappy.compress(fixed, variable),
            _ => Compressed { fixed: (Mode::None, fixed), variable: (Mode::None, variable) },
        }
    }
}

/// Tries several modes on each part and keeps the shortest output, as the original does. The modes are tried
/// in the order of section 4; a later one is kept only if its output is strictly shorter.
///
/// ```
/// use pilaster::dataseries::Mode;
/// use pilaster::dataseries::write::{Compress, Smallest};
///
/// let records: Vec<u8> = (0..1000u32).flat_map(|n| (n / 10).to_le_bytes()).collect();
/// let mut two = Smallest::of(&[Mode::Snappy, Mode::Lz4], 9)?;
/// let (mode, bytes) = two.compress(&records, b"").fixed;
/// assert_eq!(mode, Mode::Snappy);
/// assert!(bytes.len() < records.len() / 4);
///
/// let mut all = Smallest::all();
/// assert!(all.compress(&records, b"").fixed.1.len() <= bytes.len());
/// # Ok::<(), pilaster::Error>(())
/// ```
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
    /// Creates a compressor that tries `modes` and mode none. `level` applies to zlib, bz2 and lz4hc: 1 to 9;
    /// the original's default is 9.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a mode that has no codec in this build.
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

    /// Creates a compressor that tries all modes of this build, at level 9.
    #[must_use]
    pub fn all() -> Self {
        let modes = Mode::ALL.map(|mode| mode.codec().is_some_and(Codec::supported));
        Smallest { modes, level: 9, out: Default::default(), trial: alloc::vec::Vec::new() }
    }

    /// Returns the best mode for `bytes`. Unless it is mode none, `self.out[k]` holds its output.
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
