//! The writer of Vortex files with several threads: the same bytes, the same errors.

use pilaster::bytes::{Bits, Sink, WriteError};
use pilaster::column::{Borrowed, Prim, Ranges, Spans, Type, Unit, Validity, Values, VarBytes};
use pilaster::vortex::write::{Encodings, Profile, WriteOptions, Writer};

const ROWS: usize = 150_000;

/// Rows of columns that are encoded in different ways.
struct Made {
    longs: Vec<i64>,
    times: Vec<i64>,
    floats: Vec<f64>,
    bytes: Vec<u8>,
    valid: Vec<u8>,
    data: Vec<u8>,
    few: Vec<[u32; 2]>,
    many: Vec<[u32; 2]>,
    ends: Vec<u32>,
}

impl Made {
    fn new() -> Self {
        let mut state = 1u64;
        let mut any = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> 33
        };
        let data: Vec<u8> = (0..1 << 14).map(|_| b"etaoin shrdlu"[any() as usize % 13]).collect();
        let place = |from: u64, len: u64| [from as u32 % (1 << 13), len as u32];
        Made {
            longs: (0..ROWS).map(|_| (any() % 100_000) as i64).collect(),
            times: (0..ROWS as i64).map(|i| 1_700_000_000_000 + 1000 * i + any() as i64 % 500).collect(),
            floats: (0..ROWS).map(|_| any() as f64 / 100.0).collect(),
            bytes: (0..ROWS).map(|_| any() as u8 & 3).collect(),
            valid: (0..ROWS.div_ceil(8)).map(|_| any() as u8).collect(),
            few: (0..ROWS).map(|_| place(any() % 50 * 10, 7)).collect(),
            many: (0..ROWS).map(|_| place(any(), any() % 30)).collect(),
            ends: (0..=ROWS as u32).collect(),
            data,
        }
    }

    /// Passes each of `parts` parts of the rows to `write`.
    fn parts<E>(&self, parts: usize, mut write: impl FnMut(&[(&str, Borrowed<'_>)]) -> Result<(), E>) -> Result<(), E> {
        // Whole bytes of the validity.
        let step = ROWS.div_ceil(parts).next_multiple_of(8);
        for first in (0..ROWS).step_by(step) {
            let rows = first..ROWS.min(first + step);
            let count = rows.len();
            let valid = Validity::Bits(Bits::new(&self.valid[first / 8..], 0, count).unwrap());
            let text = |spans| Borrowed::new(Type::Utf8, Values::Utf8(VarBytes { data: &self.data, spans }));
            let few = text(Spans::Each(&self.few[rows.clone()])).with_validity(valid);
            let many = text(Spans::Each(&self.many[rows.clone()]));
            let longs = Borrowed::new(Type::Prim(Prim::I64), Values::I64(&self.longs[rows.clone()]));
            let bytes = Borrowed::new(Type::Prim(Prim::U8), Values::U8(&self.bytes[rows.clone()]));
            let fields = [("few", few), ("byte", bytes)];
            let place = Ranges::Stride { first: 0, size: 1, count };
            let record = Borrowed::new(Type::Struct(2), Values::Nested(place)).with_children(&fields);
            let item = [("item", longs)];
            let lists = Ranges::Off32(&self.ends[..=count]);
            let times = Borrowed::new(Type::Timestamp(Unit::Milli), Values::I64(&self.times[rows.clone()]));
            write(&[
                ("long", longs.with_validity(valid)),
                ("time", times),
                ("float", Borrowed::new(Type::Prim(Prim::F64), Values::F64(&self.floats[rows.clone()]))),
                ("byte", bytes),
                ("few", few),
                ("many", many),
                ("record", record.with_validity(valid)),
                ("list", Borrowed::new(Type::List, Values::Nested(lists)).with_children(&item)),
            ])?;
        }
        Ok(())
    }

    /// Returns what is written to `sink`.
    fn file<S: Sink>(&self, sink: S, parts: usize, options: &WriteOptions) -> Result<S, WriteError<S::Error>> {
        let (mut sink, mut file) = (Some(sink), None);
        self.parts(parts, |part| {
            if let Some(sink) = sink.take() {
                file = Some(Writer::new(sink, part, options)?);
            }
            file.as_mut().unwrap().push(part)
        })?;
        file.unwrap().finish()
    }
}

#[test]
fn files_are_those_of_one_thread() {
    let made = Made::new();
    let small = WriteOptions { chunk_size: 1 << 15, zone_rows: 1024, ..WriteOptions::DEFAULT };
    let large = WriteOptions { encodings: Encodings::BASIC, ..WriteOptions::DEFAULT };
    let wide = WriteOptions { profile: Profile::Wide, dictionaries: false, statistics: false, ..large };
    for (options, parts) in [(small, 3), (large, 1), (wide, 40)] {
        let one = made.file(Vec::new(), parts, &options).unwrap();
        for threads in [0, 2, 3, 7] {
            let more = made.file(Vec::new(), parts, &WriteOptions { threads, ..options }).unwrap();
            // Not `assert_eq`, which would print all of it.
            assert!(one == more, "{threads} threads, {parts} parts");
        }
    }
}

/// Fails when it has this number of bytes.
struct Full {
    left: usize,
    failed: bool,
}

impl Sink for Full {
    type Error = usize;

    fn put(&mut self, bytes: &[u8]) -> Result<(), usize> {
        assert!(!self.failed, "a sink that failed gets no more bytes");
        self.failed = self.left < bytes.len();
        self.left -= bytes.len().min(self.left);
        if self.failed { Err(bytes.len()) } else { Ok(()) }
    }
}

#[test]
fn an_error_of_the_sink_ends_the_threads() {
    let made = Made::new();
    let options = WriteOptions { encodings: Encodings::BASIC, chunk_size: 1 << 15, ..WriteOptions::DEFAULT };
    let len = made.file(Vec::new(), 2, &options).unwrap().len();
    for left in [0, len / 3, len - 100] {
        let e = [1, 3].map(|threads| {
            let options = WriteOptions { threads, ..options };
            made.file(Full { left, failed: false }, 2, &options).map(|_| ()).unwrap_err()
        });
        assert!(matches!(e[0], WriteError::Sink(_)) && e[0] == e[1], "{left} of {len}: {e:?}");
    }
}

#[test]
fn a_file_may_be_left() {
    let (made, options) = (Made::new(), WriteOptions { threads: 3, ..WriteOptions::DEFAULT });
    let mut file = None;
    made.parts(2, |part| file.get_or_insert_with(|| Writer::new(Vec::new(), part, &options).unwrap()).push(part))
        .unwrap();
    drop(file);
}
