//! A file of any format, and its tables.

use core::fmt;

use super::{Format, Table};
#[cfg(feature = "bcolz")]
use crate::bcolz;
#[cfg(any(feature = "filo", feature = "bcolz", feature = "vortex"))]
use crate::bytes::FileRange;
use crate::bytes::{Input, Scratch};
#[cfg(any(feature = "filo", feature = "jay"))]
use crate::column::Once;
#[cfg(feature = "dataseries")]
use crate::dataseries;
use crate::error::{Error, Kind, Result, What};
#[cfg(feature = "filo")]
use crate::filo;
#[cfg(feature = "jay")]
use crate::jay;
use crate::limits::Limits;
#[cfg(feature = "unstable")]
use crate::limits::Share;
#[cfg(feature = "vortex")]
use crate::vortex;

/// How to open a file.
///
/// ```
/// use pilaster::any::Hints;
///
/// let hints = Hints { tolerant: true, dtype: Some("<f8"), ..Hints::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hints<'h> {
    /// The element type of a Filo vector, which does not store it. Required to open one.
    #[cfg(feature = "filo")]
    pub element: Option<filo::Element>,
    /// Whether a DataSeries file is read from the front, without trailer and index. An incomplete last extent is an
    /// error; [`dataseries::recover`] saves the intact ones.
    #[cfg(feature = "dataseries")]
    pub sequential: bool,
    /// The item type of a Blosc chunk in numpy's notation: `<i8`, `S5`. Without it, items are byte strings of their
    /// size. With the feature `std` also the type of the rows of a Vortex file that does not store it, in Vortex's
    /// notation: `{a=i64, b=utf8?}`.
    pub dtype: Option<&'h str>,
    /// The bytes are a single Vortex array of this number of rows of type `dtype`, without a file. Requires the feature
    /// `std`.
    #[cfg(feature = "vortex")]
    pub array_rows: Option<u64>,
    /// The ids of encodings that the nodes of a single Vortex array refer to by index, if they are not
    /// [`Array::IDS`](vortex::Array::IDS).
    #[cfg(feature = "vortex")]
    pub array_ids: Option<&'h [&'h str]>,
    /// Whether the readable part of a damaged Jay file or bcolz dataset is read.
    pub tolerant: bool,
    /// Upper limits of what the file may cost. A Filo vector and a Blosc chunk need none: their own size bounds the work.
    pub limits: Limits,
}

/// The error of a file. For a dataset, it also has the path of the file in which it occurred.
///
/// ```
/// # #[cfg(feature = "dataseries")] {
/// use pilaster::any::{File, FileError, Format, Hints, detect};
/// use pilaster::bytes::Scratch;
///
/// /// Checks a file of any format.
/// fn check(bytes: &[u8], memory: &mut [u8]) -> Result<Format, FileError> {
///     let file = File::open(bytes, detect(bytes, None)?, &Hints::default(), &mut Scratch::new(memory))?;
///     let mut memory = vec![0; file.need()? as usize];
///     file.verify(&mut Scratch::new(&mut memory))?;
///     Ok(file.format())
/// }
///
/// let mut bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds")).to_vec();
/// assert_eq!(check(&bytes, &mut [0; 2048])?, Format::DataSeries);
/// bytes[450] ^= 1;
/// assert!(matches!(check(&bytes, &mut [0; 2048]), Err(FileError::Format(_))));
/// # }
/// # Ok::<(), pilaster::any::FileError>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FileError {
    /// The bytes are invalid, or the scratch is too small.
    Format(Error),
    /// A file of a dataset is missing or invalid.
    #[cfg(all(feature = "bcolz", feature = "std"))]
    Dataset(bcolz::Failure),
}

impl From<Error> for FileError {
    fn from(e: Error) -> Self {
        FileError::Format(e)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Format(e) => e.fmt(f),
            #[cfg(all(feature = "bcolz", feature = "std"))]
            FileError::Dataset(e) => e.fmt(f),
        }
    }
}

impl core::error::Error for FileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            FileError::Format(_) => None,
            #[cfg(all(feature = "bcolz", feature = "std"))]
            FileError::Dataset(e) => e.source(),
        }
    }
}

