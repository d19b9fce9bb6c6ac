//! Puts values together, in the arena for texts. An object or array begins with a table of its items, then their values
//! follow. At last the header is written after the values, and both are moved to the start of the table.

use core::ops::Range;

use super::primitive::primitive;
use super::size::too_large;
use super::{Found, ListItems, ObjectFields, ValueAt, has_objects, is_value, stored};
use crate::bytes::{low32, saturated, sort_by};
use crate::encoding::cells::Cells;
use crate::encoding::variant::{self, Header, Keys, Object, Primitive};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::context::Context;
use crate::vortex::dtype::Shape;
use crate::vortex::encodings::variant::{At, Parts, Typed};
use crate::vortex::node::Node;
use crate::vortex::tree::{Ask, NOWHERE, ROWS_PER_NODE, span, span_cell};

/// Fills `out` with the spans of values that are put together in the arena.
pub(in crate::vortex) fn cells(
    node: &Node<'_>,
    _: Ask,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let part = Part::of(node)?;
    (at..).zip(out.iter_mut()).try_for_each(|(at, cell)| {
        *cell = part.row(at, cx)?;
        Ok(())
    })
}

/// The metadata of variants, or their values, which are put together.
pub(super) struct Part<'n, 'f> {
    node: &'n Node<'f>,
    is_value: bool,
    has_names: bool,
}

impl<'n, 'f> Part<'n, 'f> {
    pub(super) fn of(node: &'n Node<'f>) -> Result<Self> {
        let is_value = is_value(node);
        Ok(Part { node, is_value, has_names: !is_value || has_objects(node)? })
    }

    /// Fills cells with the spans of rows starting at `at`, up to the first row that fails for any reason. Returns their
    /// number.
    ///
    /// # Errors
    /// Errors of the first row.
    pub(super) fn rows(&self, at: u64, out: &mut [u64], cx: &mut Context<'_, '_>) -> Result<usize> {
        for (done, cell) in out.iter_mut().enumerate() {
            let used = cx.used().unwrap_or(0);
            match self.row(at.saturating_add(done as u64), cx) {
                Ok(span) => *cell = span,
                Err(e) if done == 0 => return Err(e),
                Err(_) => {
                    cx.release_to(used);
                    return Ok(done);
                }
            }
        }
        Ok(out.len())
    }

    /// Puts a row together. Returns its span.
    fn row(&self, at: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        let mut build = Build { node: self.node, names: 0..0, has_order: false, cx: cx.scope() };
        let start = build.used()?;
        let mut first = start;
        match Parts::of(self.node, at, &mut build.cx)? {
            None if self.is_value => build.push(&[variant::NULL])?,
            None => build.push(&variant::NO_NAMES)?,
            Some(Parts { metadata, value, typed }) => {
                if self.has_names {
                    build.text(metadata)?;
                }
                if self.is_value {
                    first = build.used()?;
                    build.names = start..first;
                    build.value_or_null(&ValueAt { value, typed })?;
                }
            }
        }
        let len = build.move_down(first, start)?;
        match span(start as u64, len as u64) {
            NOWHERE => Err(too_large(self.node, len as u64)),
            span => Ok(span_cell(span)),
        }
    }
}

/// A value that is put together at the end of the arena.
struct Build<'n, 'f, 'c, 's> {
    node: &'n Node<'f>,
    /// The bytes of the arena with the metadata.
    names: Range<usize>,
    /// Whether the names are known to be in the order that they claim.
    has_order: bool,
    cx: Context<'c, 's>,
}

/// Size in bytes of an entry of the table of an object: the number of the name and the offset of the value. Arrays have the
/// same entries.
const ENTRY: usize = 8;

/// The offset of a field that has no value.
const ABSENT: u32 = u32::MAX;

/// The bytes of an object in the arena, and the number of its fields.
struct Others {
    bytes: Range<usize>,
    count: usize,
}

/// Number of bytes of a text that count as one node.
const BYTES_PER_NODE: usize = 4096;

impl Build<'_, '_, '_, '_> {
    fn used(&self) -> Result<usize> {
        self.cx.used().ok_or_else(|| self.node.error(Kind::Misuse, What::VORTEX_TEXT, 0))
    }

    /// Returns all bytes of the arena that are used.
    fn arena(&mut self) -> Result<&mut [u8]> {
        let used = self.used()?;
        Ok(self.cx.arena(0, used).0)
    }

    fn reserve(&mut self, len: usize) -> Result<usize> {
        self.node.reserve(len, &mut self.cx)
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.reserve(bytes.len())?;
        self.cx.arena(start, bytes.len()).0.copy_from_slice(bytes);
        Ok(())
    }

