//! The high-compression encoder.
//!
//! For each position, hash chains have the candidates of a match. After a match, a longer one that begins inside it is searched for.
//! Matches that overlap are a cluster. Its cheapest choice is written.

mod chains;
mod cluster;

use super::{Block, LAST_END, LAST_START, MIN, max_len};
use crate::codec::greedy::{Put, Wire as _};
use crate::codec::lz::no_room;
use crate::error::Result;
use chains::Chains;
use cluster::Cluster;

/// Length from which a match counts as long: no longer one is searched for inside it.
const LONG: usize = 512;
/// Number of positions at the end of a long match that are inserted in the chains. Those before them equal others, and in a run they
/// would fill a chain.
const KEPT: usize = 64;

/// Encodes a block as small as possible, with at most 400 KB of memory from the heap. Returns its length in
/// bytes.
///
/// `level` is 1 to 12; each step doubles the search. The result is an ordinary block.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the block does not fit (`need`: a sufficient length), or if `src` is 4 GiB or longer.
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
    match encode_block(src, 1u32 << level.clamp(1, 12).wrapping_sub(1), &mut wire) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

fn encode_block(src: &[u8], depth: u32, wire: &mut Block<'_>) -> Option<()> {
    // The positions in the chains are 32 bits.
    u32::try_from(src.len()).ok()?;
    let starts = src.len().saturating_sub(LAST_START);
    let ends = src.len().saturating_sub(LAST_END);
    let mut chains = Chains::new(src.len());
    let mut cluster = Cluster::new(starts);
    // Start and end of the last match, without the bytes that the match before it covers, if that one is likely to be used.
    let (mut begun, mut behind) = (0usize, 0usize);
    let mut at = 0usize;
    while at < starts {
        let nearest = chains.insert(src, at)?;
        let inside = at < behind;
        let found = if inside {
            chains.wider(src, at, nearest, depth, ends, begun..behind)
        } else {
            chains.longest(src, at, nearest, depth, ends)
        };
        let Some(found) = found else {
            let next = behind.max(at.wrapping_add(1));
            chains.skip(src, at.wrapping_add(1)..next.min(starts))?;
            at = next;
            continue;
        };
        if !inside {
            cluster.write(src, wire)?;
        }
        let (start, end) = (found.start as usize, found.end as usize);
        let is_long = end.wrapping_sub(start) >= LONG;
        // The match before it is likely to be used if at least three of its bytes, as many as a match takes, are left to it.
        let is_apart = start >= begun.wrapping_add(3);
        begun = if is_apart { start.max(behind).min(end.wrapping_sub(MIN)) } else { start };
        behind = end;
        cluster.push(found);
        // A longer match is searched for three bytes before the end of a match after such a one, and two before the end of another
        // one: with two everywhere, doubles take 0.5 % more bytes, with three, lines of a log 2 %.
        let next = match (is_long || cluster.is_full(), inside && is_apart) {
            (true, _) => end,
            (false, true) => end.wrapping_sub(3),
            (false, false) => end.wrapping_sub(2),
        };
        let next = next.max(at.wrapping_add(1));
        let kept = if is_long { end.wrapping_sub(KEPT) } else { 0 };
        chains.skip(src, kept.max(at.wrapping_add(1))..next.min(starts))?;
        at = next;
    }
    cluster.write(src, wire)?;
    wire.end(src, cluster.literals)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::{decode, encode};
    use super::chains::WINDOW;
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
