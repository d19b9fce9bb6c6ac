//! The high-compression encoder: hash chains, and the cheapest choice of the matches found.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Block, LAST_END, LAST_START, MIN, max_len};
use crate::bytes::{len32, low16};
use crate::codec::greedy::{Put, Wire as _, common};
use crate::codec::lz::{chunk, no_room};
use crate::error::Result;

/// Number of positions planned at once; no match extends past them.
const PLANNED: usize = 1 << 14;
/// Distances fit two bytes.
const WINDOW: usize = 1 << 16;
const HASH_BITS: u32 = 16;
/// The link of a position without a predecessor: the distance [`WINDOW`], so that one comparison ends a search.
const NONE: u16 = u16::MAX;
/// The head of position 0.
const FIRST: u32 = 1 << 16;
/// Length from which a match ends the plan.
const LONG: usize = 512;
/// Number of positions at the end of a long match that are searched for later.
const KEPT: usize = 64;
/// Number of bytes at the end of a match where a better one is searched for.
const SEARCHED: usize = 3;
/// Number of candidates at the first of these positions, if none is longer than [`MIN`] bytes. Most of that match is known
/// then, so the chain is long and of little use. Without this limit, numbers as they are take up to 1.3 times as long, and
/// are at most 0.1 % smaller.
const POOR: u32 = 4;
/// Maximum number of bytes by which a better match may begin before the position where it was found.
const WIDER: usize = 128;

