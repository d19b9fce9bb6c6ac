//! A file that is put together from chunks, which come in order, late, twice, or not at all.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::frames::Chunk;

/// The largest gap in a file of more than 4 GiB less this.
const GAP: u64 = 64 << 20;

/// A file of chunks.
pub struct Collected {
    path: PathBuf,
    file: File,
    /// The end of the last byte that came.
    end: u64,
    /// The ranges before it that are missing: their ends, by their starts.
    missing: BTreeMap<u64, u64>,
    /// The end of the chunk that came last.
    last: u64,
    chunks: u64,
    /// Number of chunks that had come before.
    repeated: u64,
    /// True after the chunk that ends the file.
    complete: bool,
}

impl Collected {
    /// Creates the file at a path. One that exists is replaced with `force` only.
    pub fn create(path: &Path, force: bool) -> Result<Self, Failure> {
        create(path, force).map_err(|e| {
            let help = if e.kind() == io::ErrorKind::AlreadyExists { " (--force replaces it)" } else { "" };
            Failure::Input(format!("{}: {e}{help}", path.display()))
        })
    }

    /// Creates the next file beside `path` after the device has begun again: `log.1.ds`, or the first number without a file.
    pub fn create_next(path: &Path) -> Result<Self, Failure> {
        for number in 1..u32::MAX {
            let next = numbered(path, number);
            match create(&next, false) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done.map_err(|e| Failure::Input(format!("{}: {e}", next.display()))),
            }
        }
        Err(Failure::Input(format!("{}: all numbers are taken", path.display())))
    }

    /// Returns whether a chunk is of another file: of its start, or where other bytes came before. The first chunk may come twice in a
    /// row. Later, it is the one of a device that has begun again, which often writes the same first bytes.
    pub fn begins_again(&mut self, chunk: &Chunk) -> Result<bool, Failure> {
        let (at, len) = (self.place(chunk), chunk.bytes.len() as u64);
        if chunk.bytes.is_empty() || at >= self.end {
            return Ok(false);
        }
        if at == 0 && self.last != len {
            return Ok(true);
        }
        let differs = self.differs(at, &chunk.bytes);
        differs.map_err(|e| self.failed(e))
    }

    /// Returns whether other bytes than these came before, in any part of their range.
    fn differs(&mut self, at: u64, bytes: &[u8]) -> io::Result<bool> {
        let known = self.end.saturating_sub(at).min(bytes.len() as u64);
        let mut before = vec![0; usize::try_from(known).unwrap_or(bytes.len())];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut before)?;
        let gaps = self.gaps(at..at.saturating_add(known));
        let mut start = at;
        for gap in gaps.into_iter().chain(iter::once(at.saturating_add(known)..u64::MAX)) {
            let part = index(start, at)..index(gap.start, at);
            if part.start < part.end && before.get(part.clone()) != bytes.get(part) {
                return Ok(true);
            }
            start = gap.end;
        }
        Ok(false)
    }

    /// Returns what is missing within a range.
    fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let first = self.missing.range(..range.start).next_back().map_or(range.start, |(start, _)| *start);
        let gaps = self.missing.range(first..range.end).map(|(start, end)| {
            let (start, end) = ((*start).max(range.start), (*end).min(range.end));
            start..end
        });
        gaps.filter(|gap| gap.start < gap.end).collect()
    }

    /// Returns the offset of a chunk, which has its lower bits only. It is before the end, if it can be: a line that loses more than
    /// [`GAP`] at once is less likely than a device that begins again.
    #[allow(clippy::cast_possible_truncation, reason = "the lower bits")]
    fn place(&self, chunk: &Chunk) -> u64 {
        let ahead = u64::from(chunk.at.wrapping_sub(self.end as u32));
        let after = self.end.saturating_add(ahead);
        let before = after.checked_sub(1 << 32).filter(|_| ahead > GAP);
        before.unwrap_or(after)
    }

    /// Writes a chunk to its place. Returns whether the file is complete.
    pub fn add(&mut self, chunk: &Chunk) -> Result<bool, Failure> {
        let (at, bytes) = (self.place(chunk), &chunk.bytes);
        let end = at.saturating_add(bytes.len() as u64);
        self.chunks = self.chunks.saturating_add(1);
        self.complete = bytes.is_empty();
        self.last = end;
        if at > self.end {
            self.missing.insert(self.end, at);
        }
        if end <= self.end && self.gaps(at..end).is_empty() {
            self.repeated = self.repeated.saturating_add(u64::from(!bytes.is_empty()));
            return Ok(self.complete);
        }
        self.fill(at..end);
        let written = self.write(at, bytes);
        written.map_err(|e| self.failed(e))?;
        self.end = self.end.max(end);
        Ok(self.complete)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        // The file ends after bytes that did not come.
        if bytes.is_empty() && at > self.end { self.file.set_len(at) } else { Ok(()) }
    }

    /// Removes a range from what is missing.
    fn fill(&mut self, came: Range<u64>) {
        for gap in self.gaps(came.clone()) {
            let (start, end) = match self.missing.range(..=gap.start).next_back() {
                Some((start, end)) => (*start, *end),
                None => continue,
            };
            self.missing.remove(&start);
            for (start, end) in [(start, gap.start), (gap.end, end)] {
                if start < end {
                    self.missing.insert(start, end);
                }
            }
        }
    }

    fn failed(&self, e: io::Error) -> Failure {
        Failure::Input(format!("{}: {e}", self.path.display()))
    }

    /// Prints what came, and what is missing. Returns whether the file is without gaps.
    pub fn report(&self, out: &mut dyn Write) -> Result<bool, Failure> {
        let path = self.path.display();
        let mut lost = 0u64;
        for (start, end) in &self.missing {
            let len = end.saturating_sub(*start);
            writeln!(out, "missing: {len} bytes at {start}")?;
            lost = lost.saturating_add(len);
        }
        let repeated = if self.repeated > 0 { format!(", {} of them repeated", self.repeated) } else { String::new() };
        let end = if self.complete { "" } else { "; its end did not come" };
        let lost = if lost > 0 { format!("; {lost} bytes are missing") } else { String::new() };
        writeln!(out, "{path}: {} bytes in {} chunks{repeated}{lost}{end}", self.end, self.chunks)?;
        out.flush()?;
        Ok(self.missing.is_empty())
    }
}

