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

/// The metadata of a file: a view that was checked.
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
    /// The metadata `bytes`, which lie where `tail` says. Every description is looked at, in time
    /// that is proportional to their number. Files of more than 32 columns, and those whose buffers
    /// do not come in order, take some of `scratch` meanwhile.
    ///
    /// # Errors
    /// Errors of invalid metadata; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open(bytes: &'a [u8], tail: &Tail, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Self> {
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
        // The tolerant follow a buffer to wherever in the file it lies.
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

    /// How many rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// How many columns.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.columns.len()
    }

    /// How many of the first columns are the key: by them the rows are sorted, and unique.
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

    /// The description of column `k`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such column; what is wrong with the description.
    pub fn field(&self, k: usize) -> Result<Field<'a>> {
        Field::of(self.view(k)?, self.rows, self.rules)
    }

    fn view(&self, k: usize) -> Result<views::Column<'a>> {
        if k >= self.width() {
            return Err(no_column(k, self.width()));
        }
        self.columns.get(k)
    }

    /// Offset of the metadata in the file.
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

/// A name as the original's reader would leave it: text, not empty, without control characters.
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
