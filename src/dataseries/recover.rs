//! Recovery of the intact extents of a damaged file.
//!
//! Every extent has its own check values. So an intact extent is found even if the header, the index or its neighbours
//! are damaged, or if bytes are missing and its offset has changed. Only the descriptions of the types must be known,
//! from the file's type extent or from an undamaged file with the same types.
//!
//! ```
//! use pilaster::bytes::{Input, LittleEndian, Scratch};
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
//! let mut salvage = Salvage::<LittleEndian>::new(Input::whole(&file), &types);
//! let mut rows = 0;
//! while let Some(found) = salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 64])) {
//!     match found? {
//!         Recovered::Extent(header) => rows += header.rows,
//!         Recovered::Lost(Loss { span, header, .. }) => {
//!             let name = header.expect("only a row is damaged").name_span();
//!             assert_eq!((span.at, span.len), (damaged, 40));
//!             assert_eq!(&file[name.at as usize..][..name.len as usize], b"Tick");
//!         }
//!     }
//! }
//! assert_eq!(rows, 2);
//! # Ok::<(), pilaster::Error>(())
//! ```

use core::fmt;
use core::marker::PhantomData;

use super::raw::{
    CHECK_I32, CHECK_I64, CHECK_INF, CHECK_PI, EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, TRAILER_LEN, XML_TYPE,
};
use super::types::ExtentType;
use super::{Extent, Header, Order, ReadOptions, Trailer};
use crate::bytes::{BigEndian, Endian, FileRange, Input, LittleEndian, Scratch, Window, saturated};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Spent;

/// Returns the byte order of a file whose header may be damaged: the order in which the check value of the type extent
/// is correct or, if it is correct in neither, the order that more bytes of the header agree with. Returns `None` if
/// neither has more, or if the header cannot be read.
///
/// With the order, [`Order::extent`] and [`AnyExtent::types`](super::AnyExtent::types) read the types without the
/// header:
///
/// ```
/// use pilaster::bytes::{Input, Scratch};
/// use pilaster::dataseries::{AnyFile, HEADER_LEN, Order, ReadOptions, recover};
///
/// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// bytes[..HEADER_LEN].fill(0);
/// let (options, mut memory) = (ReadOptions::DEFAULT, [0; 4096]);
/// assert!(AnyFile::open_sequential(&bytes, &options, &mut Scratch::new(&mut memory)).is_err());
///
/// let order = recover::order(&Input::whole(&bytes)).expect("the type extent is intact");
/// assert_eq!(order, Order::Big);
/// let types = order.extent(&bytes[HEADER_LEN..], HEADER_LEN as u64)?;
/// let types = types.types(&options, &mut Scratch::new(&mut memory))?;
/// assert_eq!(types.get(0).map(|ty| ty.name()), Some("Tiny"));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[must_use]
pub fn order(input: &Input<'_>) -> Option<Order> {
    if has_types::<LittleEndian>(input) {
        return Some(Order::Little);
    }
    if has_types::<BigEndian>(input) {
        return Some(Order::Big);
    }
    // The check values before the NaN, of which there are many.
    let stored = input.get(FileRange { at: 4, len: 28 }, What::DATASERIES_HEADER).ok()?;
    let (mut little, mut big) = (0u32, 0u32);
    let (a, b) = (CHECK_I32.to_be_bytes(), CHECK_I64.to_be_bytes());
    let (c, d) = (CHECK_PI.to_be_bytes(), CHECK_INF.to_be_bytes());
    let mut rest = stored;
    for value in [&a[..], &b, &c, &d] {
        let (stored, more) = rest.split_at_checked(value.len())?;
        rest = more;
        for (stored, (big_byte, little_byte)) in stored.iter().zip(value.iter().zip(value.iter().rev())) {
            big = big.saturating_add((stored == big_byte).into());
            little = little.saturating_add((stored == little_byte).into());
        }
    }
    match little.cmp(&big) {
        core::cmp::Ordering::Greater => Some(Order::Little),
        core::cmp::Ordering::Less => Some(Order::Big),
        core::cmp::Ordering::Equal => None,
    }
}

