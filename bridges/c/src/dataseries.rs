//! DataSeries: the writer of a file, and the rows that are not yet written.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use pilaster::bytes::NativeEndian;
use pilaster::dataseries::write::{
    Description, Descriptions, ExtentBuffer, Foreign, ForeignField, IndexSlot, Memory, Rest, Resume, Writer,
};
use pilaster::error::{Error, Kind, What};

use crate::compress::{Codec, codec};
use crate::error::Failure;
use crate::place::Bounds;
use crate::raw::{At, CSink, In, Marked, Out, Put, Region, Text, ascii, exports, lend, written};

/// The writer of a file, in the byte order of the processor.
pub type File = Writer<'static, NativeEndian, CSink, Codec>;
/// Rows of one type.
pub type Extent = ExtentBuffer<
    'static,
    NativeEndian,
    Foreign<'static, { cfg!(feature = "text") }, { cfg!(feature = "relative-double") }>,
>;
/// `pilaster_ds_entry`: a type in the list of a file.
pub type Entry = MaybeUninit<Description<'static>>;

impl Marked for File {
    const MARK: u32 = 0x7a6c_0001;
}

impl Marked for Extent {
    const MARK: u32 = 0x7a6c_0002;
}

/// `pilaster_ds_type`: a type of records, a constant of C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CType {
    /// The name.
    pub name: Text,
    /// The description.
    pub xml: Text,
    /// The fields.
    pub fields: In<ForeignField>,
    /// Number of fields.
    pub field_count: u32,
    /// Size of a record in bytes.
    pub record_len: u32,
}

/// `pilaster_ds_config`: what a file is written with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Config {
    /// Stores the bytes of the file.
    pub put: Option<Put>,
    /// The first argument of `put`.
    pub context: Out<c_void>,
    /// The types, in ascending order of their names.
    pub types: In<In<CType>>,
    /// Memory for as many entries as types.
    pub entries: Out<Entry>,
    /// Number of types.
    pub type_count: u32,
    /// The compressor.
    pub mode: u32,
    /// Memory for the index: 8 bytes for each extent.
    pub slots: Region,
    /// Memory of the compressor: its table.
    pub table: Region,
    /// Memory of the compressor: its output.
    pub packed: Region,
}

/// `pilaster_ds_memory`: memory of an extent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ExtentMemory {
    /// For the records.
    pub rows: Region,
    /// For the strings.
    pub pool: Region,
    /// For the table of unique strings.
    pub unique: Out<u32>,
    /// Number of its slots.
    pub unique_count: usize,
}

/// `pilaster_ds_found`: the end of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Found {
    /// Where the log is resumed.
    pub at: u64,
    /// Number of rows before that offset.
    pub rows: u64,
    /// The rest of the bytes: nothing, erased flash, an index, damage; 0 to 3.
    pub rest: u32,
    /// Zero.
    pub zero: u32,
}

/// `pilaster_ds_counts`: how far a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Number of bytes so far.
    pub bytes: u64,
    /// Number of extents of rows so far.
    pub extents: u64,
}

/// `pilaster_ds_extent_counts`: how full an extent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ExtentCounts {
    /// Number of rows.
    pub rows: u64,
    /// Number of further rows that fit.
    pub room: u64,
}

/// The checked parts of a configuration.
#[derive(Debug)]
struct Lent {
    sink: CSink,
    types: Descriptions<'static>,
    slots: &'static mut [IndexSlot],
    codec: Codec,
}

impl Config {
    /// Checks the memory of a file whose state has the bounds `own`. `argument` is the number of the argument.
    fn lend(config: In<Config>, own: Bounds, argument: u32) -> Result<Lent, Failure> {
        let Config { put, context, types, entries, type_count, mode, slots, table, packed } = config.load(argument)?;
        let count = type_count as usize;
        let (entries, slots, table, packed) =
            lend(own, types.bounds(count), (entries, count), slots.items(), table.items(), packed.items(), argument)?;
        let sink = CSink::new(put, context, argument)?;
        let types = self::types(types, entries, argument)?;
        Ok(Lent { sink, types, slots: IndexSlot::over(slots), codec: codec(mode, table, packed)? })
    }

    /// The bounds of the state and of the buffers of the caller.
    fn places(self, own: Bounds) -> [Bounds; 5] {
        let Config { entries, type_count, slots, table, packed, .. } = self;
        [own, entries.bounds(type_count as usize), slots.bounds(), table.bounds(), packed.bounds()]
    }
}

/// Returns the list of as many types as entries, which `from` points to.
pub fn types(
    from: In<In<CType>>,
    entries: &'static mut [Entry],
    argument: u32,
) -> Result<Descriptions<'static>, Failure> {
    let from = from.items(entries.len(), argument)?;
    let list = written(entries, |k| CType::description(*from.get(k).ok_or(Failure::argument(argument))?, argument))?;
    Ok(Descriptions::new(list)?)
}

impl CType {
    /// The name and the description. One function for files and extents: it is small code.
    #[inline(never)]
    pub fn description(ty: In<CType>, argument: u32) -> Result<Description<'static>, Failure> {
        let ty = ty.load(argument)?;
        let (name, xml) = (ascii(ty.name.bytes(argument)?), ty.xml.bytes(argument)?);
        if let Some(at) = torn(xml) {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, at as u64).into());
        }
        Ok(Description { name: name.ok_or(Failure::argument(argument))?, xml })
    }
}

