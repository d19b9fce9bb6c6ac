//! The writer for a sink that is awaited: `embedded_io_async::Write`, version 0.7.

use embedded_io_async_07::Write;
use zerocopy::IntoBytes;

use super::list::{IndexSlot, List};
use super::output::{Finished, Output, Put, Stopped, trailer};
use super::{Compress, Descriptions, ExtentBuffer, Of, Record, Schema, Stored, WriteError, Writer};
use crate::bytes::{Endian, Sink};
use crate::dataseries::raw::FileHeader;
use crate::error::{Kind, What};

/// A [`Writer`] that awaits, and does so only where bytes go into the sink: rows are added, packed and
/// compressed between two awaits.
///
/// Bytes reach the sink through a window of lent memory, one `write_all` for each time that it is full, so
/// a window of 64 bytes suits a UART and one of a page a card. The lists of types and extents are made
/// anew for every window: their work grows with the square of their length, which is small on a device.
///
/// If a future is dropped before it is ready, or the sink fails, nobody knows what the sink has: the writer
/// then refuses to go on, as a [`Writer`] does.
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{AsyncWriter, Descriptions, ExtentBuffer, IndexSlot, Memory, WriteError};
///
/// record! {
///     /// What the sensor says.
///     struct Reading = "Sensor" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         temp: double scaled 0.01,
///     }
/// }
///
/// async fn log<W: embedded_io_async::Write>(uart: W) -> Result<W, WriteError<W::Error>> {
///     let (mut slots, mut window, mut memory) = ([IndexSlot::EMPTY; 8], [0; 64], [0; 512]);
///     let types = Descriptions::of::<Reading>();
///     let mut log = AsyncWriter::<LittleEndian, _>::new(uart, types, &mut slots, &mut window);
///     let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut memory))?;
///     for second in 0..100 {
///         log.push(&mut extent, &Reading { time: second * 1000, temp: 21.5 }).await?;
///     }
///     log.flush(&mut extent).await?;
///     log.finish().await
/// }
/// # use embedded_io_async_07 as embedded_io_async;
/// ```
#[derive(Debug)]
pub struct AsyncWriter<'w, E, W, C = Stored> {
    /// Knows all of the file but its bytes.
    file: Writer<'w, E, Nowhere, C>,
    sink: W,
    window: &'w mut [u8],
}

/// The bytes go another way.
#[derive(Debug)]
struct Nowhere;

impl Sink for Nowhere {
    type Error = core::convert::Infallible;

    fn put(&mut self, _: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<'w, E: Endian, W: Write> AsyncWriter<'w, E, W> {
    /// A file that stores everything uncompressed; as [`with`](Self::with).
    pub const fn new(sink: W, types: Descriptions<'w>, slots: &'w mut [IndexSlot], window: &'w mut [u8]) -> Self {
        AsyncWriter::with(sink, types, slots, Stored, window)
    }
}

impl<'w, E: Endian, W: Write, C: Compress> AsyncWriter<'w, E, W, C> {
    /// A file of these types, as with [`Writer::with`]. The lists of types and extents are never
    /// compressed.
    pub const fn with(
        sink: W,
        types: Descriptions<'w>,
        slots: &'w mut [IndexSlot],
        compress: C,
        window: &'w mut [u8],
    ) -> Self {
        AsyncWriter { file: Writer::with(Nowhere, types, slots, compress), sink, window }
    }

    /// Writes header and types now, unless they are written.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] without a window; otherwise those of [`Writer::begin`].
    pub async fn begin(&mut self) -> Result<(), WriteError<W::Error>> {
        if self.file.out.at() > 0 {
            return Ok(());
        }
        let AsyncWriter { file: Writer { out, types, .. }, sink, window } = self;
        let header = FileHeader::<E>::STANDARD;
        put(out, sink, window, None, |to| to.put(header.as_bytes())).await?;
        put_list::<E, W>(out, sink, window, List::types(types.list())).await
    }

    /// Where the next extent begins: bytes so far.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.file.at()
    }

    /// Data extents so far.
    #[must_use]
    pub const fn extents(&self) -> usize {
        self.file.extents()
    }

    /// Adds a row to `extent`, which is flushed first if the row does not fit.
    ///
    /// # Errors
    /// Those of [`Writer::push`].
    pub async fn push<R: Record>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, Of<R::Static>>,
        row: &R,
    ) -> Result<(), WriteError<W::Error>>
    where
        R::Static: Record<Static = R::Static>,
    {
        loop {
            match extent.push(row) {
                Err(e) if e.kind() == Kind::NoRoom && !extent.is_empty() => self.flush(extent).await?,
                done => return Ok(done?),
            }
        }
    }

