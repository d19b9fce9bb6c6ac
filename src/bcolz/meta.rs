//! The metadata files of a dataset (sections A.1 and A.5), each read from its bytes.
//!
//! ```
//! use pilaster::bcolz::Compressor;
//! use pilaster::bcolz::meta::{MAX_DIMENSIONS, Shape, Sizes, Storage};
//! use pilaster::bytes::Scratch;
//!
//! let sizes = Sizes::parse(br#"{"shape": [25, 3], "nbytes": 300, "cbytes": 16500}"#)?;
//! let shape: Shape = sizes.shape;
//! assert_eq!((shape.lengths(), shape.rows()), (&[25, 3][..], 25));
//! assert_eq!((shape.inner(), shape.items()?), (&[3][..], 3));
//!
//! let file = br#"{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!     "chunklen": 10, "expectedlen": 25, "dflt": 0}"#;
//! let storage = Storage::parse(file, &mut Scratch::new(&mut []))?;
//! assert_eq!((storage.dtype_text, storage.params.compressor), ("int32", Compressor::Lz4));
//! assert_eq!(shape.rows().div_ceil(storage.chunklen), 3, "chunks");
//!
//! assert!(Shape::new(&[1; MAX_DIMENSIONS]).is_ok() && Shape::new(&[1; MAX_DIMENSIONS + 1]).is_err());
//! # Ok::<(), pilaster::Error>(())
//! ```

use super::chunk::Params;
use super::{Compressor, Dtype, Shuffle};
use crate::bytes::{Scratch, checked_product, decimal};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;
use crate::meta::json::{Event, Json};

/// Maximum number of dimensions of an array, as in numpy.
pub const MAX_DIMENSIONS: usize = 32;

/// The lengths of an array in every dimension. The first is the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    lengths: [u64; MAX_DIMENSIONS],
    count: usize,
}

impl Shape {
    const EMPTY: Shape = Shape { lengths: [0; MAX_DIMENSIONS], count: 0 };

    /// Creates a shape of these lengths, with the number of rows first.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if `lengths` is empty; [`Kind::Limit`] for more than [`MAX_DIMENSIONS`].
    pub fn new(lengths: &[u64]) -> Result<Self> {
        let mut shape = Shape { count: lengths.len(), ..Shape::EMPTY };
        match shape.lengths.get_mut(..lengths.len()) {
            Some(to) if !lengths.is_empty() => to.copy_from_slice(lengths),
            Some(_) => return Err(Error::new(Kind::Invalid, What::BCOLZ_SHAPE, 0)),
            None => return Err(too_many_dimensions(0)),
        }
        Ok(shape)
    }

    /// Returns all lengths.
    #[must_use]
    pub fn lengths(&self) -> &[u64] {
        self.lengths.get(..self.count).unwrap_or_default()
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        let [rows, ..] = self.lengths;
        rows
    }

    /// Returns the lengths after the number of rows.
    #[must_use]
    pub fn inner(&self) -> &[u64] {
        self.lengths().get(1..).unwrap_or_default()
    }

    /// Returns the number of items of a row.
    ///
    /// # Errors
    /// [`Kind::Overflow`] if the number is `u64::MAX` or more.
    pub fn items(&self) -> Result<u64> {
        let items = self.inner().iter().try_fold(1, |items, length| checked_product(items, *length));
        items.ok_or_else(|| Error::new(Kind::Overflow, What::BCOLZ_SHAPE, 0))
    }

    /// Reads the lengths from an array of JSON.
    fn read(&mut self, json: &mut Json<'_>) -> Result<()> {
        *self = Shape::EMPTY;
        json.array()?;
        while let Some(length) = json.item_u64()? {
            *self.lengths.get_mut(self.count).ok_or_else(|| too_many_dimensions(json.at()))? = length;
            self.count = self.count.saturating_add(1);
        }
        Ok(())
    }

    /// Returns this shape with another number of rows.
    #[cfg(feature = "std")]
    #[must_use]
    pub(crate) const fn with_rows(mut self, rows: u64) -> Self {
        let [first, ..] = &mut self.lengths;
        *first = rows;
        self
    }
}

/// The contents of `meta/sizes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The lengths of the array.
    pub shape: Shape,
    /// Size in bytes of all rows. Readers do not rely on it.
    pub nbytes: u64,
    /// Size in bytes of all chunks. Readers do not rely on it, because the original counts the buffer of the last
    /// chunk, which may not exist.
    pub cbytes: u64,
}

