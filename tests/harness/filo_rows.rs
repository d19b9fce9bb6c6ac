//! Rows made of fuzz input, for the bodies that write. Everything lies in arrays: no heap.

use pilaster::bytes::Bits;
use pilaster::column::Validity;
use pilaster::filo::Packing;
use pilaster::filo::write::{Plain, Rows, Strings};
use pilaster::filo::{Element, Encoding};

use super::cell::Cell;

/// The most rows: a word of mask bits, and a few more.
pub const ROWS: usize = 70;

/// Length of a destination for any chunk of [`ROWS`] rows whose text is a fuzz input.
pub const CHUNK: usize = 16 << 10;

/// Fuzz input, taken from the front; zeros after its end.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    pub fn number(&mut self, len: usize) -> u64 {
        self.bytes(len).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        head
    }

    pub fn packing(&mut self) -> Packing {
        Packing::ALL[usize::from(self.byte()) % Packing::ALL.len()]
    }

    /// An encoding in some width, legal or not.
    pub fn encoding(&mut self) -> Encoding {
        let kind = self.byte();
        let width = self.byte();
        let packing = Packing::ALL[usize::from(width) % 9];
        match kind % 15 {
            0 => Encoding::Empty,
            1 => Encoding::Simple(packing),
            2 => Encoding::Const(packing),
            3 => Encoding::Diff(packing),
            4 => Encoding::DiffDateTime {
                millis: packing,
                zones: Packing::ALL.get(usize::from(width) / 9 % 10).copied(),
            },
            5 => Encoding::SimpleString,
            6 => Encoding::ConstString,
            7 => Encoding::DictString(packing),
            8 => Encoding::Packed(packing),
            9 => Encoding::Masked(packing),
            10 => Encoding::Repeated,
            11 => Encoding::DeltaDelta(packing),
            12 => Encoding::Utf8,
            13 => Encoding::FixedMaxUtf8,
            _ => Encoding::DictUtf8(packing),
        }
    }
}

/// Rows of one element type.
pub struct Owned<'a> {
    pub element: Element,
    pub len: usize,
    nulls: bool,
    valid: [u8; ROWS.div_ceil(8)],
    bits: [u8; ROWS.div_ceil(8)],
    ints: [i32; ROWS],
    longs: [i64; ROWS],
    floats: [f32; ROWS],
    doubles: [f64; ROWS],
    strings: [&'a [u8]; ROWS],
}

