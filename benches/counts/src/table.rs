//! A table in memory, written to every format, and read.

use std::path::Path;
use std::sync::Arc;

use pilaster::any::{File, Format, Hints};
use pilaster::bcolz::write::Missing;
use pilaster::bcolz::{self, Compressor, Dataset};
use pilaster::bytes::{Bits, LittleEndian, Scratch};
use pilaster::column::{
    Borrowed, Build, Column as _, Once, Part as _, Prim, Spans, Table, Type, Validity, Values, VarBytes, convert, fit,
};
use pilaster::dataseries::write::{
    Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Smallest, Writer, describe,
};
use pilaster::dataseries::{ExtentType, Mode};
use pilaster::filo::Element;
use pilaster::limits::Limits;
use pilaster::{jay, vortex};

use crate::data::Random;
use crate::files::Files;

/// Columns by name.
pub type Columns<'d> = [(&'d str, Borrowed<'d>)];

/// The rows of a sensor: a clock with jitter, a random walk in steps of 0.01, a small number that may be missing, and the
/// name of one of 50 devices.
#[derive(Debug)]
pub struct Rows {
    times: Vec<i64>,
    levels: Vec<f64>,
    counts: Vec<i32>,
    valid: Vec<u8>,
    texts: Vec<u8>,
    ends: Vec<u32>,
}

impl Rows {
    /// Makes `count` rows.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let mut random = Random(count as u64 | 1);
        let (mut level, mut texts, mut ends, mut valid) = (2000, Vec::new(), vec![0], vec![0; count.div_ceil(8)]);
        for row in 0..count {
            valid[row / 8] |= u8::from(random.below(10) != 0) << (row % 8);
            texts.extend(format!("sensor-{}", random.below(50)).bytes());
            ends.push(texts.len() as u32);
        }
        let mut step = || {
            level += random.below(21) as i64 - 10;
            level as f64 / 100.0
        };
        let levels = (0..count).map(|_| step()).collect();
        let times = (0..count as i64).map(|i| 1_700_000_000_000 + 1000 * i + random.below(100) as i64).collect();
        let counts = (0..count).map(|_| random.below(100) as i32).collect();
        Rows { times, levels, counts, valid, texts, ends }
    }

    /// Returns the clock.
    #[must_use]
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Returns the four columns.
    #[must_use]
    pub fn columns(&self) -> [(&str, Borrowed<'_>); 4] {
        let valid = Bits::new(&self.valid, 0, self.counts.len()).expect("a bit for each row");
        let device = VarBytes { data: &self.texts, spans: Spans::Off32(&self.ends) };
        [
            ("time", Borrowed::new(Type::Prim(Prim::I64), Values::I64(&self.times))),
            ("level", Borrowed::new(Type::Prim(Prim::F64), Values::F64(&self.levels))),
            (
                "count",
                Borrowed::new(Type::Prim(Prim::I32), Values::I32(&self.counts)).with_validity(Validity::Bits(valid)),
            ),
            ("device", Borrowed::new(Type::Utf8, Values::Utf8(device))),
        ]
    }
}

/// A table in a file format.
#[derive(Debug)]
pub enum Stored {
    /// A file.
    Bytes(Format, Vec<u8>),
    /// The files of a bcolz dataset.
    Files(Files),
}

/// Memory for any table of this package.
#[derive(Debug)]
pub struct Memory {
    /// What an open file keeps.
    kept: Vec<u8>,
    /// The unpacked rows of a part.
    part: Vec<u8>,
    /// A batch, which fits into the second-level cache.
    batch: Vec<u8>,
}

impl Memory {
    /// Allocates it.
    #[must_use]
    pub fn new() -> Self {
        Memory { kept: vec![0; 8 << 20], part: vec![0; 32 << 20], batch: vec![0; 1 << 20] }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Stored {
    /// Writes a Jay file.
    #[must_use]
    pub fn jay(columns: &Columns<'_>) -> Self {
        let builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT);
        let mut builder = builder.expect("a sink that takes everything");
        fill(columns, &mut builder);
        Stored::Bytes(Format::Jay, builder.finish().expect("a complete file"))
    }

    /// Writes a Vortex file.
    #[must_use]
    pub fn vortex(columns: &Columns<'_>, options: &vortex::write::WriteOptions) -> Self {
        let mut builder = vortex::write::Builder::new(Vec::new(), options).expect("valid options");
        fill(columns, &mut builder);
        Stored::Bytes(Format::Vortex, builder.finish().expect("a complete file"))
    }

    /// Writes a DataSeries file with extents of at most `rows` rows.
    #[must_use]
    pub fn dataseries(columns: &Columns<'_>, mode: Mode, rows: u64) -> Self {
        let xml = describe("Counts::Rows", &columns, Vec::new()).expect("types of fields");
        let mut memory = vec![0; 64 * xml.len() + 4096];
        let ty = ExtentType::parse(&xml, &Limits::DEFAULT, &mut Scratch::new(&mut memory)).expect("a valid type");
        let types = [Description::from(&ty)];
        let types = Descriptions::new(&types).expect("one type");
        let mut slots = vec![IndexSlot::EMPTY; (columns.rows() / rows) as usize + 8];
        let modes = Smallest::of(&[mode], 6).expect("a mode of this build");
        let writer = Writer::<LittleEndian, _, _>::with(Vec::new(), types, &mut slots, modes);
        let mut builder = Builder::new(writer, ExtentBuffer::growing(ty).expect("a record"), rows);
        fill(columns, &mut builder);
        Stored::Bytes(Format::DataSeries, builder.finish().expect("a complete file"))
    }

    /// Writes a bcolz dataset with chunks of `rows` rows, or as many as the original has.
    #[must_use]
    pub fn bcolz(columns: &Columns<'_>, compressor: Compressor, rows: Option<u64>) -> Self {
        let files = Files::default();
        let mut options = bcolz::write::WriteOptions {
            missing: Missing::Fill,
            chunklen: rows,
            ..bcolz::write::WriteOptions::DEFAULT
        };
        options.params.compressor = compressor;
        let mut builder = bcolz::write::Builder::create(files.clone(), "table", &options);
        fill(columns, &mut builder);
        builder.finish().expect("a disk that takes everything");
        Stored::Files(files)
    }

    /// Saves it as one file.
    pub fn save(&self, path: &Path) {
        let bytes = match self {
            Stored::Bytes(_, bytes) => bytes.clone(),
            Stored::Files(files) => files.pack(),
        };
        std::fs::write(path, bytes).expect("a disk that takes everything");
    }

    /// Loads what was [saved](Self::save) with a name that begins with the format.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("a file");
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match name.split(' ').next() {
            Some("jay") => Stored::Bytes(Format::Jay, bytes),
            Some("vortex") => Stored::Bytes(Format::Vortex, bytes),
            Some("dataseries") => Stored::Bytes(Format::DataSeries, bytes),
            Some("filo") => Stored::Bytes(Format::Filo, bytes),
            _ => Stored::Files(Files::unpack(&bytes)),
        }
    }

