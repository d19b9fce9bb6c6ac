//! Recovery of the intact extents of a damaged file.
//!
//! Every extent has its own check values. So an intact extent is found even if the header, the index or its neighbours
//! are damaged, or if bytes are missing and its offset has changed. Only the descriptions of the types must be known,
//! from the file's type extent or from an undamaged file with the same types.
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch};
//! use pilaster::dataseries::recover::{Loss, Recovered, Salvage};
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
//! use pilaster::dataseries::{ExtentType, ReadOptions, record};
//!
//! record! {
//!     struct Tick = "Tick" namespace "example.org" version 1.0 {
//!         n: int32,
//!     }
//! }
//!
//! // A log of three extents; the second one is damaged.
//! let mut slots = [IndexSlot::EMPTY; 4];
//! let mut memory = [0; 64];
//! let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
//! let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?;
//! let mut damaged = 0;
//! for n in 0..3 {
//!     damaged = if n == 1 { log.at() } else { damaged };
//!     extent.push(&Tick { n })?;
//!     log.flush(&mut extent).unwrap();
//! }
//! let mut file = log.finish().unwrap();
//! file[damaged as usize + 20] ^= 1;
//!
//! let types = [ExtentType::of::<Tick>()];
//! let mut salvage = Salvage::<LittleEndian>::new(&file, &types);
//! let mut rows = 0;
//! while let Some(found) = salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 64])) {
//!     match found? {
//!         Recovered::Extent(extent) => rows += extent.header().rows,
//!         Recovered::Lost(Loss { span, type_name, .. }) => {
//!             assert_eq!((span.at, span.len, type_name), (damaged, 40, Some(&b"Tick"[..])));
//!         }
//!     }
//! }
//! assert_eq!(rows, 2);
//! # Ok::<(), pilaster::Error>(())
//! ```

use core::marker::PhantomData;

use super::raw::{EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, TRAILER_LEN, XML_TYPE};
use super::types::ExtentType;
use super::{Extent, Header, ReadOptions, Trailer};
use crate::bytes::{Endian, FileRange, Scratch};
use crate::error::{Error, Kind, Result, What};

/// A result of [`Salvage::next`].
#[derive(Clone, Copy, Debug)]
pub enum Recovered<'a, E> {
    /// An intact extent: both its check values are correct, and it can be unpacked.
    Extent(Extent<'a, E>),
    /// Bytes that belong to no intact extent.
    Lost(Loss<'a>),
}

/// Lost bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Loss<'a> {
    /// The range of the bytes in the file.
    pub span: FileRange,
    /// The error at the start of the range.
    pub why: Error,
    /// The type name in the extent header at the start of the range; `None` if there is no valid header. If it is
    /// [`INDEX_TYPE`], no rows were lost: a writer creates a new index anyway.
    pub type_name: Option<&'a [u8]>,
}

/// A walk over the intact extents in the bytes of a file.
///
/// It skips the type extent, the index and the trailer of the file, because the writer of the recovered file creates
/// new ones. The time is proportional to the number of bytes.
#[derive(Clone, Debug)]
pub struct Salvage<'a, 't, E> {
    bytes: &'a [u8],
    types: &'t [ExtentType<'t>],
    at: usize,
    /// Remaining bytes that may be checked without success. A hostile file can consist of headers.
    fuel: u64,
    order: PhantomData<E>,
}

/// The state of an offset.
enum Place<'a, E> {
    Whole(Extent<'a, E>),
    /// An intact part of the file that is not returned, of this length.
    Skip(usize),
    /// Nothing follows.
    End,
    Bad(Error),
}

impl<'a, 't, E: Endian> Salvage<'a, 't, E> {
    /// Searches `bytes` for extents of `types`. `bytes` begin with the header of the file, intact or damaged.
    #[must_use]
    pub const fn new(bytes: &'a [u8], types: &'t [ExtentType<'t>]) -> Self {
        let fuel = (bytes.len() as u64).saturating_mul(16).saturating_add(1 << 20);
        Salvage { bytes, types, at: HEADER_LEN, fuel, order: PhantomData }
    }

    /// Returns the current offset in the bytes.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at as u64
    }

