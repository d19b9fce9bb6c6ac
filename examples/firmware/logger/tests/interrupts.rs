//! Rows from another thread, which interrupts the writer as an interrupt does: none is torn, and each is logged or counted as lost.

use std::sync::Barrier;
use std::{hint, thread};

use logger::interrupts::{Drain, Event, Extents, Lost, Samples, TYPES};
use logger::sensors::Motion;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::Part as _;
use pilaster::dataseries::write::{Cell, IndexSlot, Record as _, Stored, Writer};
use pilaster::dataseries::{File, ReadOptions};

/// Rows in the ring when it is full.
const ROOM: i32 = 63;
/// Rows that come while the program waits, more than it holds, and while the program reads.
const BURST: [i32; 2] = [100, 300];
const ROUNDS: i32 = 300;
const ROWS: i32 = ROUNDS * (BURST[0] + BURST[1]);

/// Row `n`: a torn one would have parts that do not fit.
fn row(n: i32) -> Motion {
    Motion { time: i64::from(n) * 7, x: n, y: !n, z: n.wrapping_mul(-3) }
}

/// Passes on all rows. Fills the ring while the program waits at `gate`, then continues while it reads: so rows are lost in each round, however
/// fast the threads are.
fn produce(mut to: logger::interrupts::Sampler<'_, Motion>, gate: &Barrier) {
    let mut rows = 0..ROWS;
    for _ in 0..ROUNDS {
        rows.by_ref().take(BURST[0] as usize).for_each(|n| to.push(row(n)));
        gate.wait();
        for n in rows.by_ref().take(BURST[1] as usize) {
            to.push(row(n));
            (0..20).for_each(|_| hint::spin_loop());
        }
        gate.wait();
    }
}

#[test]
fn rows_come_in_order_and_gaps_are_where_rows_are_missing() {
    let mut samples = Samples::<Motion, 64>::new();
    let (to, mut from) = samples.split();
    let (mut next, mut rows, mut lost, gate) = (0, 0, 0, Barrier::new(2));
    let mut read = |from: &mut Drain<'_, Motion>| {
        for event in from {
            match event {
                Event::Lost(gap) => (next, lost) = (next + gap as i32, lost + gap as i32),
                Event::Row(found) => {
                    let Motion { time, x, y, z } = row(next);
                    assert_eq!((found.time, found.x, found.y, found.z), (time, x, y, z), "torn, or out of order");
                    (next, rows) = (next + 1, rows + 1);
                }
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| produce(to, &gate));
        for _ in 0..ROUNDS {
            gate.wait();
            (0..10).for_each(|_| read(&mut from));
            gate.wait();
        }
    });
    read(&mut from);
    assert_eq!((next, rows + lost), (ROWS, ROWS), "each row came, or was counted");
    assert!(rows >= ROUNDS * ROOM && lost >= ROUNDS * (BURST[0] - ROOM), "{rows} rows came, {lost} were lost");
}

#[test]
fn the_file_has_each_row_or_its_loss() {
    let mut samples = Samples::<Motion, 64>::new();
    let (to, mut from) = samples.split();
    let (mut slots, mut motions, mut gaps) = (vec![IndexSlot::EMPTY; 20_000], [0; 24 * 32], [0; 12 * 64]);
    let mut file = Writer::<LittleEndian, _, _>::with(Vec::new(), TYPES, &mut slots, Stored);
    let mut extents = Extents::new(&mut motions, &mut gaps).unwrap();
    let gate = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| produce(to, &gate));
        for _ in 0..ROUNDS {
            gate.wait();
            extents.log(&mut from, &mut file).unwrap();
            gate.wait();
        }
    });
    extents.log(&mut from, &mut file).unwrap();
    extents.flush(&mut file).unwrap();
    let bytes = file.finish().unwrap();

    let file = File::<LittleEndian>::open_known(&bytes, TYPES, &ReadOptions::DEFAULT).unwrap();
    let (mut times, mut gaps) = (Vec::new(), Vec::new());
    for extent in file.extents() {
        let (extent, mut memory) = (extent.unwrap(), [0; 4096]);
        let (mut scratch, options) = (Scratch::new(&mut memory), ReadOptions::DEFAULT);
        let is_gap = extent.type_name() == Lost::NAME.as_bytes();
        if !is_gap && extent.type_name() != Motion::NAME.as_bytes() {
            continue;
        }
        let part = match is_gap {
            true => extent.unpack_as::<Lost>(&options, &mut scratch).unwrap(),
            false => extent.unpack_as::<Motion>(&options, &mut scratch).unwrap(),
        };
        for row in 0..part.rows() {
            let cell = |k| part.column(k).unwrap().get(row).unwrap();
            match (cell(0), cell(1)) {
                (Some(Cell::Int64(time)), Some(Cell::Int32(n))) if is_gap => gaps.push((time, n)),
                (Some(Cell::Int64(time)), Some(Cell::Int32(n))) => {
                    let is = self::row(n);
                    assert_eq!((cell(2), cell(3), time), (Some(Cell::Int32(is.y)), Some(Cell::Int32(is.z)), is.time));
                    times.push(time);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let lost: i32 = gaps.iter().map(|(_, rows)| rows).sum();
    assert_eq!(times.len() as i32 + lost, ROWS);
    assert!(lost > 0 && times.is_sorted());
    // A gap tells how many rows are missing after the row at its time. It may be logged in parts, before its last row is lost.
    let mut all = std::collections::BTreeMap::new();
    gaps.iter().for_each(|(time, rows)| *all.entry(*time).or_insert(0) += i64::from(*rows));
    for (time, rows) in all {
        let after = times.partition_point(|one| *one <= time);
        let (before, next) = (times[after - 1], times.get(after).copied().unwrap_or(i64::from(ROWS) * 7));
        assert_eq!((before, rows), (time, (next - before) / 7 - 1), "at {time}");
    }
}
