//! The checked description of one column: its type, rows and buffers (sections 3 to 5).

use core::fmt;

use super::Stats;
use crate::bytes::{FileRange, checked_product};
use crate::error::{Error, Kind, Result, What};
use crate::generated::jay as views;
use crate::jay::raw::{ALIGN, DATA, HEAD, SType, TEXT, VALIDITY};
use crate::limits::Fuel;

/// The layout of a column's description. One file can contain both layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Layout {
    /// `stype`, `data`, `strdata`: all files of early releases; in all releases, void columns and the columns of CSV
    /// read in chunks.
    Old,
    /// `type`, `buffers`, `children`.
    New,
}

/// The ranges of absent buffers: empty.
const NO_BUFFERS: [FileRange; 3] = [FileRange { at: HEAD.len() as u64, len: 0 }; 3];

/// Rules for all columns of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// End offset that no buffer may exceed.
    pub(super) end: u64,
    pub(super) tolerant: bool,
    pub(super) trust: bool,
}

/// The description of a column in the metadata. Everything that can be checked without the data is checked.
///
/// ```
/// use pilaster::bytes::{FileRange, Scratch};
/// use pilaster::jay::{DATA, Field, File, Layout, ReadOptions, SType, Stats, TEXT, VALIDITY};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bytes = std::fs::read("examples/data/stats_n7.jay")?;
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 512]))?;
/// let field: Field<'_> = file.meta().field(24)?;
/// assert_eq!((field.stype(), field.layout()), (SType::Str64, Layout::New));
/// assert_eq!((field.rows(), field.null_count(), field.stats()?), (7, 3, None));
/// assert!(field.child()?.is_none());
///
/// // Without a bitmap, flags in the offsets mark the missing rows.
/// let buffers = field.buffers();
/// assert_eq!(buffers[VALIDITY].len, 0);
/// assert_eq!(buffers[DATA], FileRange { at: 824, len: 64 });
/// assert_eq!(buffers[TEXT], FileRange { at: 888, len: 32 });
/// assert_eq!(field.span()?, FileRange { at: 824, len: 96 });
///
/// let field = file.meta().field(6)?;
/// assert_eq!(field.stats()?, Some(Stats::Int { min: -32767, max: 25366 }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Field<'a> {
    view: views::Column<'a>,
    stype: SType,
    layout: Layout,
    /// Size in bytes of an offset (strings and arrays) or of an element. In tolerant mode, the size of string offsets
    /// is inferred from the length of their buffer.
    width: u8,
    pub(super) rules: Rules,
    rows: u64,
    nulls: u64,
    buffers: [FileRange; 3],
}

impl<'a> Field<'a> {
    /// Creates the column of `view`, in a frame of `frame` rows.
    pub(super) fn of(view: views::Column<'a>, frame: u64, rules: Rules) -> Result<Self> {
        let mut field = Field {
            view,
            stype: SType::Void0,
            layout: Layout::Old,
            width: 0,
            rules,
            rows: 0,
            nulls: 0,
            buffers: NO_BUFFERS,
        };
        field.describe(Some(frame))?;
        Ok(field)
    }

    /// Reads the properties from the view of a column in a frame of `frame` rows (`None`: a child, which has its own
    /// number of rows).
    fn describe(&mut self, frame: Option<u64>) -> Result<()> {
        let (view, at) = (self.view, self.view.at());
        (self.stype, self.layout) = match view.type_()? {
            Some(ty) => (ty.stype()?, Layout::New),
            None => (view.stype()?, Layout::Old),
        };
        let (stype, old) = (self.stype, self.layout == Layout::Old);
        if matches!(stype, SType::Unknown(_)) || old && stype.is_array() {
            return Err(Error::needing(Kind::Unsupported, What::JAY_TYPE, at, u8::from(stype).into()));
        }
        self.rows = match frame {
            Some(frame) if old => frame,
            None if old => return Err(Error::new(Kind::Invalid, What::JAY_TYPE, at)),
            _ => view.nrows()?,
        };
        if frame.is_some_and(|frame| frame != self.rows) {
            return Err(self.error(What::JAY_ROWS, self.rows));
        }
        self.nulls = view.nullcount()?;
        if self.nulls > self.rows && !self.rules.tolerant {
            return Err(self.error(What::JAY_NULLS, self.nulls));
        }
        self.width = u8::try_from(stype.width()).unwrap_or(0);
        self.buffers = NO_BUFFERS;
        self.place()?;
        self.fit()
    }

