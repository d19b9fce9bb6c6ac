//! A single array, without a file around it.

use core::fmt;

use super::column::Column;
use super::dtype::DType;
use super::file::File;
use crate::bytes::Scratch;
use crate::error::Result;
use crate::limits::Limits;

/// A single array: the bytes of a flat segment of a file, or of a message. Its type, its number of rows and the ids of its
/// encodings are not in these bytes, so that the caller has to know them.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Values};
/// use pilaster::vortex::{Array, File};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
/// // The array of column `i64` of a file.
/// let file = File::open(bytes)?;
/// let dtype = file.dtype().child(1)?;
/// let segment = file.segment(1)?;
/// let blob = &bytes[segment.at as usize..][..segment.len as usize];
///
/// let array = Array::parse(blob, dtype, 1100)?;
/// let mut memory = vec![0; array.need()? as usize];
/// array.verify(&mut Scratch::new(&mut memory))?;
/// let column = array.column()?;
/// let batch = column.read(1..3, &mut Scratch::new(&mut memory))?;
/// assert!(matches!(batch.values, Values::I64([999_993, 999_986])));
/// let row = column.scalar_at(2, &mut Scratch::new(&mut memory))?;
/// assert!(matches!(row.values, Values::I64([999_986])));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Array<'a> {
    file: File<'a>,
}

impl<'a> Array<'a> {
    /// The ids that the default writer of releases 0.90 to 0.93 lists in every file. The nodes of its arrays refer to them
    /// by index. An array of another writer has another list, in the footer of its file.
    pub const IDS: &'static [&'static str] = &[
        "fastlanes.bitpacked",
        "fastlanes.for",
        "fastlanes.rle",
        "vortex.alp",
        "vortex.alprd",
        "vortex.bool",
        "vortex.bytebool",
        "vortex.chunked",
        "vortex.constant",
        "vortex.datetimeparts",
        "vortex.decimal",
        "vortex.decimal_byte_parts",
        "vortex.dict",
        "vortex.ext",
        "vortex.fixed_size_list",
        "vortex.fsst",
        "vortex.list",
        "vortex.listview",
        "vortex.map",
        "vortex.masked",
        "vortex.null",
        "vortex.onpair",
        "vortex.parquet.variant",
        "vortex.pco",
        "vortex.primitive",
        "vortex.runend",
        "vortex.sequence",
        "vortex.sparse",
        "vortex.struct",
        "vortex.varbin",
        "vortex.varbinview",
        "vortex.variant",
        "vortex.zigzag",
        "vortex.zstd",
    ];

    /// Parses `rows` rows of `dtype`, whose encodings are numbered as in [`IDS`](Self::IDS), with [`Limits::DEFAULT`].
    ///
    /// # Errors
    /// Errors of [`parse_with`](Self::parse_with).
    pub fn parse(bytes: &'a [u8], dtype: DType<'a>, rows: u64) -> Result<Self> {
        Array::parse_with(bytes, dtype, rows, Array::IDS, &Limits::DEFAULT)
    }

    /// Parses `rows` rows of `dtype`. The nodes of the array refer to the encodings in `ids` by index.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use pilaster::limits::Limits;
    /// use pilaster::vortex::{Array, DTypeBuf, Encoding};
    ///
    /// # let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// # let mut blob = file[184..364].to_vec();
    /// # let at = blob.windows(2).rposition(|number| number == [26, 0]).expect("the number of the encoding");
    /// # blob[at] = 0;
    /// // A message with the list of its only encoding.
    /// let dtype: DTypeBuf = "i64".parse()?;
    /// assert_eq!(dtype.as_bytes().len(), 40);
    /// let array = Array::parse_with(&blob, dtype.as_dtype(), 1100, &["vortex.sequence"], &Limits::DEFAULT)?;
    /// let mut ids = vec![];
    /// array.as_file().visit(false, &mut |node| Ok(ids.push(Encoding::of(node.id))))?;
    /// assert_eq!(ids, [Encoding::Sequence]);
    /// # }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`File::of_array`]; errors of an invalid root of the array. Everything else is checked when it is read.
    pub fn parse_with(
        bytes: &'a [u8],
        dtype: DType<'a>,
        rows: u64,
        ids: &'a [&'a str],
        limits: &Limits,
    ) -> Result<Self> {
        let file = File::of_array(bytes, dtype, rows, ids, limits)?;
        file.part()?;
        Ok(Array { file })
    }

    /// Returns the rows. A struct is one column with children.
    ///
    /// # Errors
    /// None, if [`parse`](Self::parse) succeeded.
    pub fn column(&self) -> Result<Column<'_>> {
        self.file.part().map(|part| part.whole())
    }

    /// Returns the array as a file without layouts, with the columns of a struct as its columns.
    #[must_use]
    pub const fn as_file(&self) -> &File<'a> {
        &self.file
    }

    /// Returns the size of a scratch buffer for [`verify`](Self::verify), as [`File::need`] does.
    ///
    /// # Errors
    /// Errors of [`File::need`].
    pub fn need(&self) -> Result<u64> {
        self.file.need()
    }

    /// Reads every row, as [`File::verify`] does.
    ///
    /// # Errors
    /// Errors of [`File::verify`].
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<()> {
        self.file.verify(scratch)
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("type", &self.file.dtype().ty()).field("rows", &self.file.rows()).finish()
    }
}
