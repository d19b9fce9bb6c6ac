//! `convert` between formats: passes the rows of one table to `convert` of the library.

use std::io::Write;
use std::num::NonZeroU64;
use std::path::Path;

use pilaster::any::{self, File, Format};
use pilaster::bcolz;
use pilaster::bcolz::write::{Builder, FileSystem, Missing};
use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch, Sink as _, WriteError};
use pilaster::column::{Memory, Part, Prim, Table, Type};
use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, IndexSlot, Writer, describe};
use pilaster::dataseries::{self, AnyFile, ExtentType, FieldType, Order};
use pilaster::error::{Kind, What};
use pilaster::jay::Layout;
use pilaster::jay::write::{Sentinels, WriteOptions, storage};
use pilaster::limits::Limits;
use pilaster::{filo, jay, vortex};

use crate::args::Convert;
use crate::bcolz::{Kept, params};
use crate::columns::{Columns, Retyped};
use crate::conversion::{View, convert};
use crate::extents::{EXTENT_ROWS, Extents, LEAVE_OUT, Stop};
use crate::failure::Failure;
use crate::feed::{Chosen, Windows};
use crate::filter::Filter;
use crate::goal::{Goal, is_chunk};
use crate::noting::{Noting, Refused, located};
use crate::open::{self, Input, part_room};
use crate::sieve::BATCH_ROOM;
use crate::storable::Storable;
use crate::target::Target;

/// Size in bytes of the chunks that a thread encodes and that wait, at most, and as much for a thread that reads.
const CHUNKS: u64 = 32 << 20;

/// Size in bytes of the memory of a thread that encodes columns of Vortex, with the values that wait for it, and how many
/// chunks its temporary arrays take at most.
const COLUMNS: u64 = 4 << 20;
const COPIES: u64 = 6;

/// Returns the error of a table without columns, which `to` cannot store, or without parts.
fn no_columns<T: Table>(table: &mut View<'_, T>, to: Format, scratch: &mut Scratch<'_>) -> Result<Failure, Failure> {
    table.restart()?;
    let is_known = table.next_part(&mut scratch.scope())?.is_some();
    Ok(Failure::Input(match is_known {
        true => format!("the table has no columns, and {to} cannot store such a table"),
        false => "the types of the columns are unknown, because there are no rows".to_owned(),
    }))
}

/// Checks the target.
pub fn open_target(how: &Convert, to: Goal) -> Result<Target<'_>, Failure> {
    match to {
        Goal::Format(Format::Bcolz) if !is_chunk(how) => Target::directory(&how.target, how.bcolz.append),
        _ => Target::file(&how.target, how.force),
    }
}

/// Writes the rows of a table to the target. `keys`: the number of leading columns that are the key of the source.
pub fn run(
    input: &Input,
    file: &File<'_>,
    keys: usize,
    (how, target): (&Convert, &Target<'_>),
    to: Goal,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let wanted = how.table.as_deref().filter(|_| open::has_names(file));
    let (mut table, room) = (open::table(file, wanted)?, part_room(file)?);
    // An estimate: one row may take more. The loop below then grows the memory.
    let mut memory = Memory::with_len(room.saturating_add(BATCH_ROOM as u64))?;
    let (mut columns, filter) = choose(&mut table, input, how, to, &mut memory)?;
    columns.retyped = Retyped {
        stored_times: how.stored_times,
        bytes_as_text: how.bytes_as_text,
        days_as_dates: !matches!(to, Goal::Format(_)),
    };
    let condition = filter.as_ref().map(|filter| (filter, how.conditions.trust_statistics));
    let windows = Some(Windows { input, file, table: wanted, condition });
    let mut view = View { table, columns: &columns, windows };
    // The target has a key only if all columns are converted.
    let keys = how.jay.keys.unwrap_or(if how.wanted.is_all() && !input.tolerant { keys } else { 0 });
    let len = write(&mut view, (how, target), keys, to, &mut memory)?;
    write!(out, "{}: {len} bytes of {to}", how.target.display())?;
    if input.dataset().is_none() {
        write!(out, ", {} bytes of {} before", input.len(), input.format)?;
    }
    Ok(writeln!(out)?)
}

/// Writes a table to the target, in memory that grows. Returns the size of the target in bytes.
pub fn write<T: Table>(
    view: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    keys: usize,
    to: Goal,
    memory: &mut Memory,
) -> Result<u64, Failure> {
    loop {
        let scratch = &mut memory.scratch();
        let done = match to {
            Goal::Format(Format::Jay) => to_jay(view, (how, target), keys, scratch),
            Goal::Format(Format::DataSeries) => to_dataseries(view, (how, target), scratch),
            Goal::Format(Format::Filo) => to_filo(view, (how, target), scratch),
            Goal::Format(Format::Bcolz) => to_bcolz(view, (how, target), scratch),
            Goal::Format(Format::Vortex) => to_vortex(view, (how, target), scratch),
            #[cfg(feature = "arrow")]
            Goal::Arrow(kind) => crate::arrow::write(view, (how, target), kind, scratch),
            Goal::Text(_) => Err(Failure::Usage(format!("{to} is written from intact files only"))),
        };
        match done {
            Err(Failure::Format(e)) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => {
                if target.is_stdout() {
                    let why = "a part takes more memory than expected; convert it to a file, which can be begun again";
                    return Err(Failure::Input(format!("{e}: {why}")));
                }
                memory.grow(e)?;
            }
            done => return done,
        }
    }
}

/// Chooses the columns by the first part, and binds the conditions on rows.
fn choose(
    table: &mut any::Table<'_>,
    input: &Input,
    how: &Convert,
    to: Goal,
    memory: &mut Memory,
) -> Result<(Columns, Option<Filter>), Failure> {
    table.restart()?;
    let Some(part) = table.next_part(&mut memory.scratch())? else { return Ok((Columns::default(), None)) };
    let all = Columns::all(&part, input.rules())?;
    let filter = how.conditions.bind(&part, &all)?;
    let mut columns = all.pick(&how.wanted)?;
    // A single array of bcolz has no name, which no other format allows. A Filo column has this name, too.
    if part.width() == 1 && to != Goal::Format(Format::Bcolz) {
        columns.name_the_unnamed("v");
    }
    Ok((columns, filter))
}

/// Converts the error of a builder; an error of the written file names the file.
fn stop<E: std::fmt::Display>(target: &Path, e: WriteError<E>) -> Failure {
    match e {
        WriteError::Format(e) => e.into(),
        WriteError::Sink(e) => Failure::of_file(target, e),
    }
}

fn time_hint(ty: Type) -> &'static str {
    match ty {
        Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => " (--stored-times writes the stored integers)",
        _ => "",
    }
}

