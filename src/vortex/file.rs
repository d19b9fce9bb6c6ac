//! The container: end marker, postscript, dtype, layout, statistics, footer (sections 3 and 4).

use core::fmt;

use super::dtype::{DType, Ty};
use super::end::{check_segments, missing_parts, postscript_range, span_in};
use super::raw::{Encoding, LayoutId};
use crate::bytes::{FileRange, Input};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, SegmentSpec};
use crate::limits::{Depth, Limits};
use crate::meta::flat::{Flat, Inline, Table};

/// Number of array encodings whose ids are looked up when a file is opened.
const CACHED: u16 = 64;

/// An open file: views of its metadata, and where its bytes are.
#[derive(Clone, Copy)]
pub struct File<'a> {
    input: Input<'a>,
    limits: Limits,
    dtype: DType<'a>,
    root: Root<'a>,
    statistics: Option<flat::FileStatistics<'a>>,
    postscript: Option<Table<'a>>,
    segments: Option<Inline<'a, SegmentSpec>>,
    ids: Ids<'a>,
    cached: [Encoding; CACHED as usize],
}

/// The storage of the rows.
#[derive(Clone, Copy)]
pub(super) enum Root<'a> {
    Layout(flat::Layout<'a>),
    /// One array blob without a file around it, and its number of rows.
    Blob(&'a [u8], u64),
}

/// The ids that nodes refer to by number.
#[derive(Clone, Copy)]
enum Ids<'a> {
    /// Ids of layouts and arrays, in this footer.
    Footer(Table<'a>),
    /// Ids of array encodings only.
    Arrays(&'a [&'a str]),
}

// Both kinds of specs have the id in the same field.
const _: () = assert!(flat::ArraySpec::ID == flat::LayoutSpec::ID);