/// Encodes a block as small as possible, with at most 512 KB of memory from the heap. Returns its length in
/// bytes.
///
/// `level` is 1 to 12; each step doubles the search. The result is an ordinary block.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the block does not fit (`need`: a sufficient length).
///
/// ```
/// use pilaster::unstable::codec::lz4;
///
/// let text = b"once upon a time, upon a time, a time";
/// let mut block = [0; lz4::max_len(37)];
/// let len = lz4::encode_hc(text, &mut block, 9)?;
/// assert!(len < text.len());
/// let mut bytes = [0; 37];
/// assert_eq!(lz4::decode(&block[..len], &mut bytes)?, 37);
/// assert_eq!(bytes, *text);
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn encode_hc(src: &[u8], dst: &mut [u8], level: u8) -> Result<usize> {
    let mut wire = Block(Put::new(dst));
    match blocks(src, 1u32 << level.clamp(1, 12).wrapping_sub(1), &mut wire) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

fn blocks(src: &[u8], depth: u32, wire: &mut Block<'_>) -> Option<()> {
    // Heads are 32 bits.
    u32::try_from(src.len()).ok()?;
    let mut chains = Chains::new(src.len());
    let mut plan = Vec::with_capacity(PLANNED.min(src.len()).wrapping_add(1));
    let (mut first, mut literals) = (0usize, 0usize);
    while first < src.len() {
        let long = find(src, first, depth, &mut chains, &mut plan)?;
        // Random bytes have no matches.
        if plan.iter().any(|node| node.len > 0) {
            choose(&mut plan)?;
            literals = write(src, first, literals, &plan, wire)?;
        }
        first = first.wrapping_add(plan.len());
        if let Some(Long { len, distance }) = long {
            wire.sequence(src, literals, first, distance, len)?;
            first = first.wrapping_add(len);
            literals = first;
        }
    }
    wire.end(src, literals)
}

/// Writes the chosen matches of a plan. Returns the position after the last one.
fn write(src: &[u8], first: usize, mut literals: usize, plan: &[Node], wire: &mut Block<'_>) -> Option<usize> {
    let mut at = 0usize;
    while let Some(node) = plan.get(at) {
        if node.len == 0 {
            at = at.wrapping_add(1);
            continue;
        }
        let start = first.wrapping_add(at);
        wire.sequence(src, literals, start, node.distance as usize, node.len as usize)?;
        at = at.wrapping_add(node.len as usize);
        literals = first.wrapping_add(at);
    }
    Some(literals)
}

/// A match that ends a plan, and follows it.
struct Long {
    len: usize,
    distance: usize,
}

/// A position of the plan: first the longest match found that begins here (length 0: none), then the chosen
/// one. The cost is in bytes, from here to the end of the plan.
#[derive(Clone, Copy, Default)]
struct Node {
    len: u16,
    distance: u16,
    cost: u32,
}

impl Node {
    /// Creates the node of a match of less than [`LONG`] + [`WIDER`] bytes.
    const fn of(len: usize, distance: usize) -> Self {
        Node { len: low16(len), distance: low16(distance), cost: 0 }
    }
}

/// Positions by hash. Heads are positions + [`FIRST`] modulo 2^32, so that the zeros of an empty table are too far away. Links are distances
/// minus 1, or [`NONE`].
struct Chains {
    heads: Vec<u32>,
    back: Vec<u16>,
    /// Number of bits by which a product is shifted to get a hash.
    shift: u32,
}

impl Chains {
    /// Creates chains for `len` positions; short inputs get small tables.
    fn new(len: usize) -> Self {
        let bits = len.max(1).next_power_of_two().ilog2().min(HASH_BITS);
        let places = WINDOW.min(len.next_power_of_two());
        Chains { heads: vec![0; 1 << bits], back: vec![NONE; places], shift: 32u32.wrapping_sub(bits) }
    }

    /// Inserts the position. Returns the distance to the previous one of its chain, or [`WINDOW`].
    #[inline(always)]
    fn insert(&mut self, src: &[u8], at: usize) -> Option<usize> {
        self.insert_word(word(src, at)?, at)
    }

    #[inline(always)]
    fn insert_word(&mut self, word: u32, at: usize) -> Option<usize> {
        let head = self.heads.get_mut((word.wrapping_mul(0x9e37_79b1) >> self.shift) as usize)?;
        let now = len32(at).wrapping_add(FIRST);
        let link = u16::try_from(now.wrapping_sub(1).wrapping_sub(core::mem::replace(head, now))).unwrap_or(NONE);
        let places = self.back.len().wrapping_sub(1);
        *self.back.get_mut(at & places)? = link;
        Some(usize::from(link).wrapping_add(1))
    }

    /// Inserts positions that are not searched for.
    #[inline(always)]
    fn skip(&mut self, src: &[u8], positions: Range<usize>) -> Option<()> {
        let Some(bytes) = src.get(positions.start..positions.end.wrapping_add(3)) else { return Some(()) };
        for (at, four) in positions.zip(bytes.windows(4)) {
            self.insert_word(u32::from_le_bytes(*four.first_chunk()?), at)?;
        }
        Some(())
    }

    /// Returns length and distance of the longest match at `at` that does not extend past `end`. `INSIDE`: at the first position
    /// at the end of a match.
    #[inline(always)]
    fn longest<const INSIDE: bool>(
        &self,
        src: &[u8],
        at: usize,
        mut total: usize,
        end: usize,
        depth: u32,
    ) -> Option<(usize, usize)> {
        let places = self.back.len().wrapping_sub(1);
        let mut best = (MIN.wrapping_sub(1), 0);
        // A candidate can be better only if it agrees at the end of the best match so far and one byte
        // further.
        let mut last = word(src, at)?;
        let mut behind = 0usize;
        let mut tries = depth;
        while tries > 0 && total < WINDOW {
            tries = tries.wrapping_sub(1);
            let from = at.wrapping_sub(total);
            let link = usize::from(*self.back.get(from & places)?);
            if word(src, from.wrapping_add(behind)) == Some(last) {
                let len = length(src, at, total, end);
                if len > best.0 {
                    best = (len, total);
                    if at.wrapping_add(len) >= end {
                        break;
                    }
                    behind = len.wrapping_sub(3);
                    last = word(src, at.wrapping_add(behind))?;
                }
            }
            total = total.wrapping_add(link).wrapping_add(1);
            if INSIDE && depth.wrapping_sub(tries) == POOR && best.0 <= MIN {
                break;
            }
        }
        (best.1 > 0).then_some(best)
    }
}

/// Returns how many bytes are equal, like [`common`], which is for longer matches.
#[inline(always)]
fn length(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let behind = at.wrapping_add(8);
    let eight = |at: usize| Some(u64::from_le_bytes(*chunk(src, at)?));
    if behind <= end
        && let (Some(new), Some(old)) = (eight(at), eight(at.wrapping_sub(distance)))
    {
        return match new ^ old {
            0 => common(src, behind, distance, end).wrapping_add(8),
            differ => differ.trailing_zeros() as usize >> 3,
        };
    }
    common(src, at, distance, end)
}

/// Returns four bytes at `at`.
#[inline(always)]
fn word(src: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*chunk(src, at)?))
}

