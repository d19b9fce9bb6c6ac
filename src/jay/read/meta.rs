//! The metadata: rows, keys, and the descriptions of all columns (sections 2 and 5).

use core::str;

use super::field::Rules;
use super::order::{Disjoint, disjoint, unique_names};
use super::{Field, ReadOptions, Tail};
use crate::bytes::Scratch;
use crate::column::no_column;
use crate::error::{Error, Kind, Result, What};
use crate::generated::jay as views;
use crate::limits::{Depth, Fuel};
use crate::meta::flat::{Flat, Linked, Str};

/// The checked metadata of a file.
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    columns: Linked<'a, views::Column<'a>>,
    rows: u64,
    keys: u32,
    at: u64,
    rules: Rules,
    max_nodes: u32,
    /// The first problem of the frame; only in tolerant mode.
    odd: Option<Error>,
}

impl<'a> Meta<'a> {
    /// Opens the metadata in `bytes`, the range [`tail.meta`](Tail::meta) of the file. Checks all column descriptions,
    /// in time proportional to their number. Uses `scratch` temporarily if the file has more than 32 columns or its
    /// buffers are not in ascending order.
    ///
    /// # Errors
    /// Errors of invalid metadata; [`Kind::NoRoom`] if `scratch` is too small.
    pub(crate) fn open(bytes: &'a [u8], tail: &Tail, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Self> {
        let limits = &options.limits;
        let flat = Flat::new_at(bytes, tail.meta.at).with_depth(Depth::new(limits));
        let frame: views::Frame<'a> = flat.root()?;
        let at = frame.at();
        let Some(columns) = frame.columns()? else { return Err(Error::new(Kind::Invalid, What::JAY_COLUMNS, at)) };
        let (rows, count) = (frame.nrows()?, columns.len() as u64);
        let limit = |what, most: u64| Error::needing(Kind::Limit, what, at, most);
        if rows > limits.max_rows {
            return Err(limit(What::MAX_ROWS, limits.max_rows));
        }
        // A file has one table.
        if rows > limits.max_file_rows {
            return Err(limit(What::MAX_FILE_ROWS, limits.max_file_rows));
        }
        if count > limits.max_columns.into() {
            return Err(limit(What::MAX_COLUMNS, limits.max_columns.into()));
        }
        let (stated, keys) = (frame.ncols()?, frame.nkeys()?);
        let mut odd = None;
        if stated != count {
            odd = Some(Error::needing(Kind::Invalid, What::JAY_COLUMNS, at, stated));
        }
        let keys = u32::try_from(keys).ok().filter(|keys| u64::from(*keys) <= count).unwrap_or_else(|| {
            odd = Some(Error::needing(Kind::Invalid, What::JAY_KEYS, at, keys.cast_unsigned().into()));
            0
        });
        // In tolerant mode, a buffer may be anywhere in the file.
        let end = if options.tolerant { tail.file } else { tail.meta.at };
        let rules = Rules { end, tolerant: options.tolerant, trust: !options.check_null_counts && !options.tolerant };
        let meta = Meta { columns, rows, keys, at: tail.meta.at, rules, max_nodes: limits.max_nodes, odd };
        if !options.tolerant {
            meta.frame()?;
            meta.check(tail.meta.len, scratch)?;
        }
        Ok(meta)
    }

    /// Checks every rule of a valid file.
    pub(super) fn check(&self, len: u64, scratch: &mut Scratch<'_>) -> Result<()> {
        let mut fuel = self.fuel();
        let mut all = Disjoint::NONE;
        for k in 0..self.width() {
            legal(self.stored_name(k)?)?;
            let field = self.field(k)?;
            field.stored_stats()?;
            field.each_buffer(&mut fuel, &mut |span| {
                all.add(span);
                Ok(())
            })?;
            field.same_types(&mut fuel)?;
        }
        if !all.ascending {
            let mut inner = scratch.scope();
            let spans = inner.take::<[u64; 2]>(all.count)?;
            let (mut rest, mut fuel) = (spans.iter_mut(), self.fuel());
            for k in 0..self.width() {
                self.field(k)?.each_buffer(&mut fuel, &mut |span| {
                    if let Some(to) = rest.next() {
                        *to = [span.at, span.end().unwrap_or(u64::MAX)];
                    }
                    Ok(())
                })?;
            }
            disjoint(spans)?;
        }
        unique_names(&self.columns, len, scratch)
    }

    pub(super) fn fuel(&self) -> Fuel {
        Fuel::new(&crate::limits::Limits { max_nodes: self.max_nodes, ..crate::limits::Limits::DEFAULT })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of leading columns that are the key. Rows are sorted by the key, and no two rows have equal
    /// keys.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.keys as usize
    }

    /// Returns the name of column `k`. In tolerant mode, an absent name is empty, and an invalid name ends before its
    /// first invalid byte.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below the number of columns; errors of an invalid name.
    pub fn name(&self, k: usize) -> Result<&'a str> {
        let name = match self.stored_name(k) {
            Err(_) if self.rules.tolerant && k < self.width() => return Ok(""),
            name => name?,
        };
        match name.text() {
            Err(_) if self.rules.tolerant => Ok(front(name.bytes())),
            text => text,
        }
    }

    pub(super) fn stored_name(&self, k: usize) -> Result<Str<'a>> {
        let view = self.view(k)?;
        view.name()?.ok_or_else(|| Error::new(Kind::Invalid, What::JAY_NAME, view.at()))
    }

    /// Returns the description of column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below the number of columns; errors of an invalid description.
    pub fn field(&self, k: usize) -> Result<Field<'a>> {
        Field::of(self.view(k)?, self.rows, self.rules)
    }

    fn view(&self, k: usize) -> Result<views::Column<'a>> {
        if k >= self.width() {
            return Err(no_column(k, self.width()));
        }
        self.columns.get(k)
    }

    /// Returns the offset of the metadata in the file.
    #[must_use]
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the problem of the frame itself as an error.
    pub(super) fn frame(&self) -> Result<()> {
        self.odd.map_or(Ok(()), Err)
    }

    /// Returns the metadata with strict rules: neither tolerance nor trust.
    pub(super) const fn strict(&self) -> Meta<'a> {
        Meta { rules: Rules { end: self.at, tolerant: false, trust: false }, ..*self }
    }
}

/// Returns the text before the first byte that is not valid UTF-8.
fn front(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => bytes.get(..e.valid_up_to()).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default(),
    }
}

/// Checks a name as the original's reader does: valid UTF-8, not empty, without control characters.
pub(super) fn legal(name: Str<'_>) -> Result<()> {
    let text = name.text()?;
    let control = text.bytes().position(|byte| byte < 0x20);
    match (text.is_empty(), control) {
        (false, None) => Ok(()),
        (_, at) => {
            let at = name.at().saturating_add(at.unwrap_or(0) as u64);
            Err(Error::new(Kind::Invalid, What::JAY_NAME, at))
        }
    }
}
