//! Vortex files that are written row by row.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::str;

use pilaster::column::{Prim, Unit};
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume};

use crate::error::Failure;
use crate::place::Bounds;
use crate::raw::{At, CSink, In, Marked, Out, Put, Region, Sync, Text, ascii, exports, lend, written};

/// `pilaster_vortex_entry`: a column of a log.
pub type Entry = MaybeUninit<Field<'static>>;
/// `pilaster_vortex_place`: the cell of a column while a row is added.
pub type Place = MaybeUninit<Cell<'static>>;

/// A log, and memory for the cells of a row.
#[derive(Debug)]
pub struct VortexLog {
    log: Log<'static, CSink, Fields<'static>>,
    places: Out<Place>,
    count: usize,
}

impl Marked for VortexLog {
    const MARK: u32 = 0x7a6c_0005;
}

/// `pilaster_vortex_field`: a column as C describes it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CField {
    /// Its name, in ASCII.
    pub name: Text,
    /// The time zone of a timestamp, or nothing.
    pub zone: Text,
    /// The number of its type.
    pub ty: u32,
    /// Whether values can be missing.
    pub nullable: u32,
}

/// `pilaster_vortex_cell`: a value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CCell {
    /// null, bool, int, uint, float, double, text, bytes: 0 to 7.
    pub kind: u32,
    /// Zero.
    pub zero: u32,
    /// The bits of a number.
    pub word: u64,
    /// A text, or bytes.
    pub text: Text,
}

/// `pilaster_vortex_config`: what a log is written with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Config {
    /// Stores the bytes of the file.
    pub put: Option<Put>,
    /// Makes them survive a power cut, or nothing.
    pub sync: Option<Sync>,
    /// The first argument of both.
    pub context: Out<c_void>,
    /// The columns.
    pub fields: In<CField>,
    /// Memory for as many entries as columns.
    pub entries: Out<Entry>,
    /// Memory for as many cells as columns.
    pub places: Out<Place>,
    /// Number of columns.
    pub field_count: u32,
    /// Number of rows of a row group.
    pub row_count: u32,
    /// Memory for the rows of a row group.
    pub rows: Region,
    /// Memory for the records of row groups.
    pub groups: Out<u32>,
    /// Its length in words of four bytes.
    pub group_words: usize,
    /// After how many row groups a checkpoint is written; 0: only when it is asked for; the largest number: after 1, 2, 4, 8 …
    pub every: u32,
    /// Zero.
    pub zero: u32,
}

/// `pilaster_vortex_found`: the end of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Found {
    /// Where the log is resumed.
    pub at: u64,
    /// Number of rows before that offset.
    pub rows: u64,
    /// Whether the memory for row groups is full: the log is complete.
    pub full: u32,
    /// Zero.
    pub zero: u32,
}

/// `pilaster_vortex_counts`: how far a log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Number of row groups.
    pub groups: u64,
    /// Number of rows that are not in a row group yet.
    pub pending: u64,
}

/// The checked parts of a configuration.
struct Lent {
    sink: CSink,
    fields: Fields<'static>,
    places: Out<Place>,
    count: usize,
    rows: (&'static mut [u8], usize),
    groups: &'static mut [u32],
    policy: Policy,
}

impl CField {
    fn field(self) -> Result<Field<'static>, Failure> {
        let name = ascii(self.name.bytes(2)?).ok_or(Failure::argument(2))?;
        let zone = ascii(self.zone.bytes(2)?).ok_or(Failure::argument(2))?;
        let ty = match self.ty {
            0 => FieldType::Bool,
            1 => FieldType::Prim(Prim::I8),
            2 => FieldType::Prim(Prim::I16),
            3 => FieldType::Prim(Prim::I32),
            4 => FieldType::Prim(Prim::I64),
            5 => FieldType::Prim(Prim::U8),
            6 => FieldType::Prim(Prim::U16),
            7 => FieldType::Prim(Prim::U32),
            8 => FieldType::Prim(Prim::U64),
            9 => FieldType::Prim(Prim::F32),
            10 => FieldType::Prim(Prim::F64),
            11 => FieldType::Utf8,
            12 => FieldType::Binary,
            13 => FieldType::Date(Unit::Day),
            14 => FieldType::Date(Unit::Milli),
            15 => FieldType::Time(Unit::Second),
            16 => FieldType::Time(Unit::Milli),
            17 => FieldType::Time(Unit::Micro),
            18 => FieldType::Time(Unit::Nano),
            19 => FieldType::Timestamp(Unit::Second, zone),
            20 => FieldType::Timestamp(Unit::Milli, zone),
            21 => FieldType::Timestamp(Unit::Micro, zone),
            22 => FieldType::Timestamp(Unit::Nano, zone),
            other => return Err(Error::needing(Kind::Unsupported, What::VORTEX_FIELD, 0, other.into()).into()),
        };
        Ok(Field { name, ty, nullable: self.nullable != 0 })
    }
}

