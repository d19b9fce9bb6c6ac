//! Extents on their way into the sink: header, gaps, checks, chain (sections 3 and 10).

use zerocopy::IntoBytes;
use zerocopy::byteorder::{I32, U32};

use super::extent::Parts;
use super::list::List;
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

/// Puts into a sink until that fails.
struct Through<'o, S: Sink> {
    out: &'o mut Output<S>,
    done: Result<(), WriteError<S::Error>>,
}

impl<S: Sink> Put for Through<'_, S> {
    fn put(&mut self, bytes: &[u8]) {
        if self.done.is_ok() && !bytes.is_empty() {
            self.done = self.out.put(bytes);
        }
    }
}

/// The parts of an extent: bytes, or a list whose bytes are made while they are written.
#[derive(Clone, Copy)]
enum Source<'p> {
    Bytes(&'p [u8], &'p [u8]),
    List(List<'p>),
}

/// An extent, but for its Adler-32. Lengths were held below `MAX_STORED` before.
pub(super) struct Finished<'p> {
    name: &'p str,
    rows: u32,
    /// Bytes of the unpacked pool without its four zero bytes.
    pool: u32,
    hash: u32,
    modes: [Mode; 2],
    /// Bytes of the fixed part and of the variable part, as they are stored.
    lens: [u32; 2],
    source: Source<'p>,
}

impl<'p> Finished<'p> {
    pub(super) fn new(name: &'p str, parts: &Parts<'_>, stored: &Compressed<'p>) -> Self {
        let [fixed, variable] = [stored.fixed, stored.variable];
        // The mode of an empty part means nothing; it is best written as 0 (section 4).
        let mode = |(mode, bytes): (Mode, &[u8])| if bytes.is_empty() { Mode::None } else { mode };
        Finished {
            name,
            rows: parts.rows,
            pool: small(parts.variable.len()),
            hash: parts.hash,
            modes: [mode(fixed), mode(variable)],
            lens: [small(fixed.1.len()), small(variable.1.len())],
            source: Source::Bytes(fixed.1, variable.1),
        }
    }

    fn of_list<E: Endian>(list: List<'p>, at: u64) -> Result<Self> {
        let (rows, pool) = (u32::try_from(list.count()).unwrap_or(u32::MAX), list.pool_len());
        let fixed = rows.saturating_mul(small(list.record_len()));
        if fixed.max(pool) as u64 >= MAX_STORED {
            return Err(Error::new(Kind::Limit, What::DsExtent, at).with_need(rows.into()));
        }
        Ok(Finished {
            name: list.type_name(),
            rows,
            pool,
            hash: list.hash::<E>(),
            modes: [Mode::None; 2],
            lens: [fixed, pool],
            source: Source::List(list),
        })
    }

    /// All bytes behind the header.
    #[inline(never)]
    fn body<E: Endian>(&self, to: &mut dyn Put) {
        // The header's 28 bytes are a multiple of the alignment, so each gap follows from its part alone.
        const { assert!(EXTENT_HEADER_LEN.is_multiple_of(ALIGN)) };
        let [fixed, variable] = self.lens;
        to.put(self.name.as_bytes());
        gap(small(self.name.len()), to);
        match self.source {
            Source::Bytes(bytes, _) => to.put(bytes),
            Source::List(list) => list.records::<E>(to),
        }
        gap(fixed, to);
        match self.source {
            Source::Bytes(_, bytes) => to.put(bytes),
            Source::List(list) => list.entries::<E>(to),
        }
        gap(variable, to);
    }

    /// The header, its Adler-32 still to be filled in.
    fn header<E: Endian>(&self) -> ExtentHeader<E> {
        let size = |n: u32| I32::new(n.cast_signed());
        let ([fixed, variable], [fixed_mode, variable_mode]) = (self.lens, self.modes);
        ExtentHeader {
            fixed: size(fixed),
            variable: size(variable),
            rows: size(self.rows),
            pool: size(self.pool.saturating_add(small(POOL_START))),
            adler: U32::new(0),
            hash: U32::new(self.hash),
            fixed_mode: fixed_mode.id(),
            variable_mode: variable_mode.id(),
            name_len: u8::try_from(self.name.len()).unwrap_or(0),
            zero: 0,
        }
    }
}

/// The zero bytes behind a part.
#[inline(never)]
fn gap(len: u32, to: &mut dyn Put) {
    let padded = len.wrapping_neg() & small(ALIGN).wrapping_sub(1);
    to.put([0; ALIGN].get(..padded as usize).unwrap_or_default());
}

/// A sink, and what is known of the bytes that went into it.
#[derive(Debug)]
pub(super) struct Output<S> {
    sink: S,
    at: u64,
    chain: u32,
    /// The sink has failed: how much it has of what was written last is not known.
    broken: bool,
}

impl<S> Output<S> {
    pub(super) const fn new(sink: S) -> Self {
        Output { sink, at: 0, chain: 0, broken: false }
    }

    /// Behind `at` bytes, whose extents have this chain.
    pub(super) const fn resumed(sink: S, at: u64, chain: u32) -> Self {
        Output { sink, at, chain, broken: false }
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

impl<S: Sink> Output<S> {
    /// Puts bytes as they are.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError<S::Error>> {
        if self.broken {
            return Err(Error::new(Kind::Misuse, What::Destination, self.at).into());
        }
        match self.sink.put(bytes) {
            Ok(()) => {
                self.at = self.at.saturating_add(bytes.len() as u64);
                Ok(())
            }
            Err(e) => {
                self.broken = true;
                Err(WriteError::Sink(e))
            }
        }
    }

    /// Puts an extent: header, name, parts, gaps.
    pub(super) fn put_extent<E: Endian>(&mut self, extent: &Finished<'_>) -> Result<(), WriteError<S::Error>> {
        let mut header = extent.header::<E>();
        let mut adler = Adler32::new();
        let (before, rest) = header.as_bytes().split_at_checked(ADLER_AT).unwrap_or_default();
        for covered in [before, rest.get(size_of::<u32>()..).unwrap_or_default()] {
            adler.put(covered);
        }
        extent.body::<E>(&mut adler);
        header.adler = U32::new(adler.value());

        self.put(header.as_bytes())?;
        let mut through = Through { out: self, done: Ok(()) };
        extent.body::<E>(&mut through);
        through.done?;
        self.chain = mix3(extent.hash ^ adler.value(), self.chain, EXTENT_SEED);
        Ok(())
    }

    /// Puts an extent as it was stored before, its check values with it.
    pub(super) fn put_stored(&mut self, bytes: &[u8], adler: u32, hash: u32) -> Result<(), WriteError<S::Error>> {
        self.put(bytes)?;
        self.chain = mix3(hash ^ adler, self.chain, EXTENT_SEED);
        Ok(())
    }

    /// Puts the extent of a list.
    pub(super) fn put_list<E: Endian, C: Compress>(
        &mut self,
        list: List<'_>,
        compress: &mut C,
    ) -> Result<(), WriteError<S::Error>> {
        let finished = Finished::of_list::<E>(list, self.at)?;
        #[cfg(feature = "alloc")]
        if C::LISTS {
            let (mut fixed, mut variable) = (alloc::vec::Vec::new(), alloc::vec::Vec::new());
            list.records::<E>(&mut fixed);
            list.entries::<E>(&mut variable);
            let parts = Parts { rows: finished.rows, hash: finished.hash, fixed: &fixed, variable: &variable };
            return self.put_extent::<E>(&Finished::new(finished.name, &parts, &compress.compress(&fixed, &variable)));
        }
        let _ = compress;
        self.put_extent::<E>(&finished)
    }
}
