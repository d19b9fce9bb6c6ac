//! Tests of sequences.

use super::*;
use crate::codec::tests::noise;

/// Returns the sequences of a stream, and the number of bits left after them.
fn read<const FAST: bool>(src: &[u8], count: usize) -> (std::vec::Vec<Sequence>, i64) {
    let mut entries: Entries = bytemuck::Zeroable::zeroed();
    let mut tables = Tables::new(&mut entries);
    tables.set(0, &mut Reader::new(&[])).unwrap();
    let mut bits = Bits::default();
    bits.begin(src, 9, src.len(), What::ZSTD_SEQUENCES).unwrap();
    bits.refill();
    let states = States::begin(&mut bits, &tables);
    if FAST {
        return simd::run(Words { bits, states, tables: &tables, count });
    }
    let mut states = states;
    let sequences = (0..count).map(|_| states.step(&mut bits, &tables, false)).collect();
    (sequences, bits.left())
}

/// Decodes sequences of one word as [`Fast`] does, and others by steps.
struct Words<'t, 'b> {
    bits: Bits<'b>,
    states: States,
    tables: &'t Tables<'t>,
    count: usize,
}

impl Kernel for Words<'_, '_> {
    type Output = (std::vec::Vec<Sequence>, i64);

    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let Words { mut bits, mut states, tables, count } = self;
        let mut sequences = std::vec::Vec::new();
        while sequences.len() < count {
            let next = Next::new(&bits, states);
            match next.and_then(|next| next.decode(lanes, bits.before()?, tables.entries)) {
                Some((sequence, next)) => {
                    sequences.push(sequence);
                    states = next.leave(&mut bits);
                }
                None => sequences.push(states.step(&mut bits, tables, false)),
            }
        }
        (sequences, bits.left())
    }
}

#[test]
fn sequences_of_one_word_agree_with_those_by_steps() {
    let noise = noise(20_000);
    for len in [10, 12, 17, 40, 300, 5000] {
        for src in noise.chunks_exact(len).take(40) {
            let src = [src, &[1]].concat();
            // Sequences with a third of the bits, and more sequences than there are bits for.
            for count in [len * 8 / 60, len * 2] {
                let expected = read::<false>(&src, count);
                simd::with_each_lanes(|| assert_eq!(read::<true>(&src, count), expected, "{count} of {len}"));
            }
        }
    }
}

#[test]
fn distances_that_come_back() {
    let mut recent = [1, 4, 8];
    // Value, whether there are no literals, the distance, and the recent distances afterwards.
    let steps = [
        (1, false, 1, [1, 4, 8]),
        (2, false, 4, [4, 1, 8]),
        (3, false, 8, [8, 4, 1]),
        (13, true, 10, [10, 8, 4]),
        (1, true, 8, [8, 10, 4]),
        (2, true, 4, [4, 8, 10]),
        (3, true, 3, [3, 4, 8]),
        (3, true, 2, [2, 3, 4]),
        (3, true, 1, [1, 2, 3]),
        (3, true, 0, [0, 1, 2]),
    ];
    for (value, no_literals, expected, kept) in steps {
        let literals = u32::from(!no_literals);
        assert_eq!(distance(&mut recent, Sequence { literals, len: 3, offset: value }), expected);
        assert_eq!(recent, kept);
    }
}
