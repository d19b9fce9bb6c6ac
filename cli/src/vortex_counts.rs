//! The number of rows of an array whose layout is lost, as far as its encodings tell: they state the rows of plain values,
//! and the blocks of packed values.

use pilaster::column::{Prim, Type, Unit};
use pilaster::unstable::meta::proto::Message;

use crate::vortex_blobs::Tree;

/// Number of rows in a block of packed integers.
const BLOCK: u64 = 1024;

/// Width in bytes of a `PType`, by its number.
const WIDTHS: [u64; 11] = [1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8];

/// The smallest and the largest number of rows that an array can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub least: u64,
    pub most: u64,
}

impl Count {
    /// Any number of rows, such as of a constant.
    pub const ANY: Count = Count { least: 1, most: u64::MAX };

    pub const fn exactly(rows: u64) -> Self {
        Count { least: rows, most: rows }
    }

    pub fn both(self, other: Count) -> Option<Count> {
        let both = Count { least: self.least.max(other.least), most: self.most.min(other.most) };
        (both.least <= both.most).then_some(both)
    }

    pub const fn plus(self, other: Count) -> Count {
        Count { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    pub const fn exact(self) -> Option<u64> {
        if self.least == self.most { Some(self.least) } else { None }
    }

    fn less(self, rows: u64) -> Option<Count> {
        Some(Count { least: self.least.checked_sub(rows)?, most: self.most.saturating_sub(rows) })
    }

    /// The rows of plain values of `len` bytes.
    fn of_plain(len: u64, width: Option<u64>) -> Option<Count> {
        match width {
            Some(width) if len.checked_rem(width)? == 0 => Some(Count::exactly(len.checked_div(width)?)),
            Some(_) => None,
            None => Some(Count { least: 0, most: len }),
        }
    }

    /// The rows of blocks of packed values, the first `offset` of which were cut off.
    fn of_blocks(blocks: u64, offset: u64) -> Option<Count> {
        let most = blocks.checked_mul(BLOCK)?.checked_sub(offset)?;
        Some(Count { least: most.saturating_sub(BLOCK).saturating_add(1).max(1), most })
    }
}

/// The type of the values of an array.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    pub ty: Type,
    /// Size in bytes of a value; `None` for texts and nested values, and if it is unknown.
    pub width: Option<u64>,
    pub nullable: bool,
}

impl Want {
    pub fn of(ty: Type, nullable: bool) -> Self {
        let width = match ty {
            Type::Prim(prim) => Some(prim.size() as u64),
            Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) => Some(4),
            Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => Some(8),
            _ => None,
        };
        Want { ty, width, nullable }
    }

    /// Integers of `width` bytes.
    fn integers(width: Option<u64>) -> Self {
        Want { ty: Type::Timestamp(Unit::Nano), width, nullable: false }
    }

    const fn is_number(&self) -> bool {
        matches!(self.ty, Type::Prim(_) | Type::Date(_) | Type::Time(_) | Type::Timestamp(_))
    }

    /// Returns whether values are integers, perhaps with a unit.
    const fn is_integer(&self) -> bool {
        self.is_number() && !matches!(self.ty, Type::Prim(Prim::F16 | Prim::F32 | Prim::F64))
    }

    const fn is_text(&self) -> bool {
        matches!(self.ty, Type::Utf8 | Type::Bytes)
    }
}