/// Returns whether a file has an intact type extent.
fn has_types<E: Endian>(input: &Input<'_>) -> bool {
    let window = input.window();
    Extent::<E>::within(window.input(), HEADER_LEN as u64, input.len())
        .is_ok_and(|extent| extent.type_name() == XML_TYPE.as_bytes() && extent.check_stored().is_ok())
}

/// A result of [`Salvage::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Recovered {
    /// The header of an intact extent: both its check values are correct, and it can be unpacked. Its
    /// [`span`](Header::span) contains the bytes.
    Extent(Header),
    /// Bytes that belong to no intact extent.
    Lost(Loss),
}

/// Lost bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Loss {
    /// The range of the bytes in the file.
    pub span: FileRange,
    /// The error at the start of the range.
    pub why: Error,
    /// The extent header at the start of the range; `None` if there is no valid header. If the type name, which is at
    /// its [`name_span`](Header::name_span), is [`INDEX_TYPE`], no rows were lost: a writer creates a new index anyway.
    pub header: Option<Header>,
}

/// A walk over the intact extents of a file.
///
/// It skips the type extent, the index and the trailer of the file, because the writer of the recovered file creates
/// new ones. The time is proportional to the number of bytes, stored and unpacked. From an input that fetches ranges, it
/// keeps at most one extent and a few megabytes.
pub struct Salvage<'a, 't, E> {
    input: Input<'a>,
    /// The bytes around the offset are read through it.
    window: Window<'a>,
    types: &'t [ExtentType<'t>],
    at: u64,
    /// The extent at this offset has been unpacked; [`HEADER_LEN`] if none has.
    known: u64,
    /// No intact extent begins between the current offset and this one, if it is larger.
    searched: u64,
    /// Remaining stored bytes that may be checked without success. A hostile file can consist of headers.
    fuel: u64,
    /// Everything that was unpacked, also without success.
    spent: Spent,
    losses: u32,
    order: PhantomData<E>,
}

/// The state of an offset.
enum Place {
    Whole(Header),
    /// An intact part of the file that is not returned, of this length.
    Skip(u64),
    /// Nothing follows.
    End,
    Bad(Error),
}

/// Number of offsets that are searched together.
const SEARCHED: u64 = 1 << 16;
/// Number of offsets that are skipped together if no header can begin at any of them.
const SKIPPED: usize = 1 << 12;
/// The place of the length of the type name in the header of an extent.
const NAME_LEN_AT: usize = EXTENT_HEADER_LEN.saturating_sub(2);

