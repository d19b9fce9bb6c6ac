//! Byte shuffle: sorts the bytes of all items by their position in the item (Blosc 1, section C.5).
//!
//! The first bytes of all items come first, then all second bytes, and so on, so that bytes that change
//! slowly are adjacent. Bytes after the last whole item stay as they are, at the end.
//!
//! ```
//! use pilaster::unstable::codec::shuffle;
//!
//! let items = [1, 0, 2, 0, 3, 0, 99];
//! let mut planes = [0; 7];
//! shuffle::shuffle(2, &items, &mut planes)?;
//! assert_eq!(planes, [1, 2, 3, 0, 0, 0, 99]);
//!
//! let mut back = [0; 7];
//! shuffle::unshuffle(2, &planes, &mut back)?;
//! assert_eq!(back, items);
//! # Ok::<(), pilaster::Error>(())
//! ```

// Items of 4 shuffle at 0.26 of the speed without the inline attributes of this file (bench `codec`).

use super::lz::no_room;
use crate::bytes::FAST;
use crate::error::Result;

/// Number of items per step of a fast loop: few enough to stay in registers and small arrays, and many enough
/// for the compiler to vectorise the loop.
pub(super) const TILE: usize = 64;

/// Sorts the bytes of items of `size` bytes by their position in the item. Sizes 0 and 1 copy.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `dst` is shorter than `src`. Bytes of `dst` after the
/// length of `src` stay as they are.
pub fn shuffle(size: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let dst = room(src, dst)?;
    let items = whole(size, src, dst);
    let done = match size {
        2 if FAST => halve(src, dst, items),
        4 if FAST => deal_by::<4>(src, dst, items),
        8 if FAST => deal_by::<8>(src, dst, items),
        16 if FAST => deal_by::<16>(src, dst, items),
        _ => 0,
    };
    for (place, plane) in dst.chunks_exact_mut(items.max(1)).take(size).enumerate() {
        let bytes = src.get(done.wrapping_mul(size).wrapping_add(place)..).unwrap_or_default().iter().step_by(size);
        for (to, from) in plane.iter_mut().skip(done).zip(bytes) {
            *to = *from;
        }
    }
    Ok(())
}

/// Reverses [`shuffle`].
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `dst` is shorter than `src`. Bytes of `dst` after the
/// length of `src` stay as they are.
pub fn unshuffle(size: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let dst = room(src, dst)?;
    let items = whole(size, src, dst);
    place(size, src.chunks_exact(items.max(1)).take(size), dst);
    Ok(())
}

/// [`unshuffle`] for planes in separate slices; `dst` has the total length.
#[cfg(feature = "bcolz")]
pub(crate) fn unshuffle_planes(planes: &[&[u8]], dst: &mut [u8]) {
    place(planes.len(), planes.iter().copied(), dst);
}

/// Writes each byte of `size` planes to its item.
#[inline(always)]
fn place<'p>(size: usize, planes: impl Iterator<Item = &'p [u8]> + Clone, dst: &mut [u8]) {
    let done = match size {
        2 if FAST => unshuffle_by::<2>(first(planes.clone()), dst),
        4 if FAST => unshuffle_by::<4>(first(planes.clone()), dst),
        8 if FAST => unshuffle_by::<8>(first(planes.clone()), dst),
        16 if FAST => unshuffle_by::<16>(first(planes.clone()), dst),
        _ => 0,
    };
    for (place, plane) in planes.enumerate() {
        let items = dst.get_mut(done.wrapping_mul(size)..).unwrap_or_default().chunks_exact_mut(size.max(1));
        for (item, from) in items.zip(plane.get(done..).unwrap_or_default()) {
            if let Some(to) = item.get_mut(place) {
                *to = *from;
            }
        }
    }
}

/// Returns the first `S` planes.
#[inline(always)]
fn first<'p, const S: usize>(planes: impl Iterator<Item = &'p [u8]>) -> [&'p [u8]; S] {
    let mut all = [&[][..]; S];
    for (one, plane) in all.iter_mut().zip(planes) {
        *one = plane;
    }
    all
}

/// Returns the first bytes of `dst`, with the length of `src`.
pub(super) fn room<'d>(src: &[u8], dst: &'d mut [u8]) -> Result<&'d mut [u8]> {
    dst.get_mut(..src.len()).ok_or_else(|| no_room(src.len(), 0))
}

