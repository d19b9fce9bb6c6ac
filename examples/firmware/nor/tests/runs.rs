//! Several runs in one flash log, each begun by a row of a type of its own, and a second reader of the same flash that reads while the
//! log is written.

use std::cell::RefCell;

use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use nor::{Cut, Failed, Nor};
use pilaster::bytes::{LittleEndian, Scratch, WriteError};
use pilaster::column::Part as _;
use pilaster::dataseries::flash::{Cursor, Log, Ring};
use pilaster::dataseries::write::{Cell, Descriptions, ExtentBuffer, Memory, Record as _, Stored};
use pilaster::dataseries::{File, ReadOptions, record};
use pilaster::error::Kind;

record! {
    /// Begins a run.
    struct Run = "Run" namespace "pilaster" version 1.0 { boot: int32 }
}
record! {
    struct Tick = "Tick" { n: int32 }
}

const TYPES: Descriptions<'static> = Descriptions::of::<(Run, Tick)>();
const RING: Ring = Ring { start: 0, segment: 1024, segments: 4 };

/// A flash that two programs use.
struct Shared<'f, 'm>(&'f RefCell<Nor<'m, 4, 1024>>);

impl ErrorType for Shared<'_, '_> {
    type Error = Failed;
}

impl ReadNorFlash for Shared<'_, '_> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        self.0.borrow_mut().read(at, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.borrow().capacity()
    }
}

impl NorFlash for Shared<'_, '_> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        self.0.borrow_mut().erase(from, to)
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Failed> {
        self.0.borrow_mut().write(at, bytes)
    }
}

/// What an extent holds: the number of a run, or of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    Run(i32),
    Tick(i32),
}

/// Returns all rows that follow the cursor, as another program reads them: it mounts the log, and writes nothing.
fn rest(flash: &RefCell<Nor<'_, 4, 1024>>, cursor: &mut Cursor) -> Vec<Row> {
    let (mut page, mut bytes, mut rows) = ([0; 64], [0; 512], Vec::new());
    let before = flash.borrow().operations();
    let mut log = Log::<LittleEndian, _, _>::mount(Shared(flash), RING, TYPES, Stored, &mut page).unwrap();
    while let Some(extent) = log.next_extent(cursor, &mut bytes).unwrap() {
        let (mut memory, options) = ([0; 512], ReadOptions::DEFAULT);
        let mut scratch = Scratch::new(&mut memory);
        let is_run = extent.type_name() == Run::NAME.as_bytes();
        let part = match is_run {
            true => extent.unpack_as::<Run>(&options, &mut scratch).unwrap(),
            false => extent.unpack_as::<Tick>(&options, &mut scratch).unwrap(),
        };
        for row in 0..part.rows() {
            let Some(Cell::Int32(n)) = part.column(0).unwrap().get(row).unwrap() else { panic!("no int32") };
            rows.push(if is_run { Row::Run(n) } else { Row::Tick(n) });
        }
    }
    assert_eq!(flash.borrow().operations(), before, "a reader writes nothing");
    rows
}

type Outcome = Result<(), WriteError<Failed>>;

/// One power-up: a mark, then ticks from `first` on, one extent each, until `count` or a cut. Calls `see` after each extent.
fn power_up(
    flash: &RefCell<Nor<'_, 4, 1024>>,
    boot: i32,
    ticks: std::ops::Range<i32>,
    see: &mut dyn FnMut(Row),
) -> Outcome {
    let (mut page, mut one, mut some) = ([0; 64], [0; 8], [0; 8]);
    let mut log = Log::<LittleEndian, _, _>::mount(Shared(flash), RING, TYPES, Stored, &mut page)?;
    let mut mark = ExtentBuffer::of::<Run>(Memory::rows(&mut one))?;
    let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut some))?;
    let flushed = |log: &mut Log<'_, _, _, _>, mark: &mut _, extent: &mut _| -> Outcome {
        log.flush::<pilaster::dataseries::write::Of<Run>>(mark)?;
        log.flush::<pilaster::dataseries::write::Of<Tick>>(extent)
    };
    for row in std::iter::once(Row::Run(boot)).chain(ticks.map(Row::Tick)) {
        match row {
            Row::Run(boot) => log.push(&mut mark, &Run { boot })?,
            Row::Tick(n) => log.push(&mut extent, &Tick { n })?,
        }
        match flushed(&mut log, &mut mark, &mut extent) {
            Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => {
                log.give_up();
                flushed(&mut log, &mut mark, &mut extent)?;
            }
            done => done?,
        }
        see(row);
    }
    Ok(())
}

#[test]
fn a_second_reader_follows_the_log_over_several_runs() {
    let (mut memory, mut wear) = ([0xff; 4096], [0; 4]);
    let flash = RefCell::new(Nor::new(&mut memory, &mut wear, None));
    let (mut cursor, mut written, mut read) = (Cursor::new(), Vec::new(), Vec::new());
    for boot in 1..=12 {
        power_up(&flash, boot, boot * 100..boot * 100 + 20, &mut |row| {
            written.push(row);
            // Between any two extents of the writer.
            read.extend(rest(&flash, &mut cursor));
        })
        .unwrap();
    }
    assert_eq!(read, written, "each row once, in order, also of segments that were given up meanwhile");
    let all = rest(&flash, &mut Cursor::new());
    let first = all.iter().position(|row| matches!(row, Row::Run(_))).unwrap();
    let kept: Vec<_> = all.iter().filter(|row| matches!(row, Row::Run(_))).collect();
    assert!(first > 0 && kept.len() > 1 && kept.len() < 12, "the oldest runs are gone: {kept:?}");
    assert!(written.ends_with(&all));
}

#[test]
fn a_run_begins_after_each_power_cut() {
    for operation in 0..60 {
        let (mut memory, mut wear) = ([0xff; 4096], [0; 4]);
        let mut written = Vec::new();
        {
            let flash = RefCell::new(Nor::new(&mut memory, &mut wear, Some(Cut { operation, byte: 5 })));
            assert!(power_up(&flash, 1, 0..60, &mut |row| written.push(row)).is_err());
        }
        let flash = RefCell::new(Nor::new(&mut memory, &mut wear, None));
        power_up(&flash, 2, 60..63, &mut |row| written.push(row)).unwrap();
        assert_eq!(rest(&flash, &mut Cursor::new()), written, "{operation}");
    }
}

/// A file that a writer is still appending to: a reader has the complete extents.
#[test]
fn a_second_reader_of_a_growing_file() {
    use pilaster::dataseries::write::{IndexSlot, Writer};
    let (mut slots, mut rows) = ([IndexSlot::EMPTY; 8], [0; 8]);
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
    let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut rows)).unwrap();
    log.begin().unwrap();
    let (mut ends, start) = (Vec::new(), log.at());
    for n in 0..5 {
        log.push(&mut extent, &Tick { n }).unwrap();
        log.flush(&mut extent).unwrap();
        ends.push(log.at());
    }
    let bytes = log.finish().unwrap();
    for len in start..=ends[4] {
        let bytes = &bytes[..len as usize];
        let mut memory = [0; 2048];
        let file = File::<LittleEndian>::open_sequential(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))
            .unwrap();
        // The first extent has the types.
        let whole = file.extents().skip(1).take_while(|extent| extent.is_ok()).count();
        assert_eq!(whole, ends.iter().filter(|end| **end <= len).count(), "{len} bytes");
    }
}
