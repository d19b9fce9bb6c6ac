//! Vortex: the kernels of its encodings compared with other crates for the same encodings, and complete columns of
//! files.
//!
//! Kernels work on 256 blocks of 1024 values, as in the figures of the original. The speed of reading with the original
//! was measured as a fraction of the speed of a copy: 0.11 to 0.27 for a column of run ends, 0.15 to 0.36 for
//! run-length blocks (6.7 and 9.0 GB/s, copies at 25 to 60), 0.165 for a table of five columns (4.8, copies at 29).
//! These three have the same rows and lengths of runs here.

#[path = "../tests/support/vortex.rs"]
mod build;
mod common;

use std::cell::RefCell;
use std::hint::black_box;
use std::mem::MaybeUninit;

use bytemuck::Zeroable as _;
use common::{Random, Work, heading, log_lines};
use fastlanes::{BitPacking, Delta, Transpose};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Values, fit};
use pilaster::unstable::encoding::cells::Cells;
use pilaster::unstable::encoding::{alp, fastlanes as lanes, fsst, onpair};
use pilaster::vortex::Encoding;
use pilaster::vortex::{Column, File};
use pilaster_oracle::vortex as owned;

const BLOCKS: usize = 256;

fn main() {
    heading("unpack FastLanes blocks");
    unpack::<u8>("u8", &[1, 3, 7], |out| Cells::W1(out));
    unpack::<u16>("u16", &[3, 10, 15], |out| Cells::W2(out));
    unpack::<u32>("u32", &[1, 3, 10, 17, 31], |out| Cells::W4(out));
    unpack::<u64>("u64", &[7, 17, 40, 60], |out| Cells::W8(out));
    heading("pack FastLanes blocks");
    pack::<u8>("u8", &[1, 3, 7]);
    pack::<u16>("u16", &[3, 10, 15]);
    pack::<u32>("u32", &[1, 3, 10, 17, 31]);
    pack::<u64>("u64", &[7, 17, 40, 60]);
    heading("delta, with untransposition");
    delta();
    heading("other kernels");
    floats();
    encode_floats();
    symbols();
    tokens();
    runs();
    blocks();
    heading("columns of runs, all rows");
    columns();
    heading("columns of files, all rows");
    files();
    table();
}

