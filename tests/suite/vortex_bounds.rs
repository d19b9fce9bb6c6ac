//! Zone maps and statistics of written Vortex files are bounds of the rows.

use core::cmp::Ordering;

use pilaster::bytes::{Bits, Scratch, half_to_f32};
use pilaster::column::{
    Batch, Borrowed, Column as _, Memory, Part as _, Prim, Spans, Type, Validity, Value, Values, VarBytes,
};
use pilaster::vortex::write::{WriteOptions, Writer};
use pilaster::vortex::{Column, File};
use proptest::prelude::*;

/// Rows of a column: two zones and part of a third.
const ROWS: usize = 16_700;
const ZONE: usize = 8192;

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A column of each kind that has bounds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Bool,
    I8,
    U64,
    F16,
    F32,
    F64,
    Decimal,
    Wide,
    Text,
    Bytes,
}

const KINDS: [Kind; 10] = [
    Kind::Bool,
    Kind::I8,
    Kind::U64,
    Kind::F16,
    Kind::F32,
    Kind::F64,
    Kind::Decimal,
    Kind::Wide,
    Kind::Text,
    Kind::Bytes,
];

/// Floats at which an order could be wrong: NaN of both signs, zeros, infinities, the smallest numbers.
const FLOATS: [f64; 10] =
    [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324, f64::MAX, f64::MIN];

/// Characters of one to four bytes, among them those after which no greater one has the same length.
const CHARS: [char; 9] = ['\0', 'a', '~', '\u{7f}', '\u{e9}', '\u{7ff}', '\u{d7ff}', '\u{ffff}', '\u{10ffff}'];

/// A long prefix that many texts share, and a few characters or bytes around byte 64.
fn text(random: &mut Random, is_text: bool) -> Vec<u8> {
    let prefix = [0, 3, 58, 60, 61, 62, 63, 64][random.below(8)];
    let mut text = match (random.below(3), is_text) {
        (0, true) => "\u{10ffff}".repeat(prefix / 4).into_bytes(),
        (0, false) => vec![0xff; prefix],
        _ => vec![b'p'; prefix],
    };
    for _ in 0..random.below(6) {
        match is_text {
            true => text.extend(CHARS[random.below(CHARS.len())].to_string().bytes()),
            false => text.push([0, b'q', 0xfe, 0xff][random.below(4)]),
        }
    }
    text
}

/// The values of a column in memory.
struct Owned {
    kind: Kind,
    words: Vec<u64>,
    halves: Vec<u16>,
    floats: Vec<f32>,
    doubles: Vec<f64>,
    longs: Vec<i128>,
    wides: Vec<[u64; 4]>,
    data: Vec<u8>,
    offsets: Vec<u32>,
    valid: Vec<u8>,
}

impl Owned {
    /// `few`: how many of the special values may occur, so that some zones have none, or nothing else.
    fn new(kind: Kind, seed: u64, few: bool) -> Owned {
        let random = &mut Random(seed);
        let words: Vec<u64> = (0..ROWS).map(|_| random.next()).collect();
        let special = |random: &mut Random, word: u64| match random.below(if few { ROWS } else { 3 }) {
            0 => FLOATS[random.below(FLOATS.len())],
            _ => f64::from(word as i32) / 8.0,
        };
        let doubles: Vec<f64> = words.iter().map(|word| special(random, *word)).collect();
        let (mut data, mut offsets) = (Vec::new(), vec![0]);
        for _ in 0..ROWS {
            data.extend(text(random, matches!(kind, Kind::Text)));
            offsets.push(data.len() as u32);
        }
        // Zone 1 has no values at all in some columns.
        let none = random.below(3) == 0;
        let mut valid: Vec<u8> = (0..ROWS.div_ceil(8)).map(|_| random.next() as u8 | random.next() as u8).collect();
        if none {
            valid[ZONE / 8..2 * ZONE / 8].fill(0);
        }
        Owned {
            kind,
            halves: words.iter().map(|word| *word as u16).collect(),
            floats: doubles.iter().map(|value| *value as f32).collect(),
            longs: words.iter().map(|word| i128::from(word.cast_signed()) * 1_000_000_007).collect(),
            wides: words.iter().map(|word| [word ^ 1, 0, *word, (word >> 8).wrapping_neg()]).collect(),
            words,
            doubles,
            data,
            offsets,
            valid,
        }
    }

    fn column(&self) -> Borrowed<'_> {
        let texts = VarBytes { data: &self.data, spans: Spans::Off32(&self.offsets) };
        let small: &[i8] = bytemuck_i8(&self.words);
        let (ty, values) = match self.kind {
            Kind::Bool => (Type::Bool, Values::Bool(Bits::new(&self.data, 0, ROWS).unwrap())),
            Kind::I8 => (Type::Prim(Prim::I8), Values::I8(&small[..ROWS])),
            Kind::U64 => (Type::Prim(Prim::U64), Values::U64(&self.words)),
            Kind::F16 => (Type::Prim(Prim::F16), Values::F16(&self.halves)),
            Kind::F32 => (Type::Prim(Prim::F32), Values::F32(&self.floats)),
            Kind::F64 => (Type::Prim(Prim::F64), Values::F64(&self.doubles)),
            Kind::Decimal => (Type::Decimal { precision: 30, scale: 2 }, Values::I128(&self.longs)),
            Kind::Wide => (Type::Decimal { precision: 76, scale: 2 }, Values::I256(&self.wides)),
            Kind::Text => (Type::Utf8, Values::Utf8(texts)),
            Kind::Bytes => (Type::Bytes, Values::Bytes(texts)),
        };
        Borrowed::new(ty, values).with_validity(Validity::Bits(Bits::new(&self.valid, 0, ROWS).unwrap()))
    }
}

