//! All formats through one interface: detection of the format, and a [`File`], [`Table`], [`Part`] and [`Column`] for
//! the formats of this build.
//!
//! [`detect`] examines the bytes and, if they do not identify a format, the name. A [`File`] lists and opens its
//! tables. Tables, parts and columns implement the traits of [`column`](mod@crate::column), so a consumer is written
//! once.
#![cfg_attr(
    feature = "alloc",
    doc = "[`Owned`] also holds the bytes, and with `std` it opens a path: a file, or the directory of a bcolz dataset."
)]
//! [`Hints`] tell how to open a file: the element type of a Filo vector, without trailer, tolerant of damage.
//!
#![cfg_attr(all(feature = "std", feature = "jay"), doc = "```")]
#![cfg_attr(not(all(feature = "std", feature = "jay")), doc = "```ignore")]
//! use pilaster::any::{Hints, Owned};
//! use pilaster::column::Table;
//!
//! let hints = Hints { tolerant: true, ..Hints::default() };
//! let mut owned = Owned::open("examples/data/keyed_1.jay", &hints)?;
//! let keys: Vec<i32> = owned.file()?.table(None)?.to_vec("k")?;
//! assert_eq!(keys.len(), 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This module links every format that is compiled in. Firmware should use the module of its format instead.
//!
//! | format | how it is recognised |
//! |---|---|
//! | Jay | starts with `JAY1` and four NUL |
//! | DataSeries | starts with `DSv1` |
//! | Vortex | starts or ends with `VTXF`; a single array not by its bytes |
//! | bcolz | starts with `blpk`, or with the header of a bare Blosc chunk; a dataset is a directory ([`BCOLZ_MARKERS`]) |
//! | Filo | not by its bytes: the name ends in `.filo`, or the caller names the format |
//!
//! ```
//! use pilaster::any::{Format, detect};
//!
//! assert_eq!(detect(b"JAY1\0\0\0\0", None), Ok(Format::Jay));
//! // The Int 7, three times. Only its name tells that it is a Filo vector.
//! let vector = [6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0];
//! assert_eq!(detect(&vector, Some("sevens.filo")), Ok(Format::Filo));
//! assert!(detect(&vector, Some("sevens.bin")).is_err());
//! ```

#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
pub(crate) mod file;
#[cfg(all(
    feature = "alloc",
    any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex")
))]
mod help;
#[cfg(all(
    feature = "alloc",
    any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex")
))]
mod owned;
#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
mod table;
mod what;

#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
pub use file::{File, FileError, Hints};
#[cfg(all(
    feature = "alloc",
    any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex")
))]
pub use help::Help;
#[cfg(all(
    feature = "alloc",
    any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex")
))]
pub use owned::Owned;
#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
pub use table::{Column, Part, Table};
pub(crate) use what::FIELDS;

use core::fmt;
use core::str::FromStr;

#[cfg(feature = "unstable")]
use crate::column::{Type, Unit};
use crate::error::{Error, Kind, Result, What};

