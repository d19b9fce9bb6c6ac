//! Threads that encode blocks.

use std::boxed::Box;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::vec::Vec;

use super::array::Array;
use super::leaf::Encoder;
use super::rows::Rows;

/// A block of a leaf.
#[derive(Debug)]
pub(super) struct Block {
    /// Its number among the blocks of all leaves.
    pub number: u64,
    pub rows: Rows,
    /// Whether the leaf ends with it.
    pub is_last: bool,
}

/// Blocks of a leaf, with its encoder.
#[derive(Debug)]
pub(super) struct Job {
    pub lane: usize,
    pub encoder: Box<Encoder>,
    pub blocks: Vec<Block>,
}

/// The arrays of each block of a job.
#[derive(Debug)]
pub(super) struct Encoded {
    pub lane: usize,
    pub encoder: Box<Encoder>,
    pub arrays: Vec<(u64, Vec<Array>)>,
}

impl Job {
    /// Encodes the blocks.
    pub fn run(self) -> Encoded {
        let Job { lane, mut encoder, blocks } = self;
        let encoded =
            |Block { number, rows, is_last }| (number, if is_last { encoder.end(rows) } else { encoder.block(rows) });
        let arrays = blocks.into_iter().map(encoded).collect();
        Encoded { lane, encoder, arrays }
    }
}

/// What the threads share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes a thread for a job, or all for the end.
    work: Condvar,
    /// Wakes the calling thread for a result, or a thread that panicked.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    results: Vec<Encoded>,
    is_closed: bool,
    is_panicked: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next job; `None` at the end.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self) {
        let _told = Told(self);
        while let Some(job) = self.next() {
            let result = job.run();
            self.lock().results.push(result);
            self.done.notify_one();
        }
    }
}

/// Tells the calling thread of a panic, for it would wait for a result.
struct Told<'s>(&'s Shared);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_panicked = true;
            self.0.done.notify_one();
        }
    }
}

/// Threads that take jobs in their order.
#[derive(Debug)]
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Maximum number of threads. More only take memory.
    const MOST: usize = 256;

    /// Starts threads, as many as the system allows. `None` if it refuses the first.
    pub fn start(threads: usize) -> Option<Self> {
        let shared = Arc::<Shared>::default();
        let start = |_| {
            let shared = shared.clone();
            thread::Builder::new().spawn(move || shared.run()).ok()
        };
        let threads: Vec<_> = (0..threads.min(Self::MOST)).map_while(start).collect();
        (!threads.is_empty()).then_some(Pool { shared, threads })
    }

    /// Returns the number of threads.
    pub const fn len(&self) -> usize {
        self.threads.len()
    }

    /// Adds a job.
    pub fn send(&self, job: Job) {
        self.shared.lock().jobs.push_back(job);
        self.shared.work.notify_one();
    }

    /// Returns the next job that no thread has begun.
    pub fn take(&self) -> Option<Job> {
        self.shared.lock().jobs.pop_front()
    }

    /// Returns the results since the last call.
    pub fn results(&self) -> Vec<Encoded> {
        core::mem::take(&mut self.shared.lock().results)
    }

    /// Returns the results since the last call, at least one. A thread must have a job.
    ///
    /// # Panics
    /// With the panic of a thread.
    pub fn wait(&mut self) -> Vec<Encoded> {
        let mut state = self.shared.lock();
        while state.results.is_empty() && !state.is_panicked {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (results, is_panicked) = (core::mem::take(&mut state.results), state.is_panicked);
        drop(state);
        if is_panicked {
            self.close();
        }
        results
    }

    /// Ends the threads. Jobs that none has begun are dropped.
    fn close(&mut self) {
        let mut state = self.shared.lock();
        (state.is_closed, state.jobs) = (true, VecDeque::new());
        drop(state);
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !thread::panicking()
            {
                resume_unwind(panic);
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::column::Prim;
    use crate::vortex::write::WriteOptions;
    use crate::vortex::write::dtype::{Logical, Shape};
    use crate::vortex::write::rows::{Data, Numbers};

    fn job(lane: usize) -> Job {
        let ty = Logical::new(Shape::Prim(Prim::I32), false);
        let encoder = Box::new(Encoder::new(&ty, (false, false), &WriteOptions::DEFAULT));
        let block = |number, len| {
            let rows = Rows { len, valid: None, data: Data::Numbers(Numbers::I32((0..len as i32).collect())) };
            Block { number, rows, is_last: number % 2 == 1 }
        };
        let first = 2 * lane as u64;
        Job { lane, encoder, blocks: Vec::from([block(first, 8192), block(first + 1, 100)]) }
    }

    #[test]
    fn every_job_has_a_result() {
        let mut pool = Pool::start(3).unwrap();
        (0..40).for_each(|lane| pool.send(job(lane)));
        let mut found = Vec::new();
        while found.len() < 40 {
            let results = pool.wait();
            assert!(!results.is_empty());
            for Encoded { lane, encoder, arrays } in results {
                let numbers: Vec<u64> = arrays.iter().map(|(number, _)| *number).collect();
                assert_eq!(numbers, [2 * lane as u64, 2 * lane as u64 + 1]);
                assert_eq!(encoder.finish().0.rows, 8292);
                found.push(lane);
            }
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..40) && pool.take().is_none() && pool.results().is_empty());
    }

    #[test]
    fn jobs_that_are_left_are_dropped() {
        let pool = Pool::start(1).unwrap();
        (0..40).for_each(|lane| pool.send(job(lane)));
        drop(pool);
        assert!(Pool::start(0).is_none());
    }

    #[test]
    fn any_number_of_threads_may_be_wanted() {
        let started = Pool::start(usize::MAX).map_or(0, |pool| pool.len());
        assert!(started <= Pool::MOST);
    }

    #[test]
    fn a_panic_is_not_lost() {
        let mut pool = Pool::start(1).unwrap();
        let shared = pool.shared.clone();
        pool.threads.push(thread::spawn(move || {
            let _told = Told(&shared);
            panic!("on purpose");
        }));
        assert!(catch_unwind(AssertUnwindSafe(|| pool.wait())).is_err());
    }
}
