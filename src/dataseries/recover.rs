//! What is whole in a damaged file.
//!
//! Every extent checks itself, so one that is whole is found whatever happened around it: to the
//! header, to the index, to its neighbours, even if bytes are missing and nothing lies where it did. Only
//! the descriptions of the types must be known, from the file's type extent or from a sound file of the
//! same kind.
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch};
//! use pilaster::dataseries::recover::{Recovered, Salvage};
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
//! use pilaster::dataseries::{ExtentType, File, ReadOptions, record};
//!
//! record! {
//!     struct Tick = "Tick" namespace "example.org" version 1.0 {
//!         n: int32,
//!     }
//! }
//!
//! // A log of three extents, whose second one is hit.
//! let mut slots = [IndexSlot::EMPTY; 4];
//! let mut memory = [0; 64];
//! let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
//! let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?;
//! let mut hit = 0;
//! for n in 0..3 {
//!     hit = if n == 1 { log.at() as usize + 40 } else { hit };
//!     extent.push(&Tick { n })?;
//!     log.flush(&mut extent).unwrap();
//! }
//! let mut file = log.finish().unwrap();
//! file[hit] ^= 1;
//!
//! let types = [ExtentType::of::<Tick>()];
//! let mut salvage = Salvage::<LittleEndian>::new(&file, &types);
//! let (mut whole, mut lost) = (0, 0);
//! while let Some(piece) = salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 64])) {
//!     match piece? {
//!         Recovered::Extent(extent) => whole += extent.header().rows,
//!         Recovered::Lost(loss) => lost += loss.span.len,
//!     }
//! }
//! assert_eq!((whole, lost), (2, 40));
//! # Ok::<(), pilaster::Error>(())
//! ```

use core::marker::PhantomData;

use super::raw::{EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, TRAILER_LEN, XML_TYPE};
use super::types::ExtentType;
use super::{Extent, Header, ReadOptions, Trailer};
use crate::bytes::{Endian, FileRange, Scratch};
use crate::error::{Error, Kind, Result, What};

/// Something that was found in a file.
#[derive(Clone, Copy, Debug)]
pub enum Recovered<'a, E> {
    /// An extent that is whole: both its check values are right, and it unpacks.
    Extent(Extent<'a, E>),
    /// Bytes that belong to nothing whole.
    Lost(Loss<'a>),
}

/// What was lost, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Loss<'a> {
    /// Where the bytes lie.
    pub span: FileRange,
    /// What is wrong at the front of them.
    pub why: Error,
    /// The type of the extent that should have been there, as far as the bytes tell. The index, if it
    /// is that: then no rows were lost, and a new index is written anyway.
    pub type_name: Option<&'a [u8]>,
}

/// A walk over all that is whole in the bytes of a file.
///
/// The file's own type extent, index and trailer are passed over: whoever writes the pieces into a
/// new file writes them anew. The work is in proportion to the length of the bytes.
#[derive(Clone, Debug)]
pub struct Salvage<'a, 't, E> {
    bytes: &'a [u8],
    types: &'t [ExtentType<'t>],
    at: usize,
    /// Bytes that may yet be hashed in vain: a hostile file can be full of headers.
    fuel: u64,
    order: PhantomData<E>,
}

/// What stands at a place.
enum Place<'a, E> {
    Whole(Extent<'a, E>),
    /// Sound, and of no interest.
    Skip(usize),
    /// Nothing comes any more.
    End,
    Bad(Error),
}

impl<'a, 't, E: Endian> Salvage<'a, 't, E> {
    /// Looks for extents of `types` in `bytes`, which begin with the file's header, sound or not.
    #[must_use]
    pub const fn new(bytes: &'a [u8], types: &'t [ExtentType<'t>]) -> Self {
        let fuel = (bytes.len() as u64).saturating_mul(16).saturating_add(1 << 20);
        Salvage { bytes, types, at: HEADER_LEN, fuel, order: PhantomData }
    }

    /// How far the walk is.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at as u64
    }

    /// The next piece; `None` at the end of the file. `scratch` holds one unpacked extent.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if it is too small for one: the walk stands still and can be continued with more.
    /// All else that is wrong is a [`Loss`].
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

    /// What stands at offset `at`.
    fn place(&mut self, at: usize, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Place<'a, E>> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.iter().all(|byte| *byte == 0xff) {
            return Ok(Place::End);
        }
        if rest.starts_with(&[0xff; 4]) && Trailer::of::<E>(rest, at as u64).is_ok() {
            // What follows a trailer belongs to the file no more, but whoever recovers wants to know.
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

    /// Where the next whole thing begins behind the place where the walk is; the end if there is none.
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

    /// Whether the header of an extent of a known type may begin at `at`, or the trailer.
    fn is_candidate(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.starts_with(&[0xff; 4]) {
            return rest.len() == TRAILER_LEN;
        }
        let Some(name) = self.name_at(at) else { return false };
        name == INDEX_TYPE.as_bytes() || self.types.iter().any(|ty| ty.name().as_bytes() == name)
    }

    /// The type name of the extent that may begin at `at`.
    fn name_at(&self, at: usize) -> Option<&'a [u8]> {
        let rest = self.bytes.get(at..)?;
        let len = *rest.get(EXTENT_HEADER_LEN.saturating_sub(2))?;
        let name = rest.get(EXTENT_HEADER_LEN..)?.get(..usize::from(len))?;
        (!name.is_empty() && Header::of::<E>(rest, at as u64).is_ok()).then_some(name)
    }
}