fn to_jay<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    keys: usize,
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let options = WriteOptions {
        layout: how.jay.layout.unwrap_or(Layout::New),
        keys,
        stats: !how.jay.no_stats,
        bytes_as_text: how.bytes_as_text,
        any_time: how.any_time,
        sentinels: how.jay.sentinels.unwrap_or_default(),
    };
    let hint = |ty| match ty {
        Type::Bytes | Type::FixedBytes(_) | Type::Opaque => " (--bytes-as-text writes bytes that are UTF-8 as strings)",
        Type::Timestamp(_) if storage(ty, &WriteOptions { any_time: true, ..options }).is_some() => {
            " (--any-time converts to nanoseconds, --stored-times to integers)"
        }
        Type::List | Type::FixedList(_) => " in the old layout",
        ty => time_hint(ty),
    };
    let holds = |ty| storage(ty, &options).is_some();
    Storable { to: Format::Jay, holds: &holds, hint: &hint, any_time: how.any_time }.check(table, scratch)?;
    let mut refused = None;
    let done = target.fill(|sink| {
        let mut builder = Noting::new(jay::write::Builder::new(sink, &options)?);
        table.restart()?;
        builder.convert(table, how.threads, scratch, &mut refused)?;
        builder.build.finish()
    });
    let hint = |e: &pilaster::Error, ty| match (e.what(), ty) {
        (What::JAY_SENTINEL, Type::Prim(Prim::I8 | Prim::I16 | Prim::I32) | Type::List | Type::FixedList(_))
            if options.sentinels != Sentinels::Widen =>
        {
            " (--sentinels widen stores the column in a wider type, --sentinels missing makes the value missing)"
        }
        (What::JAY_SENTINEL, _) => " (--sentinels missing makes it missing)",
        _ => LEAVE_OUT,
    };
    done.map_err(|failure| located(failure, refused, hint))
}

fn to_dataseries<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let holds = |ty| Format::DataSeries.keeps_time(ty, false) && FieldType::of_column(ty).is_some();
    Storable { to: Format::DataSeries, holds: &holds, hint: &time_hint, any_time: how.any_time }
        .check(table, scratch)?;
    match order(table, how) {
        Order::Little => to_dataseries_of::<T, LittleEndian>(table, (how, target), scratch),
        Order::Big => to_dataseries_of::<T, BigEndian>(table, (how, target), scratch),
    }
}

/// Returns the DataSeries file of a table.
fn series<'c, T>(table: &View<'c, T>) -> Option<&'c AnyFile<'c>> {
    match table.windows?.file {
        File::DataSeries(file) => Some(file),
        _ => None,
    }
}

