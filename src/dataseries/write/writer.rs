//! The file around the extents: header, types, index, trailer (sections 2, 5 and 10).

// Without the inline attributes of this file the image `dataseries_write` takes 800 B of stack instead of 688.

use core::marker::PhantomData;

use zerocopy::IntoBytes;

use super::list::IndexSlot;
use super::output::{Finished, Output, Stopped};
use super::{Compress, Descriptions, ExtentBuffer, Of, Record, Schema, Stored, WriteError};
use crate::bytes::{Endian, Sink};
use crate::dataseries;
use crate::dataseries::raw::FileHeader;
use crate::error::{Kind, What};

/// Writes a file of byte order `E` front to back through a [`Sink`].
///
/// What was flushed stays readable whatever happens next; only what is still in an [`ExtentBuffer`] can be
/// lost. The index lies in slots of the caller, one per extent. When they run out, extents are written
/// all the same, and [`finish`](Self::finish) says how many slots it would need: a file without index is
/// still a log that can be read in sequence.
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
///
/// record! {
///     /// What the sensor says.
///     struct Reading = "Sensor" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         temp: double scaled 0.01,
///     }
/// }
///
/// # fn main() -> Result<(), pilaster::dataseries::write::WriteError<core::convert::Infallible>> {
/// let mut slots = [IndexSlot::EMPTY; 8];
/// # #[cfg(feature = "alloc")] {
/// let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Reading>(), &mut slots);
///
/// let mut memory = [0; 512];
/// let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut memory))?;
/// for second in 0..100 {
///     log.push(&mut extent, &Reading { time: second * 1000, temp: 21.5 })?; // flushes when it must
/// }
/// log.flush(&mut extent)?;
/// let file = log.finish()?;
/// assert_eq!(file.len(), 2336);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Writer<'w, E, S: Sink, C = Stored> {
    pub(super) out: Output<S>,
    pub(super) types: Descriptions<'w>,
    pub(super) slots: &'w mut [IndexSlot],
    pub(super) compress: C,
    /// Extents behind the type extent.
    pub(super) extents: usize,
    pub(super) order: PhantomData<E>,
}

impl<'w, E: Endian, S: Sink> Writer<'w, E, S> {
    /// A file that stores everything uncompressed; as [`with`](Self::with).
    pub const fn new(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot]) -> Self {
        Writer::with(sink, types, slots, Stored)
    }
}

