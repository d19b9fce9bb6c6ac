//! `recover` and `convert` from DataSeries to DataSeries.

use std::collections::HashMap;
use std::io::{self, Write};

use pilaster::any::Format;
use pilaster::bytes::{BigEndian, Endian, Fetch as _, FileRange, IoSink, LittleEndian, Ranges, Sink, WriteError};
use pilaster::column::Memory;
use pilaster::dataseries::recover::{self, Recovered, Salvage};
use pilaster::dataseries::write::{self, Description, Descriptions, IndexSlot, Repack, Smallest, Writer};
use pilaster::dataseries::{AnyFile, Extent, ExtentType, FieldType, INDEX_TYPE};
use pilaster::dataseries::{Mode, Order, ReadOptions};
use pilaster::error::{Kind, What};
use pilaster::unstable::dataseries::{join, rewrite_share};
use pilaster::unstable::limits::Share;

use crate::args::{Convert, Recover, Try};
use crate::budget;
use crate::detect::{start, types};
use crate::escape::named;
use crate::failure::{Failure, warn};
use crate::feed::WINDOW;
use crate::lost::{NOTHING, Saved};
use crate::open::Input;
use crate::progress::Progress;
use crate::special::Special as _;
use crate::target::Target;
use crate::threads::{Turn, in_turns};

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
    // The extent as it is read, as it is written, and what is compressed of it and waits.
    let memory = largest(file)?.saturating_mul(10).saturating_add(WINDOW);
    let threads = how.threads.count(size, memory);
    let len = match threads {
        1 => target.fill(|sink| write::rewrite(file, order, repack, sink, compress, |at| progress.at(at)))?,
        _ => by_threads(threads, file, (order, repack), target, &compress, &mut || progress.at(input.bytes_read()))?,
    };
    drop(progress);
    Ok(writeln!(out, "{}: {len} bytes, {} bytes before", how.target.display(), size)?)
}

/// Returns the size in bytes of the largest extent, unpacked.
fn largest(file: &AnyFile<'_>) -> Result<u64, Failure> {
    let mut most = 0;
    file.headers(|header, name| {
        let record = file.types().find(name).map_or(0, |ty| ty.record_len() as u64);
        most = record.saturating_mul(header.rows.into()).saturating_add(header.pool.into()).max(most);
        Ok::<_, Failure>(())
    })?;
    Ok(most)
}