/// The bytes of words as small numbers.
fn bytemuck_i8(words: &[u64]) -> &[i8] {
    bytemuck::cast_slice(words)
}

/// Order of two values, half floats included; `None` for NaN or null.
fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::F16(a), Value::F16(b)) => half_to_f32(*a).partial_cmp(&half_to_f32(*b)),
        _ => a.compare(b),
    }
}

fn is_nan(value: &Value<'_>) -> bool {
    *value != Value::Null && order(value, value).is_none()
}

/// A bound of a zone, in memory of its own.
fn bound<'m>(column: Option<Column<'m>>, zone: u64, memory: &'m mut [u8]) -> Value<'m> {
    column.map_or(Value::Null, |column| column.scalar_at(zone, &mut Scratch::new(memory)).unwrap().value(0).unwrap())
}

/// Every zone of the written column has bounds and counts that its rows agree with. Returns how many bounds are known.
fn check(owned: &Owned) -> usize {
    let source = owned.column();
    let columns = [("c", source)];
    let mut file = Writer::new(Vec::new(), &columns[..], &WriteOptions::DEFAULT).unwrap();
    file.push(&columns[..]).unwrap();
    let bytes = file.finish().unwrap();
    let file = File::open(&bytes).unwrap();
    // The statistics of the file are compared with all rows here.
    file.verify(&mut Memory::with_len(1 << 22).unwrap().scratch()).unwrap();
    let batch = source.read(0..ROWS as u64, &mut Scratch::new(&mut [])).unwrap();
    let zones = file.part().unwrap().column(0).unwrap().zones().unwrap().expect("zones");
    assert_eq!(zones.len(), 3);
    let mut known = 0;
    for zone in 0..zones.len() {
        let (mut a, mut b, mut c) = (vec![0; 1 << 16], vec![0; 1 << 16], vec![0; 1 << 12]);
        let (min, max) = (bound(zones.min(), zone, &mut a), bound(zones.max(), zone, &mut b));
        let rows = zones.rows(zone);
        let values = |row: u64| batch.value(row as usize).unwrap();
        let nulls = rows.clone().filter(|row| values(*row) == Value::Null).count();
        assert_eq!(bound(zones.null_count(), zone, &mut c), Value::Int(nulls as i128));
        for row in rows {
            let value = values(row);
            assert!(order(&value, &min) != Some(Ordering::Less), "zone {zone}, row {row}: {value:?} < {min:?}");
            assert!(order(&value, &max) != Some(Ordering::Greater), "zone {zone}, row {row}: {value:?} > {max:?}");
        }
        for bound in [min, max] {
            assert!(!is_nan(&bound));
            if let Value::Text(text) = bound {
                assert!(core::str::from_utf8(text).is_ok() && text.len() <= 64, "{text:?}");
            }
            known += usize::from(bound != Value::Null);
        }
    }
    of_file(&file, &batch);
    known
}

/// The rows are within the bounds of the file, which are exact if they say so.
fn of_file(file: &File<'_>, batch: &Batch<'_, Borrowed<'_>>) {
    let statistics = file.column_statistics(0).unwrap().expect("statistics");
    let nulls = (0..ROWS).filter(|row| batch.value(*row) == Ok(Value::Null)).count() as u64;
    assert_eq!(statistics.null_count().unwrap(), Some(nulls));
    let nans = (0..ROWS).filter(|row| is_nan(&batch.value(*row).unwrap())).count() as u64;
    assert_eq!(statistics.nan_count().unwrap().unwrap_or(0), nans);
    for (bound, is_min) in [(statistics.min().unwrap(), true), (statistics.max().unwrap(), false)] {
        let Some(bound) = bound else { continue };
        if !matches!(batch.values, Values::Utf8(_) | Values::Bytes(_)) {
            assert!(bound.exact);
            continue;
        }
        let text = bound.scalar.bytes().unwrap();
        assert!(text.len() <= 64);
        let all = (0..ROWS).filter_map(|row| match batch.value(row).unwrap() {
            Value::Text(text) | Value::Bytes(text) => Some(text),
            _ => None,
        });
        let found = if is_min { all.min() } else { all.max() }.unwrap();
        assert_eq!(bound.exact, found == text);
        assert!(if is_min { text <= found } else { text >= found });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn zones_and_statistics_are_bounds(seed: u64, k in 0..KINDS.len(), few: bool) {
        check(&Owned::new(KINDS[k], seed, few));
    }
}

#[test]
fn every_type_has_bounds() {
    for kind in KINDS {
        // The second of three zones may have no values, and an upper bound may be too long.
        let known = check(&Owned::new(kind, 1, true));
        assert!(known >= 3, "{kind:?}: {known}");
    }
}
