//! The commands on a bcolz dataset, which is a directory, and on a chunk.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use pilaster::any::Format;
use pilaster::bcolz::chunk::Chunk;
use pilaster::bcolz::{Array, Column, Dataset, Dtype, Items, Shuffle, Table, write};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _, Type};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::Failure;
use crate::args::{Command, Recover, Task};
use crate::cat;
use crate::cell::Cell;
use crate::convert;
use crate::dump::{Tape, facts};
use crate::json::{self, Style};
use crate::walk::batches;

impl From<pilaster::bcolz::Failure> for Failure {
    fn from(failure: pilaster::bcolz::Failure) -> Self {
        Failure::Input(failure.to_string())
    }
}

/// A command on the dataset in `dir`.
pub fn run(task: &Task, dir: &Path, out: &mut impl Write) -> Result<(), Failure> {
    if task.element.is_some() || task.sequential {
        return Err(Failure::Usage(format!("--type and --no-index are not for bcolz; {} is", task.source)));
    }
    if task.dtype.is_some() {
        return Err(Failure::Usage(format!("--dtype is for single chunks; {} says what it holds", task.source)));
    }
    if let Command::Recover(how) = &task.command {
        return recover(task, dir, how, out);
    }
    let dataset = if task.tolerant { tolerant(task, dir)? } else { Dataset::open(dir).map_err(hinted)? };
    match &task.command {
        Command::Info => info(&dataset, out),
        Command::Cat(how) if how.table.is_some() => Err(Failure::Usage("--table is for files with tables".to_owned())),
        Command::Cat(how) => {
            let mut table = dataset.table();
            let done = cat::table(&mut table, room(&dataset)?, how, true, out);
            done.map_err(|e| which(e, &table))
        }
        Command::Dump => dump(&dataset, out),
        Command::Verify => {
            if !task.tolerant {
                dataset.verify().map_err(hinted)?;
            }
            let (rows, columns) = (dataset.rows(), dataset.arrays().len());
            let (kind, chunks) = (kind(&dataset), dataset.arrays().iter().map(Array::chunks).sum::<u64>());
            Ok(writeln!(out, "{}: ok, {rows} rows, {columns} columns, {chunks} chunks, bcolz {kind}", task.source)?)
        }
        Command::Convert(how) => {
            // First, so that what is wrong is said by its file.
            if !task.tolerant {
                dataset.verify().map_err(hinted)?;
            }
            let to = convert::target(Format::Bcolz, how);
            let len = convert::table(dataset.table(), how, to, room(&dataset)?)?;
            Ok(writeln!(out, "{}: {len} bytes of {to}", how.target.display())?)
        }
        Command::Recover(_) => Ok(()),
    }
}

fn hinted(failure: pilaster::bcolz::Failure) -> Failure {
    Failure::Input(format!("{failure} (--tolerant reads what can be read)"))
}

/// What can be read; what cannot goes to standard error.
fn tolerant(task: &Task, dir: &Path) -> Result<Dataset, Failure> {
    // Nothing is left to do where even this cannot be written.
    let warn = |what: String| drop(writeln!(std::io::stderr(), "pilaster: {}: {what}", task.source));
    let dataset = Dataset::open_tolerant(dir, |failure| warn(failure.to_string()))?;
    dataset.problems(|array, rows, failure| {
        let column = if array.name().is_empty() { String::new() } else { format!("column {}, ", array.name()) };
        warn(format!("{column}rows {}..{}: {failure}", rows.start, rows.end));
    });
    Ok(dataset)
}

/// `recover`: the rows that every column has, into a clean dataset.
fn recover(task: &Task, dir: &Path, how: &Recover, out: &mut impl Write) -> Result<(), Failure> {
    if how.types.is_some() || how.order.is_some() {
        return Err(Failure::Usage(format!("--types and --order are for DataSeries files; {} is bcolz", task.source)));
    }
    let dataset = tolerant(task, dir)?;
    let rows = write::recover(&dataset, &how.target)?;
    let columns = dataset.arrays().len();
    Ok(writeln!(out, "{}: {rows} of {} rows in {columns} columns", how.target.display(), dataset.rows())?)
}

/// An error of a part is about a file, and names it.
fn which(failure: Failure, table: &Table<'_>) -> Failure {
    match table.failed() {
        Some(file) => Failure::Input(file.to_string()),
        None => failure,
    }
}

