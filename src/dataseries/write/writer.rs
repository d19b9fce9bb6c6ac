//! Writes the file around the extents: header, types, index, trailer (sections 2, 5 and 10).

// Without the inline attributes of this file the image `dataseries_write` takes 800 B of stack instead of 688.

use core::marker::PhantomData;

use zerocopy::IntoBytes;

#[cfg(feature = "alloc")]
use super::extent::Parts;
use super::list::IndexSlot;
use super::output::{Finished, Output, Stopped};
use super::{Compress, Descriptions, ExtentBuffer, Of, Record, Schema, Stored};
use crate::bytes::{Endian, Sink, WriteError};
use crate::dataseries;
use crate::dataseries::raw::FileHeader;
#[cfg(feature = "alloc")]
use crate::dataseries::raw::MAX_STORED;
use crate::error::{Kind, What};

/// Writes a file of byte order `E` from front to back through a [`Sink`].
///
/// Flushed rows stay readable if the program stops; only rows that are still in an [`ExtentBuffer`] can be
/// lost. The index is kept in caller-provided slots, one per extent. If they run out, extents are still
/// written, and the error of [`finish`](Self::finish) states the required number of slots. Without an index,
/// the file can still be read in sequence.
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
///
/// record! {
///     /// A reading of the sensor.
///     struct Reading = "Sensor" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         temp: double scaled 0.01,
///     }
/// }
///
/// # fn main() -> Result<(), pilaster::bytes::WriteError<core::convert::Infallible>> {
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
    /// Number of extents after the type extent.
    pub(super) extents: usize,
    pub(super) order: PhantomData<E>,
}

impl<'w, E: Endian, S: Sink> Writer<'w, E, S> {
    /// Creates a writer that stores everything uncompressed; see [`with`](Self::with).
    pub const fn new(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot]) -> Self {
        Writer::with(sink, types, slots, Stored)
    }
}

