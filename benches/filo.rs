//! Filo vectors: the workloads on which the original program was measured, then each kernel alone on data that is
//! larger than the caches.
//!
//! The figures of the original are the best of its runs on OpenJDK 17, on one core of the same kind. It summed the
//! values row by row; pilaster returns slices of values. Next to each figure is the speed of pilaster relative to it,
//! in time and in cycles, because the clocks differ. A rival packs 32-bit integers in blocks of its own layout.

mod common;

use std::hint::black_box;

use bitpacking::{BitPacker, BitPacker4x};
use common::{Random, Work, ghz, heading, noise};
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Column as _, Spans, Validity, Values, VarBytes, fit};
use pilaster::filo::Packing;
use pilaster::filo::write::{Plain, Rows, Strings, encode, encode_auto, scratch_len};
use pilaster::filo::{Element, Encoding, Value, Vector};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};

fn main() {
    println!("This core runs at about {:.1} GHz, the original's at about 4.5.", ghz());
    // Microseconds of the original for 10,000 and for 500,000 values.
    for (size, n) in [10_000, 500_000].into_iter().enumerate() {
        let data = Data::new(n);
        heading(&format!("encode, {n} values"));
        encode_rows(&data, size);
        heading(&format!("decode, {n} values"));
        decode_rows(&data, size);
    }
    heading("sum of get(i), 10000 values");
    random_access(&Data::new(10_000));
    heading("unpack from memory");
    kernels();
    heading("encode from memory");
    encode_kernels();
}

/// The values of the workloads.
struct Data {
    n: usize,
    ghz: f64,
    random32: Vec<i32>,
    byte: Vec<i32>,
    nibble: Vec<i32>,
    valid: Vec<u8>,
    near: Vec<i32>,
    random64: Vec<i64>,
    times: Vec<i64>,
    gaussian: Vec<f64>,
    whole: Vec<f64>,
    words: Vec<Vec<u8>>,
    different: Vec<Vec<u8>>,
    hex: Vec<Vec<u8>>,
}

impl Data {
    fn new(n: usize) -> Self {
        let mut r = Random(n as u64);
        let mut valid = vec![0u8; n.div_ceil(8)];
        for row in 0..n {
            valid[row / 8] |= u8::from(r.below(10) != 0) << (row % 8);
        }
        let words: Vec<Vec<u8>> = (0..500)
            .map(|_| {
                (0..5 + r.below(10)).map(|_| b"0123456789abcdefghijklmnopqrstuvwxyz"[r.below(36) as usize]).collect()
            })
            .collect();
        let mut times: Vec<i64> =
            (0..n as i64).map(|i| 1_480_000_000_000 + 1000 * i + r.below(200) as i64 - 100).collect();
        (times[0], times[n - 1]) = (1_480_000_000_000, 1_480_000_000_000 + 1000 * (n as i64 - 1));
        let unit = |r: &mut Random| r.next() as f64 / u64::MAX as f64;
        let hex = |r: &mut Random| format!("{:08x}", r.next() as u32).into_bytes();
        Data {
            n,
            ghz: ghz(),
            random32: (0..n).map(|_| r.next() as i32).collect(),
            byte: (0..n).map(|_| r.below(256) as i32).collect(),
            nibble: (0..n).map(|_| r.below(16) as i32).collect(),
            valid,
            near: (0..n).map(|_| 1_000_000 + r.below(256) as i32).collect(),
            random64: (0..n).map(|_| r.next() as i64).collect(),
            times,
            gaussian: (0..n)
                .map(|_| (-2.0 * unit(&mut r).ln()).sqrt() * (std::f64::consts::TAU * unit(&mut r)).cos())
                .collect(),
            whole: (0..n).map(|_| r.below(1000) as f64).collect(),
            words: (0..n).map(|_| words[r.below(500) as usize].clone()).collect(),
            different: (0..n).map(|_| [hex(&mut r), vec![b'x'; r.below(12) as usize]].concat()).collect(),
            hex: (0..n).map(|_| hex(&mut r)).collect(),
        }
    }

