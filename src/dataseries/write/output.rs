//! Extents on their way into the sink: header, gaps, checks, chain (sections 3 and 10).

use zerocopy::IntoBytes;
use zerocopy::byteorder::{I32, U32};

use super::extent::Parts;
use super::list::{List, Piece};
use super::{Compress, Compressed, WriteError};
use crate::bytes::{Endian, Sink};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{
    ADLER_AT, ALIGN, EXTENT_HEADER_LEN, EXTENT_SEED, ExtentHeader, MAX_STORED, Mode, POOL_START, small,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::{Adler32, mix3};

/// Takes bytes that are made piece by piece. (A closure would be twice in the image.)
pub(super) trait Put {
    fn put(&mut self, bytes: &[u8]);
}

impl Put for ExtentHash {
    fn put(&mut self, bytes: &[u8]) {
        self.part(bytes);
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

/// So many zeros, fewer than 8.
pub(super) fn zeros(count: u64) -> &'static [u8] {
    const ZEROS: [u8; 8] = [0; 8];
    ZEROS.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default()
}

/// Puts a part of an extent, and the zeros behind it.
#[inline(never)]
fn padded(bytes: &[u8], to: &mut dyn Put) {
    // The header's 28 bytes are a multiple of the alignment, so each gap follows from its part alone.
    const { assert!(EXTENT_HEADER_LEN.is_multiple_of(ALIGN)) };
    to.put(bytes);
    to.put(zeros(bytes.len().wrapping_neg() as u64 & (ALIGN as u64).wrapping_sub(1)));
}

/// The parts of an extent: bytes, or a list whose bytes are made while they are written.
#[derive(Clone, Copy)]
enum Source<'p> {
    Bytes(&'p [u8], &'p [u8]),
    List(List<'p>),
}

/// An extent, but for its Adler-32. Lengths were held below `MAX_STORED` before.
pub(super) struct Finished<'p, E: Endian> {
    header: ExtentHeader<E>,
    name: &'p str,
    source: Source<'p>,
}

impl<'p, E: Endian> Finished<'p, E> {
    #[inline(always)]
    pub(super) fn new(name: &'p str, parts: &Parts<'_>, stored: &Compressed<'p>) -> Self {
        let ((fixed_mode, fixed), (variable_mode, variable)) = (stored.fixed, stored.variable);
        // The mode of an empty part means nothing; it is best written as 0 (section 4).
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
            name_len: low8(name.len()),
            zero: 0,
        };
        Finished { header, name, source: Source::Bytes(fixed, variable) }
    }

    #[inline(always)]
    fn of_list(list: List<'p>, at: u64) -> Result<Self> {
        let (hash, pool) = list.hash::<E>();
        // The longest records are of 16 bytes.
        if list.rows as u64 >= MAX_STORED / 16 || pool as u64 >= MAX_STORED {
            return Err(Error::new(Kind::Limit, What::DsExtent, at).with_need(list.rows as u64));
        }
        let header = ExtentHeader {
            fixed: size(list.rows.wrapping_mul(list.record_len)),
            variable: I32::new(pool.wrapping_sub(small(POOL_START)).cast_signed()),
            rows: size(list.rows),
            pool: I32::new(pool.cast_signed()),
            adler: U32::new(0),
            hash: U32::new(hash),
            fixed_mode: 0,
            variable_mode: 0,
            name_len: low8(list.type_name.len()),
            zero: 0,
        };
        Ok(Finished { header, name: list.type_name, source: Source::List(list) })
    }

    /// All bytes behind the header.
    #[inline(never)]
    fn body(&self, to: &mut dyn Put) {
        padded(self.name.as_bytes(), to);
        match self.source {
            Source::Bytes(fixed, variable) => {
                padded(fixed, to);
                padded(variable, to);
            }
            // Without gaps: records and entries are multiples of the alignment.
            Source::List(list) => {
                list.put::<E>(Piece::Record, to);
                list.put::<E>(Piece::Entry, to);
            }
        }
    }
}

/// A length as a header has it.
fn size<E: Endian>(len: usize) -> I32<E> {
    I32::new(small(len).cast_signed())
}

#[allow(clippy::cast_possible_truncation, reason = "names of more than 255 bytes were refused before")]
const fn low8(len: usize) -> u8 {
    len as u8
}