    /// Moves the bytes from `from` to the end of the used bytes to `to`, which is before them. Returns their number.
    fn move_down(&mut self, from: usize, to: usize) -> Result<usize> {
        let end = self.used()?;
        let len = end.saturating_sub(from);
        if from > to {
            self.arena()?.copy_within(from..end, to);
            self.cx.release_to(to.saturating_add(len));
        }
        Ok(len)
    }

    /// Inserts bytes at `at`.
    fn insert(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        let end = self.used()?;
        self.push(bytes)?;
        let all = self.arena()?;
        if let Some(part) = all.get_mut(at..) {
            part.copy_within(..end.saturating_sub(at), bytes.len());
            part.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        }
        Ok(())
    }

    /// Appends the text of a row. What else reading it unpacks is removed.
    fn text(&mut self, (node, at): At<Node<'_>>) -> Result<()> {
        let (node, at) = stored(&node, at, &mut self.cx)?;
        let (start, mut cell) = (self.used()?, [0]);
        node.cells(Ask::Spans, at, &mut Cells::W8(&mut cell), &mut self.cx.scope())?;
        // A few bytes of the file can unpack to many, in each row again.
        let unpacked = self.used()?.saturating_sub(start);
        self.cx.spend_many((unpacked / BYTES_PER_NODE) as u64, node.at())?;
        let [at, len]: [u32; 2] = bytemuck::cast(cell);
        let (from, end) = (at as usize, (at as usize).saturating_add(len as usize));
        if from < start || end > self.used()? {
            return Err(node.error(Kind::Invalid, What::VORTEX_TEXT, len.into()));
        }
        if from > start {
            self.arena()?.copy_within(from..end, start);
        }
        self.cx.release_to(start.saturating_add(len as usize));
        Ok(())
    }

    /// Appends a value, null if it is missing.
    fn value_or_null(&mut self, value: &ValueAt<'_>) -> Result<()> {
        if self.value(value)? { Ok(()) } else { self.push(&[variant::NULL]) }
    }

    /// Appends a value. Returns `false` if it is missing.
    fn value(&mut self, value: &ValueAt<'_>) -> Result<bool> {
        match value.find(&mut self.cx)? {
            Found::Missing => return Ok(false),
            Found::Bytes(value) => self.bytes(value)?,
            Found::Object((typed, at), rest) => self.object(&typed, rest, at)?,
            Found::Apart((typed, at)) => match typed.ty.ty.shape {
                Shape::List => self.array(&typed, at)?,
                Shape::Utf8 | Shape::Binary => {
                    let start = self.used()?;
                    self.text((typed.node, at))?;
                    let len = self.used()?.saturating_sub(start);
                    let (bytes, before) = match typed.ty.ty.shape {
                        Shape::Utf8 => Primitive::text_start(len),
                        _ => Primitive::bytes_start(len),
                    };
                    self.insert(start, bytes.get(..before).unwrap_or(&bytes))?;
                }
                _ => {
                    let (bytes, len) = primitive(&typed, at, &mut self.cx.scope())?.start();
                    self.push(bytes.get(..len).unwrap_or(&bytes))?;
                }
            },
        }
        Ok(true)
    }

    /// Appends a value that is stored as bytes.
    fn bytes(&mut self, value: At<Node<'_>>) -> Result<()> {
        let start = self.used()?;
        self.text(value)?;
        // No bytes are no value.
        if self.used()? == start {
            return Err(value.0.error(Kind::Invalid, What::VARIANT, value.1));
        }
        Ok(())
    }

    fn array(&mut self, typed: &Typed<'_>, at: u64) -> Result<()> {
        let mut items = ListItems::of(typed, at, &mut self.cx)?;
        let count = saturated(items.len());
        let (table, mut i) = (self.table(count)?, 0usize);
        while let Some(item) = items.take(&mut self.cx)? {
            let offset = self.used()?;
            self.entry(&table, i, (0, offset))?;
            self.value_or_null(&item)?;
            i = i.saturating_add(1);
        }
        self.end(&table, count, false)
    }

    /// Appends an object: the fields that are stored apart, and the fields of the object `rest`.
    fn object(&mut self, typed: &Typed<'_>, rest: Option<At<Node<'_>>>, at: u64) -> Result<()> {
        let start = self.used()?;
        let mut others = Others { bytes: start..start, count: 0 };
        if let Some(rest) = rest {
            self.bytes(rest)?;
            others = self.others(start)?;
        }
        let fields = match typed.ty.ty.shape {
            Shape::Struct(fields) => fields as usize,
            _ => 0,
        };
        let table = self.table(fields.saturating_add(others.count))?;
        let mut count = 0usize;
        let mut fields = ObjectFields::of(typed, at, &mut self.cx)?;
        while let Some((name, value)) = fields.take(&mut self.cx)? {
            let offset = self.used()?;
            let has_value = self.value(&value)?;
            if !has_value && others.count == 0 {
                continue;
            }
            let offset = if has_value { Some(offset) } else { None };
            match (self.id(name)?, offset) {
                (Some(id), Some(offset)) => self.entry(&table, count, (id, offset))?,
                // The other fields must not have the name either.
                (Some(id), None) => self.absent(&table, count, id)?,
                (None, Some(_)) => return Err(self.bad(count)),
                (None, None) => continue,
            }
            count = count.saturating_add(1);
        }
        count = self.copy_others(&table, count, &others)?;
        self.sort(&table, count)?;
        count = self.remove_absent(&table, count)?;
        self.end(&table, count, true)?;
        self.move_down(table.start, start)?;
        Ok(())
    }

