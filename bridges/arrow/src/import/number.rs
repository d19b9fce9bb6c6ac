//! Numbers: their width in Arrow, and their width in a column.

use bytemuck::{Pod, try_cast_slice};
use pilaster::bytes::Scratch;
use pilaster::column::{Prim, Type, Values};
use pilaster::error::{Error, Kind, Result, What};

/// What the bytes of numbers are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Prim(Prim),
    /// Integers of `from` bytes, which a column has in `to` bytes.
    Decimal {
        from: usize,
        to: usize,
    },
}

impl Number {
    /// Returns the kind of decimals of `from` bytes. In a column, decimals have the narrowest width that holds all digits.
    pub const fn decimal(from: usize, precision: u8) -> Self {
        let to = match precision {
            0..=2 => 1,
            3..=4 => 2,
            5..=9 => 4,
            10..=18 => 8,
            19..=38 => 16,
            _ => 32,
        };
        Number::Decimal { from, to: if to < from { to } else { from } }
    }

    /// Returns the number of bytes of a number in Arrow.
    pub const fn size(self) -> usize {
        match self {
            Number::Prim(prim) => prim.size(),
            Number::Decimal { from, .. } => from,
        }
    }

    /// Returns the number of scratch bytes that [`values`](Self::values) takes for `n` numbers.
    pub const fn cost(self, n: u64) -> u64 {
        match self {
            Number::Decimal { from, to } if to < from => n.saturating_mul(to as u64).saturating_add(16),
            _ => 0,
        }
    }

    /// Returns the numbers in `bytes`, which are aligned. Decimals that are wider than in a column are narrowed; `has`
    /// tells which rows have a value.
    ///
    /// # Errors
    /// [`Kind::Lossy`] with the row if a decimal has more digits than its type; [`Kind::NoRoom`].
    pub fn values<'s>(
        self,
        bytes: &'s [u8],
        first: u64,
        has: impl Fn(usize) -> bool,
        scratch: &mut Scratch<'s>,
    ) -> Result<Values<'s>> {
        let Number::Decimal { from, to } = self else { return Ok(self.plain(bytes)) };
        if to == from {
            return Ok(self.plain(bytes));
        }
        match from {
            4 => narrow(cast::<i32>(bytes), to, first, has, scratch),
            8 => narrow(cast::<i64>(bytes), to, first, has, scratch),
            16 => narrow(cast::<i128>(bytes), to, first, has, scratch),
            _ => narrow(cast::<[u64; 4]>(bytes), to, first, has, scratch),
        }
    }

    fn plain(self, bytes: &[u8]) -> Values<'_> {
        match self {
            Number::Prim(Prim::I8) => Values::I8(cast(bytes)),
            Number::Prim(Prim::I16) => Values::I16(cast(bytes)),
            Number::Prim(Prim::I32) | Number::Decimal { from: 4, .. } => Values::I32(cast(bytes)),
            Number::Prim(Prim::I64) | Number::Decimal { from: 8, .. } => Values::I64(cast(bytes)),
            Number::Decimal { from: 16, .. } => Values::I128(cast(bytes)),
            Number::Decimal { .. } => Values::I256(cast(bytes)),
            Number::Prim(Prim::U8) => Values::U8(bytes),
            Number::Prim(Prim::U16) => Values::U16(cast(bytes)),
            Number::Prim(Prim::U32) => Values::U32(cast(bytes)),
            Number::Prim(Prim::U64) => Values::U64(cast(bytes)),
            Number::Prim(Prim::F16) => Values::F16(cast(bytes)),
            Number::Prim(Prim::F32) => Values::F32(cast(bytes)),
            Number::Prim(Prim::F64) => Values::F64(cast(bytes)),
        }
    }
}

/// The buffers of primitive arrays are aligned.
fn cast<T: Pod>(bytes: &[u8]) -> &[T] {
    try_cast_slice(bytes).unwrap_or_default()
}

/// An integer of Arrow.
trait Wide: Pod {
    /// Returns the value, or `None` if it has more than 128 bits.
    fn wide(self) -> Option<i128>;
}

impl Wide for i32 {
    fn wide(self) -> Option<i128> {
        Some(self.into())
    }
}

impl Wide for i64 {
    fn wide(self) -> Option<i128> {
        Some(self.into())
    }
}

impl Wide for i128 {
    fn wide(self) -> Option<i128> {
        Some(self)
    }
}

impl Wide for [u64; 4] {
    fn wide(self) -> Option<i128> {
        let [a, b, c, d] = self;
        let value = (u128::from(b) << 64 | u128::from(a)).cast_signed();
        let sign = if value < 0 { u64::MAX } else { 0 };
        (c == sign && d == sign).then_some(value)
    }
}

fn narrow<'s, S: Wide>(
    wide: &[S],
    to: usize,
    first: u64,
    has: impl Fn(usize) -> bool,
    scratch: &mut Scratch<'s>,
) -> Result<Values<'s>> {
    Ok(match to {
        1 => Values::I8(narrowed(wide, first, has, scratch)?),
        2 => Values::I16(narrowed(wide, first, has, scratch)?),
        4 => Values::I32(narrowed(wide, first, has, scratch)?),
        8 => Values::I64(narrowed(wide, first, has, scratch)?),
        _ => Values::I128(narrowed(wide, first, has, scratch)?),
    })
}

fn narrowed<'s, S: Wide, T: Pod + TryFrom<i128>>(
    wide: &[S],
    first: u64,
    has: impl Fn(usize) -> bool,
    scratch: &mut Scratch<'s>,
) -> Result<&'s [T]> {
    let narrow = scratch.take::<T>(wide.len())?;
    for (i, (to, from)) in narrow.iter_mut().zip(wide).enumerate() {
        *to = match from.wide().and_then(|value| T::try_from(value).ok()) {
            Some(value) => value,
            None if has(i) => {
                let what = Type::Decimal { precision: 0, scale: 0 }.what();
                return Err(Error::new(Kind::Lossy, what, first.saturating_add(i as u64)));
            }
            None => T::zeroed(),
        };
    }
    Ok(narrow)
}

/// Gathers numbers of `size` bytes: the number at each place of `picks`.
pub(crate) fn gathered<'s>(bytes: &[u8], size: usize, picks: &[u32], scratch: &mut Scratch<'s>) -> Result<&'s [u8]> {
    match size {
        1 => picked::<u8>(bytes, picks, scratch),
        2 => picked::<u16>(bytes, picks, scratch),
        4 => picked::<u32>(bytes, picks, scratch),
        8 => picked::<u64>(bytes, picks, scratch),
        16 => picked::<u128>(bytes, picks, scratch),
        _ => picked::<[u64; 4]>(bytes, picks, scratch),
    }
}

fn picked<'s, T: Pod>(bytes: &[u8], picks: &[u32], scratch: &mut Scratch<'s>) -> Result<&'s [u8]> {
    let (values, to) = (cast::<T>(bytes), scratch.take::<T>(picks.len())?);
    for (to, pick) in to.iter_mut().zip(picks) {
        // A missing row has place 0, even if there are no values.
        *to = match values.get(*pick as usize) {
            Some(value) => *value,
            None if *pick == 0 => T::zeroed(),
            None => return Err(Error::needing(Kind::OutOfRange, What::ROW, (*pick).into(), values.len() as u64)),
        };
    }
    Ok(bytemuck::cast_slice(to))
}
