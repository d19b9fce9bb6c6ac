//! The metadata of a chunk.

use super::delta::{Conv, Delta, MAX_ORDER};
use super::join::{Mode, is_base};
use super::stream::Stream;
use super::table::{Bins, Tables};
use super::{BATCH, Class, MAX_NUMBERS, Number, VARIABLES, Version, middle};
use crate::bytes::{Scratch, product, saturated};
use crate::error::{Error, Kind, Result, What};

/// Number of bits of a lookback, and of an index into a dictionary.
const INDEX: u32 = 32;

/// Maximum window of lookbacks, as a power of two.
const MAX_WINDOW: u32 = 24;

/// The metadata of a chunk, from which its pages are decoded.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    pub(super) number: Number,
    pub(super) mode: Mode<'a>,
    pub(super) delta: Delta,
    pub(super) bins: [Bins<'a>; VARIABLES],
}

impl<'a> Chunk<'a> {
    /// Parses metadata that takes all of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` ends early, [`Kind::Invalid`] with the offset, [`Kind::Unsupported`]
    /// for integer multiples of version 0, which are encoded differently.
    pub fn new(version: Version, bytes: &'a [u8], number: Number) -> Result<Self> {
        let mut stream = Stream::new(bytes);
        let (mode, delta, bins) = (Mode::Classic, Delta::None, [Bins::default(); VARIABLES]);
        let mut chunk = Chunk { number, mode, delta, bins };
        let parsed = chunk.parse(version, bytes, &mut stream);
        if !stream.is_inside() {
            // Zeros were read instead of the missing bits, so other errors do not count.
            return Err(Error::needing(Kind::Truncated, What::PCO, bytes.len() as u64, stream.bytes_begun()));
        }
        parsed?;
        if !stream.align() || stream.bytes_begun() != bytes.len() as u64 {
            return Err(wrong(&stream, bytes.len() as u64));
        }
        Ok(chunk)
    }

    fn parse(&mut self, version: Version, bytes: &'a [u8], stream: &mut Stream<'a>) -> Result<()> {
        let number = self.number;
        let float = number.class == Class::Float;
        let variant = stream.take(4);
        self.mode = match variant {
            0 => Mode::Classic,
            1 if version.major == 0 => {
                return Err(Error::needing(Kind::Unsupported, What::PCO, 0, variant));
            }
            1 if !float => match stream.take(number.bits) {
                0 => return Err(wrong(stream, 0)),
                base => Mode::IntMult(base),
            },
            2 if float => match stream.take(number.bits) {
                base if is_base(number, base) => Mode::FloatMult(base),
                base => return Err(wrong(stream, base)),
            },
            3 if float => match stream.small(8) {
                k if (1..=number.precision()).contains(&k) => Mode::FloatQuant(k),
                k => return Err(wrong(stream, k.into())),
            },
            4 => {
                let count = stream.take(25);
                if !stream.align() {
                    return Err(wrong(stream, count));
                }
                let len = product(count, u64::from(number.bits >> 3));
                let from = saturated(stream.bytes_begun());
                let range = usize::try_from(len).ok().and_then(|len| bytes.get(from..from.checked_add(len)?));
                let need = stream.bytes_begun().saturating_add(len);
                let short = || Error::needing(Kind::Truncated, What::PCO, bytes.len() as u64, need);
                let values = range.ok_or_else(short)?;
                stream.skip_bytes(len);
                Mode::Dict(values)
            }
            _ => return Err(wrong(stream, variant)),
        };
        self.parse_delta(version, stream)?;
        let primary = if matches!(self.mode, Mode::Dict(_)) { INDEX } else { number.bits };
        let [lookbacks, first, second] = &mut self.bins;
        match &self.delta {
            Delta::Lookback { window, .. } => lookbacks.parse(stream, INDEX, 1, 1 << window)?,
            Delta::Conv(conv) if !conv.fits(primary) => return Err(wrong(stream, conv.order as u64)),
            _ => {}
        }
        first.parse(stream, primary, 0, u64::MAX)?;
        if !matches!(self.mode, Mode::Classic | Mode::Dict(_)) {
            second.parse(stream, number.bits, 0, u64::MAX)?;
        }
        Ok(())
    }

    fn parse_delta(&mut self, version: Version, stream: &mut Stream<'_>) -> Result<()> {
        // Versions before 3 store the order only; 0 means no delta.
        let variant = if version.major < 3 { 1 } else { stream.take(4) };
        match variant {
            0 => {}
            1 => match stream.small(3) as usize {
                0 if version.major < 3 => {}
                0 => return Err(wrong(stream, 0)),
                order => {
                    let secondary = version.major >= 3 && stream.take(1) == 1;
                    self.delta = Delta::Consecutive { order, secondary };
                }
            },
            2 => {
                let window = stream.small(5).saturating_add(1);
                let state = stream.small(4);
                if window > MAX_WINDOW || state > window {
                    return Err(wrong(stream, window.into()));
                }
                self.delta = Delta::Lookback { window, state, secondary: stream.take(1) == 1 };
            }
            3 => {
                let quantization = stream.small(5);
                // Signed numbers are stored as their ranks.
                let bias = (stream.take(64) ^ middle(64)).cast_signed();
                let order = (stream.small(5) as usize).saturating_add(1);
                let mut weights = [0; MAX_ORDER];
                for weight in weights.iter_mut().take(order) {
                    *weight = (stream.small(32) ^ 1 << 31).cast_signed();
                }
                self.delta = Delta::Conv(Conv { quantization, bias, order, weights });
            }
            _ => return Err(wrong(stream, variant)),
        }
        Ok(())
    }

    /// Returns the size in bytes of the scratch buffer for the tables and one page of `numbers` numbers.
    #[must_use]
    pub fn need(&self, numbers: u64) -> u64 {
        let mut need = 0u64;
        for (k, bins) in self.bins.iter().enumerate() {
            if bins.bits == 0 {
                continue;
            }
            need = need.saturating_add(bins.need()).saturating_add(Scratch::cost::<u64>(BATCH as u64));
            let kept = self.delta.of(k).kept(numbers.min(MAX_NUMBERS));
            need = need.saturating_add(Scratch::cost::<u64>(kept));
        }
        need
    }

    /// Builds the tables, which all pages use.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the scratch buffer is too small.
    pub fn tables<'s>(&self, s: &mut Scratch<'s>) -> Result<Tables<'s>> {
        Tables::new(&self.bins, s)
    }
}

#[cold]
pub(super) fn wrong(stream: &Stream<'_>, need: u64) -> Error {
    Error::needing(Kind::Invalid, What::PCO, stream.bytes_begun(), need)
}
