//! Going on with a log that ended without its trailer, or with it (sections 1 and 10).

use core::marker::PhantomData;

use super::list::{IndexSlot, List};
use super::output::Output;
use super::{Compress, Descriptions, Stored, Writer};
use crate::bytes::{Endian, Sink, saturated};
use crate::dataseries::raw::{EXTENT_SEED, HEADER_LEN, INDEX_TYPE, XML_TYPE};
use crate::dataseries::{End, Extent, Header, Next, Order};
use crate::error::{Error, Kind, Result, What};
use crate::hash::mix3;

/// Where a log can go on, and what is known of the extents before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Resume {
    at: u64,
    chain: u32,
    extents: usize,
    rows: u64,
    rest: Rest,
}

/// What lies behind the last whole extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rest {
    /// Nothing: the file ends there.
    Nothing,
    /// Erased flash, to the end of the bytes: the log can be continued in place.
    Erased,
    /// An index, perhaps with its trailer: the file was finished, or nearly. They are written anew.
    Index,
    /// Something else, such as the front of an extent: it is lost, and must be cut off or erased before
    /// the log goes on.
    Damage(Error),
}

impl Resume {
    /// Finds the end of the last whole extent of the log in `bytes`, and fills `slots` with the extents
    /// before it. An extent is whole if its stored bytes have the Adler-32 that it states; nothing is
    /// decompressed.
    ///
    /// Slots that are too few are no error here: as with a [`Writer`], the log goes on without an index.
    ///
    /// # Errors
    /// Those of the file's header and of the type extent, without which nothing can be read;
    /// [`Kind::Misuse`] if the file has the other byte order, or other types than `types`.
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
        // The rows to come must be of the types that the file describes.
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

    /// Where the log goes on: bytes before are whole, bytes from here on are not part of it.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Rows in the extents that are whole, of all types together.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// What lies behind the last whole extent.
    #[must_use]
    pub const fn rest(&self) -> Rest {
        self.rest
    }
}

/// The extent at offset `at`, if its stored bytes are as they were written.
fn whole<E: Endian>(bytes: &[u8], at: u64) -> Result<Extent<'_, E>> {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let extent = Extent::<E>::of(rest, at)?;
    extent.check_stored()?;
    Ok(extent)
}

/// The extent at offset `at`; `None` where the log ends without damage.
fn next<E: Endian>(bytes: &[u8], at: u64) -> Result<Option<Extent<'_, E>>> {
    let span = Next::span(at, bytes.len() as u64);
    match Next::of::<E>(span.of(bytes, What::DATASERIES_EXTENT)?, at)? {
        Next::Extent(_) => whole(bytes, at).map(Some),
        Next::End(End::File { .. } | End::Erased { .. }) => Ok(None),
        // A trailer follows an index, behind which nobody looks here.
        Next::End(End::Trailer { .. }) => Err(Error::new(Kind::Invalid, What::DATASERIES_TRAILER, at)),
    }
}

impl<'w, E: Endian, S: Sink> Writer<'w, E, S, Stored> {
    /// Goes on with a log where `resume` found its end, storing everything uncompressed. `sink` puts its
    /// first byte at [`Resume::at`]; `types` and `slots` are those that were given to [`Resume::find`].
    #[must_use]
    pub const fn resume(sink: S, types: Descriptions<'w>, slots: &'w mut [IndexSlot], resume: &Resume) -> Self {
        Writer::resume_with(sink, types, slots, Stored, resume)
    }
}

impl<'w, E: Endian, S: Sink, C: Compress> Writer<'w, E, S, C> {
    /// As [`resume`](Writer::resume), with compression.
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
