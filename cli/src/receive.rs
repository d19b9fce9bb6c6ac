//! `receive`: a file that arrives in frames, from a serial line, a pipe or a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::args::Receive;
use crate::failure::Failure;
use crate::frames::{Chunk, Frames};
use crate::sources::Location;

/// The command: a line for each gap, and one about each file.
pub fn run(how: &Receive, out: &mut dyn Write) -> Result<(), Failure> {
    let input = |e: io::Error| Failure::Input(e.to_string()).of(&how.source);
    let mut from: Box<dyn Read> = match &how.source {
        Location::Stdin => {
            prepare(&io::stdin(), how.baud).map_err(input)?;
            Box::new(io::stdin().lock())
        }
        Location::Path(path) => {
            let file = File::open(path).map_err(input)?;
            prepare(&file, how.baud).map_err(input)?;
            Box::new(file)
        }
    };
    let mut frames = Frames::default();
    let mut collected = Collected::create(how.target.clone(), how.force)?;
    let (mut buffer, mut restarts, mut complete) = (vec![0; 1 << 12], 0u32, true);
    loop {
        let read = match from.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_or_else(|e| hung_up(e).map_err(input), Ok)?,
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        let ended = frames.add(bytes, |chunk| {
            if collected.begins_again(&chunk)? {
                complete &= collected.report(out)?;
                restarts = restarts.saturating_add(1);
                collected = Collected::create(numbered(&how.target, restarts), how.force)?;
            }
            collected.add(&chunk)
        })?;
        if ended || read == 0 {
            break;
        }
    }
    frames.end();
    complete &= collected.report(out)?;
    if frames.damaged > 0 {
        writeln!(out, "{} damaged frames were left out", frames.damaged)?;
    }
    match complete {
        true => Ok(()),
        false => Err(Failure::Input(format!("chunks are missing in {}", how.target.display()))),
    }
}

/// Returns 0 bytes, the end, if the device at the other end of a line is gone.
fn hung_up(e: io::Error) -> io::Result<usize> {
    /// The error of a line without a device.
    const EIO: i32 = 5;
    if e.raw_os_error() == Some(EIO) { Ok(0) } else { Err(e) }
}

/// Sets a serial line so that all bytes pass as they are, at the speed that is given.
#[cfg(unix)]
fn prepare(line: &impl std::os::fd::AsFd, baud: Option<u32>) -> io::Result<()> {
    use rustix::termios::{self, OptionalActions};
    if !termios::isatty(line) {
        return Ok(());
    }
    let mut how = termios::tcgetattr(line)?;
    how.make_raw();
    if let Some(baud) = baud {
        how.set_speed(baud)?;
    }
    Ok(termios::tcsetattr(line, OptionalActions::Now, &how)?)
}

#[cfg(not(unix))]
fn prepare<T>(_: &T, _: Option<u32>) -> io::Result<()> {
    Ok(())
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

/// A file of chunks.
struct Collected {
    path: PathBuf,
    file: File,
    /// The end of the last byte that came.
    end: u64,
    /// What is missing before it, in order.
    missing: Vec<Range<u64>>,
    chunks: u64,
    /// Number of chunks that had come before.
    repeated: u64,
    /// True after the chunk that ends the file.
    complete: bool,
}

impl Collected {
    fn create(path: PathBuf, force: bool) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(force).truncate(force).create_new(!force);
        let file = options.open(&path).map_err(|e| {
            let help = if e.kind() == io::ErrorKind::AlreadyExists { " (--force replaces it)" } else { "" };
            Failure::Input(format!("{}: {e}{help}", path.display()))
        })?;
        Ok(Collected { path, file, end: 0, missing: Vec::new(), chunks: 0, repeated: 0, complete: false })
    }

    /// Returns whether a chunk is of another file: of its start, or where other bytes came before.
    fn begins_again(&mut self, chunk: &Chunk) -> Result<bool, Failure> {
        let (at, len) = (self.place(chunk), chunk.bytes.len() as u64);
        let end = at.saturating_add(len);
        let is_missing = self.missing.iter().any(|range| range.start < end && at < range.end);
        if chunk.bytes.is_empty() || end > self.end || is_missing {
            return Ok(false);
        }
        if at == 0 && self.end > len {
            return Ok(true);
        }
        let mut before = vec![0; chunk.bytes.len()];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut before)?;
        Ok(before != chunk.bytes)
    }

    /// Returns the offset that is nearest to the end, as a chunk has its lower bits only.
    #[allow(clippy::cast_possible_truncation, reason = "the lower bits")]
    fn place(&self, chunk: &Chunk) -> u64 {
        let ahead = chunk.at.wrapping_sub(self.end as u32).cast_signed();
        self.end.checked_add_signed(ahead.into()).unwrap_or(chunk.at.into())
    }

    /// Writes a chunk to its place. Returns whether the file is complete.
    fn add(&mut self, chunk: &Chunk) -> Result<bool, Failure> {
        let (at, bytes) = (self.place(chunk), &chunk.bytes);
        let len = bytes.len() as u64;
        self.chunks = self.chunks.saturating_add(1);
        if at > self.end {
            self.missing.push(self.end..at);
        }
        self.complete = bytes.is_empty();
        if at < self.end && !self.fill(at..at.saturating_add(len)) {
            self.repeated = self.repeated.saturating_add(1);
            return Ok(self.complete);
        }
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        if at > self.end && bytes.is_empty() {
            self.file.set_len(at)?;
        }
        self.end = self.end.max(at.saturating_add(len));
        Ok(self.complete)
    }

    /// Removes a range from what is missing. Returns whether anything of it was.
    fn fill(&mut self, came: Range<u64>) -> bool {
        let before = self.missing.clone();
        self.missing = before
            .iter()
            .flat_map(|range| [range.start..range.end.min(came.start), range.start.max(came.end)..range.end])
            .filter(|range| !range.is_empty())
            .collect();
        self.missing != before
    }

    /// Prints what came, and what is missing. Returns whether the file is without gaps.
    fn report(&self, out: &mut dyn Write) -> Result<bool, Failure> {
        let path = self.path.display();
        let mut lost = 0u64;
        for range in &self.missing {
            let len = range.end.saturating_sub(range.start);
            writeln!(out, "missing: {len} bytes at {}", range.start)?;
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
