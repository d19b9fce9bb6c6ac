//! The operations of `Cells` on bytes: one loop for all widths, for targets where code size matters more than
//! speed.

/// Copies as many bytes as both have.
fn copy(to: &mut [u8], from: &[u8]) {
    for (to, byte) in to.iter_mut().zip(from) {
        *to = *byte;
    }
}

/// Returns cell `i` of `size` bytes.
fn cell(bytes: &[u8], size: usize, i: usize) -> Option<&[u8]> {
    bytes.get(i.checked_mul(size)?..)?.get(..size)
}

/// Copies cell `k` of `others` to cell `i`. Returns whether both exist.
fn put(cells: &mut [u8], i: usize, others: &[u8], k: usize, size: usize) -> bool {
    let to = i.checked_mul(size).and_then(|at| cells.get_mut(at..)?.get_mut(..size));
    match (to, cell(others, size, k)) {
        (Some(to), Some(from)) => copy(to, from),
        _ => return false,
    }
    true
}

/// Sets every cell to `value`.
pub(super) fn fill(cells: &mut [u8], value: &[u8]) {
    for cell in cells.chunks_exact_mut(value.len().max(1)) {
        copy(cell, value);
    }
}

pub(super) fn gather(cells: &mut [u8], values: &[u8], size: usize, codes: &[u32]) -> Option<usize> {
    let mut bad = None;
    for (i, code) in codes.iter().enumerate() {
        if !put(cells, i, values, *code as usize, size) {
            bad = bad.or(Some(i));
        }
    }
    bad
}

pub(super) fn scatter(cells: &mut [u8], values: &[u8], size: usize, places: &[u64]) -> Option<usize> {
    let mut bad = None;
    for (i, place) in places.iter().enumerate() {
        if !put(cells, crate::bytes::saturated(*place), values, i, size) {
            bad = bad.or(Some(i));
        }
    }
    bad
}

pub(super) fn spread(cells: &mut [u8], size: usize, valid: &[u8]) {
    let mut next = valid.iter().filter(|valid| **valid == 1).count();
    for (i, valid) in valid.iter().enumerate().rev() {
        let mut value = [0; 32];
        if *valid == 1 {
            next = next.saturating_sub(1);
            copy(&mut value, cell(cells, size, next).unwrap_or_default());
        }
        put(cells, i, &value, 0, size);
    }
}

pub(super) fn expand(cells: &mut [u8], values: &[u8], size: usize, ends: &[u64]) -> core::result::Result<(), usize> {
    let len = cells.len().checked_div(size).unwrap_or(0);
    let mut start = 0;
    for (k, end) in ends.iter().enumerate() {
        let end = usize::try_from(*end).unwrap_or(len).min(len);
        if end < start {
            return Err(k);
        }
        while start < end {
            if !put(cells, start, values, k, size) {
                return Err(k);
            }
            start = start.saturating_add(1);
        }
    }
    if start < len { Err(ends.len()) } else { Ok(()) }
}

/// Sets every cell of up to 8 bytes to the lowest bits of `next(cell)`.
pub(super) fn words(cells: &mut [u8], size: usize, next: &mut dyn FnMut(u64) -> u64) {
    let from = if cfg!(target_endian = "little") { 0 } else { 8usize.saturating_sub(size) };
    for cell in cells.chunks_exact_mut(size.max(1)).take_while(|_| size <= 8) {
        let mut word = [0; 8];
        copy(word.get_mut(from..).unwrap_or_default(), cell);
        word = next(u64::from_ne_bytes(word)).to_ne_bytes();
        copy(cell, word.get(from..).unwrap_or_default());
    }
}

/// Returns number `i` of the narrow numbers, `size` bytes each, at the end of `bytes`. Their count is the
/// number of items of `of` bytes in `bytes`.
pub(super) fn narrow(bytes: &[u8], of: usize, size: usize, i: usize) -> u64 {
    let count = bytes.len().checked_div(of).unwrap_or(0);
    let at = bytes.len().saturating_sub(count.saturating_sub(i).saturating_mul(size));
    let mut word = [0; 8];
    let from = if cfg!(target_endian = "little") { 0 } else { 8usize.saturating_sub(size) };
    for (to, byte) in word.iter_mut().skip(from).zip(bytes.iter().skip(at).take(size)) {
        *to = *byte;
    }
    u64::from_ne_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::cells::Cells;

    /// Compares both variants of an operation, which must have equal results.
    fn both<R: PartialEq + core::fmt::Debug>(wide: impl Fn(Cells<'_>) -> R, small: impl Fn(&mut [u8]) -> R) {
        let start = [7u32, 8, 9, 10, 11];
        let (mut a, mut b) = (start, start);
        assert_eq!(wide(Cells::W4(&mut a)), small(bytemuck::cast_slice_mut(&mut b)));
        assert_eq!(a, b);
    }

    #[test]
    fn every_step_like_that_of_hosts() {
        let mut numbers = [100u32, 101, 102];
        let bytes: [u8; 12] = bytemuck::cast(numbers);
        let mut values = Cells::W4(&mut numbers);
        for codes in [[0u32, 1, 2, 1, 0], [2, 2, 3, 1, 9]] {
            let values = values.again();
            both(|mut out| out.gather(&values, &codes), |out| gather(out, &bytes, 4, &codes));
        }
        for places in [[0u64, 4, 2], [1, 5, u64::MAX]] {
            let values = values.again();
            both(|mut out| out.scatter(&values, &places), |out| scatter(out, &bytes, 4, &places));
        }
        for ends in [[1u64, 3, 5], [1, 3, 4], [3, 2, 5], [0, 0, 99]] {
            let values = values.again();
            both(|mut out| out.expand(&values, &ends), |out| expand(out, &bytes, 4, &ends));
        }
        for valid in [[1u8, 0, 1, 0, 0], [0; 5], [1; 5], [0, 0, 0, 1, 1]] {
            both(|mut out| out.spread(&valid), |out| spread(out, 4, &valid));
        }
        both(|_| (), |out| fill(out, &[]));
        both(|mut out| out.words(|word| !word >> 1), |out| words(out, 4, &mut |word| !word >> 1));
        both(|_| (), |out| words(out, 10, &mut |_| 0));
    }

    #[test]
    fn narrow_numbers_at_the_end() {
        let mut bytes = [0u8; 24];
        bytes[20..22].copy_from_slice(&513u16.to_ne_bytes());
        assert_eq!([0, 1, 2].map(|i| narrow(&bytes, 8, 2, i)), [0, 513, 0]);
    }
}
