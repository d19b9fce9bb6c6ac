//! Writes one array: chunks as rows are put, metadata at the end.

use std::borrow::ToOwned;
use std::collections::VecDeque;
use std::format;
use std::io;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

use super::disk::Disk;
use super::encode::{Encoder, Encoders, Pending};
use crate::bcolz::chunk::Params;
use crate::bcolz::meta::{Shape, Sizes};
use crate::bcolz::{Dtype, raw};
use crate::column::Prim;
use crate::error::Failure;
use crate::error::{Error, Kind, Result, What};

/// The destination of files, and reused memory for one file at a time.
#[derive(Debug)]
pub(super) struct Files<D> {
    pub(super) disk: D,
    /// True if the dataset may have readers: a file is then written under a temporary name and renamed.
    pub(super) live: bool,
    encoder: Encoder,
    /// Number of threads that encode chunks; 0 if the calling one does.
    threads: usize,
    /// The threads, which start with the first chunk.
    encoders: Option<Encoders>,
    /// Full chunks of all arrays that threads encode, in order: the number of the array, and the path of the chunk.
    pending: VecDeque<(usize, PathBuf, Pending)>,
    /// For each array, the total size in bytes of the chunks that threads encoded.
    sizes: Vec<u64>,
}

impl<D: Disk> Files<D> {
    pub(super) const fn new(disk: D, live: bool) -> Self {
        Files {
            disk,
            live,
            encoder: Encoder::new(),
            threads: 0,
            encoders: None,
            pending: VecDeque::new(),
            sizes: Vec::new(),
        }
    }

    /// Lets several threads encode chunks.
    pub(super) const fn set_threads(&mut self, threads: usize) {
        self.threads = if threads < 2 { 0 } else { threads };
    }

    pub(super) fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        write(&mut self.disk, self.live, path, bytes).map_err(|e| Failure::io(path, e))
    }

    pub(super) fn sync(&mut self, dir: &Path) -> Result<(), Failure> {
        self.disk.sync_dir(dir).map_err(|e| Failure::io(dir, e))
    }

    /// Writes `rows` as the file of a chunk. Returns the size of the chunk in bytes, without the header of the file.
    pub(super) fn chunk(&mut self, path: &Path, rows: &[u8], params: &Params) -> Result<u64, Failure> {
        let file = self.encoder.encode(rows, params).map_err(|e| Failure::format(path, e))?;
        write(&mut self.disk, self.live, path, file).map_err(|e| Failure::io(path, e))?;
        Ok(chunk_len(file))
    }

    /// Writes the file of a chunk that a thread encodes. Returns the size of the chunk in bytes, as [`chunk`](Self::chunk)
    /// does.
    fn pending(&mut self, path: &Path, file: Pending) -> Result<u64, Failure> {
        let file = file.wait().map_err(|e| Failure::io(path, e))?.map_err(|e| Failure::format(path, e))?;
        self.write(path, &file)?;
        Ok(chunk_len(&file))
    }

    /// Writes chunks that threads encode, until `most` are left.
    fn write_pending(&mut self, most: usize) -> Result<(), Failure> {
        while self.pending.len() > most
            && let Some((number, path, file)) = self.pending.pop_front()
        {
            let len = self.pending(&path, file)?;
            if self.sizes.len() <= number {
                self.sizes.resize(number.saturating_add(1), 0);
            }
            if let Some(size) = self.sizes.get_mut(number) {
                *size = size.saturating_add(len);
            }
        }
        Ok(())
    }

    /// Returns whether threads encode chunks of `bytes` bytes. Starts them.
    fn has_encoders(&mut self, bytes: usize) -> bool {
        /// Maximum size in bytes of a chunk that waits. Larger ones would take much memory.
        const WAITING: usize = 1 << 22;
        if self.threads == 0 || bytes > WAITING {
            return false;
        }
        if self.encoders.is_none() {
            self.encoders = Encoders::start(self.threads);
            self.threads = self.encoders.as_ref().map_or(0, |_| self.threads);
        }
        self.encoders.is_some()
    }

    /// Lets a thread encode `rows` as the chunk at `path` of array `number`, and writes the chunks before that are encoded.
    fn encode(&mut self, number: usize, path: PathBuf, rows: Vec<u8>, params: Params) -> Result<(), Failure> {
        let Some(encoders) = &self.encoders else { return Ok(()) };
        self.pending.push_back((number, path, encoders.encode(rows, params)));
        self.write_pending(encoders.ahead())
    }
}

fn chunk_len(file: &[u8]) -> u64 {
    file.len().saturating_sub(crate::bcolz::file::HEADER.len()) as u64
}

fn write(disk: &mut impl Disk, live: bool, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !live {
        return disk.write(path, bytes);
    }
    let beside = super::writer::partial(path);
    disk.write(&beside, bytes)?;
    disk.rename(&beside, path)
}

