//! The flash log with a power cut after every byte of every operation.

use nor::{Cut, Failed, Nor};
use pilaster::bytes::{LittleEndian, Scratch, WriteError};
use pilaster::codec::HashTable;
use pilaster::dataseries::flash::{Cursor, Log, Ring};
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, IndexSlot, Lzf, Memory, Record as _, Writer};
use pilaster::dataseries::{File, ReadOptions};
use pilaster::error::Kind;

record! {
    /// A reading of the sensor.
    struct Reading = "Reading" { time: int64 relative, value: int32 }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Reading>();
const ERASE: usize = 512;
/// Two erase units per segment.
const RING: Ring = Ring { start: 512, segment: 1024, segments: 4 };
const FLASH: usize = 10 * ERASE;

type Flash<'m, const WRITE: usize> = Nor<'m, WRITE, ERASE>;
type Outcome<T> = Result<T, WriteError<Failed>>;

/// Reading `n`.
fn reading(n: i32) -> Reading {
    Reading { time: i64::from(n) * 1000 + i64::from(n * n % 7), value: n }
}

/// Mounts the log, and passes it on with an extent of at most eight rows.
fn with_log<const WRITE: usize, T>(
    memory: &mut [u8],
    wear: &mut [u32],
    cut: Option<Cut>,
    run: impl FnOnce(&mut Log<'_, LittleEndian, Flash<'_, WRITE>, Lzf<'_, 64>>, &mut OpenExtent<'_>) -> T,
) -> Outcome<T> {
    let (mut page, mut rows, mut out, mut table) = ([0; 32], [0; 8 * 16], [0; 128], [0u8; 256]);
    let compress = Lzf::<64>::new(HashTable::take(&mut Scratch::new(&mut table))?, &mut out);
    let mut log = Log::mount(Nor::new(memory, wear, cut), RING, TYPES, compress, &mut page)?;
    let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut rows))?;
    Ok(run(&mut log, &mut extent))
}

type OpenExtent<'m> = ExtentBuffer<'m, LittleEndian, pilaster::dataseries::write::Of<Reading>>;

/// Returns the numbers of all readings in the log, and the number of incomplete segments. Panics if a reading is wrong.
fn numbers<const WRITE: usize>(memory: &mut [u8]) -> (Vec<i32>, u32) {
    with_log::<WRITE, _>(memory, &mut [0; 10], None, |log, _| {
        let (mut cursor, mut bytes, mut numbers) = (Cursor::new(), [0; 512], Vec::new());
        while let Some(extent) = log.next_extent(&mut cursor, &mut bytes).unwrap() {
            assert_eq!(extent.type_name(), Reading::NAME.as_bytes());
            let mut unpacked = [0; 1024];
            let part = extent.unpack_as::<Reading>(&ReadOptions::DEFAULT, &mut Scratch::new(&mut unpacked)).unwrap();
            for row in 0..extent.header().rows.into() {
                let cell = |k| pilaster::column::Part::column(&part, k).unwrap().get(row).unwrap();
                let Some(Cell::Int32(n)) = cell(1) else { panic!("no int32") };
                assert_eq!(cell(0), Some(Cell::Int64(reading(n).time)));
                numbers.push(n);
            }
        }
        (numbers, cursor.torn())
    })
    .unwrap()
}

/// Logs `count` readings starting at `first`, three to eight per extent. Returns the number of flushed readings, and
/// the number of operations or the error.
fn log<const WRITE: usize>(
    memory: &mut [u8],
    wear: &mut [u32],
    cut: Option<Cut>,
    first: i32,
    count: i32,
) -> (i32, Result<u32, WriteError<Failed>>) {
    let mut flushed = first;
    let done = with_log::<WRITE, _>(memory, wear, cut, |log, extent| {
        while flushed < first + count {
            let rows = 3 + flushed % 6;
            for n in flushed..flushed + rows {
                log.push(extent, &reading(n))?;
            }
            log.flush(extent)?;
            flushed += rows;
        }
        Ok(log.flash().operations())
    });
    (flushed, done.and_then(|done| done))
}

fn is(numbers: &[i32], flushed: i32) -> bool {
    numbers.len() as i32 >= flushed && numbers.iter().enumerate().all(|(k, n)| k as i32 == *n)
}

