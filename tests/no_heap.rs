//! Reading and writing allocate nothing: the fuzz bodies run on the goldens under an allocator that
//! counts. The writer of Vortex, which has a heap, takes as much of it for many rows as for few.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

mod common;
mod harness;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;

use harness::TARGETS;
use pilaster::bytes::Sink;
use pilaster::column::{Borrowed, Prim, Spans, Type, Values, VarBytes};
use pilaster::vortex::write::{Encodings, WriteOptions, Writer};

struct Counting;

thread_local! {
    /// Allocations of this thread: the test harness has others that allocate as they please.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has, and the most since [`peak`] began.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator; the counter is a plain thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        HELD.set(HELD.get().saturating_add(layout.size()));
        MOST.set(MOST.get().max(HELD.get()));
        // SAFETY: the caller keeps the contract of the system's allocator, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // Another thread may have allocated it.
        HELD.set(HELD.get().saturating_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

/// The most bytes that `work` has at a time.
fn peak(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    MOST.set(before);
    work();
    MOST.get() - before
}

/// Bodies that compare with a library that allocates, or encode with a heap, or read a dataset, make files or parse the
/// notation of a type, which takes one.
const ORACLES: &[&str] = &[
    "flat",
    "codec_host",
    "jay_meta",
    "jay_roundtrip",
    "bcolz_dataset",
    "filo_made",
    "dataseries_made",
    "jay_made",
    "bcolz_made",
    "vortex_made",
    "vortex_notation",
    "vortex_roundtrip",
    "vortex_written",
];

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1u8]))), 1);
    assert_eq!(allocations(|| assert_eq!(std::hint::black_box([1u8]), [1])), 0);
}

#[test]
fn no_body_allocates() {
    let mut inputs = Vec::new();
    for golden in common::of("filo") {
        let element: pilaster::filo::Element = golden.fact("element_type").parse().unwrap();
        let index = pilaster::filo::Element::ALL.iter().position(|e| *e == element).unwrap();
        inputs.push((golden.name.clone(), [&[index as u8][..], &golden.bytes()].concat()));
    }
    for (name, body) in TARGETS.iter().filter(|(name, _)| !ORACLES.contains(name)) {
        for (golden, input) in &inputs {
            assert_eq!(allocations(|| body(input)), 0, "{name} allocates on {golden}");
        }
    }
}

#[test]
fn no_body_of_dataseries_allocates() {
    let body = |wanted: &str| TARGETS.iter().find(|(name, _)| *name == wanted).expect("a body").1;
    let mut count = 0;
    for golden in common::of("dataseries") {
        let mut inputs = common::dataseries_inputs(&golden.bytes());
        inputs.extend(common::dataseries_documents(&golden).into_iter().map(|xml| ("dataseries_types", xml)));
        for (name, input) in inputs {
            assert_eq!(allocations(|| body(name)(&input)), 0, "{name} allocates on {}", golden.name);
            count += 1;
        }
    }
    assert!(count > 1000, "only {count} inputs");
}

#[test]
fn no_body_of_jay_allocates() {
    let bodies = || TARGETS.iter().filter(|(name, _)| name.starts_with("jay") && !ORACLES.contains(name));
    assert_eq!(bodies().count(), 3);
    for golden in common::of("jay") {
        for (name, body) in bodies() {
            let input = golden.bytes();
            assert_eq!(allocations(|| body(&input)), 0, "{name} allocates on {}", golden.name);
        }
    }
}

#[test]
fn no_body_of_vortex_allocates() {
    let of_vortex = |name: &str| name.starts_with("vortex") && !ORACLES.contains(&name);
    let bodies = TARGETS.iter().filter(|(name, _)| of_vortex(name) || ["proto", "any_file"].contains(name));
    let goldens = common::of("vortex");
    assert!(goldens.len() > 100);
    for (name, body) in bodies {
        for golden in &goldens {
            let input = [&[3, 0][..], &golden.bytes()].concat();
            for input in [&input[..], &input[2..]] {
                assert_eq!(allocations(|| body(input)), 0, "{name} allocates on {}", golden.name);
            }
        }
    }
}

/// A sink that keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    type Error = Infallible;

    fn put(&mut self, _: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Rows of a chunk: of 64 KiB.
const ROWS: usize = 1 << 13;

/// The memory of a file of `count` chunks, whose rows `part` has.
fn memory_of_chunks(count: usize, options: &WriteOptions, part: &[(&str, Borrowed<'_>)]) -> usize {
    peak(|| {
        let mut file = Writer::new(Nowhere, part, options).unwrap();
        (0..count).for_each(|_| file.push(part).unwrap());
        file.finish().unwrap();
    })
}

/// Chunks of a Vortex file are written as they are made. What stays is the place of each, and what is known of its zones.
#[test]
fn vortex_is_written_in_memory_that_does_not_grow() {
    let mixed = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let line: Vec<i64> = (0..ROWS).map(|row| 100 * row as i64 + (mixed(row) >> 58) as i64).collect();
    let codes: Vec<i64> = (0..ROWS).map(|row| ((mixed(row) >> 60) << 40) as i64).collect();
    let any: Vec<i64> = (0..ROWS).map(|row| mixed(row) as i64).collect();
    let floats: Vec<f64> = (0..ROWS).map(|row| (mixed(row) >> 44) as f64 / 100.0).collect();
    let (mut data, mut offsets) = (String::new(), vec![0]);
    for row in 0..ROWS {
        data += &format!("GET /{} 200", mixed(row) >> 48);
        offsets.push(u32::try_from(data.len()).unwrap());
    }
    let texts = VarBytes { data: data.as_bytes(), spans: Spans::Off32(&offsets) };
    let number = |values| Borrowed::new(Type::Prim(Prim::I64), Values::I64(values));
    let columns = [
        ("line", number(&line)),
        ("codes", number(&codes)),
        ("any", number(&any)),
        ("floats", Borrowed::new(Type::Prim(Prim::F64), Values::F64(&floats))),
        ("texts", Borrowed::new(Type::Utf8, Values::Utf8(texts))),
    ];
    let usual = WriteOptions { chunk_size: 8 * ROWS as u64, ..WriteOptions::DEFAULT };
    let all = [
        ("default", usual),
        ("without dictionaries", WriteOptions { dictionaries: false, ..usual }),
        ("compact", WriteOptions { encodings: Encodings::COMPACT, ..usual }),
    ];
    // Some builds have no encoders for the smallest encodings.
    for (name, options) in all.into_iter().filter(|(_, options)| options.check().is_ok()) {
        for column in columns.chunks(1).chain([&columns[..]]) {
            let [one, four, sixteen] = [1, 4, 16].map(|count| memory_of_chunks(count, &options, column));
            // Twelve more chunks may keep 256 bytes for each column.
            let growth = 12 * 256 * column.len();
            assert!(four <= 2 * one && sixteen <= four + growth, "{name}, {}: {one}, {four}, {sixteen}", column[0].0);
        }
    }
}
