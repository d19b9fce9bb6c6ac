//! Work on several threads, whose results are used in order.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use clap::Args;

use crate::failure::Failure;

/// The option for the number of threads.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Threads {
    /// The number of threads that read, that encode Vortex, and that compress chunks of bcolz; it does not change the output. Fewer
    /// are used for small files, and if their memory would exceed 128 MB [default: the number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Size in bytes of a file that one thread reads.
const SMALL: u64 = 1 << 18;

/// Size in bytes of the memory that all threads may take together, as far as it is known beforehand.
const MEMORY: u64 = 96 << 20;

/// Maximum number of threads, since there are few machines on which more are faster.
const MOST: usize = 64;

impl Threads {
    /// Returns the number of threads for a file of `len` bytes, if each takes `memory` bytes.
    pub fn count(self, len: u64, memory: u64) -> usize {
        if len < SMALL {
            return 1;
        }
        // Linux reads several files for the answer.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = || *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
        let fitting = MEMORY.checked_div(memory).map_or(MOST, |fitting| usize::try_from(fitting).unwrap_or(MOST));
        self.threads.map_or_else(cores, NonZeroUsize::get).min(fitting).clamp(1, MOST)
    }
}

/// Size in bytes of the pieces of a result.
pub const PIECE: usize = 1 << 17;

/// Maximum number of pieces of a result that wait for the results before it.
const WAITING: usize = 24;

/// Maximum size in bytes of what waits of a result that is written.
pub const RESULT: u64 = (WAITING * PIECE) as u64;

/// Passes a result on. After an error of an earlier piece of work, no thread receives it.
pub type Pass<'p, R> = dyn FnMut(R) -> io::Result<()> + 'p;

/// The result of a piece of work: bytes. They are passed on in order. What is written goes in pieces of bounded size, as
/// several of them wait.
pub struct Outlet<'o> {
    bytes: Vec<u8>,
    to: &'o mut Pass<'o, Vec<u8>>,
}

impl<'o> Outlet<'o> {
    /// Passes on what `work` writes, also if it fails.
    pub fn over(
        to: &'o mut Pass<'o, Vec<u8>>,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut outlet = Outlet { bytes: Vec::new(), to };
        let done = work(&mut outlet);
        outlet.flush()?;
        done
    }

    /// Passes bytes on as they are.
    pub fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        (self.to)(bytes)
    }

    fn pass(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        self.send(bytes)
    }
}

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(PIECE);
        }
        let fitting = bytes.get(..PIECE.saturating_sub(self.bytes.len())).unwrap_or(bytes);
        self.bytes.extend_from_slice(fitting);
        if self.bytes.len() >= PIECE {
            self.pass()?;
        }
        Ok(fitting.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() { Ok(()) } else { self.pass() }
    }
}

