//! Kernels of the encodings of numbers.

use std::hint::black_box;

use pilaster::bytes::Scratch;
use pilaster::unstable::encoding::cells::Cells;
use pilaster::unstable::encoding::min_max::MinMax;
use pilaster::unstable::encoding::pco::{Chunk, Number, Page, Version, encode as pco};
use pilaster::unstable::encoding::{alp, bitmap, fastlanes, integers};
use pilaster_counts::Run;
use pilaster_counts::data::{Random, noise};

/// Values of a kernel: 16 blocks.
const N: usize = 16 << 10;

pub fn all(run: &Run) {
    fast_lanes::<u8>(run, "u8", &[1, 3, 7], |out| Cells::W1(out));
    fast_lanes::<u16>(run, "u16", &[3, 10, 15], |out| Cells::W2(out));
    fast_lanes::<u32>(run, "u32", &[1, 3, 10, 17, 31], |out| Cells::W4(out));
    fast_lanes::<u64>(run, "u64", &[7, 17, 40, 60], |out| Cells::W8(out));
    deltas(run);
    floats(run);
    cells(run);
    compact(run);
}

/// Returns pseudo-random words.
fn words<T: bytemuck::AnyBitPattern>(count: usize) -> Vec<T> {
    noise(count * size_of::<T>()).chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

fn fast_lanes<T>(run: &Run, name: &str, widths: &[u32], cells: impl Fn(&mut [T]) -> Cells<'_> + Copy)
where
    T: fastlanes::Lane + Default + bytemuck::Pod,
{
    let values = words::<T>(N);
    for width in widths {
        let mut packed = noise(N / 8 * *width as usize);
        let mut out = vec![T::default(); N];
        run.case(&format!("FastLanes, {name}, {width} bits, unpack"), || {
            fastlanes::unpack(black_box(&packed), *width, 0, cells(black_box(&mut out))).expect("whole blocks");
        });
        run.case(&format!("FastLanes, {name}, {width} bits, pack"), || {
            fastlanes::pack(black_box(&values), T::default(), *width, black_box(&mut packed)).expect("whole blocks");
        });
    }
}

fn deltas(run: &Run) {
    macro_rules! one {
        ($word:ty, $cells:ident, $lanes:literal) => {{
            let (mut bases, mut deltas, mut out) = (words::<$word>($lanes), words::<$word>(1024), vec![0; 1024]);
            run.case(concat!("delta, ", stringify!($word)), || {
                let [mut bases, mut deltas] = [Cells::$cells(&mut bases), Cells::$cells(&mut deltas)];
                fastlanes::undelta(&mut bases, &mut deltas, &mut Cells::$cells(black_box(&mut out))).expect("a block");
            });
        }};
    }
    one!(u8, W1, 128);
    one!(u16, W2, 64);
    one!(u32, W4, 32);
    one!(u64, W8, 16);
}

/// Prices with two digits and some NaN, and floats that are cut into parts.
fn floats(run: &Run) {
    macro_rules! one {
        ($float:ident, $word:ident, $cells:ident) => {{
            let name = stringify!($float);
            let mut random = Random(4);
            let mut price = |i| if i % 100 == 7 { $float::NAN } else { random.below(10_000) as $float / 100.0 };
            let prices: Vec<$float> = (0..N).map(&mut price).collect();
            run.case(&format!("ALP, {name}, choose"), || _ = black_box(alp::choose(black_box(&prices))));
            let exponents = alp::choose(&prices);
            let (mut out, mut patches) = (vec![0; N], Vec::with_capacity(N));
            run.case(&format!("ALP, {name}, encode"), || {
                patches.clear();
                let found = |i, value| patches.push((i, value));
                alp::encode(black_box(&prices), exponents, black_box(&mut out), found).expect("equal lengths");
            });
            let mut cells: Vec<$word> = (0..N as $word).collect();
            run.case(&format!("ALP, {name}, decode"), || {
                alp::decode(exponents.e, exponents.f, Cells::$cells(black_box(&mut cells))).expect("valid exponents");
            });
            let all: Vec<$float> = (0..N).map(|_| 1.0 + random.below(1 << 50) as $float / 1e15).collect();
            run.case(&format!("ALP-RD, {name}, choose"), || _ = black_box(alp::choose_cut(black_box(&all))));
            let cut = alp::choose_cut(&all);
            let (mut codes, mut rights) = (vec![0; N], vec![0 as $word; N]);
            run.case(&format!("ALP-RD, {name}, encode"), || {
                let (codes, rights) = (black_box(&mut codes), black_box(&mut rights));
                alp::split(black_box(&all), &cut, codes, rights, |_, _| {}).expect("equal lengths");
            });
            run.case(&format!("ALP-RD, {name}, decode"), || {
                alp::join(black_box(&codes), cut.width, Cells::$cells(black_box(&mut rights))).expect("equal lengths");
            });
        }};
    }
    one!(f64, u64, W8);
    one!(f32, u32, W4);
}

/// Steps of several encodings on cells of 8 bytes.
fn cells(run: &Run) {
    let (mut out, mut values) = (vec![0u64; N], words::<u64>(N));
    for mean in [3, 100] {
        let (mut random, mut ends) = (Random(mean), Vec::new());
        while ends.last().is_none_or(|end| *end < N as u64) {
            ends.push((ends.last().unwrap_or(&0) + 1 + random.below(2 * mean - 1)).min(N as u64));
        }
        run.case(&format!("run ends, mean run {mean}"), || {
            let values = Cells::W8(values.get_mut(..ends.len()).expect("a value for each run"));
            Cells::W8(black_box(&mut out)).expand(&values, black_box(&ends)).expect("ascending ends");
        });
    }
    let mut random = Random(11);
    let codes: Vec<u32> = (0..N).map(|_| random.below(200) as u32).collect();
    run.case("dictionary, gather", || {
        assert_eq!(Cells::W8(black_box(&mut out)).gather(&Cells::W8(&mut values[..200]), black_box(&codes)), None);
    });
    let places: Vec<u64> = (0..N as u64).step_by(10).collect();
    run.case("patches, scatter", || {
        let patches = Cells::W8(&mut values[..places.len()]);
        assert_eq!(Cells::W8(black_box(&mut out)).scatter(&patches, black_box(&places)), None);
    });
    run.case("frame of reference", || integers::add(black_box(7), Cells::W8(black_box(&mut out))));
    run.case("zigzag, decode", || integers::unzigzag(Cells::W8(black_box(&mut out))));
    run.case("sequence", || integers::sequence(3, 7, 0, Cells::W8(black_box(&mut out))));
    for size in [1, 2, 4] {
        run.case(&format!("widen {size} to 8 bytes"), || Cells::W8(black_box(&mut out)).extend(size));
    }
    let mut bits = vec![0; N / 8];
    run.case("bitmap, pack", || _ = black_box(bitmap::pack(black_box(&codes), &mut bits, |code| code > 100)));
    run.case("minimum and maximum, i64", || {
        let mut found = MinMax::of(0i64);
        found.add(bytemuck::cast_slice(black_box(&values)));
        black_box(found);
    });
}

/// Numbers of pco: a clock with jitter, and a random walk of floats.
fn compact(run: &Run) {
    let mut random = Random(9);
    let times: Vec<u64> = (0..N as u64).map(|i| 1_700_000_000_000 + 1000 * i + random.below(100)).collect();
    let mut level = 2000;
    let mut step = || {
        level += random.below(21) as i64 - 10;
        level as f64 / 100.0
    };
    let levels: Vec<f64> = (0..N).map(|_| step()).collect();
    let all =
        [("u64", pco::numbers(&times, N), Number::unsigned(8)), ("f64", pco::numbers(&levels, N), Number::float(8))];
    for (name, encoded, number) in all {
        let (encoded, number) = (encoded.expect("numbers"), number.expect("a size"));
        let mut memory = vec![0; 4 << 20];
        run.case(&format!("pco, {name}, decode"), || {
            let version = Version::new(&encoded.header).expect("a version");
            let chunk = Chunk::new(version, black_box(&encoded.meta), number).expect("a chunk");
            let mut scratch = Scratch::new(&mut memory);
            let tables = chunk.tables(&mut scratch).expect("enough memory");
            for page in &encoded.pages {
                let numbers = page.numbers as u64;
                let mut page = Page::new(&chunk, &tables, &page.bytes, numbers, &mut scratch).expect("a page");
                while !black_box(page.next().expect("an intact page")).is_empty() {}
            }
        });
    }
}
