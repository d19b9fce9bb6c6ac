//! One array that is written: its chunks as rows come, its metadata at the end.

use std::borrow::ToOwned;
use std::format;
use std::io;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

use super::disk::Disk;
use super::file::{encode_file, file_len};
use crate::bcolz::chunk::{Params, encode_scratch_len};
use crate::bcolz::meta::{Shape, Sizes};
use crate::bcolz::{Dtype, raw};
use crate::bytes::Scratch;
use crate::column::Prim;
use crate::error::Failure;
use crate::error::{Error, Kind, Result, What};

/// Where files go, and memory for one at a time.
#[derive(Debug)]
pub(super) struct Files<D> {
    pub(super) disk: D,
    /// Whether there are readers: then a file gets its name when it is whole.
    pub(super) live: bool,
    file: Vec<u8>,
    scratch: Vec<u8>,
}

impl<D: Disk> Files<D> {
    pub(super) const fn new(disk: D, live: bool) -> Self {
        Files { disk, live, file: Vec::new(), scratch: Vec::new() }
    }

    pub(super) fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        write(&mut self.disk, self.live, path, bytes).map_err(|e| Failure::io(path, e))
    }

    pub(super) fn sync(&mut self, dir: &Path) -> Result<(), Failure> {
        self.disk.sync_dir(dir).map_err(|e| Failure::io(dir, e))
    }

    /// Writes `rows` as a chunk; gives back the size of the chunk without its file's header.
    fn chunk(&mut self, path: &Path, rows: &[u8], params: &Params) -> Result<u64, Failure> {
        let (room, memory) = (file_len(rows.len()), encode_scratch_len(params, rows.len()));
        self.file.resize(self.file.len().max(room), 0);
        self.scratch.resize(self.scratch.len().max(memory), 0);
        let len = encode_file(rows, params, &mut self.file, &mut Scratch::new(&mut self.scratch));
        let len = len.map_err(|e| Failure::format(path, e))?;
        let bytes = self.file.get(..len).unwrap_or_default();
        write(&mut self.disk, self.live, path, bytes).map_err(|e| Failure::io(path, e))?;
        Ok(len.saturating_sub(crate::bcolz::file::HEADER.len()) as u64)
    }
}

fn write(disk: &mut impl Disk, live: bool, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !live {
        return disk.write(path, bytes);
    }
    let beside = super::writer::partial(path);
    disk.write(&beside, bytes)?;
    disk.rename(&beside, path)
}

/// An array that rows are put into.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) name: String,
    pub(super) dir: PathBuf,
    pub(super) dtype: String,
    pub(super) shape: Shape,
    pub(super) params: Params,
    pub(super) quantize: i64,
    /// Bytes of a row, 0 for objects; those of a full chunk.
    pub(super) row: usize,
    pub(super) full: usize,
    /// Rows that are put, those of the buffer among them.
    pub(super) rows: u64,
    /// Decoded bytes that are put.
    pub(super) nbytes: u64,
    /// Sizes of full chunks.
    pub(super) cbytes: u64,
    /// The rows behind the last full chunk.
    pub(super) buffer: Vec<u8>,
    pub(super) sealed: bool,
}

