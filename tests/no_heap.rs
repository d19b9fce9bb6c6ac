//! Reading and writing allocate nothing: the fuzz bodies run on the goldens under an allocator that
//! counts.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

mod common;
mod harness;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use harness::TARGETS;

struct Counting;

thread_local! {
    /// Allocations of this thread: the test harness has others that allocate as they please.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator; the counter is a plain thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of the system's allocator, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
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
