//! Writes extents into the sink: header, padding, check values, chain (sections 3 and 10).

// Without the inline attributes of this file the image `dataseries_resume` takes 6,816 B instead of 6,432.

use core::fmt;

use zerocopy::IntoBytes;
use zerocopy::byteorder::{I32, I64, U32};

use super::extent::Parts;
use super::list::{IndexSlot, List, Section};
use super::{Compress, Compressed, Description};
use crate::bytes::{Endian, Sink, WriteError, len32, low8, low32, saturated};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{
    ADLER_AT, ALIGN, EXTENT_HEADER_LEN, EXTENT_SEED, ExtentHeader, MAX_STORED, Mode, POOL_START, TRAILER_LEN,
    TRAILER_SEED, Trailer, align,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::{Adler32, lookup2, mix3};

/// Receives bytes piece by piece. (With a closure, the code would be in the image twice.)
pub(super) trait Put {
    fn put(&mut self, bytes: &[u8]);
}

impl Put for ExtentHash {
    fn put(&mut self, bytes: &[u8]) {
        self.piece(bytes);
    }
}

impl Put for Adler32 {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

#[cfg(feature = "alloc")]
impl Put for alloc::vec::Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Returns `count` zeros; `count` is less than 8.
pub(super) fn zeros(count: u64) -> &'static [u8] {
    const ZEROS: [u8; 8] = [0; 8];
    ZEROS.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default()
}

/// Puts a part of an extent, followed by zeros up to the alignment.
#[inline(never)]
fn padded(bytes: &[u8], to: &mut dyn Put) {
    // The header's 28 bytes are a multiple of the alignment, so the padding depends only on the part before it.
    const { assert!(EXTENT_HEADER_LEN.is_multiple_of(ALIGN)) };
    to.put(bytes);
    to.put(zeros(bytes.len().wrapping_neg() as u64 & (ALIGN as u64).wrapping_sub(1)));
}

/// The parts of an extent: bytes, or a list that is encoded while it is written.
#[derive(Clone, Copy)]
enum Source<'p> {
    Bytes(&'p [u8], &'p [u8]),
    List(&'p List<'p>),
}

/// A complete extent except for its Adler-32. All lengths are below `MAX_STORED`.
pub(super) struct Finished<'p, E: Endian> {
    header: ExtentHeader<E>,
    name: &'p str,
    source: Source<'p>,
}

impl<'p, E: Endian> Finished<'p, E> {
    #[inline(always)]
    pub(super) fn new(parts: &Parts<'p>, stored: &Compressed<'p>) -> Self {
        let ((fixed_mode, fixed), (variable_mode, variable)) = (stored.fixed, stored.variable);
        // The mode of an empty part has no meaning and should be 0 (section 4).
        let mode = |mode: Mode, bytes: &[u8]| if bytes.is_empty() { 0 } else { mode.id() };
        let header = ExtentHeader {
            fixed: size(fixed.len()),
            variable: size(variable.len()),
            rows: I32::new(parts.rows.cast_signed()),
            pool: size(parts.variable.len().wrapping_add(POOL_START)),
            adler: U32::new(0),
            hash: U32::new(parts.hash),
            fixed_mode: mode(fixed_mode, fixed),
            variable_mode: mode(variable_mode, variable),
            name_len: low8(parts.name.len()),
            zero: 0,
        };
        Finished { header, name: parts.name, source: Source::Bytes(fixed, variable) }
    }

    /// Creates the extent of a list; `None` if the list is too long for an extent.
    #[inline(always)]
    pub(super) fn of_list(list: &'p List<'p>) -> Option<Self> {
        let (name, record_len, rows) = list.shape();
        let (hash, pool) = list.hash::<E>();
        // A record has at most 16 bytes.
        if rows as u64 >= MAX_STORED / 16 || pool as u64 >= MAX_STORED {
            return None;
        }
        let header = ExtentHeader {
            fixed: size(rows.wrapping_mul(record_len)),
            variable: I32::new(pool.wrapping_sub(len32(POOL_START)).cast_signed()),
            rows: size(rows),
            pool: I32::new(pool.cast_signed()),
            adler: U32::new(0),
            hash: U32::new(hash),
            fixed_mode: 0,
            variable_mode: 0,
            name_len: low8(name.len()),
            zero: 0,
        };
        Some(Finished { header, name, source: Source::List(list) })
    }

    /// Computes the Adler-32, writes it into the header and returns it.
    #[inline(always)]
    pub(super) fn seal(&mut self) -> u32 {
        let mut adler = Adler32::new();
        let (before, rest) = self.header.as_bytes().split_at_checked(ADLER_AT).unwrap_or_default();
        adler.put(before);
        adler.put(rest.get(size_of::<u32>()..).unwrap_or_default());
        self.body(&mut adler);
        let adler = adler.value();
        self.header.adler = U32::new(adler);
        adler
    }

