//! `recover` and `convert`: DataSeries files out.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pilaster::any::{File, Format};
use pilaster::bytes::{BigEndian, Endian, IoSink, LittleEndian, Scratch};
use pilaster::dataseries::raw::INDEX_TYPE;
use pilaster::dataseries::recover::{Piece, Salvage};
use pilaster::dataseries::write::{self, Description, Descriptions, IndexSlot, Smallest, WriteError, Writer};
use pilaster::dataseries::{AnyFile, ExtentType, Order, ReadOptions};
use pilaster::error::Kind;

use crate::Failure;
use crate::args::{Convert, Recover};
use crate::convert;
use crate::open::Input;
use crate::progress::Progress;

/// A file that takes its name when it is whole.
pub struct Target<'p> {
    path: &'p Path,
    partial: PathBuf,
}

impl<'p> Target<'p> {
    pub fn new(path: &'p Path) -> Self {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Target { path, partial: partial.into() }
    }

    fn failed(&self, e: &io::Error) -> Failure {
        Failure::Input(format!("{}: {e}", self.path.display()))
    }

    /// Writes the file by `write`, and gives back how long it is.
    pub fn fill<F>(&self, write: F) -> Result<u64, Failure>
    where
        F: FnOnce(IoSink<BufWriter<fs::File>>) -> Result<IoSink<BufWriter<fs::File>>, WriteError<io::Error>>,
    {
        let file = fs::File::create(&self.partial).map_err(|e| self.failed(&e))?;
        let done = write(IoSink(BufWriter::with_capacity(1 << 16, file)));
        let done = match done {
            Ok(IoSink(mut buffer)) => buffer.flush().map_err(|e| self.failed(&e)),
            Err(WriteError::Format(e)) => Err(e.into()),
            Err(WriteError::Sink(e)) => Err(self.failed(&e)),
        };
        let done = done.and_then(|()| fs::rename(&self.partial, self.path).map_err(|e| self.failed(&e)));
        if let Err(e) = done {
            // It is of no use to anybody, and the reason why is more important than whether it goes.
            let _ = fs::remove_file(&self.partial);
            return Err(e);
        }
        Ok(fs::metadata(self.path).map_err(|e| self.failed(&e))?.len())
    }
}

/// `convert`: the same rows, stored in another way.
pub fn convert(input: &Input, file: &File<'_>, how: &Convert, out: &mut impl Write) -> Result<(), Failure> {
    let to = convert::target(file.format(), how);
    let (File::DataSeries(file), Format::DataSeries) = (file, to) else {
        return convert::run(input, file, how, to, out);
    };
    let compress = compress(how)?;
    let size = input.bytes.len() as u64;
    let mut progress = Progress::bytes(size);
    let order = how.order.unwrap_or(file.order());
    let target = Target::new(&how.target);
    let len = target.fill(|sink| write::rewrite(file, order, how.repack, sink, compress, |at| progress.at(at)))?;
    drop(progress);
    Ok(writeln!(out, "{}: {len} bytes, {} bytes before", how.target.display(), size)?)
}

/// What the options say of compression.
pub fn compress(how: &Convert) -> Result<Smallest, Failure> {
    match &how.modes {
        Some(modes) => Smallest::of(modes, how.level)
            .map_err(|_| Failure::Usage("--compress names a mode that this build does not have".to_owned())),
        None => Ok(Smallest::all()),
    }
}

/// `recover`: what is whole, into a clean file.
pub fn recover(input: &Input, how: &Recover, out: &mut impl Write) -> Result<(), Failure> {
    let pattern = match &how.types {
        Some(path) => &fs::read(path).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?,
        None => &input.bytes,
    };
    let mut memory = vec![0; 1 << 16];
    let file = loop {
        // Only the types: what follows them may be damaged.
        match AnyFile::open_sequential(pattern, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)) {
            Err(e) if e.kind() == Kind::NoRoom => {
                let room = memory.len().saturating_mul(4);
                memory = vec![0; room];
            }
            Err(e) if how.types.is_none() => {
                let hint = "--types names a sound file with the same types";
                return Err(Failure::Input(format!("{e}: without its types nothing can be read ({hint})")));
            }
            Err(e) => return Err(e.into()),
            Ok(_) => break AnyFile::open_sequential(pattern, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?,
        }
    };
    let types: Vec<ExtentType<'_>> = file.types().iter().collect();
    match how.order.or(Order::of(&input.bytes).ok()).unwrap_or(file.order()) {
        Order::Little => salvage::<LittleEndian>(input, &types, how, out),
        Order::Big => salvage::<BigEndian>(input, &types, how, out),
    }
}

fn salvage<E: Endian>(
    input: &Input,
    types: &[ExtentType<'_>],
    how: &Recover,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut salvage = Salvage::<E>::new(&input.bytes, types);
    let mut progress = Progress::bytes(input.bytes.len() as u64);
    let (mut whole, mut losses) = (Vec::new(), Vec::new());
    let mut memory = vec![0; 1 << 16];
    loop {
        match salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)) {
            None => break,
            Some(Ok(Piece::Extent(extent))) => whole.push(extent),
            Some(Ok(Piece::Lost(loss))) => losses.push(loss),
            // The need is that of one slice of several.
            Some(Err(e)) if e.kind() == Kind::NoRoom => {
                let room = memory.len().saturating_add(e.need() as usize).saturating_mul(2);
                memory = vec![0; room];
            }
            Some(Err(e)) => return Err(e.into()),
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
