//! A log of random columns and rows is a valid file with these rows, and so is a log that is cut at any offset, or damaged, and
//! resumed.

use core::ops::Range;

use pilaster::bytes::{Scratch, Sink, SliceSink};
use pilaster::column::{Column as _, Part as _, Prim, Unit, Value};
use pilaster::vortex::File;
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume, group_words, memory_len};

/// Maximum number of columns, of bytes that say rows, and how often each of them may be a row, so that blocks are packed.
const COLUMNS: usize = 4;
const ROWS: usize = 200;
const REPEATED: usize = 8;
/// Sizes in bytes of a file, of memory for rows, and of texts.
const FILE: usize = 1 << 18;
const MEMORY: usize = 1 << 16;
const TEXTS: usize = 1 << 14;

const TYPES: [FieldType<'static>; 20] = [
    FieldType::Bool,
    FieldType::Utf8,
    FieldType::Binary,
    FieldType::Prim(Prim::I8),
    FieldType::Prim(Prim::I16),
    FieldType::Prim(Prim::I32),
    FieldType::Prim(Prim::I64),
    FieldType::Prim(Prim::U8),
    FieldType::Prim(Prim::U16),
    FieldType::Prim(Prim::U32),
    FieldType::Prim(Prim::U64),
    FieldType::Prim(Prim::F32),
    FieldType::Prim(Prim::F64),
    FieldType::Date(Unit::Day),
    FieldType::Date(Unit::Milli),
    FieldType::Time(Unit::Second),
    FieldType::Time(Unit::Nano),
    FieldType::Timestamp(Unit::Milli, ""),
    FieldType::Timestamp(Unit::Second, "UTC"),
    FieldType::Timestamp(Unit::Micro, "Europe/Berlin"),
];

/// What the bytes say: columns, and how the values of each are made of the bytes of its rows.
struct Plan<'d> {
    fields: [Field<'static>; COLUMNS],
    styles: [u8; COLUMNS],
    columns: usize,
    rows: &'d [u8],
    policy: Policy,
    group: usize,
    is_repeated: bool,
    after: After,
}

/// What happens to the log.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    /// It is cut, and resumed there.
    Cut,
    /// It is cut, and resumed after what was written.
    Skip,
    /// It is cut, and resumed with checkpoints that replace each other.
    Replace,
    /// A bit is changed.
    Damage,
}

impl<'d> Plan<'d> {
    fn of(data: &'d [u8]) -> Option<(Self, usize)> {
        let (&[flags, low, high, group], data) = data.split_first_chunk()?;
        let (types, rows) = data.split_first_chunk::<{ 2 * COLUMNS }>()?;
        let names = ["a", "bc", "def", "ghij"];
        let fields = core::array::from_fn(|i| {
            let field = Field::new(names[i], TYPES[usize::from(types[2 * i]) % TYPES.len()]);
            if types[2 * i + 1] & 1 == 1 { field.nullable() } else { field }
        });
        let styles = core::array::from_fn(|i| types[2 * i + 1] >> 1);
        let policy =
            [Policy::ByHand, Policy::Every(1), Policy::Every(3), Policy::Doubling][usize::from(flags >> 2 & 3)];
        // Full blocks take long: one input of eight.
        let is_repeated = flags & 16 != 0 && group & 3 == 0;
        let after = [After::Cut, After::Skip, After::Replace, After::Damage][usize::from(flags >> 5 & 3)];
        let (columns, group) = (1 + usize::from(flags & 3), if is_repeated { 1024 } else { 1 + usize::from(group) });
        let rows = &rows[..rows.len().min(ROWS)];
        let plan = Plan { fields, styles, columns, rows, policy, group, is_repeated, after };
        Some((plan, u16::from_le_bytes([low, high]).into()))
    }

    /// The number of rows.
    fn len(&self) -> usize {
        self.rows.len() * if self.is_repeated { REPEATED } else { 1 }
    }

    fn fields(&self) -> &[Field<'static>] {
        &self.fields[..self.columns]
    }