    fn with_na(&self) -> Rows<'_> {
        let validity = Validity::Bits(Bits::new(&self.valid, 0, self.n).unwrap());
        Rows { values: Plain::Int(&self.random32), validity }
    }
}

const NEW: Original = Original { builder: BuilderFamily::New, hint: Hint::Auto };
const NEW_SIMPLE: Original = Original { builder: BuilderFamily::New, hint: Hint::Simple };
const NEW_DICTIONARY: Original = Original { builder: BuilderFamily::New, hint: Hint::Dictionary };
const OLD_SIMPLE: Original = Original { builder: BuilderFamily::Old, hint: Hint::Simple };
const OLD_DIFF: Original = Original { builder: BuilderFamily::Old, hint: Hint::Diff };
const OLD_DICTIONARY: Original = Original { builder: BuilderFamily::Old, hint: Hint::Dictionary };

/// Returns memory for a chunk of any kind, and for a dictionary.
fn room(rows: &Rows<'_>) -> (Vec<u8>, Vec<u8>) {
    (vec![0; plain_len(rows) + 24 * rows.len() + 1000], vec![0; scratch_len(rows.len())])
}

fn plain_len(rows: &Rows<'_>) -> usize {
    match rows.values {
        Plain::Int(v) => v.len() * 4,
        Plain::Long(v) => v.len() * 8,
        Plain::Double(v) => v.len() * 8,
        Plain::String(Strings::Slices(v)) | Plain::Utf8(Strings::Slices(v)) => v.iter().map(|text| text.len()).sum(),
        _ => unreachable!("no such workload"),
    }
}

fn slices(strings: &[Vec<u8>]) -> Vec<&[u8]> {
    strings.iter().map(Vec::as_slice).collect()
}

fn encode_rows(data: &Data, size: usize) {
    let row = |name: &str, rows: Rows<'_>, like: Original, original: [f64; 2]| {
        let (mut dst, mut memory) = room(&rows);
        let ours = || {
            let len = encode_like_original(black_box(&rows), like, &mut dst, &mut Scratch::new(&mut memory));
            black_box(len.unwrap());
        };
        Work::new(name, rows.len(), plain_len(&rows), ours).original(original[size], data.ghz).run();
    };
    let (words, different, hex) = (slices(&data.words), slices(&data.different), slices(&data.hex));
    let ints = |v| Rows::all(Plain::Int(v));
    let longs = |v| Rows::all(Plain::Long(v));
    let doubles = |v| Rows::all(Plain::Double(v));
    let string = |v| Rows::all(Plain::String(Strings::Slices(v)));
    let utf8 = |v| Rows::all(Plain::Utf8(Strings::Slices(v)));
    row("int random32 (new)", ints(&data.random32), NEW, [34.9, 1704.7]);
    row("int 0..255 (new)", ints(&data.byte), NEW, [62.3, 2931.8]);
    row("int 0..15 (new)", ints(&data.nibble), NEW, [64.0, 3319.4]);
    row("int random32 10% NA (new)", data.with_na(), NEW, [39.0, 3787.1]);
    row("int random32 (flatbuffer simple)", ints(&data.random32), OLD_SIMPLE, [33.0, 1860.3]);
    row("int diff8 (flatbuffer diff)", ints(&data.near), OLD_DIFF, [61.0, 4908.9]);
    row("long random64 (new)", longs(&data.random64), NEW, [37.1, 1575.7]);
    row("long timestamps (delta-delta)", longs(&data.times), NEW, [119.9, 3911.7]);
    row("long random64 (flatbuffer simple)", longs(&data.random64), OLD_SIMPLE, [49.5, 3886.4]);
    row("double gaussian (new)", doubles(&data.gaussian), NEW, [49.9, 2432.6]);
    row("double integral (new, as int16)", doubles(&data.whole), NEW, [95.3, 3088.6]);
    row("double gaussian (flatbuffer simple)", doubles(&data.gaussian), OLD_SIMPLE, [47.6, 2466.9]);
    row("dict strings (flatbuffer)", string(&words), OLD_DICTIONARY, [422.1, 14113.4]);
    row("simple strings (flatbuffer)", string(&words), OLD_SIMPLE, [378.6, 20179.5]);
    row("UTF8 variable", utf8(&different), NEW_SIMPLE, [246.6, 15742.7]);
    row("UTF8 auto", utf8(&different), NEW, [837.3, 11822.9]);
    row("UTF8 fixed-max (auto)", utf8(&hex), NEW, [141.0, 8467.5]);
    row("UTF8 dict", utf8(&words), NEW_DICTIONARY, [178.8, 12563.0]);

    let auto = |name: &str, rows: Rows<'_>| {
        let (mut dst, mut memory) = room(&rows);
        let ours = || {
            let len = encode_auto(black_box(&rows), &mut dst, &mut Scratch::new(&mut memory));
            black_box(len.unwrap());
        };
        Work::new(name, rows.len(), plain_len(&rows), ours).run();
    };
    auto("encode_auto: int random32", ints(&data.random32));
    auto("encode_auto: int 0..255", ints(&data.byte));
    auto("encode_auto: int random32 10% NA", data.with_na());
    auto("encode_auto: long random64", longs(&data.random64));
    auto("encode_auto: long timestamps", longs(&data.times));
    auto("encode_auto: double gaussian", doubles(&data.gaussian));
    auto("encode_auto: double integral", doubles(&data.whole));
    auto("encode_auto: UTF8 of 500 strings", utf8(&words));
    auto("encode_auto: UTF8, all different", utf8(&different));
}