/// Returns the index of the byte at `place` in bytes from `at` on.
fn index(place: u64, at: u64) -> usize {
    usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX)
}

fn create(path: &Path, force: bool) -> io::Result<Collected> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(force).truncate(force).create_new(!force);
    let file = options.open(path)?;
    let missing = BTreeMap::new();
    Ok(Collected { path: path.to_owned(), file, end: 0, missing, last: 0, chunks: 0, repeated: 0, complete: false })
}

/// Returns the path of the file after the device has begun again so often.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(at: u32, len: usize) -> Chunk {
        Chunk { at, bytes: vec![7; len] }
    }

    /// A file whose last chunk came at this offset, so that only its end has bytes.
    fn file(at: u32) -> (tempfile::TempDir, Collected) {
        let dir = tempfile::tempdir().unwrap();
        let mut file = Collected::create(&dir.path().join("log.ds"), false).unwrap();
        assert!(!file.add(&chunk(at, 100)).unwrap());
        (dir, file)
    }

    #[test]
    fn chunks_have_the_lower_bits_of_their_offsets() {
        for at in [0, 100, 1 << 31, 0xa000_0000, u32::MAX - 200] {
            let (_dir, mut file) = file(at);
            assert_eq!((file.end, file.place(&chunk(at.wrapping_add(100), 9))), (u64::from(at) + 100, file.end));
            assert_eq!(file.place(&chunk(at + 50, 9)), u64::from(at) + 50);
            let again = file.begins_again(&chunk(0, 10)).unwrap();
            // Within 64 MiB of 4 GiB, the first chunk of a file may be one after a gap.
            assert_eq!(again, at < 0xff00_0000, "{at:x}");
        }
        let (_dir, mut file) = file(u32::MAX - 99);
        assert_eq!((file.end, file.place(&chunk(0, 10))), (1 << 32, 1 << 32));
        file.add(&chunk(0, 10)).unwrap();
        assert_eq!((file.end, file.place(&chunk(u32::MAX - 50, 9))), ((1 << 32) + 10, (1 << 32) - 51));
    }

    #[test]
    fn an_end_within_a_gap_divides_nothing() {
        let (_dir, mut file) = file(1000);
        assert!(file.add(&chunk(500, 0)).unwrap());
        let mut said = Vec::new();
        assert!(!file.report(&mut said).unwrap());
        assert!(said.starts_with(b"missing: 1000 bytes at 0\n"));
    }
}
