//! Shared by all row-by-row writers: cells of one width, after space for an NA mask.

use super::super::len::mask_bytes;
use super::super::out::MAX_LEN;
use crate::bytes::{low8, low32};
use crate::encoding::bitpack::Packing;
use crate::error::{Error, Kind, Result, What};

/// The layout of a growing chunk. A logger has a writer per column on its stack, so the fields are bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Number of bytes before the mask words, the header word included.
    pub front: u8,
    /// Whether there are mask words.
    pub masked: bool,
    /// Number of bits of a cell; 1 for booleans, which are stored in words of 64.
    pub bits: u8,
}

/// Number of bytes between mask words and cells: the length of the cells, or the header of the packed vector.
const MIDDLE: usize = 4;

impl Shape {
    /// Creates the layout of cells of `packing`.
    pub const fn new(front: u8, masked: bool, packing: Packing) -> Self {
        Shape { front, masked, bits: low8(packing.bits() as usize) }
    }

    const fn mask_bytes(self, rows: usize) -> usize {
        if self.masked { mask_bytes(rows) } else { 0 }
    }

    /// Returns the size in bytes of `rows` cells.
    pub const fn cell_bytes(self, rows: usize) -> usize {
        match self.bits {
            1 => mask_bytes(rows),
            2 => rows.div_ceil(4),
            4 => rows.div_ceil(2),
            bits => rows.saturating_mul((bits >> 3) as usize),
        }
    }

    /// Returns the size in bytes of a buffer for `rows` rows.
    pub const fn len(self, rows: usize) -> usize {
        let fixed = (self.front as usize).saturating_add(MIDDLE);
        fixed.saturating_add(self.mask_bytes(rows)).saturating_add(self.cell_bytes(rows))
    }

    /// Returns the number of rows that a buffer of `len` bytes can hold.
    const fn capacity(self, len: usize) -> usize {
        let bits = self.bits as usize;
        let room = len.saturating_sub(self.front as usize).saturating_sub(MIDDLE).saturating_mul(8);
        // 64 rows share a word of the mask.
        let mask = if self.masked { 64 } else { 0 };
        let group = bits.saturating_mul(64).saturating_add(mask);
        let (Some(groups), Some(rest)) = (room.checked_div(group), room.checked_rem(group)) else { return 0 };
        let single = if bits == 1 { None } else { rest.saturating_sub(mask).checked_div(bits) };
        let rows = groups.saturating_mul(64).saturating_add(match single {
            Some(rows) => rows,
            None => 0,
        });
        if rows < MAX_LEN { rows } else { MAX_LEN }
    }
}

/// Cells and mask bits in the caller's buffer, laid out for its capacity in rows.
#[derive(Debug)]
pub(super) struct Store<'b> {
    buffer: &'b mut [u8],
    shape: Shape,
    /// Position of the first cell.
    cells: usize,
    capacity: usize,
    rows: usize,
    nulls: bool,
}

impl<'b> Store<'b> {
    /// Creates an empty vector in `buffer`, which must have space for a row.
    pub const fn new(buffer: &'b mut [u8], shape: Shape) -> Result<Self> {
        let capacity = shape.capacity(buffer.len());
        if capacity == 0 {
            return Err(no_row(0, shape.len(1)));
        }
        let cells = (shape.front as usize).saturating_add(shape.mask_bytes(capacity)).saturating_add(MIDDLE);
        Ok(Store { buffer, shape, cells, capacity, rows: 0, nulls: false })
    }

    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of bytes before the mask words.
    pub const fn front(&self) -> usize {
        self.shape.front as usize
    }

    /// Returns whether there are mask words.
    pub const fn masked(&self) -> bool {
        self.shape.masked
    }

    /// Returns whether a row is missing.
    pub const fn nulls(&self) -> bool {
        self.nulls
    }

    /// Returns the number of further rows that fit.
    pub const fn room(&self) -> usize {
        self.capacity.saturating_sub(self.rows)
    }

    /// Returns the size in bytes of the cells so far.
    pub const fn cell_bytes(&self) -> usize {
        self.shape.cell_bytes(self.rows)
    }

    /// Returns the size in bytes of the mask words so far.
    pub const fn mask_bytes(&self) -> usize {
        self.shape.mask_bytes(self.rows)
    }

