//! XXH64. Its low half is the checksum of Zstandard frames.

const PRIMES: [u64; 5] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63, 0x27d4_eb2f_1656_67c5];

/// Returns the XXH64 of `bytes`.
///
/// ```
/// use pilaster::unstable::hash::xxh64;
///
/// assert_eq!(xxh64(0, b"abc"), 0x44bc_2cf5_ad77_0999);
/// ```
#[must_use]
pub fn xxh64(seed: u64, bytes: &[u8]) -> u64 {
    let [p1, p2, p3, p4, p5] = PRIMES;
    let (stripes, rest) = bytes.as_chunks::<32>();
    let mut hash = if stripes.is_empty() {
        seed.wrapping_add(p5)
    } else {
        let mut lanes = [seed.wrapping_add(p1).wrapping_add(p2), seed.wrapping_add(p2), seed, seed.wrapping_sub(p1)];
        for stripe in stripes {
            let (words, _) = stripe.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let [a, b, c, d] = lanes;
        let joined = a.rotate_left(1).wrapping_add(b.rotate_left(7));
        let joined = joined.wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18));
        lanes.iter().fold(joined, |hash, lane| (hash ^ round(0, *lane)).wrapping_mul(p1).wrapping_add(p4))
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash = (hash ^ round(0, u64::from_le_bytes(*word))).rotate_left(27).wrapping_mul(p1).wrapping_add(p4);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let half = u64::from(u32::from_le_bytes(*half)).wrapping_mul(p1);
        hash = (hash ^ half).rotate_left(23).wrapping_mul(p2).wrapping_add(p3);
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte).wrapping_mul(p5)).rotate_left(11).wrapping_mul(p1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(p2);
    hash = (hash ^ hash >> 29).wrapping_mul(p3);
    hash ^ hash >> 32
}

fn round(lane: u64, word: u64) -> u64 {
    let [p1, p2, ..] = PRIMES;
    lane.wrapping_add(word.wrapping_mul(p2)).rotate_left(31).wrapping_mul(p1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // The first four are from the reference's page and `xxhsum`, the others from python's xxhash.
        assert_eq!(xxh64(0, b""), 0xef46_db37_51d8_e999);
        assert_eq!(xxh64(0, b"a"), 0xd24e_c4f1_a98c_6e5b);
    }
}