/// Returns the byte order to write. If the caller names none, it is the order of the DataSeries source.
fn order<T>(table: &View<'_, T>, how: &Convert) -> Order {
    how.dataseries.order.or_else(|| series(table).map(AnyFile::order)).unwrap_or(Order::Little)
}

fn to_dataseries_of<T: Table, E: Endian>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let compress = crate::rewrite::compress(how)?;
    let order = order(table, how);
    let Some((xml, extents)) = description(table, how, scratch)? else {
        return Err(no_columns(table, Format::DataSeries, scratch)?);
    };
    let mut memory = Memory::default();
    while let Err(e) = ExtentType::parse(&xml, &Limits::DEFAULT, &mut memory.scratch()) {
        memory.grow(e)?;
    }
    let ty = ExtentType::parse(&xml, &Limits::DEFAULT, &mut memory.scratch())?;
    crate::rewrite::warn_of_order(how, order, [ty]);
    // When groups are joined, at least every second extent has half the rows or more.
    let slots = usize::try_from(extents.saturating_mul(2))
        .map_err(|_| Failure::Input(format!("{extents} extents are more than this machine can address")))?;
    let (types, mut slots) = ([Description::from(&ty)], vec![IndexSlot::EMPTY; slots]);
    let (mut refused, mut failed) = (None, None);
    let chosen = table.windows.map(|windows| Chosen { windows, columns: table.columns });
    let shared = chosen.and_then(|chosen| Extents::new(chosen, how.threads, scratch.room()));
    let done = target.fill(|sink| {
        let mut writer = Writer::<E, _, _>::with(sink, Descriptions::new(&types)?, &mut slots, compress.clone());
        if let Some(shared) = shared {
            match shared.write(&mut writer, &types, ty, &compress) {
                Ok(()) => return writer.finish(),
                Err(Stop::Write(e)) => return Err(e),
                // The target is removed after any error.
                Err(Stop::Failure(failure)) => {
                    failed = Some(failure);
                    return Err(pilaster::Error::new(Kind::Misuse, What::INPUT, 0).into());
                }
            }
        }
        let builder = dataseries::write::Builder::new(writer, ExtentBuffer::growing(ty)?, EXTENT_ROWS);
        // Few rows of a part may meet a condition.
        let joined = table.windows.is_some_and(|windows| windows.condition.is_some());
        let mut builder = Noting::new(if joined { builder.join() } else { builder });
        table.restart()?;
        builder.convert(table, how.threads, scratch, &mut refused)?;
        builder.build.finish()
    });
    match failed {
        Some(failure) => Err(failure),
        None => done.map_err(|failure| located(failure, refused, |_, _| LEAVE_OUT)),
    }
}

/// Returns the description of the extent type of a table, and a number of extents that its rows require; `None` without
/// columns or parts.
fn description<T: Table>(
    table: &mut View<'_, T>,
    how: &Convert,
    scratch: &mut Scratch<'_>,
) -> Result<Option<(Vec<u8>, u64)>, Failure> {
    if table.columns.numbers.is_empty() {
        return Ok(None);
    }
    let own = series(table).and_then(|file| file.types().get(0)).map(|ty| ty.name().to_owned());
    let name = how.table.as_deref().filter(|name| !name.is_empty()).or(own.as_deref()).unwrap_or("Table");
    let (mut xml, mut extents) = (None, 2u64);
    table.restart()?;
    while let Some(part) = table.next_part(&mut scratch.scope())? {
        if xml.is_none() {
            xml = Some(describe(name, &part, Vec::new()).map_err(|e| stop(&how.target, e))?);
        }
        extents = extents.saturating_add(part.rows().div_ceil(EXTENT_ROWS));
    }
    Ok(xml.map(|xml| (xml, extents)))
}

fn to_vortex<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    let holds = vortex::write::holds;
    Storable { to: Format::Vortex, holds: &holds, hint: &time_hint, any_time: how.any_time }.check(table, scratch)?;
    let mut options = how.vortex.options();
    options.threads = how.threads.count(u64::MAX, COLUMNS.saturating_add(options.chunk_size.saturating_mul(COPIES)));
    let mut refused = None;
    let done = target.fill(|sink| {
        let mut builder = Noting::new(vortex::write::Builder::new(sink, &options)?);
        table.restart()?;
        builder.convert(table, how.threads, scratch, &mut refused)?;
        builder.build.finish()
    });
    done.map_err(|failure| located(failure, refused, |_, _| LEAVE_OUT))
}

