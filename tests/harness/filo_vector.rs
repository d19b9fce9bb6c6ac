//! The Filo reader: opens any bytes as any element type, then walks everything that it offers.

use core::ops::Range;

use pilaster::bytes::Scratch;
use pilaster::column::{self, Column as _, Once, Part as _, Table as _};
use pilaster::error::{Result, What};
use pilaster::filo::{Access, Column, Element, Value, Vector, Visitor};

use super::cell::Cell;
use super::walk::{Memory, ROOMS, batches, values, windows};

/// The first byte picks the element type, the rest is the chunk.
pub fn run(data: &[u8]) {
    if let Some((element, chunk)) = split(data) {
        read(chunk, element);
    }
}

/// Element type and chunk of a fuzz input.
pub fn split(data: &[u8]) -> Option<(Element, &[u8])> {
    let (first, chunk) = data.split_first()?;
    Some((Element::ALL[usize::from(*first) % Element::ALL.len()], chunk))
}

/// Reads `chunk` in every way; tells whether it could be opened.
pub fn read(chunk: &[u8], element: Element) -> bool {
    let Ok(vector) = Vector::open(chunk, element) else { return false };
    let sound = vector.verify().is_ok();
    assert_eq!(vector.element(), element);
    assert!(vector.get(vector.rows()).is_err() && vector.get(u64::MAX).is_err());

    let windows = windows(vector.rows(), 160);
    rows(&vector, windows.clone(), sound);
    view(&vector, windows.clone());
    let mut memory = Memory::filled(0xa5);
    for k in 0..vector.width() {
        let column = vector.column(k).expect("a column within the width");
        assert_eq!((column.rows(), column.nullable()), (vector.rows(), vector.nullable()));
        assert!(vector.name(k).is_ok());
        agree(&vector, &column, k, windows.clone(), sound);
        dictionary(&vector, &column, &windows[0], &mut memory, sound);
    }
    assert!(vector.column(vector.width()).is_err() && vector.name(vector.width()).is_err());
    table(vector, memory.odd(ROOMS[1]));
    true
}

