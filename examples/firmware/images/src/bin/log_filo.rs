//! Writes blocks of 256 samples as Filo vectors in DataSeries records to `blocks.ds`, and radio frames of one vector
//! each to `time.filo`, `z.filo` and `temp.filo`.

#![no_std]
#![no_main]

use core::ffi::CStr;

use embedded_io::Write as _;
use images::{Failed, File, Lent};
use logger::vectors::{Buffers, FRAME_LEN, Frame, log, temp_frame, time_frame, z_frame};
use pilaster::bytes::{Sink as _, WriteError};
use pilaster::error::{Error, Kind};

static BUFFERS: Lent<Buffers> = Lent::new(Buffers::NEW);
/// Fills a frame with samples starting at the given one.
type Fill = fn(i64, &mut Frame) -> Result<usize, Error>;

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), WriteError<Failed>> {
    let buffers = BUFFERS.take().ok_or(WriteError::Sink(Failed))?;
    log(File::create(c"blocks.ds").map_err(WriteError::Sink)?, buffers, 8)?;
    defmt::info!("8 blocks of {} samples", logger::vectors::SAMPLES);
    // With the numbers of samples that `.ci/firmware` expects.
    const FRAMES: [(&CStr, Fill, usize); 3] =
        [(c"time.filo", time_frame, 928), (c"z.filo", z_frame, 122), (c"temp.filo", temp_frame, 122)];
    for (name, fill, expected) in FRAMES {
        let mut frame = Frame::new();
        let rows = fill(0, &mut frame)?;
        defmt::info!("a frame of {} bytes holds {} samples", frame.len(), rows);
        if rows != expected || !is_full(&mut frame) {
            return Err(WriteError::Sink(Failed));
        }
        File::create(name).and_then(|mut file| file.write_all(&frame)).map_err(WriteError::Sink)?;
    }
    Ok(())
}

/// Returns whether the frame refuses bytes that do not fit, with the required size, and stays as it is.
fn is_full(frame: &mut Frame) -> bool {
    let (len, more) = (frame.len(), [0; FRAME_LEN]);
    match frame.put(&more) {
        Err(e) => {
            defmt::info!("as it should: {}", e);
            e.kind() == Kind::NoRoom && e.need() as usize == len + FRAME_LEN && frame.len() == len
        }
        Ok(()) => false,
    }
}