/// Copies the bytes after the last whole item (all bytes if `size` is below 2). Returns the number of items
/// to shuffle.
fn whole(size: usize, src: &[u8], dst: &mut [u8]) -> usize {
    let items = if size < 2 { 0 } else { src.len().checked_div(size).unwrap_or(0) };
    let rest = items.wrapping_mul(size);
    copy_rest(src, dst, rest);
    items
}

/// Copies the bytes after the first `from` bytes; both slices have equal lengths.
pub(super) fn copy_rest(src: &[u8], dst: &mut [u8], from: usize) {
    let (Some(to), Some(from)) = (dst.get_mut(from..), src.get(from..)) else { return };
    if to.len() == from.len() {
        to.copy_from_slice(from);
    }
}

/// Unshuffles the items in whole tiles. Returns the number of items processed.
#[inline(never)]
fn unshuffle_by<const S: usize>(mut planes: [&[u8]; S], dst: &mut [u8]) -> usize {
    let mut done = 0usize;
    for out in dst.chunks_exact_mut(TILE.wrapping_mul(S)) {
        let mut tile = [&[0; TILE]; S];
        for (tile, plane) in tile.iter_mut().zip(&mut planes) {
            let Some((head, rest)) = plane.split_first_chunk() else { return done };
            (*tile, *plane) = (head, rest);
        }
        join(tile, out);
        done = done.wrapping_add(TILE);
    }
    done
}

/// Joins one tile of items from their planes, in steps: pairs of bytes, pairs of pairs. Each step is a loop
/// with two instructions per vector.
#[inline(always)]
pub(super) fn join<const S: usize>(planes: [&[u8; TILE]; S], out: &mut [u8]) {
    match &planes[..] {
        [a, b] => {
            for (out, v) in out.chunks_exact_mut(2).zip(join16(a, b)) {
                out.copy_from_slice(&v.to_le_bytes());
            }
        }
        [a, b, c, d] => {
            for (out, v) in out.chunks_exact_mut(4).zip(join32([a, b, c, d])) {
                out.copy_from_slice(&v.to_le_bytes());
            }
        }
        [a, b, c, d, e, f, g, h] => {
            for (out, v) in out.chunks_exact_mut(8).zip(join64([a, b, c, d, e, f, g, h])) {
                out.copy_from_slice(&v.to_le_bytes());
            }
        }
        [a, b, c, d, e, f, g, h, more @ ..] => {
            let &[i, j, k, l, m, n, o, p] = more else { return };
            let low = join64([a, b, c, d, e, f, g, h]);
            let high = join64([i, j, k, l, m, n, o, p]);
            for (out, (low, high)) in out.chunks_exact_mut(16).zip(low.iter().zip(&high)) {
                if let Some((to_low, to_high)) = out.split_at_mut_checked(8) {
                    to_low.copy_from_slice(&low.to_le_bytes());
                    to_high.copy_from_slice(&high.to_le_bytes());
                }
            }
        }
        _ => {}
    }
}

#[inline(always)]
fn join16(low: &[u8; TILE], high: &[u8; TILE]) -> [u16; TILE] {
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
        *out = u16::from(*low) | u16::from(*high) << 8;
    }
    out
}

#[inline(always)]
fn join32([a, b, c, d]: [&[u8; TILE]; 4]) -> [u32; TILE] {
    let (low, high) = (join16(a, b), join16(c, d));
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(&high)) {
        *out = u32::from(*low) | u32::from(*high) << 16;
    }
    out
}

#[inline(always)]
fn join64([a, b, c, d, e, f, g, h]: [&[u8; TILE]; 8]) -> [u64; TILE] {
    let (low, high) = (join32([a, b, c, d]), join32([e, f, g, h]));
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(&high)) {
        *out = u64::from(*low) | u64::from(*high) << 32;
    }
    out
}

/// Shuffles the items in whole blocks of [`DECK`] bytes. Returns the number of items processed.
#[inline(never)]
fn deal_by<const S: usize>(src: &[u8], dst: &mut [u8], items: usize) -> usize {
    let mut done = 0usize;
    for deck in src.as_chunks::<DECK>().0 {
        let planes = deal::<S>(*deck);
        let each = const { DECK / S };
        let mut rest = &planes[..];
        for plane in dst.chunks_exact_mut(items.max(1)).take(S) {
            let Some(to) = plane.get_mut(done..).and_then(|plane| plane.get_mut(..each)) else { return done };
            let Some((bytes, after)) = rest.split_at_checked(each) else { return done };
            to.copy_from_slice(bytes);
            rest = after;
        }
        done = done.wrapping_add(each);
    }
    done
}

