//! Files of the host, and the end.

use core::ffi::CStr;

use embedded_io::{Error, ErrorKind, ErrorType, Write};
use semihosting::fd::{BorrowedFd, RawFd};
use semihosting::process;
use semihosting::sys::arm_compat::{OpenMode, sys_open, sys_write_orig};

/// A file in the directory in which QEMU runs.
pub struct File(RawFd);

/// The host has refused.
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
    /// A new, empty file.
    ///
    /// # Errors
    /// If the host refuses.
    pub fn create(name: &CStr) -> Result<Self, Failed> {
        sys_open(name, OpenMode::WRONLY_TRUNC_BINARY).map(|file| File(file.into_raw_fd())).map_err(|_| Failed)
    }
}

impl File {
    fn some<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        // The library asserts that; seen to here, no assertion is left.
        if self.0 == -1 {
            return None;
        }
        // SAFETY: opened here, and never closed.
        write(unsafe { BorrowedFd::borrow_raw(self.0) }, bytes)
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

    /// As the trait has it, but without its panics.
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Failed> {
        while !bytes.is_empty() {
            bytes = self.some(bytes).ok_or(Failed)?;
        }
        Ok(())
    }
}

/// Writes some of `bytes`, at least one; gives back the rest. The safe calls of `semihosting` assert what
/// the host answers, and could panic.
pub(crate) fn write<'b>(to: BorrowedFd<'_>, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let left = sys_write_orig(to, bytes).ok()?;
    let done = bytes.len().checked_sub(left).filter(|done| *done > 0)?;
    bytes.get(done..)
}

/// Ends QEMU: 0 if all was well.
pub fn exit<E: defmt::Format>(done: Result<(), E>) -> ! {
    match done {
        Ok(()) => process::exit(0),
        Err(e) => {
            defmt::error!("{}", e);
            process::exit(1)
        }
    }
}
