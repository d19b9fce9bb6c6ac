//! Writing of files from typed arrays. Columns are added one by one, then written to one file.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::{Bits, LittleEndian, Scratch, Sink, WriteError};
use pilaster::codec::HashTable;
use pilaster::column::{Spans, Validity, VarBytes};
use pilaster::dataseries::write::{
    Cell, Compress, Compressed, Description, Descriptions, ExtentBuffer, IndexSlot, Lz4, Memory, Writer,
};
use pilaster::dataseries::{ExtentType, Mode};
use pilaster::error::{Error, Kind, What};
use pilaster::filo::Element;
use pilaster::filo::write::{Plain, Rows, Strings, choose, encode, max_len, scratch_len};
use pilaster::limits::Limits;
use pilaster::unstable::dataseries::raw::{POOL_START, entry_len};

use crate::heap::{filled, lasting, memory, push, reserve};
use crate::json::Json;

/// Maximum size in bytes of the records of an extent, and of its strings unless one row has more; the default of the
/// original.
const EXTENT: usize = 64 << 10;

/// The kind of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Bool,
    Int32,
    Int64,
    Byte,
    Float,
    Double,
    Strings,
}

impl Of {
    const fn number(number: u32) -> Option<Of> {
        Some(match number {
            1 => Of::Bool,
            4 => Of::Int32,
            5 => Of::Int64,
            8 => Of::Byte,
            13 => Of::Float,
            14 => Of::Double,
            15 | 16 => Of::Strings,
            _ => return None,
        })
    }
}

/// A column from the page.
pub struct Column {
    of: Of,
    rows: usize,
    values: Vec<u8>,
    /// One bit per row, 1 = valid; `None` if all rows have a value.
    validity: Option<Vec<u8>>,
    /// For strings: their spans in the values. For date-times: their offsets from UTC.
    spans: Vec<u8>,
}

/// The columns, and the file written from them.
pub struct Writing {
    columns: Vec<Column>,
    /// The file.
    pub made: Vec<u8>,
    /// JSON about the file, or the error.
    pub about: Json,
}

impl Writing {
    pub const fn new() -> Self {
        Writing { columns: Vec::new(), made: Vec::new(), about: Json::new() }
    }

    /// Begins a column; its parts follow. Returns false if there is no such kind, or no memory.
    pub fn column(&mut self, kind: u32, rows: usize) -> bool {
        let Some(of) = Of::number(kind) else { return false };
        push(&mut self.columns, Column { of, rows, values: Vec::new(), validity: None, spans: Vec::new() }).is_ok()
    }

    /// Stores a part of the last column: 0 values, 1 validity, 2 spans of strings, or UTC offsets of date-times.
    pub fn part(&mut self, which: u32, bytes: Vec<u8>) {
        if let Some(column) = self.columns.last_mut() {
            match which {
                0 => column.values = bytes,
                1 => column.validity = Some(bytes),
                _ => column.spans = bytes,
            }
        }
    }

    /// Writes the only column as a Filo vector in the smallest encoding.
    pub fn filo(&mut self, element: Element) -> Result<()> {
        let [column] = self.columns.as_slice() else { return Err(Error::new(Kind::Misuse, What::COLUMN, 0)) };
        let rows = Rows { values: column.plain(element)?, validity: column.validity()? };
        let (strings, bytes) =
            if column.of == Of::Strings { (scratch_len(column.rows), column.values.len()) } else { (0, 0) };
        let mut room = memory(strings as u64)?;
        let encoding = choose(&rows, &mut Scratch::new(&mut room))?;
        let mut chunk = memory(max_len(encoding, column.rows, bytes) as u64)?;
        let len = encode(encoding, &rows, &mut chunk, &mut Scratch::new(&mut room))?;
        chunk.truncate(len);
        self.made = chunk;
        Ok(())
    }

    /// Writes the columns as a DataSeries file. `xml` describes their type.
    pub fn series(&mut self, xml: Vec<u8>, compressed: bool) -> Result<()> {
        let xml: &'static [u8] = Box::leak(xml.into_boxed_slice());
        let ty = lasting(|scratch| ExtentType::parse(xml, &Limits::DEFAULT, scratch))?;
        let columns = &self.columns;
        if let Some(column) = columns.iter().find(|column| Some(column.rows) != columns.first().map(|first| first.rows))
        {
            return Err(Error::new(Kind::Misuse, What::ROW, column.rows as u64));
        }
        let plan = Plan::of(columns, ty.record_len())?;
        let (mut rows, mut pool) = (memory(plan.records as u64)?, memory(plan.pool as u64)?);
        let mut slots = filled(plan.ends.len(), IndexSlot::EMPTY)?;
        let types = [Description::from(&ty)];
        let (mut slots_of_lz4, mut room) =
            (memory(2 * SLOTS as u64)?, memory(if compressed { EXTENT as u64 } else { 0 })?);
        let table = HashTable::take(&mut Scratch::new(&mut slots_of_lz4))?;
        let lz4 = compressed.then(|| Lz4::new(table, &mut room));
        let mut writer =
            Writer::<LittleEndian, _, _>::with(File(Vec::new()), Descriptions::new(&types)?, &mut slots, Chosen(lz4));
        let mut extent =
            ExtentBuffer::<LittleEndian, _>::new(ty, Memory { rows: &mut rows, pool: &mut pool, unique: &mut [] })?;
        let mut first = 0;
        for end in plan.ends {
            for row in first..end {
                let mut record = extent.row()?;
                for (k, column) in columns.iter().enumerate() {
                    match column.cell(row)? {
                        Some(cell) => record.set(k, cell)?,
                        None => record.null(k)?,
                    };
                }
                record.end()?;
            }
            writer.flush(&mut extent).map_err(either)?;
            first = end;
        }
        self.made = writer.finish().map_err(either)?.0;
        Ok(())
    }
}