/// Returns the number of rows of the array of a whole segment, or `None` if it has another type.
pub fn count(tree: &Tree, ids: &[&str], want: &Want) -> Option<Count> {
    let count = Count::of(tree, ids, want)?;
    let (Some(size), Some(width), true) = (tree.unpacked, want.width, want.is_number()) else { return Some(count) };
    // The size of the values, and of one bit for each row if rows may be missing.
    let plain = size.checked_div(width).filter(|rows| rows.checked_mul(width) == Some(size));
    let eighths = width.checked_mul(8)?.checked_add(1)?;
    let with_bits = size.checked_mul(8)?.checked_div(eighths).filter(|_| want.nullable);
    let with_bits = with_bits.filter(|rows| rows.saturating_mul(width).saturating_add(rows.div_ceil(8)) == size);
    let fits = |rows: Option<u64>| rows.and_then(|rows| count.both(Count::exactly(rows)));
    match (fits(plain), fits(with_bits)) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one),
        (Some(a), Some(b)) if a == b => Some(a),
        (Some(_), Some(_)) => Some(count),
    }
}

impl Count {
    fn of(tree: &Tree, ids: &[&str], want: &Want) -> Option<Count> {
        let id = ids.get(usize::from(tree.encoding))?;
        let message = Message::new(&tree.metadata);
        let number = |field| message.uint(field).ok().map(Option::unwrap_or_default);
        let width = |field| WIDTHS.get(usize::try_from(number(field)?).ok()?).copied();
        let child = |k: usize, want: &Want| Count::of(tree.children.get(k)?, ids, want);
        let integers = |k: usize, width: Option<u64>| child(k, &Want::integers(width));
        let typed = |k: usize, field| integers(k, Some(width(field)?));
        let first = || tree.buffers.first().copied();
        let numbers = || want.is_number().then_some(());
        let is_float = matches!(want.ty, Type::Prim(Prim::F32 | Prim::F64));
        match *id {
            "vortex.null" | "vortex.constant" | "vortex.sparse" | "vortex.runend" | "vortex.zstd" => Some(Count::ANY),
            "vortex.sequence" if !want.is_integer() => None,
            "vortex.sequence" | "vortex.pco" => numbers().map(|()| Count::ANY),
            "vortex.primitive" => numbers().and_then(|()| Count::of_plain(first()?, want.width)),
            "vortex.bool" if want.ty == Type::Bool => {
                let most = first()?.checked_mul(8)?.checked_sub(number(1)?)?;
                Some(Count { least: most.saturating_sub(7), most })
            }
            "vortex.bytebool" if want.ty == Type::Bool => Some(Count::exactly(first()?)),
            "vortex.varbin" if want.is_text() => typed(0, 1)?.less(1),
            "vortex.varbinview" if want.is_text() => Some(Count::exactly(tree.buffers.last()?.checked_div(16)?)),
            "vortex.fsst" if want.is_text() => typed(0, 1)?.both(typed(1, 2)?.less(1)?),
            "vortex.onpair" if want.is_text() => typed(3, 1)?.both(typed(2, 7)?.less(1)?),
            "vortex.list" if want.ty == Type::List => typed(1, 2)?.less(1),
            "vortex.listview" if matches!(want.ty, Type::List | Type::Map) => typed(1, 2)?.both(typed(2, 3)?),
            "vortex.map" if want.ty == Type::Map => child(0, want),
            "vortex.ext" | "vortex.masked" => child(0, want),
            "vortex.zigzag" | "fastlanes.for" if want.is_integer() => child(0, want),
            "vortex.alp" if is_float => integers(0, want.width),
            "vortex.alprd" if is_float => integers(0, Some(2)),
            "vortex.dict" => typed(0, 2),
            "vortex.datetimeparts" if matches!(want.ty, Type::Timestamp(_)) => {
                typed(0, 1)?.both(typed(1, 2)?)?.both(typed(2, 3)?)
            }
            "vortex.decimal" if matches!(want.ty, Type::Decimal { .. }) => {
                let width = 1u64.checked_shl(u32::try_from(number(1)?).ok()?.min(5))?;
                first()?.checked_div(width).map(Count::exactly)
            }
            "vortex.decimal_byte_parts" if matches!(want.ty, Type::Decimal { .. }) => typed(0, 1),
            "fastlanes.bitpacked" if want.is_integer() => {
                let (bits, offset) = (number(1)?, number(2)?);
                if want.width.is_some_and(|width| bits > width.saturating_mul(8)) {
                    return None;
                }
                let Some(blocks) = first()?.checked_div(bits.saturating_mul(128)) else { return Some(Count::ANY) };
                Count::of_blocks(blocks, offset)
            }
            "fastlanes.rle" => Count::of_blocks(number(2)?.checked_div(BLOCK)?, number(6)?),
            "fastlanes.delta" => Count::of_blocks(number(1)?.checked_div(BLOCK)?, number(2)?),
            // The rows of these follow from their children, in types that are not looked at here.
            "vortex.chunked" | "vortex.fixed_size_list" => Some(Count::ANY),
            _ => None,
        }
    }
}