    /// Parses the object in the bytes from `start` on.
    fn others(&mut self, start: usize) -> Result<Others> {
        let (bytes, at) = (start..self.used()?, self.node.at());
        let object = Object::parse(self.arena()?.get(bytes.clone()).unwrap_or_default()).map_err(|e| e.moved(at))?;
        let count = object.map(|object| object.len());
        // Each field has at least 3 bytes.
        match count {
            Some(count) if count.saturating_mul(3) <= bytes.len() => Ok(Others { bytes, count }),
            _ => Err(self.bad(count.unwrap_or(0))),
        }
    }

    /// Copies the fields of another object. Returns the number of fields with those before them.
    fn copy_others(&mut self, table: &Range<usize>, mut count: usize, others: &Others) -> Result<usize> {
        let (mut copied, at) = (0usize, self.node.at());
        for i in 0..others.count {
            self.cx.spend(at)?;
            let bytes = self.arena()?.get(others.bytes.clone()).unwrap_or_default();
            let none = || Error::needing(Kind::Invalid, What::VARIANT, at, 0);
            let object = Object::parse(bytes)?.ok_or_else(none)?;
            let (id, value) = object.field(i).map_err(|e| e.moved(at))?;
            let (from, len) = (others.bytes.start.saturating_add(object.start_of(i)?), value.len());
            copied = copied.saturating_add(len);
            // Fields that share their bytes would make the object larger than its source.
            if copied > others.bytes.len() {
                return Err(self.bad(copied));
            }
            let to = self.reserve(len)?;
            self.entry(table, count, (id, to))?;
            self.arena()?.copy_within(from..from.saturating_add(len), to);
            count = count.saturating_add(1);
        }
        Ok(count)
    }

    /// Creates the error for an object that is invalid.
    fn bad(&self, need: usize) -> Error {
        self.node.error(Kind::Invalid, What::VARIANT, need as u64)
    }

