//! What chunks of a column teach about the next ones: how texts are packed, with symbols (FSST) or with tokens (OnPair),
//! and whether timestamps are stored in parts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Encodings;
use super::word::bits;
use crate::encoding::texts::{Sample, Texts};
use crate::encoding::{fsst, onpair};
use crate::vortex::raw::Encoding;

/// Number of bits of the code of a token.
const TOKEN_BITS: u32 = 12;

/// Bytes of the sample by which packings are compared, and of one text in it. No packing was chosen by these texts, if there
/// are enough others: tokens take about 5 % fewer bytes for the texts that they were chosen by.
const SAMPLE: usize = 1 << 15;
const LONGEST: usize = 1 << 12;

/// Number of the first chunks for which a packing is chosen. The best one stays: chosen by chunks of the same kind, tokens
/// differ by up to 5 % in the size of other chunks.
const FIRST: u32 = 3;

/// What the chunks of a column have taught.
#[derive(Debug, Default)]
pub(super) struct Learned {
    packing: Option<(Packing, Cost)>,
    /// Whether timestamps take fewer bytes in parts.
    pub in_parts: bool,
    /// Number of chunks.
    chunks: u32,
    /// The same for the fields of a struct, and for the distinct texts of a chunk.
    fields: Vec<Learned>,
}

impl Learned {
    /// Returns what is known of the first `count` fields.
    pub fn fields(&mut self, count: usize) -> &mut [Learned] {
        if self.fields.len() < count {
            self.fields.resize_with(count, Learned::default);
        }
        &mut self.fields
    }

    /// Counts a chunk. Returns whether everything is tried anew: for chunks 1, 4, 16, 64 …, because the first rows of a
    /// column may be unlike the others. To train for each chunk took 1.3 to 1.4 times the time of writing log lines and
    /// file names, and made no smaller files.
    pub fn is_new_chunk(&mut self) -> bool {
        self.chunks = self.chunks.saturating_add(1);
        self.chunks.is_power_of_two() && self.chunks.trailing_zeros().is_multiple_of(2)
    }

    /// Returns the packing of texts: the one before if it is as good for them, else the better one of it and a new one;
    /// `None` if none is allowed.
    pub fn packing(&mut self, texts: &Texts<'_>, allowed: Encodings) -> Option<&Packing> {
        let sample = Sample::of_others(texts, SAMPLE, LONGEST);
        let sample = sample.texts()?;
        let is_new = self.is_new_chunk();
        let trains = is_new || self.chunks <= FIRST || self.chunks.is_power_of_two();
        let before = self.packing.take().map(|(packing, then)| (packing.cost(texts, &sample), packing, then));
        self.packing = match before {
            Some((now, packing, then)) if !trains && now.is_near(then) => Some((packing, then)),
            Some((now, packing, _)) => {
                let allowed = if is_new { allowed } else { allowed.common(packing.kind()) };
                let new = Packing::train(texts, &sample, allowed);
                new.filter(|(_, cost)| cost.bits < now.bits).or(Some((packing, now)))
            }
            None => Packing::train(texts, &sample, allowed),
        };
        self.packing.as_ref().map(|(packing, _)| packing)
    }
}

/// What replaces parts of texts.
#[derive(Debug)]
pub(super) enum Packing {
    Symbols(Box<fsst::Table>),
    Tokens(onpair::Dictionary),
}

/// Size of packed texts in bits, and how many bytes they had.
#[derive(Clone, Copy, Debug)]
struct Cost {
    bits: u64,
    bytes: u64,
}

impl Cost {
    /// Returns whether texts are packed about as well as others were.
    const fn is_near(self, other: Cost) -> bool {
        let (now, then) = (self.bits.saturating_mul(other.bytes), other.bits.saturating_mul(self.bytes));
        now <= then.saturating_add(then / 32)
    }
}

