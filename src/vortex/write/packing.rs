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

/// Bytes of the sample by which packings are compared, and of one text in it.
const SAMPLE: usize = 1 << 15;
const LONGEST: usize = 1 << 12;

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

    /// Returns the packing of texts: the one before if it is as good for them, else a new one; `None` if none is
    /// allowed.
    pub fn packing(&mut self, texts: &Texts<'_>, allowed: Encodings) -> Option<&Packing> {
        let sample = Sample::of(texts, SAMPLE, LONGEST);
        let sample = sample.texts()?;
        let is_new = self.is_new_chunk();
        let is_good = |(packing, then): &(Packing, Cost)| packing.cost(&sample).is_near(*then);
        if is_new || !self.packing.as_ref().is_some_and(is_good) {
            self.packing = Packing::train(texts, &sample, allowed);
        }
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
            let cost = packing.cost(sample);
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
                // All texts share the tokens, of which there are many, and the symbols, of which there are few.
                let stored = tokens.0.stored().saturating_mul(sample.total() as u64);
                let share = stored.checked_div(texts.total() as u64).unwrap_or(stored);
                Some(if tokens.1.bits.saturating_add(share) < symbols.1.bits { tokens } else { symbols })
            }
        }
    }

    fn cost(&self, sample: &Texts<'_>) -> Cost {
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
                (codes.len() as u64).saturating_mul(bits(table.offsets().len() as u64).into())
            }
        };
        Cost { bits, bytes: sample.total() as u64 }
    }

    /// Returns the size of the tokens in bits.
    fn stored(&self) -> u64 {
        match self {
            Packing::Symbols(_) => 0,
            Packing::Tokens(table) => {
                (table.bytes().len().saturating_add(table.offsets().len()) as u64).saturating_mul(8)
            }
        }
    }
}