impl Sizes {
    /// Parses the file.
    ///
    /// # Errors
    /// Errors of invalid JSON; [`Kind::WrongType`] for values of another type; [`Kind::Invalid`] without a shape;
    /// [`Kind::Limit`] for too many dimensions or rows.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut json = Json::new(bytes);
        let mut sizes = Sizes { shape: Shape::EMPTY, nbytes: 0, cbytes: 0 };
        json.object()?;
        while let Some(key) = json.key()? {
            let number = match key.as_str() {
                Some("shape") => {
                    sizes.shape.read(&mut json)?;
                    continue;
                }
                Some("nbytes") => &mut sizes.nbytes,
                Some("cbytes") => &mut sizes.cbytes,
                _ => {
                    json.skip()?;
                    continue;
                }
            };
            *number = json.u64()?;
        }
        json.end()?;
        if sizes.shape.count == 0 {
            return Err(Error::new(Kind::Invalid, What::BCOLZ_SHAPE, 0));
        }
        if sizes.shape.rows() > Limits::DEFAULT.max_rows {
            return Err(Error::needing(Kind::Limit, What::MAX_ROWS, 0, Limits::DEFAULT.max_rows));
        }
        Ok(sizes)
    }
}

#[cold]
fn too_many_dimensions(at: u64) -> Error {
    Error::needing(Kind::Limit, What::BCOLZ_SHAPE, at, MAX_DIMENSIONS as u64)
}

/// The contents of `meta/storage`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage<'a> {
    /// The text of the type.
    pub dtype_text: &'a str,
    /// The type of an item.
    pub dtype: Dtype<'a>,
    /// Number of rows of a chunk, at least 1.
    pub chunklen: u64,
    /// Number of rows that the writer expected.
    pub expectedlen: u64,
    /// The parameters of new chunks.
    pub params: Params,
    /// Number of decimal digits that floats are rounded to when they are written; 0 for no rounding.
    pub quantize: i64,
    /// The default value of new rows, as JSON.
    pub dflt: &'a [u8],
}

impl<'a> Storage<'a> {
    /// Parses the file. If the text of the type has escapes, it is decoded into `scratch`.
    ///
    /// # Errors
    /// Errors of invalid JSON and of [`Dtype::parse`]; [`Kind::Invalid`] without a type or a `chunklen` above 0;
    /// [`Kind::Unsupported`] for an unknown compressor or parameter; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn parse(bytes: &'a [u8], scratch: &mut Scratch<'a>) -> Result<Self> {
        let mut json = Json::new(bytes);
        let mut storage = Storage {
            dtype_text: "",
            dtype: Dtype::Bool,
            chunklen: 0,
            expectedlen: 0,
            params: Params::DEFAULT,
            quantize: 0,
            dflt: b"0",
        };
        let mut typed = false;
        json.object()?;
        while let Some(key) = json.key()? {
            match key.as_str() {
                Some("dtype") => {
                    storage.dtype_text = json.string()?.decode(scratch)?;
                    typed = true;
                }
                Some("chunklen") => storage.chunklen = json.u64()?,
                Some("expectedlen") => storage.expectedlen = json.u64()?,
                Some("cparams") => storage.cparams(&mut json)?,
                Some("dflt") => {
                    let from = json.at();
                    json.skip()?;
                    let range = usize::try_from(from).unwrap_or(0)..usize::try_from(json.at()).unwrap_or(0);
                    storage.dflt = bytes.get(range).unwrap_or_default().trim_ascii_start();
                }
                _ => json.skip()?,
            }
        }
        json.end()?;
        if !typed {
            return Err(Error::new(Kind::Invalid, What::BCOLZ_DTYPE, 0));
        }
        storage.dtype = Dtype::parse(storage.dtype_text)?;
        if storage.chunklen == 0 {
            return Err(Error::new(Kind::Invalid, What::BCOLZ_CHUNKLEN, 0));
        }
        storage.params.typesize = storage.dtype.typesize();
        Ok(storage)
    }

    /// Reads `cparams`. The shuffle is a number, or a boolean in older files. Without a name, the compressor is
    /// blosclz.
    fn cparams(&mut self, json: &mut Json<'_>) -> Result<()> {
        (self.params, self.quantize) = (Params::DEFAULT, 0);
        json.object()?;
        while let Some(key) = json.key()? {
            let at = json.at();
            let wrong = |what| Error::new(Kind::Unsupported, what, at);
            match key.as_str() {
                Some("clevel") => {
                    let level = u8::try_from(json.u64()?).ok().filter(|level| *level <= 9);
                    self.params.level = level.ok_or_else(|| wrong(What::BCOLZ_PARAMS))?;
                }
                Some("shuffle") => {
                    self.params.shuffle = match json.next()? {
                        Some(Event::Bool(false) | Event::Number("0")) => Shuffle::None,
                        Some(Event::Bool(true) | Event::Number("1")) => Shuffle::Byte,
                        Some(Event::Number("2")) => Shuffle::Bit,
                        _ => return Err(wrong(What::BCOLZ_PARAMS)),
                    }
                }
                Some("cname") => {
                    let name = json.string()?;
                    let known = Compressor::ALL.iter().copied().find(|one| name == *one.name());
                    self.params.compressor = known.ok_or_else(|| wrong(What::BLOSC_CODEC))?;
                }
                Some("quantize") => {
                    self.quantize = match json.next()? {
                        Some(Event::Number(number)) => signed(number).ok_or_else(|| wrong(What::BCOLZ_PARAMS))?,
                        Some(Event::Null) => 0,
                        _ => return Err(wrong(What::BCOLZ_PARAMS)),
                    }
                }
                _ => json.skip()?,
            }
        }
        Ok(())
    }
}