    /// Returns the next result, or `None` at the end of the file. `scratch` must hold one unpacked extent.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `scratch` is too small for an extent. The offset does not change, so that the call can be
    /// repeated with a larger `scratch`. All other errors are returned as a [`Loss`].
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot take scratch")]
    pub fn next(&mut self, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Option<Result<Recovered<'a, E>>> {
        loop {
            match self.place(self.at, options, scratch) {
                Err(e) => return Some(Err(e)),
                Ok(Place::End) => return None,
                Ok(Place::Skip(len)) => self.at = self.at.saturating_add(len),
                Ok(Place::Whole(extent)) => {
                    self.at = self.at.saturating_add(extent.bytes().len());
                    return Some(Ok(Recovered::Extent(extent)));
                }
                Ok(Place::Bad(why)) => {
                    let (from, why) = (self.at, why);
                    match self.find(options, scratch) {
                        Err(e) => return Some(Err(e)),
                        Ok(at) => self.at = at,
                    }
                    let len = self.at.saturating_sub(from) as u64;
                    let type_name = self.name_at(from);
                    let (span, why) = (FileRange { at: from as u64, len }, why);
                    return Some(Ok(Recovered::Lost(Loss { span, why, type_name })));
                }
            }
        }
    }

    /// Examines offset `at`.
    fn place(&mut self, at: usize, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Place<'a, E>> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.iter().all(|byte| *byte == 0xff) {
            return Ok(Place::End);
        }
        if rest.starts_with(&[0xff; 4]) && Trailer::of::<E>(rest, at as u64).is_ok() {
            // Bytes after the trailer do not belong to the file. They are examined, too, and reported.
            return Ok(if rest.len() > TRAILER_LEN { Place::Skip(TRAILER_LEN) } else { Place::End });
        }
        let extent = match Extent::<E>::of(rest, at as u64) {
            Ok(extent) => extent,
            Err(e) => return Ok(Place::Bad(e)),
        };
        if let Err(e) = extent.check_stored() {
            self.fuel = self.fuel.saturating_sub(extent.bytes().len() as u64);
            return Ok(Place::Bad(e));
        }
        let name = extent.type_name();
        if name == INDEX_TYPE.as_bytes() || (name == XML_TYPE.as_bytes() && at == HEADER_LEN) {
            return Ok(Place::Skip(extent.bytes().len()));
        }
        let Some(ty) = self.types.iter().find(|ty| ty.name().as_bytes() == name) else {
            return Ok(Place::Bad(Error::new(
                Kind::Invalid,
                What::DATASERIES_TYPE_NAME,
                extent.header().name_span().at,
            )));
        };
        match extent.unpack(ty, &ReadOptions { verify: true, ..*options }, &mut scratch.scope()) {
            Ok(_) => Ok(Place::Whole(extent)),
            Err(e) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => Err(e),
            Err(e) => {
                self.fuel = self.fuel.saturating_sub(extent.bytes().len() as u64);
                Ok(Place::Bad(e))
            }
        }
    }

    /// Returns the offset of the next intact extent or trailer after the current offset. Returns the length of the
    /// bytes if nothing follows or the budget is used up.
    fn find(&mut self, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<usize> {
        let mut at = self.at;
        while at < self.bytes.len() && self.fuel > 0 {
            at = at.saturating_add(1);
            if self.is_candidate(at) && !matches!(self.place(at, options, scratch)?, Place::Bad(_)) {
                return Ok(at);
            }
        }
        Ok(self.bytes.len())
    }

    /// Returns whether the header of an extent of a known type, or the trailer, may begin at `at`.
    fn is_candidate(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.starts_with(&[0xff; 4]) {
            return rest.len() == TRAILER_LEN;
        }
        let Some(name) = self.name_at(at) else { return false };
        name == INDEX_TYPE.as_bytes() || self.types.iter().any(|ty| ty.name().as_bytes() == name)
    }

    /// Returns the type name of the extent that may begin at `at`.
    fn name_at(&self, at: usize) -> Option<&'a [u8]> {
        let rest = self.bytes.get(at..)?;
        let len = *rest.get(EXTENT_HEADER_LEN.saturating_sub(2))?;
        let name = rest.get(EXTENT_HEADER_LEN..)?.get(..usize::from(len))?;
        (!name.is_empty() && Header::of::<E>(rest, at as u64).is_ok()).then_some(name)
    }
}
