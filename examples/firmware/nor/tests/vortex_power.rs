//! The Vortex log in flash with a power cut after every byte of every operation.

use logger::sensors::{PRESSURE_EVERY, pressure};
use logger::vortex_flash::{Buffers, Promise, Region, log};
use nor::{Cut, Failed, Nor};
use pilaster::bytes::{Input, WriteError};
use pilaster::column::{Prim, Table as _};
use pilaster::error::Kind;
use pilaster::vortex::File;
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Frames, Log, Policy, last_checkpoint};

const ERASE: usize = 512;
const REGION: Region = Region { start: 512, end: 512 * 11 };
const FLASH: usize = 12 * ERASE;

/// Logs until reading `until`.
fn run<const WRITE: usize>(
    memory: &mut [u8],
    cut: Option<Cut>,
    promise: &mut Promise,
    until: i64,
) -> Result<u64, WriteError<Failed>> {
    let (mut wear, mut buffers) = ([0; FLASH / ERASE], Buffers::NEW);
    log(Nor::<WRITE, ERASE>::new(memory, &mut wear, cut), REGION, &mut buffers, promise, until)
}

/// Compares the rows of a file with the readings starting at `first`. Returns their number.
fn compared(file: &[u8], first: i64) -> i64 {
    let file = File::open(file).unwrap();
    let time: Vec<i64> = file.table().unwrap().to_vec("time").unwrap();
    let pascal: Vec<f64> = file.table().unwrap().to_vec("pascal").unwrap();
    assert_eq!(time.len(), pascal.len());
    for (n, (time, pascal)) in (first..).zip(time.iter().zip(&pascal)) {
        let was = pressure(n * PRESSURE_EVERY);
        assert_eq!((*time, pascal.to_bits()), (was.time, was.pascal.to_bits()), "reading {n}");
    }
    time.len() as i64
}

/// Returns the number of readings that a torn log has: in its last checkpoint, and in the row groups after it.
fn left(memory: &[u8], first: i64) -> i64 {
    let region = &memory[REGION.start as usize..REGION.end as usize];
    let Some(end) = last_checkpoint(&Input::whole(region)).unwrap() else { return 0 };
    let (mut frames, mut lens) = (Frames::new(region, end), [0; 2]);
    let mut rows = compared(&region[..end as usize], first);
    while let Ok(Some(frame)) = frames.next(&mut lens) {
        rows += i64::from(frame.rows);
    }
    rows
}

/// Cuts power at every byte of two logs. The first becomes full. After each cut, the log is continued, and all
/// of its readings are compared. Returns the number of cuts.
fn every_cut<const WRITE: usize>() -> u32 {
    let mut cuts = 0;
    for operation in 0.. {
        for byte in 0.. {
            let (mut memory, mut promise) = ([0u8; FLASH], Promise::default());
            // Initial contents of the flash: neither erased nor a log. The mark says that it is one, given up.
            memory.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u8).wrapping_mul(29));
            let before = memory;
            let cut = Cut { operation, byte };
            match run::<WRITE>(&mut memory, Some(cut), &mut promise, 60) {
                Err(e) => assert_eq!(e, WriteError::Sink(Failed::Power), "{cut:?}"),
                // The cut is after the last byte of the operation, or after the last operation.
                Ok(_) if byte > 0 => break,
                Ok(_) => {
                    assert_eq!(promise.given_up, 2);
                    return cuts;
                }
            }
            cuts += 1;
            let (flushed, first) = (promise.next, promise.first);
            let is_given_up = memory[REGION.end as usize - 8..REGION.end as usize] != [0xff; 8];
            assert!(is_given_up || first + left(&memory, first) >= flushed, "{cut:?}");

            let len = run::<WRITE>(&mut memory, None, &mut promise, 90).unwrap() as usize;
            let start = REGION.start as usize;
            let rows = compared(&memory[start..start + len], promise.first);
            assert_eq!(promise.first + rows, promise.next, "{cut:?}");
            assert!(promise.first >= first && promise.next >= 90 && promise.torn <= 1, "{cut:?}");
            assert_eq!((&memory[..512], &memory[512 * 11..]), (&before[..512], &before[512 * 11..]), "outside");
        }
    }
    unreachable!("the log ends")
}

#[test]
fn nothing_flushed_is_lost_at_any_cut() {
    assert!(every_cut::<1>() > 5000);
}

#[test]
fn words_of_four_and_eight_bytes() {
    assert!(every_cut::<4>() > 5000);
    assert!(every_cut::<8>() > 5000);
}

#[test]
fn the_power_may_go_again_and_again() {
    let (mut memory, mut promise, mut torn) = ([0xffu8; FLASH], Promise::default(), 0);
    for n in 0..600u32 {
        let cut = Cut { operation: n % 61, byte: n * 7 % 60 };
        let before = promise;
        let done = run::<4>(&mut memory, Some(cut), &mut promise, before.next + 60);
        assert!(matches!(done, Ok(_) | Err(WriteError::Sink(Failed::Power))), "after {n} cuts: {done:?}");
        assert!(promise.next >= before.next && promise.first >= before.first, "after {n} cuts");
        torn = promise.torn;
    }
    let len = run::<4>(&mut memory, None, &mut promise, 0).unwrap() as usize;
    let rows = compared(&memory[512..512 + len], promise.first);
    assert_eq!(promise.first + rows, promise.next);
    assert!(torn > 100 && promise.given_up > 20 && promise.next > 500, "{promise:?}");
}

/// A log of other columns is not erased.
#[test]
fn another_log_in_the_flash_is_kept() {
    let other = [Field::new("x", FieldType::Prim(Prim::U8))];
    let (mut rows, mut groups) = ([0; 64], [0; 64]);
    let columns = Fields::new(&other).unwrap();
    let mut log = Log::new(Vec::new(), columns, (&mut rows, 8), &mut groups, Policy::ByHand).unwrap();
    log.push_cells(&[Cell::of(7)]).unwrap();
    let file = log.finish().unwrap();
    let (mut memory, mut promise) = ([0xffu8; FLASH], Promise::default());
    memory[REGION.start as usize..][..file.len()].copy_from_slice(&file);
    let before = memory;
    let e = run::<4>(&mut memory, None, &mut promise, 60).unwrap_err();
    assert!(matches!(e, WriteError::Format(e) if e.kind() == Kind::Misuse), "{e:?}");
    assert!(memory == before);
}

/// Restarts without readings write nothing.
#[test]
fn a_restart_costs_no_flash() {
    let (mut memory, mut promise) = ([0xffu8; FLASH], Promise::default());
    run::<4>(&mut memory, None, &mut promise, 60).unwrap();
    let before = memory;
    for _ in 0..20 {
        run::<4>(&mut memory, None, &mut promise, 0).unwrap();
        assert!(memory == before);
    }
    assert_eq!(promise.torn, 0);
}