impl<'w, E: Endian, S: Sink, C: Compress> Writer<'w, E, S, C> {
    /// Creates a writer for a file of these types. Header and type extent are written with the first extent, or
    /// when the file is finished.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, SliceSink};
    /// use pilaster::codec::HashTable;
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Lz4, Memory, Writer};
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 relative }
    /// }
    ///
    /// let (mut buffer, mut slots, mut memory) = ([0; 1024], [IndexSlot::EMPTY; 8], [0; 512]);
    /// let (mut table, mut out) = (HashTable::<256>::new(), [0; 256]);
    /// let (types, compress) = (Descriptions::of::<Tick>(), Lz4::new(&mut table, &mut out));
    /// let mut file = Writer::<LittleEndian, _, _>::with(SliceSink::new(&mut buffer), types, &mut slots, compress);
    /// file.begin()?;
    /// assert_eq!(file.sink().len() as u64, file.at());
    ///
    /// let (start, mut extent) = (file.at(), ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?);
    /// for n in 0..64 {
    ///     file.push(&mut extent, &Tick { time: n * 1000 })?;
    /// }
    /// file.flush(&mut extent)?;
    /// assert_eq!(file.at() - start, 52, "64 rows of 8 bytes, compressed");
    /// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
    /// ```
    pub const fn with(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot], compress: C) -> Self {
        Writer { out: Output::new(sink), types, slots, compress, extents: 0, order: PhantomData }
    }

    /// Writes header and types, unless they are already written.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the sink has failed before; errors of the sink.
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

    /// The number of bytes so far, which is the offset of the next extent.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.out.at()
    }

    /// The number of data extents so far.
    #[must_use]
    pub const fn extents(&self) -> usize {
        self.extents
    }

    /// The sink.
    pub const fn sink(&mut self) -> &mut S {
        self.out.sink()
    }

    /// Begins another file in the same sink, or continues one that has `at` bytes and `extents` extents.
    #[cfg(feature = "embedded-storage-03")]
    pub(in crate::dataseries) fn restart(&mut self, at: u64, extents: usize) {
        self.out.restart(at);
        self.extents = extents;
    }

    /// Adds a row to `extent`. If the row does not fit, `extent` is flushed first.
    ///
    /// # Errors
    /// Errors of [`ExtentBuffer::push`] if the row does not fit into an empty extent either; errors of
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

    /// Writes the rows of `extent` as one self-checking extent, and empties it. Without rows, writes nothing.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if the file does not list the type, or the sink has failed before; [`Kind::Limit`] for a
    /// file of 2^48 bytes; errors of the sink. After an error, the extent keeps its rows, and they can be flushed
    /// to another writer.
    pub fn flush<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<S::Error>> {
        if extent.is_empty() { Ok(()) } else { self.flush_any(extent) }
    }

    /// Like [`flush`](Self::flush), but writes an extent even without rows.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, SliceSink};
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Memory, Writer};
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 relative }
    /// }
    ///
    /// let (mut buffer, mut row) = ([0; 1024], [0; 8]);
    /// let mut file = Writer::<LittleEndian, _>::new(SliceSink::new(&mut buffer), Descriptions::of::<Tick>(), &mut []);
    /// let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut row))?;
    /// file.flush(&mut extent)?;
    /// assert_eq!(file.extents(), 0);
    /// file.flush_any(&mut extent)?;
    /// assert_eq!(file.extents(), 1);
    /// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn flush_any<T: Schema>(&mut self, extent: &mut ExtentBuffer<'_, E, T>) -> Result<(), WriteError<S::Error>> {
        let done = self.put_any(extent);
        if done.is_ok() {
            extent.clear();
        }
        done
    }

    /// Writes the rows of `extent`, also an empty one, and keeps them in it.
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    #[inline]
    pub(in crate::dataseries) fn put_any<T: Schema>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, T>,
    ) -> Result<(), WriteError<S::Error>> {
        // Two consecutive calls, so that the stack frame of the first is released before the second needs its own.
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
        }
    }

    /// Writes an extent of another file with another compression. Its packed parts and their hash are correct, but
    /// may be larger than what an [`ExtentBuffer`] holds.
    ///
    /// # Errors
    /// [`Kind::Limit`] if a part takes `MAX_STORED` bytes or more; errors of [`flush`](Self::flush).
    #[cfg(feature = "alloc")]
    pub(super) fn put_packed(&mut self, parts: &Parts<'_>) -> Result<(), WriteError<S::Error>> {
        if self.start().is_ok()
            && let Ok(slot) = self.slot(parts.name.as_bytes())
        {
            let stored = self.compress.compress(parts.fixed, parts.variable);
            let longest = stored.fixed.1.len().max(stored.variable.1.len());
            if longest as u64 >= MAX_STORED {
                self.out.stop(Kind::Limit, What::DATASERIES_EXTENT, longest);
            } else if self.out.put_extent::<E>(&mut Finished::new(parts, &stored)).is_ok() {
                self.enter(slot);
            }
        }
        self.out.outcome()
    }

    /// Writes an extent of another file byte for byte, with its compression and its check values. Its type must
    /// have the same description in both files.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use pilaster::bytes::{BigEndian, Scratch};
    /// use pilaster::dataseries::write::{Description, Descriptions, IndexSlot, Writer};
    /// use pilaster::dataseries::{File, ReadOptions};
    ///
    /// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
    /// let (mut memory, mut slots) = ([0; 2048], [IndexSlot::EMPTY; 8]);
    /// let file = File::<BigEndian>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
    /// let types: Vec<_> = file.types().iter().map(|ty| Description::from(&ty)).collect();
    /// let mut copy = Writer::<BigEndian, _>::new(Vec::new(), Descriptions::new(&types)?, &mut slots);
    /// for extent in file.extents() {
    ///     let extent = extent?;
    ///     // Not the extents of types and index, which the writer makes itself.
    ///     if types.iter().any(|ty| ty.name.as_bytes() == extent.type_name()) {
    ///         copy.put_stored(&extent)?;
    ///     }
    /// }
    /// assert_eq!(copy.finish()?, bytes);
    /// # }
    /// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`flush`](Self::flush).
    pub fn put_stored(&mut self, extent: &dataseries::Extent<'_, E>) -> Result<(), WriteError<S::Error>> {
        let _stopped = self.put_again(extent);
        self.out.outcome()
    }

    fn put_again(&mut self, extent: &dataseries::Extent<'_, E>) -> Result<(), Stopped> {
        self.start()?;
        let slot = self.slot(extent.type_name())?;
        let header = extent.header();
        let bytes = extent.bytes().map_err(|e| self.out.stop(e.kind(), e.what(), e.need() as usize))?;
        self.out.put_stored(bytes, header.adler, header.hash)?;
        self.enter(slot);
        Ok(())
    }

    /// The index slot of an extent of type `name` that begins at the current offset.
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

    /// Writes index and trailer, and returns the sink. Rows that were not flushed are not in the file.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if there are more extents than slots; `need` is the required number of slots. Errors of
    /// the sink.
    pub fn finish(mut self) -> Result<S, WriteError<S::Error>> {
        self.end()?;
        Ok(self.out.into_sink())
    }

    /// Like [`finish`](Self::finish), for a borrowed sink. The writer is not moved, which saves a copy of it on
    /// the stack. The file is then complete, and all further writes are refused.
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
    /// let (mut first, mut second) = ([0; 1024], [0; 1024]);
    /// let types = Descriptions::of::<Tick>();
    /// let mut sink = SliceSink::new(&mut first);
    /// let mut file = Writer::<LittleEndian, _>::new(&mut sink, types, &mut []);
    /// file.end().unwrap();
    /// assert!(file.end().is_err(), "once");
    ///
    /// let file = Writer::<LittleEndian, _>::new(SliceSink::new(&mut second), types, &mut []);
    /// assert_eq!(file.finish().unwrap().written(), sink.written());
    /// ```
    ///
    /// # Errors
    /// Errors of [`finish`](Self::finish).
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
