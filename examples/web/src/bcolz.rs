//! bcolz: one Blosc chunk, or a dataset of many files.

#[cfg(any(feature = "info", feature = "verify"))]
mod check;

use alloc::string::String;
use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bcolz::chunk::Chunk;
use pilaster::bcolz::meta::{Sizes, Storage, names};
use pilaster::bcolz::{Column, Dtype, open_file};
use pilaster::bytes::Scratch;
use pilaster::column::{Prim, Spans, VarBytes};
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::bytes::{checked_product, product};

use crate::describe;
use crate::heap::{joined, kept, push};
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Call, Source, no_column};
use crate::tape::Tape;

/// Maximum number of objects that one call reads; each is a file.
const OBJECTS: u64 = 256;

/// The type of a single chunk, which does not store its item type.
const BYTES: Dtype<'static> = Dtype::Number { prim: Prim::U8, big: false };

/// The opened input.
pub enum Bcolz {
    Chunk,
    Dataset(Vec<Array>),
}

/// A column of a dataset.
pub struct Array {
    name: &'static str,
    sizes: Sizes,
    storage: Storage<'static>,
    /// Size of a row in bytes; 0 for objects.
    row: u64,
}

impl Bcolz {
    pub fn open(pieces: &Pieces, source: &Source) -> Result<Self> {
        if !source.directory {
            chunk(pieces, source)?;
            return Ok(Bcolz::Chunk);
        }
        let mut arrays = Vec::new();
        match pieces.file("__rootdirs__", What::BCOLZ_NAME)? {
            None => push(&mut arrays, Array::open("", pieces)?)?,
            Some(bytes) => {
                let bytes: &'static [u8] = kept(bytes)?;
                let memory = kept(bytes)?;
                let mut all = Vec::new();
                names(bytes, &mut Scratch::new(memory), |name| push(&mut all, name))?;
                // Requests the metadata of all columns together.
                for name in all {
                    match Array::open(name, pieces) {
                        Err(e) if e.kind() == Kind::Missing => {}
                        array => push(&mut arrays, array?)?,
                    }
                }
                pieces.complete()?;
            }
        }
        let rows = arrays.first().map_or(0, Array::rows);
        if let Some(other) = arrays.iter().find(|array| array.rows() != rows) {
            return Err(Error::needing(Kind::Invalid, What::BCOLZ_ROWS, rows, other.rows()));
        }
        Ok(Bcolz::Dataset(arrays))
    }

    pub fn tables(&self, pieces: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        match self {
            Bcolz::Chunk => {
                describe::table(json, "", chunk(pieces, source)?.nbytes() as u64);
                described(json, "bytes", BYTES, &[])?;
            }
            Bcolz::Dataset(arrays) => {
                describe::table(json, "", arrays.first().map_or(0, Array::rows));
                for array in arrays {
                    described(json, array.name, array.storage.dtype, array.inner())?;
                }
            }
        }
        describe::end(json);
        Ok(())
    }

    pub fn read<'s>(&'s self, call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u32> {
        let arrays = match self {
            Bcolz::Chunk => return bytes(call, tape, scratch),
            Bcolz::Dataset(arrays) => arrays,
        };
        let array = |k: usize| arrays.get(k).ok_or_else(|| no_column(k, arrays.len()));
        let mut len = u64::from(call.only(arrays.first().map_or(0, Array::rows))?);
        let first = call.rows.start;
        // Reads no further than one chunk of each column.
        for k in call.columns() {
            let array = array(k)?;
            let most = match array.row {
                0 => OBJECTS,
                _ => array.storage.chunklen.saturating_sub(first.checked_rem(array.storage.chunklen).unwrap_or(0)),
            };
            len = len.min(most);
        }
        for k in call.columns() {
            let array = array(k)?;
            for number in array.number(first)..=array.number(first.saturating_add(len.max(1)).saturating_sub(1)) {
                // Another error than missing bytes is returned below.
                let _ = array.chunk(number, call.pieces);
            }
        }
        call.pieces.complete()?;
        for k in call.columns() {
            let array = array(k)?;
            match array.row {
                0 => array.objects(first, len, call.pieces, tape, scratch)?,
                _ => array.items(first, len, call.pieces, tape, scratch)?,
            }
        }
        // At most the rows of the call.
        Ok(len as u32)
    }
}

