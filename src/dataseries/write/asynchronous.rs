//! The writer for an asynchronous sink: `embedded_io_async::Write`, version 0.7.

use embedded_io_async_07::Write;
use zerocopy::IntoBytes;

use super::list::{IndexSlot, List};
use super::output::{Finished, Output, Put, Stopped, trailer};
use super::{Compress, Descriptions, ExtentBuffer, Of, Record, Schema, Stored, Writer};
use crate::bytes::{Endian, Sink, WriteError};
use crate::dataseries::raw::FileHeader;
use crate::error::{Kind, What};

/// A [`Writer`] for an asynchronous sink. It awaits only the sink: rows are added, packed and compressed
/// between two awaits.
///
/// Bytes reach the sink through a caller-provided window, with one `write_all` whenever the window is full.
/// A window of 64 bytes suits a UART, a window of one page suits a card. The lists of types and extents are
/// encoded again for every window, so their cost grows with the square of their length; on a device they
/// are short.
///
/// If a future is dropped before it is ready, or the sink fails, the number of bytes in the sink is unknown.
/// The writer then refuses all further writes, as a [`Writer`] does.
///
/// ```
/// # use core::pin::pin;
/// # use core::task::{Context, Poll, Waker};
/// use pilaster::bytes::{LittleEndian, WriteError};
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{AsyncWriter, Descriptions, ExtentBuffer, IndexSlot, Memory};
/// # use embedded_io_async_07 as embedded_io_async;
///
/// record! {
///     /// A reading of the sensor.
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
///     log.begin().await?; // The types are in the UART before the first row.
///     let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut memory))?;
///     for second in 0..100 {
///         log.push(&mut extent, &Reading { time: second * 1000, temp: 21.5 }).await?;
///     }
///     log.flush(&mut extent).await?;
///     assert_eq!((log.extents(), log.at()), (4, 2040));
///     log.finish().await
/// }
///
/// # let mut memory = [0; 4096];
/// # let Poll::Ready(rest) = pin!(log(&mut memory[..])).poll(&mut Context::from_waker(Waker::noop())) else {
/// #     unreachable!()
/// # };
/// # assert_eq!(4096 - rest.unwrap().len(), 2336);
/// ```
#[derive(Debug)]
pub struct AsyncWriter<'w, E, W, C = Stored> {
    /// The state of the file. Its own sink is not used.
    file: Writer<'w, E, Nowhere, C>,
    sink: W,
    window: &'w mut [u8],
}

/// An unused sink: [`put`] writes the bytes to the asynchronous sink.
#[derive(Debug)]
struct Nowhere;

impl Sink for Nowhere {
    type Error = core::convert::Infallible;

    fn put(&mut self, _: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<'w, E: Endian, W: Write> AsyncWriter<'w, E, W> {
    /// Creates a writer that stores everything uncompressed; see [`with`](Self::with).
    pub const fn new(sink: W, types: Descriptions<'w>, slots: &'w mut [IndexSlot], window: &'w mut [u8]) -> Self {
        AsyncWriter::with(sink, types, slots, Stored, window)
    }
}

impl<'w, E: Endian, W: Write, C: Compress> AsyncWriter<'w, E, W, C> {
    /// Creates a writer for a file of these types, like [`Writer::with`]. The lists of types and extents are
    /// never compressed. `window` has at least one byte.
    ///
    /// ```
    /// # use core::pin::pin;
    /// # use core::task::{Context, Poll, Waker};
    /// use pilaster::bytes::{LittleEndian, WriteError};
    /// use pilaster::codec::HashTable;
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{AsyncWriter, Descriptions, ExtentBuffer, Lzf, Memory};
    /// # use embedded_io_async_07 as embedded_io_async;
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 relative }
    /// }
    ///
    /// /// Writes 64 ticks of 8 bytes as one extent. Returns its size.
    /// async fn save<W: embedded_io_async::Write>(card: W) -> Result<u64, WriteError<W::Error>> {
    ///     let (mut table, mut out, mut window, mut memory) = (HashTable::<256>::new(), [0; 256], [0; 512], [0; 512]);
    ///     let (types, compress) = (Descriptions::of::<Tick>(), Lzf::new(&mut table, &mut out));
    ///     let mut file = AsyncWriter::<LittleEndian, _, _>::with(card, types, &mut [], compress, &mut window);
    ///     file.begin().await?;
    ///     let (mut extent, start) = (ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?, file.at());
    ///     for n in 0..64 {
    ///         file.push(&mut extent, &Tick { time: n * 1000 }).await?;
    ///     }
    ///     file.flush(&mut extent).await?;
    ///     Ok(file.at() - start)
    /// }
    /// # let mut memory = [0; 4096];
    /// # let Poll::Ready(len) = pin!(save(&mut memory[..])).poll(&mut Context::from_waker(Waker::noop())) else {
    /// #     unreachable!()
    /// # };
    /// # assert_eq!(len.unwrap(), 48);
    /// ```
    pub const fn with(
        sink: W,
        types: Descriptions<'w>,
        slots: &'w mut [IndexSlot],
        compress: C,
        window: &'w mut [u8],
    ) -> Self {
        AsyncWriter { file: Writer::with(Nowhere, types, slots, compress), sink, window }
    }

    /// Writes header and types, unless they are already written.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the window is empty; otherwise errors of [`Writer::begin`].
    pub async fn begin(&mut self) -> Result<(), WriteError<W::Error>> {
        if self.file.out.at() > 0 {
            return Ok(());
        }
        let AsyncWriter { file: Writer { out, types, .. }, sink, window } = self;
        let header = FileHeader::<E>::STANDARD;
        put(out, sink, window, None, |to| to.put(header.as_bytes())).await?;
        put_list::<E, W>(out, sink, window, List::types(types.list())).await
    }

    /// The number of bytes so far, which is the offset of the next extent.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.file.at()
    }

    /// The number of data extents so far.
    #[must_use]
    pub const fn extents(&self) -> usize {
        self.file.extents()
    }

    /// Adds a row to `extent`. If the row does not fit, `extent` is flushed first.
    ///
    /// # Errors
    /// Errors of [`Writer::push`].
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

    /// Writes the rows of `extent`, like [`Writer::flush`].
    ///
    /// # Errors
    /// Errors of [`Writer::flush`].
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

    /// Writes index and trailer, flushes the sink and returns it.
    ///
    /// # Errors
    /// Errors of [`Writer::finish`].
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

/// Returns the error that stopped writing, if any.
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

/// Writes the bytes that `pieces` puts, window by window. `word` enters the chain of check values.
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

/// Copies one window of the bytes that are put: skips the first `skip` bytes, then keeps the bytes that fit.
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
