//! Chooses the smallest lossless encoding.

use super::binary::{along, delta_packing};
use super::cells::{Cells, Source};
use super::dictionary::{Bounds, Dictionary};
use super::encode::{encode_checked, holds, numbers, wrong_type};
use super::len::packed_len;
use super::mask::Mask;
use super::rows::{Plain, Rows, Strings};
use super::stats::{Present, Stats};
use super::texts::check_rows;
use super::utf8::MAX_SLOT_TEXT;
use super::width::{differences, flat, packed};
use crate::bytes::Scratch;
use crate::encoding::bitpack::Packing;
use crate::encoding::linear::Line;
use crate::encoding::min_max::MinMax;
use crate::error::{Kind, Result};
use crate::filo::raw::MAX_EMPTY_ROWS;
use crate::filo::{Element, Encoding};

/// Writes `rows` in the smallest encoding that the format allows for the element type (section 3), that the original
/// program reads, and that reproduces every row bit by bit. This includes the payload of a NaN, the sign of a zero, the
/// difference between an empty and a missing string, and instants 2^64 milliseconds apart. Returns the length of the
/// chunk.
///
/// [`encode`](fn@super::encode) with the result of [`choose`] writes the same chunk. [`max_len`](super::max_len) of any encoding that can
/// hold the rows is an upper bound of its length.
///
/// Dictionaries need [`scratch_len`](super::scratch_len) bytes of `scratch`, or less if few strings are different. If
/// it is too small for the dictionary of a column, no dictionary is considered. Numbers need no scratch.
///
/// A [`DeltaDelta`](Encoding::DeltaDelta) is not chosen if slope times number of rows is 2^31 or more, because the
/// original program, unlike this crate, reads wrong values from it (section 13, item 1). [`encode`](fn@super::encode) writes it.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::filo::write::{Plain, Rows, encode_auto};
///
/// let mut dst = [0; 64];
/// let rows = Rows::all(Plain::Double(&[0.0, 3.0, 2.0, 1.0, 2.0, 1.0]));
/// let len = encode_auto(&rows, &mut dst, &mut Scratch::new(&mut []))?;
/// assert_eq!(dst[..len], [6, 8, 0, 0, 2, 0, 0, 4, 0x6c, 6], "as ints of 2 bits");
/// # Ok::<(), pilaster::Error>(())
/// ```
///
/// # Errors
/// [`Kind::NoRoom`] with the length of the chunk if `dst` is shorter; errors of [`choose`].
pub fn encode_auto(rows: &Rows<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    plan(rows, &mut scratch.scope())?.write(rows, dst)
}

/// Returns the encoding that [`encode_auto`] writes. It compares computed lengths and writes nothing.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::filo::Packing;
/// use pilaster::filo::{Encoding, write::{Plain, Rows, choose}};
///
/// let times = [1_480_000_000_000, 1_480_000_001_003, 1_480_000_001_998, 1_480_000_003_000, 1_480_000_004_001];
/// let encoding = choose(&Rows::all(Plain::Long(&times)), &mut Scratch::new(&mut []))?;
/// assert_eq!(encoding, Encoding::DeltaDelta(Packing::U4));
/// # Ok::<(), pilaster::Error>(())
/// ```
///
/// # Errors
/// [`Kind::Lossy`] with the row for a text that is not valid UTF-8, and for a UTC offset that is not a multiple of a quarter of an hour ([`encode_auto`] also
/// returns it if the minimum of the offsets is more than 32 hours from UTC), [`Kind::Misuse`] if the number of offsets
/// or validity bits differs from the number of values, [`Kind::Overflow`] beyond 2^31 rows, and errors of invalid spans
/// of strings.
pub fn choose(rows: &Rows<'_>, scratch: &mut Scratch<'_>) -> Result<Encoding> {
    Ok(plan(rows, &mut scratch.scope())?.encoding)
}

/// An encoding, and the dictionary if it has one.
pub(super) struct Plan<'a> {
    pub encoding: Encoding,
    pub dictionary: Option<Dictionary<'a>>,
    /// The line of a [`Encoding::DeltaDelta`], if the choice has computed it.
    line: Option<Line>,
    /// Whether doubles are known to be whole.
    whole: bool,
}

impl<'a> Plan<'a> {
    /// Creates the plan of an encoding without a dictionary.
    pub const fn of(encoding: Encoding) -> Self {
        Plan { encoding, dictionary: None, line: None, whole: false }
    }

    /// Creates the plan of an encoding without a dictionary, for the rows with these statistics.
    pub const fn for_rows(encoding: Encoding, stats: &Stats<'_>) -> Self {
        Plan { whole: matches!(stats.present, Present::Doubles { whole: Some(_), .. }), ..Plan::of(encoding) }
    }

    /// Creates the plan of strings by code.
    pub const fn with(dictionary: Dictionary<'a>, packing: Packing) -> Self {
        Plan { dictionary: Some(dictionary), ..Plan::of(dictionary.encoding(packing)) }
    }