/// Plans positions from `first` on, up to a long match: finds the longest match of each. On its own, it has more registers: with the loop
/// that calls it, streams of numbers by bytes take 1.05 times as long.
#[inline(never)]
fn find(src: &[u8], first: usize, depth: u32, chains: &mut Chains, plan: &mut Vec<Node>) -> Option<Option<Long>> {
    let starts = src.len().saturating_sub(LAST_START);
    // Where the plan ends, and no match of it extends further.
    let stop = first.wrapping_add(PLANNED).min(src.len());
    let end = src.len().saturating_sub(LAST_END).min(stop);
    let limit = starts.min(stop);
    plan.clear();
    plan.resize(stop.wrapping_sub(first), Node::default());
    // The position, and the end of the last match.
    let (mut at, mut behind) = (first, first);
    while at < limit {
        let before = chains.insert(src, at)?;
        let left = behind.saturating_sub(at);
        let found = if left == SEARCHED {
            chains.longest::<true>(src, at, before, end, depth)
        } else {
            chains.longest::<false>(src, at, before, end, depth)
        };
        let Some((len, distance)) = found.filter(|(len, _)| *len > left) else {
            at = at.wrapping_add(1);
            continue;
        };
        if len >= LONG {
            return Some(Some(long(src, first, at, distance, chains, plan)?));
        }
        // No match begins at `limit` or after it, nor does the end of one.
        note(plan.get_mut(at.wrapping_sub(first)..limit.wrapping_sub(first))?, len, distance);
        widen(src, first, at, (len, distance), plan)?;
        behind = at.wrapping_add(len);
        let next = behind.wrapping_sub(SEARCHED).min(limit);
        chains.skip(src, at.wrapping_add(1)..next)?;
        at = next;
    }
    Some(None)
}

/// Enters a match and its ends of at least [`MIN`] bytes in the nodes from its start on.
#[inline(always)]
fn note(nodes: &mut [Node], len: usize, distance: usize) {
    let mut rest = len;
    for node in nodes.iter_mut().take(len.wrapping_sub(MIN - 1)) {
        *node = Node::of(rest, distance);
        rest = rest.wrapping_sub(1);
    }
}

/// Ends a plan before a long match, which begins as early and ends as late as its bytes are equal. Of its positions, only the last
/// ones are searched for later: those before them equal others, and in a run they would fill the chain.
fn long(
    src: &[u8],
    first: usize,
    at: usize,
    distance: usize,
    chains: &mut Chains,
    plan: &mut Vec<Node>,
) -> Option<Long> {
    let end = at.wrapping_add(common(src, at, distance, src.len().saturating_sub(LAST_END)));
    let mut start = at;
    while start > first.max(distance)
        && src.get(start.wrapping_sub(1)) == src.get(start.wrapping_sub(distance).wrapping_sub(1))
    {
        start = start.wrapping_sub(1);
    }
    plan.truncate(start.wrapping_sub(first));
    let starts = src.len().saturating_sub(LAST_START);
    chains.skip(src, end.wrapping_sub(KEPT).max(at.wrapping_add(1))..end.min(starts))?;
    Some(Long { len: end.wrapping_sub(start), distance })
}

/// Lets a match begin earlier, where only a shorter one was found.
fn widen(src: &[u8], first: usize, at: usize, (mut len, distance): (usize, usize), plan: &mut [Node]) -> Option<()> {
    let start = first.max(distance).max(at.saturating_sub(WIDER)).min(at);
    let new = src.get(start..at)?;
    let old = src.get(start.wrapping_sub(distance)..at.wrapping_sub(distance))?;
    let nodes = plan.get_mut(start.wrapping_sub(first)..at.wrapping_sub(first))?;
    for ((node, new), old) in nodes.iter_mut().zip(new).zip(old).rev() {
        len = len.wrapping_add(1);
        if new != old || usize::from(node.len) >= len {
            break;
        }
        *node = Node::of(len, distance);
    }
    Some(())
}

/// Replaces the matches found by the choice that costs the fewest bytes, starting at the end. A match is used
/// entirely or not at all, because the bytes after its end cost no more than the bytes after an earlier
/// position.
fn choose(plan: &mut [Node]) -> Option<()> {
    let last = plan.len();
    // Number of literals that begin at the position, and the cost of all bytes from there to the end.
    let (mut run, mut rest) = (0u32, 0u32);
    for at in (0..last).rev() {
        run = run.wrapping_add(1);
        // A run of literals takes another byte at length 15. The further ones, after every 255, are left out: they hardly change
        // the choice.
        rest = rest.wrapping_add(1).wrapping_add(u32::from(run == 15));
        let found = plan.get(at)?.len;
        let mut chosen = 0;
        // Most positions have no match.
        if usize::from(found) >= MIN {
            // Matches before a long one may extend into it.
            let len = low16(usize::from(found).min(last.wrapping_sub(at)));
            let behind = plan.get(at.wrapping_add(len.into())).map_or(0, |node| node.cost);
            let cost = behind.wrapping_add(3).wrapping_add(length_bytes(len));
            if usize::from(len) >= MIN && cost < rest {
                (chosen, run, rest) = (len, 0, cost);
            }
        }
        let node = plan.get_mut(at)?;
        (node.len, node.cost) = (chosen, rest);
    }
    Some(())
}

