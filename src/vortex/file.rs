//! The container: end marker, postscript, dtype, layout, statistics, footer (sections 3 and 4).

use core::fmt;

use super::dtype::{DType, Ty};
use super::raw::{self, Encoding, LayoutId};
use crate::bytes::{FileRange, Input, Piece};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, SegmentSpec};
use crate::limits::{Depth, Limits};
use crate::meta::flat::{Flat, Inline, Table};

/// Array encodings whose ids are looked up once.
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

/// What the rows come from.
#[derive(Clone, Copy)]
pub(super) enum Root<'a> {
    Layout(flat::Layout<'a>),
    /// One array blob without a file around it, and its rows.
    Blob(&'a [u8], u64),
}

/// The ids that nodes count.
#[derive(Clone, Copy)]
enum Ids<'a> {
    /// Ids of layouts and arrays, in this footer.
    Footer(Table<'a>),
    /// Ids of arrays only.
    Arrays(&'a [&'a str]),
}

// Both kinds of specs have it in the same field.
const _: () = assert!(flat::ArraySpec::ID == flat::LayoutSpec::ID);

/// Where the postscript is, and how long the file: what the last bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct End {
    /// The postscript.
    pub postscript: FileRange,
}

impl End {
    /// Reads the end marker of a file, its last 8 bytes.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the file is shorter or the postscript does not fit, [`Kind::Invalid`] if the
    /// magic number is another, [`Kind::Unsupported`] for other versions than 1.
    pub(crate) fn of(input: &Input<'_>) -> Result<Self> {
        let short = || Error::needing(Kind::Truncated, What::VORTEX_END, 0, raw::END_LEN);
        let at = input.len().checked_sub(raw::END_LEN).ok_or_else(short)?;
        let bytes = input.get(FileRange { at, len: raw::END_LEN }, What::VORTEX_END)?;
        let Some(&[a, b, c, d, magic @ ..]) = bytes.first_chunk::<8>() else { return Err(short()) };
        if magic != raw::MAGIC {
            let found = u32::from_le_bytes(magic);
            return Err(Error::needing(Kind::Invalid, What::VORTEX_END, at.saturating_add(4), found.into()));
        }
        let (version, len) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        if version != raw::VERSION {
            return Err(Error::needing(Kind::Unsupported, What::VORTEX_VERSION, at, version.into()));
        }
        let len = u64::from(len);
        let start =
            at.checked_sub(len).ok_or_else(|| Error::needing(Kind::Truncated, What::VORTEX_POSTSCRIPT, 0, len))?;
        Ok(End { postscript: FileRange { at: start, len } })
    }
}

