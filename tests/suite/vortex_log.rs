//! Logs of rows, written without a heap: read back whole, at each checkpoint, after power cuts and damage.

use pilaster::column::{Column as _, Memory, Part as _, Prim, Type, Unit, Value};
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume, Source, group_words, memory_len};
use pilaster::vortex::{Encoding, File};

/// An owned value of a row. Numbers are the low bits of a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    Null,
    Word(u64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Own {
    pub fn cell(&self) -> Cell<'_> {
        match self {
            Own::Null => Cell::Null,
            Own::Word(word) => Cell::Word(*word),
            Own::Text(text) => Cell::Text(text),
            Own::Bytes(bytes) => Cell::Bytes(bytes),
        }
    }
}

pub type Rows = Vec<Vec<Own>>;

pub fn cells(row: &[Own]) -> Vec<Cell<'_>> {
    row.iter().map(Own::cell).collect()
}

fn own(value: &Value<'_>, ty: Type) -> Own {
    match *value {
        Value::Null => Own::Null,
        Value::Bool(bit) => Own::Word(bit.into()),
        Value::Int(int) => Own::Word(int as u64),
        Value::F32(float) => Own::Word(float.to_bits().into()),
        Value::F64(float) => Own::Word(float.to_bits()),
        Value::Text(text) if ty == Type::Utf8 => Own::Text(std::str::from_utf8(text).expect("UTF-8").to_owned()),
        Value::Text(bytes) | Value::Bytes(bytes) => Own::Bytes(bytes.to_vec()),
        ref other => panic!("{other:?}"),
    }
}

/// Reads all rows of a file after it is verified, as the original requires it.
pub fn read(bytes: &[u8]) -> pilaster::Result<Rows> {
    let file = File::open(bytes)?;
    let mut memory = Memory::with_len(bytes.len() as u64 * 16 + (1 << 16))?;
    file.verify(&mut memory.scratch())?;
    let (part, rows) = (file.part()?, file.rows()?);
    let mut all = vec![Vec::new(); rows as usize];
    for k in 0..part.width() {
        let column = part.column(k)?;
        let mut row = 0;
        while row < rows {
            let mut scratch = memory.scratch();
            // The rows of one row group.
            let batch = column.read(row..rows, &mut scratch)?;
            for (i, to) in all[row as usize..][..batch.len].iter_mut().enumerate() {
                to.push(own(&batch.value(i)?, column.ty()));
            }
            row += batch.len as u64;
        }
    }
    Ok(all)
}

/// The encodings of a file, in the order of their first use.
fn encodings(bytes: &[u8]) -> Vec<Encoding> {
    let mut found = Vec::new();
    let file = File::open(bytes).expect("a valid file");
    file.visit(false, &mut |node| {
        let encoding = Encoding::of(node.id);
        if node.is_array && !found.contains(&encoding) {
            found.push(encoding);
        }
        Ok(())
    })
    .expect("a valid file");
    found
}

/// Memory for a log.
pub struct Room {
    pub rows: Vec<u8>,
    pub most: usize,
    pub groups: Vec<u32>,
}

