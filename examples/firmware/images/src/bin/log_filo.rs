//! Blocks of 256 samples as Filo vectors, in DataSeries records in `blocks.ds`; and radio frames of a vector
//! each, `time.filo`, `z.filo` and `temp.filo`.

#![no_std]
#![no_main]

use core::ffi::CStr;

use embedded_io::Write as _;
use images::{Failed, File, Lent};
use logger::vectors::{Buffers, FRAME_LEN, Frame, log, temp_frame, time_frame, z_frame};
use pilaster::bytes::{Sink as _, WriteError};
use pilaster::error::{Error, Kind};

static BUFFERS: Lent<Buffers> = Lent::new(Buffers::NEW);
/// How a frame is filled from a sample on.
type Fill = fn(i64, &mut Frame) -> Result<usize, Error>;

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), WriteError<Failed>> {
    let buffers = BUFFERS.take().ok_or(WriteError::Sink(Failed))?;
    log(File::create(c"blocks.ds").map_err(WriteError::Sink)?, buffers, 8)?;
    defmt::info!("8 blocks of {} samples", logger::vectors::SAMPLES);
    // The numbers of samples that the host will find.
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

/// That no more than the rest goes into the frame, and that this is told before.
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
