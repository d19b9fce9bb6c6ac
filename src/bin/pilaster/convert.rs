//! `convert` between formats: the rows of one table through the one loop of the library.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

use pilaster::any::{File, Format};
use pilaster::bcolz;
use pilaster::bcolz::chunk::{Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::write::{Builder, Disk, Missing};
use pilaster::bytes::{BigEndian, Endian, IoSink, LittleEndian, Scratch, WriteError};
use pilaster::column::{Column, Part, Table, Type, convert};
use pilaster::dataseries::write::{Description, Descriptions, Extent, IndexSlot, Writer, describe};
use pilaster::dataseries::{self, ExtentType, FieldType, Order};
use pilaster::error::{Kind, What};
use pilaster::jay::write::{WriteOptions, storage};
use pilaster::limits::Limits;
use pilaster::{filo, jay};

use crate::Failure;
use crate::args::Convert;
use crate::jay::Readable;
use crate::open::{Input, part_room};
use crate::pick::Picked;
use crate::rewrite::Target;

/// Memory for the batches of all columns, unless one row takes more.
const BATCH_ROOM: usize = 1 << 22;

/// Rows of an extent of a DataSeries file.
const EXTENT_ROWS: u64 = 1 << 14;

/// The extension of a target that is one Blosc chunk.
const CHUNK: &str = "blosc";

/// The format to write: what was said, what the name says, or that of the source.
pub fn target(source: Format, how: &Convert) -> Format {
    let by_name = || match how.target.extension()?.to_str()? {
        "jay" => Some(Format::Jay),
        "filo" => Some(Format::Filo),
        "ds" => Some(Format::DataSeries),
        "bcolz" | CHUNK => Some(Format::Bcolz),
        _ => None,
    };
    how.to.or_else(by_name).unwrap_or(source)
}

pub fn run(input: &Input, file: &File<'_>, how: &Convert, to: Format, out: &mut impl Write) -> Result<(), Failure> {
    let room = part_room(file)?;
    let len = match file {
        File::Filo(vector) => table(filo::Table::new(*vector), how, to, room)?,
        File::Vortex(vortex) => table(vortex.table(), how, to, room)?,
        File::DataSeries(series) => {
            let name = crate::dataseries::table(series, how.table.as_deref())?;
            table(series.table(&name)?, how, to, room)?
        }
        File::Bcolz(chunk) => {
            let (items, room) = crate::bcolz::items(chunk, input.dtype.as_deref())?;
            table(items, how, to, room)?
        }
        File::Jay(frame) => {
            let readable = Readable::new(*frame, input)?;
            // The key goes where all of its columns go.
            let keys = if how.columns.is_none() && !input.tolerant { frame.meta().keys() } else { 0 };
            table(readable.table(), &Convert { keys: how.keys.or(Some(keys)), ..how.clone() }, to, room)?
        }
    };
    Ok(writeln!(
        out,
        "{}: {len} bytes of {to}, {} bytes of {} before",
        how.target.display(),
        input.bytes.len(),
        file.format()
    )?)
}

/// The rows of a table whose parts take `room` bytes; how many bytes are written.
pub fn table<T: Table>(table: T, how: &Convert, to: Format, room: usize) -> Result<u64, Failure> {
    // An array of bcolz alone has no name, and no other format does without; Filo calls it so, too.
    let unnamed = if to == Format::Bcolz { "" } else { "v" };
    let mut picked = Picked::new(table, how.columns.as_deref(), how.stored_times, room)?.unnamed(unnamed);
    // A row may take more than any guess.
    let mut batch = BATCH_ROOM;
    loop {
        let mut memory = vec![0; room.saturating_add(batch)];
        let mut scratch = Scratch::new(&mut memory);
        let done = match to {
            Format::Jay => to_jay(&mut picked, how, &mut scratch),
            Format::DataSeries => to_dataseries(&mut picked, how, &mut scratch),
            Format::Filo => to_filo(&mut picked, how, &mut scratch),
            Format::Bcolz => to_bcolz(&mut picked, how, &mut scratch),
            other => return Err(Failure::Usage(format!("{other} cannot be written so far"))),
        };
        match done {
            Err(Stop::Room(need)) if (batch as u64) < Limits::DEFAULT.max_decoded => {
                batch = batch.saturating_mul(2).max(need);
            }
            Err(Stop::Room(need)) => return Err(Failure::Input(format!("{need} bytes are needed for one row"))),
            Err(Stop::Failure(failure)) => return Err(failure),
            Ok(len) => return Ok(len),
        }
    }
}

/// Why a conversion ended: for good, or for want of memory.
enum Stop {
    Room(usize),
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

impl From<pilaster::Error> for Stop {
    fn from(e: pilaster::Error) -> Self {
        match e.kind() {
            Kind::NoRoom if e.what() == What::Scratch => Stop::Room(e.need() as usize),
            _ => Stop::Failure(e.into()),
        }
    }
}

/// An error of a builder: about the rows, or of the file that is written.
fn stop<E: std::fmt::Display>(target: &Path, e: WriteError<E>) -> Stop {
    match e {
        WriteError::Format(e) => e.into(),
        WriteError::Sink(e) => Stop::Failure(Failure::Input(format!("{}: {e}", target.display()))),
    }
}

/// Looks at the first part: columns, by name and type, of which the target holds none say so.
fn check<T: Table>(
    table: &mut Picked<T>,
    to: Format,
    holds: impl Fn(Type) -> bool,
    hint: impl Fn(Type) -> &'static str,
    scratch: &mut Scratch<'_>,
) -> Result<(), Stop> {
    table.restart()?;
    let mut scope = scratch.scope();
    let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
    for k in 0..part.width() {
        let column = part.column(k)?;
        let mut ty = column.ty();
        let mut inner = column;
        // An array is held if its elements are.
        while holds(ty) && ty.children() == 1 {
            inner = inner.child(0)?;
            ty = inner.ty();
        }
        if !holds(ty) {
            let (name, hint) = (part.name(k)?, hint(ty));
            return Err(Stop::Failure(Failure::Input(format!("column {name}: {to} holds no {ty}{hint}"))));
        }
    }
    Ok(())
}

/// Timestamps with a zone, where the target holds none and nobody said that it may be left out, say so.
fn zones<T: Table>(table: &mut Picked<T>, to: Format, how: &Convert, scratch: &mut Scratch<'_>) -> Result<(), Stop> {
    table.restart()?;
    let mut scope = scratch.scope();
    let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
    for k in 0..part.width() {
        if let (Some(zone), false) = (part.column(k)?.zone()?, how.any_time) {
            let why = format!("column {}: {to} holds no zone ({zone}; --any-time leaves it out)", part.name(k)?);
            return Err(Stop::Failure(Failure::Input(why)));
        }
    }
    Ok(())
}

fn time_hint(ty: Type) -> &'static str {
    match ty {
        Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => " (--stored-times writes the stored integers)",
        _ => "",
    }
}

fn to_jay<T: Table>(table: &mut Picked<T>, how: &Convert, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
    let options = WriteOptions {
        layout: how.layout,
        keys: how.keys.unwrap_or(0),
        stats: how.stats,
        bytes_as_text: how.bytes_as_text,
        any_time: how.any_time,
    };
    let hint = |ty| match ty {
        Type::Bytes | Type::FixedBytes(_) | Type::Opaque => " (--bytes-as-text writes those that are text)",
        Type::Timestamp(_) => " (--any-time makes nanoseconds of it, --stored-times integers)",
        Type::List | Type::FixedList(_) => " in the old layout",
        ty => time_hint(ty),
    };
    check(table, Format::Jay, |ty| storage(ty, &options).is_some(), hint, scratch)?;
    zones(table, Format::Jay, how, scratch)?;
    fill(how, |sink| {
        let mut builder = jay::write::Builder::new(sink, &options)?;
        table.restart()?;
        convert(table, &mut builder, scratch)?;
        builder.finish()
    })
}

fn to_dataseries<T: Table>(table: &mut Picked<T>, how: &Convert, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
    check(table, Format::DataSeries, |ty| FieldType::of_column(ty).is_some(), time_hint, scratch)?;
    match how.order.unwrap_or(Order::Little) {
        Order::Little => to_dataseries_of::<T, LittleEndian>(table, how, scratch),
        Order::Big => to_dataseries_of::<T, BigEndian>(table, how, scratch),
    }
}

fn to_dataseries_of<T: Table, E: Endian>(
    table: &mut Picked<T>,
    how: &Convert,
    scratch: &mut Scratch<'_>,
) -> Result<u64, Stop> {
    let compress = crate::rewrite::compress(how)?;
    let name = how.table.as_deref().filter(|name| !name.is_empty()).unwrap_or("Table");
    let (mut xml, mut extents) = (None, 2u64);
    table.restart()?;
    loop {
        let mut scope = scratch.scope();
        let Some(part) = table.next_part(&mut scope)? else { break };
        if xml.is_none() {
            xml = Some(describe(name, &part, Vec::new()).map_err(|e| stop(&how.target, e))?);
        }
        extents = extents.saturating_add(part.rows().div_ceil(EXTENT_ROWS));
    }
    let Some(xml) = xml else {
        return Err(Stop::Failure(Failure::Input("there is no row to tell the columns by".to_owned())));
    };
    let mut memory = vec![0; 1 << 16];
    let ty = loop {
        match ExtentType::parse(&xml, &Limits::DEFAULT, &mut Scratch::new(&mut memory)) {
            Err(e) if e.kind() == Kind::NoRoom => {
                let room = memory.len().saturating_mul(4);
                memory = vec![0; room];
            }
            Err(e) => return Err(e.into()),
            Ok(_) => break ExtentType::parse(&xml, &Limits::DEFAULT, &mut Scratch::new(&mut memory))?,
        }
    };
    let slots = usize::try_from(extents).map_err(|_| Failure::Input(format!("{extents} extents are too many")))?;
    let (types, mut slots) = ([Description::from(&ty)], vec![IndexSlot::EMPTY; slots]);
    fill(how, |sink| {
        let writer = Writer::<E, _, _>::with(sink, Descriptions::new(&types)?, &mut slots, compress);
        let mut builder = dataseries::write::Builder::new(writer, Extent::growing(ty)?, EXTENT_ROWS);
        table.restart()?;
        convert(table, &mut builder, scratch)?;
        builder.finish()
    })
}

fn to_filo<T: Table>(table: &mut Picked<T>, how: &Convert, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
    if table.width() != 1 {
        let why = format!("a Filo vector is one column, and there are {}: choose it with --columns", table.width());
        return Err(Stop::Failure(Failure::Usage(why)));
    }
    check(table, Format::Filo, |ty| filo::Element::of_column(ty).is_some(), time_hint, scratch)?;
    fill(how, |mut sink| {
        let mut failed = None;
        let mut builder = filo::Builder::new(|_, _: &str, _, chunk: &[u8]| {
            use pilaster::bytes::Sink;
            failed = sink.put(chunk).err();
            Ok(())
        });
        table.restart()?;
        convert(table, &mut builder, scratch)?;
        match failed {
            Some(e) => Err(WriteError::Sink(e)),
            None => Ok(sink),
        }
    })
}

/// Names of compressors, and their shuffles.
pub fn params(how: &Convert) -> Params {
    let default = bcolz::write::WriteOptions::DEFAULT.params;
    let level = how.clevel.unwrap_or(default.level);
    Params {
        compressor: how.codec.unwrap_or(default.compressor),
        level,
        shuffle: how.shuffle.unwrap_or(default.shuffle),
        ..default
    }
}

fn to_bcolz<T: Table>(table: &mut Picked<T>, how: &Convert, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
    if table.width() == 0 {
        return Err(Stop::Failure(Failure::Input("there is no row to tell the columns by".to_owned())));
    }
    let hint = |ty| match ty {
        Type::Struct(_) => " (--records writes a structured dtype, which the original itself cannot open again)",
        Type::Time(_) => time_hint(ty),
        _ => "",
    };
    let holds = |ty| bcolz::write::holds(ty) && (how.records || !matches!(ty, Type::Struct(_)));
    check(table, Format::Bcolz, holds, hint, scratch)?;
    zones(table, Format::Bcolz, how, scratch)?;
    let mut rows = 0u64;
    table.restart()?;
    loop {
        let mut scope = scratch.scope();
        let Some(part) = table.next_part(&mut scope)? else { break };
        rows = rows.saturating_add(part.rows());
    }
    let options = bcolz::write::WriteOptions {
        params: params(how),
        chunklen: how.chunklen,
        expectedlen: Some(rows),
        missing: if how.fill_missing { Missing::Fill } else { Missing::Refuse },
    };
    let failed = |e: WriteError<bcolz::Failure>| match e {
        WriteError::Format(e) if e.what() == What::BcolzMissing && !how.fill_missing => Stop::Failure(Failure::Input(
            format!("{e} (--fill-missing writes NaN, 0, false, and empty texts for missing values)"),
        )),
        WriteError::Format(e) => e.into(),
        WriteError::Sink(failure) => Stop::Failure(failure.into()),
    };
    table.restart()?;
    if how.target.extension().is_some_and(|extension| extension == CHUNK) {
        if how.append || how.chunklen.is_some() || table.width() != 1 {
            let why = "a chunk holds all rows of one column (--columns chooses it), and none are appended".to_owned();
            return Err(Stop::Failure(Failure::Usage(why)));
        }
        let options = bcolz::write::WriteOptions { chunklen: Some(rows.max(1)), ..options };
        let disk = Kept::default();
        // A place where no dataset can be, as a file is replaced.
        let mut builder = Builder::create_on(disk.clone(), how.target.join("chunk"), &options);
        convert(table, &mut builder, scratch).map_err(failed)?;
        builder.finish().map_err(Failure::from)?;
        return disk.put(how);
    }
    let mut builder = if how.append {
        Builder::append(&how.target, &options).map_err(Failure::from)?
    } else {
        Builder::create(&how.target, &options)
    };
    convert(table, &mut builder, scratch).map_err(failed)?;
    builder.finish().map_err(Failure::from)?;
    let dataset = bcolz::Dataset::open(&how.target).map_err(Failure::from)?;
    Ok(crate::bcolz::stored(&dataset)?)
}

/// Of a dataset keeps the one file of its rows, as bytes.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// Writes the chunk in that file; of no rows there was none.
    fn put(&self, how: &Convert) -> Result<u64, Stop> {
        let kept = self.0.borrow();
        let chunk = bcolz::open_file(&kept).map(|_| kept.get(16..).unwrap_or_default());
        fill(how, |mut sink| {
            use pilaster::bytes::Sink;
            match chunk {
                Ok(chunk) => sink.put(chunk),
                Err(_) if kept.is_empty() => {
                    let (mut empty, mut memory) = (vec![0; max_len(0)], vec![0; encode_scratch_len(&params(how), 0)]);
                    encode(&[], &params(how), &mut empty, &mut Scratch::new(&mut memory))?;
                    sink.put(&empty)
                }
                Err(e) => return Err(e.into()),
            }
            .map_err(WriteError::Sink)?;
            Ok(sink)
        })
    }
}

impl Disk for Kept {
    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if path.extension().is_some_and(|extension| extension == "blp") {
            *self.0.borrow_mut() = bytes.to_vec();
        }
        Ok(())
    }

    fn rename(&mut self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_dir_all(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

type FileSink = IoSink<BufWriter<std::fs::File>>;

/// Fills the target; it takes its name when it is whole.
fn fill<F>(how: &Convert, write: F) -> Result<u64, Stop>
where
    F: FnOnce(FileSink) -> Result<FileSink, WriteError<std::io::Error>>,
{
    let mut room = None;
    let done = Target::new(&how.target).fill(|sink| {
        write(sink).inspect_err(|e| {
            if let WriteError::Format(e) = e {
                room = Some(*e);
            }
        })
    });
    match (done, room) {
        (Ok(len), _) => Ok(len),
        (Err(_), Some(e)) => Err(e.into()),
        (Err(failure), None) => Err(Stop::Failure(failure)),
    }
}