/// The formats that [`detect`] recognises, whether or not this build reads them.
///
/// ```
/// use pilaster::any::Format;
/// use pilaster::error::{Kind, What};
///
/// let format: Format = "Vortex".parse()?;
/// assert_eq!((format, format.name()), (Format::Vortex, "vortex"));
/// let error = format.unreadable();
/// assert_eq!((error.kind(), error.what()), (Kind::Unsupported, What::VORTEX_FILE));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Filo,
    DataSeries,
    Jay,
    Bcolz,
    Vortex,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [Format::Filo, Format::DataSeries, Format::Jay, Format::Bcolz, Format::Vortex];

    /// Returns the name used by the command line tool, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Format::Filo => "filo",
            Format::DataSeries => "dataseries",
            Format::Jay => "jay",
            Format::Bcolz => "bcolz",
            Format::Vortex => "vortex",
        }
    }

    /// Creates the error for a file of this format that this build does not read. It names the format.
    #[cold]
    #[must_use]
    pub fn unreadable(self) -> Error {
        let what = match self {
            Format::Filo => What::FILO_VECTOR,
            Format::DataSeries => What::DATASERIES_FILE,
            Format::Jay => What::JAY_FILE,
            Format::Bcolz => What::BCOLZ_CHUNK,
            Format::Vortex => What::VORTEX_FILE,
        };
        Error::new(Kind::Unsupported, what, 0)
    }

    /// Returns whether files of this format say that values of the type `ty`, with a time zone if `zoned`, are dates, times or
    /// timestamps, and their zone. If not, only integers or times without their zone are stored, if the format stores any.
    ///
    /// ```
    /// use pilaster::any::Format;
    /// use pilaster::column::{Type, Unit};
    ///
    /// assert!(Format::Bcolz.keeps_time(Type::Timestamp(Unit::Micro), false));
    /// assert!(!Format::Bcolz.keeps_time(Type::Timestamp(Unit::Micro), true));
    /// assert!(!Format::DataSeries.keeps_time(Type::Date(Unit::Day), false));
    /// ```
    #[cfg(feature = "unstable")]
    #[must_use]
    pub const fn keeps_time(self, ty: Type, zoned: bool) -> bool {
        match (self, ty) {
            (Format::Vortex, _) => true,
            // The description of a field says the unit of timestamps only.
            (Format::DataSeries, Type::Date(_) | Type::Time(_)) => false,
            (Format::DataSeries, Type::Timestamp(unit)) => {
                !zoned && matches!(unit, Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano)
            }
            (_, Type::Timestamp(_)) => !zoned,
            _ => true,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Parses a [`name`](Format::name), ignoring ASCII case.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for any other text.
    fn from_str(name: &str) -> Result<Self> {
        let wanted = |format: &Format| format.name().eq_ignore_ascii_case(name);
        Format::ALL.into_iter().find(wanted).ok_or_else(|| Error::new(Kind::Unsupported, What::MAGIC, 0))
    }
}

/// Paths relative to a directory. If one of them exists, the directory is a bcolz dataset: a table, or a single array.
///
/// ```
/// use pilaster::any::BCOLZ_MARKERS;
///
/// /// Returns whether the files of an archive are a bcolz dataset.
/// fn is_dataset(files: &[&str]) -> bool {
///     BCOLZ_MARKERS.iter().any(|marker| files.contains(marker))
/// }
///
/// assert!(is_dataset(&["meta/sizes", "meta/storage", "data/__0.blp"]));
/// assert!(!is_dataset(&["prices.jay"]));
/// ```
pub const BCOLZ_MARKERS: [&str; 2] = ["__rootdirs__", "meta/sizes"];

/// Detects the format of `bytes`. `name` is the file name, if known.
///
/// A magic number at the start decides; no Filo header word equals one. Weaker signs (a magic number at the end, a
/// Blosc header) are checked after the name.
///
/// # Errors
/// [`Kind::Unsupported`] with the first four bytes, if neither the bytes nor the name identify a format. This includes
/// a Filo vector without its extension.
pub fn detect(bytes: &[u8], name: Option<&str>) -> Result<Format> {
    detect_ends(bytes, bytes, bytes.len() as u64, name)
}

/// Detects the format of a file of `len` bytes by its `first` and `last` bytes, of which 16 and 4 suffice.
///
/// # Errors
/// Errors of [`detect`].
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// use pilaster::any::{Format, detect_ends};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut file = std::fs::File::open("examples/data/enc_sequence_a.vortex")?;
/// let (mut first, mut last) = ([0; 16], [0; 4]);
/// file.read_exact(&mut first)?;
/// let len = file.seek(SeekFrom::End(-4))? + 4;
/// file.read_exact(&mut last)?;
/// assert_eq!(detect_ends(&first, &last, len, None)?, Format::Vortex);
/// # Ok(())
/// # }
/// ```
pub fn detect_ends(first: &[u8], last: &[u8], len: u64, name: Option<&str>) -> Result<Format> {
    const FRONT: [(&[u8], Format); 4] = [
        (b"JAY1\0\0\0\0", Format::Jay),
        (b"DSv1", Format::DataSeries),
        (b"VTXF", Format::Vortex),
        (b"blpk", Format::Bcolz),
    ];
    if let Some((_, format)) = FRONT.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Ok(*format);
    }
    if name.is_some_and(is_filo) {
        return Ok(Format::Filo);
    }
    // A Vortex file is opened from its end; its reader does not examine the start.
    if last.ends_with(b"VTXF") {
        return Ok(Format::Vortex);
    }
    if is_blosc(first, len) {
        return Ok(Format::Bcolz);
    }
    let word = first.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    Err(Error::needing(Kind::Unsupported, What::MAGIC, 0, word.into()))
}

