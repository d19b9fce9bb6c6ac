//! Both shuffles agree with their rules on any bytes, and undo themselves, with the vectors of this processor and without.

use pilaster::Result;
use pilaster::unstable::codec::{bitshuffle, shuffle};

/// How much of the input is shuffled.
const MOST: usize = 4096;

type Filter = fn(usize, &[u8], &mut [u8]) -> Result<()>;

/// The first byte is the size of an item; the rest are the items.
pub fn run(data: &[u8]) {
    super::with_each_lanes(|| check(data));
}

fn check(data: &[u8]) {
    let Some((&size, bytes)) = data.split_first() else { return };
    let (size, bytes) = (usize::from(size), &bytes[..bytes.len().min(MOST)]);
    let items = bytes.len().checked_div(size).unwrap_or(0);
    let whole = items * size;

    let planes = &mut [0xee; MOST][..bytes.len()];
    both(size, bytes, planes, shuffle::shuffle, shuffle::unshuffle);
    assert!(planes[whole..] == bytes[whole..]);
    for (at, byte) in bytes[..whole].iter().enumerate() {
        assert_eq!(planes[at % size * items + at / size], *byte);
    }

    let rows = &mut [0xee; MOST][..bytes.len()];
    both(size, bytes, rows, bitshuffle::shuffle, bitshuffle::unshuffle);
    assert!(rows[whole..] == bytes[whole..]);
    if items % 8 != 0 {
        assert!(rows == bytes);
        return;
    }
    for (at, byte) in bytes[..whole].iter().enumerate() {
        let (item, place) = (at / size, at % size);
        for k in 0..8 {
            let row = &rows[(8 * place + k) * (items / 8)..];
            assert_eq!(row[item / 8] >> (item % 8) & 1, byte >> k & 1);
        }
    }
}

fn both(size: usize, bytes: &[u8], out: &mut [u8], there: Filter, back: Filter) {
    there(size, bytes, out).expect("room");
    let again = &mut [0x11; MOST][..bytes.len()];
    back(size, out, again).expect("room");
    assert!(again == bytes, "{size}");
    if let Some(less) = bytes.len().checked_sub(1) {
        assert!(there(size, bytes, &mut again[..less]).is_err() && back(size, bytes, &mut again[..less]).is_err());
    }
}
