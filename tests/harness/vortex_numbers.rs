//! The encodings that go number by number: ALP, ALP-RD, frame of reference, zigzag, sequences, runs, dictionary
//! codes, patches, spreading over the rows that have a value. Each as the text says it, beside its kernel.

use pilaster::unstable::encoding::cells::Cells;
use pilaster::unstable::encoding::{alp, integers};

pub fn run(data: &[u8]) {
    let Some((&[kind, a, b], rest)) = data.split_first_chunk() else { return };
    match kind % 8 {
        0 => floats(a, b, rest),
        1 => parts(a, rest),
        2 => steps(kind, rest),
        3 => runs(a, rest),
        4 => codes(a, rest),
        5 => patches(rest),
        6 => valid(rest),
        _ => sequences(a, rest),
    }
}

/// Numbers of eight bytes.
fn words(bytes: &[u8]) -> ([u64; 32], usize) {
    let mut words = [0; 32];
    let mut count = 0;
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().expect("eight"));
        count += 1;
    }
    (words, count)
}

/// Section 10, `vortex.alp`: each product rounded.
fn floats(e: u8, f: u8, bytes: &[u8]) {
    let (e, f) = (u32::from(e % 26), u32::from(f % 26));
    let (mut doubles, count) = words(bytes);
    let before = doubles;
    let done = alp::decode(e, f, Cells::W8(&mut doubles[..count]));
    assert_eq!(done.is_ok(), e <= 23 && f <= 23);
    let power = |exponent: i32| format_power(exponent);
    if done.is_ok() {
        let (up, down) = (power(f as i32), power(-(e as i32)));
        for (word, before) in doubles[..count].iter().zip(before) {
            let product = before as i64 as f64 * up;
            assert_eq!(f64::from_bits(*word), product * down, "{before} e {e} f {f}");
        }
    }
    let mut singles = before.map(|word| word as u32);
    let done = alp::decode(e, f, Cells::W4(&mut singles[..count]));
    assert_eq!(done.is_ok(), e <= 10 && f <= 10);
    if done.is_ok() {
        // The nearest single to a power of ten is the nearest to its nearest double, that far.
        let (up, down) = (power(f as i32) as f32, power(-(e as i32)) as f32);
        for (word, before) in singles[..count].iter().zip(before) {
            let product = before as u32 as i32 as f32 * up;
            assert_eq!(f32::from_bits(*word), product * down, "{before} e {e} f {f}");
        }
    }
}

/// The double nearest to a power of ten: what the standard library reads in its decimal form.
fn format_power(exponent: i32) -> f64 {
    let mut text = *b"1e+00";
    let digits = exponent.unsigned_abs() as u8;
    text[2] = if exponent < 0 { b'-' } else { b'+' };
    (text[3], text[4]) = (b'0' + digits / 10, b'0' + digits % 10);
    core::str::from_utf8(&text).expect("digits").parse().expect("a power of ten")
}

/// `vortex.alprd`: left parts of a dictionary, and right parts below them.
fn parts(width: u8, bytes: &[u8]) {
    let (mut rights, count) = words(bytes);
    let dictionary: [u16; 8] = core::array::from_fn(|i| rights[i] as u16);
    let entries = usize::from(width % 9);
    let mut lefts: [u16; 32] = core::array::from_fn(|i| (rights[i] >> 60) as u16);
    let codes = lefts;
    let bad = alp::lefts(&dictionary[..entries], &mut lefts[..count]);
    assert_eq!(bad, codes[..count].iter().position(|code| usize::from(*code) >= entries));
    let width = u32::from(width % 70);
    let mask = 1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
    for right in &mut rights {
        *right &= mask;
    }
    let before = rights;
    let done = alp::join(&lefts[..count], width, Cells::W8(&mut rights[..count]));
    assert_eq!(done.is_ok(), width < 64);
    if done.is_ok() && bad.is_none() {
        for i in 0..count {
            assert_eq!(rights[i], u64::from(dictionary[usize::from(codes[i])]) << width | before[i]);
        }
    }
}

