//! DataSeries files whose extents are made by several threads.

use std::io;

use pilaster::bytes::{Endian, Sink, WriteError};
use pilaster::column::Memory;
use pilaster::dataseries::write::{Builder, Compress, Description, Descriptions, ExtentBuffer, Writer};
use pilaster::dataseries::{Extent, ExtentType};

use crate::failure::Failure;
use crate::feed::{self, Chosen, Shared};
use crate::noting::{Noting, located};
use crate::pieces::{self, Piece};
use crate::progress::Progress;
use crate::threads::{Pass, Threads, in_order};

/// Number of rows of an extent.
pub const EXTENT_ROWS: u64 = 1 << 14;

/// The remedy for a column that no option converts.
pub const LEAVE_OUT: &str = " (--columns leaves it out)";

/// Size in bytes of the extents of a thread that wait for those before them, estimated.
const WAITING: u64 = 8 << 20;

/// Number of values in a piece.
const VALUES: u64 = 1 << 19;

/// A table whose rows several threads read and compress.
pub struct Extents<'e>(Shared<'e>);

impl<'e> Extents<'e> {
    /// Prepares threads for a table, each with `memory` bytes for a part and its batches. `None` if one thread is better.
    pub fn new(chosen: Chosen<'e>, threads: Threads, memory: usize) -> Option<Self> {
        // Few rows may meet a condition. An extent then has rows of several parts, which one thread joins.
        if chosen.windows.condition.is_some() {
            return None;
        }
        let extents = VALUES.checked_div(chosen.columns.numbers.len() as u64).unwrap_or(VALUES) / EXTENT_ROWS;
        let step = extents.max(1).saturating_mul(EXTENT_ROWS);
        Shared::new(chosen, threads, (memory, WAITING), step, 3).map(Extents)
    }

    /// Writes the extents to `writer`. The bytes do not depend on the number of threads.
    pub fn write<E: Endian, S: Sink, C: Compress + Clone + Sync>(
        self,
        writer: &mut Writer<'_, E, S, C>,
        types: &[Description<'_>],
        ty: ExtentType<'_>,
        compress: &C,
    ) -> Result<(), Stop<S::Error>> {
        let mut pieces = self.0.pieces().map_err(Stop::Failure)?;
        let Shared { chosen, threads, memory, .. } = self.0;
        writer.begin().map_err(Stop::Write)?;
        let front = writer.at();
        let total = || pieces::count(chosen.windows.file, chosen.windows.table).unwrap_or(0);
        let (mut progress, mut rows) = (Progress::counted(total, true), 0u64);
        let mut stopped = None;
        let work = |memory: &mut pilaster::Result<Memory>, piece: Piece<'_>, pass: &mut Pass<'_, Vec<u8>>| {
            let memory = memory.as_mut().map_err(|e| Failure::Format(*e))?;
            let sink = Whole { pass, front, bytes: Vec::new(), order: std::marker::PhantomData::<E> };
            let writer = Writer::<E, _, _>::with(sink, Descriptions::new(types)?, &mut [], compress.clone());
            let builder = Builder::new(writer, ExtentBuffer::growing(ty)?, EXTENT_ROWS);
            let mut builder = Noting::new(builder);
            let done = feed::piece(&chosen, &piece, &mut builder, &mut memory.scratch());
            done.map_err(|e| match e {
                WriteError::Format(e) => located(e.into(), builder.refused.take(), |_, _| LEAVE_OUT),
                WriteError::Sink(e) => e.into(),
            })
        };
        let done = in_order(
            threads,
            || pieces.next(),
            || Memory::with_len(memory),
            work,
            |bytes| {
                let put = Extent::<E>::of(&bytes, 0).map_err(WriteError::Format).and_then(|extent| {
                    rows = rows.saturating_add(extent.header().rows.into());
                    progress.at(rows);
                    writer.put_stored(&extent)
                });
                put.map_err(|e| {
                    stopped = Some(e);
                    Failure::Printed
                })
            },
        );
        match (stopped, done) {
            (Some(e), _) => Err(Stop::Write(e)),
            (None, done) => done.map_err(Stop::Failure),
        }
    }
}

/// Why extents were not written: by an error of the file that is written, or of the table.
pub enum Stop<E> {
    Write(WriteError<E>),
    Failure(Failure),
}

/// Passes on complete extents, without the header and types before the first one.
struct Whole<'o, 'p, E> {
    pass: &'o mut Pass<'p, Vec<u8>>,
    /// Remaining size in bytes of header and types.
    front: u64,
    bytes: Vec<u8>,
    order: std::marker::PhantomData<E>,
}

impl<E: Endian> Sink for Whole<'_, '_, E> {
    type Error = io::Error;

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(front) = self.front.checked_sub(bytes.len() as u64) {
            self.front = front;
            return Ok(());
        }
        self.bytes.extend_from_slice(bytes);
        let extent = Extent::<E>::of(&self.bytes, 0);
        if extent.is_ok_and(|extent| extent.header().span().end() == Some(self.bytes.len() as u64)) {
            (self.pass)(std::mem::take(&mut self.bytes))?;
        }
        Ok(())
    }
}