/// Parses an integer of JSON.
fn signed(number: &str) -> Option<i64> {
    match number.strip_prefix('-') {
        Some(digits) => 0i64.checked_sub_unsigned(decimal(digits)?),
        None => 0i64.checked_add_unsigned(decimal(number)?),
    }
}

/// Parses `__rootdirs__`. Calls `each` with the name of every column, in order. No name leads out of the directory of
/// the table.
///
/// # Errors
/// Errors of invalid JSON; [`Kind::Invalid`] for an invalid name, or if there is no list of names; [`Kind::Limit`] for
/// too many; [`Kind::NoRoom`] if `scratch` is too small for a name with escapes; errors of `each`.
pub fn names<'a>(
    bytes: &'a [u8],
    scratch: &mut Scratch<'a>,
    mut each: impl FnMut(&'a str) -> Result<()>,
) -> Result<()> {
    let mut json = Json::new(bytes);
    let mut found = false;
    json.object()?;
    while let Some(key) = json.key()? {
        if key.as_str() != Some("names") || found {
            json.skip()?;
            continue;
        }
        found = true;
        let mut count = 0u32;
        json.array()?;
        while let Some(name) = json.item_string()? {
            count = count.saturating_add(1);
            if count > Limits::DEFAULT.max_columns {
                let most = Limits::DEFAULT.max_columns.into();
                return Err(Error::needing(Kind::Limit, What::MAX_COLUMNS, json.at(), most));
            }
            let name = name.decode(scratch)?;
            check_name(name)?;
            each(name)?;
        }
    }
    json.end()?;
    if found { Ok(()) } else { Err(Error::new(Kind::Invalid, What::BCOLZ_NAME, 0)) }
}