/// Rewrites a file by several threads. Each makes a share of the extents. If no thread starts, the calling one makes all.
fn by_threads(
    threads: usize,
    file: &AnyFile<'_>,
    changes: (Order, Repack),
    target: &Target<'_>,
    compress: &Smallest,
    progress: &mut dyn FnMut(),
) -> Result<u64, Failure> {
    let work = |(number, of): Turn, pass: &dyn Fn(Vec<u8>) -> io::Result<()>| {
        let (mut begun, share) = (false, Share { number: number as u64, of: of as u64 });
        let each = |sink: &mut IoSink<Vec<u8>>| {
            let bytes = std::mem::take(&mut sink.0);
            // Header and types are written by the thread that joins the shares.
            if !std::mem::replace(&mut begun, true) {
                return Ok(());
            }
            pass(bytes).map_err(WriteError::Sink)
        };
        rewrite_share(file, changes, share, IoSink(Vec::new()), compress.clone(), each).map_err(|e| match e {
            WriteError::Format(e) => e.into(),
            WriteError::Sink(e) => Failure::Output(e),
        })
    };
    let mut failed = None;
    let done = target.fill(|sink| {
        in_turns(threads, work, |next| {
            let Some(next) = next else {
                let (order, repack) = changes;
                return write::rewrite(file, order, repack, sink, compress.clone(), |_| progress());
            };
            join(file, changes, sink, compress.clone(), || {
                progress();
                next().map_err(|failure| {
                    failed = Some(failure);
                    // The target is removed after any error.
                    pilaster::Error::new(Kind::Misuse, What::INPUT, 0).into()
                })
            })
        })
    });
    match failed {
        Some(failure) => Err(failure),
        None => done,
    }
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
pub fn recover(input: &Input, (how, target): (&Recover, &Target<'_>), out: &mut dyn Write) -> Result<Saved, Failure> {
    if input.format != Format::DataSeries {
        let why = format!("recover is for DataSeries, Jay, bcolz and Vortex; this is {}", input.format);
        return Err(Failure::Input(format!("{why} (--format dataseries, if it is a damaged DataSeries file)")));
    }
    let found = recover::order(&input.input());
    let like = match &how.types {
        Some(path) => Some(Ranges::open(path).map_err(|e| Failure::of_file(path, e))?),
        None => None,
    };
    let (pattern, order) = match &like {
        Some(like) => (like.input(), recover::order(&like.input())),
        None => (input.input(), how.order.or(found)),
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

/// The intact extents of a file, and the others.
#[derive(Default)]
struct Found {
    /// Where the intact extents are.
    whole: Vec<FileRange>,
    rows: u64,
    losses: Vec<Lost>,
    /// The type names of lost extents, each once.
    names: Vec<Vec<u8>>,
}

/// Lost bytes, and the place of the type name in [`Found::names`].
struct Lost {
    span: FileRange,
    why: pilaster::Error,
    name: Option<usize>,
}

impl Found {
    /// Searches the whole file.
    fn of<E: Endian>(input: &Input, types: &[ExtentType<'_>]) -> Result<Self, Failure> {
        let mut salvage = Salvage::<E>::new(input.input(), types);
        let mut progress = Progress::bytes(input.len());
        let (mut found, mut memory, mut places) = (Found::default(), Memory::default(), HashMap::new());
        let options = ReadOptions { limits: input.limits(), ..ReadOptions::DEFAULT };
        loop {
            match salvage.next(&options, &mut memory.scratch()) {
                None => return Ok(found),
                Some(Ok(Recovered::Extent(header))) => {
                    found.whole.push(header.span());
                    found.rows = found.rows.saturating_add(header.rows.into());
                }
                Some(Ok(Recovered::Lost(loss))) => {
                    let name = loss.header.map(|header| {
                        let window = input.window();
                        let input = window.as_ref().map_or(input.input(), Ranges::input);
                        let name = input.get(header.name_span(), What::DATASERIES_TYPE_NAME)?.to_vec();
                        Ok::<_, Failure>(*places.entry(name).or_insert_with_key(|name| {
                            found.names.push(name.clone());
                            found.names.len().saturating_sub(1)
                        }))
                    });
                    found.losses.push(Lost { span: loss.span, why: loss.why, name: name.transpose()? });
                }
                Some(Err(e)) => memory.grow(e).map_err(budget::explain)?,
            }
            progress.at(salvage.at());
        }
    }

    /// Copies the intact extents.
    fn write<E: Endian, S: Sink>(
        &self,
        input: &Input,
        types: &[ExtentType<'_>],
        sink: S,
    ) -> Result<S, WriteError<S::Error>> {
        let descriptions: Vec<Description<'_>> = types.iter().map(Description::from).collect();
        let mut slots = vec![IndexSlot::EMPTY; self.whole.len()];
        let mut writer = Writer::<E, _>::new(sink, Descriptions::new(&descriptions)?, &mut slots);
        let mut window = input.window();
        for span in &self.whole {
            if window.as_ref().is_some_and(|window| window.held() >= WINDOW) {
                window = input.window();
            }
            let input = window.as_ref().map_or(input.input(), Ranges::input);
            writer.put_stored(&Extent::of(input.get(*span, What::DATASERIES_EXTENT)?, span.at)?)?;
        }
        writer.finish()
    }
}

fn salvage<E: Endian>(
    input: &Input,
    types: &[ExtentType<'_>],
    (how, target): (&Recover, &Target<'_>),
    out: &mut dyn Write,
) -> Result<Saved, Failure> {
    let found = Found::of::<E>(input, types)?;
    if let Err(e) = Order::of(start(&input.input())?) {
        writeln!(out, "damaged: the file header, no rows: {e}")?;
    }
    let (mut bytes, mut only_index) = (0u64, true);
    for loss in &found.losses {
        bytes = bytes.saturating_add(loss.span.len);
        let name = loss.name.and_then(|name| found.names.get(name));
        let is_index = name.is_some_and(|name| name == INDEX_TYPE.as_bytes());
        let of = match name {
            _ if is_index => ", the index: no rows".to_owned(),
            Some(name) => format!(", rows of {}", named(name)),
            None => String::new(),
        };
        only_index &= is_index;
        writeln!(out, "lost: {} bytes at {}{of}: {}", loss.span.len, loss.span.at, loss.why)?;
    }
    if found.rows == 0 && !only_index {
        return Err(Failure::Input(format!("no row can be saved; {bytes} bytes are lost")));
    }
    let len = target.fill(|sink| found.write::<E, _>(input, types, sink))?;
    let lost = match found.losses.len() {
        0 => NOTHING.to_owned(),
        places => format!("lost {bytes} bytes in {places} places"),
    };
    let (target, rows, extents) = (how.target.display(), found.rows, found.whole.len());
    Ok(Saved { rows, line: format!("{target}: {rows} rows in {extents} extents, {len} bytes; {lost}") })
}