/// Memory for a part.
fn room(dataset: &Dataset) -> Result<usize, Failure> {
    let need = dataset.need()?;
    usize::try_from(need.saturating_add(64)).map_err(|_| Failure::Input(format!("{need} bytes are needed")))
}

fn kind(dataset: &Dataset) -> &'static str {
    if dataset.is_table() { "ctable" } else { "carray" }
}

fn info(dataset: &Dataset, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "file      {}", dataset.dir().display())?;
    writeln!(out, "format    bcolz {}", kind(dataset))?;
    writeln!(out, "rows      {}", dataset.rows())?;
    let attrs = String::from_utf8_lossy(dataset.attrs());
    writeln!(out, "attrs     {}", attrs.trim())?;
    let widths = |text: fn(&Array) -> String, least: usize| {
        dataset.arrays().iter().map(|array| text(array).chars().count()).fold(least, usize::max)
    };
    let (name, dtype) = (widths(|array| array.name().to_owned(), 6), widths(|array| array.dtype_text().to_owned(), 5));
    let [shape, chunklen, chunks, stored, unpacked] = ["shape", "chunklen", "chunks", "stored", "unpacked"];
    write!(out, "\n{:name$}  {:dtype$}  {shape:<12}  {chunklen:>8}  {chunks:>6}  ", "column", "dtype")?;
    writeln!(out, "{:<18}  {stored:>12}  {unpacked:>12}  {:>5}", "new chunks", "ratio")?;
    for array in dataset.arrays() {
        let bytes = stored_in(array, dataset.is_tolerant())?;
        let shape = array.shape().lengths().iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
        let items = array.shape().items()?.saturating_mul(array.dtype().size().into());
        let unpacked = array.shape().rows().saturating_mul(items);
        let params = array.params();
        let how = format!("{} {} {}", params.compressor.name(), params.level, shuffle(params.shuffle));
        write!(out, "{:name$}  {:dtype$}  {shape:<12}  ", array.name(), array.dtype_text())?;
        write!(out, "{:>8}  {:>6}  {how:<18}  {bytes:>12}  ", array.chunklen(), array.chunks())?;
        match array.dtype() {
            // Only its chunks know how long each object is.
            Dtype::Object => writeln!(out, "{:>12}  {:>5}", "-", "-")?,
            _ => writeln!(out, "{unpacked:>12}  {:>5.3}", bytes as f64 / (unpacked as f64).max(1.0))?,
        }
        if array.surplus() > 0 {
            writeln!(out, "{:name$}  {} rows more than the table has do not count", "", array.surplus())?;
        }
    }
    Ok(())
}

/// Bytes of the chunks of a dataset.
pub fn stored(dataset: &Dataset) -> Result<u64, Failure> {
    dataset
        .arrays()
        .iter()
        .try_fold(0u64, |sum, array| Ok(sum.saturating_add(stored_in(array, dataset.is_tolerant())?)))
}

fn stored_in(array: &Array, tolerant: bool) -> Result<u64, Failure> {
    let mut bytes = 0u64;
    for number in 0..array.chunks() {
        let path = array.chunk_path(number);
        match fs::metadata(&path) {
            Ok(file) => bytes = bytes.saturating_add(file.len()),
            // It is missing, and that was said.
            Err(_) if tolerant => {}
            Err(e) => return Err(Failure::Input(format!("{}: {e}", path.display()))),
        }
    }
    Ok(bytes)
}

const fn shuffle(shuffle: Shuffle) -> &'static str {
    match shuffle {
        Shuffle::None => "no shuffle",
        Shuffle::Byte => "bytes",
        Shuffle::Bit => "bits",
    }
}

fn dump(dataset: &Dataset, out: &mut impl Write) -> Result<(), Failure> {
    // First, so that nothing is printed about a damaged dataset; unless it is asked for, and said.
    if !dataset.is_tolerant() {
        dataset.verify().map_err(hinted)?;
    }
    let name = dataset.dir().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    writeln!(out, "{{\n \"file\": {}, \"format\": \"bcolz\",\n \"nrows\": {},", Value::from(name), dataset.rows())?;
    let mut known = vec![("kind", Value::from(kind(dataset)))];
    if let Ok(Value::Object(attrs)) = serde_json::from_slice(dataset.attrs())
        && !attrs.is_empty()
    {
        known.push(("attrs", attrs.into()));
    }
    known.push(("files", files(dataset)?.into()));
    facts(&known, out)?;
    write!(out, ",\n \"columns\": [")?;
    for (k, array) in dataset.arrays().iter().enumerate() {
        write!(out, "{}\n  ", if k > 0 { "," } else { "" })?;
        column(dataset, k, &mut Vec::new(), array.name(), array.dtype_text(), array.dtype(), out)?;
    }
    Ok(writeln!(out, "\n ]\n}}")?)
}

