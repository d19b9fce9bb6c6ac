//! Commands on a bcolz dataset, which is a directory, and on a chunk, where they differ from other files.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;

use pilaster::any::File;
use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::write::Disk;
use pilaster::bcolz::{Array, Dataset, Dtype, Shuffle, open_file, write};
use pilaster::bytes::{Scratch, Sink as _, WriteError};
use pilaster::column::{Memory, Table as _, Type};
use pilaster::error::Kind;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::args::{Convert, Recover};
use crate::budget;
use crate::columns::Columns;
use crate::digits;
use crate::dump::{self, Head, facts};
use crate::failure::Failure;
use crate::feed::{Chosen, Windows};
use crate::lost::Saved;
use crate::open::{Input, Lacks, hinted, part_room};
use crate::special::Special;
use crate::tables::{self, Table};
use crate::target::Target;

impl Special for Dataset {
    fn info(&self, _: &Input, out: &mut dyn Write) -> Result<(), Failure> {
        arrays(self, out)
    }

    /// Out of the metadata; no chunk is read.
    fn tables(&self, input: &Input, _: &File<'_>) -> Result<Vec<Table>, Failure> {
        let (mut memory, mut table) = (Memory::default(), self.table());
        table.choose(Some(&[]));
        let columns = loop {
            match table.next_part(&mut memory.scratch()) {
                Err(e) if e.kind() == Kind::NoRoom => memory.grow(e)?,
                part => break part?.map_or(Ok(Vec::new()), |part| tables::described(&part, input.rules()))?,
            }
        };
        Ok(vec![Table { name: String::new(), rows: self.rows(), columns, about: Vec::new() }])
    }

    fn facts(&self, _: &Input) -> Result<Vec<(&'static str, Value)>, Failure> {
        Ok(known(self))
    }

    fn dump(&self, input: &Input, _: &File<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        document(input, self, out)
    }

    /// Accepts a dataset that was opened tolerantly: opening it already reported its problems.
    fn verify(&self, _: &Input, _: &File<'_>) -> Result<(), Failure> {
        if self.is_tolerant() { Ok(()) } else { Dataset::verify(self).map_err(hinted) }
    }

    /// A dataset that lacks rows or columns is not valid, although the rest can be read.
    fn verified(&self, input: &Input, _: &File<'_>) -> Result<String, Failure> {
        let (rows, columns, kind) = (self.rows(), self.arrays().len(), kind(self));
        let Lacks { columns: left_out, ranges, rows: lost } = input.lacks;
        if left_out > 0 || ranges > 0 {
            let all = format!("of {rows} rows in {columns} columns, {lost} values in {ranges} ranges of rows");
            return Err(Failure::Input(format!("{all} are missing or damaged, and {left_out} columns are left out")));
        }
        let chunks = self.arrays().iter().map(Array::chunks).sum::<u64>();
        Ok(format!("{rows} rows, {columns} columns, {chunks} chunks, bcolz {kind}"))
    }

    /// Names the file that is wrong. An error of a batch names none.
    fn explain(&self, e: pilaster::Error) -> Failure {
        let is_limit = e.kind() == Kind::Limit;
        let named = if is_limit || self.is_tolerant() { None } else { Dataset::verify(self).err() };
        named.map_or_else(|| budget::explain(e), hinted)
    }
}