/// Number of bytes that are shuffled at once.
pub(super) const DECK: usize = 2 * TILE;

/// Returns the planes of a deck of items, by perfect shuffles.
///
/// Each shuffle moves byte `k` to `2 * k` modulo `DECK - 1`. The shuffles that double 1 to the number of items
/// together move byte `item * S + place` to `place * items + item`.
#[inline(always)]
pub(super) fn deal<const S: usize>(mut deck: [u8; DECK]) -> [u8; DECK] {
    let mut items = const { DECK / S };
    while items > 1 {
        let halves: [[u8; TILE]; 2] = bytemuck::cast(deck);
        let mut pairs = [0u16; TILE];
        for (pair, (a, b)) in pairs.iter_mut().zip(halves[0].iter().zip(&halves[1])) {
            *pair = u16::from_ne_bytes([*a, *b]);
        }
        deck = bytemuck::cast(pairs);
        items /= 2;
    }
    deck
}

/// [`deal_by`] for items of two bytes. The compiler vectorises this form better.
#[inline(never)]
#[allow(clippy::cast_possible_truncation, reason = "the two halves")]
fn halve(src: &[u8], dst: &mut [u8], items: usize) -> usize {
    let Some((low, high)) = dst.split_at_mut_checked(items) else { return 0 };
    let mut done = 0usize;
    let planes = low.as_chunks_mut::<TILE>().0.iter_mut().zip(high.as_chunks_mut::<TILE>().0);
    for (deck, (low, high)) in src.as_chunks::<DECK>().0.iter().zip(planes) {
        let mut pairs = [0; TILE];
        for (pair, item) in pairs.iter_mut().zip(deck.as_chunks::<2>().0) {
            *pair = u16::from_le_bytes(*item);
        }
        for (low, pair) in low.iter_mut().zip(&pairs) {
            *low = *pair as u8;
        }
        for (high, pair) in high.iter_mut().zip(&pairs) {
            *high = (*pair >> 8) as u8;
        }
        done = done.wrapping_add(TILE);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use crate::error::{Kind, What};
    use std::vec;
    use std::vec::Vec;

    /// The rule of the format, literally.
    fn by_the_rule(size: usize, planes: &[u8]) -> Vec<u8> {
        let mut out = planes.to_vec();
        let n = planes.len() / size.max(1);
        if size > 1 {
            for i in 0..n {
                for j in 0..size {
                    out[i * size + j] = planes[j * n + i];
                }
            }
        }
        out
    }

    #[test]
    fn every_size_and_leftover() {
        for size in (0..=20usize).chain([31, 32, 33, 100, 254, 255]) {
            for items in [0, 1, 2, 7, 8, 63, 64, 65, 130, 512, 513] {
                for rest in [0, 1, size.saturating_sub(1)] {
                    let planes = check::noise(items * size + rest);
                    let expected = by_the_rule(size, &planes);
                    let mut out = vec![0xee; planes.len() + 3];
                    unshuffle(size, &planes, &mut out).unwrap();
                    assert!(out[..planes.len()] == expected, "{items} of {size} and {rest}");
                    assert_eq!(out[planes.len()..], [0xee; 3]);
                    #[cfg(feature = "bcolz")]
                    if items > 0 && rest == 0 && size > 0 {
                        let apart: Vec<&[u8]> = planes.chunks(items).collect();
                        out.fill(0xee);
                        unshuffle_planes(&apart, &mut out[..planes.len()]);
                        assert!(out[..planes.len()] == expected, "apart: {items} of {size}");
                    }
                    let mut back = vec![0xee; planes.len()];
                    shuffle(size, &expected, &mut back).unwrap();
                    assert!(back == planes, "back: {items} of {size} and {rest}");
                }
            }
        }
    }

    #[test]
    fn too_little_room() {
        for f in [shuffle, unshuffle] {
            let e = f(4, &[0; 9], &mut [0; 8]).unwrap_err();
            assert_eq!((e.kind(), e.what(), e.need()), (Kind::NoRoom, What::DESTINATION, 9));
        }
    }
}
