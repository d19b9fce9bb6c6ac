//! `recover` and `convert` from DataSeries to DataSeries.

use std::fs;
use std::io::Write;

use pilaster::any::Format;
use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::Memory;
use pilaster::dataseries::recover::{self, Recovered, Salvage};
use pilaster::dataseries::write::{self, Description, Descriptions, IndexSlot, Smallest, Writer};
use pilaster::dataseries::{AnyFile, ExtentType, FieldType, HEADER_LEN, INDEX_TYPE, Mode, Order, ReadOptions, Types};
use pilaster::error::Kind;

use crate::args::{Convert, Recover, Try};
use crate::budget;
use crate::failure::{Failure, warn};
use crate::open::Input;
use crate::progress::Progress;
use crate::special::Special as _;
use crate::target::Target;

/// `convert`: copies the rows extent by extent with other options.
pub fn convert(
    input: &Input,
    file: &AnyFile<'_>,
    (how, target): (&Convert, &Target<'_>),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let compress = compress(how)?;
    file.before_convert(input)?;
    let size = input.len();
    let mut progress = Progress::bytes(size);
    let order = how.dataseries.order.unwrap_or(file.order());
    warn_of_order(how, order, file.types().iter());
    let repack = how.dataseries.repack();
    let len = target.fill(|sink| write::rewrite(file, order, repack, sink, compress, |at| progress.at(at)))?;
    drop(progress);
    Ok(writeln!(out, "{}: {len} bytes, {} bytes before", how.target.display(), size)?)
}

/// Returns the compression that the options select.
pub fn compress(how: &Convert) -> Result<Smallest, Failure> {
    let modes = match how.dataseries.compress.as_deref() {
        None => vec![Mode::Lz4],
        Some(tries) if tries.contains(&Try::Smallest) => Mode::ALL.to_vec(),
        Some(tries) => {
            tries.iter().filter_map(|one| if let Try::Mode(mode) = one { Some(*mode) } else { None }).collect()
        }
    };
    Smallest::of(&modes, how.dataseries.level)
        .map_err(|_| Failure::Usage("--compress names a mode that this build does not have".to_owned()))
}

/// Warns of a file that the original program cannot read on a machine like this one: it does not swap the byte order
/// of files with fixedwidth fields.
pub fn warn_of_order<'t>(how: &Convert, order: Order, types: impl IntoIterator<Item = ExtentType<'t>>) {
    let (native, name) = if cfg!(target_endian = "big") { (Order::Big, "big") } else { (Order::Little, "little") };
    if order == native {
        return;
    }
    let fixed = types.into_iter().find_map(|ty| {
        let field = ty.fields().find(|field| matches!(field.ty, FieldType::FixedWidth(_)))?;
        Some(format!("{} of {}", field.name, ty.name()))
    });
    if let Some(field) = fixed {
        let why = "the original program does not read fixedwidth fields of a foreign byte order";
        warn(&format!("{}: field {field}: {why} (--order {name})", how.target.display()));
    }
}

/// `recover`: writes the intact extents to a new file.
pub fn recover(input: &Input, (how, target): (&Recover, &Target<'_>), out: &mut dyn Write) -> Result<(), Failure> {
    if input.format != Format::DataSeries {
        let why = format!("recover is for DataSeries, Jay, bcolz and Vortex; this is {}", input.format);
        return Err(Failure::Input(format!("{why} (--format dataseries, if it is a damaged DataSeries file)")));
    }
    let found = recover::order(input.bytes()?);
    let like = match &how.types {
        Some(path) => Some(fs::read(path).map_err(|e| Failure::of_file(path, e))?),
        None => None,
    };
    let (pattern, order) = match &like {
        Some(like) => (like.as_slice(), recover::order(like)),
        None => (input.bytes()?, how.order.or(found)),
    };
    // Only the types are read; the rest of this file may be damaged.
    let mut memory = Memory::default();
    while let Err(e) = types(pattern, order, &mut memory.scratch()) {
        if e.kind() != Kind::NoRoom {
            return Err(match &how.types {
                Some(path) => Failure::of_file(path, e),
                None => {
                    let hint = "--types takes them from an intact file";
                    Failure::Input(format!("{e}: no rows can be read without the types ({hint})"))
                }
            });
        }
        memory.grow(e)?;
    }
    let (of_types, types) = types(pattern, order, &mut memory.scratch())?;
    let types: Vec<ExtentType<'_>> = types.iter().collect();
    match how.order.or(found).unwrap_or(of_types) {
        Order::Little => salvage::<LittleEndian>(input, &types, (how, target), out),
        Order::Big => salvage::<BigEndian>(input, &types, (how, target), out),
    }
}

/// The types of a file whose header may be damaged, without a look at the header if the order is known.
fn types<'b>(bytes: &'b [u8], order: Option<Order>, scratch: &mut Scratch<'b>) -> pilaster::Result<(Order, Types<'b>)> {
    let order = match order {
        Some(order) => order,
        None => Order::of(bytes)?,
    };
    let first = order.extent(bytes.get(HEADER_LEN..).unwrap_or_default(), HEADER_LEN as u64)?;
    Ok((order, first.types(&ReadOptions::DEFAULT, scratch)?))
}

fn salvage<E: Endian>(
    input: &Input,
    types: &[ExtentType<'_>],
    (how, target): (&Recover, &Target<'_>),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut salvage = Salvage::<E>::new(input.bytes()?, types);
    let mut progress = Progress::bytes(input.len());
    let (mut whole, mut losses) = (Vec::new(), Vec::new());
    let mut memory = Memory::default();
    let options = ReadOptions { limits: input.limits(), ..ReadOptions::DEFAULT };
    loop {
        match salvage.next(&options, &mut memory.scratch()) {
            None => break,
            Some(Ok(Recovered::Extent(extent))) => whole.push(extent),
            Some(Ok(Recovered::Lost(loss))) => losses.push(loss),
            Some(Err(e)) => memory.grow(e).map_err(budget::explain)?,
        }
        progress.at(salvage.at());
    }
    drop(progress);
    let descriptions: Vec<Description<'_>> = types.iter().map(Description::from).collect();
    let mut slots = vec![IndexSlot::EMPTY; whole.len()];
    let len = target.fill(|sink| {
        let mut writer = Writer::<E, _>::new(sink, Descriptions::new(&descriptions)?, &mut slots);
        for extent in &whole {
            writer.put_stored(extent)?;
        }
        writer.finish()
    })?;
    if let Err(e) = Order::of(input.bytes()?) {
        writeln!(out, "damaged: the file header, no rows: {e}")?;
    }
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
