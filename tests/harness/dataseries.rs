//! What the bodies of DataSeries share: memory, and the walk over an unpacked extent.

use pilaster::bytes::{Endian, Scratch};
use pilaster::column::{Column as _, Part as _, Type};
use pilaster::dataseries::write::Cell as Value;
use pilaster::dataseries::{Column, Extent, ExtentType, Part, ReadOptions};
use pilaster::error::{Kind, Result};

use super::cell::Cell;
use super::walk::{Memory, ROOMS, batches, windows};

/// Room for everything that is unpacked of a small file. Larger ones are refused, which is a result, too.
pub const ROOM: usize = 160 << 10;

/// All checks, or only the checks of structure.
pub const fn options(verify: bool) -> ReadOptions {
    ReadOptions { verify, ..ReadOptions::DEFAULT }
}

/// Unpacks an extent, in as much memory as it says, and reads all columns. Whether it could be unpacked;
/// `None` if it wants more memory than there is.
pub fn extent<E: Endian>(extent: &Extent<'_, E>, ty: &ExtentType<'_>, verify: bool, memory: &mut [u8]) -> Option<bool> {
    let header = extent.header();
    let span = header.span();
    assert_eq!(span.len, extent.bytes().unwrap().len() as u64);
    assert!(span.len.is_multiple_of(4) && extent.type_name().len() == usize::from(header.name_len));
    let options = options(verify);
    let need = match extent.need(ty, &options) {
        Ok(need) => need,
        Err(_) => {
            let whole = extent.unpack(ty, &options, &mut Scratch::new(memory));
            assert!(whole.is_err(), "{extent:?} unpacks to what it cannot have");
            return Some(false);
        }
    };
    let room = usize::try_from(need).ok().and_then(|need| memory.get_mut(..need))?;
    let mut digests = [0; 2];
    for (digest, dirt) in digests.iter_mut().zip([0x00, 0xff]) {
        room.fill(dirt);
        match extent.unpack(ty, &options, &mut Scratch::new(room)) {
            Err(e) => {
                assert!(e.kind() != Kind::NoRoom, "{extent:?} wants more than the {need} it said: {e:?}");
                *digest = 1;
            }
            Ok(part) => *digest = walk(&part, verify) | 2,
        }
    }
    assert_eq!(digests[0], digests[1], "{extent:?} shows what the memory held");
    Some(digests[0] != 1)
}

/// Reads some rows of every column; a digest of what they hold.
pub fn walk(part: &Part<'_>, sound: bool) -> u64 {
    assert_eq!(part.records().len() as u64, part.rows() * part.extent_type().record_len() as u64);
    let mut digest = 0u64;
    for k in 0..part.width() {
        let field = part.extent_type().field(k).expect("a field within the width");
        let column = part.column(k).expect("a column within the width");
        assert_eq!(part.name(k), Ok(field.name));
        assert_eq!((column.rows(), column.nullable()), (part.rows(), field.nullable));
        let one = column.need(0..column.rows().min(1)).expect("a row that exists") as usize;
        for room in ROOMS {
            if one > room {
                continue;
            }
            for window in windows(part.rows(), 64) {
                let mut memory = Memory::filled(0xa5);
                let read = batches(&column, window, memory.odd(room), |batch| {
                    for i in 0..batch.len {
                        let cell = Cell::of_batch(batch, i).expect("strings lie in their pool");
                        assert_eq!(alone(&column, batch.first + i as u64), Ok(cell), "in {field:?}");
                        digest = mixed(digest, &cell);
                    }
                });
                // Only an unverified cell can have an invalid offset.
                assert!(read.is_ok() || (!sound && column.ty() == Type::Bytes), "{read:?} in {field:?}");
                digest ^= u64::from(read.is_err());
            }
        }
        for row in 0..part.rows().min(16) {
            if one > ROOMS[2] {
                break;
            }
            let mut memory = Memory::filled(0x5a);
            let batch = column.read(row..row + 1, &mut Scratch::new(memory.odd(ROOMS[2]))).map(|_| ());
            assert_eq!(alone(&column, row).map(|_| ()), batch, "row {row} of {field:?}");
        }
    }
    assert!(part.column(part.width()).is_err() && part.name(part.width()).is_err());
    digest
}

/// Reads every row of a part whose file is valid: alone and in batches, to the same value.
pub fn every_row(part: &Part<'_>) {
    for k in 0..part.width() {
        let column = part.column(k).expect("a column within the width");
        if column.need(0..column.rows().min(1)).expect("a row that exists") > ROOMS[2] as u64 {
            continue;
        }
        let mut memory = Memory::filled(0xa5);
        let mut rows = 0;
        let read = batches(&column, 0..part.rows(), memory.odd(ROOMS[2]), |batch| {
            for i in 0..batch.len {
                let cell = Cell::of_batch(batch, i).expect("strings lie in their pool");
                assert_eq!(alone(&column, batch.first + i as u64), Ok(cell));
            }
            rows += batch.len as u64;
        });
        assert_eq!((read, rows), (Ok(()), part.rows()), "column {k}");
    }
}

/// One row, without a batch.
fn alone<'s>(column: &Column<'s>, row: u64) -> Result<Cell<'s>> {
    Ok(match column.get(row)? {
        None => Cell::Missing,
        Some(Value::Bool(v)) => Cell::Bool(v),
        Some(Value::Byte(v)) => Cell::Int(v.into()),
        Some(Value::Int32(v)) => Cell::Int(v.into()),
        Some(Value::Int64(v)) => Cell::Int(v.into()),
        Some(Value::Double(v)) => Cell::F64(v.to_bits()),
        Some(Value::Bytes(v)) => Cell::Bytes(v),
    })
}

fn mixed(digest: u64, cell: &Cell<'_>) -> u64 {
    let number = match cell {
        Cell::Missing => 1 << 70,
        Cell::Bool(v) => u128::from(*v),
        Cell::Int(v) => v.cast_unsigned(),
        // Which NaN comes out of a sum, the processor decides.
        Cell::F64(v) if f64::from_bits(*v).is_nan() => 1 << 71,
        Cell::F64(v) => u128::from(*v),
        Cell::Bytes(v) => v.iter().fold(v.len() as u128, |n, byte| n.rotate_left(9) ^ u128::from(*byte)),
        other => panic!("no value of this format: {other:?}"),
    };
    let folded = (number as u64) ^ ((number >> 64) as u64).rotate_left(32);
    (digest ^ folded).wrapping_mul(0x0100_0000_01b3).rotate_left(7)
}

/// Calls a function in one byte order or the other.
macro_rules! in_order {
    ($big:expr, $read:ident($($argument:expr),*)) => {
        match $big {
            true => $read::<pilaster::bytes::BigEndian>($($argument),*),
            false => $read::<pilaster::bytes::LittleEndian>($($argument),*),
        }
    };
}

pub(super) use in_order;

/// What a first byte asks for: big-endian, all checks; and the rest.
pub fn split(data: &[u8]) -> Option<(bool, bool, &[u8])> {
    let (flags, rest) = data.split_first()?;
    Some((flags & 1 == 1, flags & 2 == 0, rest))
}
