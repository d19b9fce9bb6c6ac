//! Changes of the bytes of a file that was valid.

use arbitrary::Arbitrary;

/// One change: where, and what.
#[derive(Arbitrary, Clone, Debug)]
pub struct Bend {
    pub at: Place,
    pub how: How,
}

/// An offset. Any number is one: offsets after the end are taken modulo the length.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Place {
    /// Bytes after one of the places where a structure starts.
    Mark {
        mark: u8,
        after: u8,
    },
    /// Bytes before the end.
    End(u8),
    Any(u16),
}

#[derive(Arbitrary, Clone, Debug)]
pub enum How {
    Set(u8),
    Flip(u8),
    /// A number of 1, 2, 4 or 8 bytes becomes another.
    Number {
        width: u8,
        big: bool,
        becomes: Becomes,
    },
    Insert {
        bytes: [u8; 4],
        len: u8,
    },
    Delete(u8),
    /// Bytes from elsewhere replace those here, or change places with them.
    Copy {
        from: Place,
        len: u8,
    },
    Swap {
        with: Place,
        len: u8,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Becomes {
    /// A number a little larger or smaller.
    Near(i8),
    Small(u8),
    /// A number of few bits at an edge: the largest, the smallest, and those beside.
    Edge {
        bit: u8,
        add: i8,
    },
    Any(u64),
}

impl Becomes {
    /// The number that `old` becomes.
    pub fn of(self, old: u64) -> u64 {
        match self {
            Becomes::Near(add) => old.wrapping_add_signed(add.into()),
            Becomes::Small(n) => n.into(),
            Becomes::Edge { bit, add } => (1u64 << (bit % 64)).wrapping_add_signed((add % 3).into()),
            Becomes::Any(n) => n,
        }
    }
}

impl Place {
    fn of(self, len: usize, marks: &[usize]) -> usize {
        let at = match self {
            Place::Mark { mark, after } if !marks.is_empty() => {
                marks[usize::from(mark) % marks.len()] + usize::from(after % 48)
            }
            Place::Mark { after: n, .. } => n.into(),
            Place::End(n) => len - 1 - usize::from(n) % len,
            Place::Any(n) => n.into(),
        };
        at % len
    }
}

/// Changes `bytes`, whose structures start at `marks`. Nothing happens to no bytes.
pub fn bend(bytes: &mut Vec<u8>, bends: &[Bend], marks: &[usize]) {
    for Bend { at, how } in bends {
        let len = bytes.len();
        if len == 0 {
            return;
        }
        let at = at.of(len, marks);
        let short = |n: &u8| usize::from(n % 16) + 1;
        match how {
            How::Set(byte) => bytes[at] = *byte,
            How::Flip(mask) => bytes[at] ^= (*mask).max(1),
            How::Number { width, big, becomes } => number(&mut bytes[at..], *width, *big, *becomes),
            How::Insert { bytes: new, len } => {
                let new = new.iter().copied().cycle().take(short(len));
                bytes.splice(at..at, new).for_each(drop);
            }
            How::Delete(n) => bytes.drain(at..len.min(at + short(n))).for_each(drop),
            How::Copy { from, len: n } => {
                let from = from.of(len, marks);
                let n = short(n).min(len - at.max(from));
                bytes.copy_within(from..from + n, at);
            }
            How::Swap { with, len: n } => {
                let with = with.of(len, marks);
                (0..short(n).min(len - at.max(with))).for_each(|i| bytes.swap(at + i, with + i));
            }
        }
    }
}

/// Changes the number at the front of `bytes`, if they are long enough.
fn number(bytes: &mut [u8], width: u8, big: bool, becomes: Becomes) {
    let width = 1 << (width % 4);
    let Some(bytes) = bytes.get_mut(..width) else { return };
    if big {
        bytes.reverse();
    }
    let old = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    bytes.copy_from_slice(&becomes.of(old).to_le_bytes()[..width]);
    if big {
        bytes.reverse();
    }
}