/// A file of any format that this build reads. Not `non_exhaustive`, so that the compiler reports every match that must
/// handle a new format.
///
/// ```
/// # #[cfg(all(feature = "alloc", feature = "dataseries"))] {
/// use pilaster::any::{File, Format, Hints};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::Table;
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let mut memory = [0; 2048];
/// let file = File::open(bytes, Format::DataSeries, &Hints::default(), &mut Scratch::new(&mut memory))?;
/// for name in file.tables() {
///     let mut table = file.table(Some(name))?;
///     assert_eq!((name, table.to_vec::<f64>("d")?.len()), ("Tiny", 2));
/// }
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "one per file, and a heap would be needed to make it small")]
pub enum File<'a> {
    /// One Filo vector.
    #[cfg(feature = "filo")]
    Filo(filo::Vector<'a>),
    /// A DataSeries file.
    #[cfg(feature = "dataseries")]
    DataSeries(dataseries::AnyFile<'a>),
    /// One Blosc 1 chunk, with the header of a bcolz file or bare. It does not store its item type, which the caller
    /// may give.
    #[cfg(feature = "bcolz")]
    Bcolz(bcolz::chunk::Chunk<'a>, Option<bcolz::Dtype<'a>>),
    /// A bcolz dataset, opened from its directory: by [`From`], not by [`open`](File::open).
    #[cfg(all(feature = "bcolz", feature = "std"))]
    Dataset(&'a bcolz::Dataset),
    /// A Jay file.
    #[cfg(feature = "jay")]
    Jay(jay::File<'a>),
    /// A Vortex file.
    #[cfg(feature = "vortex")]
    Vortex(vortex::File<'a>),
}

impl<'a> File<'a> {
    /// Opens `bytes`. `scratch` holds the unpacked types and index of a DataSeries file, and the type of a Vortex file if
    /// the hints contain it. A Filo vector takes none; a Jay file releases the scratch that it takes.
    ///
    /// # Errors
    /// Errors of the format's own reader; [`Format::unreadable`] if this build has none; [`Kind::Misuse`] for a Filo
    /// vector without its element type; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open(bytes: &'a [u8], format: Format, hints: &Hints<'a>, scratch: &mut Scratch<'a>) -> Result<Self> {
        File::open_input(Input::whole(bytes), format, hints, scratch)
    }

    /// Opens a file as [`open`](Self::open) does. Of an input that fetches ranges, a Filo vector and a Blosc chunk are
    /// fetched completely. Of other files, only the metadata is fetched here, and later, the bytes of the rows that are
    /// read.
    ///
    /// ```
    /// # #[cfg(all(feature = "std", feature = "jay"))] {
    /// use pilaster::any::{File, Format, Hints};
    /// use pilaster::bytes::{Ranges, Scratch};
    /// use pilaster::column::{Column, Part, Table};
    ///
    /// let ranges = Ranges::open("examples/data/keyed_1.jay")?;
    /// let mut memory = [0; 2048];
    /// let file = File::open_input(ranges.input(), Format::Jay, &Hints::default(), &mut Scratch::new(&mut memory))?;
    /// // The bytes of the rows are released with the window.
    /// let window = ranges.window();
    /// let file = file.with_input(window.input());
    /// let mut table = file.table(None)?;
    /// let part = table.next_part(&mut Scratch::new(&mut []))?.expect("a part");
    /// assert_eq!(part.named("k")?.to_vec::<i32>(0..1)?, [-996]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`open`](Self::open); [`Kind::Missing`] if bytes are not present.
    pub fn open_input(input: Input<'a>, format: Format, hints: &Hints<'a>, scratch: &mut Scratch<'a>) -> Result<Self> {
        let _ = (&hints, &scratch);
        #[cfg(any(feature = "filo", feature = "bcolz"))]
        let all = |what| input.get(FileRange { at: 0, len: input.len() }, what);
        match format {
            #[cfg(feature = "filo")]
            Format::Filo => {
                let element = hints.element.ok_or_else(|| Error::new(Kind::Misuse, What::FILO_ELEMENT, 0))?;
                filo::Vector::open(all(What::FILO_VECTOR)?, element).map(File::Filo)
            }
            #[cfg(feature = "dataseries")]
            Format::DataSeries => {
                let options = dataseries::ReadOptions { limits: hints.limits, ..dataseries::ReadOptions::DEFAULT };
                dataseries::AnyFile::open_input(input, hints.sequential, &options, scratch).map(File::DataSeries)
            }
            #[cfg(feature = "bcolz")]
            Format::Bcolz => {
                let bytes = all(What::BCOLZ_CHUNK)?;
                let chunk = match bytes.starts_with(b"blpk") {
                    true => bcolz::open_file(bytes)?,
                    false => bcolz::chunk::Chunk::open(bytes)?,
                };
                Ok(File::Bcolz(chunk, hints.dtype.map(bcolz::Dtype::parse).transpose()?))
            }
            #[cfg(feature = "jay")]
            Format::Jay => {
                // A caller that does not know the format has no reason to trust its null counts.
                let options =
                    jay::ReadOptions { tolerant: hints.tolerant, check_null_counts: true, limits: hints.limits };
                jay::File::open_input(input, &options, scratch).map(File::Jay)
            }
            #[cfg(feature = "vortex")]
            Format::Vortex => open_vortex(input, hints, scratch).map(File::Vortex),
            #[allow(unreachable_patterns, reason = "not where all formats are in the build")]
            other => Err(other.unreadable()),
        }
    }

    /// Returns the file with its rows read through `input`, another input of the same bytes. The metadata stay where
    /// they are. A Filo vector, a Blosc chunk and a dataset remain as they are.
    #[must_use]
    pub fn with_input<'w>(&self, input: Input<'w>) -> File<'w>
    where
        'a: 'w,
    {
        let _ = input;
        match self {
            #[cfg(feature = "dataseries")]
            File::DataSeries(file) => File::DataSeries(file.with_input(input)),
            #[cfg(feature = "jay")]
            File::Jay(file) => File::Jay(file.with_input(input)),
            #[cfg(feature = "vortex")]
            File::Vortex(file) => File::Vortex(file.with_input(input)),
            #[allow(unreachable_patterns, reason = "not where there are other formats in the build")]
            other => *other,
        }
    }

    /// Returns the format.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self {
            #[cfg(feature = "filo")]
            File::Filo(_) => Format::Filo,
            #[cfg(feature = "dataseries")]
            File::DataSeries(_) => Format::DataSeries,
            #[cfg(feature = "bcolz")]
            File::Bcolz(..) => Format::Bcolz,
            #[cfg(all(feature = "bcolz", feature = "std"))]
            File::Dataset(_) => Format::Bcolz,
            #[cfg(feature = "jay")]
            File::Jay(_) => Format::Jay,
            #[cfg(feature = "vortex")]
            File::Vortex(_) => Format::Vortex,
        }
    }

    /// Returns the names of the tables: the types of a DataSeries file. A file of another format has one table, whose
    /// name is empty.
    pub fn tables(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        #[cfg(feature = "dataseries")]
        let types = match self {
            File::DataSeries(file) => Some(*file.types()),
            #[allow(unreachable_patterns, reason = "not where there are other formats in the build")]
            _ => None,
        };
        #[cfg(not(feature = "dataseries"))]
        let types: Option<[&'a str; 0]> = None;
        let unnamed = types.is_none().then_some("");
        #[cfg(feature = "dataseries")]
        let types = types.into_iter().flat_map(|types| types.iter().map(|ty| ty.name()));
        #[cfg(not(feature = "dataseries"))]
        let types = types.into_iter().flatten();
        types.chain(unnamed)
    }

    /// Returns the table `name`, or the only table if `name` is `None`.
    ///
    /// ```
    /// # #[cfg(all(feature = "alloc", feature = "filo"))] {
    /// use pilaster::any::{File, Format, Hints};
    /// use pilaster::bytes::Scratch;
    /// use pilaster::column::Table;
    /// use pilaster::filo::Element;
    ///
    /// // The Int 7, three times.
    /// let bytes = [6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0];
    /// let hints = Hints { element: Some(Element::Int), ..Hints::default() };
    /// let file = File::open(&bytes, Format::Filo, &hints, &mut Scratch::new(&mut []))?;
    /// assert_eq!(file.table(None)?.to_vec::<i64>("v")?, [7, 7, 7]);
    /// # }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Unknown`] if the file has no table `name`; [`Kind::Misuse`] with the number of tables if `name` is `None`
    /// and it is not 1; errors of an invalid table header.
    pub fn table<'f>(&'f self, name: Option<&str>) -> Result<Table<'f>> {
        let name = match name {
            None => {
                let mut names = self.tables();
                match (names.next(), names.count()) {
                    (Some(only), 0) => only,
                    (first, others) => {
                        let count = (others as u64).saturating_add(first.is_some().into());
                        return Err(Error::needing(Kind::Misuse, What::TABLE_CHOICE, 0, count));
                    }
                }
            }
            Some(name) if self.tables().any(|known| known == name) => name,
            Some(name) => return Err(Error::unknown(What::TABLE, name)),
        };
        let _ = name;
        Ok(match self {
            #[cfg(feature = "filo")]
            File::Filo(vector) => Table::Filo(Once::new(*vector)),
            #[cfg(feature = "dataseries")]
            File::DataSeries(file) => Table::DataSeries(file.table(name)?),
            #[cfg(feature = "bcolz")]
            File::Bcolz(chunk, Some(dtype)) => Table::Bcolz(bcolz::Items::new(*chunk, *dtype)?),
            #[cfg(feature = "bcolz")]
            File::Bcolz(chunk, None) => Table::Bcolz(bcolz::Items::opaque(*chunk)?),
            #[cfg(all(feature = "bcolz", feature = "std"))]
            File::Dataset(dataset) => Table::Dataset(dataset.table()),
            #[cfg(feature = "jay")]
            File::Jay(file) => Table::Jay(Once::new(*file)),
            #[cfg(feature = "vortex")]
            File::Vortex(file) => Table::Vortex(file.table()?),
        })
    }

    /// Returns an upper bound of the scratch size in bytes that one part of the file takes, in [`verify`](Self::verify)
    /// and in its tables.
    ///
    /// # Errors
    /// Errors of invalid headers of parts.
    pub fn need(&self) -> Result<u64, FileError> {
        Ok(match self {
            #[cfg(feature = "filo")]
            File::Filo(_) => 0,
            #[cfg(feature = "dataseries")]
            File::DataSeries(file) => file.need()?,
            #[cfg(feature = "bcolz")]
            File::Bcolz(chunk, _) => {
                Scratch::cost::<u64>(chunk.nbytes().div_ceil(8) as u64).saturating_add(chunk.scratch_len() as u64)
            }
            #[cfg(all(feature = "bcolz", feature = "std"))]
            File::Dataset(dataset) => dataset.need().map_err(FileError::Dataset)?,
            #[cfg(feature = "jay")]
            File::Jay(file) => file.verify_need(),
            #[cfg(feature = "vortex")]
            File::Vortex(file) => file.need()?,
        })
    }

    /// Checks the whole file. The work is bounded by its length, not by the counts that it states.
    ///
    /// # Errors
    /// The first problem found; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<(), FileError> {
        let _ = &scratch;
        match self {
            #[cfg(feature = "filo")]
            File::Filo(vector) => vector.verify()?,
            #[cfg(feature = "dataseries")]
            File::DataSeries(file) => file.verify(scratch).map(|_| ())?,
            #[cfg(feature = "bcolz")]
            File::Bcolz(chunk, dtype) => {
                let mut scratch = scratch.scope();
                let all = scratch.take::<u8>(chunk.nbytes())?;
                chunk.decode(all, &mut scratch)?;
                if let Some(dtype) = dtype {
                    bcolz::Items::check(*dtype, all)?;
                }
            }
            #[cfg(all(feature = "bcolz", feature = "std"))]
            File::Dataset(dataset) => dataset.verify().map_err(FileError::Dataset)?,
            #[cfg(feature = "jay")]
            File::Jay(file) => file.verify(scratch)?,
            #[cfg(feature = "vortex")]
            File::Vortex(file) => file.verify(scratch)?,
        }
        Ok(())
    }
}