impl Room {
    pub fn of(fields: &[Field<'_>], most: usize, texts: usize) -> Self {
        let groups = vec![0; 100 * group_words(fields.len())];
        // Arbitrary contents.
        Room { rows: vec![0xa5; memory_len(fields, most, texts)], most, groups }
    }
}

pub fn write(fields: &[Field<'_>], rows: &Rows, most: usize, policy: Policy) -> Vec<u8> {
    let mut room = Room::of(fields, most, 1 << 16);
    let columns = Fields::new(fields).expect("valid types");
    let mut log = Log::new(Vec::new(), columns, (&mut room.rows, most), &mut room.groups, policy).expect("a vector");
    rows.iter().for_each(|row| log.push_cells(&cells(row)).expect("a vector"));
    log.finish().expect("a vector")
}

/// Returns the word with the low bits only, sign-extended as the reader widens it.
pub fn shown(prim: Prim, word: u64) -> u64 {
    match prim {
        Prim::I8 => word as i8 as u64,
        Prim::I16 => word as i16 as u64,
        Prim::I32 => word as i32 as u64,
        Prim::U8 => word as u8 as u64,
        Prim::U16 => word as u16 as u64,
        Prim::U32 | Prim::F32 => word as u32 as u64,
        _ => word,
    }
}

const INTEGERS: [Prim; 8] = [Prim::I8, Prim::I16, Prim::I32, Prim::I64, Prim::U8, Prim::U16, Prim::U32, Prim::U64];

/// Returns pseudo-random words.
pub fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed ^ 0x1234_5678_9abc_def1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn every_packed_width_of_every_integer() {
    for prim in INTEGERS {
        let bits = 8 * prim.size() as u32;
        let fields = [Field::new("x", FieldType::Prim(prim)), Field::new("n", FieldType::Prim(prim)).nullable()];
        for width in 1..=bits {
            let mut next = noise(u64::from(width));
            let mask = u64::MAX >> (64 - width);
            // Ranges that begin at the least number, end at the greatest, or are somewhere, and ranges that wrap.
            let least = if INTEGERS[..4].contains(&prim) { 1u64 << (bits - 1) } else { 0 };
            let free = (u64::MAX >> (64 - bits)) - mask;
            let starts = [
                least,
                least.wrapping_add(free),
                least.wrapping_add(next() % free.max(1)),
                least.wrapping_sub(1 + mask / 2),
            ];
            // One whole block, three blocks, and rows that fill the second of two blocks in part.
            for (k, len) in [1024, 3072, 1030, 1024].into_iter().enumerate() {
                let rows: Rows = (0..len)
                    .map(|i| {
                        // Both ends of the range.
                        let offset = if i < 2 { mask * i } else { next() & mask };
                        let word = Own::Word(shown(prim, starts[k].wrapping_add(offset)));
                        vec![word.clone(), if i % 3 == 2 { Own::Null } else { word }]
                    })
                    .collect();
                let bytes = write(&fields, &rows, 3072, Policy::ByHand);
                assert_eq!(read(&bytes), Ok(rows), "{prim:?} {width}");
                let packed = encodings(&bytes).contains(&Encoding::BitPacked);
                // Packed is smaller at all widths in whole blocks, and at less than half of them in the third case.
                let is_smaller = if len == 1030 { width * 2 + 1 < bits } else { width < bits };
                assert!(packed == is_smaller || k == 3, "{prim:?} {width} {len}");
            }
        }
    }
}

#[test]
fn every_length() {
    for prim in INTEGERS {
        let fields = [Field::new("x", FieldType::Prim(prim)), Field::new("on", FieldType::Bool).nullable()];
        for len in [0, 1, 7, 8, 9, 1023, 1024, 1025, 2100, 3072] {
            let mut next = noise(len);
            let rows: Rows = (0..len)
                .map(|i| {
                    let on = if i % 5 == 0 { Own::Null } else { Own::Word(next() & 1) };
                    vec![Own::Word(shown(prim, (next() & 7).wrapping_sub(3))), on]
                })
                .collect();
            // As one row group, and as several.
            for most in [3072, 1024, 40] {
                assert_eq!(read(&write(&fields, &rows, most, Policy::Doubling)), Ok(rows.clone()), "{prim:?} {len}");
            }
        }
    }
}

#[test]
fn ranges_of_the_whole_type() {
    for prim in INTEGERS {
        let bits = 8 * prim.size() as u32;
        let least = 1u64 << (bits - 1);
        let fields = [Field::new("x", FieldType::Prim(prim))];
        for words in [vec![least, least - 1], vec![least; 3], vec![0, u64::MAX], vec![least, 0, u64::MAX, least - 1]] {
            let rows: Rows = words.iter().cycle().take(1500).map(|w| vec![Own::Word(shown(prim, *w))]).collect();
            assert_eq!(read(&write(&fields, &rows, 2048, Policy::ByHand)), Ok(rows), "{prim:?} {words:x?}");
        }
    }
}

#[test]
fn floats_keep_their_bits() {
    let fields = [
        Field::new("a", FieldType::Prim(Prim::F32)),
        Field::new("b", FieldType::Prim(Prim::F64)).nullable(),
        Field::new("c", FieldType::Prim(Prim::F32)).nullable(),
        Field::new("d", FieldType::Prim(Prim::F64)),
    ];
    let single = |x: f32| Own::Word(x.to_bits().into());
    let double = |x: f64| Own::Word(x.to_bits());
    // Decimals are stored as integers.
    let rows: Rows = (0..1100)
        .map(|i| {
            let null = i % 7 == 3;
            let c = if null { Own::Null } else { single(20.5 + (i % 40) as f32) };
            let b = if null { Own::Null } else { double((-4000 + i * 3) as f64 / 100.0) };
            vec![single(((i % 90) as f32 - 7.0) / 10.0), b, c, double(1e6 + (i % 100) as f64)]
        })
        .collect();
    let bytes = write(&fields, &rows, 2048, Policy::ByHand);
    assert_eq!(read(&bytes), Ok(rows.clone()));
    assert!(encodings(&bytes).contains(&Encoding::Alp));
    assert!(bytes.len() < 1100 * 24 / 2, "{} bytes", bytes.len());
    // Others keep their bits, too, alone and beside decimals.
    let odd = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2, 1e300];
    for x in odd {
        for len in [1, 3, 1100] {
            let mut rows = rows[..len].to_vec();
            rows[len / 2] = vec![single(x as f32), double(x), single(x as f32), double(x)];
            let bytes = write(&fields, &rows, 2048, Policy::ByHand);
            assert_eq!(read(&bytes), Ok(rows), "{x} in {len}");
        }
        let same: Rows = vec![vec![single(x as f32), double(x), single(x as f32), double(x)]; 20];
        assert_eq!(read(&write(&fields, &same, 64, Policy::ByHand)), Ok(same), "{x}");
    }
}

/// Columns of all kinds.
pub fn mixed() -> Vec<Field<'static>> {
    vec![
        Field::new("time", FieldType::Timestamp(Unit::Milli, "UTC")),
        Field::new("temp", FieldType::Prim(Prim::F32)),
        Field::new("place", FieldType::Utf8).nullable(),
        Field::new("on", FieldType::Bool),
        Field::new("raw", FieldType::Binary),
        Field::new("day", FieldType::Date(Unit::Day)).nullable(),
        Field::new("at", FieldType::Time(Unit::Micro)),
        Field::new("", FieldType::Prim(Prim::U16)).nullable(),
        Field::new("since", FieldType::Timestamp(Unit::Nano, "")).nullable(),
    ]
}