    /// The size of the extent in the file, in bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> u64 {
        let padded = |len: u32| align(len.into(), ALIGN as u64);
        let (fixed, variable) = (self.header.fixed.get().cast_unsigned(), self.header.variable.get().cast_unsigned());
        let front = padded(len32(EXTENT_HEADER_LEN.wrapping_add(self.name.len())));
        front.wrapping_add(padded(fixed)).wrapping_add(padded(variable))
    }

    /// The value of a sealed extent that enters the chain of check values.
    #[cfg(feature = "embedded-io-async-07")]
    pub(super) fn word(&self) -> u32 {
        self.header.hash.get() ^ self.header.adler.get()
    }

    /// The header in stored form.
    #[cfg(feature = "embedded-io-async-07")]
    pub(super) fn header(&self) -> &[u8] {
        self.header.as_bytes()
    }

    /// Puts all bytes after the header.
    #[inline(never)]
    pub(super) fn body(&self, to: &mut dyn Put) {
        padded(self.name.as_bytes(), to);
        match self.source {
            Source::Bytes(fixed, variable) => {
                padded(fixed, to);
                padded(variable, to);
            }
            // Without padding: records and entries are multiples of the alignment.
            Source::List(list) => {
                list.put::<E>(Section::Record, to);
                list.put::<E>(Section::Entry, to);
            }
        }
    }
}

/// The trailer at offset `at`, after an index that begins at `index_at`.
#[inline(always)]
pub(super) fn trailer<E: Endian>(at: u64, index_at: u64, chain: u32) -> Trailer<E> {
    // Both parts of the index are smaller than `MAX_STORED`.
    let size = low32(at.wrapping_sub(index_at)).cast_signed();
    let mut trailer = Trailer::<E> {
        marker: I32::new(-1),
        index_size: I32::new(size),
        not_index_size: I32::new(!size),
        chain: U32::new(chain),
        index_at: I64::new(index_at.cast_signed()),
        hash: U32::new(0),
    };
    let hashed = trailer.as_bytes().get(..TRAILER_LEN.saturating_sub(4)).unwrap_or_default();
    trailer.hash = U32::new(lookup2(TRAILER_SEED, hashed));
    trailer
}

/// A length in the form of a header field.
fn size<E: Endian>(len: usize) -> I32<E> {
    I32::new(len32(len).cast_signed())
}

/// A sink, with the number of bytes and the chain of check values that were put into it.
///
/// Errors are kept here: functions that write return [`Stopped`], and the public function that called them returns
/// [`outcome`](Self::outcome), which takes the error out. With the error in every result, the image `dataseries_write`
/// takes 4,280 B instead of 4,080 (4.9 %), more than its budget of 4,096.
pub(super) struct Output<S: Sink> {
    sink: S,
    at: u64,
    chain: u32,
    /// The sink has failed, so the number of bytes in it is unknown; or the file is complete.
    broken: bool,
    /// The error that stopped writing.
    why: Result<(), WriteError<S::Error>>,
}

impl<S: Sink + fmt::Debug> fmt::Debug for Output<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Output { sink, at, chain, broken, .. } = self;
        f.debug_struct("Output")
            .field("sink", sink)
            .field("at", at)
            .field("chain", chain)
            .field("broken", broken)
            .finish()
    }
}

/// Writing has stopped; [`Output::outcome`] returns the error.
pub(super) struct Stopped;

impl<S: Sink> Output<S> {
    pub(super) const fn new(sink: S) -> Self {
        Output::resumed(sink, 0, 0)
    }

    /// Continues after `at` bytes whose extents have this chain.
    pub(super) const fn resumed(sink: S, at: u64, chain: u32) -> Self {
        Output { sink, at, chain, broken: false, why: Ok(()) }
    }

    /// The number of bytes so far.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The chain of the check values of all extents so far.
    #[cfg(feature = "embedded-io-async-07")]
    pub(super) const fn chain(&self) -> u32 {
        self.chain
    }

    pub(super) const fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    pub(super) fn into_sink(self) -> S {
        self.sink
    }

    /// Stores an error in `what` at the current offset.
    #[inline(never)]
    #[cold]
    pub(super) fn stop(&mut self, kind: Kind, what: What, need: usize) -> Stopped {
        self.why = Err(WriteError::Format(Error::needing(kind, what, self.at, need as u64)));
        Stopped
    }

    /// Returns the stored error, if any, and clears it.
    #[inline(never)]
    pub(super) fn outcome(&mut self) -> Result<(), WriteError<S::Error>> {
        core::mem::replace(&mut self.why, Ok(()))
    }