impl<'a> File<'a> {
    /// Opens a file in memory, with the limits of a host.
    ///
    /// # Errors
    /// Errors of invalid metadata; [`Kind::Invalid`] in `What::VORTEX_DTYPE` if the file stores no type, so that the
    /// caller must pass one ([`open_as`](Self::open_as)).
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::open_input(Input::whole(bytes), None, &Limits::DEFAULT)
    }

    /// Opens a file whose type the caller knows: it counts only where the file has none.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_as(bytes: &'a [u8], dtype: DType<'a>) -> Result<Self> {
        Self::open_input(Input::whole(bytes), Some(dtype), &Limits::DEFAULT)
    }

    /// Opens a file of which some byte ranges are present. An error of [`Kind::Missing`] names the range to fetch next.
    /// The last [`TAIL_LEN`](super::TAIL_LEN) bytes are a good first range: they contain at least the postscript of
    /// every file, and all metadata of most files. Two requests open the files of every writer that stores its metadata
    /// contiguously, three if the first range was shorter.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Kind::Missing`].
    pub fn open_pieces(pieces: &'a [Piece<'a>], len: u64, limits: &Limits) -> Result<Self> {
        Self::open_parts(Input::pieces(pieces, len), None, limits, true)
    }

    /// Opens a file in any way; parts that are missing are asked for one by one.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Kind::Missing`].
    pub fn open_input(input: Input<'a>, dtype: Option<DType<'a>>, limits: &Limits) -> Result<Self> {
        Self::open_parts(input, dtype, limits, false)
    }

    /// Opens a file in any way; where parts are missing, all of them are asked for `together`, or the first one.
    fn open_parts(input: Input<'a>, dtype: Option<DType<'a>>, limits: &Limits, together: bool) -> Result<Self> {
        let end = End::of(&input)?;
        let depth = Depth::new(limits);
        let root = |span: FileRange, what| -> Result<Table<'a>> {
            Flat::new_at(input.get(span, what)?, span.at).with_depth(depth).root()
        };
        let postscript = root(end.postscript, What::VORTEX_POSTSCRIPT)?;
        // The root of the part that a field of the postscript names.
        let part = |field, what| -> Result<Option<Table<'a>>> {
            let Some(segment) = postscript.table::<Table<'a>>(field)? else { return Ok(None) };
            let encoded = [flat::PostscriptSegment::COMPRESSION, flat::PostscriptSegment::ENCRYPTION];
            for field in encoded {
                if segment.table::<Table<'a>>(field)?.is_some() {
                    return Err(Error::new(Kind::Unsupported, what, segment.at()));
                }
            }
            match root(span_in(segment)?, what) {
                Err(e) if together => Err(missing_parts(e, postscript, &input)),
                root => root.map(Some),
            }
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

    /// One array blob, such as a flat segment holds, without a file around it: `rows` rows of `dtype`,
    /// whose nodes count the encodings in `ids`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there are too many rows. The array is looked at when it is read.
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

    /// The type of child `k` of a type that the file holds.
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

    /// Its limits.
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
    pub fn with_input<'w>(&self, input: Input<'w>) -> File<'w>
    where
        'a: 'w,
    {
        File { input, ..*self }
    }

    pub(super) const fn root(&self) -> Root<'a> {
        self.root
    }

    /// Statistics of the whole file as they are stored.
    pub(super) const fn statistics(&self) -> Option<flat::FileStatistics<'a>> {
        self.statistics
    }

    /// How many pieces of user data the file has.
    #[must_use]
    pub fn metadata_len(&self) -> usize {
        self.postscript.and_then(|postscript| postscript.count(flat::Postscript::METADATA).ok()).unwrap_or(0)
    }

    /// Piece `i` of user data: its name and where it lies.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`], or what is wrong with its entry.
    pub fn metadata(&self, i: usize) -> Result<(&'a str, FileRange)> {
        let none = || Error::new(Kind::OutOfRange, What::VORTEX_POSTSCRIPT, i as u64);
        let metadata = flat::Postscript::from(self.postscript.ok_or_else(none)?).metadata()?;
        let entry = metadata.ok_or_else(none)?.get(i)?;
        Ok((entry.key()?.text()?, span_in(entry.segment()?.into())?))
    }

    /// Id `i` in a vector of the footer, and its offset in the file.
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

    /// Id `i` that array nodes count, and its offset in the file.
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

    /// The id that an error of [`Kind::Unsupported`] is about: of an encoding or a layout that this version
    /// does not know.
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

    /// How many segments.
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

/// An error about one part that no piece holds, widened to all such parts: writers put them next to each other,
/// so that one request fetches them. Those that lie far apart are fetched one by one.
#[cold]
fn missing_parts(e: Error, postscript: Table<'_>, input: &Input<'_>) -> Error {
    let what = e.what();
    if e.kind() != Kind::Missing {
        return e;
    }
    let (mut start, mut end, mut sum) = (u64::MAX, 0, 0u64);
    for field in flat::Postscript::DTYPE..=flat::Postscript::FOOTER {
        let Ok(Some(segment)) = postscript.table(field) else { continue };
        let Ok(span) = span_in(segment) else { continue };
        if input.get(span, what).is_err_and(|e| e.kind() == Kind::Missing) {
            (start, end) = (start.min(span.at), end.max(span.at.saturating_add(span.len)));
            sum = sum.saturating_add(span.len);
        }
    }
    let len = end.saturating_sub(start);
    if len > sum.saturating_add(raw::TAIL_LEN) {
        return e;
    }
    Error::needing(Kind::Missing, what, start, len)
}

/// Where a part lies, by its entry in the postscript.
fn span_in(segment: Table<'_>) -> Result<FileRange> {
    let segment = flat::PostscriptSegment::from(segment);
    Ok(FileRange { at: segment.offset()?, len: segment.length()?.into() })
}

/// Segments are in order of their offsets and inside the file.
fn check_segments(segments: &Inline<'_, SegmentSpec>, input: &Input<'_>) -> Result<()> {
    let mut before = 0;
    for (i, spec) in segments.iter().enumerate() {
        let (kind, need) = if spec.offset < before {
            (Kind::Invalid, spec.offset)
        } else if spec.offset.saturating_add(spec.length.into()) > input.len() {
            (Kind::Truncated, spec.length.into())
        } else if spec.alignment_exponent > raw::MAX_ALIGNMENT {
            (Kind::Invalid, spec.alignment_exponent.into())
        } else {
            before = spec.offset;
            continue;
        };
        let at = segments.at().saturating_add((i as u64).saturating_mul(16));
        return Err(Error::needing(kind, What::VORTEX_SEGMENT, at, need));
    }
    Ok(())
}
