//! Numbers of types in the schema and in metadata, and sizes of their values.

use super::raw::Calendar;
use crate::column::{Prim, Unit};

/// The units of calendar types, by their numbers in the metadata.
pub(super) const UNITS: [Unit; 5] = [Unit::Nano, Unit::Micro, Unit::Milli, Unit::Second, Unit::Day];

/// The number types, by their numbers in the schema.
pub(super) const PRIMS: [Prim; 11] = [
    Prim::U8,
    Prim::U16,
    Prim::U32,
    Prim::U64,
    Prim::I8,
    Prim::I16,
    Prim::I32,
    Prim::I64,
    Prim::F16,
    Prim::F32,
    Prim::F64,
];

/// Returns the number of a number type in the schema.
#[cfg(feature = "alloc")]
#[allow(clippy::cast_possible_truncation, reason = "one of 11")]
pub(super) fn number_of_prim(prim: Prim) -> u8 {
    PRIMS.iter().position(|known| *known == prim).unwrap_or(0) as u8
}

/// Returns the number of a unit in the metadata of calendar types.
#[cfg(feature = "alloc")]
#[allow(clippy::cast_possible_truncation, reason = "one of 5")]
pub(super) fn number_of_unit(unit: Unit) -> Option<u8> {
    UNITS.iter().position(|known| *known == unit).map(|number| number as u8)
}

/// Returns the number type with the given number in the schema.
pub(super) fn prim_of(number: u64) -> Option<Prim> {
    PRIMS.get(usize::try_from(number).ok()?).copied()
}

/// Returns whether a number type is a signed integer.
pub(super) const fn signed(prim: Prim) -> bool {
    matches!(prim, Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)
}

/// Returns the number of units per second of a timestamp, or `None` for longer and for smaller units than a timestamp has.
pub(super) const fn per_second(unit: Unit) -> Option<u32> {
    match unit {
        Unit::Nano => Some(1_000_000_000),
        Unit::Micro => Some(1_000_000),
        Unit::Milli => Some(1_000),
        Unit::Second => Some(1),
        _ => None,
    }
}

/// Returns the size in bytes of the narrowest integer for decimals of `precision` digits.
pub(super) const fn decimal_size(precision: u8) -> usize {
    match precision {
        ..=2 => 1,
        3..=4 => 2,
        5..=9 => 4,
        10..=18 => 8,
        19..=38 => 16,
        _ => 32,
    }
}

/// Returns kind, unit and zone of a standard date, time or timestamp, from the id and the metadata of an extension type.
pub(super) fn calendar<'a>(id: &[u8], metadata: &'a [u8]) -> Option<(Calendar, Unit, &'a [u8])> {
    let calendar = Calendar::of(id);
    let unit = *UNITS.get(usize::from(*metadata.first()?))?;
    let zone = match (calendar, metadata) {
        (Calendar::Timestamp, [_, low, high, rest @ ..]) => {
            rest.get(..usize::from(u16::from_le_bytes([*low, *high])))?
        }
        (Calendar::Timestamp, _) | (Calendar::Unknown, _) => return None,
        _ => &[],
    };
    Some((calendar, unit, zone))
}