/// Returns whether a name ends in `.filo`, ignoring ASCII case.
fn is_filo(name: &str) -> bool {
    name.as_bytes().last_chunk::<5>().is_some_and(|end| end.eq_ignore_ascii_case(b".filo"))
}

/// Returns whether `first` starts with the header of a bare Blosc 1 chunk of `len` bytes: format version 2, no reserved
/// flag, a known codec, a type size, and exactly this length.
fn is_blosc(first: &[u8], len: u64) -> bool {
    let Some(&[2, _, flags, size, a, b, c, d, e, f, g, h, i, j, k, l]) = first.first_chunk::<16>() else {
        return false;
    };
    let (decoded, block) = (i32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    let known = flags & 0x08 == 0 && flags >> 5 <= 4 && size > 0;
    let sized = u64::from(u32::from_le_bytes([i, j, k, l])) == len;
    known && sized && decoded >= 0 && (block > 0 || decoded == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_numbers_decide_before_names() {
        for (bytes, format) in [
            (&b"JAY1\0\0\0\0rest"[..], Format::Jay),
            (b"DSv1\x78\x56\x34\x12", Format::DataSeries),
            (b"VTXF....", Format::Vortex),
            (b"blpk\x01\0\0\0", Format::Bcolz),
        ] {
            assert_eq!(detect(bytes, None), Ok(format));
            assert_eq!(detect(bytes, Some("x.filo")), Ok(format));
        }
    }

    #[test]
    fn a_filo_vector_that_ends_like_a_vortex_file() {
        let bytes = b"\x06\x06\0\0\x01\0\0\0VTXF";
        assert_eq!(detect(bytes, Some("dir.d/x.FILO")), Ok(Format::Filo));
        assert_eq!(detect(bytes, Some("x.vortex")), Ok(Format::Vortex));
    }

    #[test]
    fn bare_blosc_chunks() {
        // An empty chunk for lz4, as the original writes it.
        let chunk = [2, 1, 0x33, 4, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0];
        assert_eq!(detect(&chunk, None), Ok(Format::Bcolz));
        for (at, value) in [(0, 3), (2, 0x3b), (2, 0xf3), (3, 0), (7, 0x80), (12, 17)] {
            let mut damaged = chunk;
            damaged[at] = value;
            assert!(detect(&damaged, None).is_err(), "byte {at}");
        }
    }

    #[test]
    fn both_ends_of_a_file_are_enough() {
        let chunk = [2, 1, 0x33, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0];
        assert_eq!(detect_ends(&chunk, &[], 256, None), Ok(Format::Bcolz));
        assert!(detect_ends(&chunk, &[], 257, None).is_err());
        assert_eq!(detect_ends(&[0; 16], b"VTXF", 1 << 40, None), Ok(Format::Vortex));
    }

    #[test]
    fn unknown_bytes_are_named_in_the_error() {
        let e = detect(&[6, 8, 0, 0, 1], Some("filo")).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need()), (Kind::Unsupported, What::MAGIC, 0x806));
        assert_eq!(detect(&[], None).unwrap_err().kind(), Kind::Unsupported);
    }

    #[test]
    fn names_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().to_ascii_uppercase().parse(), Ok(format));
        }
        assert!("feather".parse::<Format>().is_err());
    }

    #[test]
    #[cfg(feature = "filo")]
    fn what_cannot_be_opened_is_named() {
        use crate::bytes::Scratch;
        let open = |bytes, format| File::open(bytes, format, &Hints::default(), &mut Scratch::new(&mut []));
        let e = Format::Bcolz.unreadable();
        assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::BCOLZ_CHUNK));
        let e = open(&[1, 0, 0, 0], Format::Filo).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::FILO_ELEMENT));
    }
}