/// Returns the offset of `<` or `&` in a value of the description, or of a quotation mark that begins one without `=`, as a value with one
/// mark ends early. `pilaster_ds_check_record` checks all of the description, with the code of a reader.
fn torn(xml: &[u8]) -> Option<usize> {
    let (mut open, mut before) = (false, b' ');
    xml.iter().position(|byte| {
        let wrong = match *byte {
            b'"' => {
                open = !open;
                open && before != b'='
            }
            b'<' | b'&' => open,
            _ => false,
        };
        before = *byte;
        wrong
    })
}

/// Creates an extent of rows of type `ty`, in memory of the caller that overlaps neither the state, whose bounds are `own`, nor the fields.
fn extent(own: Bounds, ty: In<CType>, memory: In<ExtentMemory>) -> Result<Extent, Failure> {
    let name = CType::description(ty, 2)?.name;
    let (ty, ExtentMemory { rows, pool, unique, unique_count }) = (ty.load(2)?, memory.load(3)?);
    let count = ty.field_count as usize;
    let fields = ty.fields.items(count, 2)?;
    let (read, nothing) = (ty.fields.bounds(count), Region::EMPTY.items());
    let (rows, pool, unique, _) = lend(own, read, rows.items(), pool.items(), (unique, unique_count), nothing, 3)?;
    let memory = Memory { rows, pool, unique };
    let extent = ExtentBuffer::new(Foreign::new(name, fields)?, memory)?;
    if extent.record_len() as u64 != u64::from(ty.record_len) {
        let need = extent.record_len() as u64;
        return Err(Error::needing(Kind::Misuse, What::DATASERIES_TYPE, 0, need).into());
    }
    Ok(extent)
}

exports! {
    /// Begins a file.
    fn pilaster_ds_init(writer: At<File>, config: In<Config>) {
        writer.place(1, || {
            let Lent { sink, types, slots, codec } = Config::lend(config, writer.bounds(), 2)?;
            Ok(Writer::with(sink, types, slots, codec))
        })
    }

    /// Continues a log.
    fn pilaster_ds_resume(writer: At<File>, config: In<Config>, log: In<u8>, len: usize, found: Out<Found>) {
        writer.place(1, || {
            // Before entries are written, which may be where the configuration is.
            let (lent, bytes) = (config.load(2)?.places(writer.bounds()), log.bounds(len));
            let Lent { sink, types, slots, codec } = Config::lend(config, writer.bounds(), 2)?;
            let log = log.apart(len, &lent, 3)?;
            found.bounds(1).outside(&lent, 5)?;
            found.bounds(1).outside(&[bytes], 5)?;
            let resume = Resume::find::<NativeEndian>(log, types, slots)?;
            let rest = match resume.rest() {
                Rest::Nothing => 0,
                Rest::Erased => 1,
                Rest::Index => 2,
                Rest::Damage(_) => 3,
            };
            found.tell(Found { at: resume.at(), rows: resume.rows(), rest, zero: 0 }, 5)?;
            Ok(Writer::resume_with(sink, types, slots, codec, &resume))
        })
    }

    /// Creates an extent.
    fn pilaster_ds_extent_init(at: At<Extent>, ty: In<CType>, memory: In<ExtentMemory>) {
        at.place(1, || extent(at.bounds(), ty, memory))
    }

    /// Adds a row.
    fn pilaster_ds_row(writer: At<File>, rows: At<Extent>, record: In<u8>, len: usize, texts: In<Text>, count: usize) {
        let count = match count {
            _ if cfg!(feature = "text") => count,
            0 => 0,
            // Without strings, no type has any.
            _ => return Err(Failure::argument(6)),
        };
        let (record, texts) = (record.items(len, 3)?, texts.items(count, 5)?);
        for text in texts {
            text.bytes(5)?;
        }
        let texts = texts.iter().map(|text| text.bytes(5).unwrap_or_default());
        writer.with(1, |file| rows.with(2, |extent| Ok(file.push_foreign(extent, record, texts)?)))
    }

    /// Writes the rows of an extent.
    fn pilaster_ds_flush(writer: At<File>, rows: At<Extent>) {
        writer.with(1, |file| rows.with(2, |extent| Ok(file.flush(extent)?)))
    }

    /// Ends a file. The state is not initialised then.
    fn pilaster_ds_finish(writer: At<File>) {
        writer.take(1, |file| Ok(file.end()?))
    }

    /// Returns how far a file is.
    fn pilaster_ds_count(writer: At<File>, counts: Out<Counts>) {
        let now = |file: &mut File| Ok(Counts { bytes: file.at(), extents: file.extents() as u64 });
        counts.tell(writer.with(1, now)?, 2)
    }

    /// Returns how full an extent is.
    fn pilaster_ds_extent_count(rows: At<Extent>, counts: Out<ExtentCounts>) {
        let now = |extent: &mut Extent| Ok(ExtentCounts { rows: extent.len().into(), room: extent.room() as u64 });
        counts.tell(rows.with(1, now)?, 2)
    }
}