/// Cuts power at every byte of a log of several segments. After each cut, the log is mounted, read, resumed, and read
/// again. Returns the number of cuts.
fn every_cut<const WRITE: usize>() -> u32 {
    let mut cuts = 0;
    for operation in 0.. {
        for byte in 0.. {
            let (mut memory, mut wear) = ([0u8; FLASH], [0; 10]);
            // Initial contents of the flash: neither erased nor a log.
            memory.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u8).wrapping_mul(29));
            let before = memory;
            let cut = Cut { operation, byte };
            let (flushed, done) = log::<WRITE>(&mut memory, &mut wear, Some(cut), 0, 110);
            match done {
                Err(e) => assert_eq!(e, WriteError::Sink(Failed::Power), "{cut:?}"),
                // The cut is after the last byte of the operation, or after the last operation.
                Ok(_) if byte > 0 => break,
                Ok(operations) => {
                    assert!(operations <= operation && flushed >= 110);
                    return cuts;
                }
            }
            cuts += 1;
            let (found, torn) = numbers::<WRITE>(&mut memory);
            assert!(is(&found, flushed) && torn <= 1, "{cut:?}: {flushed} flushed, {found:?} found");

            let first = found.len() as i32;
            let (more, done) = log::<WRITE>(&mut memory, &mut wear, None, first, 40);
            assert!(done.is_ok(), "{cut:?}: {done:?}");
            let (found, _) = numbers::<WRITE>(&mut memory);
            assert!(is(&found, more) && found.len() as i32 == more, "{cut:?}: {more} flushed, {found:?} found");
            assert_eq!((&memory[..512], &memory[4608..]), (&before[..512], &before[4608..]), "outside of the ring");
        }
    }
    unreachable!("the log ends")
}

#[test]
fn nothing_flushed_is_lost_at_any_cut() {
    assert!(every_cut::<1>() > 1500);
}

#[test]
fn nor_in_words_of_four_and_sixteen_bytes() {
    assert!(every_cut::<4>() > 1500);
    assert!(every_cut::<16>() > 1500);
}

#[test]
fn the_power_may_go_again_and_again() {
    let (mut memory, mut wear, mut flushed) = ([0u8; FLASH], [0; 10], 0);
    let mut full = false;
    for n in 0..400u32 {
        let cut = Cut { operation: n % 5, byte: n * 7 % 60 };
        let (now, done) = log::<4>(&mut memory, &mut wear, Some(cut), flushed, 60);
        full |= matches!(done, Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom);
        let (found, _) = numbers::<4>(&mut memory);
        assert!(is(&found, now), "after {n} cuts: {now} flushed, {found:?} found");
        flushed = found.len() as i32;
    }
    assert!(full && flushed > 100, "{flushed}");
}

#[test]
fn full_is_an_ordinary_result_and_wear_is_even() {
    let (mut memory, mut wear) = ([0xff; FLASH], [0; 10]);
    let mut lost = 0;
    with_log::<4, _>(&mut memory, &mut wear, None, |log, extent| {
        let (mut full, mut n) = (0, 0);
        while full < 20 {
            match log.push(extent, &reading(n)) {
                Ok(()) => n += 1,
                Err(WriteError::Format(e)) => {
                    assert_eq!((e.kind(), log.segments()), (Kind::NoRoom, 4));
                    assert_eq!(extent.len(), 8, "the rows are still there");
                    assert!(log.flush(extent).is_err(), "and it stays full");
                    full += 1;
                    log.give_up();
                    lost += 1;
                    assert_eq!(log.segments(), 3);
                }
                Err(e) => panic!("{e:?}"),
            }
        }
        log.flush(extent).unwrap();
        assert_eq!(log.begun(), 4 + 20);
    })
    .unwrap();
    assert_eq!((wear[0], wear[9]), (0, 0));
    assert!(wear[1..9].iter().all(|erased| *erased == 6), "{wear:?}");
    let (found, torn) = numbers::<4>(&mut memory);
    assert!(torn == 0 && found[0] > 0 && found.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{lost}: {found:?}");
}

/// One cursor while the oldest segment is given up, at every extent, and while the log grows: every extent of the segments
/// that are left is read once, in order.
#[test]
fn a_cursor_goes_on_after_segments_were_given_up_and_after_the_end() {
    let flushed = |extent: &mut OpenExtent<'_>, log: &mut Log<'_, _, Flash<'_, 4>, Lzf<'_, 64>>, n: i32| {
        log.push(extent, &reading(n)).unwrap();
        log.flush(extent)
    };
    // The number of the only reading of each extent.
    let next = |log: &mut Log<'_, LittleEndian, Flash<'_, 4>, Lzf<'_, 64>>, cursor: &mut Cursor| {
        let (mut bytes, mut unpacked) = ([0; 512], [0; 64]);
        let extent = log.next_extent(cursor, &mut bytes).unwrap()?;
        let part = extent.unpack_as::<Reading>(&ReadOptions::DEFAULT, &mut Scratch::new(&mut unpacked)).unwrap();
        match pilaster::column::Part::column(&part, 1).unwrap().get(0).unwrap() {
            Some(Cell::Int32(n)) => Some(n),
            other => panic!("{other:?}"),
        }
    };
    for at in 0..60 {
        let (mut memory, mut wear) = ([0xffu8; FLASH], [0; 10]);
        with_log::<4, _>(&mut memory, &mut wear, None, |log, extent| {
            let (mut starts, mut n) = (Vec::new(), 0);
            while log.segments() < 3 || starts.len() < 3 {
                flushed(extent, log, n).unwrap();
                if log.segments() as usize > starts.len() {
                    starts.push(n);
                }
                n += 1;
            }
            let mut cursor = Cursor::new();
            let before: Vec<i32> = (0..at).map_while(|_| next(log, &mut cursor)).collect();
            assert!(before.iter().enumerate().all(|(k, n)| k as i32 == *n));
            log.give_up();
            // What is left of the first segment is skipped, and nothing else.
            let from = (before.len() as i32).max(starts[1]);
            let after: Vec<i32> = core::iter::from_fn(|| next(log, &mut cursor)).collect();
            assert_eq!(after, (from..n).collect::<Vec<_>>(), "after {at} extents");
            // The cursor waits at the end: in the segment, and in those that follow.
            for more in n..n + 40 {
                assert_eq!(next(log, &mut cursor), None);
                if flushed(extent, log, more).is_err() {
                    log.give_up();
                    log.flush(extent).unwrap();
                }
                assert_eq!(next(log, &mut cursor), Some(more));
            }
            assert_eq!((next(log, &mut cursor), cursor.torn()), (None, 0));
        })
        .unwrap();
    }
}