impl Special for Chunk<'_> {
    /// None if the bytes are no items of the type that the caller named; the header can be described all the same.
    fn tables(&self, input: &Input, file: &File<'_>) -> Result<Vec<Table>, Failure> {
        if file.table(None).is_ok() { tables::tables(input, file) } else { Ok(Vec::new()) }
    }

    fn info(&self, _: &Input, out: &mut dyn Write) -> Result<(), Failure> {
        let codec = self.compressor().map_or("unknown", |compressor| compressor.name());
        let how = if self.is_copy() { ", a plain copy" } else { "" };
        writeln!(out, "codec     {codec}{how}")?;
        writeln!(out, "shuffle   {}, items of {} bytes", shuffle(self.shuffle()), self.typesize())?;
        writeln!(out, "blocks    {} of {} bytes", self.blocks(), self.blocksize())?;
        let ratio = self.ctbytes() as f64 / (self.nbytes() as f64).max(1.0);
        Ok(writeln!(out, "unpacked  {} bytes, ratio {ratio:.3}", self.nbytes())?)
    }

    /// Prints the size, the digest and the header.
    fn dump(&self, _: &Input, _: &File<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let digest = digits::hex(&Sha256::digest(decoded(self)?));
        writeln!(out, " \"kind\": \"blosc1_chunk\", \"nbytes\": {}, \"sha256\": \"{digest}\",", self.nbytes())?;
        let is = |shuffle| u8::from(self.shuffle() == shuffle);
        let header = json!({
            "codec": self.compressor().ok().map(|compressor| compressor.name()),
            "byte_shuffle": is(Shuffle::Byte), "memcpyed": u8::from(self.is_copy()), "bit_shuffle": is(Shuffle::Bit),
            "typesize": self.typesize(), "nbytes": self.nbytes(), "blocksize": self.blocksize(),
            "ctbytes": self.ctbytes(), "nblocks": self.blocks(),
        });
        Ok(write!(out, " \"header\": {header}")?)
    }

    fn verified(&self, input: &Input, _: &File<'_>) -> Result<String, Failure> {
        Ok(format!("{} bytes from {}, bcolz chunk", self.nbytes(), input.len()))
    }
}

/// `recover`: writes the rows that every column has to a new dataset. If there are none although the dataset states some,
/// nothing is written.
pub fn recover(dataset: &Dataset, how: &Recover) -> Result<Saved, Failure> {
    let target = Target::directory(&how.target, false)?;
    let (columns, all) = (dataset.arrays().len(), dataset.rows());
    let rows = target.fill_directory(|dir| match write::recover(dataset, dir)? {
        0 if all > 0 => Err(Failure::Input(format!("no row can be saved, of {all}: none is readable in all columns"))),
        rows => Ok(rows),
    })?;
    Ok(Saved { rows, line: format!("{}: {rows} of {all} rows in {columns} columns", how.target.display()) })
}

fn kind(dataset: &Dataset) -> &'static str {
    if dataset.is_table() { "ctable" } else { "carray" }
}

fn arrays(dataset: &Dataset, out: &mut dyn Write) -> Result<(), Failure> {
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
            // The length of each object is stored in the chunks only.
            Dtype::Object => writeln!(out, "{:>12}  {:>5}", "-", "-")?,
            _ => writeln!(out, "{unpacked:>12}  {:>5.3}", bytes as f64 / (unpacked as f64).max(1.0))?,
        }
        if array.surplus() > 0 {
            writeln!(out, "{:name$}  {} additional rows, which are ignored", "", array.surplus())?;
        }
    }
    Ok(())
}

/// Returns the kind of the dataset and its attributes.
fn known(dataset: &Dataset) -> Vec<(&'static str, Value)> {
    let mut known = vec![("kind", Value::from(kind(dataset)))];
    match serde_json::from_slice(dataset.attrs()) {
        Ok(Value::Object(attrs)) if attrs.is_empty() => {}
        Ok(attrs) => known.push(("attrs", attrs)),
        // Python writes NaN and infinity, which are not JSON, so the text itself is printed.
        Err(_) if !dataset.attrs().trim_ascii().is_empty() => {
            known.push(("attrs", String::from_utf8_lossy(dataset.attrs()).trim().into()));
        }
        Err(_) => {}
    }
    known
}

/// Returns the size in bytes of all chunks of a dataset.
pub fn stored(dataset: &Dataset) -> Result<u64, Failure> {
    dataset
        .arrays()
        .iter()
        .try_fold(0u64, |sum, array| Ok(sum.saturating_add(stored_in(array, dataset.is_tolerant())?)))
}

