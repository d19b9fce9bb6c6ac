//! The serial line of the board as an output of a writer.

use nrf52840_hal::gpio::{Level, p0};
use nrf52840_hal::pac::{P0, UARTE0};
use nrf52840_hal::uarte::{Baudrate, Error, Parity, Pins, Uarte};
use pilaster::bytes::Sink;

/// A serial line.
pub struct Serial(Uarte<UARTE0>);

impl Serial {
    /// Opens the line on the pins 6 and 8, with 115,200 bits per second.
    pub fn new(line: UARTE0, port: P0) -> Self {
        let port = p0::Parts::new(port);
        let pins = Pins {
            txd: port.p0_06.into_push_pull_output(Level::High).degrade(),
            rxd: port.p0_08.into_floating_input().degrade(),
            cts: None,
            rts: None,
        };
        Serial(Uarte::new(line, pins, Parity::EXCLUDED, Baudrate::BAUD115200))
    }
}

impl Sink for Serial {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        // Its DMA reads RAM only.
        let mut ram = [0; 64];
        bytes.chunks(ram.len()).try_for_each(|from| {
            let to = ram.get_mut(..from.len()).unwrap_or_default();
            to.copy_from_slice(from);
            self.0.write(to)
        })
    }
}