pub fn mixed_rows(len: u64) -> Rows {
    let mut next = noise(len);
    let maybe = |there: bool, own: Own| if there { own } else { Own::Null };
    (0..len)
        .map(|i| {
            let text = "an attic of a house".get(..(next() % 20) as usize).expect("ASCII").to_owned();
            vec![
                Own::Word(1_700_000_000_000 + i * 1000 + next() % 10),
                Own::Word((20.0 + (next() % 50) as f32 / 10.0).to_bits().into()),
                maybe(!next().is_multiple_of(4), Own::Text(text)),
                Own::Word(next() % 2),
                Own::Bytes(vec![next() as u8; (next() % 3) as usize]),
                maybe(i >= len / 2, Own::Word((next() % 9).wrapping_sub(4))),
                Own::Word(next() % 86_400_000_000),
                maybe(i % 3 > 0, Own::Word(next() % 5)),
                Own::Null,
            ]
        })
        .collect()
}

#[test]
fn columns_of_all_types() {
    let fields = mixed();
    for len in [0, 1, 2, 30, 1500] {
        let rows = mixed_rows(len);
        let bytes = write(&fields, &rows, 1024, Policy::ByHand);
        assert_eq!(read(&bytes), Ok(rows));
        let shown = "{time=vortex.timestamp[ms, tz=UTC](i64), temp=f32, place=utf8?, on=bool, raw=binary, \
                     day=vortex.date[days](i32?), at=vortex.time[us](i64), =u16?, since=vortex.timestamp[ns](i64?)}";
        let dtype = File::open(&bytes).expect("a valid file").dtype().to_string();
        assert_eq!(dtype.replace("µs", "us"), shown);
    }
}

