//! Puts values together, in the arena for texts. An object or array begins with a table of its items, then their values
//! follow. At last the header is written after the values, and both are moved to the start of the table.

use core::ops::Range;

use super::{ObjectFields, Place, has_objects, is_value, items, stored};
use crate::bytes::{low32, saturated, sort_by};
use crate::column::{Prim, Span, Unit};
use crate::encoding::cells::Cells;
use crate::encoding::variant::{self, Header, Keys, Object, Primitive, Scaled};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::context::Context;
use crate::vortex::dtype::Shape;
use crate::vortex::encodings::variant::{At, Parts, Typed};
use crate::vortex::node::Node;
use crate::vortex::scheme::Holds;
use crate::vortex::stored_type::Meaning;
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
    let (is_value, has_names) = (is_value(node), has_objects(node)?);
    for (at, cell) in (at..).zip(out.iter_mut()) {
        let Parts { metadata, value, typed } = Parts::of(node, at, cx)?;
        let mut build = Build { node, names: 0..0, cx: cx.scope() };
        let start = build.used()?;
        if has_names || !is_value {
            build.text(metadata)?;
            build.names = start..build.used()?;
        }
        let first = if is_value { build.used()? } else { start };
        if is_value && !build.place(&Place { value, typed })? {
            build.push(&[variant::NULL])?;
        }
        let len = build.move_down(first, start)?;
        *cell = span_cell(span(start as u64, len as u64));
    }
    Ok(())
}

/// A value that is put together at the end of the arena.
struct Build<'n, 'f, 'c, 's> {
    node: &'n Node<'f>,
    /// The bytes of the arena with the metadata.
    names: Range<usize>,
    cx: Context<'c, 's>,
}