    /// Reads the ranges of the buffers.
    fn place(&mut self) -> Result<()> {
        let count = self.stype.buffers();
        if count == 0 {
            return Ok(());
        }
        match self.layout {
            Layout::Old => {
                self.put(DATA, self.view.data()?)?;
                self.put(TEXT, self.view.strdata()?)?;
            }
            Layout::New => {
                let Some(list) = self.view.buffers()? else { return Err(self.error(What::JAY_BUFFERS, 0)) };
                if list.len() < count || list.len() > count && !self.rules.tolerant {
                    return Err(self.error(What::JAY_BUFFERS, list.len() as u64));
                }
                for (k, stored) in list.iter().take(count).enumerate() {
                    self.put(k, Some(stored))?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, k: usize, stored: Option<views::Buffer>) -> Result<()> {
        if let (Some(buffer), Some(stored)) = (self.buffers.get_mut(k), stored) {
            *buffer = self.rules.span(stored)?;
        }
        Ok(())
    }

    /// Compares the lengths of the buffers with the rows.
    fn fit(&mut self) -> Result<()> {
        let [validity, data, _] = self.buffers;
        let bits = self.rows.div_ceil(8);
        if validity.len != 0 && validity.len < bits {
            return Err(short(What::JAY_VALIDITY, validity, bits));
        }
        let width = u64::from(self.width);
        // Strings and arrays have one more offset than rows.
        let Some(offsets) = self.rows.checked_add(1) else { return Err(self.error(What::JAY_ROWS, self.rows)) };
        let is_text = self.stype.is_text();
        if is_text && self.rules.tolerant && validity.len == 0 {
            // The original infers the width from the length of the buffer alone.
            self.width = if offsets.checked_mul(4) == Some(data.len) { 4 } else { 8 };
        }
        let width = if is_text { self.width.into() } else { width };
        let values = if is_text || self.stype.is_array() { offsets } else { self.rows };
        let need = checked_product(values, width).ok_or_else(|| self.error(What::JAY_ROWS, self.rows))?;
        let packed = self.stype == SType::Bool8 && data.len >= bits;
        if data.len < need && !packed {
            return Err(short(What::JAY_BUFFER, data, need));
        }
        // The original infers the width of string offsets from the exact length.
        if is_text && data.len != need && !self.rules.tolerant {
            return Err(Error::needing(Kind::Invalid, What::JAY_OFFSETS, data.at, data.len));
        }
        Ok(())
    }

    /// Returns the storage type.
    #[must_use]
    pub const fn stype(&self) -> SType {
        self.stype
    }

    /// Returns the layout of the description.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of missing rows as stored in the file.
    #[must_use]
    pub const fn null_count(&self) -> u64 {
        self.nulls
    }

    /// Returns minimum and maximum, if the file stores them in a form that fits the type.
    ///
    /// # Errors
    /// Errors of the FlatBuffers metadata.
    pub fn stats(&self) -> Result<Option<Stats>> {
        Ok(self.view.stats()?.and_then(|stored| Stats::of(stored, self.stype)))
    }

    /// Returns the stored statistics, whether or not they fit the type of the column.
    pub(super) fn stored_stats(&self) -> Result<Option<views::Stats>> {
        self.view.stats()
    }

    /// Returns the ranges of the buffers in the file: validity, values or offsets, characters. The range of an absent
    /// buffer is empty.
    #[must_use]
    pub const fn buffers(&self) -> &[FileRange; 3] {
        &self.buffers
    }

    /// Returns the offset of the description in the file.
    #[must_use]
    pub(crate) fn at(&self) -> u64 {
        self.view.at()
    }

    /// Returns the element column of an array, or `None` for other types.
    ///
    /// # Errors
    /// Errors of an invalid child; [`Kind::Limit`] if arrays nest too deep.
    pub fn child(&self) -> Result<Option<Field<'a>>> {
        if !self.stype.is_array() {
            return Ok(None);
        }
        let mut child = *self;
        match self.view.children()? {
            Some(children) if children.len() == 1 => child.view = children.get(0)?,
            other => return Err(self.error(What::JAY_CHILDREN, other.map_or(0, |children| children.len() as u64))),
        }
        child.describe(None)?;
        let declared = element(self.view.type_()?)?;
        if child.layout == Layout::Old || declared.map(|ty| ty.stype()).transpose()? != Some(child.stype) {
            return Err(child.error(What::JAY_TYPE, u8::from(child.stype).into()));
        }
        Ok(Some(child))
    }

    /// Returns the smallest byte range of the file that contains all buffers of the column and its children: the range
    /// to fetch to read the column. In files of the original it contains nothing else.
    ///
    /// # Errors
    /// Errors of [`child`](Self::child).
    pub fn span(&self) -> Result<FileRange> {
        let (mut from, mut to) = (u64::MAX, 0);
        self.each_buffer(&mut Fuel::new(&crate::limits::Limits::DEFAULT), &mut |span| {
            from = from.min(span.at);
            to = to.max(span.end().unwrap_or(u64::MAX));
            Ok(())
        })?;
        Ok(match to.checked_sub(from) {
            Some(len) => FileRange { at: from, len },
            None => FileRange { at: HEAD.len() as u64, len: 0 },
        })
    }

    /// Passes every non-empty buffer of the column and its children to `each`. This also checks the children.
    pub(super) fn each_buffer(&self, fuel: &mut Fuel, each: &mut dyn FnMut(FileRange) -> Result<()>) -> Result<()> {
        let mut field = *self;
        loop {
            for span in field.buffers.iter().filter(|span| span.len > 0) {
                each(*span)?;
            }
            let Some(child) = field.child()? else { return Ok(()) };
            field = child;
            fuel.spend(field.at())?;
        }
    }

    /// Checks that the type that the child declares equals the element type that this column declares, at every depth.
    pub(super) fn same_types(&self, fuel: &mut Fuel) -> Result<()> {
        let Some(child) = self.child()? else { return Ok(()) };
        let (mut outer, mut own) = (self.view.type_()?, child.view.type_()?);
        loop {
            outer = element(outer)?;
            match (outer, own) {
                (None, None) => return Ok(()),
                (Some(declared), Some(ty)) => {
                    fuel.spend(ty.at())?;
                    if declared.stype()? != ty.stype()? {
                        break;
                    }
                }
                _ => break,
            }
            own = element(own)?;
        }
        Err(Error::new(Kind::Invalid, What::JAY_TYPE, child.at()))
    }

    /// Returns whether booleans have one bit each.
    pub(super) const fn is_packed(&self) -> bool {
        matches!(self.stype, SType::Bool8) && self.buffers[DATA].len < self.rows
    }

    /// Returns the size in bytes of an offset (strings and arrays) or of an element.
    pub(super) const fn width(&self) -> u8 {
        self.width
    }

    /// Returns whether offsets have 32 bits.
    pub(super) const fn is_narrow(&self) -> bool {
        self.width <= 4
    }

    pub(super) const fn buffer(&self, which: Which) -> FileRange {
        match which {
            Which::Validity => self.buffers[VALIDITY],
            Which::Data => self.buffers[DATA],
            Which::Text => self.buffers[TEXT],
        }
    }

    #[cold]
    fn error(&self, what: What, need: u64) -> Error {
        Error::needing(Kind::Invalid, what, self.view.at(), need)
    }
}

impl fmt::Debug for Field<'_> {
    /// Omits the bytes of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field")
            .field("at", &self.at())
            .field("stype", &self.stype)
            .field("layout", &self.layout)
            .field("rows", &self.rows)
            .field("nulls", &self.nulls)
            .field("buffers", &self.buffers)
            .finish()
    }
}