/// Does pieces of work on `threads` threads. The calling thread makes the pieces by `next`, and passes the results of
/// `work` to `take`, in the order of the pieces. So it does the first error of `work`; what was passed on before it is
/// taken, what follows is not. `start` makes the memory of a thread. If the system refuses threads, those that it gives
/// do the work, at last the calling one.
pub fn in_order<P: Send, S, R: Send>(
    threads: usize,
    mut next: impl FnMut() -> Option<P>,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, P, &mut Pass<'_, R>) -> Result<(), Failure> + Sync,
    mut take: impl FnMut(R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    type Job<P, R> = (P, SyncSender<Result<R, Failure>>);
    let (jobs, queue) = channel::<Job<P, R>>();
    // Only the threads own the queue, so that what is in it is dropped if all of them panic.
    let (queue, stopped) = (Arc::new(Mutex::new(queue)), AtomicBool::new(false));
    let worker = |queue: Arc<Mutex<Receiver<Job<P, R>>>>| {
        let mut memory = start();
        loop {
            let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((piece, to)) = job else { return };
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let mut pass = |result| to.send(Ok(result)).map_err(|_| io::ErrorKind::BrokenPipe.into());
            if let Err(failure) = work(&mut memory, piece, &mut pass) {
                // After an error of an earlier piece of work, no thread receives it.
                let _ = to.send(Err(failure));
            }
        }
    };
    thread::scope(|scope| {
        let started = (0..threads).filter(|_| {
            let (queue, worker) = (queue.clone(), &worker);
            thread::Builder::new().spawn_scoped(scope, move || worker(queue)).is_ok()
        });
        if started.count() == 0 {
            return here(&mut next, &start, &work, &mut take);
        }
        drop(queue);
        let mut under_way: VecDeque<Receiver<_>> = VecDeque::new();
        let mut run = || {
            loop {
                while under_way.len() < threads.saturating_add(2)
                    && let Some(piece) = next()
                {
                    let (to, from) = sync_channel(WAITING);
                    // It fails if all threads have panicked, which the end of the scope reports.
                    let _ = jobs.send((piece, to));
                    under_way.push_back(from);
                }
                let Some(results) = under_way.pop_front() else { return Ok(()) };
                for result in results {
                    take(result?)?;
                }
            }
        };
        let done = run();
        stopped.store(true, Ordering::Relaxed);
        drop((jobs, under_way));
        done
    })
}

/// Does pieces of work on the calling thread, like [`in_order`].
fn here<P, S, R>(
    next: &mut dyn FnMut() -> Option<P>,
    start: &dyn Fn() -> S,
    work: &impl Fn(&mut S, P, &mut Pass<'_, R>) -> Result<(), Failure>,
    take: &mut dyn FnMut(R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut memory = start();
    while let Some(piece) = next() {
        let mut failed = None;
        let mut pass = |result| {
            take(result).map_err(|failure| {
                failed = Some(failure);
                io::ErrorKind::BrokenPipe.into()
            })
        };
        let done = work(&mut memory, piece, &mut pass);
        match failed {
            Some(failure) => return Err(failure),
            None => done?,
        }
    }
    Ok(())
}

/// The number of a thread, and the number of threads that do the work.
pub type Turn = (usize, usize);

/// Returns the next result, or `None` after the last one.
pub type Next<'n> = &'n mut dyn FnMut() -> Result<Option<Vec<u8>>, Failure>;

/// Does the same work on at most `threads` threads, which write results in turns: the first result of the first thread
/// comes first, then the first one of the second thread. `work` is called with the number of its thread and the number of
/// threads, and a function that passes on a result. `take` is called with a function that returns the next result. If the
/// system refuses threads, those that it gives do the work. If it gives none, `take` is called with `None`: the calling
/// thread has to do all the work.
pub fn in_turns<R>(
    threads: usize,
    work: impl Fn(Turn, &dyn Fn(Vec<u8>) -> io::Result<()>) -> Result<(), Failure> + Sync,
    take: impl FnOnce(Option<Next<'_>>) -> R,
) -> R {
    turns((0..threads).map(|_| thread::Builder::new()), work, take)
}

/// [`in_turns`] on threads that are started in these ways.
fn turns<R>(
    threads: impl Iterator<Item = thread::Builder>,
    work: impl Fn(Turn, &dyn Fn(Vec<u8>) -> io::Result<()>) -> Result<(), Failure> + Sync,
    take: impl FnOnce(Option<Next<'_>>) -> R,
) -> R {
    /// Maximum number of results of a thread that wait.
    const RESULTS: usize = 2;
    // The share of a thread depends on how many were started, so each waits for that number.
    let all = OnceLock::new();
    thread::scope(|scope| {
        let mut turns = VecDeque::new();
        for thread in threads {
            let (to, from) = sync_channel(RESULTS);
            let (work, all, number) = (&work, &all, turns.len());
            let started = thread.spawn_scoped(scope, move || {
                let pass = |bytes| to.send(Ok(bytes)).map_err(|_| io::ErrorKind::BrokenPipe.into());
                if let Err(failure) = work((number, *all.wait()), &pass) {
                    // After an error of another thread, no thread receives it.
                    let _ = to.send(Err(failure));
                }
            });
            if started.is_ok() {
                turns.push_back(from);
            }
        }
        // It is set only here.
        let _ = all.set(turns.len());
        if turns.is_empty() {
            return take(None);
        }
        take(Some(&mut || {
            turns.rotate_left(1);
            turns.back().and_then(|from: &Receiver<_>| from.recv().ok()).transpose()
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Piece `k` writes its number `k` times, and piece `bad` fails after it.
    fn numbers(threads: usize, bad: u32) -> (Vec<u8>, Result<(), Failure>) {
        let (mut k, mut all) = (0u32, Vec::new());
        let next = || {
            k += 1;
            (k <= 40).then_some(k)
        };
        let work = |_: &mut (), k: u32, pass: &mut Pass<'_, Vec<u8>>| {
            Outlet::over(pass, |out| {
                // Long results wait, short ones overtake them.
                let times = if k.is_multiple_of(7) { 700_000 } else { k };
                (0..times).try_for_each(|_| out.write_all(&k.to_le_bytes()))?;
                if k == bad { Err(Failure::Input(format!("piece {k}"))) } else { Ok(()) }
            })
        };
        let done = in_order(
            threads,
            next,
            || (),
            work,
            |bytes| {
                all.extend(bytes);
                Ok(())
            },
        );
        (all, done)
    }

    #[test]
    fn results_and_the_first_error_come_in_order() {
        let (one, done) = numbers(1, u32::MAX);
        assert!(done.is_ok());
        let words: Vec<_> = one.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert!(words.is_sorted() && words.last() == Some(&40));
        assert_eq!(numbers(3, u32::MAX).0, one);
        let (start, done) = numbers(3, 20);
        assert_eq!(start.len(), 4 * words.iter().filter(|word| **word <= 20).count());
        assert!(one.starts_with(&start));
        assert!(matches!(done, Err(Failure::Input(why)) if why == "piece 20"));
    }

    #[test]
    fn one_long_text_comes_in_pieces() {
        let (long, mut all, mut done) = (vec![7; 5 * PIECE + 9], Vec::new(), false);
        let next = || (!std::mem::replace(&mut done, true)).then_some(());
        let take = |bytes: Vec<u8>| {
            assert!(bytes.len() <= PIECE && bytes.capacity() <= PIECE, "{}", bytes.capacity());
            all.extend(bytes);
            Ok(())
        };
        let work = |_: &mut (), (), pass: &mut Pass<'_, Vec<u8>>| Outlet::over(pass, |out| Ok(out.write_all(&long)?));
        in_order(2, next, || (), work, take).unwrap();
        assert_eq!(all, long);
    }

    #[test]
    fn without_threads_the_work_is_done_here() {
        let run = |bad: u8| {
            let (mut k, mut all) = (0, Vec::new());
            let mut next = || {
                k += 1;
                (k <= 5).then_some(k)
            };
            let work = |_: &mut (), k: u8, pass: &mut Pass<'_, u8>| {
                pass(k)?;
                if k == bad { Err(Failure::Input("bad".to_owned())) } else { Ok(()) }
            };
            let done = here(&mut next, &|| (), &work, &mut |k| {
                all.push(k);
                if all.len() == 4 { Err(Failure::Printed) } else { Ok(()) }
            });
            (all, done)
        };
        let (all, done) = run(3);
        assert_eq!(all, [1, 2, 3]);
        assert!(matches!(done, Err(Failure::Input(_))));
        let (all, done) = run(9);
        assert_eq!(all, [1, 2, 3, 4]);
        assert!(matches!(done, Err(Failure::Printed)));
    }

    /// Threads that the system refuses take no turn; the others share the work.
    #[test]
    fn results_come_in_turns_of_the_threads_that_start() {
        // The `refused` threads ask for a stack that no address space has.
        let taken = |refused: &[usize]| {
            let builder = |k| match refused.contains(&k) {
                true => thread::Builder::new().stack_size(usize::MAX / 4),
                false => thread::Builder::new(),
            };
            let work = |(number, of): Turn, pass: &dyn Fn(Vec<u8>) -> io::Result<()>| {
                Ok((number..20).step_by(of).try_for_each(|k| pass(vec![k as u8, of as u8]))?)
            };
            turns((0..3).map(builder), work, |next| {
                let next = next?;
                let mut all = Vec::new();
                while let Some(bytes) = next().unwrap() {
                    all.push((bytes[0], bytes[1]));
                }
                Some(all)
            })
        };
        for (refused, of) in [(&[][..], 3), (&[1], 2), (&[0, 2], 1)] {
            assert_eq!(taken(refused), Some((0..20).map(|k| (k, of)).collect()), "{refused:?}");
        }
        assert_eq!(taken(&[0, 1, 2]), None);
    }

    #[test]
    fn an_error_of_the_receiver_ends_the_work() {
        let done = in_order(2, || Some(0), || (), |(), k, pass| Ok(pass(k)?), |_| Err(Failure::Printed));
        assert!(matches!(done, Err(Failure::Printed)));
    }

    #[test]
    fn a_panic_is_not_lost() {
        let work = |_: &mut (), (), _: &mut Pass<'_, ()>| panic!("on purpose");
        let (mut pieces, start) = (vec![(); 9], || ());
        let all = std::panic::catch_unwind(move || in_order(2, || pieces.pop(), start, work, |_| Ok(())));
        assert!(all.is_err());
    }
}
