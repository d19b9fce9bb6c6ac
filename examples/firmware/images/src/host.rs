//! Files of the host, and the end of QEMU.

use core::ffi::CStr;

use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadExactError, Write};
use semihosting::fd::{BorrowedFd, RawFd};
use semihosting::process;
use semihosting::sys::arm_compat::{OpenMode, sys_open, sys_read_orig, sys_write_orig};

/// A file in the directory in which QEMU runs.
pub struct File(RawFd);

/// The host has refused an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub struct Failed;

impl core::fmt::Display for Failed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the host has refused")
    }
}

impl core::error::Error for Failed {}

impl Error for Failed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl File {
    /// Creates an empty file.
    ///
    /// # Errors
    /// If the host refuses.
    pub fn create(name: &CStr) -> Result<Self, Failed> {
        File::of(name, OpenMode::WRONLY_TRUNC_BINARY)
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// If the host refuses.
    pub fn open(name: &CStr) -> Result<Self, Failed> {
        File::of(name, OpenMode::RDONLY_BINARY)
    }

    fn of(name: &CStr, mode: OpenMode) -> Result<Self, Failed> {
        sys_open(name, mode).map(|file| File(file.into_raw_fd())).map_err(|_| Failed)
    }

    /// Returns the descriptor, or `None` if it is -1. `borrow_raw` asserts that it is not; after this check the
    /// assertion is optimised away. The file is closed only when QEMU ends.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: opened by `of`, and never closed.
        (self.0 != -1).then(|| unsafe { BorrowedFd::borrow_raw(self.0) })
    }

    fn some<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        write(self.fd()?, bytes)
    }
}

impl ErrorType for File {
    type Error = Failed;
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Failed> {
        let rest = self.some(bytes).ok_or(Failed)?;
        Ok(bytes.len().wrapping_sub(rest.len()))
    }

    fn flush(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    /// Like the method of the trait, but without its panics.
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Failed> {
        while !bytes.is_empty() {
            bytes = self.some(bytes).ok_or(Failed)?;
        }
        Ok(())
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Failed> {
        let left = sys_read_orig(self.fd().ok_or(Failed)?, bytes).map_err(|_| Failed)?;
        bytes.len().checked_sub(left).ok_or(Failed)
    }

    /// Like the method of the trait, but without its panic.
    fn read_exact(&mut self, mut bytes: &mut [u8]) -> Result<(), ReadExactError<Failed>> {
        while !bytes.is_empty() {
            let len = self.read(bytes).map_err(ReadExactError::Other)?;
            bytes = bytes.get_mut(len..).filter(|_| len > 0).ok_or(ReadExactError::UnexpectedEof)?;
        }
        Ok(())
    }
}

/// Writes some of `bytes`, at least one, and returns the rest; `None` if the host refuses. The safe functions of
/// `semihosting` assert conditions of the host's answer, and could panic.
pub(crate) fn write<'b>(to: BorrowedFd<'_>, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let left = sys_write_orig(to, bytes).ok()?;
    let done = bytes.len().checked_sub(left).filter(|done| *done > 0)?;
    bytes.get(done..)
}

/// Ends QEMU with status 0 for `Ok`, else logs the error and ends with status 1.
pub fn exit<E: defmt::Format>(done: Result<(), E>) -> ! {
    match done {
        Ok(()) => process::exit(0),
        Err(e) => {
            defmt::error!("{}", e);
            process::exit(1)
        }
    }
}
