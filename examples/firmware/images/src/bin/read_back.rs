//! Opens the files of the other images on the device, and compares every row with its sensor.

#![no_std]
#![no_main]

use embedded_io::Read as _;
use images::flash::{ERASE, Kept, RING};
use images::{Failed, File, Lent, kept};
use logger::vectors::FRAME_LEN;
use logger::{flash, read};
use nor::Nor;
use pilaster::bytes::WriteError;
use pilaster::filo::Element;

static BUFFERS: Lent<read::Buffers> = Lent::new(read::Buffers::NEW);
static FLASH: Lent<flash::Buffers> = Lent::new(flash::Buffers::NEW);

/// The errors of this image.
#[derive(defmt::Format)]
enum Wrong {
    File(WriteError<Failed>),
    Flash(WriteError<nor::Failed>),
    Vector(pilaster::Error),
    Host(Failed),
    /// The number of rows is wrong.
    Rows(u64),
    Memory,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    images::exit(run())
}

fn run() -> Result<(), Wrong> {
    let (buffers, memory) = BUFFERS.take().zip(FLASH.take()).ok_or(Wrong::Memory)?;
    for name in [c"log.ds", c"log_async.ds"] {
        let rows = read::typed(File::open(name).map_err(Wrong::Host)?, buffers).map_err(Wrong::File)?;
        expect(rows, 936)?;
    }
    let cells = read::blocks(File::open(c"blocks.ds").map_err(Wrong::Host)?, buffers).map_err(Wrong::File)?;
    expect(cells, 8 * 256 * 3)?;
    for (name, element, rows) in
        [(c"time.filo", Element::Long, 928), (c"z.filo", Element::Int, 122), (c"temp.filo", Element::Double, 122)]
    {
        let mut frame = [0; FRAME_LEN];
        let len = File::open(name).and_then(|mut file| file.read(&mut frame)).map_err(Wrong::Host)?;
        let chunk = frame.get(..len).unwrap_or_default();
        expect(read::vector(chunk, element, 0).map_err(Wrong::Vector)?, rows)?;
    }
    // SAFETY: the only call, and `Kept` consists of numbers only.
    let Kept { flash, wear, .. } = unsafe { kept::<Kept>() };
    File::open(c"flash.bin").and_then(|mut file| file.read(flash)).map_err(Wrong::Host)?;
    let found = flash::read_back(Nor::<4, ERASE>::new(flash, wear, None), RING, memory).map_err(Wrong::Flash)?;
    defmt::info!("readings {} to {} in the flash, {} extents", found.first, found.next, found.extents);
    if found.next <= found.first { Err(Wrong::Rows(0)) } else { Ok(()) }
}

fn expect(rows: u64, expected: u64) -> Result<(), Wrong> {
    if rows == expected { Ok(()) } else { Err(Wrong::Rows(rows)) }
}
