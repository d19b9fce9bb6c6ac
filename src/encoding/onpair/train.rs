//! The choice of tokens: a sample is encoded once with the tokens so far, and two adjacent tokens become a
//! new one as soon as they have come together often enough. Tokens that the finished dictionary would use too
//! rarely are then dropped.

use alloc::vec;
use alloc::vec::Vec;

use super::LONGEST;
use super::finder::{Finder, Token, window};
use super::sorted::Sorted;
use crate::bytes::low32;
use crate::encoding::lanes;
use crate::encoding::texts::{Sample, Texts};

/// Bytes of the sample: all up to this number, else this number and a share of the others.
const LEAST: usize = 1 << 16;
const SHARE: usize = 24;

/// How often a pair is seen before it becomes a token, at least.
const TWICE: u32 = 2;

/// Bits of the dictionary per token, beside its bytes.
const OFFSET: f64 = 12.0;

/// Returns the tokens for texts, in the order of their bytes. All single bytes are among them.
pub(super) fn tokens(texts: &Texts<'_>, bits: u32) -> Vec<Token> {
    let total = texts.total();
    let budget = LEAST.saturating_add(total.saturating_sub(LEAST).checked_div(SHARE).unwrap_or(0));
    let sample = Sample::of(texts, budget, 1 << 12);
    let Some(part) = sample.texts() else { return Vec::new() };
    let finder = joined(&part, 1 << bits);
    let scale = total as f64 / part.total().max(1) as f64;
    kept(&finder, &part, scale, bits)
}

/// How often pairs were seen, approximately: pairs share places.
struct Pairs {
    places: Vec<(u32, u32)>,
}

impl Pairs {
    const BITS: u32 = 16;

    fn seen(&mut self, before: u16, number: u16) -> u32 {
        let key = u32::from(before) << 16 | u32::from(number);
        let at = key.wrapping_mul(0x9e37_79b1) >> (32 - Self::BITS);
        let Some((pair, count)) = self.places.get_mut(at as usize) else { return 0 };
        if *pair == key {
            *count = count.saturating_add(1);
        } else if *count > 1 {
            *count = count.saturating_sub(1);
            return 1;
        } else {
            (*pair, *count) = (key, 1);
        }
        *count
    }

    fn forget(&mut self, before: u16, number: u16) {
        let key = u32::from(before) << 16 | u32::from(number);
        let at = key.wrapping_mul(0x9e37_79b1) >> (32 - Self::BITS);
        if let Some(place) = self.places.get_mut(at as usize) {
            *place = (0, 0);
        }
    }
}

/// Returns at most `most` tokens.
fn joined(sample: &Texts<'_>, most: usize) -> Finder {
    let mut finder = Finder::new(most);
    for byte in 0..=255u8 {
        finder.push(Token { bytes: byte.into(), len: 1 });
    }
    let mut pairs = Pairs { places: vec![(0, 0); 1 << Pairs::BITS] };
    let (total, singles) = (sample.total().max(1), finder.len());
    let (mut threshold, mut done) = (TWICE, 0usize);
    for i in 0..sample.len() {
        let text = sample.get(i);
        let mut at = 0usize;
        let mut before: Option<(u16, u32)> = None;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let found = finder.find(window(rest), rest.len());
            let mut now = (found.number, found.len);
            if let Some((number, len)) = before
                && len.wrapping_add(found.len) <= LONGEST
                && pairs.seen(number, found.number) >= threshold
            {
                if finder.len() >= most {
                    return finder;
                }
                pairs.forget(number, found.number);
                let shift = len.wrapping_mul(8);
                let bytes = finder.token(number).bytes | finder.token(found.number).bytes << shift;
                let joined = len.wrapping_add(found.len);
                now = (u16::try_from(finder.len()).unwrap_or(u16::MAX), joined);
                finder.push(Token { bytes, len: joined });
            }
            before = Some(now);
            at = at.saturating_add(found.len as usize);
        }
        // If tokens are found faster than the sample passes, they have to be more frequent.
        done = done.saturating_add(text.len());
        let found = finder.len().saturating_sub(singles) as f64 / most.saturating_sub(singles) as f64;
        let ahead = found > done as f64 / total as f64;
        threshold = if ahead { threshold.saturating_add(1) } else { threshold.saturating_sub(1).max(TWICE) };
    }
    finder
}

/// Returns the tokens that save more bytes than they take, of a number that makes the dictionary and the codes shortest.
fn kept(finder: &Finder, sample: &Texts<'_>, scale: f64, bits: u32) -> Vec<Token> {
    let mut all: Vec<Token> = (0..=u16::MAX).take(finder.len()).map(|number| finder.token(number)).collect();
    all.sort_unstable_by_key(Token::order);
    let mut uses = vec![0u32; all.len()];
    let sorted = Sorted::new(&all);
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    lanes::encode(&sorted, sample, &mut codes, &mut ends);
    for number in &codes {
        if let Some(uses) = uses.get_mut(usize::from(*number)) {
            *uses = uses.saturating_add(1);
        }
    }
    let mut all: Vec<(u32, Token)> = uses.into_iter().zip(all).collect();
    // Single bytes first, which are always kept, then by use.
    all.sort_by_key(|(uses, token)| (token.len > 1, core::cmp::Reverse(*uses)));
    let mut best = (f64::MAX, Vec::new());
    for bits in 9..=bits {
        let width = f64::from(bits);
        // Without the token there is at least one more code for each use.
        let pays = |(uses, token): &(u32, Token)| {
            token.len == 1 || f64::from(*uses) * scale * width > f64::from(token.len.wrapping_mul(8)) + OFFSET
        };
        let count = all.iter().take(1 << bits).take_while(|token| pays(token)).count();
        let (used, dropped) = all.split_at(count);
        let mut tokens: Vec<Token> = used.iter().map(|(_, token)| *token).collect();
        tokens.sort_unstable_by_key(Token::order);
        let mut codes = used.iter().fold(0u64, |sum, (uses, _)| sum.saturating_add((*uses).into()));
        codes = codes.saturating_add(replaced(dropped, &Sorted::new(&tokens)));
        // A token was chosen by the sample, so other texts have fewer of it: one use less. Without this, 2,048 tokens looked
        // better than the 1,024 that made paths 4 % smaller.
        codes = codes.saturating_add(tokens.iter().filter(|token| token.len > 1).count() as u64);
        let bytes = tokens.iter().fold(0u32, |sum, token| sum.saturating_add(token.len));
        let size = codes as f64 * scale * width + f64::from(bytes) * 8.0 + count as f64 * OFFSET;
        if size < best.0 {
            best = (size, tokens);
        }
        if all.len() <= 1 << bits {
            break;
        }
    }
    best.1
}

/// Returns how many codes the texts of dropped tokens take.
fn replaced(dropped: &[(u32, Token)], by: &Sorted) -> u64 {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::from([0u32]));
    for (_, token) in dropped {
        bytes.extend_from_slice(token.bytes.to_le_bytes().get(..token.len as usize).unwrap_or_default());
        // At most 2^16 tokens of 16 bytes.
        offsets.push(low32(bytes.len() as u64));
    }
    let Some(texts) = Texts::new(&bytes, &offsets) else { return 0 };
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    lanes::encode(by, &texts, &mut codes, &mut ends);
    let mut before = 0;
    dropped.iter().zip(ends).fold(0u64, |sum, ((uses, _), end)| {
        let count = end.saturating_sub(core::mem::replace(&mut before, end));
        sum.saturating_add(u64::from(*uses).saturating_mul(count.into()))
    })
}
