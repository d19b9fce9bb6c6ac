//! Resumes a log that ended without its trailer, or with it (sections 1 and 10).

use core::marker::PhantomData;

use super::list::{IndexSlot, List};
use super::output::Output;
use super::{Compress, Descriptions, Stored, Writer};
use crate::bytes::{Endian, Sink, saturated};
use crate::dataseries::raw::{EXTENT_SEED, HEADER_LEN, INDEX_TYPE, XML_TYPE};
use crate::dataseries::{End, Extent, Header, Next, Order};
use crate::error::{Error, Kind, Result, What};
use crate::hash::mix3;

/// The position where a log can be resumed, and the totals of the extents before it.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Rest, Resume, Writer};
///
/// record! {
///     struct Tick = "Tick" { time: int64 relative }
/// }
///
/// const TYPES: Descriptions<'static> = Descriptions::of::<Tick>();
/// let (mut slots, mut memory) = ([IndexSlot::EMPTY; 8], [0; 80]);
/// let mut log = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
/// let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?;
/// for time in 0..25 {
///     log.push(&mut extent, &Tick { time })?; // Flushes after every tenth row.
/// }
/// let mut bytes = log.sink().clone();
/// bytes.truncate(bytes.len() - 1); // A crash: the last byte of the second extent was not written.
///
/// let found = Resume::find::<LittleEndian>(&bytes, TYPES, &mut slots)?;
/// assert_eq!(found.rows(), 10);
/// if let Rest::Damage(_) = found.rest() {
///     bytes.truncate(found.at() as usize);
/// }
/// let mut log = Writer::<LittleEndian, _>::resume(bytes, TYPES, &mut slots, &found);
/// log.flush(&mut extent)?; // The five rows after the twentieth.
/// assert_eq!(log.extents(), 2);
/// let file = log.finish()?;
/// assert_eq!(Resume::find::<LittleEndian>(&file, TYPES, &mut slots)?.rest(), Rest::Index);
/// # }
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
/// ```
///
/// In a file, the bytes after that extent are cut off, and writing continues there:
///
#[cfg_attr(feature = "std", doc = "```no_run")]
#[cfg_attr(not(feature = "std"), doc = "```ignore")]
/// use std::fs::File;
/// use std::io::{Seek, SeekFrom};
///
/// use pilaster::bytes::{IoSink, LittleEndian};
/// # use pilaster::dataseries::record;
/// # use pilaster::dataseries::write::{Descriptions, IndexSlot, Resume, Writer};
/// # record! { struct Tick = "Tick" { time: int64 relative } }
/// # const TYPES: Descriptions<'static> = Descriptions::of::<Tick>();
/// # let mut slots = [IndexSlot::EMPTY; 8];
///
/// let found = Resume::find::<LittleEndian>(&std::fs::read("ticks.ds")?, TYPES, &mut slots)?;
/// let mut file = File::options().write(true).open("ticks.ds")?;
/// file.set_len(found.at())?;
/// file.seek(SeekFrom::Start(found.at()))?;
/// let mut log = Writer::<LittleEndian, _>::resume(IoSink(file), TYPES, &mut slots, &found);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resume {
    at: u64,
    chain: u32,
    extents: usize,
    rows: u64,
    rest: Rest,
}

/// The bytes after the extent before the first damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rest {
    /// No bytes: the file ends there.
    Nothing,
    /// Erased flash, to the end of the bytes: the log can be continued in place.
    Erased,
    /// An index, perhaps with its trailer: the file was finished, or nearly. The resumed log writes both again.
    Index,
    /// Other bytes, such as the start of an extent. They must be cut off or erased before the log is resumed. After a
    /// cut they are less than one extent. If they are more, a byte has changed, and intact extents may follow it: copy
    /// the file first, for [`recover`](crate::dataseries::recover).
    Damage(Error),
}