fn unpack<T>(name: &str, widths: &[usize], cells: impl Fn(&mut [T]) -> Cells<'_> + Copy)
where
    T: BitPacking + Default + Copy + PartialEq + core::fmt::Debug + bytemuck::Pod,
{
    for width in widths {
        let bytes = common::noise(128 * width * BLOCKS);
        let words: Vec<T> = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
        let (mut ours, mut theirs) = (vec![T::default(); 1024 * BLOCKS], vec![T::default(); 1024 * BLOCKS]);
        let rival = |out: &mut [T]| {
            for (block, out) in words.chunks_exact(words.len() / BLOCKS).zip(out.chunks_exact_mut(1024)) {
                unchecked(*width, block, out);
            }
        };
        lanes::unpack(&bytes, *width as u32, 0, cells(&mut ours)).unwrap();
        rival(&mut theirs);
        assert_eq!(ours, theirs, "{name} at {width} bits");
        let len = 1024 * BLOCKS;
        Work::new(format!("{name}, {width} bits"), len, len * size_of::<T>(), || {
            lanes::unpack(black_box(&bytes), *width as u32, 0, cells(black_box(&mut ours))).unwrap();
        })
        .rival("fastlanes", || rival(black_box(&mut theirs)))
        .run();
    }
}

/// Calls the function for a width that is known at run time only.
#[allow(unsafe_code, reason = "the rival has no safe function for widths known at run time")]
fn unchecked<T: BitPacking>(width: usize, block: &[T], out: &mut [T]) {
    // SAFETY: `block` has the number of words that `width` requires, `out` has 1024 values.
    unsafe { BitPacking::unchecked_unpack(width, block, out) }
}

fn pack<T>(name: &str, widths: &[usize])
where
    T: BitPacking + lanes::Lane + Default + PartialEq + core::fmt::Debug,
{
    let bytes = common::noise(1024 * BLOCKS * size_of::<T>());
    let values: Vec<T> = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    for width in widths {
        let words = 128 * width / size_of::<T>();
        let (mut ours, mut theirs) = (vec![0; 128 * width * BLOCKS], vec![T::default(); words * BLOCKS]);
        let rival = |out: &mut [T]| {
            for (block, out) in values.chunks_exact(1024).zip(out.chunks_exact_mut(words)) {
                unchecked_pack(*width, block, out);
            }
        };
        lanes::pack(&values, T::default(), *width as u32, &mut ours).unwrap();
        rival(&mut theirs);
        assert_eq!(ours, bytemuck::cast_slice::<T, u8>(&theirs), "{name} at {width} bits");
        Work::new(format!("{name} packed, {width} bits"), values.len(), bytes.len(), || {
            lanes::pack(black_box(&values), T::default(), *width as u32, black_box(&mut ours)).unwrap();
        })
        .rival("fastlanes", || rival(black_box(&mut theirs)))
        .run();
    }
}

/// Calls the function for a width that is known at run time only.
#[allow(unsafe_code, reason = "the rival has no safe function for widths known at run time")]
fn unchecked_pack<T: BitPacking>(width: usize, block: &[T], out: &mut [T]) {
    // SAFETY: `block` has 1024 values, `out` has the number of words that `width` requires.
    unsafe { BitPacking::unchecked_pack(width, block, out) }
}

fn delta() {
    macro_rules! one {
        ($word:ty, $cells:ident, $lanes:literal) => {{
            let noise = |len: usize| -> Vec<$word> {
                let bytes = common::noise(len * size_of::<$word>());
                bytes.chunks_exact(size_of::<$word>()).map(bytemuck::pod_read_unaligned).collect()
            };
            let (mut bases, deltas) = (noise($lanes), noise(1024));
            let rival = |from: &[$word], bases: &[$word], out: &mut [$word; 1024]| {
                let mut sums = [0; 1024];
                Delta::undelta::<$lanes>(from.first_chunk().unwrap(), bases.first_chunk().unwrap(), &mut sums);
                Transpose::untranspose(&sums, out);
            };
            let (mut ours, mut theirs, mut work) = (vec![0; 1024], [0; 1024], deltas.clone());
            rival(&deltas, &bases, &mut theirs);
            let mut wide = Cells::$cells(&mut bases);
            lanes::undelta(&mut wide, &mut Cells::$cells(&mut work), &mut Cells::$cells(&mut ours)).unwrap();
            assert_eq!(ours, theirs);
            let bases = noise($lanes);
            let mut bases2 = bases.clone();
            let mut wide = Cells::$cells(&mut bases2);
            Work::new(stringify!($word), 1024, 1024 * size_of::<$word>(), || {
                // The call overwrites the deltas, so the measured work includes a copy of them.
                work.copy_from_slice(&deltas);
                lanes::undelta(&mut wide, &mut Cells::$cells(&mut work), &mut Cells::$cells(black_box(&mut ours)))
                    .unwrap();
            })
            .rival("fastlanes", || rival(black_box(&deltas), &bases, black_box(&mut theirs)))
            .run();
        }};
    }
    one!(u8, W1, 128);
    one!(u16, W2, 64);
    one!(u32, W4, 32);
    one!(u64, W8, 16);
}

fn floats() {
    let len = 1024 * 64;
    let mut random = Random(3);
    let exponents = ::alp::Exponents { e: 14, f: 12 };
    let integers: Vec<i64> = (0..len).map(|_| random.below(1 << 30) as i64).collect();
    let (mut words, mut theirs) = (integers.clone(), integers.clone());
    alp::decode(14, 12, Cells::W8(bytemuck::cast_slice_mut(&mut words))).unwrap();
    ::alp::decode_slice_inplace::<f64>(&mut theirs, exponents);
    assert_eq!(words, theirs);
    // In place: the next call decodes the floats of the previous call as integers, which is the same amount of work.
    Work::new("ALP f64", len, len * 8, || {
        alp::decode(14, 12, Cells::W8(bytemuck::cast_slice_mut(black_box(&mut words)))).unwrap();
    })
    .rival("alp", || ::alp::decode_slice_inplace::<f64>(black_box(&mut theirs), exponents))
    .run();
    let integers: Vec<i32> = (0..len).map(|_| random.below(1 << 20) as i32).collect();
    let exponents = ::alp::Exponents { e: 4, f: 2 };
    let (mut words, mut theirs) = (integers.clone(), integers);
    Work::new("ALP f32", len, len * 4, || {
        alp::decode(4, 2, Cells::W4(bytemuck::cast_slice_mut(black_box(&mut words)))).unwrap();
    })
    .rival("alp", || ::alp::decode_slice_inplace::<f32>(black_box(&mut theirs), exponents))
    .run();
}

/// Encodes prices with two digits, with one NaN in 100 values. Cuts floats between 1 and 2.2 into parts.
fn encode_floats() {
    macro_rules! one {
        ($float:ident, $word:ident) => {{
            let mut random = Random(4);
            let prices: Vec<$float> = (0..1024 * 64)
                .map(|i| if i % 100 == 7 { $float::NAN } else { random.below(10_000) as $float / 100.0 })
                .collect();
            let exponents = alp::choose(&prices);
            let theirs = ::alp::Exponents { e: exponents.e as u8, f: exponents.f as u8 };
            let (mut out, mut places, mut patches) = (vec![0; prices.len()], Vec::new(), Vec::new());
            let name = stringify!($float);
            Work::new(format!("ALP {name}, encoded"), prices.len(), size_of_val(prices.as_slice()), || {
                places.clear();
                patches.clear();
                let found = |i, value| {
                    places.push(i as u64);
                    patches.push(value);
                };
                alp::encode(black_box(&prices), exponents, black_box(&mut out), found).unwrap();
            })
            .rival("alp", || _ = black_box(::alp::encode(black_box(&prices), Some(theirs))))
            .run();

            let noise: Vec<$float> = (0..1024 * 64).map(|_| 1.0 + random.below(1 << 50) as $float / 1e15).collect();
            let cut = alp::choose_cut(&noise);
            let encoder = ::alp::RDEncoder::new(&noise);
            let (mut codes, mut rights) = (vec![0; noise.len()], vec![0 as $word; noise.len()]);
            Work::new(format!("ALP-RD {name}, encoded"), noise.len(), size_of_val(noise.as_slice()), || {
                let (codes, rights) = (black_box(&mut codes), black_box(&mut rights));
                alp::split(black_box(&noise), &cut, codes, rights, |_, _| {}).unwrap();
            })
            .rival("alp", || _ = black_box(encoder.split_parts(black_box(&noise))))
            .run();
        }};
    }
    one!(f64, u64);
    one!(f32, u32);
}

fn symbols() {
    let lines = log_lines(20_000);
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    let compressor = ::fsst::Compressor::train(&lines);
    let codes = compressor.compress_bulk(&lines).concat();
    let symbols: Vec<u8> = compressor.symbol_table().iter().flat_map(|symbol| symbol.to_u64().to_le_bytes()).collect();
    let table = fsst::Symbols::new(&symbols, compressor.symbol_lengths()).unwrap();
    let len: usize = lines.iter().map(|line| line.len()).sum();
    let out = RefCell::new(vec![0; len + 64]);
    assert_eq!(table.decode(&codes, &mut out.borrow_mut()), Ok(len));
    assert_eq!(out.borrow()[..len], lines.concat()[..]);
    let decompressor = compressor.decompressor();
    Work::new("FSST, log paths", lines.len(), len, || {
        table.decode(black_box(&codes), black_box(&mut out.borrow_mut())).unwrap();
    })
    .rival("fsst-rs", || {
        decompressor.decompress_into(black_box(&codes), uninit(black_box(&mut out.borrow_mut())));
    })
    .run();
}

fn tokens() {
    let lines = log_lines(20_000);
    let offsets: Vec<u32> = [0]
        .into_iter()
        .chain(lines.iter().scan(0, |end, line| {
            *end += line.len() as u32;
            Some(*end)
        }))
        .collect();
    let text = lines.concat();
    let column = ::onpair::compress(text.as_bytes(), &offsets, ::onpair::DEFAULT_CONFIG).unwrap();
    let view = column.view();
    let (codes, dictionary) = (view.codes, column.clone().into_raw().0);
    let (bytes, ends) = (dictionary.bytes(), dictionary.offsets());
    let out = RefCell::new(vec![0; text.len() + 64]);
    let mut room = onpair::Room::zeroed();
    let mut ours = || {
        let tokens = onpair::Tokens::new(black_box(bytes), black_box(ends)).unwrap();
        let rows = tokens.spread(&mut room).unwrap();
        let len = rows.decode(black_box(codes), black_box(&mut out.borrow_mut())).unwrap();
        assert_eq!(len, text.len());
    };
    ours();
    assert_eq!(out.borrow()[..text.len()], *text.as_bytes());
    Work::new("OnPair, log paths", lines.len(), text.len(), ours)
        .rival("onpair", || {
            // SAFETY: the buffer has the decoded length, followed by the padding.
            #[allow(unsafe_code, reason = "the fastest function of the rival")]
            let len = unsafe { view.decompress_into(uninit(black_box(&mut out.borrow_mut()))) };
            assert_eq!(len, text.len());
        })
        .run();
}

/// Converts the output for rivals. All use the same memory, because the position of pages in the caches affects the
/// speed.
#[allow(unsafe_code, reason = "no safe cast from bytes to `MaybeUninit`")]
fn uninit(out: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the layout is the same, and the decoders write only initialised bytes.
    unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<u8>]) }
}