impl<'a> File<'a> {
    /// Opens a file in memory with [`Limits::DEFAULT`].
    ///
    /// # Errors
    /// Errors of invalid metadata; [`Kind::Invalid`] in `What::VORTEX_DTYPE` if the file stores no type, so that the
    /// caller must pass one ([`open_as`](Self::open_as)).
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::open_input(Input::whole(bytes), None, &Limits::DEFAULT)
    }

    /// Opens a file in memory. `dtype` is the type of its rows; it is ignored if the file stores a type.
    ///
    /// ```
    /// use pilaster::error::Kind;
    /// use pilaster::vortex::File;
    ///
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// // Two files have one schema, but only the first one stores it.
    /// let first = File::open(bytes)?;
    /// # let mut second = *bytes;
    /// # second[2712..2714].fill(0); // The field `dtype` of the postscript is now absent.
    /// assert_eq!(File::open(&second).unwrap_err().kind(), Kind::Invalid);
    /// let file = File::open_as(&second, first.dtype())?;
    /// assert_eq!(file.dtype().to_string(), "{u8=u8, i64=i64, u64n=u64?, i32=i32}");
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn open_as(bytes: &'a [u8], dtype: DType<'a>) -> Result<Self> {
        Self::open_input(Input::whole(bytes), Some(dtype), &Limits::DEFAULT)
    }

    /// Opens a file from `input`. `dtype` is used if the file stores no type. Of an input that fetches ranges, only the
    /// metadata is fetched here; if some of it is not present, all of it is asked for, and an error of [`Kind::Missing`]
    /// names a range that contains it.
    ///
    /// The last [`TAIL_LEN`](super::TAIL_LEN) bytes are a good first range: they contain at least the postscript of
    /// every file, and all metadata of most files. Two requests open the files of every writer that stores its metadata
    /// contiguously, three if the first range was shorter.
    ///
    /// ```
    /// use pilaster::bytes::{FileRange, Input, Piece};
    /// use pilaster::column::Part;
    /// use pilaster::error::Kind;
    /// use pilaster::limits::Limits;
    /// use pilaster::vortex::{File, TAIL_LEN};
    ///
    /// # let server = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/lay_chunked_zones_a.vortex"));
    /// // Stands for a request to a server.
    /// let fetch = |at: u64, len: u64| Piece { at, bytes: &server[at as usize..][..len as usize] };
    ///
    /// let len = server.len() as u64;
    /// // For this small file, less than the usual `TAIL_LEN`.
    /// let first = TAIL_LEN.min(1 << 10);
    /// let mut pieces = vec![fetch(len - first, first)];
    /// let ranges = loop {
    ///     match File::open_input(Input::pieces(&pieces, len), None, &Limits::DEFAULT) {
    ///         Ok(file) => {
    ///             // The segments of the last rows of a column.
    ///             let mut ranges = vec![];
    ///             file.part()?.named("a")?.segments(200..250, &mut |range| Ok(ranges.push(range)))?;
    ///             break ranges;
    ///         }
    ///         Err(e) if e.kind() == Kind::Missing => pieces.push(fetch(e.at(), e.need().into())),
    ///         Err(e) => return Err(e),
    ///     }
    /// };
    /// assert_eq!(ranges, [FileRange { at: 1896, len: 636 }]);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`open_as`](Self::open_as) and of [`Input::get`].
    pub fn open_input(input: Input<'a>, dtype: Option<DType<'a>>, limits: &Limits) -> Result<Self> {
        let end = postscript_range(&input)?;
        let depth = Depth::new(limits);
        let root = |span: FileRange, what| -> Result<Table<'a>> {
            Flat::new_at(input.get(span, what)?, span.at).with_depth(depth).root()
        };
        let postscript = root(end, What::VORTEX_POSTSCRIPT)?;
        // The root of the part that a field of the postscript names.
        let part = |field, what| -> Result<Option<Table<'a>>> {
            let Some(segment) = postscript.table::<Table<'a>>(field)? else { return Ok(None) };
            let encoded = [flat::PostscriptSegment::COMPRESSION, flat::PostscriptSegment::ENCRYPTION];
            for field in encoded {
                if segment.table::<Table<'a>>(field)?.is_some() {
                    return Err(Error::new(Kind::Unsupported, what, segment.at()));
                }
            }
            root(span_in(segment)?, what).map(Some).map_err(|e| missing_parts(e, postscript, &input))
        };
        let missing = |what| Error::new(Kind::Invalid, what, postscript.at());

        let footer = part(flat::Postscript::FOOTER, What::VORTEX_FOOTER)?;
        let footer = footer.ok_or_else(|| missing(What::VORTEX_FOOTER))?;
        let layout = part(flat::Postscript::LAYOUT, What::VORTEX_LAYOUT)?;
        let layout = flat::Layout::from(layout.ok_or_else(|| missing(What::VORTEX_LAYOUT))?);
        let dtype = match part(flat::Postscript::DTYPE, What::VORTEX_DTYPE)? {
            Some(own) => DType::of(own)?,
            None => dtype.ok_or_else(|| missing(What::VORTEX_DTYPE))?,
        };
        let statistics = part(flat::Postscript::STATISTICS, What::VORTEX_STATISTICS)?.map(flat::FileStatistics::from);

        let segments = footer.vector(flat::Footer::SEGMENT_SPECS)?;
        let segments = segments.ok_or_else(|| Error::new(Kind::Invalid, What::VORTEX_FOOTER, footer.at()))?;
        check_segments(&segments, &input)?;
        if layout.row_count()? > limits.max_rows {
            return Err(Error::needing(Kind::Limit, What::MAX_ROWS, layout.at(), limits.max_rows));
        }
        // A file has one table.
        if layout.row_count()? > limits.max_file_rows {
            return Err(Error::needing(Kind::Limit, What::MAX_FILE_ROWS, layout.at(), limits.max_file_rows));
        }
        if dtype.children() as u64 > limits.max_columns.into() {
            return Err(Error::needing(Kind::Limit, What::MAX_COLUMNS, 0, limits.max_columns.into()));
        }
        // Fields that are read later must be present.
        postscript.count(flat::Postscript::METADATA)?;
        footer.count(flat::Footer::LAYOUT_SPECS)?;
        footer.count(flat::Footer::ARRAY_SPECS)?;
        let mut file = File {
            input,
            limits: *limits,
            dtype,
            root: Root::Layout(layout),
            statistics,
            postscript: Some(postscript),
            segments: Some(segments),
            ids: Ids::Footer(footer),
            cached: [Encoding::Unknown; CACHED as usize],
        };
        file.cache();
        Ok(file)
    }

    /// Creates a file of one array blob, the contents of a flat segment: `rows` rows of `dtype`. The nodes of the array
    /// refer to the encodings in `ids` by index.
    ///
    /// ```
    /// use pilaster::bytes::Scratch;
    /// use pilaster::column::{Column, Part, Type, Unit, Values};
    /// use pilaster::limits::Limits;
    /// use pilaster::vortex::{DType, File};
    ///
    /// # let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// # let mut blob = file[184..364].to_vec();
    /// # let at = blob.windows(2).rposition(|number| number == [26, 0]).expect("the number of the encoding");
    /// # blob[at] = 0;
    /// # let dtype = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/timestamp_ms_utc.dtype"));
    /// // A message consists of an array blob and the FlatBuffer of its type, `vortex.timestamp[ms, tz=UTC](i64)`.
    /// let dtype = DType::parse(dtype)?;
    /// let array = File::of_array(&blob, dtype, 1100, &["vortex.sequence"], &Limits::DEFAULT)?;
    /// let column = array.part()?.column(0)?;
    /// assert_eq!((column.ty(), column.zone()?), (Type::Timestamp(Unit::Milli), Some("UTC")));
    ///
    /// let mut memory = [0; 256];
    /// let batch = column.read(1..3, &mut Scratch::new(&mut memory))?;
    /// assert!(matches!(batch.values, Values::I64([999_993, 999_986])));
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Limit`] if `rows` exceeds [`Limits::max_rows`]. The array is checked when it is read.
    pub fn of_array(blob: &'a [u8], dtype: DType<'a>, rows: u64, ids: &'a [&'a str], limits: &Limits) -> Result<Self> {
        if rows > limits.max_rows {
            return Err(Error::needing(Kind::Limit, What::MAX_ROWS, 0, limits.max_rows));
        }
        let mut file = File {
            input: Input::whole(blob),
            limits: *limits,
            dtype,
            root: Root::Blob(blob, rows),
            statistics: None,
            postscript: None,
            segments: None,
            ids: Ids::Arrays(ids),
            cached: [Encoding::Unknown; CACHED as usize],
        };
        file.cache();
        Ok(file)
    }

    fn cache(&mut self) {
        for i in 0..CACHED {
            let encoding = self.array_id(i).map_or(Encoding::Unknown, |(id, _)| Encoding::of(id));
            self.cached.get_mut(usize::from(i)).into_iter().for_each(|cached| *cached = encoding);
        }
    }

    /// Returns the type of the rows: a struct of the columns, or the type of the only column.
    #[must_use]
    pub const fn dtype(&self) -> DType<'a> {
        self.dtype
    }

    /// Returns the type of child `k` of `ty`, a type of this file.
    pub(super) fn child_type(&self, ty: &Ty, k: usize) -> Result<Ty> {
        Ok(self.dtype.with(*ty).child(k)?.ty)
    }

    /// Returns the number of rows.
    ///
    /// # Errors
    /// Errors of an invalid root layout.
    pub fn rows(&self) -> Result<u64> {
        match self.root {
            Root::Layout(layout) => layout.row_count(),
            Root::Blob(_, rows) => Ok(rows),
        }
    }

    /// Returns the limits that the file was opened with.
    #[must_use]
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub const fn input(&self) -> &Input<'a> {
        &self.input
    }

    /// Returns the file with its rows read through `input`, another input of the same bytes. The metadata stay where
    /// they are. So a walk over the rows can release the bytes of each step.
    #[must_use]
    pub(crate) fn with_input<'w>(&self, input: Input<'w>) -> File<'w>
    where
        'a: 'w,
    {
        File { input, ..*self }
    }

    pub(super) const fn root(&self) -> Root<'a> {
        self.root
    }

    /// Returns the postscript, or `None` for an array without a file.
    pub(super) const fn postscript(&self) -> Option<Table<'a>> {
        self.postscript
    }

    /// Returns the footer, or `None` for an array without a file.
    pub(super) const fn footer(&self) -> Option<Table<'a>> {
        match self.ids {
            Ids::Footer(footer) => Some(footer),
            Ids::Arrays(_) => None,
        }
    }

    /// Returns the statistics of the whole file as they are stored.
    pub(super) const fn statistics(&self) -> Option<flat::FileStatistics<'a>> {
        self.statistics
    }

    /// Returns the number of entries of user metadata.
    ///
    /// ```
    /// use pilaster::vortex::File;
    ///
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// let file = File::open(bytes)?;
    /// for i in 0..file.metadata_len() {
    ///     let (name, range) = file.metadata(i)?;
    ///     println!("{name}: {} bytes at offset {}", range.len, range.at);
    /// }
    /// // This file has none.
    /// assert_eq!(file.metadata_len(), 0);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub fn metadata_len(&self) -> usize {
        self.postscript.and_then(|postscript| postscript.count(flat::Postscript::METADATA).ok()).unwrap_or(0)
    }

    /// Returns the name and the byte range of entry `i` of the user metadata.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`metadata_len`](Self::metadata_len); errors of an invalid entry.
    pub fn metadata(&self, i: usize) -> Result<(&'a str, FileRange)> {
        let none = || Error::new(Kind::OutOfRange, What::VORTEX_POSTSCRIPT, i as u64);
        let metadata = flat::Postscript::from(self.postscript.ok_or_else(none)?).metadata()?;
        let entry = metadata.ok_or_else(none)?.get(i)?;
        Ok((entry.key()?.text()?, span_in(entry.segment()?.into())?))
    }

    /// Returns id `i` in a vector of the footer, and the offset of the id in the file.
    fn id(&self, specs: u8, i: u16, what: What) -> Result<(&'a [u8], u64)> {
        let none = || Error::new(Kind::OutOfRange, what, i.into());
        match self.ids {
            Ids::Footer(footer) => {
                let spec = footer.element(specs, i.into())?.ok_or_else(none)?;
                let id = flat::ArraySpec::from(spec).id()?;
                Ok((id.bytes(), id.at()))
            }
            Ids::Arrays(ids) if specs == flat::Footer::ARRAY_SPECS => {
                ids.get(usize::from(i)).map(|id| (id.as_bytes(), i.into())).ok_or_else(none)
            }
            Ids::Arrays(_) => Err(none()),
        }
    }

    /// Returns the id of the encoding with number `i` in the footer, and the offset of the id in the file.
    pub(super) fn array_id(&self, i: u16) -> Result<(&'a [u8], u64)> {
        self.id(flat::Footer::ARRAY_SPECS, i, What::VORTEX_ENCODING)
    }

    /// Returns the encoding with number `i` in the footer; array nodes refer to it.
    pub(super) fn encoding(&self, i: u16) -> Result<Encoding> {
        match self.cached.get(usize::from(i)) {
            Some(Encoding::Unknown) | None => Ok(Encoding::of(self.array_id(i)?.0)),
            Some(encoding) => Ok(*encoding),
        }
    }

    /// Returns the id of the layout with number `i` in the footer, and the offset of the id.
    pub(super) fn layout_id(&self, i: u16) -> Result<(&'a [u8], u64)> {
        self.id(flat::Footer::LAYOUT_SPECS, i, What::VORTEX_LAYOUT_ID)
    }

    pub(super) fn layout(&self, i: u16) -> Result<LayoutId> {
        Ok(LayoutId::of(self.layout_id(i)?.0))
    }

    /// Returns the id of the encoding or layout that an error of [`Kind::Unsupported`] is about, or `None` for any
    /// other error.
    ///
    /// ```
    /// use pilaster::bytes::Scratch;
    /// use pilaster::column::{Column, Part};
    /// use pilaster::vortex::File;
    ///
    /// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// # let at = bytes.windows(15).position(|id| id == b"vortex.sequence").expect("the id");
    /// # bytes[at..][..15].copy_from_slice(b"vortex.patched2");
    /// // A file with an encoding of a later release.
    /// let file = File::open(&bytes)?;
    /// let e = file.part()?.named("i32")?.read(0..1, &mut Scratch::new(&mut [0; 64])).unwrap_err();
    /// assert_eq!(file.unknown_id(&e), Some("vortex.patched2"));
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub fn unknown_id(&self, e: &Error) -> Option<&'a str> {
        let number = u16::try_from(e.need()).ok().filter(|_| e.kind() == Kind::Unsupported)?;
        let (id, _) = match e.what() {
            What::VORTEX_ENCODING => self.array_id(number).ok()?,
            What::VORTEX_LAYOUT_ID => self.layout_id(number).ok()?,
            _ => return None,
        };
        core::str::from_utf8(id).ok()
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.segments.map_or(0, |segments| segments.len())
    }

    /// Returns the alignment of segment `i`, as an exponent of two. This crate does not depend on it.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`segments`](Self::segments).
    pub fn segment_alignment(&self, i: u32) -> Result<u8> {
        let none = || Error::needing(Kind::OutOfRange, What::VORTEX_SEGMENT, i.into(), self.segments() as u64);
        self.segments
            .and_then(|segments| segments.get(usize::try_from(i).ok()?))
            .map(|s| s.alignment_exponent)
            .ok_or_else(none)
    }

    /// Returns the byte range of segment `i` in the file.
    ///
    /// ```
    /// use pilaster::bytes::FileRange;
    /// use pilaster::vortex::File;
    ///
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
    /// let file = File::open(bytes)?;
    /// assert_eq!(file.segments(), 4);
    /// assert_eq!(file.segment(1)?, FileRange { at: 184, len: 180 });
    /// // Aligned to 8 bytes.
    /// assert_eq!(file.segment_alignment(1)?, 3);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`segments`](Self::segments), [`Kind::Unsupported`] if the segment is
    /// compressed or encrypted.
    pub fn segment(&self, i: u32) -> Result<FileRange> {
        let none = || Error::needing(Kind::OutOfRange, What::VORTEX_SEGMENT, i.into(), self.segments() as u64);
        let spec = self.segments.and_then(|segments| segments.get(usize::try_from(i).ok()?)).ok_or_else(none)?;
        if spec.compression != 0 || spec.encryption != 0 {
            return Err(Error::needing(Kind::Unsupported, What::VORTEX_SEGMENT, spec.offset, i.into()));
        }
        Ok(FileRange { at: spec.offset, len: spec.length.into() })
    }
}

impl fmt::Debug for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("len", &self.input.len()).field("rows", &self.rows()).finish_non_exhaustive()
    }
}