/// Every file of a dataset: metadata as their text, chunks by their headers, also those that do not count.
fn files(dataset: &Dataset) -> Result<Map<String, Value>, Failure> {
    let mut all = Map::new();
    let mut add = |path: &Path| {
        let wrong = |e: std::io::Error| Failure::Input(format!("{}: {e}", path.display()));
        let name = path.strip_prefix(dataset.dir()).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let fact = if name.ends_with(".blp") {
            let mut header = Vec::new();
            let file = fs::File::open(path).map_err(wrong)?;
            let len = file.metadata().map_err(wrong)?.len();
            file.take(32).read_to_end(&mut header).map_err(wrong)?;
            match header.get(16..).and_then(<[u8]>::first_chunk) {
                Some(header) => json!({ "bytes": len, "blosc_header": blosc_header(header) }),
                None => json!({ "bytes": len }),
            }
        } else {
            match fs::read(path) {
                Ok(text) => json!({ "bytes": text.len(), "text": String::from_utf8_lossy(&text) }),
                // Attributes are optional.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(wrong(e)),
            }
        };
        all.insert(name, fact);
        Ok(())
    };
    if dataset.is_table() {
        ["__rootdirs__", "__attrs__"].iter().try_for_each(|name| add(&dataset.dir().join(name)))?;
    }
    for array in dataset.arrays() {
        ["__attrs__", "meta/sizes", "meta/storage"].iter().try_for_each(|name| add(&array.dir().join(name)))?;
        for entry in fs::read_dir(array.dir().join("data")).into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "blp") {
                add(&path)?;
            }
        }
    }
    Ok(all)
}

/// The header of a chunk as it is stored.
fn blosc_header(header: &[u8; 16]) -> Value {
    let [version, versionlz, flags, typesize, sizes @ ..] = header;
    let bit = |bit: u32| *flags >> bit & 1;
    let codec = ["blosclz", "lz4", "snappy", "zlib", "zstd"].get(usize::from(*flags >> 5));
    let [nbytes, blocksize, ctbytes] = match sizes.as_chunks::<4>().0 {
        [a, b, c] => [*a, *b, *c].map(u32::from_le_bytes),
        _ => [0; 3],
    };
    json!({
        "version": version, "versionlz": versionlz, "flags": format!("{flags:#04x}"), "codec": codec,
        "shuffle": bit(0), "memcpyed": bit(1), "bitshuffle": bit(2), "dont_split": bit(4),
        "typesize": typesize, "nbytes": nbytes, "blocksize": blocksize, "ctbytes": ctbytes,
    })
}

/// Column `k`, or what `path` leads to in it: fields, or values.
fn column(
    dataset: &Dataset,
    k: usize,
    path: &mut Vec<usize>,
    name: &str,
    spelling: &str,
    dtype: Dtype<'_>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Dtype::Struct(fields) = dtype else { return leaf(dataset, k, path, name, spelling, dtype, out) };
    write!(out, "{{\"name\": {}, \"type\": \"struct\", \"fields\": [", Value::from(name))?;
    for (f, field) in fields.iter().enumerate() {
        write!(out, "{}\n   ", if f > 0 { "," } else { "" })?;
        path.push(f);
        column(dataset, k, path, field.name, &field.dtype.to_string(), field.dtype, out)?;
        path.pop();
    }
    Ok(write!(out, "]}}")?)
}

