//! Mutations of bytes and of JSON texts.

use pilaster_peers::random::Random;

/// Integers at the edges of types.
const INTS: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    127,
    128,
    255,
    256,
    1000,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x1_0000_0000,
];
/// Maximum number of bytes of a mutated file.
const LONGEST: usize = 300_000;

/// Returns a position in `len` bytes. Half of them are near the ends, more near the last one if `tail`.
fn position(r: &mut Random, len: usize, tail: bool) -> usize {
    match r.below(if tail { 6 } else { 4 }) {
        _ if len == 0 => 0,
        0 => r.below(len.min(64)),
        1 | 2 => r.below(len),
        3 => len - 1 - r.below(len.min(64)),
        _ => len - 1 - r.below(len.min(2500)),
    }
}

/// Changes `d` in one to six places. `other`: a second file, whose bytes may be inserted. `tail`: the format has its
/// metadata at the end.
pub fn bytes(d: &mut Vec<u8>, other: &[u8], r: &mut Random, tail: bool) {
    let times = 1 + if r.below(3) == 0 { r.below(6) } else { 0 };
    for _ in 0..times {
        if d.is_empty() {
            d.push(r.next() as u8);
        }
        let p = position(r, d.len(), tail);
        match r.below(15) {
            0 | 1 => d[p] ^= 1 << r.below(8),
            2 => d[p] = r.next() as u8,
            3 | 4 => edge(d, p, r),
            kind @ 5..=11 => splice(d, other, r, p, (kind, tail)),
            _ => step(d, p, r),
        }
    }
}

/// Writes an integer of [`INTS`], in either byte order, at an aligned position.
fn edge(d: &mut [u8], p: usize, r: &mut Random) {
    let width = r.pick(&[1, 2, 4, 8]);
    let mut value = r.pick(&INTS).to_le_bytes();
    if r.below(4) == 0 {
        value[..width].reverse();
    }
    d[p / width * width..].iter_mut().zip(&value[..width]).for_each(|(to, from)| *to = *from);
}

/// Changes an aligned integer a little.
fn step(d: &mut [u8], p: usize, r: &mut Random) {
    let width = r.pick(&[1, 2, 4, 8]);
    let Some(place) = d.get_mut(p / width * width..p / width * width + width) else { return };
    let mut word = [0; 8];
    word[..width].copy_from_slice(place);
    let v = u64::from_le_bytes(word);
    let v = match r.below(7) {
        0 => v.wrapping_add(1),
        1 => v.wrapping_sub(1),
        2 => v.wrapping_mul(2),
        3 => v / 2,
        4 => v.wrapping_add(r.below(64) as u64),
        5 => v.wrapping_sub(r.below(64) as u64),
        _ => !v,
    };
    place.copy_from_slice(&v.to_le_bytes()[..width]);
}

/// Cuts, copies, moves or fills several bytes.
fn splice(d: &mut Vec<u8>, other: &[u8], r: &mut Random, p: usize, (kind, tail): (usize, bool)) {
    let rest = d.len() - p;
    match kind {
        5 => d.truncate(r.below(d.len() + 1)),
        6 => {
            let from = r.below(other.len() + 1);
            let len = r.below(64.min(other.len() - from) + 1).min(rest);
            d[p..p + len].copy_from_slice(&other[from..from + len]);
        }
        7 => {
            d.truncate(p);
            d.extend_from_slice(&other[r.below(other.len() + 1)..]);
            d.truncate(LONGEST);
        }
        8 => {
            let copy = d[p..p + (1 + r.below(32)).min(rest)].to_vec();
            let to = position(r, d.len(), tail);
            d.splice(to..to, copy);
        }
        9 => drop(d.drain(p..p + (1 + r.below(32)).min(rest))),
        10 => {
            let len = (1 + r.below(64)).min(rest);
            d[p..p + len].fill(r.pick(&[0, 0xff]));
        }
        _ => {
            let (len, q) = (1 + r.below(16), position(r, d.len(), tail));
            (0..len).filter(|i| p.max(q) + i < d.len()).collect::<Vec<_>>().iter().for_each(|i| d.swap(p + i, q + i));
        }
    }
}

/// Words that JSON metadata of bcolz may contain, and some that it may not.
const WORDS: [&str; 40] = [
    "-1",
    "0",
    "1e9",
    "1000000000000",
    "18446744073709551615",
    "9223372036854775808",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "[[[[[[[[",
    "{\"a\":",
    "\\u0000",
    "\\ud800",
    "\"..\"",
    "\"../x\"",
    "\"/etc\"",
    "\"object\"",
    "\"|O\"",
    "\"|S0\"",
    "\"<U0\"",
    "\"|S4294967295\"",
    "\"<M8[ns]\"",
    "\"[('a','<i4')]\"",
    "\"[('a', '<i4', (3,)), ('b', [('c', '<f8')])]\"",
    "NaN",
    "Infinity",
    "1.5",
    "chunklen",
    "shape",
    "dtype",
    "1",
    "2147483647",
    "4294967296",
    "\u{feff}",
    "\\\"",
    ",",
    "]",
    "}",
];

/// Changes a JSON text: words, numbers, or as [`bytes`].
pub fn text(d: &mut Vec<u8>, other: &[u8], r: &mut Random) {
    for _ in 0..1 + r.below(3) {
        if d.is_empty() {
            d.push(b'{');
        }
        match r.below(5) {
            0 => {
                let p = r.below(d.len());
                let len = r.below(8).min(d.len() - p);
                d.splice(p..p + len, r.pick(&WORDS).bytes());
            }
            1 => number(d, r),
            _ => bytes(d, other, r, false),
        }
    }
}

/// Replaces the decimal number at a random digit.
fn number(d: &mut Vec<u8>, r: &mut Random) {
    let digits: Vec<usize> = (0..d.len()).filter(|j| d[*j].is_ascii_digit()).collect();
    if digits.is_empty() {
        return;
    }
    let p = r.pick(&digits);
    let end = (p..d.len()).find(|j| !d[*j].is_ascii_digit()).unwrap_or(d.len());
    let new = match r.below(3) {
        0 => WORDS[r.below(6)].to_owned(),
        1 => r.below(3000).to_string(),
        _ => {
            let old: i64 = std::str::from_utf8(&d[p..end]).ok().and_then(|t| t.parse().ok()).unwrap_or(0);
            old.wrapping_add(r.below(5) as i64 - 2).to_string()
        }
    };
    d.splice(p..end, new.into_bytes());
}
