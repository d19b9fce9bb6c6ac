//! The kernels beside the published crates for the same job: what those encode, ours decode, and the other way
//! round where a crate decodes what we only unpack. A few rounds here, many in `.ci/encodings`; on the machines that
//! those crates are made for.

use std::env;

use fastlanes::{BitPacking, Delta, RLE, Transpose};
use pilaster::unstable::encoding::cells::Cells;
use pilaster::unstable::encoding::texts::Texts;
use pilaster::unstable::encoding::{alp, fastlanes as lanes, fsst, onpair};

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// `most` rounds, or `PILASTER_ROUNDS`, each with its own numbers.
fn rounds(most: u64) -> impl Iterator<Item = Random> {
    let rounds = env::var("PILASTER_ROUNDS").map_or(most, |n| n.parse().expect("a number"));
    (1..=rounds).map(|round| Random(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The crate has no other way in for widths known at run time.
#[allow(unsafe_code, reason = "see above")]
fn packed<T: BitPacking>(width: usize, values: &[T], out: &mut [T]) {
    // SAFETY: 1024 values, and as many words as `width` asks for.
    unsafe { BitPacking::unchecked_pack(width, values, out) }
}

#[test]
fn blocks_that_fastlanes_packed() {
    macro_rules! check {
        ($random:ident, $($word:ident, $cells:ident;)*) => {$(
            for width in 0..=$word::BITS as usize {
                let mask = (u128::from($word::MAX) >> ($word::BITS as usize - width)) as $word;
                let values: Vec<$word> = (0..1024).map(|_| $random.next() as $word & mask).collect();
                let mut block = vec![0 as $word; 1024 * width / $word::BITS as usize];
                packed(width, &values, &mut block);
                let bytes: Vec<u8> = block.iter().flat_map(|word| word.to_le_bytes()).collect();
                let mut ours = vec![$word::MAX; 1024];
                lanes::unpack(&bytes, width as u32, 0, Cells::$cells(&mut ours)).unwrap();
                assert!(ours == values, "{} at {width} bits", stringify!($word));
            }
        )*};
    }
    for mut random in rounds(2) {
        check! { random, u8, W1; u16, W2; u32, W4; u64, W8; }
    }
}

/// Values of all bits, so that both leave the higher ones out; with and without a reference.
#[test]
fn blocks_that_both_pack() {
    macro_rules! check {
        ($random:ident, $($word:ident)*) => {$(
            for width in 0..=$word::BITS as usize {
                let values: Vec<$word> = (0..2048).map(|_| $random.next() as $word).collect();
                for reference in [0, $random.next() as $word] {
                    let differences: Vec<$word> = values.iter().map(|value| value.wrapping_sub(reference)).collect();
                    let mut theirs = vec![0 as $word; 2048 * width / $word::BITS as usize];
                    let (first, second) = theirs.split_at_mut(1024 * width / $word::BITS as usize);
                    packed(width, &differences[..1024], first);
                    packed(width, &differences[1024..], second);
                    let theirs: Vec<u8> = theirs.iter().flat_map(|word| word.to_le_bytes()).collect();
                    let mut ours = vec![0xa5; theirs.len()];
                    assert_eq!(lanes::pack(&values, reference, width as u32, &mut ours), Ok(theirs.len()));
                    assert!(ours == theirs, "{} at {width} bits", stringify!($word));
                }
            }
        )*};
    }
    for mut random in rounds(2) {
        check! { random, u8 u16 u32 u64 }
    }
}

#[test]
fn deltas_that_fastlanes_made() {
    macro_rules! check {
        ($random:ident, $($word:ident, $cells:ident, $lanes:literal;)*) => {$(
            let values: [$word; 1024] = std::array::from_fn(|_| $random.next() as $word);
            let (mut transposed, mut deltas, mut ours) = ([0; 1024], [0; 1024], [0; 1024]);
            Transpose::transpose(&values, &mut transposed);
            let mut bases: [$word; $lanes] = *transposed.first_chunk().unwrap();
            Delta::delta::<$lanes>(&transposed, &bases, &mut deltas);
            let mut bases = Cells::$cells(&mut bases);
            lanes::undelta(&mut bases, &mut Cells::$cells(&mut deltas), &mut Cells::$cells(&mut ours)).unwrap();
            assert!(ours == values, "{}", stringify!($word));
        )*};
    }
    for mut random in rounds(10) {
        check! { random, u8, W1, 128; u16, W2, 64; u32, W4, 32; u64, W8, 16; }
    }
}

/// Runs of a block as the crate finds them: values and, for every row, which of them it has.
#[test]
fn runs_that_fastlanes_found() {
    for mut random in rounds(10) {
        let mut value = 0u32;
        let rows: [u32; 1024] = std::array::from_fn(|_| {
            if random.below(4) == 0 {
                value = random.next() as u32;
            }
            value
        });
        let (mut values, mut indices) = ([0u32; 1024], [0u16; 1024]);
        // SAFETY: the types of the arguments say all that is asked for.
        #[allow(unsafe_code, reason = "the crate has no other way in")]
        let count = unsafe { RLE::encode_unchecked(&rows, &mut values, &mut indices) };
        let codes = indices.map(u32::from);
        let mut ours = [0u32; 1024];
        let bad = Cells::W4(&mut ours).gather(&Cells::W4(&mut values[..count]), &codes);
        assert_eq!(bad, None);
        assert!(ours == rows);
        // Both find the same runs.
        let (mut numbers, mut found) = ([0; 1024], Vec::new());
        lanes::number_runs(&rows, &mut numbers, |i| found.push(rows[i]));
        assert!(numbers == indices && found == values[..count]);
    }
}

/// Integers by the bits of the floats that both make of them, for every pair of exponents.
#[test]
fn floats_that_alp_decodes() {
    for mut random in rounds(3) {
        for e in 0..=17u8 {
            for f in 0..=e {
                let doubles: Vec<i64> = (0..100).map(|i| random.next() as i64 >> (i % 63)).collect();
                let (mut ours, mut theirs) = (doubles.clone(), doubles);
                alp::decode(e.into(), f.into(), Cells::W8(bytemuck::cast_slice_mut(&mut ours))).unwrap();
                ::alp::decode_slice_inplace::<f64>(&mut theirs, ::alp::Exponents { e, f });
                assert_eq!(ours, theirs, "f64, e {e}, f {f}");
                if e > 9 {
                    continue;
                }
                let singles: Vec<i32> = (0..100).map(|i| random.next() as i32 >> (i % 31)).collect();
                let (mut ours, mut theirs) = (singles.clone(), singles);
                alp::decode(e.into(), f.into(), Cells::W4(bytemuck::cast_slice_mut(&mut ours))).unwrap();
                ::alp::decode_slice_inplace::<f32>(&mut theirs, ::alp::Exponents { e, f });
                assert_eq!(ours, theirs, "f32, e {e}, f {f}");
            }
        }
    }
}

/// Lines of words, numbers and bytes of any kind.
fn lines(random: &mut Random) -> Vec<Vec<u8>> {
    const WORDS: [&str; 8] = ["error", "warning", "/var/log/", "service-", "é", "ok", "", "connection reset by peer"];
    let count = 20 + random.below(300);
    (0..count)
        .map(|i| {
            let mut line = Vec::new();
            for _ in 0..random.below(8) {
                line.extend_from_slice(WORDS[random.below(8) as usize].as_bytes());
                match random.below(4) {
                    0 => line.extend(random.next().to_le_bytes()),
                    1 => line.extend(format!(" {i:05} ").bytes()),
                    _ => {}
                }
            }
            line
        })
        .collect()
}

#[test]
fn texts_that_fsst_compressed() {
    for mut random in rounds(10) {
        let lines = lines(&mut random);
        let slices: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        let compressor = ::fsst::Compressor::train(&slices);
        let symbols: Vec<u8> =
            compressor.symbol_table().iter().flat_map(|symbol| symbol.to_u64().to_le_bytes()).collect();
        let table = fsst::Symbols::new(&symbols, compressor.symbol_lengths()).unwrap();
        for line in &lines {
            let mut out = vec![0xaa; line.len()];
            assert_eq!(table.decode(&compressor.compress(line), &mut out), Ok(line.len()));
            assert_eq!(out, *line);
        }
    }
}

/// The bytes of all lines, and the offset of each.
fn joined(lines: &[Vec<u8>]) -> (Vec<u8>, Vec<u32>) {
    let ends = lines.iter().scan(0, |end, line| {
        *end += line.len() as u32;
        Some(*end)
    });
    (lines.concat(), [0].into_iter().chain(ends).collect())
}

#[test]
fn fsst_takes_our_symbols_and_codes() {
    for mut random in rounds(10) {
        let (text, offsets) = joined(&lines(&mut random));
        let texts = Texts::new(&text, &offsets).unwrap();
        let table = fsst::Table::train(&texts);
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        table.encode(&texts, &mut codes, &mut ends);
        let symbols: Vec<_> = table.symbols().as_chunks().0.iter().map(::fsst::Symbol::from_slice).collect();
        // Readers of Vortex do this to look a text up. It panics if the order or the slots are others.
        let theirs = ::fsst::Compressor::rebuild_from(&symbols, table.lengths());
        assert_eq!(theirs.decompressor().decompress(&codes), text);
        for (i, end) in ends.iter().enumerate() {
            let start = i.checked_sub(1).map_or(0, |i| ends[i] as usize);
            assert_eq!(theirs.compress(texts.get(i)), codes[start..*end as usize], "an equal text has equal codes");
        }
    }
}

#[test]
fn onpair_takes_our_tokens_and_codes() {
    for mut random in rounds(10) {
        let (text, offsets) = joined(&lines(&mut random));
        let texts = Texts::new(&text, &offsets).unwrap();
        let dictionary = onpair::Dictionary::train(&texts, 12);
        let (mut codes, mut ends) = (Vec::new(), vec![0]);
        dictionary.encode(&texts, &mut codes, &mut ends);
        let dict = ::onpair::CompactDictionaryView::validate(dictionary.bytes(), dictionary.offsets()).unwrap();
        let column = ::onpair::ColumnView { dict, codes: &codes, row_offsets: &ends };
        assert_eq!(column.decoded_len(), text.len());
        for i in (0..texts.len()).step_by(7) {
            assert!(column.rows_equal_to(texts.get(i)).contains(&i), "an equal text has equal codes");
        }
    }
}

#[test]
fn texts_that_onpair_compressed() {
    for mut random in rounds(10) {
        let (text, offsets) = joined(&lines(&mut random));
        let column = ::onpair::compress(&text, &offsets, ::onpair::DEFAULT_CONFIG).unwrap();
        let codes = column.view().codes.to_vec();
        let dictionary = column.into_raw().0;
        let tokens = onpair::Tokens::new(dictionary.bytes(), dictionary.offsets()).unwrap();
        let mut out = vec![0x55; text.len()];
        assert_eq!(tokens.decode(&codes, &mut out), Ok(text.len()));
        assert_eq!(out, text);
    }
}

/// Columns of measurements, prices and positions, as in `peers/vortex/data.py`, and less regular ones.
fn columns(random: &mut Random) -> Vec<(&'static str, Vec<f64>)> {
    const LEN: usize = 40_000;
    let unit = |random: &mut Random| (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    let normal = |random: &mut Random| (0..12).map(|_| unit(random)).sum::<f64>() - 6.0;
    let rounded = |value: f64, digits: i32| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
    let mut walk = 20.0;
    let mut value = |name: &str, random: &mut Random, i: usize| match name {
        "price" => random.below(1_000_000) as f64 / 100.0,
        "temp" => rounded(20.0 + 5.0 * normal(random), 1),
        "tip" if unit(random) < 0.3 => 0.0,
        "tip" => rounded(20.0 * unit(random) * [0.15, 0.2, 0.25, 0.3][random.below(4) as usize], 2),
        "extra" => [0.0, 0.5, 1.0, 2.5, 3.5, 5.0][random.below(6) as usize],
        "surcharge" if unit(random) < 0.005 => -1.0,
        "surcharge" => 1.0,
        "latitude" => rounded(48.0 + 5.0 * normal(random), 5),
        "battery" => (100.0 - i as f64 / 1300.0).round(),
        "walk, rounded" => {
            walk += 0.01 * normal(random);
            rounded(walk, 2)
        }
        "acceleration" => 9.81 * normal(random),
        "instants in ns" => 1.7e18 + i as f64 * 1e9 + random.below(1000) as f64 * 1e6,
        "NaN" if unit(random) < 0.05 => f64::NAN,
        "outliers" if unit(random) < 0.002 => 1e12 * normal(random),
        "NaN" | "outliers" => rounded(100.0 * unit(random), 2),
        "uniform" => unit(random),
        _ => normal(random).exp(),
    };
    let names = [
        "price",
        "temp",
        "tip",
        "extra",
        "surcharge",
        "latitude",
        "battery",
        "walk, rounded",
        "acceleration",
        "instants in ns",
        "NaN",
        "outliers",
        "uniform",
        "lognormal",
    ];
    names.map(|name| (name, (0..LEN).map(|i| value(name, random, i)).collect())).into()
}

/// Packed integers, or parts, with their exceptions are at most 5 % larger than with the crate `alp`. A writer
/// stores plain values if they are smaller, so that an encoding counts as much as they at most.
#[test]
fn floats_take_no_more_than_with_alp() {
    macro_rules! check {
        ($random:ident, $($float:ident, $int:ident, $word:ident;)*) => {$(
            for (name, values) in columns(&mut $random) {
                let values: Vec<$float> = values.iter().map(|value| *value as $float).collect();
                let len = values.len();
                let plain = size_of_val(values.as_slice()) as u64;
                let integers = |ints: &[$int], exceptions: usize| {
                    let mut counts = [0; 65];
                    let least = *ints.iter().min().unwrap();
                    lanes::count_widths::<$word>(bytemuck::cast_slice(ints), least as $word, &mut counts);
                    let patch = size_of::<$float>() + 4;
                    plain.min(lanes::best_width(&counts, patch as u64).bytes + (exceptions * patch) as u64)
                };
                let mut out = vec![0; len];
                let ours = alp::encode(&values, alp::choose(&values), &mut out, |_, _| {}).unwrap();
                let (_, theirs, positions, ..) = ::alp::encode(&values, None);
                let (ours, theirs) = (integers(&out, ours), integers(&theirs, positions.len()));
                assert!(ours * 100 <= theirs * 105, "{name}: {ours}, alp {theirs}");

                let parts = |left: u32, right: u32, exceptions: usize| {
                    plain.min(lanes::packed_len(len.div_ceil(1024) as u64, left + right) + exceptions as u64 * 6)
                };
                let cut = alp::choose_cut(&values);
                let (mut codes, mut rights) = (vec![0; len], vec![0; len]);
                let ours = alp::split(&values, &cut, &mut codes, &mut rights, |_, _| {}).unwrap();
                let code = usize::BITS - (cut.dictionary().len() - 1).leading_zeros();
                let encoder = ::alp::RDEncoder::new(&values);
                let (_, _, positions, _) = encoder.split_parts(&values);
                let (left, right) = (encoder.left_bit_width().into(), encoder.right_bit_width().into());
                let (ours, theirs) = (parts(code, cut.width, ours), parts(left, right, positions.len()));
                assert!(ours * 100 <= theirs * 105, "{name}, parts: {ours}, alp {theirs}");
            }
        )*};
    }
    for mut random in rounds(1) {
        check! { random, f64, i64, u64; f32, i32, u32; }
    }
}

/// With the same exponents, both make the same integers and exceptions.
#[test]
fn floats_that_both_encode() {
    macro_rules! check {
        ($random:ident, $($float:ident;)*) => {$(
            for (name, values) in columns(&mut $random) {
                let values: Vec<$float> = values.iter().take(5000).map(|value| *value as $float).collect();
                let exponents = alp::choose(&values);
                let theirs = ::alp::Exponents { e: exponents.e as u8, f: exponents.f as u8 };
                let (mut out, mut positions, mut exceptions) = (vec![0; values.len()], Vec::new(), Vec::new());
                let found = |i, value: $float| {
                    positions.push(i as u64);
                    exceptions.push(value.to_bits());
                };
                alp::encode(&values, exponents, &mut out, found).unwrap();
                let (_, ints, indices, floats, _) = ::alp::encode(&values, Some(theirs));
                let floats: Vec<_> = floats.iter().map(|value| value.to_bits()).collect();
                assert!(positions == indices && exceptions == floats, "{name}");
                // If all are exceptions, ours are zero, and theirs are of any value.
                assert!(out == ints || (indices.len() == out.len() && out.iter().all(|int| *int == 0)), "{name}");
            }
        )*};
    }
    for mut random in rounds(1) {
        check! { random, f64; f32; }
    }
}

/// The parts into which one cuts floats are joined by the other, with few and with many exceptions.
#[test]
fn parts_that_both_join() {
    macro_rules! check {
        ($random:ident, $($float:ident $cells:ident;)*) => {$(
            for (name, values) in columns(&mut $random) {
                let values: Vec<$float> = values.iter().take(5000).map(|value| *value as $float).collect();
                let wanted: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
                // The cut of other values leaves many left parts without a code.
                for sample in [&values[..], &[-1.5e9, 2e-9, 3.0]] {
                    let cut = alp::choose_cut(sample);
                    let (mut codes, mut rights) = (vec![0; values.len()], vec![0; values.len()]);
                    let (mut positions, mut exceptions) = (Vec::new(), Vec::new());
                    let found = |i: usize, left| {
                        positions.push(i as u64);
                        exceptions.push(left);
                    };
                    alp::split(&values, &cut, &mut codes, &mut rights, found).unwrap();
                    let (dictionary, width) = (cut.dictionary(), cut.width as u8);
                    let theirs: Vec<$float> =
                        ::alp::alp_rd_decode(&codes, dictionary, width, &rights, &positions, &exceptions);
                    assert!(theirs.iter().map(|value| value.to_bits()).eq(wanted.iter().copied()), "{name}");

                    let encoder = ::alp::RDEncoder::new(sample);
                    let (mut lefts, mut words, positions, exceptions) = encoder.split_parts(&values);
                    assert_eq!(alp::lefts(encoder.codes(), &mut lefts), None, "{name}");
                    positions.iter().zip(exceptions).for_each(|(i, left)| lefts[*i as usize] = left);
                    alp::join(&lefts, encoder.right_bit_width().into(), Cells::$cells(&mut words)).unwrap();
                    assert!(words == wanted, "{name}");
                }
            }
        )*};
    }
    for mut random in rounds(1) {
        check! { random, f64 W8; f32 W4; }
    }
}