/// An array that is being written.
#[derive(Debug)]
pub(super) struct Growing {
    /// Its number in the dataset.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) dir: PathBuf,
    pub(super) dtype: String,
    pub(super) shape: Shape,
    pub(super) params: Params,
    pub(super) quantize: i64,
    /// Size in bytes of a row; 0 for objects.
    pub(super) row: usize,
    /// Decoded size in bytes of a full chunk; 0 for objects.
    pub(super) full: usize,
    /// Number of rows that were put, with those in the buffer.
    pub(super) rows: u64,
    /// Decoded size in bytes of these rows.
    pub(super) nbytes: u64,
    /// Total size in bytes of the full chunks that are written, without those that threads encoded.
    pub(super) cbytes: u64,
    /// The rows after the last full chunk; all rows if they overwrite others.
    pub(super) buffer: Vec<u8>,
    /// True if the rows overwrite others.
    pub(super) over: bool,
    /// The end of each object in `buffer`, if they overwrite others.
    pub(super) ends: Vec<usize>,
    pub(super) sealed: bool,
}

impl Growing {
    /// Returns the type of the items.
    pub(super) fn dtype(&self) -> Dtype<'_> {
        // Cannot fail: the text was parsed when the array was created or opened.
        Dtype::parse(&self.dtype).unwrap_or(Dtype::Object)
    }

    /// Appends whole rows.
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

    /// Returns object `k` of those that overwrite others.
    pub(super) fn object(&self, k: usize) -> &[u8] {
        let from = k.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(k).and_then(|to| self.buffer.get(from..*to)).unwrap_or_default()
    }

    fn take<D: Disk>(&mut self, mut rows: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        if self.over {
            self.rows = self.rows.saturating_add(rows.len().checked_div(self.row).unwrap_or(0) as u64);
            self.buffer.extend_from_slice(rows);
            return Ok(());
        }
        while !rows.is_empty() {
            let wanted = self.full.saturating_sub(self.buffer.len());
            let (now, rest) = rows.split_at(wanted.min(rows.len()));
            rows = rest;
            self.rows = self.rows.saturating_add(now.len().checked_div(self.row).unwrap_or(0) as u64);
            self.nbytes = self.nbytes.saturating_add(now.len() as u64);
            if now.len() == self.full && !files.has_encoders(now.len()) {
                self.chunk(now, files)?;
                continue;
            }
            self.buffer.extend_from_slice(now);
            if self.buffer.len() < self.full {
                continue;
            }
            let mut whole = core::mem::take(&mut self.buffer);
            if files.has_encoders(whole.len()) {
                // The next rows come soon; grown step by step, they would be copied twice.
                self.buffer.reserve_exact(self.full);
                let path = self.last_path();
                files.encode(self.number, path, whole, self.params)?;
                continue;
            }
            self.chunk(&whole, files)?;
            whole.clear();
            self.buffer = whole;
        }
        Ok(())
    }

    /// Appends an object.
    pub(super) fn put_object<D: Disk>(&mut self, object: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        if self.sealed || self.row != 0 {
            return Err(self.misuse());
        }
        if self.over {
            self.rows = self.rows.saturating_add(1);
            self.buffer.extend_from_slice(object);
            self.ends.push(self.buffer.len());
            return Ok(());
        }
        let len = files.chunk(&self.chunk_path(self.rows), object, &self.params)?;
        self.rows = self.rows.saturating_add(1);
        self.nbytes = self.nbytes.saturating_add(object.len() as u64);
        self.cbytes = self.cbytes.saturating_add(len);
        Ok(())
    }

    /// Writes the rows after the last full chunk. No rows can be put after that.
    pub(super) fn seal<D: Disk>(&mut self, files: &mut Files<D>) -> Result<(), Failure> {
        if core::mem::replace(&mut self.sealed, true) {
            return Ok(());
        }
        if self.over {
            return Ok(());
        }
        files.write_pending(0)?;
        let rest = core::mem::take(&mut self.buffer);
        if !rest.is_empty() {
            let number = self.rows.checked_div(self.chunklen()).unwrap_or(0);
            files.chunk(&self.chunk_path(number), &rest, &self.params)?;
        }
        files.sync(&self.dir.join("data"))
    }

    /// Writes `meta/sizes` with the number of rows.
    pub(super) fn commit<D: Disk>(&self, files: &mut Files<D>) -> Result<(), Failure> {
        // The original also counts the buffer of the last chunk, at its full size.
        let buffer = if self.row > 0 { self.full as u64 } else { 0 };
        let encoded = files.sizes.get(self.number).copied().unwrap_or(0);
        let cbytes = self.cbytes.saturating_add(encoded).saturating_add(buffer);
        let shape = self.shape.with_rows(self.rows);
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

    /// Returns the path of the chunk of the last rows that were put, which are a full chunk.
    fn last_path(&self) -> PathBuf {
        self.chunk_path(self.rows.checked_div(self.chunklen()).unwrap_or(0).saturating_sub(1))
    }

    /// Writes the last rows that were put, which are a full chunk.
    fn chunk<D: Disk>(&mut self, rows: &[u8], files: &mut Files<D>) -> Result<(), Failure> {
        let len = files.chunk(&self.last_path(), rows, &self.params)?;
        self.cbytes = self.cbytes.saturating_add(len);
        Ok(())
    }

    /// Returns the rows with floats rounded to decimal digits, as in the original (section E).
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

/// Returns the decoded size in bytes of a full chunk. Fails if it exceeds the maximum of a chunk.
pub(super) fn full_chunk(row: u64, chunklen: u64) -> Result<usize> {
    let bytes = row.checked_mul(chunklen).filter(|bytes| *bytes <= u64::from(raw::MAX_NBYTES));
    let most = Error::needing(Kind::Limit, What::BCOLZ_CHUNKLEN, 0, raw::MAX_NBYTES.into());
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(most)
}
