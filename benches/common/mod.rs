//! Times several implementations of the same work in turns, and prints the table of results.
//!
//! In each of many rounds, every implementation runs for about a millisecond. The result is the median of its turns, in
//! CPU time of the thread, so that other work on the machine has little effect. A rival is compared round by round,
//! because a slow round slows both.

#![allow(dead_code, reason = "each bench uses a part of it")]

mod data;
mod record;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
pub use data::*;
pub use record::{Pair, record, record_pair};

thread_local! {
    /// The last heading, which is a part of the names in the file of results: several parts have lines of the same name.
    static HEADING: RefCell<String> = const { RefCell::new(String::new()) };
}

/// One line of the table: the work and its implementations.
pub struct Work<'a> {
    name: String,
    values: usize,
    bytes: usize,
    original: Option<f64>,
    ghz: f64,
    by_bytes: bool,
    ways: Vec<Way<'a>>,
}

/// The name of an implementation, and a function that runs it once.
type Way<'a> = (&'static str, Box<dyn FnMut() + 'a>);

impl<'a> Work<'a> {
    /// Creates work on `values` values of `bytes` plain bytes. `ours`: the implementation of pilaster.
    pub fn new(name: impl Into<String>, values: usize, bytes: usize, ours: impl FnMut() + 'a) -> Self {
        let ways: Vec<Way<'a>> = vec![("ours", Box::new(ours))];
        Work { name: name.into(), values, bytes, original: None, ghz: 1.0, by_bytes: false, ways }
    }

    /// Adds the implementation of a rival.
    pub fn rival(mut self, name: &'static str, way: impl FnMut() + 'a) -> Self {
        self.ways.push((name, Box::new(way)));
        self
    }

    /// Adds the time in microseconds of the original program for the same values, on another machine. `ghz`: the clock
    /// of this machine.
    pub fn original(mut self, micros: f64, ghz: f64) -> Self {
        (self.original, self.ghz) = (Some(micros * 1e-6), ghz);
        self
    }

    /// Records the speed in bytes, not in values.
    pub fn by_bytes(mut self) -> Self {
        self.by_bytes = true;
        self
    }

    /// Measures all implementations and a copy of the plain bytes, and prints the line. Arguments of the program choose
    /// the lines whose name contains one of them.
    pub fn run(mut self) {
        let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
        if words.peek().is_some() && !words.any(|word| self.name.contains(&word)) {
            return;
        }
        let (from, mut to) = (noise(self.bytes), vec![1u8; self.bytes]);
        self.ways.push(("memcpy", Box::new(move || black_box(&mut to).copy_from_slice(black_box(&from)))));

        // The original was measured in long samples of many calls, with warm caches. Without an original, samples are
        // short and alternate between the implementations.
        let (sample, rounds) = match self.original {
            Some(_) => (60e-3, 9),
            None => (1e-3, if self.bytes > 10_000_000 { 9 } else { 31 }),
        };
        let turns: Vec<u32> = self.ways.iter_mut().map(|(_, way)| turns(way, sample)).collect();
        let mut times = vec![Vec::new(); self.ways.len()];
        for _ in 0..rounds {
            for (((_, way), turns), times) in self.ways.iter_mut().zip(&turns).zip(&mut times) {
                times.push(time(way, *turns).as_secs_f64() / f64::from(*turns));
            }
        }
        let rivals = self.ways[1..self.ways.len() - 1].iter().zip(&times[1..]).map(|((name, _), theirs)| {
            let ratios = theirs.iter().zip(&times[0]).map(|(theirs, ours)| theirs / ours).collect();
            (name, median(ratios))
        });
        let (table, line) =
            (env!("CARGO_CRATE_NAME"), HEADING.with_borrow(|heading| format!("{heading}, {}", self.name)));
        let rival = match rivals.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((name, ratio)) => {
                record(table, &line, name, ratio);
                format!("{ratio:.2} x {name}")
            }
            None => String::new(),
        };
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        let (ours, memcpy) = (medians[0], medians[medians.len() - 1]);
        let original = match self.original {
            Some(time) => {
                let (faster, cycles) = (time / ours, ORIGINAL_GHZ / self.ghz);
                let (much, unit) = match self.by_bytes {
                    true => (self.bytes as f64 / 1e9, "GB/s"),
                    false => (self.values as f64 / 1e6, "M values/s"),
                };
                let pair = Pair { theirs: much / time, ours: much / ours, unit };
                record_pair(table, &line, "original", pair, faster);
                record(table, &line, "original, by cycles", faster * cycles);
                format!("{:6.0} {faster:5.1} x {:5.1} x", self.values as f64 / time / 1e6, faster * cycles)
            }
            None => String::new(),
        };
        record(table, &line, "memcpy", memcpy / ours);
        println!(
            "{:<44} {:8.2} {:10.0} {:8.2}   {original:<22} {rival}",
            self.name,
            self.bytes as f64 / ours / 1e9,
            self.values as f64 / ours / 1e6,
            memcpy / ours,
        );
    }
}

/// Prints the line above a part of the table.
pub fn heading(text: &str) {
    let [bytes, values, memcpy, original] = ["GB/s", "M values/s", "x memcpy", "original   time  cycles"];
    HEADING.set(text.to_owned());
    println!("\n{text:<44} {bytes:>8} {values:>10} {memcpy:>8}   {original:<22} best rival");
}

/// Clock in GHz of the core on which the original was measured.
pub const ORIGINAL_GHZ: f64 = 4.5;

/// Returns the clock of this core in GHz, measured by a dependency chain that takes 19 cycles per 12 bytes on any core.
pub fn ghz() -> f64 {
    let bytes = noise(120_000);
    let mut chain = || _ = black_box(pilaster::unstable::hash::lookup2(0, black_box(&bytes)));
    let times = (0..31).map(|_| time(&mut chain, 5).as_secs_f64() / 5.0).collect();
    19.0 * (bytes.len() / 12) as f64 / median(times) / 1e9
}

/// Returns the number of calls that take about `sample` seconds.
fn turns(way: &mut dyn FnMut(), sample: f64) -> u32 {
    way();
    let once = time(way, 1).as_secs_f64().max(1e-8);
    let some = (1e-4 / once).clamp(1.0, 1e5) as u32;
    let once = time(way, some).as_secs_f64().max(1e-8) / f64::from(some);
    (sample / once).clamp(1.0, 1e6) as u32
}

pub fn time(way: &mut dyn FnMut(), turns: u32) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..turns {
        way();
    }
    start.elapsed()
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