fn runs() {
    for mean in [3u64, 10, 100] {
        let len = 1 << 16;
        let mut random = Random(mean);
        let (mut ends, mut values, mut end) = (Vec::new(), Vec::new(), 0);
        while end < len {
            end += 1 + random.below(2 * mean - 1);
            ends.push(end.min(len));
            values.push(random.next());
        }
        let (mut out, mut filled) = (vec![0u64; len as usize], vec![0u64; len as usize]);
        let rival = |out: &mut [u64], values: &[u64]| {
            let mut start = 0;
            for (end, value) in ends.iter().zip(values) {
                out[start..*end as usize].fill(*value);
                start = *end as usize;
            }
        };
        let copy = values.clone();
        Work::new(format!("run ends, u64, mean run {mean}"), len as usize, len as usize * 8, || {
            Cells::W8(black_box(&mut out)).expand(&Cells::W8(&mut values), &ends).unwrap();
        })
        .rival("fill", || rival(black_box(&mut filled), &copy))
        .run();
    }
}

/// Columns of 2,000,000 numbers in runs of 1 to 23. The original was timed with such columns, as the sizes of its files
/// show.
fn columns() {
    let rows = 2_000_000u64;
    let (mut random, mut plain, mut ends, mut values) = (Random(42), Vec::new(), Vec::new(), Vec::new());
    while (plain.len() as u64) < rows {
        let (run, value) = (1 + random.below(23), random.next() as i64);
        plain.extend(std::iter::repeat_n(value, (run as usize).min(rows as usize - plain.len())));
        ends.extend((plain.len() as u32).to_le_bytes());
        values.push(value);
    }
    let ptype = |number: u8, ptype: owned::PType| [number << 3, ptype as u8];
    let count = |number: u8, count: usize| [vec![number << 3], build::varint(count as u64)].concat();

    let metadata = [&ptype(1, owned::PType::U32)[..], &count(2, values.len())].concat();
    let children = vec![build::plain(0), build::plain(1)];
    let root = build::node(Encoding::RunEnd, &metadata, &[], children);
    column("run ends, i64, runs 1..=23", &build::blob(root, &[&ends, &build::le(&values)]), &plain);

    let (mut values, mut indices, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for block in plain.chunks(1024) {
        let first = values.len();
        starts.extend((first as u64).to_le_bytes());
        let last = block[block.len() - 1];
        for value in block.iter().chain(std::iter::repeat_n(&last, 1024 - block.len())) {
            if values.len() == first || values.last() != Some(value) {
                values.push(*value);
            }
            indices.extend(((values.len() - 1 - first) as u16).to_le_bytes());
        }
    }
    let metadata = [
        count(1, values.len()),
        count(2, indices.len() / 2),
        ptype(3, owned::PType::U16).into(),
        count(4, starts.len() / 8),
        ptype(5, owned::PType::U64).into(),
    ];
    let children = vec![build::plain(0), build::plain(1), build::plain(2)];
    let root = build::node(Encoding::Rle, &metadata.concat(), &[], children);
    let blob = build::blob(root, &[&build::le(&values), &indices, &starts]);
    column("RLE blocks, i64, runs 1..=23", &blob, &plain);
}

/// Times opening and reading of a column in its own array: by batches through memory that fits into the caches, and at
/// once.
fn column(name: &str, blob: &[u8], plain: &[i64]) {
    let mut memory = vec![0; 3 * size_of_val(plain)];
    let rows = plain.len() as u64;
    for (how, len) in [("by batches", 1 << 16), ("at once", rows)] {
        let mut read = |check: bool| {
            build::with(black_box(blob), &build::number(owned::PType::I64, false), rows, |_, column| {
                let mut row = 0;
                while row < rows {
                    let mut scratch = Scratch::new(&mut memory);
                    let batch = column.read(row..rows.min(row + len), &mut scratch).unwrap();
                    let (first, Values::I64(values)) = (row as usize, black_box(batch.values)) else { panic!() };
                    assert!(!check || values == &plain[first..first + values.len()]);
                    row += values.len() as u64;
                }
            });
        };
        read(true);
        Work::new(format!("{name}, {how}"), plain.len(), size_of_val(plain), || read(false)).run();
    }
}

/// Times opening the largest golden and reading every column in batches of 4 MB.
fn files() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/vortex/def_big_small_a.vortex");
    let bytes = std::fs::read(path).unwrap();
    let file = File::open(&bytes).unwrap();
    let part = file.part().unwrap();
    let mut memory = vec![0; 4 << 20];
    for k in 0..part.width() {
        let column = part.column(k).unwrap();
        let name = format!("{} ({})", part.name(k).unwrap(), column.ty());
        let rows = column.rows();
        // The memory of each batch is asked for in far less time than reading it takes.
        Work::new(format!("{name}, need"), rows as usize, rows as usize * 8, || {
            (0..rows).step_by(1 << 16).for_each(|row| {
                black_box(column.need(row..rows.min(row + (1 << 16))).unwrap());
            });
        })
        .run();
        Work::new(name, rows as usize, rows as usize * 8, || {
            let mut row = 0;
            while row < rows {
                let mut scratch = Scratch::new(&mut memory);
                let fitting = fit(&column, row..rows, scratch.room()).unwrap();
                row += black_box(column.read(fitting, &mut scratch).unwrap()).len as u64;
            }
        })
        .run();
    }
}

