//! A chunk of pco and one of its pages: two bytes say the type and where the metadata end. What memory held
//! before does not show, what was said is enough of it, and pages read in any pieces are the same. Its naive twin
//! is the original, which writes what the tests of the kernel read.

#[cfg(feature = "pco")]
use pilaster::bytes::Scratch;
#[cfg(feature = "pco")]
use pilaster::error::{Error, Kind};
#[cfg(feature = "pco")]
use pilaster::unstable::encoding::pco::{Chunk, Number, Page, Version};

/// Most numbers of a page.
#[cfg(feature = "pco")]
const MOST: usize = 255 * 9;

#[cfg(feature = "pco")]
pub fn run(data: &[u8]) {
    let Some((&[kind, len], rest)) = data.split_first_chunk() else { return };
    let size = 1usize << (kind & 3);
    let number = match kind >> 2 & 3 {
        0 => Number::unsigned(size),
        1 => Number::signed(size),
        _ => Number::float(size),
    };
    let (meta, page) = rest.split_at(rest.len().min(usize::from(len)));
    let version = Version::new(if kind & 0x80 == 0 { &[4, 1] } else { &[2] });
    let (Ok(number), Ok(version)) = (number, version) else { return };
    let Ok(chunk) = Chunk::new(version, meta, number) else { return };
    let count = u64::from(kind) * 9;
    let need = chunk.need(count) as usize;
    let (mut memory, mut first, mut second) = ([0u8; 1 << 17], [0; MOST], [0; MOST]);
    let Some(memory) = memory.get_mut(..need) else { return };
    let mut read = |fill: u8, out: &mut [u64]| -> Result<usize, Error> {
        memory.fill(fill);
        let mut s = Scratch::new(memory);
        let tables = chunk.tables(&mut s)?;
        let mut page = Page::new(&chunk, &tables, page, count, &mut s)?;
        let mut done = 0;
        loop {
            match page.next()? {
                [] => return Ok(done),
                batch => {
                    out[done..done + batch.len()].copy_from_slice(batch);
                    done += batch.len();
                }
            }
        }
    };
    let numbers = read(0, &mut first);
    assert_eq!(numbers, read(0xff, &mut second));
    match numbers {
        Ok(len) => {
            assert_eq!((len as u64, &first[..len]), (count, &second[..len]));
            assert!(first[..len].iter().all(|number| size == 8 || number >> (8 * size) == 0));
        }
        Err(e) => assert_ne!(e.kind(), Kind::NoRoom),
    }
}

/// Without the feature there is nothing to decode.
#[cfg(not(feature = "pco"))]
pub fn run(data: &[u8]) {
    let _ = data;
}