    /// Puts bytes unchanged.
    #[inline(never)]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Stopped> {
        if self.broken {
            return Err(self.stop(Kind::Misuse, What::DESTINATION, 0));
        }
        self.at = self.at.wrapping_add(bytes.len() as u64);
        match self.sink.put(bytes) {
            Ok(()) => Ok(()),
            Err(e) => {
                self.broken = true;
                self.why = Err(WriteError::Sink(e));
                Err(Stopped)
            }
        }
    }

    /// Puts an extent: header, name, parts, padding.
    #[inline(never)]
    pub(super) fn put_extent<E: Endian>(&mut self, extent: &mut Finished<'_, E>) -> Result<(), Stopped> {
        // For a sink without a limit, `Sink::room()` is the constant `u64::MAX`, and the compiler removes this check.
        let room = self.sink.room();
        if room != u64::MAX && extent.len() > room {
            let len = extent.len();
            return Err(self.stop(Kind::NoRoom, What::DESTINATION, saturated(len)));
        }
        let adler = extent.seal();
        self.put(extent.header.as_bytes())?;
        extent.body(self);
        self.chain = mix3(extent.header.hash.get() ^ adler, self.chain, EXTENT_SEED);
        // After a failure, the rest was not put.
        if self.broken { Err(Stopped) } else { Ok(()) }
    }

    /// Refuses all further bytes.
    pub(super) const fn close(&mut self) {
        self.broken = true;
    }

    /// Marks the output as broken while the caller writes bytes to another sink: until [`arrived`](Self::arrived),
    /// the number of bytes in that sink is unknown.
    #[cfg(feature = "embedded-io-async-07")]
    pub(super) fn depart(&mut self) -> Result<(), Stopped> {
        if self.broken {
            return Err(self.stop(Kind::Misuse, What::DESTINATION, 0));
        }
        self.broken = true;
        Ok(())
    }

    /// Counts `len` bytes that the caller has written. For an extent, `word` enters the chain.
    #[cfg(feature = "embedded-io-async-07")]
    pub(super) fn arrived(&mut self, len: u64, word: Option<u32>) {
        self.at = self.at.wrapping_add(len);
        self.chain = word.map_or(self.chain, |word| mix3(word, self.chain, EXTENT_SEED));
        self.broken = false;
    }

    /// Begins another file in the same sink, or continues one that has `at` bytes.
    #[cfg(feature = "embedded-storage-03")]
    pub(super) fn restart(&mut self, at: u64) {
        (self.at, self.chain, self.broken, self.why) = (at, 0, false, Ok(()));
    }

    /// Puts an extent in its stored form, with its check values.
    pub(super) fn put_stored(&mut self, bytes: &[u8], adler: u32, hash: u32) -> Result<(), Stopped> {
        self.put(bytes)?;
        self.chain = mix3(hash ^ adler, self.chain, EXTENT_SEED);
        Ok(())
    }

    /// Puts the trailer, after the index that begins at `index_at`.
    #[inline(never)]
    pub(super) fn put_trailer<E: Endian>(&mut self, index_at: u64) -> Result<(), Stopped> {
        self.put(trailer::<E>(self.at, index_at, self.chain).as_bytes())
    }

    /// Puts the extent of a list: the types, or with `slots` the index.
    #[inline(never)]
    pub(super) fn put_list<E: Endian, C: Compress>(
        &mut self,
        types: &[Description<'_>],
        slots: Option<&[IndexSlot]>,
        compress: &mut C,
    ) -> Result<(), Stopped> {
        let list = List::new(types, slots, self.at);
        let Some(mut finished) = Finished::<E>::of_list(&list) else {
            return Err(self.stop(Kind::Limit, What::DATASERIES_EXTENT, 0));
        };
        #[cfg(feature = "alloc")]
        if C::LISTS {
            let (mut fixed, mut variable) = (alloc::vec::Vec::new(), alloc::vec::Vec::new());
            list.put::<E>(Section::Record, &mut fixed);
            list.put::<E>(Section::Entry, &mut variable);
            let (rows, hash) = (finished.header.rows.get().cast_unsigned(), finished.header.hash.get());
            let parts = Parts { name: finished.name, rows, hash, fixed: &fixed, variable: &variable };
            let stored = compress.compress(&fixed, &variable);
            return self.put_extent::<E>(&mut Finished::new(&parts, &stored));
        }
        let _ = compress;
        self.put_extent::<E>(&mut finished)
    }
}

/// Puts the pieces of an extent, until the sink fails.
impl<S: Sink> Put for Output<S> {
    fn put(&mut self, bytes: &[u8]) {
        if !self.broken {
            // `put_extent` checks for a failure at the end of the extent.
            let _ = Output::put(self, bytes);
        }
    }
}