impl Packing {
    /// Returns the better of both ways for the texts, and what it costs for the sample.
    fn train(texts: &Texts<'_>, sample: &Texts<'_>, allowed: Encodings) -> Option<(Self, Cost)> {
        let with_cost = |packing: Packing| {
            let cost = packing.cost(texts, sample);
            (packing, cost)
        };
        let symbols = || with_cost(Packing::Symbols(Box::new(fsst::Table::train(texts))));
        let tokens = || with_cost(Packing::Tokens(onpair::Dictionary::train(texts, TOKEN_BITS)));
        match (allowed.has(Encoding::Fsst), allowed.has(Encoding::OnPair)) {
            (true, false) => Some(symbols()),
            (false, true) => Some(tokens()),
            (false, false) => None,
            (true, true) => {
                let (symbols, tokens) = (symbols(), tokens());
                Some(if tokens.1.bits < symbols.1.bits { tokens } else { symbols })
            }
        }
    }

    /// Returns the encodings that pack in the same way.
    const fn kind(&self) -> Encodings {
        match self {
            Packing::Symbols(_) => Encodings::BASIC.with(Encoding::Fsst),
            Packing::Tokens(_) => Encodings::BASIC.with(Encoding::OnPair),
        }
    }

    /// Returns the cost of a sample of texts. All texts share the tokens, of which there are many, and the symbols, of which
    /// there are few.
    fn cost(&self, texts: &Texts<'_>, sample: &Texts<'_>) -> Cost {
        let mut ends = Vec::new();
        let bits = match self {
            Packing::Symbols(table) => {
                let mut codes = Vec::new();
                table.encode(sample, &mut codes, &mut ends);
                (codes.len() as u64).saturating_mul(8)
            }
            Packing::Tokens(table) => {
                let mut codes = Vec::new();
                table.encode(sample, &mut codes, &mut ends);
                let stored = table.bytes().len().saturating_add(table.offsets().len()) as u64;
                let stored = stored.saturating_mul(8).saturating_mul(sample.total() as u64);
                let share = stored.checked_div(texts.total() as u64).unwrap_or(stored);
                // The highest code, as there is an offset more than tokens.
                let width = bits((table.offsets().len() as u64).saturating_sub(2));
                (codes.len() as u64).saturating_mul(width.into()).saturating_add(share)
            }
        };
        Cost { bits, bytes: sample.total() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// Joined texts and their offsets.
    fn joined(texts: impl Iterator<Item = alloc::string::String>) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::from([0]));
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(u32::try_from(bytes.len()).unwrap());
        }
        (bytes, offsets)
    }

    #[test]
    fn a_packing_stays_until_texts_are_unlike_those_before() {
        let allowed = Encodings::BASIC.with(Encoding::OnPair);
        let chunk = |k: u64, word: &str| {
            let number = move |i: u64| (i + k * 20_000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            joined((0..20_000).map(move |i| format!("GET /{word}/{}/{word}", number(i))))
        };
        let (mut learned, mut tokens) = (Learned::default(), Vec::new());
        for k in 1..=7 {
            let (bytes, offsets) = chunk(k, if k < 6 { "building" } else { "telescope" });
            let texts = Texts::new(&bytes, &offsets).unwrap();
            let Some(Packing::Tokens(table)) = learned.packing(&texts, allowed) else { panic!("no tokens") };
            tokens.push(table.bytes().to_vec());
        }
        assert!(tokens[3] == tokens[4] && tokens[4] != tokens[5] && tokens[5] == tokens[6]);
    }

    #[test]
    fn the_width_of_codes_is_that_of_the_highest() {
        // Without texts to learn from, the tokens are the single bytes.
        let bytes: Vec<u8> = (0..2000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 11).to_le_bytes()[0]).collect();
        let texts = Texts::new(&bytes, &[0, 2000]).unwrap();
        let dictionary = onpair::Dictionary::train(&Texts::new(&bytes, &[0]).unwrap(), 9);
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        dictionary.encode(&texts, &mut codes, &mut ends);
        let stored = (dictionary.bytes().len() + dictionary.offsets().len()) as u64 * 8;
        assert_eq!(Packing::Tokens(dictionary).cost(&texts, &texts).bits, codes.len() as u64 * 8 + stored);
    }
}
