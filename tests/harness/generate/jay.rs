//! Jay files. They have no checks. The metadata, which lead to all parts, are at the end, followed by their length.

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Once, Prim, Type, convert};
use pilaster::jay::Layout;
use pilaster::jay::write::{Builder, Sentinels, WriteOptions};

use super::bend::{Bend, bend};
use super::rows::{Rows, Wanted};
use super::{Reach, bends, same};
use crate::harness::cell::Cell;
use crate::harness::{any_file, jay_file, jay_roundtrip};

const WANTED: Wanted = Wanted {
    types: &[
        Type::Bool,
        Type::Prim(Prim::I8),
        Type::Prim(Prim::I16),
        Type::Prim(Prim::I32),
        Type::Prim(Prim::I64),
        Type::Prim(Prim::F32),
        Type::Prim(Prim::F64),
        Type::Utf8,
    ],
    nulls: true,
    sentinels: true,
};

/// The bytes at the end: the length of the metadata, and the marker.
const TAIL: usize = 16;

/// The bytes at the front.
const SIGNATURE: usize = 8;

/// A file to be.
#[derive(Clone, Debug)]
pub struct Made {
    pub rows: Rows,
    options: WriteOptions,
    /// Changes of the buffers, of the metadata, and of the file.
    data: Vec<Bend>,
    meta: Vec<Bend>,
    late: Vec<Bend>,
    /// A byte that chooses how the file is written again.
    again: u8,
}

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Made {
            data: bends(u)?,
            meta: bends(u)?,
            late: if u.ratio(1, 4)? { bends(u)? } else { Vec::new() },
            again: u8::arbitrary(u)?,
            options: WriteOptions {
                layout: *u.choose(&[Layout::Old, Layout::New])?,
                stats: bool::arbitrary(u)?,
                sentinels: *u.choose(&[Sentinels::Error, Sentinels::Widen])?,
                ..WriteOptions::DEFAULT
            },
            rows: Rows::arbitrary(u, &WANTED)?,
        })
    }
}

impl Made {
    /// The file as the library writes it.
    pub fn plain(&self) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new(), &self.options).expect("a vector takes all");
        convert(&mut Once::new(&self.rows), &mut builder, &mut Scratch::new(&mut [])).expect("rows of the types");
        builder.finish().expect("a vector takes all")
    }

    /// The file, bent. Buffers keep their length, the metadata may change theirs.
    pub fn file(&self) -> Vec<u8> {
        let mut file = self.plain();
        let tail = file.split_off(file.len() - TAIL);
        let len = u64::from_le_bytes(tail[..8].try_into().expect("eight bytes")) as usize;
        let mut meta = file.split_off(file.len() - len);
        let (length, mut data) = (file.len(), file.split_off(SIGNATURE));
        bend(&mut data, &self.data, &[0]);
        file.extend_from_slice(&data);
        file.resize(length, 0);
        let marks = words(&meta);
        bend(&mut meta, &self.meta, &marks);
        meta.resize(meta.len().next_multiple_of(8), 0);
        file.extend_from_slice(&meta);
        file.extend_from_slice(&(meta.len() as u64).to_le_bytes());
        file.extend_from_slice(&tail[8..]);
        bend(&mut file, &self.late, &[SIGNATURE, length]);
        file
    }
}

/// Offsets of the words that are small, as lengths, offsets and numbers of types are.
fn words(meta: &[u8]) -> Vec<usize> {
    let small = |at: &usize| meta[*at + 2] == 0 && meta[*at + 3] == 0;
    (0..meta.len() / 4).map(|k| 4 * k).filter(small).collect()
}

/// NaN is written as a missing value.
fn like(made: Cell<'_>, read: Cell<'_>) -> bool {
    match made {
        Cell::F32(bits) => f32::from_bits(bits).is_nan() && read == Cell::Missing,
        Cell::F64(bits) => f64::from_bits(bits).is_nan() && read == Cell::Missing,
        _ => false,
    }
}

/// Reads a file in all ways. One that is not bent has the rows that were written.
pub fn check(made: &Made) -> Reach {
    let (file, plain) = (made.file(), made.plain());
    jay_file::read(&file);
    jay_roundtrip::run(&[&[made.again], &file[..]].concat());
    let mut memory = vec![0x5a; any_file::PART];
    let mut rows = 0;
    for tolerant in [false, true] {
        let (mut kept, hints) = (vec![0xa5; 8 << 10], Hints { tolerant, ..Hints::default() });
        let opened = File::open(&file, Format::Jay, &hints, &mut Scratch::new(&mut kept));
        if file == plain {
            same(&made.rows, opened.as_ref().expect("what was written"), like);
        }
        if !tolerant {
            rows += opened.map_or(0, |file| any_file::look(&file, &mut memory));
        }
    }
    Reach { bent: file != plain, deep: rows > 0 }
}