/// Returns a chunk at an odd address, so that no batch can borrow its values.
fn chunk(rows: &Rows<'_>, like: Original) -> Vec<u8> {
    let (mut dst, mut memory) = room(rows);
    let len = encode_like_original(rows, like, &mut dst[1..], &mut Scratch::new(&mut memory)).unwrap();
    dst.truncate(len + 1);
    dst
}

/// Size in bytes of the scratch buffer of a reader; it fits into the first-level cache together with the chunk.
const SCRATCH: usize = 32 << 10;

/// Reads all rows batch by batch through one small scratch buffer, as a consumer does. Sums the lengths of strings, as
/// the original did.
fn read(chunk: &[u8], element: Element, memory: &mut [u8]) -> usize {
    let column = Vector::open(chunk, element).unwrap().column(0).unwrap();
    let mut scratch = Scratch::new(memory);
    let (mut row, mut sum) = (0, 0);
    while row < column.rows() {
        let mut scope = scratch.scope();
        let rows = fit(&column, row..column.rows(), scope.room()).unwrap();
        let batch = column.read(rows, &mut scope).unwrap();
        sum += match batch.values {
            Values::Utf8(VarBytes { spans: Spans::Each(spans), .. }) => {
                spans.iter().map(|[_, len]| *len).sum::<u32>() as usize
            }
            Values::Utf8(VarBytes { spans: Spans::Slots { lens, .. }, .. }) => {
                // Sums of 256 lengths fit in 16 bits, which keeps the lanes of this loop narrow, too.
                let short = |lens: &[u8]| usize::from(lens.iter().map(|len| u16::from(*len)).sum::<u16>());
                lens.chunks(256).map(short).sum()
            }
            values => {
                black_box(&values);
                batch.len
            }
        };
        row += batch.len as u64;
    }
    sum
}

