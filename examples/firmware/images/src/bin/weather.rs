//! Logs a sensor to `weather.vortex` on the host: the program of docs/firmware-vortex.md.

#![no_std]
#![no_main]

use images::{Failed, File, Lent};
use logger::sensors;
use pilaster::bytes::{EmbeddedIoSink, WriteError};
use pilaster::vortex::log::{Log, Policy, Record, group_words};
use pilaster::vortex::record;

record! {
    /// A row of the file.
    struct Weather {
        time: timestamp_ms "UTC",
        celsius: f64,
        humidity: i32 nullable,
    }
}

/// Number of rows of a row group, and maximum number of row groups of the file.
const ROWS: usize = 256;
const GROUPS: usize = 8;

static MEMORY: Lent<[u8; Weather::memory_len(ROWS, 0)]> = Lent::new([0; Weather::memory_len(ROWS, 0)]);
static WORDS: Lent<[u32; GROUPS * group_words(Weather::FIELDS.len())]> =
    Lent::new([0; GROUPS * group_words(Weather::FIELDS.len())]);

fn run() -> Result<(), WriteError<Failed>> {
    let (memory, words) = MEMORY.take().zip(WORDS.take()).ok_or(WriteError::Sink(Failed))?;
    let file = File::create(c"weather.vortex").map_err(WriteError::Sink)?;
    // After every second row group, the file is valid for every reader of Vortex.
    let mut log = Log::of::<Weather>(EmbeddedIoSink(file), (memory, ROWS), words, Policy::Every(2))?;
    for second in 0..900 {
        // A simulated sensor. On a board, this is its driver.
        let sensors::Air { time, temp, humidity } = sensors::air(1000 * second);
        log.push(&Weather { time, celsius: temp, humidity })?;
    }
    log.end()?;
    defmt::info!("{} bytes", log.at());
    Ok(())
}

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}