/// Returns the number of bytes that the length of a match takes in addition to the token.
fn length_bytes(len: u16) -> u32 {
    match usize::from(len).checked_sub(MIN + 15) {
        Some(rest) => u32::try_from(rest / 255).unwrap_or(0).wrapping_add(1),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;
    use crate::codec::{HashTable, tests as check};

    #[test]
    fn round_trips_at_every_level() {
        for bytes in check::samples() {
            for level in [9, 0, 2, 255] {
                // The other levels differ only in the depth of the search.
                if level != 9 && bytes.len() > 5000 {
                    break;
                }
                let block = check::encoded(max_len(bytes.len()), |dst| encode_hc(&bytes, dst, level));
                check::decodes(decode, &block, &bytes);
                assert_eq!(lz4_flex::block::decompress(&block, bytes.len()).unwrap(), bytes, "the rival reads ours");
            }
        }
    }

    #[test]
    fn a_long_match_is_one_sequence() {
        let text = check::text(3000);
        let mut bytes = text.clone();
        bytes.resize(800_000, 0);
        let encoded = |bytes: &[u8]| check::encoded(max_len(bytes.len()), |dst| encode_hc(bytes, dst, 9));
        let block = encoded(&bytes);
        // A length takes a byte for each 255 bytes; a sequence a token and a distance.
        let most = encoded(&text).len() + bytes.len() / 255 + 30;
        assert!(block.len() < most, "{} of {most}", block.len());
        let mut decoded = vec![1; bytes.len()];
        assert_eq!(decode(&block, &mut decoded), Ok(bytes.len()));
        assert!(decoded == bytes);
    }

    #[test]
    fn the_longest_distance_is_found() {
        let bytes = check::noise(1 << 16);
        for (distance, is_found) in [(WINDOW - 2, true), (WINDOW - 1, true), (WINDOW, false)] {
            let twice: Vec<u8> = bytes[..distance].iter().chain(&bytes[..1000]).copied().collect();
            let block = check::encoded(max_len(twice.len()), |dst| encode_hc(&twice, dst, 9));
            check::decodes(decode, &block, &twice);
            assert_eq!(block.len() < twice.len(), is_found, "{distance}");
        }
    }

    /// The original refuses a block whose last match begins less than 12 bytes, or ends less than 5 bytes, before its end.
    #[test]
    fn the_last_match_keeps_its_distance_from_the_end() {
        let (mut state, mut matches) = (1u32, 0);
        for letters in [2, 3, 5] {
            for len in 20..500 {
                // Random words of few letters, so that matches overlap.
                let mut letter = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16) % letters
                };
                let bytes: Vec<u8> = (0..len).map(|_| letter() as u8).collect();
                let block = check::encoded(max_len(bytes.len()), |dst| encode_hc(&bytes, dst, 9));
                // The position in the block, and in the bytes.
                let (mut at, mut to) = (0, 0);
                let length = |at: &mut usize, nibble: u8| {
                    let mut len = usize::from(nibble);
                    while len >= 15 && (len - 15).is_multiple_of(255) {
                        let more = block[*at];
                        (*at, len) = (*at + 1, len + usize::from(more));
                        if more < 255 {
                            break;
                        }
                    }
                    len
                };
                while at < block.len() {
                    let token = block[at];
                    at += 1;
                    let literals = length(&mut at, token >> 4);
                    (at, to) = (at + literals, to + literals);
                    if at < block.len() {
                        at += 2;
                        assert!(
                            to + LAST_START <= bytes.len(),
                            "{letters} letters, {len} bytes: a match begins at {to}"
                        );
                        to += length(&mut at, token & 15) + MIN;
                        assert!(to + LAST_END <= bytes.len(), "{letters} letters, {len} bytes: a match ends at {to}");
                        matches += 1;
                    }
                }
                assert_eq!(to, bytes.len());
            }
        }
        assert!(matches > 1000, "{matches}");
    }

    #[test]
    fn smaller_than_greedy() {
        let bytes = check::text(200_000);
        let greedy = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst, &mut HashTable::<65_536>::new()));
        let hc = check::encoded(max_len(bytes.len()), |dst| encode_hc(&bytes, dst, 9));
        assert!(hc.len() * 10 < greedy.len() * 9, "{} of {}", hc.len(), greedy.len());
        check::every_room(&check::encoded(400, |dst| encode_hc(&bytes[..300], dst, 9)), max_len(300), |dst| {
            encode_hc(&bytes[..300], dst, 9)
        });
    }
}
