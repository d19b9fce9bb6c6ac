//! The encoder: hash chains, lazy matches, and blocks that end where the frequencies change.

mod block;
mod chains;
mod codes;

use alloc::vec;

use self::block::{Block, stored};
use self::chains::{Chains, HASHED, MEMORY, Match};
use crate::codec::bit_writer::Bits;
use crate::codec::greedy::Put;
use crate::hash::adler32;

/// How thoroughly matches are searched for.
#[derive(Clone, Copy)]
struct Plan {
    /// Maximum number of positions that are compared.
    depth: u32,
    /// Length from which no better match is searched for.
    nice: usize,
    /// Number of positions after a match at which a better one is searched for.
    lazy: u32,
}

const fn plan(level: u8) -> Plan {
    let (depth, nice, lazy) = match level {
        0 | 1 => (2, 16, 0),
        2 => (4, 32, 0),
        3 => (12, 48, 0),
        4 => (16, 30, 1),
        5 => (24, 48, 1),
        6 => (35, 65, 1),
        7 => (100, 130, 1),
        8 => (300, 258, 2),
        9 => (600, 258, 2),
        _ => (1500, 258, 2),
    };
    Plan { depth, nice, lazy }
}

/// Writes a stream of zlib. `None` if it does not fit.
pub(super) fn stream(src: &[u8], level: u8, out: &mut Put<'_>) -> Option<()> {
    // The second byte names the level, and makes both a multiple of 31.
    out.array(match level {
        0..=1 => [0x78, 0x01],
        2..=5 => [0x78, 0x5e],
        6 => [0x78, 0x9c],
        _ => [0x78, 0xda],
    })?;
    let mut bits = Bits::new(out);
    if level == 0 {
        stored(src, true, &mut bits)?;
    } else {
        blocks(src, plan(level), &mut bits)?;
    }
    bits.finish()?;
    out.array(adler32(src).to_be_bytes())
}

/// Writes all blocks.
fn blocks(src: &[u8], plan: Plan, bits: &mut Bits<'_>) -> Option<()> {
    let mut memory = vec![0u16; MEMORY];
    let mut chains = Chains::new(&mut memory)?;
    let mut block = Block::new(src);
    // A search reads the bytes that are hashed.
    let last = src.len().saturating_sub(HASHED.wrapping_sub(1));
    let mut at = 0usize;
    while at < last {
        let first = chains.longest(src, at, plan.depth, plan.nice, 0)?;
        if first.len == 0 {
            block.literal(*src.get(at)?, bits)?;
            at = at.wrapping_add(1);
            continue;
        }
        let (start, found, next) = later(src, (at, first), last, plan, &mut chains)?;
        for literal in src.get(at..start)? {
            block.literal(*literal, bits)?;
        }
        block.repeat(found, bits)?;
        at = start.wrapping_add(found.len);
        chains.skip(src, next..at.min(last))?;
    }
    for literal in src.get(at..)? {
        block.literal(*literal, bits)?;
    }
    block.end(true, bits)
}

/// Returns the position of a match, or of one soon after it that saves more, that match, and the first position that is not in the
/// chains.
#[inline(always)]
fn later(
    src: &[u8],
    (mut at, mut found): (usize, Match),
    last: usize,
    plan: Plan,
    chains: &mut Chains<'_>,
) -> Option<(usize, Match, usize)> {
    let (mut next, mut tries) = (at.wrapping_add(1), 0);
    while tries < plan.lazy && found.len < plan.nice && next < last {
        tries = tries.wrapping_add(1);
        // A search that succeeds seldom: half as thorough at the next position, and again at the one after it.
        let better = chains.longest(src, next, plan.depth >> tries, plan.nice, found.len.wrapping_sub(1))?;
        let price = if tries == 1 { 2 } else { 6 };
        if better.len > 0 && better.gain() > found.gain().wrapping_add(price) {
            (at, found, tries) = (next, better, 0);
        }
        next = next.wrapping_add(1);
    }
    Some((at, found, next))
}

#[cfg(test)]
mod tests {
    use crate::codec::deflate::{encode, max_len};
    use crate::codec::tests as check;
    use std::vec;
    use std::vec::Vec;