fn decode_rows(data: &Data, size: usize) {
    let row = |name: &str, rows: Rows<'_>, like: Original, original: [f64; 2]| {
        let chunk = chunk(&rows, like);
        let (mut memory, element) = (vec![0; SCRATCH], rows.values.element());
        let ours = || _ = black_box(read(black_box(&chunk[1..]), element, &mut memory));
        Work::new(name, rows.len(), plain_len(&rows), ours).original(original[size], data.ghz).run();
    };
    let (words, different, hex) = (slices(&data.words), slices(&data.different), slices(&data.hex));
    let ints = |v| Rows::all(Plain::Int(v));
    let longs = |v| Rows::all(Plain::Long(v));
    let doubles = |v| Rows::all(Plain::Double(v));
    let string = |v| Rows::all(Plain::String(Strings::Slices(v)));
    let utf8 = |v| Rows::all(Plain::Utf8(Strings::Slices(v)));
    row("int random32 (new)", ints(&data.random32), NEW, [4.2, 209.3]);
    row("int 0..255 (new)", ints(&data.byte), NEW, [3.4, 168.7]);
    row("int 0..15 (new)", ints(&data.nibble), NEW, [6.7, 331.0]);
    row("int random32 10% NA (new)", data.with_na(), NEW, [11.3, 895.3]);
    row("int random32 (flatbuffer simple)", ints(&data.random32), OLD_SIMPLE, [9.0, 469.8]);
    row("int diff8 (flatbuffer diff)", ints(&data.near), OLD_DIFF, [8.8, 438.7]);
    row("long random64 (new)", longs(&data.random64), NEW, [4.1, 226.2]);
    row("long timestamps (delta-delta)", longs(&data.times), NEW, [7.8, 392.5]);
    row("long random64 (flatbuffer simple)", longs(&data.random64), OLD_SIMPLE, [8.9, 450.0]);
    row("double gaussian (new)", doubles(&data.gaussian), NEW, [4.5, 222.9]);
    row("double integral (new, as int16)", doubles(&data.whole), NEW, [6.4, 444.0]);
    row("double gaussian (flatbuffer simple)", doubles(&data.gaussian), OLD_SIMPLE, [9.0, 468.3]);
    row("dict strings (flatbuffer)", string(&words), OLD_DICTIONARY, [30.6, 1277.2]);
    row("simple strings (flatbuffer)", string(&words), OLD_SIMPLE, [186.6, 12823.2]);
    row("UTF8 variable", utf8(&different), NEW_SIMPLE, [5.4, 557.8]);
    row("UTF8 fixed-max", utf8(&hex), NEW, [4.5, 225.8]);
    row("UTF8 dict", utf8(&words), NEW_DICTIONARY, [12.2, 756.8]);
}

/// Returns work that sums the rows of a vector through a view of a type.
macro_rules! by_view {
    ($vector:expr, $ty:ty, $number:expr) => {{
        let view = $vector.view::<$ty>().unwrap();
        move || {
            let (view, mut sum) = (black_box(view), 0i64);
            for row in 0..view.rows() {
                sum = sum.wrapping_add(view.get(row).unwrap().map_or(1, $number));
            }
            black_box(sum);
        }
    }};
}
/// Reads row by row, as the original does.
fn random_access(data: &Data) {
    let row = |name: &str, rows: Rows<'_>, like: Original, original: f64| {
        let chunk = chunk(&rows, like);
        let vector = Vector::open(&chunk[1..], rows.values.element()).unwrap();
        let ours = || {
            let mut sum = 0i64;
            for row in 0..black_box(vector).rows() {
                sum = sum.wrapping_add(match vector.get(row) {
                    Ok(Some(Value::Int(v))) => v.into(),
                    Ok(Some(Value::Long(v))) => v,
                    Ok(Some(Value::Bytes(v))) => v.len() as i64,
                    _ => 1,
                });
            }
            black_box(sum);
        };
        Work::new(name, rows.len(), plain_len(&rows), ours).original(original, data.ghz).run();
        // By the view of the type.
        let ours: Box<dyn FnMut()> = match rows.values.element() {
            Element::Int => Box::new(by_view!(vector, i32, i64::from)),
            Element::Long => Box::new(by_view!(vector, i64, |v| v)),
            _ => Box::new(by_view!(vector, &[u8], |v| v.len() as i64)),
        };
        Work::new(format!("{name}, view"), rows.len(), plain_len(&rows), ours).original(original, data.ghz).run();
    };
    let words = slices(&data.words);
    row("int random32 (new)", Rows::all(Plain::Int(&data.random32)), NEW, 4.2);
    row("int 0..15 (new)", Rows::all(Plain::Int(&data.nibble)), NEW, 6.7);
    row("int random32 10% NA (new)", data.with_na(), NEW, 11.3);
    row("long random64 (new)", Rows::all(Plain::Long(&data.random64)), NEW, 4.1);
    row("long timestamps (delta-delta)", Rows::all(Plain::Long(&data.times)), NEW, 7.8);
    row("dict strings (flatbuffer)", Rows::all(Plain::String(Strings::Slices(&words))), OLD_DICTIONARY, 30.6);
    row("UTF8 variable", Rows::all(Plain::Utf8(Strings::Slices(&slices(&data.different)))), NEW_SIMPLE, 5.4);
    row("UTF8 dict", Rows::all(Plain::Utf8(Strings::Slices(&words))), NEW_DICTIONARY, 12.2);
}

