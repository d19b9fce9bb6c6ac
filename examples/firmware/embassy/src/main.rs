//! The logger with embassy on an nRF52840: one task samples 25 times a second, another logs. While the serial line is
//! busy, the writer awaits it, and samples are taken. Rows that find the ring full are counted and logged.

#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_nrf::uarte::{Config, InterruptHandler, UarteTx};
use embassy_nrf::{bind_interrupts, peripherals};
use embassy_time::{Duration, Ticker};
use logger::interrupts::{Event, Lost, Sampler, Samples, TYPES};
use logger::sensors::{MOTION_EVERY, Motion, motion};
use pilaster::bytes::LittleEndian;
use pilaster::bytes::WriteError;
use pilaster::dataseries::write::{AsyncWriter, ExtentBuffer, Memory, Stored};
use static_cell::StaticCell;

bind_interrupts!(struct Interrupts {
    UARTE0 => InterruptHandler<peripherals::UARTE0>;
});

static SAMPLES: StaticCell<Samples<Motion, 64>> = StaticCell::new();

/// Takes a sample every 40 milliseconds.
#[embassy_executor::task]
async fn sample(mut to: Sampler<'static, Motion>) {
    let mut ticker = Ticker::every(Duration::from_millis(MOTION_EVERY as u64));
    let mut time = 0;
    loop {
        to.push(motion(time));
        time += MOTION_EVERY;
        ticker.next().await;
    }
}

/// Logs what waits in the ring, every second.
async fn log(
    line: UarteTx<'static>,
    mut from: impl Iterator<Item = Event<Motion>>,
) -> Result<(), WriteError<embassy_nrf::uarte::Error>> {
    let (mut window, mut rows, mut some) = ([0; 64], [0; 1024], [0; 96]);
    // A file that is never finished needs no slots of an index.
    let mut file = AsyncWriter::<LittleEndian, _, _>::with(line, TYPES, &mut [], Stored, &mut window);
    let mut motions = ExtentBuffer::of::<Motion>(Memory::rows(&mut rows))?;
    let mut gaps = ExtentBuffer::of::<Lost>(Memory::rows(&mut some))?;
    let (mut ticker, mut time) = (Ticker::every(Duration::from_secs(1)), 0);
    loop {
        for event in from.by_ref() {
            match event {
                Event::Row(row) => {
                    time = row.time;
                    file.push(&mut motions, &row).await?;
                }
                Event::Lost(lost) => file.push(&mut gaps, &Lost { time, rows: lost.cast_signed() }).await?,
            }
        }
        ticker.next().await;
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let board = embassy_nrf::init(embassy_nrf::config::Config::default());
    let (sampler, drain) = SAMPLES.init(Samples::new()).split();
    let Ok(task) = sample(sampler) else { cortex_m::peripheral::SCB::sys_reset() };
    spawner.spawn(task);
    let line = UarteTx::new(board.UARTE0, Interrupts, board.P0_06, Config::default());
    // The line has failed.
    let Err(_) = log(line, drain).await else { return };
    cortex_m::peripheral::SCB::sys_reset()
}

/// Required because the drivers have assertions.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