#[test]
fn texts_of_all_lengths() {
    let fields = [
        Field::new("a", FieldType::Utf8),
        Field::new("b", FieldType::Utf8).nullable(),
        Field::new("c", FieldType::Binary).nullable(),
    ];
    let text = |len: usize| Own::Text("é".repeat(len / 2));
    for (a, len) in [(0, 5), (0, 300), (2, 10), (2, 200), (40, 100), (1000, 60), (1200, 100)] {
        let rows: Rows = (0..len)
            .map(|i| {
                let b = if i % 3 == 0 { Own::Null } else { text(i % 7) };
                let c = if i % 2 == 0 { Own::Null } else { Own::Bytes(vec![i as u8; a % 11]) };
                vec![text(a + i % 2), b, c]
            })
            .collect();
        // Too long for one row group if they have more than 64 KiB.
        let bytes = write(&fields, &rows, 512, Policy::Every(1));
        assert_eq!(read(&bytes), Ok(rows), "{a} {len}");
    }
}

#[test]
fn constants_take_no_rows() {
    let fields = mixed();
    let mut row = mixed_rows(9).pop().expect("a row");
    for nulls in [false, true] {
        for (value, field) in row.iter_mut().zip(&fields) {
            if nulls && field.nullable {
                *value = Own::Null;
            }
        }
        let lens = [8, 3000].map(|len| {
            let rows = vec![row.clone(); len];
            let bytes = write(&fields, &rows, 4096, Policy::ByHand);
            assert_eq!(read(&bytes), Ok(rows));
            bytes.len()
        });
        assert_eq!(lens[0], lens[1]);
    }
}

pilaster::vortex::record! {
    struct Keyword { r#type: u8, r#mod: u8 nullable, plain: u8 }
}

#[test]
fn columns_may_have_the_names_of_keywords() {
    let names: Vec<&str> = <Keyword as pilaster::vortex::log::Record>::FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(names, ["type", "mod", "plain"]);
    let (mut memory, mut groups) = ([0; Keyword::memory_len(8, 0)], [0; 6]);
    let mut log = Log::of::<Keyword>(vec![], (&mut memory, 8), &mut groups, Policy::ByHand).expect("memory");
    log.push(&Keyword { r#type: 1, r#mod: None, plain: 3 }).expect("a vector");
    let bytes = log.finish().expect("a vector");
    assert_eq!(File::open(&bytes).expect("a valid file").dtype().to_string(), "{type=u8, mod=u8?, plain=u8}");
}

#[test]
fn a_log_is_resumed_through_small_windows() {
    /// Counts the largest window.
    struct Windows<'a>(&'a [u8], usize);

    impl Source for Windows<'_> {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }

        fn read(&mut self, at: u64, to: &mut [u8]) -> pilaster::Result<()> {
            self.1 = self.1.max(to.len());
            self.0.read(at, to)
        }
    }

    let (fields, rows) = (mixed(), mixed_rows(20));
    let bytes = write(&fields, &rows, 8, Policy::Every(1));
    let (mut groups, mut windows) = ([0; 1000], Windows(&bytes, 0));
    let columns = Fields::new(&fields).expect("valid");
    let found = Resume::find(&mut windows, &columns, &mut groups).expect("intact");
    assert_eq!((found.rows(), found.at(), found.rest()), (20, bytes.len() as u64, None));
    assert!(windows.1 <= 120, "{} bytes at once", windows.1);
}