/// Number of values for the kernels, many times the size of the caches.
const MANY: usize = 8 << 20;

const WIDTHS: [Packing; 9] = [
    Packing::U2,
    Packing::U4,
    Packing::I8,
    Packing::U8,
    Packing::I16,
    Packing::U16,
    Packing::I32,
    Packing::U32,
    Packing::W64,
];

/// Returns numbers in the range of a packing.
fn numbers(packing: Packing) -> Vec<i64> {
    let bits = packing.bits();
    let (mut r, down) = (Random(bits.into()), if packing.signed() { 1i64 << (bits - 1) } else { 0 });
    (0..MANY).map(|_| ((r.next() >> (64 - bits)) as i64).wrapping_sub(down)).collect()
}

fn kernels() {
    let mut memory = vec![0u8; MANY * 10];
    let mut row = |name: String, encoding: Encoding, rows: Rows<'_>, rival: Option<u8>| {
        let (mut dst, mut none) = (vec![0; rows.len() * 9 + 1000], Scratch::new(&mut []));
        let len = encode(encoding, &rows, &mut dst[1..], &mut none).unwrap();
        let chunk = &dst[1..=len];
        let element = rows.values.element();
        let ours = || _ = black_box(read(black_box(chunk), element, &mut memory));
        let work = Work::new(name, rows.len(), plain_len(&rows), ours);
        let (Some(bits), Plain::Int(values)) = (rival, rows.values) else { return work.run() };
        let (packer, packed) = rival_packed(values, bits);
        let mut out = vec![0u32; values.len()];
        work.rival("bitpacking", || {
            let blocks = packed.chunks_exact(16 * usize::from(bits));
            for (block, out) in black_box(blocks).zip(out.chunks_exact_mut(BitPacker4x::BLOCK_LEN)) {
                packer.decompress(block, out, bits);
            }
            black_box(&out);
        })
        .run();
    };
    let valid: Vec<u8> = noise(MANY / 8).iter().map(|byte| byte | byte.rotate_left(3) | byte.rotate_left(6)).collect();
    let some = Validity::Bits(Bits::new(&valid, 0, MANY).unwrap());
    for packing in WIDTHS {
        let longs = numbers(packing);
        let bits = packing.bits();
        if bits <= 32 && packing != Packing::U32 {
            let ints: Vec<i32> = longs.iter().map(|v| *v as i32).collect();
            let rival = (!packing.signed() || bits == 32).then_some(bits as u8);
            let values = Plain::Int(&ints);
            row(format!("{packing:?} to int"), Encoding::Packed(packing), Rows::all(values), rival);
            row(
                format!("{packing:?} to int, masked"),
                Encoding::Masked(packing),
                Rows { values, validity: some },
                None,
            );
            let doubles: Vec<f64> = ints.iter().map(|v| f64::from(*v)).collect();
            row(format!("{packing:?} to double"), Encoding::Packed(packing), Rows::all(Plain::Double(&doubles)), None);
            let line: Vec<i64> = longs.iter().zip(0..).map(|(v, i)| 77 + 1000 * i + v).collect();
            let line = ends_on_line(line, &longs);
            row(format!("{packing:?} DeltaDelta"), Encoding::DeltaDelta(packing), Rows::all(Plain::Long(&line)), None);
        }
        let values = Plain::Long(&longs);
        let dense = if packing == Packing::U32 { Encoding::Simple(packing) } else { Encoding::Packed(packing) };
        row(format!("{packing:?} to long"), dense, Rows::all(values), None);
        if packing != Packing::U32 {
            row(
                format!("{packing:?} to long, masked"),
                Encoding::Masked(packing),
                Rows { values, validity: some },
                None,
            );
        }
        if bits >= 8 && !packing.signed() {
            let above: Vec<i64> = longs.iter().map(|v| v.wrapping_add(1_480_000_000_000)).collect();
            row(format!("{packing:?} Diff"), Encoding::Diff(packing), Rows::all(Plain::Long(&above)), None);
        }
    }
}