    /// Bytes with blocks that are stored, blocks of the fixed codes, and matches that are as far and as long as they may be.
    fn mixed() -> Vec<u8> {
        let noise = check::noise(70_000);
        let mut bytes = check::text(9000);
        bytes.extend(vec![0; 70_000]);
        bytes.extend(&noise);
        bytes.extend((0..30_000).map(|i| (i / 100 * 7 % 251) as u8));
        bytes.extend(&noise[noise.len() - 5000..]);
        bytes.extend(&bytes.clone()[bytes.len() - 32_768..][..300]);
        bytes
    }

    #[test]
    fn blocks_of_every_form_are_read() {
        let bytes = mixed();
        for level in 0..=10 {
            let mut stream = vec![0; max_len(bytes.len())];
            let len = encode(&bytes, &mut stream, level).unwrap();
            let read = miniz_oxide::inflate::decompress_to_vec_zlib(&stream[..len]).unwrap();
            assert!(read == bytes, "level {level}");
            // No noise takes more than its bytes and the heads of the blocks.
            assert!(len < if level == 0 { bytes.len() + 40 } else { 90_000 }, "level {level}: {len}");
            for room in [0, 1, 2, 100, len - 1] {
                assert!(encode(&bytes, &mut stream[..room], level).is_err(), "level {level}: {room} bytes");
            }
        }
    }

    #[test]
    fn noise_of_every_length_fits() {
        let noise = check::noise(3000);
        for len in (0..300).chain([1000, 2999]) {
            for level in [0, 1, 6, 9] {
                let mut stream = vec![0; max_len(len)];
                let end = encode(&noise[..len], &mut stream, level).unwrap();
                assert!(end <= len + 11, "{len} bytes take {end}");
                let read = miniz_oxide::inflate::decompress_to_vec_zlib(&stream[..end]).unwrap();
                assert_eq!(read, noise[..len]);
            }
        }
    }

    fn len_of(bytes: &[u8]) -> usize {
        let stream = check::encoded(max_len(bytes.len()), |dst| encode(bytes, dst, 9));
        check::decodes(decode_any, &stream, bytes);
        stream.len()
    }

    fn decode_any(src: &[u8], dst: &mut [u8]) -> crate::error::Result<usize> {
        use crate::bytes::Scratch;
        let mut memory = vec![0; crate::codec::deflate::WORKSPACE_LEN];
        crate::codec::deflate::decode(src, dst, &mut Scratch::new(&mut memory))
    }

    #[test]
    fn matches_are_as_far_as_the_format_allows() {
        let (piece, noise) = (check::noise(258), check::text(40_000));
        let far = |distance: usize| {
            let between = check::noise(40_000 + distance)[40_000..][..distance - piece.len()].to_vec();
            len_of(&[&piece[..], &between, &piece, &noise[..4]].concat())
        };
        let [inside, last, outside] = [32_767, 32_768, 32_769].map(far);
        assert!(last < inside + 20 && last + 200 < outside, "{inside}, {last}, {outside}");
    }

    /// Counts for which codes would have more than 15 bits.
    #[test]
    fn codes_are_as_long_as_the_format_allows() {
        let (mut bytes, mut counts) = (Vec::new(), (1usize, 1usize));
        for symbol in 0..22u8 {
            bytes.extend(vec![symbol.wrapping_mul(11); counts.0]);
            counts = (counts.1, counts.0 + counts.1);
        }
        // Shuffled, so that there are few matches.
        let mut at = 7u64;
        for i in (1..bytes.len()).rev() {
            at = at.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            bytes.swap(i, (at >> 33) as usize % (i + 1));
        }
        assert!(len_of(&bytes) < bytes.len() / 2);
    }

    /// A block of data that compresses well does not end before it differs from what it began with.
    #[test]
    fn a_log_is_few_blocks() {
        let log: Vec<u8> = (0..3000)
            .flat_map(|i| std::format!("{i:06} INFO request {} handled\n", i * 7919 % 1000).into_bytes())
            .collect();
        let stream = check::encoded(max_len(log.len()), |dst| encode(&log, dst, 6));
        let rival = miniz_oxide::deflate::compress_to_vec_zlib(&log, 9).len();
        assert!(stream.len() <= rival, "{} bytes, miniz {rival}", stream.len());
    }
}
