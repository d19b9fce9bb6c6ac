//! Any bytes as each of the metadata files of a dataset, as a dtype, and as rows of that dtype; what is read is
//! written, and read again.

use pilaster::bcolz::meta::{MAX_DIMENSIONS, Sizes, Storage, names};
use pilaster::bcolz::write::{Missing, chunklen, put_items, put_names};
use pilaster::bcolz::{Column, Dtype};
use pilaster::bytes::{Scratch, SliceSink};
use pilaster::column::{Column as _, Type};
use pilaster::error::{Kind, Result, What};

use super::walk::{Memory, ROOMS, values, windows};

/// Room for what is written.
const ROOM: usize = 4096;

/// The first byte says which it is.
pub fn run(data: &[u8]) {
    let Some((&which, bytes)) = data.split_first() else { return };
    let mut memory = Memory::filled(0xa5);
    let mut scratch = Scratch::new(memory.odd(ROOMS[2]));
    match which % 4 {
        0 => sizes(bytes),
        1 => {
            if let Ok(storage) = Storage::parse(bytes, &mut scratch) {
                assert!(storage.chunklen > 0 && storage.params.level <= 9);
                assert_eq!(Dtype::parse(storage.dtype_text), Ok(storage.dtype));
                assert_eq!(storage.params.typesize, storage.dtype.typesize());
                let (mut text, mut memory) = ([0; ROOM], Memory::filled(0xa5));
                let mut sink = SliceSink::new(&mut text);
                if storage.write(&mut sink).is_ok() {
                    let again = Storage::parse(sink.written(), &mut Scratch::new(memory.odd(ROOMS[2])));
                    assert!(again == Ok(storage) || again.is_err_and(|e| e.kind() == Kind::NoRoom));
                }
            }
        }
        2 => {
            let (mut count, mut first) = (0, None);
            let done = names(bytes, &mut scratch, |name| {
                assert!(!name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != "..");
                count += 1;
                first.get_or_insert(name);
                Ok(())
            });
            if let (Ok(()), Some(first)) = (done, first) {
                let mut text = [0; ROOM];
                let mut sink = SliceSink::new(&mut text);
                if put_names([first, "b"], &mut sink).is_ok() {
                    let (mut memory, mut k) = (Memory::filled(0xa5), 0);
                    let done = names(sink.written(), &mut Scratch::new(memory.odd(ROOMS[2])), |name| {
                        assert_eq!(name, [first, "b"][k]);
                        k += 1;
                        Ok(())
                    });
                    assert!(done.is_err_and(|e| e.kind() == Kind::NoRoom) || k == 2);
                }
            }
            assert!(count <= bytes.len() && done.is_err_and(|e| e.kind() == Kind::NoRoom) <= (bytes.len() > ROOMS[2]));
        }
        _ => {
            // A dtype up to the first line feed; then items.
            let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
            let Ok(text) = core::str::from_utf8(&bytes[..end]) else { return };
            rows(text, bytes.get(end + 1..).unwrap_or_default());
        }
    }
}

fn sizes(bytes: &[u8]) {
    let Ok(sizes) = Sizes::parse(bytes) else { return };
    let lengths = sizes.shape.lengths();
    assert!((1..=MAX_DIMENSIONS).contains(&lengths.len()));
    assert_eq!((lengths[0], &lengths[1..]), (sizes.shape.rows(), sizes.shape.inner()));
    let items = sizes.shape.items();
    assert!(items.is_ok_and(|items| (items == 0) == sizes.shape.inner().contains(&0)) || items.is_err());
    let mut text = [0; ROOM];
    let mut sink = SliceSink::new(&mut text);
    sizes.write(&mut sink).expect("32 numbers and some words");
    assert_eq!(Sizes::parse(sink.written()), Ok(sizes));
    // A chunk of at most 4 MiB, unless a row has more.
    let rows = chunklen(sizes.shape.rows(), sizes.nbytes);
    assert!(rows >= 1 && (rows == 1 || rows.checked_mul(sizes.nbytes).is_some_and(|bytes| bytes <= 4 << 20)));
}

fn rows(text: &str, items: &[u8]) {
    let dtype = match Dtype::parse(text) {
        Ok(dtype) => dtype,
        Err(e) => {
            assert!(matches!(e.what(), What::BCOLZ_DTYPE | What::MAX_DEPTH) && e.at() <= text.len() as u64, "{e:?}");
            return;
        }
    };
    let size = dtype.size() as usize;
    assert!((size == 0) == (dtype == Dtype::Object) && size <= 1 << 24);
    let count = items.len().checked_div(size).unwrap_or(0).min(64);
    let Ok(column) = Column::new(dtype, &[], count as u64, &items[..count * size]) else {
        assert!(dtype == Dtype::Object);
        return;
    };
    walk(&column);
    again(&column, &items[..count * size]);
    // The items again, as rows of two.
    let inner = [2];
    let pairs = Column::new(dtype, &inner, count as u64 / 2, &items[..count / 2 * 2 * size]).expect("whole rows");
    assert_eq!(pairs.ty(), Type::FixedList(2));
    let child = pairs.child(0).expect("items");
    assert_eq!((child.rows(), child.ty()), (count as u64 / 2 * 2, column.ty()));
    let more = Column::new(dtype, &inner, count as u64 / 2 + 1, &items[..count / 2 * 2 * size]);
    assert!(pairs.child(1).is_err() && more.is_err());
}

fn walk(column: &Column<'_>) {
    if let Type::Struct(count) = column.ty() {
        for k in 0..count as usize {
            assert!(column.child_name(k).is_ok());
            walk(&column.child(k).expect("a field"));
        }
        assert!(column.child(count as usize).is_err());
        return;
    }
    // Text may hold numbers that are not characters, and an item may be larger than the memory.
    let end = |read: Result<()>| {
        if let Err(e) = read {
            assert!(e.kind() == Kind::NoRoom || (e.kind() == Kind::Invalid && e.what() == What::TEXT), "{e:?}");
        }
    };
    values(column, windows(column.rows(), column.rows()), |_, value| assert!(value.is_ok()), end);
}

/// Items that are read and put again: the same, and no other bytes touched.
fn again(column: &Column<'_>, items: &[u8]) {
    let (dtype, mut put) = (column.dtype(), [0xee; ROOM]);
    if items.len() >= ROOM || matches!(dtype, Dtype::Struct(_)) {
        return;
    }
    let (len, size) = (items.len(), dtype.size() as usize);
    let mut memory = Memory::filled(0xa5);
    let mut scratch = Scratch::new(memory.odd(ROOMS[2]));
    let Ok(batch) = column.read(0..column.rows(), &mut scratch) else { return };
    if put_items(&dtype, &batch, &mut put[..len], size, 0, Missing::Refuse).is_err() {
        return;
    }
    assert!(super::filled(&put[len..], 0xee));
    match dtype {
        // Every byte but zero is true.
        Dtype::Bool => assert!(put[..len].iter().zip(items).all(|(put, item)| *put == u8::from(*item != 0))),
        _ => assert!(put[..len] == *items, "{dtype}"),
    }
}