impl<'w, E: Endian, S: Sink, C: Compress> Writer<'w, E, S, C> {
    /// A file of these types. Its header and the type extent are written with the first extent, or when
    /// the file is finished.
    pub const fn with(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot], compress: C) -> Self {
        Writer { out: Output::new(sink), types, slots, compress, extents: 0, order: PhantomData }
    }

    /// Writes header and types now, unless they are written.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the sink has failed before; those of the sink.
    pub fn begin(&mut self) -> Result<(), WriteError<S::Error>> {
        let _stopped = self.start();
        self.out.outcome()
    }

    #[inline(never)]
    fn start(&mut self) -> Result<(), Stopped> {
        if self.out.at() > 0 {
            return Ok(());
        }
        self.out.put(FileHeader::<E>::STANDARD.as_bytes())?;
        self.out.put_list::<E, C>(self.types.list(), None, &mut self.compress)
    }

    /// Where the next extent begins: bytes so far.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.out.at()
    }

    /// Data extents so far.
    #[must_use]
    pub const fn extents(&self) -> usize {
        self.extents
    }

    /// The sink.
    pub const fn sink(&mut self) -> &mut S {
        self.out.sink()
    }

    /// Begins another file in the same sink, or goes on with one that has `at` bytes and so many extents.
    #[cfg(feature = "embedded-storage-03")]
    pub(in crate::dataseries) fn restart(&mut self, at: u64, extents: usize) {
        self.out.restart(at);
        self.extents = extents;
    }

    /// Adds a row to `extent`, which is flushed first if the row does not fit.
    ///
    /// # Errors
    /// Those of [`ExtentBuffer::push`], for a row that does not fit into an empty extent either; those of
    /// [`flush`](Self::flush).
    pub fn push<R: Record>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, Of<R::Static>>,
        row: &R,
    ) -> Result<(), WriteError<S::Error>>
    where
        R::Static: Record<Static = R::Static>,
    {
        loop {
            match extent.push(row) {
                Err(e) if e.kind() == Kind::NoRoom && !extent.is_empty() => self.flush_any(extent)?,
                done => return Ok(done?),
            }
        }
    }

    /// Writes the rows of `extent` as one extent that checks itself, and empties it. Without rows there
    /// is nothing to write.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the file does not list the type, or the sink has failed before; [`Kind::Limit`] for a file of 2^48 bytes; those of the sink. Then the extent keeps its rows, packed:
    /// they can be flushed to another writer.
    pub fn flush<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<S::Error>> {
        if extent.is_empty() { Ok(()) } else { self.flush_any(extent) }
    }

    /// As [`flush`](Self::flush), but writes an extent also if there are no rows.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush).
    pub fn flush_any<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<S::Error>> {
        // One behind the other, so that the stack of the one is gone when the other needs its own.
        if self.start().is_ok() {
            self.put_rows(extent);
        }
        self.out.outcome()
    }

    #[inline(never)]
    fn put_rows<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) {
        let Ok(slot) = self.slot(extent.schema().name().as_bytes()) else { return };
        let parts = extent.parts();
        let stored = self.compress.compress(parts.fixed, parts.variable);
        if self.out.put_extent::<E>(&mut Finished::new(&parts, &stored)).is_ok() {
            self.enter(slot);
            extent.clear();
        }
    }

    /// Writes an extent as another file has it, byte for byte: compressed as it is, its check values with
    /// it. Its type must be described here as it is there.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush).
    pub fn put_stored(&mut self, extent: &dataseries::Extent<'_, E>) -> Result<(), WriteError<S::Error>> {
        let _stopped = self.put_again(extent);
        self.out.outcome()
    }

    fn put_again(&mut self, extent: &dataseries::Extent<'_, E>) -> Result<(), Stopped> {
        self.start()?;
        let slot = self.slot(extent.type_name())?;
        let header = extent.header();
        self.out.put_stored(extent.bytes(), header.adler, header.hash)?;
        self.enter(slot);
        Ok(())
    }

    /// The index slot of an extent of the type `name` that begins here.
    pub(super) fn slot(&mut self, name: &[u8]) -> Result<IndexSlot, Stopped> {
        let at = self.out.at();
        let ty = self.types.list().iter().position(|ty| ty.name.as_bytes() == name);
        let kind = if ty.is_none() { Kind::Misuse } else { Kind::Limit };
        match ty.and_then(|ty| IndexSlot::new(at, ty)) {
            Some(slot) => Ok(slot),
            None => Err(self.out.stop(kind, What::DATASERIES_TYPE_NAME, 0)),
        }
    }

    pub(super) fn enter(&mut self, slot: IndexSlot) {
        if let Some(to) = self.slots.get_mut(self.extents) {
            *to = slot;
        }
        self.extents = self.extents.saturating_add(1);
    }

    /// Writes index and trailer, and gives back the sink. Extents that were not flushed are not in the
    /// file.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] with the number of slots needed, if there are more extents; those of the sink.
    pub fn finish(mut self) -> Result<S, WriteError<S::Error>> {
        self.end()?;
        Ok(self.out.into_sink())
    }

    /// As [`finish`](Self::finish), for a sink that is lent: the writer stays where it is, which spares the
    /// stack a copy of it. The file is complete; whatever else is to be written is refused.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, SliceSink};
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{Descriptions, Writer};
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 }
    /// }
    ///
    /// let (mut lent, mut given) = ([0; 1024], [0; 1024]);
    /// let types = Descriptions::of::<Tick>();
    /// let mut sink = SliceSink::new(&mut lent);
    /// let mut file = Writer::<LittleEndian, _>::new(&mut sink, types, &mut []);
    /// file.end().unwrap();
    /// assert!(file.end().is_err(), "once");
    ///
    /// let file = Writer::<LittleEndian, _>::new(SliceSink::new(&mut given), types, &mut []);
    /// assert_eq!(file.finish().unwrap().written(), sink.written());
    /// ```
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub fn end(&mut self) -> Result<(), WriteError<S::Error>> {
        let _stopped = self.put_end();
        self.out.outcome()
    }

    fn put_end(&mut self) -> Result<(), Stopped> {
        self.start()?;
        let Writer { out, types, slots, compress, extents, .. } = self;
        let index_at = out.at();
        let Some(slots) = slots.get(..*extents) else {
            return Err(out.stop(Kind::NoRoom, What::DATASERIES_INDEX, *extents));
        };
        out.put_list::<E, C>(types.list(), Some(slots), compress)?;
        out.put_trailer::<E>(index_at)?;
        out.close();
        Ok(())
    }
}