    /// The value of a row: null, constant, few bits, or all bits from a hash of its byte.
    fn cell(&self, column: usize, row: usize) -> Cell<'d> {
        let at = row % self.rows.len();
        let (field, style, byte) = (&self.fields[column], self.styles[column], self.rows[at]);
        if field.nullable && (style & 8 != 0 && byte & 1 == 1 || style & 16 != 0) {
            return Cell::Null;
        }
        let hash = u64::from(byte).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = match style & 7 {
            0 => 7,
            1 => u64::from(byte),
            2 => u64::from(byte).wrapping_sub(100),
            3 => hash >> (style >> 5).wrapping_mul(9),
            4 => (u64::from(byte) << 63).wrapping_sub(u64::from(byte >> 1)),
            5 => (f64::from(byte) / 8.0).to_bits(),
            6 => (f32::from(byte) / 10.0).to_bits().into(),
            _ => (row as u64).wrapping_mul(hash | 1),
        };
        let bytes = match style & 3 {
            0 => &b"same"[..],
            1 => &self.rows[at..at + 1],
            2 => &self.rows[at..self.rows.len().min(at + usize::from(byte & 31))],
            _ => b"",
        };
        match field.ty {
            FieldType::Utf8 => Cell::Text(core::str::from_utf8(bytes).unwrap_or("no text")),
            FieldType::Binary => Cell::Bytes(bytes),
            _ => Cell::Word(word & u64::MAX >> (64 - bits(field.ty))),
        }
    }

    /// Pushes the rows from number `first` on. Returns where their row groups end.
    fn push<S: Sink>(&self, log: &mut Log<'_, S, Fields<'_>>, first: usize) -> Ends
    where
        S::Error: core::fmt::Debug,
    {
        let mut ends = Ends { at: log.at(), first, list: [(0, 0); ROWS + 2], len: 0 };
        for row in first..self.len() {
            let cells: [Cell<'_>; COLUMNS] = core::array::from_fn(|column| self.cell(column, row));
            log.push_cells(&cells[..self.columns]).expect("room");
            // Checkpoints after row groups of one row would fill the file.
            if !self.is_repeated && self.rows[row] == 0xff && self.policy == Policy::ByHand {
                log.flush().expect("room");
            }
            ends.add(log.at(), row + 1 - log.pending());
        }
        log.checkpoint().expect("room");
        ends.add(log.at(), self.len());
        ends
    }

    /// Asserts that `file` is valid and has `rows` rows: the first ones, without the rows `lost`.
    fn check(&self, file: &[u8], rows: usize, lost: &Range<usize>) {
        let mut memory = [0; MEMORY];
        // A packed block is decoded once.
        let step = if self.is_repeated { 1024 } else { 64 };
        let opened = File::open(file).expect("a valid file");
        opened.verify(&mut Scratch::new(&mut memory)).expect("a valid file");
        let part = opened.part().expect("a table");
        assert_eq!(part.rows(), rows as u64);
        for (i, field) in self.fields().iter().enumerate() {
            let column = part.column(i).expect("its columns");
            let mut row = 0;
            while row < rows {
                let end = rows.min(row + step);
                let mut scratch = Scratch::new(&mut memory);
                let batch = column.read(row as u64..end as u64, &mut scratch).expect("rows");
                for k in 0..batch.len {
                    let at = row + k;
                    let at = if at < lost.start { at } else { at + lost.len() };
                    assert_same(field, batch.value(k).expect("a value"), self.cell(i, at));
                }
                row += batch.len;
            }
        }
    }
}

/// Number of bits of a number.
fn bits(ty: FieldType<'_>) -> usize {
    match ty {
        FieldType::Bool => 1,
        FieldType::Prim(prim) => prim.size() * 8,
        FieldType::Date(Unit::Day) | FieldType::Time(Unit::Second | Unit::Milli) => 32,
        _ => 64,
    }
}

fn assert_same(field: &Field<'_>, have: Value<'_>, want: Cell<'_>) {
    match (have, want) {
        (Value::Null, Cell::Null) => {}
        (Value::Bool(have), Cell::Word(word)) => assert_eq!(u64::from(have), word),
        (Value::F32(have), Cell::Word(word)) => assert_eq!(have.to_bits(), word as u32),
        (Value::F64(have), Cell::Word(word)) => assert_eq!(have.to_bits(), word),
        (Value::Text(have), Cell::Text(text)) => assert_eq!(have, text.as_bytes()),
        (Value::Bytes(have), Cell::Bytes(bytes)) => assert_eq!(have, bytes),
        (Value::Int(have), Cell::Word(word)) => {
            let want = match field.ty {
                FieldType::Prim(Prim::I8) => (word as i8).into(),
                FieldType::Prim(Prim::I16) => (word as i16).into(),
                FieldType::Prim(Prim::U8) => (word as u8).into(),
                FieldType::Prim(Prim::U16) => (word as u16).into(),
                FieldType::Prim(Prim::U32) => (word as u32).into(),
                FieldType::Prim(Prim::U64) => word.into(),
                FieldType::Prim(Prim::I32)
                | FieldType::Date(Unit::Day)
                | FieldType::Time(Unit::Second | Unit::Milli) => (word as i32).into(),
                _ => i128::from(word as i64),
            };
            assert_eq!(have, want, "{field:?}");
        }
        (have, want) => panic!("{field:?}: {have:?}, not {want:?}"),
    }
}

