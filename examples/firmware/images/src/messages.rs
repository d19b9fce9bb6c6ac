//! defmt over semihosting's standard output; `decode` reads it.
//!
//! The crate `defmt-semihosting` does the same, but has a panic for messages that overlap. They cannot overlap here,
//! with one thread and no interrupts.

use core::cell::UnsafeCell;

use semihosting::fd::AsFd as _;
use semihosting::io;

use crate::host::write;

#[defmt::global_logger]
struct Messages;

struct Encoder(UnsafeCell<defmt::Encoder>);
// SAFETY: one thread.
unsafe impl Sync for Encoder {}

static ENCODER: Encoder = Encoder(UnsafeCell::new(defmt::Encoder::new()));

/// Writes `bytes`. Errors are ignored, because they cannot be reported anywhere.
fn put(mut bytes: &[u8]) {
    let Ok(out) = io::stdout() else { return };
    while !bytes.is_empty() {
        let Some(rest) = write(out.as_fd(), bytes) else { return };
        bytes = rest;
    }
}

fn with(encode: impl FnOnce(&mut defmt::Encoder)) {
    // SAFETY: one thread, and no message begins before the previous one ends.
    encode(unsafe { &mut *ENCODER.0.get() });
}

// SAFETY: as above.
unsafe impl defmt::Logger for Messages {
    fn acquire() {
        with(|encoder| encoder.start_frame(put));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        with(|encoder| encoder.end_frame(put));
    }

    unsafe fn write(bytes: &[u8]) {
        with(|encoder| encoder.write(bytes, put));
    }
}