/// Run-length blocks: 1024 value indices each, of only a few values per block.
fn blocks() {
    let (len, count) = (1 << 16, 64usize);
    let mut random = Random(11);
    let mut values: Vec<u64> = (0..count).map(|_| random.next()).collect();
    let (mut codes, mut code) = (Vec::new(), 0);
    while codes.len() < len {
        let run = 1 + random.below(19) as usize;
        codes.extend(std::iter::repeat_n(code, run.min(len - codes.len())));
        code = (code + 1) % count as u32;
    }
    let (mut out, mut plain) = (vec![0u64; len], vec![0u64; len]);
    let copy = values.clone();
    Work::new("run-length blocks, u64", len, len * 8, || {
        for (out, codes) in out.chunks_exact_mut(1024).zip(codes.chunks_exact(1024)) {
            assert_eq!(Cells::W8(black_box(out)).gather(&Cells::W8(&mut values), black_box(codes)), None);
        }
    })
    .rival("plain loop", || {
        for (to, code) in black_box(&mut plain).iter_mut().zip(black_box(&codes)) {
            *to = copy[*code as usize];
        }
    })
    .run();
}

/// Times opening the table of `benches/vortex_table.py`, whose path is in `PILASTER_VORTEX_TABLE`, and reading all
/// columns in batches: through memory that fits into the caches, and into memory that keeps all batches.
fn table() {
    let Some(path) = std::env::var_os("PILASTER_VORTEX_TABLE") else { return };
    let bytes = std::fs::read(path).unwrap();
    let rows = File::open(&bytes).unwrap().part().unwrap().column(0).unwrap().rows();
    let mut memory = vec![0; 8 << 20];
    let mut all = vec![0; 1 << 30];
    // The size in Arrow, as the original counts it: three numbers, two views of strings, and the strings of `path`,
    // 41.8 bytes on average.
    let plain = rows as usize * (3 * 8 + 2 * 16) + rows as usize * 418 / 10;
    let mut scan = |keep: bool| {
        let file = File::open(black_box(&bytes)).unwrap();
        let part = file.part().unwrap();
        let mut kept = Scratch::new(&mut all);
        for k in 0..part.width() {
            let column = part.column(k).unwrap();
            let mut row = 0;
            while row < rows {
                row += if keep {
                    batch(&column, row, &mut kept)
                } else {
                    batch(&column, row, &mut Scratch::new(&mut memory))
                };
            }
        }
    };
    scan(true);
    Work::new("table of five columns, by batches", rows as usize, plain, || scan(false)).run();
    Work::new("table of five columns, kept", rows as usize, plain, || scan(true)).run();
}

/// Reads at most 65,536 rows, as many as fit into `scratch`. Returns their number.
fn batch<'f: 's, 's>(column: &Column<'f>, row: u64, scratch: &mut Scratch<'s>) -> u64 {
    let rows = fit(column, row..column.rows().min(row + (1 << 16)), scratch.room()).unwrap();
    black_box(column.read(rows, scratch).unwrap()).len as u64
}
