//! Encodes chunks on several threads.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::vec::Vec;

use super::file::{encode_file, file_len};
use crate::bcolz::chunk::{Params, encode_scratch_len};
use crate::bytes::Scratch;
use crate::error::Result;

/// Memory for one file of a chunk at a time.
#[derive(Debug)]
pub(super) struct Encoder {
    file: Vec<u8>,
    scratch: Vec<u8>,
}

impl Encoder {
    pub(super) const fn new() -> Self {
        Encoder { file: Vec::new(), scratch: Vec::new() }
    }

    /// Returns `rows` as the file of a chunk.
    pub(super) fn encode(&mut self, rows: &[u8], params: &Params) -> Result<&[u8]> {
        let (room, memory) = (file_len(rows.len()), encode_scratch_len(params, rows.len()));
        self.file.resize(self.file.len().max(room), 0);
        self.scratch.resize(self.scratch.len().max(memory), 0);
        let len = encode_file(rows, params, &mut self.file, &mut Scratch::new(&mut self.scratch))?;
        Ok(self.file.get(..len).unwrap_or_default())
    }
}

/// A chunk to encode, and where its file goes.
type Job = (Vec<u8>, Params, SyncSender<Result<Vec<u8>>>);

/// The file of a chunk that a thread encodes.
#[derive(Debug)]
pub(super) struct Pending(Receiver<Result<Vec<u8>>>);

impl Pending {
    /// Waits for the file.
    pub(super) fn wait(self) -> io::Result<Result<Vec<u8>>> {
        self.0.recv().map_err(|_| io::Error::other("the thread that encodes chunks has ended"))
    }
}

/// Threads that encode chunks.
#[derive(Debug)]
pub(super) struct Encoders {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Encoders {
    /// Maximum number of threads. More only take memory.
    const MOST: usize = 256;

    /// Starts threads, as many as the system allows. `None` if it refuses the first.
    pub(super) fn start(threads: usize) -> Option<Self> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let start = |_| {
            let queue = queue.clone();
            thread::Builder::new().spawn(move || work(&queue)).ok()
        };
        let threads: Vec<_> = (0..threads.min(Self::MOST)).map_while(start).collect();
        (!threads.is_empty()).then_some(Encoders { jobs: Some(jobs), threads })
    }

    /// Lets a thread encode `rows`.
    pub(super) fn encode(&self, rows: Vec<u8>, params: Params) -> Pending {
        let (to, file) = sync_channel(1);
        // Without a thread, `wait` reports it.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send((rows, params, to)));
        Pending(file)
    }

    /// Returns the number of chunks that keep all threads busy.
    pub(super) const fn ahead(&self) -> usize {
        self.threads.len().saturating_add(1)
    }
}

impl Drop for Encoders {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    let mut encoder = Encoder::new();
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((rows, params, to)) = job else { return };
        // After an error of another chunk, no caller waits for the file.
        let _ = to.send(encoder.encode(&rows, &params).map(<[u8]>::to_vec));
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;
    use crate::bcolz::open_file;

    #[test]
    fn files_are_those_of_one_thread() {
        let (encoders, params) = (Encoders::start(3).unwrap(), Params { typesize: 2, ..Params::DEFAULT });
        let rows: Vec<Vec<u8>> = (0..40u8).map(|k| vec![k; usize::from(k) * 500]).collect();
        let pending: Vec<_> = rows.iter().map(|rows| encoders.encode(rows.clone(), params)).collect();
        drop(encoders);
        for (rows, pending) in rows.iter().zip(pending) {
            let file = pending.wait().unwrap().unwrap();
            assert_eq!(file, Encoder::new().encode(rows, &params).unwrap());
            assert_eq!(open_file(&file).unwrap().nbytes(), rows.len());
        }
    }

    #[test]
    fn any_number_of_threads_may_be_wanted() {
        assert!(Encoders::start(usize::MAX).is_none_or(|encoders| encoders.threads.len() <= Encoders::MOST));
    }

    #[test]
    fn no_threads() {
        assert!(Encoders::start(0).is_none());
        let encoders = Encoders { jobs: None, threads: Vec::new() };
        assert!(encoders.encode(Vec::new(), Params::DEFAULT).wait().is_err());
    }
}