    /// Appends a row: its cell, truncated to the width, and its mask bit.
    pub fn push(&mut self, cell: u64, present: bool) -> Result<()> {
        let Shape { front, bits, masked } = self.shape;
        let (front, bits) = (usize::from(front), u32::from(bits));
        let (row, cells) = (self.rows, self.cells);
        // The only check of the capacity: all positions below are inside the buffer, and no sum exceeds its length.
        if row >= self.capacity {
            return Err(self.full());
        }
        if masked {
            set_bits(self.buffer, front, row, 1, u8::from(!present));
        } else if !present {
            return Err(self.no_mask());
        }
        if bits < 8 {
            set_bits(self.buffer, cells, row, bits, low8(low32(cell) as usize));
        } else {
            let size = (bits >> 3) as usize;
            let slot = cells.wrapping_add(row.wrapping_mul(size));
            let mut rest = cell;
            for byte in self.buffer.get_mut(slot..slot.wrapping_add(size)).unwrap_or_default() {
                *byte = low8(low32(rest) as usize);
                rest >>= 8;
            }
        }
        self.nulls |= !present;
        self.rows = row.wrapping_add(1);
        Ok(())
    }

    #[cold]
    fn no_mask(&self) -> Error {
        Error::new(Kind::Lossy, What::FILO_MASK, self.rows as u64)
    }

    #[cold]
    fn full(&self) -> Error {
        let need = self.shape.len(self.rows.saturating_add(1));
        Error::needing(Kind::NoRoom, What::DESTINATION, self.rows as u64, need as u64)
    }

    /// Finishes the layout: closes the gaps of unused rows, so that `front` bytes, the mask words of the pushed rows
    /// (none if `masked` is false) and the middle come before the cells. Returns the buffer; the caller fills front and
    /// middle.
    pub fn close(self, front: usize, masked: bool) -> &'b mut [u8] {
        let Store { buffer, shape, cells: from, rows, .. } = self;
        let words = if masked { shape.mask_bytes(rows) } else { 0 };
        let mask = usize::from(shape.front);
        zero(buffer, mask.saturating_add(rows.div_ceil(8)), mask.saturating_add(words));

        let to = front.saturating_add(words).saturating_add(MIDDLE);
        let len = shape.cell_bytes(rows);
        if shape.bits == 1 {
            zero(buffer, from.saturating_add(rows.div_ceil(8)), from.saturating_add(len));
        }
        move_down(buffer, from, to, len);
        buffer
    }
}

/// Creates the error for a buffer that cannot hold row `row` even if it is the only one; `need` bytes would do.
#[cold]
pub(super) const fn no_row(row: usize, need: usize) -> Error {
    Error::needing(Kind::Misuse, What::FILO_BUFFER, row as u64, need as u64)
}

/// Creates the error for a number that does not fit the width of the vector.
#[cold]
pub(super) const fn too_wide(what: What, value: i64, packing: Packing) -> Error {
    let signed = if packing.signed() { SIGNED } else { 0 };
    Error::needing(Kind::Lossy, what, value.cast_unsigned(), (packing.bits() | signed) as u64)
}

/// Marks a signed width in the error.
const SIGNED: u32 = 1 << 7;

/// Sets value `row` of the values of `bits` bits (1, 2 or 4) that start at byte `at`. The first value of a byte sets
/// the others to zero, because the buffer may have arbitrary contents.
pub(super) fn set_bits(buffer: &mut [u8], at: usize, row: usize, bits: u32, value: u8) {
    // A value has `1 << shift` bits, a byte `8 >> shift` values.
    let shift = bits >> 1;
    let place = row.wrapping_shl(shift) & 7;
    let Some(byte) = buffer.get_mut(at.wrapping_add(row.wrapping_shr(3u32.wrapping_sub(shift)))) else { return };
    let others = if place == 0 { 0 } else { *byte };
    let value = value & u8::MAX.wrapping_shr(8u32.wrapping_sub(bits));
    *byte = others | value << place;
}

fn zero(buffer: &mut [u8], from: usize, to: usize) {
    if let Some(part) = buffer.get_mut(from..to) {
        part.fill(0);
    }
}

/// Moves bytes to a lower position. A loop instead of `copy_within`, because `copy_within` can panic.
pub(super) fn move_down(buffer: &mut [u8], from: usize, to: usize, len: usize) {
    if from == to {
        return;
    }
    for i in 0..len {
        let Some(byte) = buffer.get(from.saturating_add(i)).copied() else { return };
        if let Some(place) = buffer.get_mut(to.saturating_add(i)) {
            *place = byte;
        }
    }
}

/// Implements the two counters of `Append` with the writer's store.
macro_rules! rows_and_room {
    ($($store:tt).+) => {
        fn rows(&self) -> usize {
            self.$($store).+.rows()
        }

        fn room(&self) -> usize {
            self.$($store).+.room()
        }
    };
}
pub(super) use rows_and_room;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_most_that_fits() {
        for bits in [1, 2, 4, 8, 16, 32, 64] {
            for masked in [false, true] {
                let shape = Shape { front: 8, masked, bits };
                for len in 0..700 {
                    let rows = shape.capacity(len);
                    assert!(rows == 0 || shape.len(rows) <= len, "{shape:?} {len}: {rows}");
                    assert!(shape.len(rows + 1) > len, "{shape:?} {len}: {rows}");
                }
            }
        }
    }
}