impl Resume {
    /// Finds the end of the extent before the first damage in the log in `bytes`, and fills `slots` with the extents before
    /// it. An extent is intact if its stored bytes have the Adler-32 in its header; nothing is decompressed.
    ///
    /// Too few slots are not an error here: as with a [`Writer`], the log is then continued without an index.
    ///
    /// # Errors
    /// Errors of the file header and of the type extent, without which no extent can be read: [`Kind::Truncated`] if a
    /// cut has left a part of them, so that there are no rows, and the file is begun again;
    /// [`Kind::Misuse`] if the file has the other byte order, or other types than `types`;
    /// [`Kind::Limit`] for an extent at 2^48 or a larger offset.
    pub fn find<E: Endian>(bytes: &[u8], types: Descriptions<'_>, slots: &mut [IndexSlot]) -> Result<Resume> {
        let order = if E::IS_NATIVE == cfg!(target_endian = "little") { Order::Little } else { Order::Big };
        let types = types.list();
        if Order::of(bytes)? != order {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_HEADER, 4));
        }
        let first = whole::<E>(bytes, HEADER_LEN as u64)?;
        if first.type_name() != XML_TYPE.as_bytes() {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE_NAME, first.header().name_span().at));
        }
        // New rows must have the types that the file describes.
        if List::types(types).hash::<E>().0 != first.header().hash {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, HEADER_LEN as u64));
        }
        let mut found = Resume { at: HEADER_LEN as u64, chain: 0, extents: 0, rows: 0, rest: Rest::Nothing };
        found.pass(first.header());
        loop {
            let extent = match next::<E>(bytes, found.at) {
                Ok(Some(extent)) => extent,
                Ok(None) => {
                    let rest = bytes.get(saturated(found.at)..).unwrap_or_default();
                    found.rest = match rest.iter().position(|byte| *byte != 0xff) {
                        None if rest.is_empty() => Rest::Nothing,
                        None => Rest::Erased,
                        Some(at) => Rest::Damage(Error::new(
                            Kind::Trailing,
                            What::DATASERIES_EXTENT,
                            found.at.saturating_add(at as u64),
                        )),
                    };
                    return Ok(found);
                }
                Err(e) => {
                    found.rest = Rest::Damage(e);
                    return Ok(found);
                }
            };
            if extent.type_name() == INDEX_TYPE.as_bytes() {
                found.rest = Rest::Index;
                return Ok(found);
            }
            let at = found.at;
            let ty = types.iter().position(|ty| ty.name.as_bytes() == extent.type_name());
            let ty =
                ty.ok_or_else(|| Error::new(Kind::Misuse, What::DATASERIES_TYPE_NAME, extent.header().name_span().at))?;
            if let Some(slot) = slots.get_mut(found.extents) {
                *slot = IndexSlot::new(at, ty).ok_or_else(|| Error::new(Kind::Limit, What::DATASERIES_INDEX, at))?;
            }
            found.extents = found.extents.saturating_add(1);
            found.rows = found.rows.saturating_add(extent.header().rows.into());
            found.pass(extent.header());
        }
    }

    fn pass(&mut self, header: &Header) {
        self.at = header.span().end().unwrap_or(u64::MAX);
        self.chain = mix3(header.hash ^ header.adler, self.chain, EXTENT_SEED);
    }

    /// The offset where the log is resumed. The bytes before it are intact; the bytes from there to the end are not
    /// part of the log.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// The number of rows in the intact extents, of all types together.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The bytes after the extent before the first damage.
    #[must_use]
    pub const fn rest(&self) -> Rest {
        self.rest
    }
}

/// The extent at offset `at`, if its stored bytes are intact.
fn whole<E: Endian>(bytes: &[u8], at: u64) -> Result<Extent<'_, E>> {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let extent = Extent::<E>::of(rest, at)?;
    extent.check_stored()?;
    Ok(extent)
}

/// The extent at offset `at`; `None` if the log ends there without damage.
fn next<E: Endian>(bytes: &[u8], at: u64) -> Result<Option<Extent<'_, E>>> {
    let span = Next::span(at, bytes.len() as u64);
    match Next::of::<E>(span.of(bytes, What::DATASERIES_EXTENT)?, at)? {
        Next::Extent(_) => whole(bytes, at).map(Some),
        Next::End(End::File { .. } | End::Erased { .. }) => Ok(None),
        // A trailer follows an index, and `find` stops at the index.
        Next::End(End::Trailer { .. }) => Err(Error::new(Kind::Invalid, What::DATASERIES_TRAILER, at)),
    }
}

impl<'w, E: Endian, S: Sink> Writer<'w, E, S, Stored> {
    /// Continues a log at the end that `resume` found, storing everything uncompressed. The first byte that
    /// `sink` receives belongs at [`Resume::at`]. Pass the `types` and `slots` that were passed to
    /// [`Resume::find`].
    #[must_use]
    pub const fn resume(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot], resume: &Resume) -> Self {
        Writer::resume_with(sink, types, slots, Stored, resume)
    }
}

impl<'w, E: Endian, S: Sink, C: Compress> Writer<'w, E, S, C> {
    /// Continues a log like [`resume`](Writer::resume), with compression.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, SliceSink};
    /// use pilaster::codec::HashTable;
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Memory, Resume, Snappy, Writer};
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 relative }
    /// }
    ///
    /// const TYPES: Descriptions<'static> = Descriptions::of::<Tick>();
    /// let (mut flash, mut memory) = ([0xff; 1024], [0; 512]);
    /// let mut log = Writer::<LittleEndian, _>::new(SliceSink::new(&mut flash), TYPES, &mut []);
    /// log.begin()?; // A reset follows.
    ///
    /// let found = Resume::find::<LittleEndian>(&flash, TYPES, &mut [])?;
    /// let (mut table, mut out) = (HashTable::<256>::new(), [0; 256]);
    /// let (rest, compress) = (SliceSink::new(&mut flash[found.at() as usize..]), Snappy::new(&mut table, &mut out));
    /// let mut log = Writer::<LittleEndian, _, _>::resume_with(rest, TYPES, &mut [], compress, &found);
    /// let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?;
    /// for n in 0..64 {
    ///     log.push(&mut extent, &Tick { time: n * 1000 })?;
    /// }
    /// log.flush(&mut extent)?;
    /// assert_eq!(Resume::find::<LittleEndian>(&flash, TYPES, &mut [])?.rows(), 64);
    /// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
    /// ```
    #[must_use]
    pub const fn resume_with(
        sink: S,
        types: Descriptions<'w>,
        slots: &'w mut [IndexSlot],
        compress: C,
        resume: &Resume,
    ) -> Self {
        let out = Output::resumed(sink, resume.at, resume.chain);
        Writer { out, types, slots, compress, extents: resume.extents, order: PhantomData }
    }
}