/// Opens a Vortex file, or a single array.
#[cfg(feature = "vortex")]
fn open_vortex<'a>(input: Input<'a>, hints: &Hints<'a>, scratch: &mut Scratch<'a>) -> Result<vortex::File<'a>> {
    let untyped = |e: &Error| e.kind() == Kind::Invalid && e.what() == What::VORTEX_DTYPE;
    if let Some(rows) = hints.array_rows {
        let dtype = dtype(hints, scratch)?.ok_or_else(|| Error::new(Kind::Misuse, What::VORTEX_DTYPE, 0))?;
        let bytes = input.get(FileRange { at: 0, len: input.len() }, What::VORTEX_ARRAY)?;
        let ids = hints.array_ids.unwrap_or(vortex::Array::IDS);
        return vortex::Array::parse_with(bytes, dtype, rows, ids, &hints.limits).map(|array| *array.as_file());
    }
    match vortex::File::open_input(input, None, &hints.limits) {
        // The hint is for files that store no type.
        Err(e) if untyped(&e) => match dtype(hints, scratch)? {
            Some(dtype) => vortex::File::open_input(input, Some(dtype), &hints.limits),
            None => Err(e),
        },
        opened => opened,
    }
}

/// Parses the type in the hints, and keeps it in `scratch`.
#[cfg(all(feature = "vortex", feature = "std"))]
fn dtype<'a>(hints: &Hints<'a>, scratch: &mut Scratch<'a>) -> Result<Option<vortex::DType<'a>>> {
    let Some(notation) = hints.dtype else { return Ok(None) };
    let parsed: vortex::DTypeBuf = notation.parse()?;
    let kept = scratch.take::<u8>(parsed.as_bytes().len())?;
    kept.copy_from_slice(parsed.as_bytes());
    vortex::DType::parse(kept).map(Some)
}