    /// Writes the rows of `extent`, as [`Writer::flush`].
    ///
    /// # Errors
    /// Those of [`Writer::flush`].
    pub async fn flush<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<W::Error>> {
        if extent.is_empty() {
            return Ok(());
        }
        self.begin().await?;
        let AsyncWriter { file, sink, window } = self;
        let Ok(slot) = file.slot(extent.schema().name().as_bytes()) else { return stopped(&mut file.out) };
        let parts = extent.parts();
        let stored = file.compress.compress(parts.fixed, parts.variable);
        put_extent::<E, W>(&mut file.out, sink, window, &mut Finished::new(&parts, &stored)).await?;
        file.enter(slot);
        extent.clear();
        Ok(())
    }

    /// Writes index and trailer, and gives back the sink, flushed.
    ///
    /// # Errors
    /// Those of [`Writer::finish`].
    pub async fn finish(mut self) -> Result<W, WriteError<W::Error>> {
        self.begin().await?;
        let AsyncWriter { file: Writer { mut out, types, slots, extents, .. }, mut sink, window } = self;
        let (index_at, out) = (out.at(), &mut out);
        let Some(slots) = slots.get(..extents) else {
            let _stopped = out.stop(Kind::NoRoom, What::DATASERIES_INDEX, extents);
            stopped(out)?;
            return Ok(sink);
        };
        put_list::<E, W>(out, &mut sink, window, List::new(types.list(), Some(slots), index_at)).await?;
        let trailer = trailer::<E>(out.at(), index_at, out.chain());
        put(out, &mut sink, window, None, |to| to.put(trailer.as_bytes())).await?;
        sink.flush().await.map_err(WriteError::Sink)?;
        Ok(sink)
    }
}

/// Why writing has stopped.
fn stopped<S>(out: &mut Output<Nowhere>) -> Result<(), WriteError<S>> {
    out.outcome().map_err(|e| match e {
        WriteError::Format(e) => WriteError::Format(e),
        WriteError::Sink(never) => match never {},
    })
}

async fn put_list<E: Endian, W: Write>(
    out: &mut Output<Nowhere>,
    sink: &mut W,
    window: &mut [u8],
    list: List<'_>,
) -> Result<(), WriteError<W::Error>> {
    match Finished::<E>::of_list(&list) {
        Some(mut finished) => put_extent::<E, W>(out, sink, window, &mut finished).await,
        None => {
            let _stopped: Stopped = out.stop(Kind::Limit, What::DATASERIES_EXTENT, 0);
            stopped(out)
        }
    }
}

async fn put_extent<E: Endian, W: Write>(
    out: &mut Output<Nowhere>,
    sink: &mut W,
    window: &mut [u8],
    extent: &mut Finished<'_, E>,
) -> Result<(), WriteError<W::Error>> {
    extent.seal();
    put(out, sink, window, Some(extent.word()), |to| {
        to.put(extent.header());
        extent.body(to);
    })
    .await
}

/// Puts what `pieces` puts, window by window.
async fn put<W: Write>(
    out: &mut Output<Nowhere>,
    sink: &mut W,
    window: &mut [u8],
    word: Option<u32>,
    pieces: impl Fn(&mut dyn Put),
) -> Result<(), WriteError<W::Error>> {
    if window.is_empty() {
        let _stopped = out.stop(Kind::NoRoom, What::SCRATCH, 1);
        return stopped(out);
    }
    if out.depart().is_err() {
        return stopped(out);
    }
    let mut done = 0;
    loop {
        let mut view = Window { skip: done, room: &mut *window, len: 0 };
        pieces(&mut view);
        let len = view.len;
        sink.write_all(window.get(..len).unwrap_or_default()).await.map_err(WriteError::Sink)?;
        done = done.saturating_add(len);
        if len < window.len() {
            out.arrived(done as u64, word);
            return Ok(());
        }
    }
}

/// What is seen of bytes on their way past: nothing of the first `skip`, then what fits.
struct Window<'w> {
    skip: usize,
    room: &'w mut [u8],
    len: usize,
}

impl Put for Window<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let skipped = self.skip.min(bytes.len());
        self.skip = self.skip.saturating_sub(skipped);
        let rest = bytes.get(skipped..).unwrap_or_default();
        for (to, byte) in self.room.iter_mut().skip(self.len).zip(rest) {
            *to = *byte;
            self.len = self.len.saturating_add(1);
        }
    }
}