/// Removes the noise of the first and the last value, so that the writer chooses the line of slope 1000.
fn ends_on_line(mut line: Vec<i64>, noise: &[i64]) -> Vec<i64> {
    let last = line.len() - 1;
    (line[0], line[last]) = (line[0] - noise[0], line[last] - noise[last]);
    line
}

fn rival_packed(values: &[i32], bits: u8) -> (BitPacker4x, Vec<u8>) {
    let packer = BitPacker4x::new();
    let values: Vec<u32> = values.iter().map(|v| *v as u32).collect();
    let mut packed = vec![0; values.len() * 4 + 64];
    let mut at = 0;
    for block in values.chunks_exact(BitPacker4x::BLOCK_LEN) {
        at += packer.compress(block, &mut packed[at..], bits);
    }
    packed.truncate(at);
    (packer, packed)
}

fn encode_kernels() {
    let mut dst = vec![0u8; MANY * 9 + 1000];
    let mut row = |name: String, rows: Rows<'_>, rival: Option<u8>| {
        let ours = || _ = black_box(encode_auto(black_box(&rows), &mut dst, &mut Scratch::new(&mut [])).unwrap());
        let work = Work::new(name, rows.len(), plain_len(&rows), ours);
        let (Some(bits), Plain::Int(values)) = (rival, rows.values) else { return work.run() };
        let packer = BitPacker4x::new();
        let words: Vec<u32> = values.iter().map(|v| *v as u32).collect();
        let mut packed = vec![0; values.len() * 4 + 64];
        work.rival("bitpacking", || {
            let (mut at, mut most) = (0, 0);
            // Computes its own statistics, as the code of pilaster does.
            for block in black_box(&words).chunks_exact(BitPacker4x::BLOCK_LEN) {
                most = packer.num_bits(block).max(most);
            }
            for block in words.chunks_exact(BitPacker4x::BLOCK_LEN) {
                at += packer.compress(block, &mut packed[at..], most.max(bits));
            }
            black_box(at);
        })
        .run();
    };
    for packing in [Packing::U2, Packing::U4, Packing::U8, Packing::U16, Packing::I32, Packing::W64] {
        let longs = numbers(packing);
        if packing != Packing::W64 {
            let ints: Vec<i32> = longs.iter().map(|v| *v as i32).collect();
            row(format!("int {packing:?}"), Rows::all(Plain::Int(&ints)), Some(packing.bits() as u8));
            let doubles: Vec<f64> = ints.iter().map(|v| f64::from(*v)).collect();
            row(format!("double {packing:?}"), Rows::all(Plain::Double(&doubles)), None);
        }
        row(format!("long {packing:?}"), Rows::all(Plain::Long(&longs)), None);
    }
}