fn to_filo<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    if table.columns.numbers.len() != 1 {
        let why = format!(
            "a Filo vector is one column, and there are {}: choose it with --columns",
            table.columns.numbers.len()
        );
        return Err(Failure::Usage(why));
    }
    let holds = |ty| filo::Element::of_column(ty).is_some();
    Storable { to: Format::Filo, holds: &holds, hint: &time_hint, any_time: how.any_time }.check(table, scratch)?;
    target.fill(|mut sink| {
        let mut failed = None;
        let mut builder = filo::Builder::new(|_, _: &str, _, chunk: &[u8]| {
            failed = sink.put(chunk).err();
            Ok(())
        });
        table.restart()?;
        convert(table, how.threads, (&mut builder, &|_| false), scratch)?;
        match failed {
            Some(e) => Err(WriteError::Sink(e)),
            None => Ok(sink),
        }
    })
}

/// Returns the number of rows of a table that meet the condition.
fn rows<T: Table>(table: &mut View<'_, T>, scratch: &mut Scratch<'_>) -> Result<u64, Failure> {
    if let Some(windows) = table.windows.filter(|windows| windows.condition.is_some()) {
        return Ok(Chosen { windows, columns: table.columns }.rows(scratch)?);
    }
    let mut rows = 0u64;
    table.restart()?;
    while let Some(part) = table.next_part(&mut scratch.scope())? {
        rows = rows.saturating_add(part.rows()).saturating_add(table.skip(u64::MAX)?);
    }
    Ok(rows)
}

/// Returns the options for a dataset or chunk of `rows` rows.
fn bcolz_options(how: &Convert, rows: u64) -> bcolz::write::WriteOptions {
    bcolz::write::WriteOptions {
        params: params(how),
        chunklen: how.bcolz.chunklen.map(NonZeroU64::get),
        expectedlen: Some(rows),
        missing: if how.bcolz.fill_missing { Missing::Fill } else { Missing::Refuse },
        threads: how.threads.count(u64::MAX, CHUNKS),
    }
}

fn to_bcolz<T: Table>(
    table: &mut View<'_, T>,
    (how, target): (&Convert, &Target<'_>),
    scratch: &mut Scratch<'_>,
) -> Result<u64, Failure> {
    if table.columns.numbers.is_empty() {
        return Err(no_columns(table, Format::Bcolz, scratch)?);
    }
    let hint = |ty| match ty {
        Type::Struct(_) => {
            " (--records writes a structured dtype, which the original program itself cannot open again)"
        }
        Type::Time(_) => time_hint(ty),
        _ => "",
    };
    let holds = |ty| bcolz::write::holds(ty) && (how.bcolz.records || !matches!(ty, Type::Struct(_)));
    Storable { to: Format::Bcolz, holds: &holds, hint: &hint, any_time: how.any_time }.check(table, scratch)?;
    let rows = rows(table, scratch)?;
    let options = bcolz_options(how, rows);
    let failed = |e: WriteError<bcolz::Failure>, refused: Option<Refused>| match e {
        WriteError::Format(e) => located(e.into(), refused, |e, _| match e.what() {
            What::BCOLZ_MISSING if !how.bcolz.fill_missing => {
                " (--fill-missing writes NaN, 0, false or an empty text for a missing value)"
            }
            What::BCOLZ_DTYPE => " (numpy drops NUL at the end of a text; --columns leaves it out)",
            _ => LEAVE_OUT,
        }),
        WriteError::Sink(failure) => failure.into(),
    };
    let mut refused = None;
    table.restart()?;
    if is_chunk(how) {
        if how.bcolz.append || how.bcolz.chunklen.is_some() || table.columns.numbers.len() != 1 {
            let why =
                "a chunk contains all rows of one column: choose it with --columns, without --append and --chunklen"
                    .to_owned();
            return Err(Failure::Usage(why));
        }
        let options = bcolz::write::WriteOptions { chunklen: Some(rows.max(1)), ..options };
        let disk = Kept::default();
        // A path below the target, which is a file: no dataset can exist there.
        let mut builder = Noting::new(Builder::create(disk.clone(), how.target.join("chunk"), &options));
        builder.convert(table, how.threads, scratch, &mut refused).map_err(|e| failed(e, refused.take()))?;
        builder.build.finish().map_err(Failure::from)?;
        return disk.put(how, target);
    }
    let mut fill = |builder: Builder<FileSystem>| {
        let mut builder = Noting::new(builder);
        builder.convert(table, how.threads, scratch, &mut refused).map_err(|e| failed(e, refused.take()))?;
        builder.build.finish().map_err(Failure::from)
    };
    if how.bcolz.append {
        fill(Builder::append(FileSystem::default(), &how.target, &options).map_err(Failure::from)?)?;
    } else {
        target.fill_directory(|dir| fill(Builder::create(FileSystem::default(), dir, &options)))?;
    }
    let dataset = bcolz::Dataset::open(&how.target).map_err(Failure::from)?;
    crate::bcolz::stored(&dataset)
}