/// The purpose of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Validity,
    Data,
    Text,
}

impl Rules {
    /// Returns the checked range of a buffer in the file.
    fn span(&self, stored: views::Buffer) -> Result<FileRange> {
        let views::Buffer { offset, length } = stored;
        let at = offset.saturating_add(HEAD.len() as u64);
        let wrong = |kind, need| Error::needing(kind, What::JAY_BUFFER, at, need);
        let Some(at) = offset.checked_add(HEAD.len() as u64) else {
            return Err(wrong(Kind::Overflow, offset));
        };
        let span = FileRange { at, len: length };
        match span.end() {
            None => Err(wrong(Kind::Overflow, length)),
            Some(end) if end > self.end => Err(wrong(Kind::Truncated, length)),
            _ if !offset.is_multiple_of(ALIGN) && !self.tolerant => Err(wrong(Kind::Invalid, offset)),
            _ => Ok(span),
        }
    }
}

/// Returns the element type that an array type declares.
fn element<'a>(ty: Option<views::Type<'a>>) -> Result<Option<views::Type<'a>>> {
    match ty.map(|ty| ty.extra()).transpose()?.flatten() {
        Some(views::TypeExtra::Child(child)) => Ok(Some(child)),
        _ => Ok(None),
    }
}

#[cold]
fn short(what: What, span: FileRange, need: u64) -> Error {
    Error::needing(Kind::Truncated, what, span.at, need)
}