/// Checks that a column may have this name: it must not lead out of the directory of the table.
///
/// # Errors
/// [`Kind::Invalid`] for the empty name, `.` and `..`, and for names with a slash, a backslash or NUL; on Windows also
/// with a colon, which ends the name of a drive. `at` is the offset of the first invalid character.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let wrong = |at: usize| Err(Error::new(Kind::Invalid, What::BCOLZ_NAME, at as u64));
    match name.bytes().position(|byte| matches!(byte, b'/' | b'\\' | 0) || (cfg!(windows) && byte == b':')) {
        Some(at) => wrong(at),
        None if matches!(name, "" | "." | "..") => wrong(0),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    fn storage(text: &str) -> Result<Storage<'_>> {
        Storage::parse(text.as_bytes(), &mut Scratch::new(&mut []))
    }

    #[test]
    fn sizes() {
        let sizes = Sizes::parse(b"{\"shape\": [20, 6, 4], \"nbytes\": 3840, \"cbytes\": 4450}\n").unwrap();
        assert_eq!((sizes.shape.lengths(), sizes.nbytes, sizes.cbytes), (&[20, 6, 4][..], 3840, 4450));
        assert_eq!((sizes.shape.rows(), sizes.shape.inner(), sizes.shape.items()), (20, &[6, 4][..], Ok(24)));
        assert_eq!(Sizes::parse(b"{}").unwrap_err().what(), What::BCOLZ_SHAPE);
        assert_eq!(Sizes::parse(b"{\"shape\": 25}").unwrap_err().kind(), Kind::WrongType);
        assert_eq!(Sizes::parse(b"{\"shape\": []}").unwrap_err().what(), What::BCOLZ_SHAPE);
        assert_eq!(Sizes::parse(b"{\"shape\": [-1]}").unwrap_err().kind(), Kind::WrongType);
        assert_eq!(Sizes::parse(b"{\"shape\": [2000000000000]}").unwrap_err().what(), What::MAX_ROWS);
        let many = std::format!("{{\"shape\": [{}]}}", ["1"; 33].join(","));
        assert_eq!(Sizes::parse(many.as_bytes()).unwrap_err().kind(), Kind::Limit);
        let huge = Sizes::parse(b"{\"shape\": [1, 9999999999, 9999999999]}").unwrap();
        assert_eq!(huge.shape.items().unwrap_err().kind(), Kind::Overflow);
    }

    #[test]
    fn storage_new_and_old() {
        let text = r#"{"dtype": "int32", "cparams": {"clevel": 7, "shuffle": 2, "cname": "zstd", "quantize": 3},
            "chunklen": 10, "expectedlen": 25, "dflt": NaN , "unknown": [{}]}"#;
        let new = storage(text).unwrap();
        let params =
            Params { compressor: Compressor::Zstd, level: 7, shuffle: Shuffle::Bit, typesize: 4, blocksize: None };
        assert_eq!((new.params, new.quantize, new.chunklen, new.expectedlen), (params, 3, 10, 25));
        assert_eq!((new.dtype_text, new.dflt), ("int32", &b"NaN"[..]));
        let old = storage(r#"{"dtype": "|S5", "cparams": {"shuffle": true, "clevel": 5}, "chunklen": 1}"#).unwrap();
        assert_eq!((old.params, old.dflt), (Params::DEFAULT, &b"0"[..]));
        let mut memory = [0; 64];
        let bytes = br#"{"dtype": "[('\u00e9', '<i4')]", "chunklen": 1, "dflt": [0, ""]}"#;
        let escaped = Storage::parse(bytes, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!((escaped.dtype_text, escaped.dflt), ("[('é', '<i4')]", &b"[0, \"\"]"[..]));
    }

    #[test]
    fn storage_that_is_wrong() {
        for (text, kind, what) in [
            ("", Kind::Truncated, What::JSON),
            (r#"{"chunklen": 1}"#, Kind::Invalid, What::BCOLZ_DTYPE),
            (r#"{"dtype": "int32"}"#, Kind::Invalid, What::BCOLZ_CHUNKLEN),
            (r#"{"dtype": "int32", "chunklen": 0}"#, Kind::Invalid, What::BCOLZ_CHUNKLEN),
            (r#"{"dtype": "int33", "chunklen": 1}"#, Kind::Unsupported, What::BCOLZ_DTYPE),
            (r#"{"cparams": {"cname": "lzma"}}"#, Kind::Unsupported, What::BLOSC_CODEC),
            (r#"{"cparams": {"clevel": 10}}"#, Kind::Unsupported, What::BCOLZ_PARAMS),
            (r#"{"cparams": {"shuffle": 3}}"#, Kind::Unsupported, What::BCOLZ_PARAMS),
        ] {
            let e = storage(text).unwrap_err();
            assert_eq!((e.kind(), e.what()), (kind, what), "{text}");
        }
    }

    #[test]
    fn names_stay_inside() {
        let all = |text: &str| {
            let (mut memory, mut all) = ([0; 64], Vec::new());
            let mut scratch = Scratch::new(&mut memory);
            names(text.as_bytes(), &mut scratch, |name| {
                all.push(String::from(name));
                Ok(())
            })
            .map(|()| all)
        };
        assert_eq!(all(r#"{"names": ["id", "pr\u00e9", "a b", "..."]}"#).unwrap(), ["id", "pré", "a b", "..."]);
        assert_eq!(all(r#"{"names": []}"#).unwrap(), [""; 0]);
        for name in ["", ".", "..", "../x", "/x", "a/b", r"a\\b", r"\u0000", r"\u002e\u002e", r"..\u002fx"] {
            let e = all(&std::format!(r#"{{"names": ["ok", "{name}"]}}"#)).unwrap_err();
            assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::BCOLZ_NAME), "{name}");
        }
        assert_eq!(all("{}").unwrap_err().what(), What::BCOLZ_NAME);
        assert_eq!(all(r#"{"names": [1]}"#).unwrap_err().kind(), Kind::WrongType);
    }
}