/// A sink, and what is known of the bytes that went into it.
#[derive(Debug)]
pub(super) struct Output<S> {
    sink: S,
    at: u64,
    chain: u32,
    /// The sink has failed: how much it has of what was written last is not known.
    broken: u32,
}

impl<S> Output<S> {
    pub(super) const fn new(sink: S) -> Self {
        Output { sink, at: 0, chain: 0, broken: 0 }
    }

    /// Behind `at` bytes, whose extents have this chain.
    pub(super) const fn resumed(sink: S, at: u64, chain: u32) -> Self {
        Output { sink, at, chain, broken: 0 }
    }

    /// Bytes so far.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The chain of the check values of all extents so far.
    pub(super) const fn chain(&self) -> u32 {
        self.chain
    }

    pub(super) const fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    pub(super) fn into_sink(self) -> S {
        self.sink
    }
}

/// Puts into a sink until that fails.
struct Through<'o, S: Sink> {
    out: &'o mut Output<S>,
    failed: Option<S::Error>,
}

impl<S: Sink> Put for Through<'_, S> {
    fn put(&mut self, bytes: &[u8]) {
        if self.out.broken != 0 {
            return;
        }
        self.out.at = self.out.at.wrapping_add(bytes.len() as u64);
        if let Err(e) = self.out.sink.put(bytes) {
            self.out.broken = 1;
            self.failed = Some(e);
        }
    }
}

impl<S: Sink> Output<S> {
    /// Puts bytes as they are, then the body of an extent.
    #[inline(never)]
    fn put_all<E: Endian>(&mut self, bytes: &[u8], extent: Option<&Finished<'_, E>>) -> Result<(), WriteError<S::Error>> {
        if self.broken != 0 {
            return Err(Error::new(Kind::Misuse, What::Destination, self.at).into());
        }
        let mut through = Through { out: self, failed: None };
        through.put(bytes);
        if let Some(extent) = extent {
            extent.body(&mut through);
        }
        match through.failed {
            None => Ok(()),
            Some(e) => Err(WriteError::Sink(e)),
        }
    }

    /// Puts bytes as they are.
    pub(super) fn put<E: Endian>(&mut self, bytes: &[u8]) -> Result<(), WriteError<S::Error>> {
        self.put_all::<E>(bytes, None)
    }

    /// Puts an extent: header, name, parts, gaps.
    #[inline(never)]
    pub(super) fn put_extent<E: Endian>(
        &mut self,
        extent: &mut Finished<'_, E>,
    ) -> Result<(), WriteError<S::Error>> {
        let mut adler = Adler32::new();
        let (before, rest) = extent.header.as_bytes().split_at_checked(ADLER_AT).unwrap_or_default();
        adler.put(before);
        adler.put(rest.get(size_of::<u32>()..).unwrap_or_default());
        extent.body(&mut adler);
        let adler = adler.value();
        extent.header.adler = U32::new(adler);
        self.put_all::<E>(extent.header.as_bytes(), Some(extent))?;
        self.chain = mix3(extent.header.hash.get() ^ adler, self.chain, EXTENT_SEED);
        Ok(())
    }

    /// Puts an extent as it was stored before, its check values with it.
    pub(super) fn put_stored<E: Endian>(
        &mut self,
        bytes: &[u8],
        adler: u32,
        hash: u32,
    ) -> Result<(), WriteError<S::Error>> {
        self.put::<E>(bytes)?;
        self.chain = mix3(hash ^ adler, self.chain, EXTENT_SEED);
        Ok(())
    }

    /// Puts the extent of a list.
    pub(super) fn put_list<E: Endian, C: Compress>(
        &mut self,
        list: List<'_>,
        compress: &mut C,
    ) -> Result<(), WriteError<S::Error>> {
        let mut finished = Finished::<E>::of_list(list, self.at)?;
        #[cfg(feature = "alloc")]
        if C::LISTS {
            let (mut fixed, mut variable) = (alloc::vec::Vec::new(), alloc::vec::Vec::new());
            list.put::<E>(Piece::Record, &mut fixed);
            list.put::<E>(Piece::Entry, &mut variable);
            let hash = finished.header.hash.get();
            let parts = Parts { rows: small(list.rows), hash, fixed: &fixed, variable: &variable };
            let stored = compress.compress(&fixed, &variable);
            return self.put_extent::<E>(&mut Finished::new(list.type_name, &parts, &stored));
        }
        let _ = compress;
        self.put_extent::<E>(&mut finished)
    }
}