#[test]
fn a_segment_is_a_file_and_a_log_becomes_one() {
    let (mut memory, mut wear) = ([0xff; FLASH], [0; 10]);
    let (flushed, done) = log::<4>(&mut memory, &mut wear, None, 0, 110);
    assert!(done.is_ok());
    let file = &memory[512 + 16..512 + 1024];
    let mut kept = [0; 2048];
    let file =
        File::<LittleEndian>::open_sequential(file, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept)).unwrap();
    assert_eq!(file.types().len(), 1);

    let mut slots = [IndexSlot::EMPTY; 64];
    let mut file = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
    with_log::<4, _>(&mut memory, &mut wear, None, |log, _| {
        let (mut cursor, mut bytes) = (Cursor::new(), [0; 512]);
        assert_eq!(log.next_extent(&mut cursor, &mut [0; 8]).unwrap_err(), {
            let mut cursor = Cursor::new();
            let len = log.next_extent(&mut cursor, &mut bytes).unwrap().unwrap().bytes().unwrap().len();
            let at = 512 + 16 + 40 + first_len(&TYPES);
            let what = pilaster::error::What::DESTINATION;
            WriteError::Format(pilaster::Error::needing(Kind::NoRoom, what, at, len as u64))
        });
        while let Some(extent) = log.next_extent(&mut cursor, &mut bytes).unwrap() {
            file.put_stored(&extent).unwrap();
        }
    })
    .unwrap();
    let bytes = file.finish().unwrap();
    let mut kept = [0; 8192];
    let (kept, mut memory) = (&mut Scratch::new(&mut kept), [0; 8192]);
    let file = File::<LittleEndian>::open(&bytes, &ReadOptions::DEFAULT, kept).unwrap();
    file.verify(&mut Scratch::new(&mut memory)).unwrap();
    let extents = file.extents().map(Result::unwrap).filter(|extent| extent.type_name() == Reading::NAME.as_bytes());
    assert_eq!(extents.map(|extent| extent.header().rows).sum::<u32>(), flushed as u32);
}

/// Returns the size of the type extent: the size of a file without data, minus header, index and trailer.
fn first_len(types: &Descriptions<'static>) -> u64 {
    let mut file = Writer::<LittleEndian, _>::new(Vec::new(), *types, &mut []);
    file.begin().unwrap();
    file.at() - 40
}

#[test]
fn what_cannot_be_is_refused() {
    let mount = |ring, page: &mut [u8]| {
        let (mut memory, mut wear) = ([0xff; FLASH], [0; 10]);
        let flash = Nor::<4, ERASE>::new(&mut memory, &mut wear, None);
        let log = Log::<LittleEndian, _, _>::mount(flash, ring, TYPES, pilaster::dataseries::write::Stored, page);
        match log.err() {
            Some(WriteError::Format(e)) => Some(e.kind()),
            Some(WriteError::Sink(_)) => panic!("the flash was asked"),
            None => None,
        }
    };
    assert_eq!(mount(RING, &mut [0; 4]), None);
    assert_eq!(mount(RING, &mut [0; 3]), Some(Kind::NoRoom));
    for wrong in [
        Ring { start: 4, ..RING },
        Ring { segment: 1000, ..RING },
        Ring { segment: 0, ..RING },
        Ring { segments: 1, ..RING },
        Ring { segments: 5, ..RING },
        Ring { segments: u32::MAX, ..RING },
    ] {
        assert_eq!(mount(wrong, &mut [0; 4]), Some(Kind::Misuse), "{wrong:?}");
    }
}
