//! Damaged goldens: cut at every length, every byte set to several values, read as every element type
//! or in every way. Nothing may panic, hang, or contradict itself.
//!
//! Each run takes the same sample: of all damages 10 % for Filo, where most files are damaged in full, 0.2 % for
//! DataSeries, 0.16 % for Blosc chunks, 0.07 % for Jay, 0.016 % for Vortex. `PILASTER_FULL=1` takes all
//! (`.ci/hostile-full`, weekly); `PILASTER_SAMPLE=n` sets [`SAMPLE`].

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pilaster::filo::Element;

use crate::common::{self, Golden};
use crate::harness::{bcolz_chunk, dataseries_file, filo_vector, jay_file, vortex_array, vortex_file};

/// Maximum number of damages per Filo file. Other files get fewer: see [`SLOWER`].
const SAMPLE: usize = 1500;

/// Other files than Filo get a `SLOWER`th of the sample per `LONGER` bytes, at least 8, as reading them takes longer.
const SLOWER: usize = 20;
const LONGER: usize = 2000;

/// What a byte is changed to.
const CHANGES: [fn(u8) -> u8; 7] = [|_| 0, |_| 1, |_| 0x7f, |_| 0x80, |_| 0xff, |b| b ^ 1, |b| b ^ 0x80];

#[test]
fn damaged_goldens() {
    damaged("filo", |whole, golden| {
        let right: Element = golden.fact("element_type").parse().expect("an element type");
        assert!(filo_vector::read(whole, right), "{}: the undamaged file", golden.name);
        |bytes| Element::ALL.into_iter().filter(|element| filo_vector::read(bytes, *element)).count()
    });
}

#[test]
fn damaged_dataseries() {
    damaged("dataseries", |_, _| dataseries_file::read);
}

#[test]
fn damaged_chunks() {
    damaged("bcolz", |_, _| bcolz_chunk::read);
}

#[test]
fn damaged_jay() {
    damaged("jay", |whole, golden| {
        let sound = golden.expected["expect"].is_null();
        assert!(!sound || jay_file::read(whole) == 3, "{}: the undamaged file", golden.name);
        jay_file::read
    });
}

#[test]
fn damaged_vortex() {
    damaged("vortex", |_, golden| {
        let array = golden.is("varr");
        move |bytes: &[u8]| if array { vortex_array::read(bytes) } else { vortex_file::read(bytes) }
    });
}

/// Damages all goldens of a format. `reader` gives the function that reads one in all ways and counts
/// how many of them opened it.
fn damaged<R: Fn(&[u8]) -> usize>(format: &str, reader: impl Fn(&[u8], &Golden) -> R + Sync) {
    let goldens: Vec<_> = common::of(format).into_iter().filter(|golden| golden.path.is_file()).collect();
    let (full, sample) = (env::var("PILASTER_FULL").is_ok_and(|v| v == "1"), env::var("PILASTER_SAMPLE"));
    let most = if full { usize::MAX } else { sample.map_or(SAMPLE, |n| n.parse().expect("a number")) };

    let (next, tried, opened) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(golden) = goldens.get(next.fetch_add(1, Ordering::Relaxed)) {
            let whole = golden.bytes();
            let slower = if format == "filo" { 1 } else { SLOWER * (1 + whole.len() / LONGER) };
            let most = if full { most } else { (most / slower).max(8) };
            let (t, o) = damage(golden, &whole, most, reader(&whole, golden));
            tried.fetch_add(t, Ordering::Relaxed);
            opened.fetch_add(o, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("a damaged golden was not taken calmly"));
    });
    let (tried, opened) = (tried.into_inner(), opened.into_inner());
    println!("{tried} damaged files, {opened} times opened");
    // Half of a small Jay or Vortex file is metadata, without which it does not open.
    let least = if matches!(format, "jay" | "vortex") { tried / 2 } else { tried };
    assert!(opened > least, "most damage leaves a file readable in some way: is anything read at all?");
}

/// Damages one golden; how often, and how often the result could be opened.
fn damage(golden: &Golden, whole: &[u8], most: usize, read: impl Fn(&[u8]) -> usize) -> (usize, usize) {
    let count = whole.len() * (1 + CHANGES.len());
    if count == 0 {
        return (0, read(whole));
    }
    // A stride that shares no factor with the count reaches all kinds of damage in all places.
    let tries = count.min(most);
    let stride = if tries == count { 1 } else { coprime(count / tries.max(1), count) };
    let mut bytes = whole.to_vec();
    let mut opened = 0;
    for i in 0..tries {
        let (at, kind) = (i * stride % count / (1 + CHANGES.len()), i * stride % count % (1 + CHANGES.len()));
        let damaged = match CHANGES.get(kind) {
            Some(change) => {
                bytes[at] = change(whole[at]);
                if bytes[at] == whole[at] {
                    continue;
                }
                &bytes[..]
            }
            None => &whole[..at],
        };
        // Says which input it was, should reading panic.
        let _guard = OnPanic(|| eprintln!("{}: byte {at}, damage {kind}", golden.name));
        opened += read(damaged);
        bytes[at] = whole[at];
    }
    (tries, opened)
}

fn coprime(from: usize, to: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (from.max(1)..).find(|n| gcd(*n, to) == 1).unwrap_or(1)
}

struct OnPanic<F: Fn()>(F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0();
        }
    }
}
