//! `recover` and `convert` from DataSeries to DataSeries.

use std::fs;
use std::io::Write;

use pilaster::bytes::{BigEndian, Endian, LittleEndian};
use pilaster::column::Memory;
use pilaster::dataseries::INDEX_TYPE;
use pilaster::dataseries::recover::{Recovered, Salvage};
use pilaster::dataseries::write::{self, Description, Descriptions, IndexSlot, Smallest, Writer};
use pilaster::dataseries::{AnyFile, ExtentType, Order, ReadOptions};
use pilaster::error::Kind;

use crate::args::{Convert, Recover};
use crate::failure::Failure;
use crate::open::Input;
use crate::progress::Progress;
use crate::target::Target;

/// `convert`: copies the rows extent by extent with other options.
pub fn convert(input: &Input, file: &AnyFile<'_>, how: &Convert, out: &mut dyn Write) -> Result<(), Failure> {
    let compress = compress(how)?;
    let size = input.len();
    let mut progress = Progress::bytes(size);
    let order = how.dataseries.order.unwrap_or(file.order());
    let (target, repack) = (Target::new(&how.target), how.dataseries.repack());
    let len = target.fill(|sink| write::rewrite(file, order, repack, sink, compress, |at| progress.at(at)))?;
    drop(progress);
    Ok(writeln!(out, "{}: {len} bytes, {} bytes before", how.target.display(), size)?)
}

/// Returns the compression that the options select.
pub fn compress(how: &Convert) -> Result<Smallest, Failure> {
    match &how.dataseries.compress {
        Some(modes) => Smallest::of(modes, how.dataseries.level)
            .map_err(|_| Failure::Usage("--compress names a mode that this build does not have".to_owned())),
        None => Ok(Smallest::all()),
    }
}

/// `recover`: writes the intact extents to a new file.
pub fn recover(input: &Input, how: &Recover, out: &mut dyn Write) -> Result<(), Failure> {
    let pattern = match &how.types {
        Some(path) => &fs::read(path).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?,
        None => input.bytes()?,
    };
    // Only the types are read; the rest of this file may be damaged.
    let mut memory = Memory::default();
    while let Err(e) = AnyFile::open_sequential(pattern, &ReadOptions::DEFAULT, &mut memory.scratch()) {
        if e.kind() != Kind::NoRoom && how.types.is_none() {
            let hint = "--types takes them from an intact file";
            return Err(Failure::Input(format!("{e}: no rows can be read without the types ({hint})")));
        }
        memory.grow(e)?;
    }
    let file = AnyFile::open_sequential(pattern, &ReadOptions::DEFAULT, &mut memory.scratch())?;
    let types: Vec<ExtentType<'_>> = file.types().iter().collect();
    match how.order.or(Order::of(input.bytes()?).ok()).unwrap_or(file.order()) {
        Order::Little => salvage::<LittleEndian>(input, &types, how, out),
        Order::Big => salvage::<BigEndian>(input, &types, how, out),
    }
}

fn salvage<E: Endian>(
    input: &Input,
    types: &[ExtentType<'_>],
    how: &Recover,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut salvage = Salvage::<E>::new(input.bytes()?, types);
    let mut progress = Progress::bytes(input.len());
    let (mut whole, mut losses) = (Vec::new(), Vec::new());
    let mut memory = Memory::default();
    loop {
        match salvage.next(&ReadOptions::DEFAULT, &mut memory.scratch()) {
            None => break,
            Some(Ok(Recovered::Extent(extent))) => whole.push(extent),
            Some(Ok(Recovered::Lost(loss))) => losses.push(loss),
            Some(Err(e)) => memory.grow(e)?,
        }
        progress.at(salvage.at());
    }
    drop(progress);
    let descriptions: Vec<Description<'_>> = types.iter().map(Description::from).collect();
    let mut slots = vec![IndexSlot::EMPTY; whole.len()];
    let target = Target::new(&how.target);
    let len = target.fill(|sink| {
        let mut writer = Writer::<E, _>::new(sink, Descriptions::new(&descriptions)?, &mut slots);
        for extent in &whole {
            writer.put_stored(extent)?;
        }
        writer.finish()
    })?;
    let mut bytes = 0u64;
    for loss in &losses {
        bytes = bytes.saturating_add(loss.span.len);
        let of = match loss.type_name {
            Some(name) if name == INDEX_TYPE.as_bytes() => ", the index: no rows".to_owned(),
            Some(name) => format!(", rows of {}", String::from_utf8_lossy(name)),
            None => String::new(),
        };
        writeln!(out, "lost: {} bytes at {}{of}: {}", loss.span.len, loss.span.at, loss.why)?;
    }
    let rows = whole.iter().fold(0u64, |rows, extent| rows.saturating_add(extent.header().rows.into()));
    write!(out, "{}: {rows} rows in {} extents, {len} bytes", how.target.display(), whole.len())?;
    match losses.len() {
        0 => writeln!(out, "; nothing is lost")?,
        places => writeln!(out, "; lost {bytes} bytes in {places} places")?,
    }
    Ok(())
}
