//! A log that is cut at any offset and resumed becomes the same file.

use pilaster::bytes::{Endian, Scratch, Sink, SliceSink};
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Rest, Resume, Writer};
use pilaster::dataseries::{File, ReadOptions, record};

use super::dataseries::in_order;

record! {
    /// A row of the log.
    struct Entry<'a> = "Entry" namespace "example.org" version 1.0 pack compact {
        time: int64 relative,
        temp: double nullable scaled 0.25 relative,
        place: variable32 unique,
        on: bool nullable,
    }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Entry<'_>>();

/// Rows are bytes of `data`, as are the places of the flushes and the cut.
pub fn run(data: &[u8]) {
    let Some((&[flags, low, high], rows)) = data.split_first_chunk() else { return };
    let (rows, cut) = (&rows[..rows.len().min(200)], u16::from_le_bytes([low, high]).into());
    // Erased flash in the place of an extent's end is told from it by the checksum alone, and under a
    // fuzzer no checksum has a verdict: there only what is really cut off is looked at.
    let erased = flags & 2 != 0 && !cfg!(fuzzing);
    in_order!(flags & 1 == 1, order(rows, cut, erased));
}

fn order<E: Endian>(rows: &[u8], cut: usize, erased: bool) {
    let (mut whole, mut slots) = ([0; 1 << 15], [IndexSlot::EMPTY; 256]);
    let mut log = Writer::<E, _>::new(SliceSink::new(&mut whole), TYPES, &mut slots);
    log.begin().expect("room");
    let first = log.at() as usize;
    fill(&mut log, rows);
    let len = log.finish().expect("room").len();
    let cut = cut % (len + 1);

    let mut bytes = [0xff; 1 << 15];
    bytes[..cut].copy_from_slice(&whole[..cut]);
    let seen = if erased { &bytes[..] } else { &bytes[..cut] };
    let mut slots = [IndexSlot::EMPTY; 256];
    let Ok(resume) = Resume::find::<E>(seen, TYPES, &mut slots) else {
        return assert!(cut < first, "cut at {cut}, types end at {first}");
    };
    let (at, done) = (resume.at() as usize, resume.rows() as usize);
    assert!(first <= at && at <= cut && done <= rows.len());
    assert!(resume.rest() != Rest::Nothing || (at == cut && !erased));
    let mut again = [0; 1 << 15];
    let mut sink = SliceSink::new(&mut again);
    sink.put(&bytes[..at]).expect("room");
    let mut log = Writer::<E, _>::resume(sink, TYPES, &mut slots, &resume);
    fill(&mut log, &rows[done..]);
    assert!(log.finish().expect("room").written() == &whole[..len], "cut at {cut} of {len}");
    assert_eq!(count::<E>(&whole[..len]), rows.len() as u64);
    assert!(count::<E>(seen) >= done as u64);
}

/// Rows up to the first thing that is wrong, by the reader that knows the types; it says of each extent
/// what the reader of descriptions says.
fn count<E: Endian>(bytes: &[u8]) -> u64 {
    let options = ReadOptions::DEFAULT;
    let (mut kept, mut memory, mut other) = ([0; 4096], [0; 4096], [0xff; 4096]);
    let known = File::<E>::open_known(bytes, TYPES, &options).expect("its own types");
    let file = File::<E>::open_sequential(bytes, &options, &mut Scratch::new(&mut kept)).expect("sound types");
    let ty = file.types().get(0).expect("a type");
    let mut rows = 0;
    for extent in known.extents().map_while(Result::ok).filter(|extent| extent.type_name() == b"Entry") {
        let one = extent.unpack_as::<Entry<'_>>(&options, &mut Scratch::new(&mut memory));
        let two = extent.unpack(&ty, &options, &mut Scratch::new(&mut other));
        match (one, two) {
            (Ok(one), Ok(two)) => assert_eq!(one.records(), two.records()),
            (one, two) => {
                assert_eq!(one.err(), two.err());
                break;
            }
        }
        rows += u64::from(extent.header().rows);
    }
    rows
}

/// Logs a row for each byte, and flushes after every fifth value.
fn fill<E: Endian>(log: &mut Writer<'_, E, SliceSink<'_>>, rows: &[u8]) {
    let (mut room, mut pool, mut unique) = ([0; 400], [0; 300], [0; 8]);
    let memory = Memory { rows: &mut room, pool: &mut pool, unique: &mut unique };
    let mut extent = ExtentBuffer::of::<Entry<'_>>(memory).expect("a sound type");
    for byte in rows {
        let place = &b"0123456789"[..usize::from(byte % 11)];
        let entry = Entry {
            time: i64::from(*byte) << 33,
            temp: (byte % 3 != 0).then_some(f64::from(*byte) * 0.1),
            place,
            on: (byte % 4 != 0).then_some(byte % 8 > 3),
        };
        // An extent that is full must end where it did before the cut.
        if extent.push(&entry).is_err() {
            panic!("flushed before it can be full");
        }
        if byte % 5 == 0 || extent.len() == 12 {
            log.flush(&mut extent).expect("room");
        }
    }
    log.flush(&mut extent).expect("room");
}
