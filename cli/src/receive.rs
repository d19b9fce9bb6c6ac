//! `receive`: a file that arrives in frames, from a serial line, a pipe or a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::args::Receive;
use crate::collected::Collected;
use crate::failure::Failure;
use crate::frames::Frames;
use crate::sources::Location;

/// The command: a line for each gap, and one about each file.
pub fn run(how: &Receive, out: &mut dyn Write) -> Result<(), Failure> {
    let input = |e: io::Error| Failure::Input(e.to_string()).of(&how.source);
    match &how.source {
        Location::Stdin => {
            let from = io::stdin();
            not_keys(&from).map_err(input)?;
            let _line = Line::prepare(&from, how.baud).map_err(input)?;
            collect(how, &mut from.lock(), out)
        }
        Location::Path(path) => {
            let from = opened(path).map_err(input)?;
            let _line = Line::prepare(&from, how.baud).map_err(input)?;
            collect(how, &mut &from, out)
        }
    }
}

/// Opens a file or a serial line. The line does not become the terminal of the session, whose end would end this program.
fn opened(path: &Path) -> io::Result<File> {
    let mut how = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut how, rustix::fs::OFlags::NOCTTY.bits().cast_signed());
    how.read(true).open(path)
}

/// Collects all files that arrive. What came is told, also if an error ends it.
fn collect(how: &Receive, from: &mut dyn Read, out: &mut dyn Write) -> Result<(), Failure> {
    let (mut frames, mut complete) = (Frames::default(), true);
    let mut collected = Collected::create(&how.target, how.force)?;
    let mut buffer = vec![0; 1 << 12];
    let done = loop {
        let read = match from.read(&mut buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read.or_else(hung_up).map_err(|e| Failure::Input(e.to_string()).of(&how.source)),
        };
        let bytes = match &read {
            Ok(read) => buffer.get(..*read).unwrap_or_default(),
            Err(_) => break read.map(|_| ()),
        };
        let ended = frames.add(bytes, |chunk| {
            if collected.begins_again(&chunk)? {
                complete &= collected.report(out)?;
                collected = Collected::create_next(&how.target)?;
            }
            collected.add(&chunk)
        });
        match ended {
            Ok(false) if !bytes.is_empty() => {}
            ended => break ended.map(|_| ()),
        }
    };
    frames.end();
    complete &= collected.report(out)?;
    if frames.damaged > 0 {
        writeln!(out, "{} damaged frames were left out", frames.damaged)?;
    }
    done?;
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

/// Refuses the terminal of the user, whose keys would no longer end the program.
#[cfg(unix)]
fn not_keys(line: &impl std::os::fd::AsFd) -> io::Result<()> {
    match rustix::termios::tcgetpgrp(line) {
        Ok(_) => Err(io::Error::other("this is the keyboard; give the path of a serial line")),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn not_keys<T>(_: &T) -> io::Result<()> {
    Ok(())
}

/// A line whose settings are as they were before when this is dropped.
#[cfg(unix)]
struct Line<'l>(Option<(std::os::fd::BorrowedFd<'l>, rustix::termios::Termios)>);

#[cfg(unix)]
impl<'l> Line<'l> {
    /// Sets a serial line so that all bytes pass as they are, at the speed that is given.
    fn prepare(line: &'l impl std::os::fd::AsFd, baud: Option<u32>) -> io::Result<Self> {
        use rustix::termios::{self, OptionalActions};

        let line = line.as_fd();
        if !termios::isatty(line) {
            return match baud {
                Some(_) => Err(io::Error::other("--baud is for serial lines, and this is none")),
                None => Ok(Line(None)),
            };
        }
        let before = termios::tcgetattr(line)?;
        let mut how = before.clone();
        how.make_raw();
        if let Some(baud) = baud {
            how.set_speed(baud)?;
        }
        termios::tcsetattr(line, OptionalActions::Now, &how)?;
        Ok(Line(Some((line, before))))
    }
}

#[cfg(unix)]
impl Drop for Line<'_> {
    fn drop(&mut self) {
        if let Some((line, before)) = &self.0 {
            // The device may be gone.
            let _ = rustix::termios::tcsetattr(line, rustix::termios::OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
struct Line;

#[cfg(not(unix))]
impl Line {
    fn prepare<T>(_: &T, baud: Option<u32>) -> io::Result<Self> {
        match baud {
            Some(_) => Err(io::Error::other("--baud is not supported on this system; set the line before")),
            None => Ok(Line),
        }
    }
}
