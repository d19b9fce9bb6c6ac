//! The logger of four sensors in Rust, called by C: `log_sensors` of `log.h`.

use core::ffi::c_void;

use embedded_io::{ErrorKind, ErrorType, Write};
use logger::typed::{Buffers, log};
use pilaster::bytes::{Sink as _, WriteError};
use pilaster_c::error::{Failure, Report};
use pilaster_c::raw::{CSink, Out, Put};

/// A function of C as an output of the logger.
struct Output(CSink);

/// The number that the function returned.
#[derive(Debug)]
struct Failed(i32);

impl core::fmt::Display for Failed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the function has failed")
    }
}

impl core::error::Error for Failed {}

impl embedded_io::Error for Failed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl ErrorType for Output {
    type Error = Failed;
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Failed> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        self.0.put(bytes).map_err(Failed)
    }

    fn flush(&mut self) -> Result<(), Failed> {
        Ok(())
    }
}

/// Logs the readings of a number of milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn log_sensors(put: Option<Put>, context: Out<c_void>, millis: i64, error: Out<Report>) -> i32 {
    let run = || {
        let mut buffers = Buffers::NEW;
        match log(Output(CSink::new(put, context, 1)?), &mut buffers, millis) {
            Ok(_) => Ok(()),
            Err(WriteError::Format(e)) => Err(e.into()),
            Err(WriteError::Sink(Failed(code))) => Err(Failure::caller(code)),
        }
    };
    error.answer(run())
}
