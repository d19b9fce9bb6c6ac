//! Blocks that wait for the threads that encode them, and for the arrays of the blocks before them.

use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use super::WriteOptions;
use super::array::Array;
use super::lanes::Lane;
use super::pool::{Block, Encoded, Job, Pool};
use super::rows::Rows;

/// Size in bytes of the values that are encoded before threads start.
const START: u64 = 1 << 20;

/// Size in bytes of the values of a job: about a millisecond of work, beside which the wake of a thread is short.
const JOB: u64 = 1 << 18;

/// Number of blocks of a job in columns whose blocks take few bytes.
const BLOCKS: usize = 4;

/// Size in bytes of the values that may wait, for each thread.
const WAITING: u64 = 1 << 21;

/// Blocks that are passed on and not written.
#[derive(Debug)]
pub(super) struct Queue {
    /// Number of threads, the calling one included.
    threads: usize,
    /// The other threads, which start with the first job.
    pool: Option<Pool>,
    /// Number of bytes that were encoded before.
    before: u64,
    /// All blocks, in their order in the file.
    blocks: VecDeque<Place>,
    /// The number of the first one among all that were passed on.
    first: u64,
    /// Size in bytes of their values.
    bytes: u64,
    /// For each leaf, its blocks that no thread has.
    inboxes: Vec<Inbox>,
    chunk_size: u64,
}

/// The place of a block in the file.
#[derive(Debug)]
struct Place {
    lane: usize,
    bytes: u64,
    /// Its arrays, when it is encoded.
    arrays: Option<Vec<Array>>,
}

#[derive(Debug, Default)]
struct Inbox {
    blocks: Vec<Block>,
    bytes: u64,
}

impl Inbox {
    /// Returns whether the blocks are a job.
    fn is_job(&self) -> bool {
        self.bytes >= JOB || self.blocks.len() >= BLOCKS || self.blocks.last().is_some_and(|block| block.is_last)
    }
}

impl Queue {
    pub const fn new(options: &WriteOptions) -> Self {
        Queue {
            threads: options.threads,
            pool: None,
            before: 0,
            blocks: VecDeque::new(),
            first: 0,
            bytes: 0,
            inboxes: Vec::new(),
            chunk_size: options.chunk_size,
        }
    }

    /// Returns whether threads take blocks. If not, the calling one encodes `rows`.
    pub fn is_open(&mut self, rows: &Rows) -> bool {
        if self.pool.is_some() {
            return true;
        }
        self.before = self.before.saturating_add(rows.size());
        if self.threads < 2 || self.before < START {
            return false;
        }
        self.pool = Pool::start(self.threads.saturating_sub(1));
        // The number of threads limits the values that wait.
        self.threads = self.pool.as_ref().map_or(0, Pool::len).saturating_add(1);
        self.pool.is_some()
    }

    /// Adds a block of leaf `lane`.
    pub fn push(&mut self, lane: usize, rows: Rows, is_last: bool, lanes: &mut [Lane]) {
        let own = rows.size();
        // The last block comes with the rest of a chunk, whose arrays wait, too.
        let bytes = if is_last { own.saturating_add(self.chunk_size) } else { own };
        let number = self.first.saturating_add(self.blocks.len() as u64);
        self.bytes = self.bytes.saturating_add(bytes);
        self.blocks.push_back(Place { lane, bytes, arrays: None });
        if self.inboxes.len() < lanes.len() {
            self.inboxes.resize_with(lanes.len(), Inbox::default);
        }
        if let Some(inbox) = self.inboxes.get_mut(lane) {
            inbox.bytes = inbox.bytes.saturating_add(own);
            inbox.blocks.push(Block { number, rows, is_last });
            if inbox.is_job() {
                self.send(lane, lanes);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns whether too many bytes wait.
    pub fn is_full(&self) -> bool {
        self.bytes > WAITING.saturating_mul(self.threads as u64)
    }

    /// Lets a thread encode the blocks of a leaf, unless one has its encoder.
    fn send(&mut self, lane: usize, lanes: &mut [Lane]) {
        let (Some(pool), Some(inbox)) = (&self.pool, self.inboxes.get_mut(lane)) else { return };
        if inbox.blocks.is_empty() {
            return;
        }
        if let Some(encoder) = lanes.get_mut(lane).and_then(|lane| lane.encoder.take()) {
            let Inbox { blocks, .. } = core::mem::take(inbox);
            pool.send(Job { lane, encoder, blocks });
        }
    }

    /// Takes the results of the threads.
    fn collect(&mut self, all: Vec<Encoded>, lanes: &mut [Lane]) {
        for Encoded { lane, encoder, arrays } in all {
            for (number, arrays) in arrays {
                let place = usize::try_from(number.saturating_sub(self.first)).ok();
                if let Some(place) = place.and_then(|place| self.blocks.get_mut(place)) {
                    place.arrays = Some(arrays);
                }
            }
            self.give_back(lane, encoder, lanes);
        }
    }

    fn give_back(&mut self, lane: usize, encoder: Box<super::leaf::Encoder>, lanes: &mut [Lane]) {
        if let Some(place) = lanes.get_mut(lane) {
            place.encoder = Some(encoder);
        }
        if self.inboxes.get(lane).is_some_and(Inbox::is_job) {
            self.send(lane, lanes);
        }
    }

    /// Waits for work of the threads, or does some of it.
    pub fn work(&mut self, lanes: &mut [Lane]) {
        // The first block may wait for others of its leaf, with which it would be a job.
        if let Some(Place { lane, arrays: None, .. }) = self.blocks.front() {
            self.send(*lane, lanes);
        }
        let Some(pool) = &mut self.pool else { return };
        let all = match pool.take() {
            Some(job) => Vec::from([job.run()]),
            None => pool.wait(),
        };
        self.collect(all, lanes);
    }

    /// Returns the arrays of the first block and the number of its leaf, if it is encoded.
    pub fn pop(&mut self, lanes: &mut [Lane]) -> Option<(usize, Vec<Array>)> {
        if self.blocks.front()?.arrays.is_none() {
            let all = self.pool.as_ref()?.results();
            self.collect(all, lanes);
        }
        let arrays = self.blocks.front_mut()?.arrays.take()?;
        let Place { lane, bytes, .. } = self.blocks.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.first = self.first.saturating_add(1);
        Some((lane, arrays))
    }
}