/// Frame of reference and zigzag, at every width.
fn steps(kind: u8, bytes: &[u8]) {
    let (words, count) = words(bytes);
    let reference = words[31] ^ words[0];
    macro_rules! check {
        ($($word:ident, $signed:ident, $cells:ident;)*) => {$(
            let before = words.map(|word| word as $word);
            let mut now = before;
            integers::add(reference, Cells::$cells(&mut now[..count]));
            for i in 0..count {
                assert_eq!(now[i], before[i].wrapping_add(reference as $word));
            }
            let mut now = before;
            integers::unzigzag(Cells::$cells(&mut now[..count]));
            for i in 0..count {
                // 0, -1, 1, -2 and so on.
                let half = (before[i] / 2) as $signed;
                assert_eq!(now[i] as $signed, if before[i] % 2 == 0 { half } else { -1 - half });
            }
        )*};
    }
    if kind & 0x80 == 0 {
        check! { u8, i8, W1; u64, i64, W8; }
    } else {
        check! { u16, i16, W2; u32, i32, W4; }
    }
}

fn sequences(first: u8, bytes: &[u8]) {
    let (words, _) = words(bytes);
    let [base, step] = [words[0], words[1]];
    let mut wide = [0u64; 40];
    let mut narrow = [0u16; 40];
    integers::sequence(base, step, first.into(), Cells::W8(&mut wide));
    integers::sequence(base, step, first.into(), Cells::W2(&mut narrow));
    for (i, (wide, narrow)) in wide.iter().zip(narrow).enumerate() {
        let row = u64::from(first) + i as u64;
        assert_eq!(*wide, base.wrapping_add(row.wrapping_mul(step)));
        assert_eq!(narrow, *wide as u16);
    }
}

fn runs(len: u8, ends: &[u8]) {
    let (mut out, mut values, mut places) = ([0u16; 256], [0u16; 64], [0u64; 64]);
    for (i, (place, end)) in places.iter_mut().zip(ends).enumerate() {
        (*place, values[i]) = ((*end).into(), i as u16 + 1);
    }
    let (len, count) = (usize::from(len), ends.len().min(64));
    let done = Cells::W2(&mut out[..len]).expand(&Cells::W2(&mut values[..count]), &places[..count]);
    if done.is_ok() {
        for (i, cell) in out[..len].iter().enumerate() {
            let naive = places[..count].iter().position(|end| *end > i as u64).expect("a run");
            assert_eq!(usize::from(*cell), naive + 1);
        }
    }
}

fn codes(count: u8, codes: &[u8]) {
    let mut values = [0u32; 256];
    for (i, value) in values.iter_mut().enumerate() {
        *value = i as u32 * 3;
    }
    let (mut out, mut numbers) = ([7u32; 64], [0u32; 64]);
    for (number, code) in numbers.iter_mut().zip(codes) {
        *number = (*code).into();
    }
    let bad = Cells::W4(&mut out).gather(&Cells::W4(&mut values[..usize::from(count)]), &numbers);
    assert_eq!(bad, numbers.iter().position(|number| *number >= count.into()));
    for (cell, number) in out.iter().zip(numbers).filter(|(_, number)| *number < count.into()) {
        assert_eq!(*cell, number * 3);
    }
}

/// Values at places, those beyond the end counted as bad.
fn patches(bytes: &[u8]) {
    let (mut out, mut values, mut places) = ([0u8; 100], [0u8; 64], [0u64; 64]);
    let count = bytes.len().min(64);
    for (i, (place, byte)) in places.iter_mut().zip(bytes).enumerate() {
        (*place, values[i]) = (u64::from(*byte) / 2, i as u8 + 1);
    }
    let mut naive = out;
    for (place, value) in places[..count].iter().zip(values) {
        if let Some(cell) = naive.get_mut(*place as usize) {
            *cell = value;
        }
    }
    let bad = Cells::W1(&mut out).scatter(&Cells::W1(&mut values[..count]), &places[..count]);
    assert_eq!(bad, places[..count].iter().position(|place| *place >= 100));
    assert_eq!(out, naive);
}

/// The stored values go to the rows that have one.
fn valid(bytes: &[u8]) {
    let (mut cells, mut rows) = ([0u16; 128], [0u8; 128]);
    let count = bytes.len().min(128);
    for (i, (row, byte)) in rows.iter_mut().zip(bytes).enumerate() {
        (*row, cells[i]) = (byte & 1, i as u16 + 1);
    }
    let mut next = 0;
    let naive: [u16; 128] = core::array::from_fn(|i| {
        next += u16::from(rows[i]);
        if i < count && rows[i] == 1 { next } else { 0 }
    });
    Cells::W2(&mut cells[..count]).spread(&rows[..count]);
    assert_eq!(cells[..count], naive[..count]);
}