impl Array {
    /// Opens the array in the directory `name`, or in the dataset itself if `name` is empty.
    fn open(name: &'static str, pieces: &Pieces) -> Result<Self> {
        // Requests both together.
        let file = |file| path(name, "meta/", file, "").and_then(|path| pieces.file(&path, What::BCOLZ_FILE));
        let (sizes, storage) = (file("sizes"), file("storage"));
        let none = || Error::new(Kind::Truncated, What::BCOLZ_FILE, 0);
        let sizes = Sizes::parse(sizes?.ok_or_else(none)?)?;
        let bytes: &'static [u8] = kept(storage?.ok_or_else(none)?)?;
        // No text is longer than the file that contains it.
        let mut storage = Storage::parse(bytes, &mut Scratch::new(kept(bytes)?))?;
        let items = sizes.shape.items()?;
        let row = checked_product(items, storage.dtype.size().into());
        let row = row.ok_or_else(|| Error::new(Kind::Overflow, What::BCOLZ_SHAPE, 0))?;
        let object = storage.dtype == Dtype::Object;
        if sizes.shape.rows() > 0 && (if object { items != 1 } else { row == 0 }) {
            // With rows of zero bytes, the number of rows would be unlimited.
            return Err(Error::new(Kind::Unsupported, What::BCOLZ_SHAPE, 0));
        }
        storage.chunklen = if object { 1 } else { storage.chunklen };
        Ok(Array { name, sizes, storage, row: if object { 0 } else { row } })
    }

    const fn rows(&self) -> u64 {
        self.sizes.shape.rows()
    }

    fn inner(&self) -> &[u64] {
        self.sizes.shape.inner()
    }

    /// Returns the number of the chunk with a row.
    fn number(&self, row: u64) -> u64 {
        row.checked_div(self.storage.chunklen).unwrap_or(0)
    }

    /// Opens chunk `number`. An error if its size does not match its rows.
    fn chunk<'p>(&self, number: u64, pieces: &'p Pieces) -> Result<Chunk<'p>> {
        let mut file = Json::new();
        let digits = file.number(number).bytes();
        let digits = core::str::from_utf8(digits).unwrap_or_default();
        let path = path(self.name, "data/__", digits, ".blp")?;
        let bytes = pieces.file(&path, What::BCOLZ_FILE)?;
        let chunk = open_file(bytes.ok_or_else(|| Error::new(Kind::Truncated, What::BCOLZ_FILE, number))?)?;
        if self.row > 0 {
            let chunklen = self.storage.chunklen;
            let rows = self.rows().saturating_sub(product(number, chunklen)).min(chunklen);
            let (held, wanted) = (chunk.nbytes() as u64, product(rows, self.row));
            // The last chunk may contain rows that the sizes do not count yet.
            let most = if rows < chunklen { product(chunklen, self.row) } else { wanted };
            if held < wanted || held > most {
                return Err(Error::needing(Kind::Invalid, What::BLOSC_NBYTES, 20, held));
            }
        }
        Ok(chunk)
    }

    fn items<'s>(
        &'s self,
        first: u64,
        len: u64,
        pieces: &'s Pieces,
        tape: &mut Tape,
        scratch: &mut Scratch<'s>,
    ) -> Result<()> {
        let chunklen = self.storage.chunklen;
        let data = if len == 0 {
            &[][..]
        } else {
            let chunk = self.chunk(self.number(first), pieces)?;
            range(&chunk, product(first.checked_rem(chunklen).unwrap_or(0), self.row), product(len, self.row), scratch)?
        };
        items(self.storage.dtype, self.inner(), len, data, tape, scratch)
    }

    fn objects(&self, first: u64, len: u64, pieces: &Pieces, tape: &mut Tape, scratch: &mut Scratch<'_>) -> Result<()> {
        let rows = first..first.saturating_add(len);
        let mut sum = 0usize;
        for row in rows.clone() {
            sum = sum.saturating_add(self.chunk(row, pieces)?.nbytes());
        }
        let data = scratch.take::<u8>(sum)?;
        // At most OBJECTS.
        let spans = scratch.take::<[u32; 2]>(len as usize)?;
        let (mut rest, mut at) = (&mut *data, 0);
        for (row, span) in rows.zip(spans.iter_mut()) {
            let chunk = self.chunk(row, pieces)?;
            let len = chunk.nbytes();
            let Some((object, more)) = rest.split_at_mut_checked(len) else { break };
            chunk.decode_range(0..len, object, &mut scratch.scope())?;
            *span = [at, len as u32];
            (rest, at) = (more, at.saturating_add(len as u32));
        }
        tape.strings(&VarBytes { data, spans: Spans::Each(spans) }, scratch)
    }
}

