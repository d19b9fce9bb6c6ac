//! Extents on their way into the sink: header, gaps, checks, chain (sections 3 and 10).

use zerocopy::IntoBytes;
use zerocopy::byteorder::{I32, U32};

use super::extent::Parts;
use super::list::{List, entries, records, word};
use super::{Compress, Compressed, WriteError};
use crate::bytes::{Endian, Sink};
use crate::dataseries::check::ExtentHash;
use crate::dataseries::raw::{
    ADLER_AT, ALIGN, EXTENT_HEADER_LEN, EXTENT_SEED, ExtentHeader, MAX_STORED, Mode, POOL_START, align,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::{Adler32, mix3};

/// A part of an extent: bytes, or a list that is made while it is written.
#[derive(Clone, Copy)]
enum Source<'p> {
    Bytes(&'p [u8]),
    Records(&'p dyn List),
    Entries(&'p dyn List),
}

/// An extent, but for its check values.
pub(super) struct Finished<'p> {
    name: &'p str,
    rows: u32,
    /// Bytes of the unpacked pool without its four zero bytes.
    pool: u64,
    hash: u32,
    fixed: (Mode, u64, Source<'p>),
    variable: (Mode, u64, Source<'p>),
}

impl<'p> Finished<'p> {
    pub(super) fn new(name: &'p str, parts: &Parts<'_>, stored: &Compressed<'p>) -> Self {
        // The mode of an empty part means nothing; it is best written as 0 (section 4).
        let part = |(mode, bytes): (Mode, &'p [u8])| {
            (if bytes.is_empty() { Mode::None } else { mode }, bytes.len() as u64, Source::Bytes(bytes))
        };
        Finished {
            name,
            rows: parts.rows,
            pool: parts.variable.len() as u64,
            hash: parts.hash,
            fixed: part(stored.fixed),
            variable: part(stored.variable),
        }
    }

    pub(super) fn of_list<E: Endian>(name: &'p str, list: &'p dyn List, at: u64) -> Result<Self> {
        let (count, pool) = list.len();
        let fixed = count.saturating_mul(list.record_len() as u64);
        let (Ok(rows), true, true) = (u32::try_from(count), fixed < MAX_STORED, pool < MAX_STORED) else {
            return Err(Error::new(Kind::Limit, What::DsExtent, at).with_need(count));
        };
        let mut hash = ExtentHash::new();
        records::<E>(list, &mut |bytes| hash.part(bytes));
        hash.end_part();
        hash.part(&[0; POOL_START]);
        entries::<E>(list, &mut |bytes| hash.part(bytes));
        hash.end_part();
        list.each(&mut |text, _| {
            if !text.is_empty() {
                hash.word(&word::<E>(text));
            }
        });
        Ok(Finished {
            name,
            rows,
            pool,
            hash: hash.value(),
            fixed: (Mode::None, fixed, Source::Records(list)),
            variable: (Mode::None, pool, Source::Entries(list)),
        })
    }

    pub(super) const fn hash(&self) -> u32 {
        self.hash
    }

    /// All bytes behind the header.
    fn body<E: Endian>(&self, to: &mut dyn FnMut(&[u8])) {
        let name = Source::Bytes(self.name.as_bytes());
        // The header's 28 bytes are a multiple of the alignment, so each gap follows from its part alone.
        const { assert!(EXTENT_HEADER_LEN.is_multiple_of(ALIGN)) };
        for (len, source) in
            [(self.name.len() as u64, name), (self.fixed.1, self.fixed.2), (self.variable.1, self.variable.2)]
        {
            match source {
                Source::Bytes(bytes) => to(bytes),
                Source::Records(list) => records::<E>(list, to),
                Source::Entries(list) => entries::<E>(list, to),
            }
            let gap = usize::try_from(aligned(len).wrapping_sub(len)).unwrap_or(0);
            to([0; ALIGN].get(..gap).unwrap_or_default());
        }
    }

    /// The header, its Adler-32 still to be filled in.
    fn header<E: Endian>(&self) -> ExtentHeader<E> {
        // All of them were held below `MAX_STORED`, and the name to 255 bytes.
        let size = |n: u64| I32::new(i32::try_from(n).unwrap_or(-1));
        ExtentHeader {
            fixed: size(self.fixed.1),
            variable: size(self.variable.1),
            rows: size(self.rows.into()),
            pool: size(self.pool.saturating_add(POOL_START as u64)),
            adler: U32::new(0),
            hash: U32::new(self.hash),
            fixed_mode: self.fixed.0.id(),
            variable_mode: self.variable.0.id(),
            name_len: u8::try_from(self.name.len()).unwrap_or(0),
            zero: 0,
        }
    }
}

const fn aligned(len: u64) -> u64 {
    align(len, ALIGN as u64)
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
        adler.update(before);
        adler.update(rest.get(size_of::<u32>()..).unwrap_or_default());
        extent.body::<E>(&mut |bytes| adler.update(bytes));
        header.adler = U32::new(adler.value());

        self.put(header.as_bytes())?;
        let mut done = Ok(());
        extent.body::<E>(&mut |bytes| {
            if done.is_ok() && !bytes.is_empty() {
                done = self.put(bytes);
            }
        });
        done?;
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
        name: &str,
        list: &dyn List,
        compress: &mut C,
    ) -> Result<(), WriteError<S::Error>> {
        let finished = Finished::of_list::<E>(name, list, self.at)?;
        #[cfg(feature = "alloc")]
        if C::LISTS {
            let (mut fixed, mut variable) = (alloc::vec::Vec::new(), alloc::vec::Vec::new());
            records::<E>(list, &mut |bytes| fixed.extend_from_slice(bytes));
            entries::<E>(list, &mut |bytes| variable.extend_from_slice(bytes));
            let parts = Parts { rows: finished.rows, hash: finished.hash, fixed: &fixed, variable: &variable };
            return self.put_extent::<E>(&Finished::new(name, &parts, &compress.compress(&fixed, &variable)));
        }
        let _ = compress;
        self.put_extent::<E>(&finished)
    }
}