impl<'a> Owned<'a> {
    /// Numbers of a width on a line, or any bits; strings of a few lengths, repeated now and then.
    pub fn of(input: &mut Input<'a>) -> Owned<'a> {
        let mut owned = Owned {
            element: Element::ALL[usize::from(input.byte()) % Element::ALL.len()],
            len: usize::from(input.byte()) % (ROWS + 1),
            nulls: false,
            valid: [0xff; ROWS.div_ceil(8)],
            bits: [0; ROWS.div_ceil(8)],
            ints: [0; ROWS],
            longs: [0; ROWS],
            floats: [0.0; ROWS],
            doubles: [0.0; ROWS],
            strings: [&[]; ROWS],
        };
        let shape = input.byte();
        owned.nulls = shape & 1 != 0;
        let whole = shape & 2 != 0;
        let (base, slope) = match shape >> 2 & 3 {
            0 => (0, 0),
            1 => (input.number(2) as i64 - 0x8000, 0),
            2 => (input.number(8) as i64, 0),
            _ => (input.number(8) as i64, i64::from(input.number(4) as i32)),
        };
        let bytes = [0, 1, 1, 2, 4, 4, 8, 8][usize::from(shape >> 4 & 7)];
        let signed = shape & 0x80 != 0;
        for i in 0..owned.len {
            let seed = input.byte();
            // Some rows repeat an earlier one.
            if seed & 7 == 7 && i > 0 {
                owned.repeat(usize::from(seed >> 3) % i, i);
            } else {
                let raw = input.number(bytes);
                let shift = 64 - 8 * bytes as u32;
                let raw = if signed && bytes > 0 { (raw << shift) as i64 >> shift } else { raw as i64 };
                let long = base.wrapping_add(slope.wrapping_mul(i as i64)).wrapping_add(raw);
                owned.longs[i] = long;
                owned.ints[i] = long as i32;
                owned.doubles[i] = if whole { f64::from(long as i32) } else { f64::from_bits(long as u64) };
                owned.floats[i] = if whole { long as i16 as f32 } else { f32::from_bits(long as u32) };
                // Beyond the longest text of a packed word, and of a slot, only if there is input for it.
                let len = if seed & 0x7f == 0x7e { 2100 } else { usize::from(seed >> 3) };
                owned.strings[i] = if owned.is_text() { input.bytes(len) } else { &[] };
            }
            owned.bits[i / 8] |= (seed >> 4 & 1) << (i % 8);
            owned.valid[i / 8] &= !(u8::from(owned.nulls && seed & 0x20 != 0) << (i % 8));
        }
        if owned.element == Element::DateTime {
            // Quarters of an hour, from -32 h to 31 h 45 min.
            for (offset, seed) in owned.ints[..owned.len].iter_mut().zip(owned.longs) {
                *offset = i32::from(seed as i8) * 900_000;
            }
        }
        owned
    }

    fn repeat(&mut self, from: usize, to: usize) {
        self.longs[to] = self.longs[from];
        self.ints[to] = self.ints[from];
        self.doubles[to] = self.doubles[from];
        self.floats[to] = self.floats[from];
        self.strings[to] = self.strings[from];
    }

    fn is_text(&self) -> bool {
        matches!(self.element, Element::String | Element::Utf8 | Element::Blob)
    }

    /// The rows as the writers take them.
    pub fn rows(&self) -> Rows<'_> {
        let n = self.len;
        let strings = Strings::Slices(&self.strings[..n]);
        let values = match self.element {
            Element::Boolean => Plain::Boolean(Bits::new(&self.bits, 0, n).expect("enough bits")),
            Element::Int => Plain::Int(&self.ints[..n]),
            Element::Long => Plain::Long(&self.longs[..n]),
            Element::Float => Plain::Float(&self.floats[..n]),
            Element::Double => Plain::Double(&self.doubles[..n]),
            Element::Timestamp => Plain::Timestamp(&self.longs[..n]),
            Element::DateTime => Plain::DateTime { millis: &self.longs[..n], offsets: &self.ints[..n] },
            Element::String => Plain::String(strings),
            Element::Utf8 if self.is_utf8() => Plain::Utf8(strings),
            Element::Utf8 | Element::Blob => Plain::Blob(strings),
        };
        let validity = match self.nulls {
            true => Validity::Bits(Bits::new(&self.valid, 0, n).expect("enough bits")),
            false => Validity::All,
        };
        Rows { values, validity }
    }

    /// Row `i` of column `k`.
    pub fn cell(&self, i: usize, k: usize) -> Cell<'_> {
        if self.valid[i / 8] >> (i % 8) & 1 == 0 {
            return Cell::Missing;
        }
        match self.element {
            Element::Boolean => Cell::Bool(self.bits[i / 8] >> (i % 8) & 1 == 1),
            Element::Int => Cell::Int(self.ints[i].into()),
            Element::Long | Element::Timestamp => Cell::Int(self.longs[i].into()),
            Element::DateTime if k == 0 => Cell::Int(self.longs[i].into()),
            Element::DateTime => Cell::Int(self.ints[i].into()),
            Element::Float => Cell::F32(self.floats[i].to_bits()),
            Element::Double => Cell::F64(self.doubles[i].to_bits()),
            Element::String | Element::Utf8 | Element::Blob => Cell::Bytes(self.strings[i]),
        }
    }

    /// Whether the slope of the longs times the number of rows may reach 2^31.
    pub fn is_steep(&self) -> bool {
        let longs = &self.longs[..self.len];
        let rise = longs.first().zip(longs.last()).map_or(0, |(first, last)| i128::from(*last) - i128::from(*first));
        let slope = rise / (self.len as i128 - 1).max(1);
        (slope.abs() + 1) * self.len as i128 >= 1 << 31
    }

    /// Whether every string is text, as string vectors want them.
    pub fn is_utf8(&self) -> bool {
        self.strings[..self.len].iter().all(|bytes| core::str::from_utf8(bytes).is_ok())
    }

    /// Bytes of all strings.
    pub fn text_bytes(&self) -> usize {
        self.strings[..self.len].iter().map(|bytes| bytes.len()).sum()
    }
}