/// Returns whether the buffer of packed integers has blocks of their width.
fn is_packed(tree: &Tree) -> bool {
    let bits = Message::new(&tree.metadata).uint(1).map(Option::unwrap_or_default);
    let (Ok(bits @ 0..=64), Some(len)) = (bits, tree.buffers.first()) else { return false };
    len.checked_rem(bits.saturating_mul(128)).map_or(*len == 0, |rest| rest == 0)
}

/// Returns whether the numbers of buffers and children fit the encoding, so that the list of ids may be the right one.
pub fn has_shape(tree: &Tree, id: &str) -> bool {
    let (buffers, children) = (tree.buffers.len(), tree.children.len());
    let plain = [
        "vortex.null",
        "vortex.constant",
        "vortex.primitive",
        "vortex.varbinview",
        "vortex.struct",
        "vortex.ext",
        "vortex.masked",
        "vortex.zigzag",
        "vortex.chunked",
        "vortex.bytebool",
        "vortex.fixed_size_list",
        "vortex.map",
    ];
    if plain.contains(&id) && !tree.metadata.is_empty() || id == "fastlanes.bitpacked" && !is_packed(tree) {
        return false;
    }
    let (least, most, nodes) = match id {
        "vortex.null" | "vortex.sequence" => (0, 0, 0..=0),
        "vortex.constant" => (1, 1, 0..=0),
        "vortex.primitive" | "vortex.bool" | "vortex.bytebool" | "vortex.decimal" => (1, 1, 0..=1),
        "vortex.varbin" => (1, 1, 1..=2),
        "vortex.varbinview" => (1, usize::MAX, 0..=1),
        "vortex.list" => (0, 0, 2..=3),
        "vortex.listview" => (0, 0, 3..=4),
        "vortex.fixed_size_list" => (0, 0, 1..=2),
        "vortex.struct" => (0, 0, 1..=usize::MAX),
        "vortex.variant" | "vortex.parquet.variant" => (0, usize::MAX, 1..=usize::MAX),
        "vortex.ext" | "vortex.map" | "vortex.zigzag" | "fastlanes.for" => (0, 0, 1..=1),
        "vortex.masked" => (0, 0, 1..=2),
        "vortex.chunked" => (0, 0, 1..=usize::MAX),
        "vortex.dict" | "vortex.runend" => (0, 0, 2..=2),
        "vortex.sparse" => (1, 1, 2..=2),
        "fastlanes.bitpacked" => (1, 1, 0..=4),
        "fastlanes.rle" => (0, 0, 3..=3),
        "fastlanes.delta" => (0, 0, 2..=3),
        "vortex.alp" => (0, 0, 1..=4),
        "vortex.alprd" => (0, 0, 2..=5),
        "vortex.fsst" => (2, 3, 1..=3),
        "vortex.onpair" => (1, 1, 4..=5),
        "vortex.datetimeparts" => (0, 0, 3..=3),
        "vortex.decimal_byte_parts" => (0, 0, 1..=1),
        "vortex.pco" | "vortex.zstd" => (1, usize::MAX, 0..=1),
        _ => return false,
    };
    (least..=most).contains(&buffers) && nodes.contains(&children)
}