    /// Opens the last table and reads what is asked for. Returns the number of values.
    pub fn read(&self, ask: Ask, memory: &mut Memory) -> u64 {
        match self {
            Stored::Bytes(format, bytes) => {
                let mut kept = std::mem::take(&mut memory.kept);
                let hints = Hints { element: Some(Element::Long), ..Hints::default() };
                let file = File::open(bytes, *format, &hints, &mut Scratch::new(&mut kept)).expect("a valid file");
                let mut table = file.table(file.tables().last()).expect("a table");
                let values = ask.of(&mut table, memory);
                memory.kept = kept;
                values
            }
            Stored::Files(_) => ask.of(&mut self.dataset().table(), memory),
        }
    }

    /// Opens a dataset.
    fn dataset(&self) -> Dataset {
        let Stored::Files(files) = self else { panic!("a file, no dataset") };
        let store = Arc::new(files.clone());
        pilaster::unstable::bcolz_store::open(store, Path::new("table"), None).expect("a valid dataset")
    }

    /// Reads everything and checks it.
    pub fn verify(&self, memory: &mut Memory) {
        match self {
            Stored::Bytes(format, bytes) => {
                let file = File::open(bytes, *format, &Hints::default(), &mut Scratch::new(&mut memory.kept));
                file.expect("a valid file").verify(&mut Scratch::new(&mut memory.part)).expect("an intact file");
            }
            Stored::Files(_) => self.dataset().verify().expect("an intact dataset"),
        }
    }
}

/// The part of a table that is read.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    /// The table is only opened.
    Nothing,
    /// One row of a column.
    Row(usize, u64),
    /// All rows of a column.
    Column(usize),
    /// All rows.
    All,
}

impl Ask {
    fn of<T: Table>(self, table: &mut T, memory: &mut Memory) -> u64 {
        match self {
            Ask::Nothing => 0,
            Ask::Row(k, at) => row(table, k, at, memory),
            Ask::Column(k) => scan(table, Some(&[k]), memory),
            Ask::All => scan(table, None, memory),
        }
    }
}

fn fill<B: Build>(columns: &Columns<'_>, builder: &mut B)
where
    B::Error: core::fmt::Debug,
{
    let mut memory = vec![0; 1 << 20];
    convert(&mut Once::new(columns), builder, &mut Scratch::new(&mut memory)).expect("columns that the format holds");
}

/// Reads all rows of the columns with these numbers, or of all columns. Returns the number of values.
fn scan<T: Table>(table: &mut T, columns: Option<&[usize]>, memory: &mut Memory) -> u64 {
    let mut values = 0;
    table.choose(columns);
    loop {
        let mut outer = Scratch::new(&mut memory.part);
        let Some(part) = table.next_part(&mut outer).expect("an intact part") else { return values };
        for k in (0..part.width()).filter(|k| columns.is_none_or(|columns| columns.contains(k))) {
            let (mut column, mut row) = (part.column(k).expect("a column"), 0);
            while row < column.rows() {
                let mut scratch = Scratch::new(&mut memory.batch);
                let rows = fit(&column, row..column.rows(), scratch.room()).expect("memory for a row");
                let batch = column.read(rows, &mut scratch).expect("an intact batch");
                row += std::hint::black_box(batch).len as u64;
                column = column.at_place(column.place(row).expect("intact metadata"));
            }
            values += row;
        }
    }
}

/// Reads one row of one column.
fn row<T: Table>(table: &mut T, k: usize, row: u64, memory: &mut Memory) -> u64 {
    table.choose(Some(&[k]));
    let row = row - table.skip(row).expect("valid headers");
    let part = table.next_part(&mut Scratch::new(&mut memory.part)).expect("an intact part").expect("a part");
    let column = part.column(k).expect("a column");
    let batch = column.read(row..row + 1, &mut Scratch::new(&mut memory.batch)).expect("an intact batch");
    assert_eq!(std::hint::black_box(batch).len, 1);
    1
}
