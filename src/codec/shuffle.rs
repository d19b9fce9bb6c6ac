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
use crate::simd::{Kernel, Lanes, TILE, run};

/// Sorts the bytes of items of `size` bytes by their position in the item. Sizes 0 and 1 copy.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `dst` is shorter than `src`. Bytes of `dst` after the
/// length of `src` stay as they are.
pub fn shuffle(size: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let dst = room(src, dst)?;
    let items = whole(size, src, dst);
    let done = match size {
        2 if FAST => run(Deal::<2> { src, dst, items }),
        4 if FAST => run(Deal::<4> { src, dst, items }),
        8 if FAST => run(Deal::<8> { src, dst, items }),
        16 if FAST => run(Deal::<16> { src, dst, items }),
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
        2 if FAST => run(Unshuffle::<2> { planes: first(planes.clone()), dst }),
        4 if FAST => run(Unshuffle::<4> { planes: first(planes.clone()), dst }),
        8 if FAST => run(Unshuffle::<8> { planes: first(planes.clone()), dst }),
        16 if FAST => run(Unshuffle::<16> { planes: first(planes.clone()), dst }),
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

/// Unshuffles the items in whole tiles, from planes to `dst`.
struct Unshuffle<'p, 'd, const S: usize> {
    planes: [&'p [u8]; S],
    dst: &'d mut [u8],
}

impl<const S: usize> Kernel for Unshuffle<'_, '_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let tiles = self.planes.map(|plane| plane.as_chunks::<TILE>().0);
        let items = self.dst.as_chunks_mut().0.as_chunks_mut().0;
        // With equal lengths, the compiler leaves out the checks in the loop.
        let count = tiles.iter().fold(items.len(), |least, tiles| least.min(tiles.len()));
        let tiles = tiles.map(|tiles| tiles.get(..count).unwrap_or_default());
        for (k, items) in items.iter_mut().take(count).enumerate() {
            let mut tile = [&[0; TILE]; S];
            for (tile, tiles) in tile.iter_mut().zip(tiles) {
                let Some(found) = tiles.get(k) else { return k.wrapping_mul(TILE) };
                *tile = found;
            }
            lanes.join(tile, items);
        }
        count.wrapping_mul(TILE)
    }
}

/// Shuffles the items in whole tiles, from `src` to planes of `items` bytes in `dst`.
struct Deal<'s, 'd, const S: usize> {
    src: &'s [u8],
    dst: &'d mut [u8],
    items: usize,
}

impl<const S: usize> Kernel for Deal<'_, '_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let mut done = 0usize;
        for items in self.src.as_chunks::<S>().0.as_chunks().0 {
            let dealt = lanes.deal(items);
            for (plane, bytes) in self.dst.chunks_exact_mut(self.items.max(1)).zip(&dealt) {
                let Some(to) = plane.get_mut(done..).and_then(|plane| plane.first_chunk_mut()) else { return done };
                *to = *bytes;
            }
            done = done.wrapping_add(TILE);
        }
        done
    }
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
        crate::simd::with_each_lanes(sizes_and_leftovers);
    }

    fn sizes_and_leftovers() {
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