fn described(json: &mut Json, name: &str, dtype: Dtype<'_>, inner: &[u64]) -> Result<()> {
    if dtype == Dtype::Object {
        describe::begin(json, name, dtype.ty(), false);
        json.close(b'}');
        return Ok(());
    }
    describe::column(json, name, &Column::new(dtype, inner, 0, &[])?.into())
}

/// Reads the bytes of a single chunk as rows.
fn bytes<'s>(call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u32> {
    let chunk = chunk(call.pieces, call.source)?;
    let len = call.only(chunk.nbytes() as u64)?;
    let rows = len.into();
    let data = range(&chunk, call.rows.start, rows, scratch)?;
    for k in call.columns() {
        if k > 0 {
            return Err(no_column(k, 1));
        }
        items(BYTES, &[], rows, data, tape, scratch)?;
    }
    Ok(len)
}

/// Returns decoded rows in the form that [`Column::new`] takes.
fn items<'s>(
    dtype: Dtype<'s>,
    inner: &'s [u64],
    rows: u64,
    data: &'s [u8],
    tape: &mut Tape,
    scratch: &mut Scratch<'s>,
) -> Result<()> {
    tape.column(&Column::new(dtype, inner, rows, data)?.into(), 0..rows, scratch)
}

fn chunk<'p>(pieces: &'p Pieces, source: &Source) -> Result<Chunk<'p>> {
    let bytes = pieces.whole(source.len, What::BCOLZ_CHUNK)?;
    if bytes.starts_with(b"blpk") { open_file(bytes) } else { Chunk::open(bytes) }
}

/// Decodes `len` bytes of a chunk, starting at `from`.
fn range<'s>(chunk: &Chunk<'_>, from: u64, len: u64, scratch: &mut Scratch<'s>) -> Result<&'s [u8]> {
    let outside = || Error::needing(Kind::OutOfRange, What::ROW, from, chunk.nbytes() as u64);
    let (Ok(from), Ok(len)) = (usize::try_from(from), usize::try_from(len)) else { return Err(outside()) };
    // Aligned, so that the rows can be borrowed.
    let to: &'s mut [u64] = scratch.take(len.div_ceil(8))?;
    let to = bytemuck::cast_slice_mut::<u64, u8>(to).get_mut(..len).unwrap_or_default();
    chunk.decode_range(from..from.saturating_add(len), to, &mut scratch.scope())?;
    Ok(to)
}

fn path(dir: &str, front: &str, number: &str, end: &str) -> Result<String> {
    joined(&[dir, if dir.is_empty() { "" } else { "/" }, front, number, end])
}