/// The division of rows into extents: `ends` contains the end of each.
struct Plan {
    ends: Vec<usize>,
    /// Maximum size in bytes of the records of an extent; `pool`: of the strings.
    records: usize,
    pool: usize,
}

impl Plan {
    fn of(columns: &[Column], record_len: usize) -> Result<Self> {
        let rows = columns.first().map_or(0, |column| column.rows);
        let most = EXTENT.checked_div(record_len).unwrap_or(EXTENT).max(1);
        let mut plan = Plan { ends: Vec::new(), records: most.saturating_mul(record_len), pool: EXTENT };
        let (mut first, mut pool) = (0, POOL_START);
        for row in 0..rows {
            let mut strings = 0;
            for column in columns {
                if let Some(Cell::Bytes(bytes)) = column.cell(row)? {
                    strings = usize::saturating_add(strings, entry_len(bytes.len() as u64) as usize);
                }
            }
            if row > first && (row.saturating_sub(first) >= most || pool.saturating_add(strings) > EXTENT) {
                push(&mut plan.ends, row)?;
                (first, pool) = (row, POOL_START);
            }
            pool = pool.saturating_add(strings);
            plan.pool = plan.pool.max(pool);
        }
        if rows > first {
            push(&mut plan.ends, rows)?;
        }
        Ok(plan)
    }
}

impl Column {
    fn numbers<T: bytemuck::Pod>(&self) -> Result<&[T]> {
        self.whole(bytemuck::try_cast_slice(&self.values).unwrap_or_default())
    }

    fn bits(&self) -> Result<Bits<'_>> {
        Bits::new(&self.values, 0, self.rows)
    }

    fn strings(&self) -> Result<VarBytes<'_>> {
        let spans: &[[u32; 2]] = self.whole(bytemuck::try_cast_slice(&self.spans).unwrap_or_default())?;
        Ok(VarBytes { data: &self.values, spans: Spans::Each(spans) })
    }

    fn validity(&self) -> Result<Validity<'_>> {
        match &self.validity {
            Some(bits) => Bits::new(bits, 0, self.rows).map(Validity::Bits),
            None => Ok(Validity::All),
        }
    }

    /// Returns the items of all rows, or an error if there are fewer.
    fn whole<'v, T>(&self, values: &'v [T]) -> Result<&'v [T]> {
        let short = || Error::needing(Kind::Misuse, What::COLUMN, values.len() as u64, self.rows as u64);
        values.get(..self.rows).ok_or_else(short)
    }

    /// Returns the values for a Filo vector.
    fn plain(&self, element: Element) -> Result<Plain<'_>> {
        Ok(match (self.of, element) {
            (Of::Bool, Element::Boolean) => Plain::Boolean(self.bits()?),
            (Of::Int32, Element::Int) => Plain::Int(self.numbers()?),
            (Of::Int64, Element::Long) => Plain::Long(self.numbers()?),
            (Of::Int64, Element::Timestamp) => Plain::Timestamp(self.numbers()?),
            (Of::Int64, Element::DateTime) => {
                let offsets = self.whole(bytemuck::try_cast_slice(&self.spans).unwrap_or_default())?;
                Plain::DateTime { millis: self.numbers()?, offsets }
            }
            (Of::Float, Element::Float) => Plain::Float(self.numbers()?),
            (Of::Double, Element::Double) => Plain::Double(self.numbers()?),
            (Of::Strings, Element::String) => Plain::String(Strings::Spans(self.strings()?)),
            (Of::Strings, Element::Utf8) => Plain::Utf8(Strings::Spans(self.strings()?)),
            (Of::Strings, Element::Blob) => Plain::Blob(Strings::Spans(self.strings()?)),
            _ => return Err(Error::new(Kind::WrongType, What::FILO_ELEMENT, 0)),
        })
    }

    /// Returns a cell of a record, or `None` if the row is missing.
    fn cell(&self, row: usize) -> Result<Option<Cell<'_>>> {
        if !self.validity()?.get(row) {
            return Ok(None);
        }
        let none = || Error::new(Kind::OutOfRange, What::ROW, row as u64);
        Ok(Some(match self.of {
            Of::Bool => Cell::Bool(self.bits()?.get(row).ok_or_else(none)?),
            Of::Byte => Cell::Byte(*self.numbers::<u8>()?.get(row).ok_or_else(none)?),
            Of::Int32 => Cell::Int32(*self.numbers::<i32>()?.get(row).ok_or_else(none)?),
            Of::Int64 => Cell::Int64(*self.numbers::<i64>()?.get(row).ok_or_else(none)?),
            Of::Float => Cell::Double((*self.numbers::<f32>()?.get(row).ok_or_else(none)?).into()),
            Of::Double => Cell::Double(*self.numbers::<f64>()?.get(row).ok_or_else(none)?),
            Of::Strings => Cell::Bytes(self.strings()?.get(row)?),
        }))
    }
}

/// A file in growing memory.
pub struct File(pub Vec<u8>);

impl Sink for File {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        reserve(&mut self.0, bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// LZ4, or no compression.
struct Chosen<'m>(Option<Lz4<'m, SLOTS>>);

/// Number of slots of the hash table of LZ4.
const SLOTS: usize = 4096;

impl Compress for Chosen<'_> {
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        match &mut self.0 {
            Some(lz4) => lz4.compress(fixed, variable),
            None => Compressed { fixed: (Mode::None, fixed), variable: (Mode::None, variable) },
        }
    }
}

/// Returns the error of the file or of its sink.
pub fn either(e: WriteError<Error>) -> Error {
    match e {
        WriteError::Format(e) | WriteError::Sink(e) => e,
    }
}