/// Where row groups end, each with the checkpoint that was written with it, and the numbers of the rows after them. The last
/// checkpoint may have no row group.
struct Ends {
    at: u64,
    first: usize,
    list: [(u64, usize); ROWS + 2],
    len: usize,
}

impl Ends {
    fn add(&mut self, at: u64, row: usize) {
        if at > self.list[..self.len].last().map_or(self.at, |(end, _)| *end) {
            self.list[self.len] = (at, row);
            self.len += 1;
        }
    }

    /// Returns the row group with which the byte at `place` was written; after all of them, an empty one.
    fn hit(&self, place: usize) -> Range<usize> {
        let (mut at, mut first) = (self.at, self.first);
        for (end, row) in &self.list[..self.len] {
            if (at..*end).contains(&(place as u64)) {
                return first..*row;
            }
            (at, first) = (*end, *row);
        }
        first..first
    }
}

/// Flags, cut, rows of a row group, types and styles of the columns; then a row for each byte.
pub fn run(data: &[u8]) {
    let Some((plan, cut)) = Plan::of(data) else { return };
    let columns = Fields::new(plan.fields()).expect("types of the format");
    let (mut memory, mut words, mut whole) = ([0; MEMORY], [0; (ROWS + 1) * group_words(COLUMNS)], [0; FILE]);
    let memory = &mut memory[..memory_len(plan.fields(), plan.group, TEXTS)];
    let sink = SliceSink::new(&mut whole);
    let mut log = Log::new(sink, columns, (memory, plan.group), &mut words, plan.policy).expect("room");
    let first = log.at() as usize;
    let ends = plan.push(&mut log, 0);
    let len = log.finish().expect("room").len();
    let cut = cut % (len + 1);
    let hit = ends.hit(cut);
    let whole = &whole[..len];
    plan.check(whole, plan.len(), &(0..0));
    plan.check(&whole[..first], 0, &(0..0));

    let mut again = [0; FILE];
    again[..len].copy_from_slice(whole);
    let written = if plan.after == After::Damage { len } else { cut };
    if plan.after == After::Damage && cut < len {
        again[cut] ^= 1 << (cut % 8);
    }
    let mut found = match Resume::find(&again[..written], &columns, &mut words) {
        Ok(found) => found,
        Err(_) => return assert!(cut < first, "{:?} at {cut}, the first checkpoint ends at {first}", plan.after),
    };
    assert!(found.at() as usize >= first && found.at() as usize <= written, "{found:?}, {cut}");
    if plan.after == After::Damage {
        found.drop_damaged(&again[..], &columns, &mut words).expect("a slice");
    }
    if plan.after == After::Skip {
        found = found.skipping(written as u64);
    }
    let (at, rows) = (found.at() as usize, found.rows() as usize);
    // The row group where the damage is may be lost, and no other; before a cut, none.
    let lost = if rows < plan.len() { hit.clone() } else { 0..0 };
    match plan.after {
        After::Damage => assert_eq!(rows, plan.len() - lost.len(), "a bit at {cut}, {hit:?}"),
        _ => assert!(rows == hit.start || rows == hit.end, "cut at {cut}: {rows} rows, {hit:?}"),
    }
    // The sink begins where the log continues.
    let sink = SliceSink::new(&mut again[at..]);
    let mut log =
        Log::resume(sink, columns, (memory, plan.group), &mut words, (&found, plan.policy)).expect("the same memory");
    if plan.after == After::Replace {
        log = log.replacing();
    }
    if plan.after == After::Damage {
        let len = at + log.finish().expect("room").len();
        return plan.check(&again[..len], rows, &lost);
    }
    plan.push(&mut log, rows);
    let len = at + log.finish().expect("room").len();
    plan.check(&again[..len], plan.len(), &(0..0));
}