/// Size in bytes of an entry of the table of an object: the number of the name and the offset of the value. Arrays have the
/// same entries.
const ENTRY: usize = 8;

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

    /// Appends the text of a row.
    fn text(&mut self, (node, at): At<Node<'_>>) -> Result<()> {
        let (node, at) = stored(&node, at, &mut self.cx)?;
        // It would append its whole frame, with the lengths of the texts.
        if matches!(node.holds(), Some(Holds::Packed(_))) {
            return Err(node.undecoded());
        }
        let mut cell = [0];
        node.cells(Ask::Spans, at, &mut Cells::W8(&mut cell), &mut self.cx.scope())?;
        if bytemuck::cast::<_, Span>(cell) == NOWHERE {
            return Err(node.error(Kind::Invalid, What::VORTEX_TEXT, u32::MAX.into()));
        }
        Ok(())
    }

    /// Appends a value. Returns `false` if it is absent.
    fn place(&mut self, place: &Place<'_>) -> Result<bool> {
        let Some((typed, at)) = place.typed(&mut self.cx)? else {
            let Some(value) = place.value(&mut self.cx)? else { return Ok(false) };
            let start = self.used()?;
            self.text(value)?;
            // No bytes are no value.
            if self.used()? == start {
                return Err(value.0.error(Kind::Invalid, What::VARIANT, value.1));
            }
            return Ok(true);
        };
        match typed.ty.ty.shape {
            Shape::List => self.array(&typed, at)?,
            Shape::Struct(_) => {
                let rest = place.value(&mut self.cx)?;
                self.object(&typed, rest, at)?;
            }
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
        }
        Ok(true)
    }

    fn array(&mut self, typed: &Typed<'_>, at: u64) -> Result<()> {
        let (child, ty, items) = items(typed, at, &mut self.cx)?;
        let count = items.end.saturating_sub(items.start);
        let table = self.table(saturated(count))?;
        for (i, at) in items.enumerate() {
            self.cx.spend(child.at())?;
            self.entry(&table, i, 0)?;
            let place = Place::of(&child, &ty, typed.has_shells, at, &mut self.cx)?;
            if !self.place(&place)? {
                self.push(&[variant::NULL])?;
            }
        }
        self.end(&table, saturated(count), false)
    }

    /// Appends an object: the fields that are stored apart, and the fields of the object `rest`.
    fn object(&mut self, typed: &Typed<'_>, rest: Option<At<Node<'_>>>, at: u64) -> Result<()> {
        let start = self.used()?;
        if let Some(rest) = rest {
            self.text(rest)?;
        }
        let rest = start..self.used()?;
        let bad = |need: usize| typed.node.error(Kind::Invalid, What::VARIANT, need as u64);
        let others = match self.arena()?.get(rest.clone()) {
            Some(bytes) if !bytes.is_empty() => {
                Object::parse(bytes).map_err(|e| e.moved(typed.node.at()))?.ok_or_else(|| bad(0))?.len()
            }
            _ => 0,
        };
        let fields = match typed.ty.ty.shape {
            Shape::Struct(fields) => fields as usize,
            _ => 0,
        };
        // Each field of the other object has at least 3 bytes.
        if others.saturating_mul(3) > rest.len() {
            return Err(bad(others));
        }
        let table = self.table(fields.saturating_add(others))?;
        let mut count = 0usize;
        let node = &typed.node;
        let mut fields = ObjectFields::of(typed, at, &mut self.cx)?;
        while let Some((name, place)) = fields.take(&mut self.cx)? {
            let offset = self.used()?;
            if self.place(&place)? {
                let nodes = (self.keys()?.len() / ROWS_PER_NODE) as u64;
                self.cx.spend_many(nodes, node.at())?;
                let id = self.keys()?.find(name).map_err(|e| e.moved(node.at()))?;
                self.entry_at(&table, count, id.ok_or_else(|| bad(count))?, offset)?;
                count = count.saturating_add(1);
            }
        }
        let mut copied = 0usize;
        for i in 0..others {
            self.cx.spend(node.at())?;
            let arena = self.arena()?;
            let bytes = arena.get(rest.clone()).unwrap_or_default();
            let object = Object::parse(bytes)?.ok_or_else(|| bad(0))?;
            let (id, value) = object.field(i).map_err(|e| e.moved(node.at()))?;
            copied = copied.saturating_add(value.len());
            // Fields that share their bytes would make the object larger than its source.
            if copied > rest.len() {
                return Err(bad(copied));
            }
            let from = rest.start.saturating_add(object.start_of(i)?);
            let len = value.len();
            self.entry(&table, count, id)?;
            let to = self.reserve(len)?;
            self.arena()?.copy_within(from..from.saturating_add(len), to);
            count = count.saturating_add(1);
        }
        self.sort(&table, count, &bad)?;
        self.end(&table, count, true)?;
        self.move_down(table.start, start)?;
        Ok(())
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

    /// Sets entry `i` of a table: the value follows the used bytes.
    fn entry(&mut self, table: &Range<usize>, i: usize, id: usize) -> Result<()> {
        let offset = self.used()?;
        self.entry_at(table, i, id, offset)
    }

    fn entry_at(&mut self, table: &Range<usize>, i: usize, id: usize, offset: usize) -> Result<()> {
        let offset = low32(offset.saturating_sub(table.end) as u64).to_le_bytes();
        let bytes = low32(id as u64).to_le_bytes().into_iter().chain(offset);
        let start = table.start.saturating_add(i.saturating_mul(ENTRY));
        if let Some(entry) = self.arena()?.get_mut(start..start.saturating_add(ENTRY)) {
            entry.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        Ok(())
    }

    /// Sorts the entries of an object by name. Fails if two have the same name.
    fn sort(&mut self, table: &Range<usize>, count: usize, bad: &dyn Fn(usize) -> Error) -> Result<()> {
        let (names, at) = (self.names.clone(), self.node.at());
        let all = self.arena()?;
        let Some((before, after)) = all.split_at_mut_checked(table.start) else { return Ok(()) };
        let keys = Keys::parse(before.get(names).unwrap_or_default()).map_err(|e| e.moved(at))?;
        let (entries, _) = after.as_chunks_mut::<ENTRY>();
        let entries = entries.get_mut(..count).unwrap_or_default();
        for entry in entries.iter() {
            keys.name(id_of(entry)).map_err(|e| e.moved(at))?;
        }
        let name = |entry: &[u8; ENTRY]| keys.name(id_of(entry)).unwrap_or_default();
        sort_by(entries, |a, b| name(a) < name(b));
        match entries.windows(2).find(|two| matches!(two, [a, b] if name(a) == name(b))) {
            Some(_) => Err(bad(count)),
            None => Ok(()),
        }
    }

    /// Ends an object or array: replaces the table by the header.
    fn end(&mut self, table: &Range<usize>, count: usize, is_object: bool) -> Result<()> {
        let end = self.used()?;
        let len = low32(end.saturating_sub(table.end) as u64);
        let all = self.arena()?;
        let (entries, _) = all.get(table.clone()).unwrap_or_default().as_chunks::<ENTRY>();
        let entries = entries.get(..count).unwrap_or_default();
        let id = entries.iter().map(|entry| low32(id_of(entry) as u64)).max().unwrap_or(0);
        let count32 = low32(count as u64);
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

/// Returns the primitive in a row, for the types that Apache Parquet allows.
fn primitive<'v>(typed: &Typed<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<Primitive<'v>> {
    let node = &typed.node;
    let shape = node.dtype.shape;
    let unsupported = || node.error(Kind::Unsupported, What::VARIANT, 0);
    let (bits, size) = number(node, at, cx)?;
    let signed = |bits: i128| i64::try_from(bits).unwrap_or_default();
    Ok(match (typed.ty.meaning, shape) {
        (Meaning::Plain, Shape::Null) => Primitive::Null,
        (Meaning::Plain, Shape::Bool) => Primitive::Bool(bits != 0),
        (Meaning::Plain, Shape::Prim(Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)) => {
            Primitive::Int(signed(bits), size)
        }
        (Meaning::Plain, Shape::Prim(Prim::F32)) => {
            Primitive::Float(f32::from_bits(low32(signed(bits).cast_unsigned())))
        }
        (Meaning::Plain, Shape::Prim(Prim::F64)) => Primitive::Double(f64::from_bits(signed(bits).cast_unsigned())),
        (Meaning::Plain, Shape::Decimal { precision: ..=38, scale }) => match u8::try_from(scale) {
            Ok(scale) if scale <= 38 => Primitive::Decimal(Scaled { value: bits, scale, size: size.max(4) }),
            _ => return Err(unsupported()),
        },
        (Meaning::Date(Unit::Day), Shape::Prim(Prim::I32)) => Primitive::Date(i32::try_from(bits).unwrap_or_default()),
        (Meaning::Time(Unit::Micro), Shape::Prim(Prim::I64)) => Primitive::Time(signed(bits)),
        (Meaning::Timestamp(Unit::Micro, utc), Shape::Prim(Prim::I64)) => Primitive::Micros(signed(bits), utc),
        // The original stores whole microseconds as such.
        (Meaning::Timestamp(Unit::Nano, utc), Shape::Prim(Prim::I64)) => match signed(bits) {
            nanos if nanos % 1000 == 0 => Primitive::Micros(nanos / 1000, utc),
            nanos => Primitive::Nanos(nanos, utc),
        },
        _ => return Err(unsupported()),
    })
}

/// Returns the number in a row, sign-extended, and its size in bytes.
fn number(node: &Node<'_>, at: u64, cx: &mut Context<'_, '_>) -> Result<(i128, usize)> {
    macro_rules! cell {
        ($cells:ident, $unsigned:ty, $signed:ty) => {{
            let mut cell: [$unsigned; 1] = [0];
            node.cells(Ask::Values, at, &mut Cells::$cells(&mut cell), cx)?;
            let [cell] = cell;
            i128::from(cell.cast_signed())
        }};
    }
    let size = node.dtype.cell().unwrap_or(0);
    let number = match size {
        1 => cell!(W1, u8, i8),
        2 => cell!(W2, u16, i16),
        4 => cell!(W4, u32, i32),
        8 => cell!(W8, u64, i64),
        16 => cell!(W16, u128, i128),
        _ => return Err(node.error(Kind::Unsupported, What::VARIANT, size as u64)),
    };
    Ok((number, size))
}