impl CCell {
    fn cell(self, k: usize) -> Result<Cell<'static>, Failure> {
        let text = |bytes| str::from_utf8(bytes).map_err(|_| Error::new(Kind::Utf8, What::VORTEX_FIELD, k as u64));
        Ok(match self.kind {
            0 => Cell::Null,
            1 => Cell::Bool(self.word != 0),
            2 => Cell::Int(self.word.cast_signed()),
            3 => Cell::Uint(self.word),
            4 => Cell::F32(u32::try_from(self.word).map_err(|_| Failure::argument(2))?),
            5 => Cell::F64(self.word),
            6 => Cell::Text(text(self.text.bytes(2)?)?),
            7 => Cell::Bytes(self.text.bytes(2)?),
            other => return Err(Error::needing(Kind::Unsupported, What::VORTEX_FIELD, k as u64, other.into()).into()),
        })
    }
}

impl Config {
    fn lend(self, own: Bounds) -> Result<Lent, Failure> {
        let Config { put, sync, context, fields, entries, places, field_count, .. } = self;
        let Config { row_count, rows, groups, group_words, every, .. } = self;
        let count = field_count as usize;
        let (read, groups) = (fields.bounds(count), (groups, group_words));
        let lent = lend(own, read, (entries, count), (places, count), rows.items(), groups, 2)?;
        let (entries, _, rows, groups) = lent;
        let sink = CSink::new(put, context, 2)?.syncing(sync);
        let from = fields.items(count, 2)?;
        let list = written(entries, |k| from.get(k).copied().ok_or(Failure::argument(2)).and_then(CField::field))?;
        let policy = match every {
            0 => Policy::ByHand,
            u32::MAX => Policy::Doubling,
            every => Policy::Every(every),
        };
        let rows = (rows, row_count as usize);
        Ok(Lent { sink, fields: Fields::new(list)?, places, count, rows, groups, policy })
    }

    /// The bounds of the state and of the buffers of the caller.
    fn places(self, own: Bounds) -> [Bounds; 5] {
        let Config { entries, places, field_count, rows, groups, group_words, .. } = self;
        let count = field_count as usize;
        [own, entries.bounds(count), places.bounds(count), rows.bounds(), groups.bounds(group_words)]
    }
}

exports! {
    /// Begins a log.
    fn pilaster_vortex_init(log: At<VortexLog>, config: In<Config>) {
        log.place(1, || {
            let Lent { sink, fields, places, count, rows, groups, policy } = config.load(2)?.lend(log.bounds())?;
            Ok(VortexLog { log: Log::new(sink, fields, rows, groups, policy)?, places, count })
        })
    }

    /// Continues a log.
    fn pilaster_vortex_resume(log: At<VortexLog>, config: In<Config>, bytes: In<u8>, len: usize, found: Out<Found>) {
        log.place(1, || {
            let config = config.load(2)?;
            let Lent { sink, fields, places, count, rows, groups, policy } = config.lend(log.bounds())?;
            let (lent, read) = (config.places(log.bounds()), bytes.bounds(len));
            let bytes = bytes.apart(len, &lent, 3)?;
            found.bounds(1).outside(&lent, 5)?;
            found.bounds(1).outside(&[read], 5)?;
            let end = Resume::find(bytes, &fields, groups)?;
            found.tell(Found { at: end.at(), rows: end.rows(), full: end.is_full().into(), zero: 0 }, 5)?;
            Ok(VortexLog { log: Log::resume(sink, fields, rows, groups, (&end, policy))?, places, count })
        })
    }

    /// Adds a row.
    fn pilaster_vortex_row(log: At<VortexLog>, cells: In<CCell>, count: usize) {
        cells.items(count, 2)?;
        log.with(1, |log| {
            if count != log.count {
                return Err(Error::needing(Kind::Misuse, What::VORTEX_FIELD, count as u64, log.count as u64).into());
            }
            let from = cells.apart(count, &[log.places.bounds(count)], 2)?;
            let cells = written(log.places.lend(count, 1)?, |k| {
                from.get(k).copied().ok_or(Failure::argument(2)).and_then(|cell| cell.cell(k))
            })?;
            Ok(log.log.push_cells(cells)?)
        })
    }

    /// Writes the rows as a row group.
    fn pilaster_vortex_flush(log: At<VortexLog>) {
        log.with(1, |log| Ok(log.log.flush()?))
    }

    /// Writes the rows and a checkpoint.
    fn pilaster_vortex_checkpoint(log: At<VortexLog>) {
        log.with(1, |log| Ok(log.log.checkpoint()?))
    }

    /// Ends the log. The state is not initialised then.
    fn pilaster_vortex_finish(log: At<VortexLog>) {
        log.take(1, |log| Ok(log.log.end()?))
    }

    /// Returns how far a log is.
    fn pilaster_vortex_count(log: At<VortexLog>, counts: Out<Counts>) {
        let now =
            |log: &mut VortexLog| Ok(Counts { groups: log.log.groups() as u64, pending: log.log.pending() as u64 });
        counts.tell(log.with(1, now)?, 2)
    }
}