impl Growing {
    /// The type of its items.
    pub(super) fn dtype(&self) -> Dtype<'_> {
        // Read once already.
        Dtype::parse(&self.dtype).unwrap_or(Dtype::Object)
    }

    /// Puts whole rows.
    pub(super) fn put<D: Disk>(&mut self, rows: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        if self.sealed || self.row == 0 || rows.len().checked_rem(self.row) != Some(0) {
            return Err(self.misuse());
        }
        if self.quantize == 0 {
            return self.take(rows, files);
        }
        let rounded = self.quantized(rows)?;
        self.take(&rounded, files)
    }

    fn take<D: Disk>(&mut self, mut rows: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        while !rows.is_empty() {
            let wanted = self.full.saturating_sub(self.buffer.len());
            let (now, rest) = rows.split_at(wanted.min(rows.len()));
            rows = rest;
            self.rows = self.rows.saturating_add(now.len().checked_div(self.row).unwrap_or(0) as u64);
            self.nbytes = self.nbytes.saturating_add(now.len() as u64);
            if now.len() == self.full {
                self.chunk(now, files)?;
                continue;
            }
            self.buffer.extend_from_slice(now);
            if self.buffer.len() == self.full {
                let mut whole = core::mem::take(&mut self.buffer);
                self.chunk(&whole, files)?;
                whole.clear();
                self.buffer = whole;
            }
        }
        Ok(())
    }

    /// Puts an object.
    pub(super) fn put_object<D: Disk>(&mut self, object: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        if self.sealed || self.row != 0 {
            return Err(self.misuse());
        }
        let len = files.chunk(&self.chunk_path(self.rows), object, &self.params)?;
        self.rows = self.rows.saturating_add(1);
        self.nbytes = self.nbytes.saturating_add(object.len() as u64);
        self.cbytes = self.cbytes.saturating_add(len);
        Ok(())
    }

    /// Writes the rows behind the last full chunk. No more can be put then.
    pub(super) fn seal<D: Disk>(&mut self, files: &mut Files<D>) -> Result<(), Failure> {
        if core::mem::replace(&mut self.sealed, true) {
            return Ok(());
        }
        let rest = core::mem::take(&mut self.buffer);
        if !rest.is_empty() {
            let number = self.rows.checked_div(self.chunklen()).unwrap_or(0);
            files.chunk(&self.chunk_path(number), &rest, &self.params)?;
        }
        files.sync(&self.dir.join("data"))
    }

    /// Says how many rows there are.
    pub(super) fn commit<D: Disk>(&self, files: &mut Files<D>) -> Result<(), Failure> {
        // The original counts the buffer of the last chunk, too, and whole.
        let buffer = if self.row > 0 { self.full as u64 } else { 0 };
        let (shape, cbytes) = (self.shape.with_rows(self.rows), self.cbytes.saturating_add(buffer));
        let mut text = Vec::new();
        match (Sizes { shape, nbytes: self.nbytes, cbytes }).write(&mut text) {
            Ok(()) => {}
            Err(e) => match e {},
        }
        let dir = self.dir.join("meta");
        files.write(&dir.join("sizes"), &text)?;
        files.sync(&dir)
    }

    pub(super) fn chunk_path(&self, number: u64) -> PathBuf {
        self.dir.join("data").join(format!("__{number}.blp"))
    }

    fn chunklen(&self) -> u64 {
        self.full.checked_div(self.row).unwrap_or(1).max(1) as u64
    }

    /// The last rows that were put, as a full chunk.
    fn chunk<D: Disk>(&mut self, rows: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        let number = self.rows.checked_div(self.chunklen()).unwrap_or(0).saturating_sub(1);
        let len = files.chunk(&self.chunk_path(number), rows, &self.params)?;
        self.cbytes = self.cbytes.saturating_add(len);
        Ok(())
    }

    /// Section E: floats rounded to decimal digits, the way the original does it.
    fn quantized(&self, rows: &[u8]) -> Result<Vec<u8>, Failure> {
        let digits = i32::try_from(self.quantize.clamp(-400, 400)).unwrap_or(0);
        let scale = f64::exp2(f64::log2(f64::powi(10.0, digits)).ceil());
        let mut rounded = rows.to_owned();
        match self.dtype() {
            Dtype::Number { prim: Prim::F64, big } => {
                for cell in rounded.as_chunks_mut::<8>().0 {
                    let value = if big { f64::from_be_bytes(*cell) } else { f64::from_le_bytes(*cell) };
                    let value = (scale * value).round_ties_even() / scale;
                    *cell = if big { value.to_be_bytes() } else { value.to_le_bytes() };
                }
            }
            Dtype::Number { prim: Prim::F32, big } => {
                #[allow(clippy::cast_possible_truncation, reason = "a power of two, or infinite")]
                let scale = scale as f32;
                for cell in rounded.as_chunks_mut::<4>().0 {
                    let value = if big { f32::from_be_bytes(*cell) } else { f32::from_le_bytes(*cell) };
                    let value = (scale * value).round_ties_even() / scale;
                    *cell = if big { value.to_be_bytes() } else { value.to_le_bytes() };
                }
            }
            Dtype::Number { prim: Prim::F16, .. } => {
                let e = Error::new(Kind::Unsupported, What::BCOLZ_PARAMS, 0);
                return Err(Failure::format(&self.dir.join("meta/storage"), e));
            }
            // The original rounds nothing else.
            _ => {}
        }
        Ok(rounded)
    }

    #[cold]
    fn misuse(&self) -> Failure {
        Failure::format(&self.dir, Error::new(Kind::Misuse, What::BCOLZ_DTYPE, self.rows))
    }
}

/// Bytes of a full chunk, which must be one that can be written.
pub(super) fn full_chunk(row: u64, chunklen: u64) -> Result<usize> {
    let bytes = row.checked_mul(chunklen).filter(|bytes| *bytes <= u64::from(raw::MAX_NBYTES));
    let most = Error::needing(Kind::Limit, What::BCOLZ_CHUNKLEN, 0, raw::MAX_NBYTES.into());
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(most)
}