/// The values of column `k`, or of the field that `path` leads to: of all dimensions, one behind the other.
fn leaf(
    dataset: &Dataset,
    k: usize,
    path: &[usize],
    name: &str,
    spelling: &str,
    dtype: Dtype<'_>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let shape = dataset.arrays().get(k).map(|array| *array.shape());
    let items = shape.map_or(Ok(1), |shape| shape.items())?;
    let lengths = shape.as_ref().map_or(&[][..], |shape| shape.lengths());
    write!(out, "{{\"name\": {}, \"type\": \"{}\", ", Value::from(name), type_name(dtype.ty()))?;
    write!(out, "\"dtype\": {}, \"shape\": {}, \"nullable\": false", Value::from(spelling), json!(lengths))?;
    let mut tape = Tape::new(dataset.rows().saturating_mul(items));
    let mut memory = vec![0; room(dataset)?];
    let (mut scratch, mut table, mut text) = (Scratch::new(&mut memory), dataset.table(), String::new());
    loop {
        let mut outer = scratch.scope();
        let part = match table.next_part(&mut outer) {
            Ok(part) => part,
            Err(e) => return Err(which(e.into(), &table)),
        };
        let Some(part) = part else { break };
        let mut column: Column<'_> = part.column(k)?;
        while let Type::FixedList(_) = column.ty() {
            column = column.child(0)?;
        }
        for field in path {
            column = column.child(*field)?;
        }
        batches(&column, 0..column.rows(), |batch| {
            for i in 0..batch.len {
                text.clear();
                let cell = Cell::at(batch, i).and_then(|cell| json::value(&mut text, &column, &cell, Style::Exact));
                cell.map_err(|e| Failure::in_row(name, batch.first.saturating_add(i as u64), e))?;
                tape.put(&text, out)?;
            }
            Ok::<_, Failure>(())
        })?;
    }
    tape.end(out)?;
    Ok(write!(out, "}}")?)
}

/// The name that the expectations have for a type.
fn type_name(ty: Type) -> String {
    match ty {
        Type::Timestamp(unit) => format!("datetime64[{}]", unit.name()),
        Type::FixedBytes(_) => "bytes".to_owned(),
        ty => ty.to_string(),
    }
}

/// `dump` of a chunk: its size, its digest, its header.
pub fn dump_chunk(chunk: &Chunk<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let all = decoded(chunk)?;
    let digest: String = Sha256::digest(&all).iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(out, " \"kind\": \"blosc1_chunk\", \"nbytes\": {}, \"sha256\": \"{digest}\",", chunk.nbytes())?;
    let is = |shuffle| u8::from(chunk.shuffle() == shuffle);
    let header = json!({
        "codec": chunk.compressor().ok().map(|compressor| compressor.name()),
        "byte_shuffle": is(Shuffle::Byte), "memcpyed": u8::from(chunk.is_copy()), "bit_shuffle": is(Shuffle::Bit),
        "typesize": chunk.typesize(), "nbytes": chunk.nbytes(), "blocksize": chunk.blocksize(),
        "ctbytes": chunk.ctbytes(), "nblocks": chunk.blocks(),
    });
    Ok(write!(out, " \"header\": {header}")?)
}

/// The items of a chunk, of the `dtype` that was said; and the memory that their part takes.
pub fn items<'c>(chunk: &Chunk<'c>, dtype: Option<&'c str>) -> Result<(Items<'c>, usize), Failure> {
    let (items, text) = match dtype {
        Some(text) => {
            let dtype = Dtype::parse(text).map_err(|e| Failure::Usage(format!("--dtype {text}: {e}")))?;
            (Items::new(*chunk, dtype), text.to_owned())
        }
        None => (Items::opaque(*chunk), format!("|V{}", chunk.typesize())),
    };
    let items = items.map_err(|e| {
        Failure::Input(format!("{e}: no whole items of {text} (--dtype says what they are, uint8 always fits)"))
    })?;
    let need = items.need().saturating_add(64);
    Ok((items, usize::try_from(need).map_err(|_| Failure::Input(format!("{need} bytes are needed")))?))
}

fn decoded(chunk: &Chunk<'_>) -> Result<Vec<u8>, Failure> {
    let (mut all, mut memory) = (vec![0; chunk.nbytes()], vec![0; chunk.scratch_len()]);
    chunk.decode(&mut all, &mut Scratch::new(&mut memory))?;
    Ok(all)
}

/// `info` of a chunk.
pub fn info_chunk(chunk: &Chunk<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let codec = chunk.compressor().map_or("unknown", |compressor| compressor.name());
    let how = if chunk.is_copy() { ", a plain copy" } else { "" };
    writeln!(out, "codec     {codec}{how}")?;
    writeln!(out, "shuffle   {}, items of {} bytes", shuffle(chunk.shuffle()), chunk.typesize())?;
    writeln!(out, "blocks    {} of {} bytes", chunk.blocks(), chunk.blocksize())?;
    let ratio = chunk.ctbytes() as f64 / (chunk.nbytes() as f64).max(1.0);
    Ok(writeln!(out, "unpacked  {} bytes, ratio {ratio:.3}", chunk.nbytes())?)
}