/// Only hosts parse the notation of types.
#[cfg(all(feature = "vortex", not(feature = "std")))]
#[allow(clippy::unnecessary_wraps, reason = "as with std")]
const fn dtype<'a>(_: &Hints<'a>, _: &mut Scratch<'a>) -> Result<Option<vortex::DType<'a>>> {
    Ok(None)
}

/// Checks a share of a file, so that several threads can check it. If all shares are valid, so is the file. If one is
/// not, [`File::verify`] returns the first error of the file, or accepts it, as the shares of limits are stricter. A
/// Filo vector and a Blosc chunk are not shared: each share is the file.
///
/// ```
/// # #[cfg(feature = "dataseries")] {
/// use pilaster::any::{File, Format, Hints};
/// use pilaster::bytes::Scratch;
/// use pilaster::unstable::{any::verify_share, limits::Share};
///
/// let mut bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds")).to_vec();
/// let check = |bytes: &[u8], number| {
///     let (mut kept, mut memory) = ([0; 2048], [0; 2048]);
///     let file = File::open(bytes, Format::DataSeries, &Hints::default(), &mut Scratch::new(&mut kept))?;
///     verify_share(&file, Share { number, of: 2 }, &mut Scratch::new(&mut memory))
/// };
/// assert!(check(&bytes, 0).is_ok() && check(&bytes, 1).is_ok());
/// bytes[450] ^= 1;
/// assert!(check(&bytes, 0).is_err() || check(&bytes, 1).is_err());
/// # }
/// ```
///
/// # Errors
/// An error of the share; [`Kind::NoRoom`] if `scratch` is too small.
#[cfg(feature = "unstable")]
pub fn verify_share(file: &File<'_>, share: Share, scratch: &mut Scratch<'_>) -> Result<(), FileError> {
    let _ = share;
    match file {
        #[cfg(feature = "dataseries")]
        File::DataSeries(file) => file.verify_share(share, scratch).map(|_| ())?,
        #[cfg(all(feature = "bcolz", feature = "std"))]
        File::Dataset(dataset) => dataset.verify_share(share).map_err(FileError::Dataset)?,
        #[cfg(feature = "jay")]
        File::Jay(file) => file.verify_share(share, scratch)?,
        #[cfg(feature = "vortex")]
        File::Vortex(file) => file.verify_share(share, scratch)?,
        #[allow(unreachable_patterns, reason = "not where there are other formats in the build")]
        file => file.verify(scratch)?,
    }
    Ok(())
}

#[cfg(all(feature = "bcolz", feature = "std"))]
impl<'d> From<&'d bcolz::Dataset> for File<'d> {
    fn from(dataset: &'d bcolz::Dataset) -> Self {
        File::Dataset(dataset)
    }
}