fn stored_in(array: &Array, tolerant: bool) -> Result<u64, Failure> {
    let mut bytes = 0u64;
    let mut add = |path: &Path| match fs::metadata(path) {
        Ok(file) => {
            bytes = bytes.saturating_add(file.len());
            Ok(())
        }
        // It is missing, and that was said.
        Err(_) if tolerant => Ok(()),
        Err(e) => Err(Failure::Input(format!("{}: {e}", path.display()))),
    };
    if tolerant {
        // The files that are present, however many rows are stated.
        for entry in fs::read_dir(array.dir().join("data")).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let number = name.to_str().and_then(|name| name.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok());
            if number.is_some_and(|number| number < array.chunks() && array.chunk_path(number) == path) {
                add(&path)?;
            }
        }
    } else {
        (0..array.chunks()).try_for_each(|number| add(&array.chunk_path(number)))?;
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

fn document(input: &Input, dataset: &Dataset, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, " \"nrows\": {},", dataset.rows())?;
    let mut known = known(dataset);
    known.push(("files", files(dataset)?.into()));
    facts(&known, out)?;
    write!(out, ",\n \"columns\": [")?;
    for (k, array) in dataset.arrays().iter().enumerate() {
        write!(out, "{}\n  ", if k > 0 { "," } else { "" })?;
        column((input, dataset), k, &mut Vec::new(), array.name(), array.dtype_text(), array.dtype(), out)?;
    }
    Ok(write!(out, "\n ]")?)
}

/// Returns every file of a dataset, also unused ones: the text of metadata, the headers of chunks.
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

/// Prints column `k`, or the field at the end of `path`: its fields, or the values of all dimensions in order.
fn column(
    (input, dataset): (&Input, &Dataset),
    k: usize,
    path: &mut Vec<usize>,
    name: &str,
    spelling: &str,
    dtype: Dtype<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    write!(out, "{{\"name\": {}, ", Value::from(name))?;
    if let Dtype::Struct(fields) = dtype {
        write!(out, "\"type\": \"struct\", \"fields\": [")?;
        for (f, field) in fields.iter().enumerate() {
            write!(out, "{}\n   ", if f > 0 { "," } else { "" })?;
            path.push(f);
            column((input, dataset), k, path, field.name, &field.dtype.to_string(), field.dtype, out)?;
            path.pop();
        }
        return Ok(write!(out, "]}}")?);
    }
    let shape = dataset.arrays().get(k).map(|array| *array.shape());
    let items = shape.map_or(Ok(1), |shape| shape.items())?;
    let (rows, lengths) =
        (dataset.rows().saturating_mul(items), shape.as_ref().map_or(&[][..], |shape| shape.lengths()));
    let (name, ty) = (name.to_owned(), type_name(dtype.ty()));
    write!(out, "\"type\": \"{ty}\", \"dtype\": {}, ", Value::from(spelling))?;
    write!(out, "\"shape\": {}, \"nullable\": false", json!(lengths))?;
    let head = Head { name, ty, nullable: false, rows, facts: Vec::new(), texts: false };
    let file = File::from(dataset);
    let columns = Columns::numbered(dataset.arrays().iter().map(|array| array.name().to_owned()));
    let table = Chosen { windows: Windows::new(input, &file, None), columns: &columns };
    dump::values(&table, (k, Some(path)), &head, part_room(&file)?, out)?;
    Ok(write!(out, "}}")?)
}

/// Returns the name of a type in the expectations.
fn type_name(ty: Type) -> String {
    match ty {
        Type::Timestamp(unit) => format!("datetime64[{}]", unit.name()),
        Type::FixedBytes(_) => "bytes".to_owned(),
        ty => ty.to_string(),
    }
}

fn decoded(chunk: &Chunk<'_>) -> Result<Vec<u8>, Failure> {
    let (mut all, mut memory) = (vec![0; chunk.nbytes()], vec![0; chunk.scratch_len()]);
    chunk.decode(&mut all, &mut Scratch::new(&mut memory))?;
    Ok(all)
}

/// Returns the parameters of the chunks; options that are absent have their defaults.
pub fn params(how: &Convert) -> Params {
    let default = write::WriteOptions::DEFAULT.params;
    let level = how.bcolz.clevel.unwrap_or(default.level);
    Params {
        compressor: how.bcolz.codec.unwrap_or(default.compressor),
        level,
        shuffle: how.bcolz.shuffle.unwrap_or(default.shuffle),
        ..default
    }
}

/// A disk in memory that keeps the file with the rows of a dataset and discards the other files.
#[derive(Clone, Default)]
pub struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// Writes the chunk of that file to the target. Without rows there is no such file.
    pub fn put(&self, how: &Convert, target: &Target<'_>) -> Result<u64, Failure> {
        let kept = self.0.borrow();
        let chunk = open_file(&kept).map(|_| kept.get(16..).unwrap_or_default());
        target.fill(|mut sink| {
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
