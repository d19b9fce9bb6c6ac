//! Standard output, and whether the process was started without it.

#![allow(
    unsafe_code,
    reason = "code before `main`: it makes one system call, and uses nothing of the standard library"
)]

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether descriptor 1 was closed when the process started. Before `main`, the standard library opens the null device
/// in its place, so that everything written would be lost without an error.
static CLOSED: AtomicBool = AtomicBool::new(false);

// Only code that runs before the standard library starts can see a closed descriptor.
#[cfg(unix)]
ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn look() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF);
        CLOSED.store(closed, Ordering::Relaxed);
    }
}

/// Returns standard output, locked; one that fails if it is closed.
pub fn open() -> Box<dyn Write> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Box::new(Closed),
        false => Box::new(io::stdout().lock()),
    }
}

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("it is closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
