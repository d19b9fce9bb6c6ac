//! The encoders of all leaves, and the order in which their arrays become segments of the file: a block is encoded after the
//! blocks before it in its leaf, and its arrays follow the arrays of all blocks that were passed on before, whatever thread
//! encoded them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::WriteOptions;
use super::array::Array;
use super::file::{Container, Layout};
use super::leaf::Encoder;
#[cfg(feature = "std")]
use super::queue::Queue;
use super::rows::Rows;
use super::statistics::Statistics;
use crate::bytes::{Sink, WriteError};

type Done<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

/// A file, and the encoders of its leaves.
#[derive(Debug)]
pub(super) struct Lanes<S> {
    file: Container<S>,
    lanes: Vec<Lane>,
    /// The blocks that wait for threads.
    #[cfg(feature = "std")]
    queue: Queue,
}

/// A leaf.
#[derive(Debug)]
pub(super) struct Lane {
    /// `None` while a thread has it.
    pub encoder: Option<Box<Encoder>>,
    /// The number in the file of each of its segments.
    segments: Vec<u32>,
}

impl<S: Sink> Lanes<S> {
    /// Starts a file.
    pub fn new(sink: S, options: &WriteOptions) -> Done<Self, S> {
        #[cfg(not(feature = "std"))]
        let _ = options;
        Ok(Lanes {
            file: Container::new(sink)?,
            lanes: Vec::new(),
            #[cfg(feature = "std")]
            queue: Queue::new(options),
        })
    }

    /// Adds a leaf. Returns its number.
    pub fn add(&mut self, encoder: Encoder) -> usize {
        let lane = self.lanes.len();
        self.lanes.push(Lane { encoder: Some(Box::new(encoder)), segments: Vec::new() });
        lane
    }

    /// Encodes a block of leaf `lane`, or lets a thread do so, and writes the segments that are complete.
    pub fn block(&mut self, lane: usize, rows: Rows) -> Done<(), S> {
        self.pass(lane, rows, false)
    }

    /// Passes on the last rows of leaf `lane`, perhaps none.
    pub fn end(&mut self, lane: usize, rest: Rows) -> Done<(), S> {
        self.pass(lane, rest, true)
    }

    fn pass(&mut self, lane: usize, rows: Rows, is_last: bool) -> Done<(), S> {
        #[cfg(feature = "std")]
        if self.queue.is_open(&rows) {
            self.queue.push(lane, rows, is_last, &mut self.lanes);
            while self.queue.is_full() {
                self.queue.work(&mut self.lanes);
                self.write()?;
            }
            return self.write();
        }
        let Some(encoder) = self.lanes.get_mut(lane).and_then(|lane| lane.encoder.as_mut()) else { return Ok(()) };
        let arrays = if is_last { encoder.end(rows) } else { encoder.block(rows) };
        self.segments(lane, &arrays)
    }

    /// Waits until all blocks are encoded and written.
    pub fn wait(&mut self) -> Done<(), S> {
        #[cfg(feature = "std")]
        while !self.queue.is_empty() {
            self.queue.work(&mut self.lanes);
            self.write()?;
        }
        Ok(())
    }

    /// Writes the arrays of the blocks that are encoded, up to the first one that is not.
    #[cfg(feature = "std")]
    fn write(&mut self) -> Done<(), S> {
        while let Some((lane, arrays)) = self.queue.pop(&mut self.lanes) {
            self.segments(lane, &arrays)?;
        }
        Ok(())
    }

    fn segments(&mut self, lane: usize, arrays: &[Array]) -> Done<(), S> {
        for array in arrays {
            let number = self.file.segment(array)?;
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.segments.push(number);
            }
        }
        Ok(())
    }

    /// Returns the layout and the statistics of a leaf that has ended.
    pub fn finished(&mut self, lane: usize) -> (Layout, Statistics) {
        let lane = self.lanes.get_mut(lane);
        let encoder = lane.and_then(|lane| Some((lane.encoder.take()?, core::mem::take(&mut lane.segments))));
        encoder.map_or_else(
            || (Layout::chunked(Vec::new()), Statistics::default()),
            |(encoder, segments)| {
                let (mut layout, statistics) = encoder.finish();
                layout.renumber(&segments);
                (layout, statistics)
            },
        )
    }

    /// Writes the metadata. Returns the sink.
    pub fn finish(self, dtype: &[u8], layout: &Layout, statistics: Option<&[u8]>) -> Done<S, S> {
        self.file.finish(dtype, layout, statistics)
    }
}