    fn keys(&mut self) -> Result<Keys<'_>> {
        let names = self.names.clone();
        let at = self.node.at();
        Keys::parse(self.arena()?.get(names).unwrap_or_default()).map_err(|e| e.moved(at))
    }

    /// Reserves a table of `count` entries; values follow it.
    fn table(&mut self, count: usize) -> Result<Range<usize>> {
        let len = count.saturating_mul(ENTRY).saturating_add(2 * Header::MOST);
        let start = self.reserve(len)?;
        Ok(start..start.saturating_add(len))
    }

    /// Returns the number of a name.
    fn id(&mut self, name: &[u8]) -> Result<Option<usize>> {
        let at = self.node.at();
        let steps = self.keys()?.steps(name.len());
        self.cx.spend_many((steps / ROWS_PER_NODE) as u64, at)?;
        let found = self.keys()?.find(name).map_err(|e| e.moved(at))?;
        // A name may be missed because the names are not in the order that they claim.
        if found.is_none() && !self.has_order {
            let steps = (self.names.len() >> 4).saturating_add(self.keys()?.len());
            self.cx.spend_many((steps / ROWS_PER_NODE) as u64, at)?;
            self.keys()?.check_order().map_err(|e| e.moved(at))?;
            self.has_order = true;
        }
        Ok(found)
    }

    /// Sets entry `i` of a table: the number of the name, and the start of the value.
    fn entry(&mut self, table: &Range<usize>, i: usize, (id, start): (usize, usize)) -> Result<()> {
        self.put_entry(table, i, [self.offset(id)?, self.offset(start.saturating_sub(table.end))?])
    }

    /// Sets entry `i` of a table: a field that has no value.
    fn absent(&mut self, table: &Range<usize>, i: usize, id: usize) -> Result<()> {
        self.put_entry(table, i, [self.offset(id)?, ABSENT])
    }

    /// Returns a number as 32 bits.
    fn offset(&self, number: usize) -> Result<u32> {
        u32::try_from(number).ok().filter(|number| *number < ABSENT).ok_or_else(|| too_large(self.node, number as u64))
    }

    fn put_entry(&mut self, table: &Range<usize>, i: usize, numbers: [u32; 2]) -> Result<()> {
        let bytes = numbers.into_iter().flat_map(u32::to_le_bytes);
        let start = table.start.saturating_add(i.saturating_mul(ENTRY));
        if let Some(entry) = self.arena()?.get_mut(start..start.saturating_add(ENTRY)) {
            entry.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        Ok(())
    }

    /// Returns the names, and the first `count` entries of a table, which follows them.
    fn entries(&mut self, table: &Range<usize>, count: usize) -> Result<(Keys<'_>, &mut [[u8; ENTRY]])> {
        let (names, at) = (self.names.clone(), self.node.at());
        let (before, after) = self.arena()?.split_at_mut_checked(table.start).unwrap_or_default();
        let keys = Keys::parse(before.get(names).unwrap_or_default()).map_err(|e| e.moved(at))?;
        let (entries, _) = after.as_chunks_mut();
        Ok((keys, entries.get_mut(..count).unwrap_or_default()))
    }

    /// Sorts the entries of an object by name. Fails if two have the same name.
    fn sort(&mut self, table: &Range<usize>, count: usize) -> Result<()> {
        let (at, mut steps) = (self.node.at(), 0usize);
        let (keys, entries) = self.entries(table, count)?;
        for entry in entries.iter() {
            let name = keys.name(id_of(entry)).map_err(|e| e.moved(at))?;
            steps = steps.saturating_add(name.len() >> 4).saturating_add(1);
        }
        // Heap sort compares each entry at most twice on each level.
        let levels = usize::BITS.saturating_sub(count.leading_zeros()).saturating_mul(2) as usize;
        self.cx.spend_many((steps.saturating_mul(levels) / ROWS_PER_NODE) as u64, at)?;
        let (keys, entries) = self.entries(table, count)?;
        let name = |entry: &[u8; ENTRY]| keys.name(id_of(entry)).unwrap_or_default();
        sort_by(entries, |a, b| name(a) < name(b));
        match entries.windows(2).any(|two| matches!(two, [a, b] if name(a) == name(b))) {
            true => Err(self.bad(count)),
            false => Ok(()),
        }
    }

    /// Removes the entries of fields that have no value. Returns the number of the others.
    fn remove_absent(&mut self, table: &Range<usize>, count: usize) -> Result<usize> {
        let (entries, _) = self.arena()?.get_mut(table.clone()).unwrap_or_default().as_chunks_mut::<ENTRY>();
        let mut kept = 0usize;
        for i in 0..count {
            if let Some(entry) = entries.get(i).copied().filter(|entry| offset_of(entry) != ABSENT)
                && let Some(to) = entries.get_mut(kept)
            {
                *to = entry;
                kept = kept.saturating_add(1);
            }
        }
        Ok(kept)
    }

    /// Ends an object or array: replaces the table by the header.
    fn end(&mut self, table: &Range<usize>, count: usize, is_object: bool) -> Result<()> {
        let end = self.used()?;
        let len = self.offset(end.saturating_sub(table.end))?;
        let all = self.arena()?;
        let (entries, _) = all.get(table.clone()).unwrap_or_default().as_chunks::<ENTRY>();
        let entries = entries.get(..count).unwrap_or_default();
        let id = entries.iter().map(|entry| low32(id_of(entry) as u64)).max().unwrap_or(0);
        let count32 = self.offset(count)?;
        let header = Header::smallest(count32, is_object.then_some(id), len);
        let size = header.len(count);
        self.reserve(size)?;
        let all = self.arena()?;
        let Some((before, after)) = all.split_at_mut_checked(end) else { return Ok(()) };
        let (entries, _) = before.get(table.clone()).unwrap_or_default().as_chunks::<ENTRY>();
        let entries = entries.get(..count).unwrap_or_default();
        let names = entries.iter().filter(|_| is_object).map(|entry| low32(id_of(entry) as u64));
        let offsets = entries.iter().map(offset_of).chain(core::iter::once(len));
        header.write(count32, names, offsets, after)?;
        // The table is at least as long as the header.
        all.copy_within(end..end.saturating_add(size), table.start);
        let values = table.start.saturating_add(size);
        all.copy_within(table.end..end, values);
        self.cx.release_to(values.saturating_add(end.saturating_sub(table.end)));
        Ok(())
    }
}

fn id_of(entry: &[u8; ENTRY]) -> usize {
    let [a, b, c, d, ..] = *entry;
    u32::from_le_bytes([a, b, c, d]) as usize
}

fn offset_of(entry: &[u8; ENTRY]) -> u32 {
    let [.., a, b, c, d] = *entry;
    u32::from_le_bytes([a, b, c, d])
}
