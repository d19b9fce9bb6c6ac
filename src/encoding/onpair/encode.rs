//! Encoding with a dictionary of tokens.

use alloc::vec::Vec;

use super::LONGEST;
use super::finder::Token;
use super::sorted::Sorted;
use crate::bytes::low32;
use crate::encoding::lanes;
use crate::encoding::texts::Texts;

/// A dictionary of tokens, owned: all single bytes, and frequent parts of texts.
#[derive(Clone, Debug)]
pub struct Dictionary {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    finder: Sorted,
}

impl Dictionary {
    /// Chooses tokens by a sample of the texts, the same ones in each run; at most as many as there are codes of `bits`
    /// bits. If fewer bits result in fewer bytes, there are fewer tokens. `bits` is 9 to 16, or becomes so.
    #[must_use]
    pub fn train(texts: &Texts<'_>, bits: u32) -> Self {
        Self::new(&super::train::tokens(texts, bits.clamp(9, 16)))
    }

    /// Creates a dictionary of sorted tokens.
    pub(super) fn new(tokens: &[Token]) -> Self {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(tokens.len().saturating_add(1)));
        offsets.push(0);
        for token in tokens {
            bytes.extend_from_slice(token.bytes.to_le_bytes().get(..token.len as usize).unwrap_or_default());
            // At most 2^16 tokens of 16 bytes.
            offsets.push(low32(bytes.len() as u64));
        }
        let last = offsets.len().checked_sub(2).and_then(|last| offsets.get(last)).map_or(0, |at| *at as usize);
        // Readers take 16 bytes at the start of each token.
        bytes.resize(last.saturating_add(LONGEST as usize), 0);
        let finder = Sorted::new(tokens);
        Dictionary { bytes, offsets, finder }
    }

    /// Returns the bytes of all tokens, and after them as many zeros as necessary for 16 bytes at the start of the last
    /// token.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offsets: token `c` is from offset `c` to offset `c + 1`. The tokens are in the
    /// order of their bytes, as readers of Vortex search them.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Appends the codes of all texts to `codes`: at most one for each byte of text. Appends to `ends` the number of
    /// codes up to the end of each text, counted from the first code that this call appends.
    pub fn encode(&self, texts: &Texts<'_>, codes: &mut Vec<u16>, ends: &mut Vec<u32>) {
        lanes::encode(&self.finder, texts, codes, ends);
    }
}