/// Column `k` of a value of a row.
pub fn cell(value: Option<Value<'_>>, k: usize) -> Cell<'_> {
    match value {
        None => Cell::Missing,
        Some(Value::Boolean(v)) => Cell::Bool(v),
        Some(Value::Int(v)) => Cell::Int(v.into()),
        Some(Value::Long(v) | Value::Timestamp(v)) => Cell::Int(v.into()),
        Some(Value::Float(v)) => Cell::F32(v.to_bits()),
        Some(Value::Double(v)) => Cell::F64(v.to_bits()),
        Some(Value::Bytes(v)) => Cell::Bytes(v),
        Some(Value::DateTime { millis, .. }) if k == 0 => Cell::Int(millis.into()),
        Some(Value::DateTime { offset_ms, .. }) => Cell::Int(offset_ms.into()),
    }
}

/// Rows by number and by iterator.
fn rows(vector: &Vector<'_>, windows: [Range<u64>; 3], sound: bool) {
    let mut by_iterator = vector.iter();
    for row in windows[0].clone() {
        let value = vector.get(row);
        assert!(value.is_ok() || !sound, "verify passed over row {row}: {value:?}");
        assert!(value != Ok(None) || vector.nullable(), "row {row} is missing");
        let next = by_iterator.next().expect("as many items as rows");
        assert_eq!(next.as_ref().map(|v| cell(*v, 0)), value.as_ref().map(|v| cell(*v, 0)));
        if value.is_err() {
            assert!(by_iterator.next().is_none(), "the iterator ends after an error");
            break;
        }
    }
    for row in windows[1].clone().chain(windows[2].clone()) {
        assert!(vector.get(row).is_ok() || !sound);
    }
}

/// A view gives what `get` gives, and exists for the types of the rows only.
fn view(vector: &Vector<'_>, windows: [Range<u64>; 3]) {
    macro_rules! same {
        ($ty:ty, $($element:ident)|+, $value:expr) => {
            match (vector.view::<$ty>(), vector.element()) {
                (Ok(view), $(Element::$element)|+) => {
                    let same = || Same { vector, windows: &windows, value: $value };
                    same().visit(&view);
                    view.visit(same());
                }
                (view, $(Element::$element)|+) => panic!("{view:?}"),
                (view, _) => assert!(view.is_err()),
            }
        };
    }
    same!(i32, Int, Value::Int);
    same!(i64, Long | Timestamp, Value::Long);
    same!(f32, Float, Value::Float);
    same!(f64, Double, Value::Double);
    same!(&[u8], String | Utf8 | Blob, Value::Bytes);
}

/// Compares rows of a form with the results of `get`.
struct Same<'v, 'a, T> {
    vector: &'v Vector<'a>,
    windows: &'v [Range<u64>; 3],
    value: fn(T) -> Value<'a>,
}

impl<T> Visitor<T> for Same<'_, '_, T> {
    type Output = ();

    fn visit<A: Access<T>>(self, rows: A) {
        assert_eq!(rows.rows(), self.vector.rows());
        assert!(rows.get(rows.rows()).is_err() && rows.get(u64::MAX).is_err());
        for row in self.windows.iter().cloned().flatten() {
            let (here, there) = (rows.get(row), self.vector.get(row));
            let here = here.map(|value| cell(value.map(self.value), 0));
            assert_eq!(here, there.map(|value| cell(value, 0)), "row {row} of {:?}", self.vector.encoding());
        }
    }
}

/// Batches hold what `get` gives. A batch may fail for a row beside the one asked for, so only what
/// could be read is compared; every row of a valid vector can be read.
fn agree(vector: &Vector<'_>, column: &Column<'_>, k: usize, windows: [Range<u64>; 3], sound: bool) {
    let each = |row, here: Result<column::Value<'_>>| {
        let Ok(here) = here.map(Cell::from) else { return assert!(!sound) };
        let there = vector.get(row).map(|value| cell(value, k));
        // Instants alone do not ask for their zones.
        let zone = k == 0 && there.is_err_and(|e| e.what() == What::FILO_ZONE);
        assert!(zone || Ok(here) == there, "row {row} of {:?} as {:?}: {here:?}", vector.encoding(), vector.element());
    };
    // A row in a batch of its own is refused if and only if it is refused alone.
    for row in windows[0].clone().take(16) {
        let (there, mut memory) = (vector.get(row).map(|_| ()), Memory::filled(0x5a));
        let here = column.read(row..row + 1, &mut Scratch::new(memory.odd(ROOMS[1]))).map(|_| ());
        let zone = k == 0 && there.is_err_and(|e| e.what() == What::FILO_ZONE);
        assert!(zone || here == there, "row {row}: {here:?}, alone {there:?}");
    }
    values(column, windows, each, |read| assert!(read == Ok(()) || !sound, "{read:?} in {vector:?}"));
}

/// Codes and values of a dictionary stand for the rows.
fn dictionary(vector: &Vector<'_>, column: &Column<'_>, window: &Range<u64>, memory: &mut Memory, sound: bool) {
    let Ok(Some(dictionary)) = column.dictionary(window.start) else { return };
    assert_eq!((dictionary.first, dictionary.len), (0, vector.rows()));
    assert_eq!((dictionary.codes.rows(), dictionary.values.ty()), (dictionary.len, column.ty()));
    let mut other = Memory::filled(0x5a);
    let read = batches(&dictionary.codes, window.clone(), memory.odd(ROOMS[1]), |batch| {
        for i in 0..batch.len {
            let Ok(Cell::Int(code)) = Cell::of_batch(batch, i) else {
                assert_eq!(vector.get(batch.first + i as u64), Ok(None), "a missing code is a missing row");
                continue;
            };
            let Ok(code) = u64::try_from(code) else { panic!("code {code}") };
            if code >= dictionary.values.rows() {
                assert!(!sound);
                continue;
            }
            let value = batches(&dictionary.values, code..code + 1, other.odd(ROOMS[0]), |values| {
                let row = vector.get(batch.first + i as u64).map(|value| cell(value, 0));
                assert_eq!(Cell::of_batch(values, 0), row);
            });
            assert!(value.is_ok() || !sound);
        }
    });
    assert!(read.is_ok() || !sound, "{read:?}");
}

/// A vector is a table of one part, as often as it is asked for.
fn table(vector: Vector<'_>, memory: &mut [u8]) {
    let mut table = Once::new(vector);
    for _ in 0..2 {
        let mut scratch = Scratch::new(memory);
        let rows = table.next_part(&mut scratch.scope()).map(|part| part.map(|part| part.rows()));
        assert_eq!(rows, Ok(Some(vector.rows())));
        assert!(matches!(table.next_part(&mut scratch.scope()), Ok(None)));
        assert_eq!(table.restart(), Ok(()));
    }
}