impl<'a, 't, E: Endian> Salvage<'a, 't, E> {
    /// Searches a file for extents of `types`. The file begins with its header, intact or damaged.
    #[must_use]
    pub fn new(input: Input<'a>, types: &'t [ExtentType<'t>]) -> Self {
        let fuel = input.len().saturating_mul(16).saturating_add(1 << 20);
        let (at, window) = (HEADER_LEN as u64, input.window());
        let (spent, order) = (Spent::NOTHING, PhantomData);
        Salvage { input, window, types, at, known: at, searched: at, fuel, spent, losses: 0, order }
    }

    /// Returns the current offset in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next result, or `None` at the end of the file. `scratch` must hold one unpacked extent.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `scratch` is too small for an extent; [`Kind::Limit`] if the rows, the unpacked bytes or the
    /// losses of the whole file exceed `options.limits`. Extents that cannot be unpacked count, too;
    /// [`Kind::Missing`] if bytes of the file cannot be read. The offset does not change, so that the call can be
    /// repeated with a larger `scratch` or larger limits. All other errors are returned as a [`Loss`].
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot take scratch")]
    pub fn next(&mut self, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Option<Result<Recovered>> {
        self.step(options, scratch).transpose()
    }

    fn step(&mut self, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Option<Recovered>> {
        loop {
            if self.window.is_full() {
                self.window = self.input.window();
            }
            match self.place(self.at, options, scratch)? {
                Place::End => return Ok(None),
                Place::Skip(len) => self.at = self.at.saturating_add(len),
                Place::Whole(header) => {
                    self.at = header.span().end().unwrap_or(u64::MAX);
                    return Ok(Some(Recovered::Extent(header)));
                }
                Place::Bad(why) => {
                    let (from, max) = (self.at, options.limits.max_problems);
                    if self.losses >= max {
                        return Err(Error::needing(Kind::Limit, What::MAX_PROBLEMS, from, max.into()));
                    }
                    let header = self.header_at(from)?;
                    self.at = self.find(options, scratch)?;
                    self.losses = self.losses.saturating_add(1);
                    let span = FileRange { at: from, len: self.at.saturating_sub(from) };
                    return Ok(Some(Recovered::Lost(Loss { span, why, header })));
                }
            }
        }
    }

    /// Examines offset `at`.
    fn place(&mut self, at: u64, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Place> {
        let input = self.window.input();
        let left = input.len().saturating_sub(at);
        if left == 0 {
            return Ok(Place::End);
        }
        let head = FileRange { at, len: left.min(TRAILER_LEN as u64) };
        let head = input.get(head, What::DATASERIES_EXTENT)?;
        if head.iter().all(|byte| *byte == 0xff) && is_erased(&self.input, at)? {
            return Ok(Place::End);
        }
        if head.starts_with(&[0xff; 4]) && Trailer::of::<E>(head, at).is_ok() {
            // Bytes after the trailer do not belong to the file. They are examined, too, and reported.
            return Ok(if left > TRAILER_LEN as u64 { Place::Skip(TRAILER_LEN as u64) } else { Place::End });
        }
        let extent = match Extent::<E>::within(input, at, input.len()) {
            Err(e) if e.kind() == Kind::Missing => return Err(e),
            Err(e) => return Ok(Place::Bad(e)),
            Ok(extent) => extent,
        };
        let header = *extent.header();
        if at == self.known && at > HEADER_LEN as u64 {
            return Ok(Place::Whole(header));
        }
        match extent.check_stored() {
            Err(e) if e.kind() == Kind::Missing => return Err(e),
            Err(e) => {
                self.fuel = self.fuel.saturating_sub(header.span().len);
                return Ok(Place::Bad(e));
            }
            Ok(()) => {}
        }
        let name = extent.type_name();
        if name == INDEX_TYPE.as_bytes() || (name == XML_TYPE.as_bytes() && at == HEADER_LEN as u64) {
            return Ok(Place::Skip(header.span().len));
        }
        let Some(ty) = self.types.iter().find(|ty| ty.name().as_bytes() == name) else {
            return Ok(Place::Bad(header.unknown_type()));
        };
        let options = ReadOptions { verify: true, ..*options };
        let before = self.spent.clone();
        extent.spend(ty, &options, &mut self.spent)?;
        match extent.unpack(ty, &options, &mut scratch.scope()) {
            Ok(_) => {
                self.known = at;
                Ok(Place::Whole(header))
            }
            Err(e) if e.kind() == Kind::Missing || (e.kind() == Kind::NoRoom && e.what() == What::SCRATCH) => {
                self.spent = before;
                Err(e)
            }
            Err(e) => {
                self.fuel = self.fuel.saturating_sub(header.span().len);
                Ok(Place::Bad(e))
            }
        }
    }

    /// Returns the offset of the next intact extent or trailer after the current offset. Returns the length of the
    /// file if nothing follows or the budget is used up.
    fn find(&mut self, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<u64> {
        let input = self.input;
        // A repeated call does not search the same bytes again.
        let mut at = self.searched.max(self.at.saturating_add(1));
        while at < input.len() && self.fuel > 0 {
            // One per step, so that the allocator uses the same memory again.
            let window = input.window();
            // The longest header of an extent may begin at each of the offsets.
            let longest = (EXTENT_HEADER_LEN as u64).saturating_add(u8::MAX.into());
            let left = input.len().saturating_sub(at);
            let span = FileRange { at, len: SEARCHED.saturating_add(longest).min(left) };
            let bytes = window.input().get(span, What::DATASERIES_EXTENT)?;
            let (mut i, end) = (0, saturated(SEARCHED.min(left)));
            while i < end && self.fuel > 0 {
                let offset = at.saturating_add(i as u64);
                // The trailer is checked where it may be: at the end.
                let is_end = input.len().saturating_sub(offset) == TRAILER_LEN as u64;
                let rest = bytes.get(i..).unwrap_or_default();
                if !is_end && i % SKIPPED == 0 && is_without_names(rest) {
                    let to_end = input.len().saturating_sub(offset).saturating_sub(TRAILER_LEN as u64);
                    i = i.saturating_add(SKIPPED.min(saturated(to_end).max(1)));
                    continue;
                }
                if (is_end && rest.starts_with(&[0xff; 4])) || self.is_candidate(rest) {
                    if self.window.is_full() {
                        self.window = input.window();
                    }
                    self.searched = offset;
                    if !matches!(self.place(offset, options, scratch)?, Place::Bad(_)) {
                        return Ok(offset);
                    }
                }
                i = i.saturating_add(1);
            }
            at = at.saturating_add(i as u64);
        }
        Ok(input.len())
    }

    /// Returns whether `rest` may begin with the header of an extent of a known type, or of the index.
    fn is_candidate(&self, rest: &[u8]) -> bool {
        let Some(name) = name_in(rest) else { return false };
        (name == INDEX_TYPE.as_bytes() || self.types.iter().any(|ty| ty.name().as_bytes() == name))
            && !rest.starts_with(&[0xff; 4])
            && Header::of::<E>(rest, 0).is_ok()
    }

    /// Returns the header at `at`, if it and its type name are valid.
    fn header_at(&self, at: u64) -> Result<Option<Header>> {
        let input = self.window.input();
        let left = input.len().saturating_sub(at);
        let longest = (EXTENT_HEADER_LEN as u64).saturating_add(u8::MAX.into());
        let rest = input.get(FileRange { at, len: longest.min(left) }, What::DATASERIES_EXTENT)?;
        Ok(name_in(rest).and_then(|_| Header::of::<E>(rest, at).ok()))
    }
}

impl<E> fmt::Debug for Salvage<'_, '_, E> {
    /// Omits the bytes of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salvage").field("at", &self.at).field("losses", &self.losses).finish_non_exhaustive()
    }
}

/// Returns the type name of the extent that may begin at the start of `rest`.
fn name_in(rest: &[u8]) -> Option<&[u8]> {
    let len = *rest.get(NAME_LEN_AT)?;
    let name = rest.get(EXTENT_HEADER_LEN..)?.get(..usize::from(len))?;
    (!name.is_empty()).then_some(name)
}

/// Returns whether the length of the name would be zero in every header that begins at one of the first [`SKIPPED`]
/// offsets. So it is in files with lost blocks, which are read as zeros.
fn is_without_names(rest: &[u8]) -> bool {
    let lengths = rest.get(NAME_LEN_AT..).and_then(|rest| rest.get(..SKIPPED));
    // Equal to itself moved by one byte: one comparison of memory.
    lengths.is_some_and(|bytes| bytes.first() == Some(&0) && bytes.get(1..) == bytes.get(..SKIPPED.saturating_sub(1)))
}

/// Returns whether a file is erased from `at` to its end.
fn is_erased(input: &Input<'_>, mut at: u64) -> Result<bool> {
    while at < input.len() {
        let window = input.window();
        let len = SEARCHED.min(input.len().saturating_sub(at));
        let bytes = window.input().get(FileRange { at, len }, What::DATASERIES_EXTENT)?;
        if bytes.iter().any(|byte| *byte != 0xff) {
            return Ok(false);
        }
        at = at.saturating_add(len);
    }
    Ok(true)
}
