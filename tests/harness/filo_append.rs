//! The writers that take rows one by one: a row that is refused leaves the vector as it was, and the
//! rows that were taken read back.

use pilaster::error::{Kind, Result, What};
use pilaster::filo::write::Line;
use pilaster::filo::write::append::{
    Append, Booleans, DateTimes, Doubles, FixedMax, Floats, Ints, Lines, Longs, SimpleStrings, Timestamps, Utf8s,
};
use pilaster::filo::{Element, Vector};

use super::cell::Cell;
use super::filo_rows::{Input, Owned, ROWS};
use super::filo_vector;

/// Offers every row to a writer; keeps the numbers of those that it took.
macro_rules! offer {
    ($writer:expr, $owned:ident, $kept:ident, $cell:pat => $value:expr) => {{
        let opened: Result<_> = $writer;
        let mut writer = match opened {
            Ok(writer) => writer,
            Err(e) => {
                assert!(matches!(e.kind(), Kind::Misuse | Kind::WrongType | Kind::Lossy), "{e}");
                return;
            }
        };
        for i in 0..$owned.len {
            let before = (writer.rows(), writer.room());
            let result = match $owned.cell(i, 0) {
                Cell::Missing => writer.push_na(),
                $cell => writer.push($value),
                _ => continue,
            };
            match result {
                Ok(()) => {
                    assert!(before.1 > 0 && writer.rows() == before.0 + 1);
                    $kept[before.0] = i;
                }
                Err(e) => {
                    // A text that is longer than the buffer.
                    let long = e.kind() == Kind::Misuse && e.what() == What::FILO_BUFFER;
                    assert!(matches!(e.kind(), Kind::NoRoom | Kind::Lossy) || long, "{e}");
                    assert_eq!(
                        e.kind() == Kind::NoRoom && writer.rows() == 0,
                        false,
                        "{e}: an empty buffer is not full"
                    );
                    assert_eq!((writer.rows(), writer.room()), before, "{e}");
                }
            }
        }
        (writer.rows(), writer.finish())
    }};
}

pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let packing = input.packing();
    let mode = input.byte();
    let mut buffer = [0xee; 1500];
    let room = input.number(2) as usize % (buffer.len() + 1);
    let buffer = &mut buffer[..room];
    let base = if mode & 2 != 0 { input.number(8) as i64 } else { 0 };
    let owned = Owned::of(&mut input);
    let mut kept = [0; ROWS];

    let masked = mode & 1 == 0;
    let (rows, chunk) = match owned.element {
        Element::Boolean => offer!(Booleans::new(buffer), owned, kept, Cell::Bool(v) => v),
        Element::Float => {
            offer!(Floats::new(buffer), owned, kept, Cell::F32(v) => f32::from_bits(v))
        }
        Element::Int => {
            let writer = if masked { Ints::masked(buffer, packing) } else { Ints::new(buffer, packing) };
            offer!(writer, owned, kept, Cell::Int(v) => v as i32)
        }
        Element::Double => {
            let writer = if masked { Doubles::masked(buffer, packing) } else { Doubles::new(buffer, packing) };
            offer!(writer, owned, kept, Cell::F64(v) => f64::from_bits(v))
        }
        Element::Long if mode & 4 != 0 => {
            let line = Line { base, slope: input.number(4) as i32 };
            offer!(Lines::new(buffer, line, packing), owned, kept, Cell::Int(v) => v as i64)
        }
        Element::Long => {
            let writer = if masked { Longs::masked(buffer, packing) } else { Longs::new(buffer, packing) };
            offer!(writer, owned, kept, Cell::Int(v) => v as i64)
        }
        Element::Timestamp => {
            offer!(Timestamps::new(buffer, base, packing), owned, kept, Cell::Int(v) => v as i64)
        }
        Element::DateTime => {
            offer!(DateTimes::new(buffer, base, 900_000, packing), owned, kept, Cell::Int(v) => v as i64)
        }
        Element::String => {
            let text = |v| core::str::from_utf8(v).unwrap_or("");
            if !owned.is_utf8() {
                return;
            }
            offer!(SimpleStrings::new(buffer, mode.into()), owned, kept, Cell::Bytes(v) => text(v))
        }
        Element::Utf8 => {
            offer!(Utf8s::new(buffer, mode.into()), owned, kept, Cell::Bytes(v) => v)
        }
        Element::Blob => offer!(FixedMax::new(buffer, mode), owned, kept, Cell::Bytes(v) => v),
    };

    let chunk = chunk.expect("a constructor refuses a buffer in which a chunk has no room");
    // Rows written as UTF8 need not be valid UTF-8.
    let element = if owned.element == Element::Utf8 { Element::Blob } else { owned.element };
    let vector = Vector::open(chunk, element).unwrap_or_else(|e| panic!("{element}: {e} in {chunk:02x?}"));
    assert_eq!((vector.verify(), vector.rows()), (Ok(()), rows as u64));
    for (row, i) in kept[..rows].iter().enumerate() {
        let value = vector.get(row as u64).expect("a verified row");
        assert_eq!(filo_vector::cell(value, 0), owned.cell(*i, 0), "row {row} of {:?}", vector.encoding());
        if let (Element::DateTime, Some(_)) = (element, value) {
            assert_eq!(filo_vector::cell(value, 1), Cell::Int(900_000));
        }
    }
    assert!(filo_vector::read(chunk, element));
}