    pub fn write(&self, rows: &Rows<'_>, dst: &mut [u8]) -> Result<usize> {
        match (&self.dictionary, self.encoding.packing(), self.line, rows.values) {
            (Some(dictionary), Some(packing), ..) => dictionary.write(packing, dst),
            (None, Some(packing), Some(line), Plain::Long(values)) => along(values, line, packing, dst),
            (None, Some(packing), None, Plain::Double(values)) if self.whole && packing != Packing::W64 => {
                let cells = Cells { source: Source::Ints(values), mask: Mask::new(rows)? };
                numbers(self.encoding, &cells, packing, dst)
            }
            _ if !holds(self.encoding, rows.values.element()) => Err(wrong_type(self.encoding)),
            // The texts were examined when the plan was made.
            _ => encode_checked(self.encoding, rows, Mask::new(rows)?, dst, &mut Scratch::new(&mut [])),
        }
    }
}

/// The smallest of the encodings offered so far; the first of several equally small ones.
struct Smallest<'s, 'a> {
    stats: &'s Stats<'a>,
    encoding: Encoding,
    len: usize,
}

impl Smallest<'_, '_> {
    fn offer(&mut self, encoding: Encoding) {
        let len = self.stats.len(encoding);
        if len < self.len && holds(encoding, self.stats.element) {
            (self.encoding, self.len) = (encoding, len);
        }
    }

    fn offer_if(&mut self, able: bool, encoding: Encoding) {
        if able {
            self.offer(encoding);
        }
    }
}

fn plan<'a>(rows: &Rows<'a>, scratch: &mut Scratch<'a>) -> Result<Plan<'a>> {
    let stats = Stats::of(rows)?;
    check_rows(rows, &stats.mask)?;
    let mut best = Smallest { stats: &stats, encoding: Encoding::Empty, len: usize::MAX };
    if stats.first.is_none() && stats.mask.rows() <= MAX_EMPTY_ROWS as usize {
        // No chunk is shorter than a header word.
        return Ok(Plan::of(Encoding::Empty));
    }
    let full = !stats.mask.nulls();
    // A mask is written only if a row is missing. A repeated value requires that none is.
    let dense = |packing| if full { Encoding::Packed(packing) } else { Encoding::Masked(packing) };
    match stats.present {
        Present::Opaque { equal } => {
            let packing = if stats.element == Element::Float { Packing::U32 } else { Packing::W64 };
            best.offer(Encoding::Simple(packing));
            best.offer_if(equal, Encoding::Const(packing));
        }
        Present::Doubles { equal, whole } => {
            best.offer(dense(whole.and_then(|range| packed(range.into())).unwrap_or(Packing::W64)));
            best.offer_if(equal && full, Encoding::Repeated);
            best.offer_if(equal, Encoding::Const(Packing::W64));
        }
        Present::Integers(range) => {
            let equal = range.is_point();
            best.offer(dense(packed(range).unwrap_or(Packing::W64)));
            best.offer_if(equal && full, Encoding::Repeated);
            best.offer_if(equal, Encoding::Const(flat(range)));
            best.offer(Encoding::Simple(flat(range)));
            best.offer(Encoding::Diff(differences(range.distance())));
            if let Some(slant) = stats.slant.filter(|slant| slant.is_read_by_original(rows.len())) {
                let (packing, line) = delta_packing(slant);
                let encoding = Encoding::DeltaDelta(packing);
                best.offer(encoding);
                if best.encoding == encoding {
                    return Ok(Plan { line: Some(line), ..Plan::of(encoding) });
                }
            }
        }
        Present::DateTimes { millis, zones } => {
            let zones = (!zones.is_point()).then(|| differences(MinMax::<i64>::from(zones).distance()));
            best.offer(Encoding::DiffDateTime { millis: differences(millis.distance()), zones });
        }
        Present::Strings(lengths) => {
            best.offer(Encoding::SimpleString);
            best.offer_if(lengths.equal, Encoding::ConstString);
            best.offer_if(lengths.max <= MAX_SLOT_TEXT, Encoding::FixedMaxUtf8);
            best.offer(Encoding::Utf8);
            best.offer_if(lengths.equal && full, Encoding::Repeated);
            if let Plain::String(strings) | Plain::Utf8(strings) | Plain::Blob(strings) = rows.values
                && let Some(plan) = dictionary(strings, &stats, best.len, scratch)?
            {
                return Ok(plan);
            }
        }
    }
    Ok(Plan::for_rows(best.encoding, &stats))
}

/// Returns a plan with a dictionary if the scratch suffices and the chunk is shorter than `best`.
fn dictionary<'a>(
    strings: Strings<'a>,
    stats: &Stats<'_>,
    best: usize,
    scratch: &mut Scratch<'a>,
) -> Result<Option<Plan<'a>>> {
    // If the codes alone are too long, no dictionary can pay.
    let Some(bytes) = best.checked_sub(packed_len(Packing::U2, stats.mask.rows())) else { return Ok(None) };
    let bounds = Bounds { bytes, ..Bounds::NONE };
    let dictionary = match Dictionary::find(strings, &stats.mask, stats.element, bounds, scratch) {
        Ok(Some(dictionary)) => dictionary,
        Ok(None) => return Ok(None),
        // The scratch is too small, or the strings were crafted to collide.
        Err(e) if matches!(e.kind(), Kind::NoRoom | Kind::Limit) => return Ok(None),
        Err(e) => return Err(e),
    };
    let packing = dictionary.packing();
    Ok((dictionary.chunk_len(packing)? < best).then(|| Plan::with(dictionary, packing)))
}
