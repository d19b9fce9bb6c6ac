//! The metadata of a chunk.

use super::delta::{Conv, Delta, MAX_ORDER};
use super::join::{Mode, is_base};
use super::stream::Stream;
use super::table::{Bins, Tables};
use super::{BATCH, Class, LOOKBACKS, MAX_NUMBERS, Number, PRIMARY, SECONDARY, VARIABLES, Version, middle};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// Bits of a lookback, and of an index into a dictionary.
const INDEX: u32 = 32;

/// Widest window of lookbacks, as a power of two.
const MAX_WINDOW: u32 = 24;

/// A chunk: how the numbers of its pages are made.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    pub(super) number: Number,
    pub(super) mode: Mode<'a>,
    pub(super) delta: Delta,
    pub(super) bins: [Option<Bins<'a>>; VARIABLES],
}

impl<'a> Chunk<'a> {
    /// Reads metadata: all of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`], [`Kind::Invalid`] with the offset, [`Kind::Unsupported`] for integer multiples of
    /// version 0, which were others.
    pub fn new(version: Version, bytes: &'a [u8], number: Number) -> Result<Self> {
        let mut stream = Stream::new(bytes);
        let chunk = Chunk::parse(version, bytes, number, &mut stream);
        if !stream.is_inside() {
            // Zeros were read instead of what is missing, whatever they led to.
            return Err(Error::new(Kind::Truncated, What::Pco, bytes.len() as u64).with_need(stream.bytes_begun()));
        }
        let chunk = chunk?;
        if !stream.align() || stream.bytes_begun() != bytes.len() as u64 {
            return Err(wrong(&stream, bytes.len() as u64));
        }
        Ok(chunk)
    }

    fn parse(version: Version, bytes: &'a [u8], number: Number, stream: &mut Stream<'a>) -> Result<Self> {
        let float = number.class == Class::Float;
        let variant = stream.take(4);
        let mode = match variant {
            0 => Mode::Classic,
            1 if version.major == 0 => {
                return Err(Error::new(Kind::Unsupported, What::Pco, 0).with_need(variant));
            }
            1 if !float => match stream.take(number.bits) {
                0 => return Err(wrong(stream, 0)),
                base => Mode::IntMult(base),
            },
            2 if float => match stream.take(number.bits) {
                base if is_base(number, base) => Mode::FloatMult(base),
                base => return Err(wrong(stream, base)),
            },
            3 if float => match u32::try_from(stream.take(8)).unwrap_or(0) {
                k if (1..=number.precision()).contains(&k) => Mode::FloatQuant(k),
                k => return Err(wrong(stream, k.into())),
            },
            4 => {
                let count = stream.take(25);
                if !stream.align() {
                    return Err(wrong(stream, count));
                }
                let len = count.saturating_mul(u64::from(number.bits >> 3));
                let from = usize::try_from(stream.bytes_begun()).unwrap_or(usize::MAX);
                let range = usize::try_from(len).ok().and_then(|len| bytes.get(from..from.checked_add(len)?));
                let need = stream.bytes_begun().saturating_add(len);
                let short = Error::new(Kind::Truncated, What::Pco, bytes.len() as u64).with_need(need);
                let values = range.ok_or(short)?;
                stream.skip_bytes(len);
                Mode::Dict(values)
            }
            _ => return Err(wrong(stream, variant)),
        };
        let delta = parse_delta(version, stream)?;
        let mut bins = [None; VARIABLES];
        if let Delta::Lookback { window, .. } = delta {
            bins[LOOKBACKS] = Some(Bins::parse(stream, INDEX, 1..=1 << window)?);
        }
        let primary = if matches!(mode, Mode::Dict(_)) { INDEX } else { number.bits };
        if let Delta::Conv(conv) = &delta
            && !conv.fits(primary)
        {
            return Err(wrong(stream, conv.order as u64));
        }
        bins[PRIMARY] = Some(Bins::parse(stream, primary, 0..=u64::MAX)?);
        if !matches!(mode, Mode::Classic | Mode::Dict(_)) {
            bins[SECONDARY] = Some(Bins::parse(stream, number.bits, 0..=u64::MAX)?);
        }
        Ok(Chunk { number, mode, delta, bins })
    }

    /// Scratch that tables and one page of `numbers` take together.
    #[must_use]
    pub fn need(&self, numbers: u64) -> u64 {
        let mut need = 0u64;
        for (k, bins) in self.bins.iter().enumerate() {
            let Some(bins) = bins else { continue };
            need = need.saturating_add(bins.need()).saturating_add(Scratch::cost::<u64>(BATCH as u64));
            let kept = self.delta.of(k).kept(numbers.min(MAX_NUMBERS));
            need = need.saturating_add(Scratch::cost::<u64>(kept));
        }
        need
    }

    /// Makes the tables, which all pages use.
    ///
    /// # Errors
    /// [`Kind::NoRoom`].
    pub fn tables<'s>(&self, s: &mut Scratch<'s>) -> Result<Tables<'s>> {
        Tables::new(&self.bins, s)
    }
}

fn parse_delta(version: Version, stream: &mut Stream<'_>) -> Result<Delta> {
    let order = |stream: &mut Stream<'_>| usize::try_from(stream.take(3)).unwrap_or(0);
    if version.major < 3 {
        return Ok(match order(stream) {
            0 => Delta::None,
            order => Delta::Consecutive { order, secondary: false },
        });
    }
    let variant = stream.take(4);
    Ok(match variant {
        0 => Delta::None,
        1 => match order(stream) {
            0 => return Err(wrong(stream, 0)),
            order => Delta::Consecutive { order, secondary: stream.take(1) == 1 },
        },
        2 => {
            let window = u32::try_from(stream.take(5)).unwrap_or(0).saturating_add(1);
            let state = u32::try_from(stream.take(4)).unwrap_or(0);
            if window > MAX_WINDOW || state > window {
                return Err(wrong(stream, window.into()));
            }
            Delta::Lookback { window, state, secondary: stream.take(1) == 1 }
        }
        3 => {
            let quantization = u32::try_from(stream.take(5)).unwrap_or(0);
            // Numbers with a sign are stored in their order.
            let bias = (stream.take(64) ^ middle(64)).cast_signed();
            let order = usize::try_from(stream.take(5)).unwrap_or(0).saturating_add(1);
            let mut weights = [0; MAX_ORDER];
            for weight in weights.iter_mut().take(order) {
                let ordered = u32::try_from(stream.take(32)).unwrap_or(0);
                *weight = (ordered ^ 1 << 31).cast_signed();
            }
            Delta::Conv(Conv { quantization, bias, order, weights })
        }
        _ => return Err(wrong(stream, variant)),
    })
}

#[cold]
fn wrong(stream: &Stream<'_>, need: u64) -> Error {
    Error::new(Kind::Invalid, What::Pco, stream.bytes_begun()).with_need(need)
}
