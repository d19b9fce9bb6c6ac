//! The bytes of a file: all of them, some pieces, or ranges that are fetched when they are needed.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;

use super::FileRange;
use crate::error::{Error, Kind, Result, What};

/// Consecutive bytes of a file and their offset in it.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Offset of the first byte in the file.
    pub at: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// Returns the bytes of a range of the file, or `None` if the piece does not contain it.
    #[inline]
    fn get(&self, range: FileRange) -> Option<&'a [u8]> {
        FileRange { at: range.at.checked_sub(self.at)?, ..range }.find(self.bytes)
    }
}

/// Access to byte ranges of a file that is larger than memory, or far away.
///
/// `Sync`, so that files that read through it can be shared between threads.
///
/// ```
/// use std::sync::Mutex;
///
/// use pilaster::bytes::{Fetch, FileRange, Input};
/// use pilaster::error::{Kind, What};
///
/// /// The ranges that a page has downloaded, and those that it must download next.
/// #[derive(Default)]
/// struct Downloads {
///     pieces: Vec<(u64, Vec<u8>)>,
///     wanted: Mutex<Vec<FileRange>>,
/// }
///
/// impl Fetch for Downloads {
///     fn fetch(&self, range: FileRange) -> Option<&[u8]> {
///         let end = range.at + range.len;
///         let holds = |(at, bytes): &&(u64, Vec<u8>)| *at <= range.at && end <= at + bytes.len() as u64;
///         if let Some((at, bytes)) = self.pieces.iter().find(holds) {
///             return Some(&bytes[(range.at - at) as usize..][..range.len as usize]);
///         }
///         self.wanted.lock().unwrap().push(range);
///         None
///     }
/// }
///
/// let mut downloads = Downloads::default();
/// let range = FileRange { at: 8, len: 2 };
/// let error = Input::fetched(&downloads, 10).get(range, What::INPUT).unwrap_err();
/// assert_eq!((error.kind(), error.at(), error.need()), (Kind::Missing, 8, 2));
/// assert_eq!(*downloads.wanted.lock().unwrap(), [range]);
///
/// downloads.pieces.push((0, b"0123456789".to_vec()));
/// assert_eq!(Input::fetched(&downloads, 10).get(range, What::INPUT)?, b"89");
/// // The defaults: all bytes are in memory anyway, and a walk can release none of them.
/// assert!(downloads.fresh().is_none() && downloads.held() == 0);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[cfg(feature = "alloc")]
pub trait Fetch: Sync {
    /// Returns the bytes of `range`, which is within the file, or `None` if they cannot be read, or not yet. Returned
    /// bytes stay valid as long as the fetcher is borrowed.
    fn fetch(&self, range: FileRange) -> Option<&[u8]>;

    /// Returns a fetcher for the same file that has not fetched anything. A walk over a large file reads each of its
    /// steps through one and drops it after the step, so that the fetched bytes are released. `None` if nothing would
    /// be gained, because the bytes are in memory anyway: then the steps are read through this fetcher.
    fn fresh(&self) -> Option<Box<dyn Fetch + '_>> {
        None
    }

    /// Returns the number of bytes that a walk releases if its next step uses a [`fresh`](Self::fresh) fetcher. A walk asks
    /// after each step. A fetcher may return 0 if the next step would probably fetch most of the bytes again.
    fn held(&self) -> u64 {
        0
    }
}

/// The bytes of a file: all of them, some [pieces](Piece)
#[cfg_attr(feature = "alloc", doc = "of it, or ranges that a [`Fetch`] provides when they are needed.")]
#[cfg_attr(not(feature = "alloc"), doc = "of it.")]
///
/// ```
/// use pilaster::bytes::{FileRange, Input, Piece};
/// use pilaster::error::{Kind, What};
///
/// let whole = Input::whole(b"0123456789");
/// assert_eq!(whole.get(FileRange { at: 2, len: 3 }, What::INPUT)?, b"234");
/// assert_eq!(whole.get(FileRange { at: 8, len: 3 }, What::INPUT).unwrap_err().kind(), Kind::Truncated);
///
/// let pieces = [Piece { at: 0, bytes: b"01" }, Piece { at: 8, bytes: b"89" }];
/// let ends = Input::pieces(&pieces, 10);
/// assert_eq!((ends.len(), ends.is_empty()), (10, false));
/// assert_eq!(ends.get(FileRange { at: 9, len: 1 }, What::INPUT)?, b"9");
/// assert_eq!(ends.get(FileRange { at: 2, len: 3 }, What::INPUT).unwrap_err().kind(), Kind::Missing);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Input<'a> {
    bytes: Bytes<'a>,
    len: u64,
}

#[derive(Clone, Copy)]
enum Bytes<'a> {
    Piece(Piece<'a>),
    Pieces(&'a [Piece<'a>]),
    #[cfg(feature = "alloc")]
    Fetched(&'a dyn Fetch),
}

impl<'a> Input<'a> {
    /// Creates the input of a complete file.
    #[must_use]
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Input::piece(Piece { at: 0, bytes }, bytes.len() as u64)
    }

    /// Creates the input of one piece of a file of `len` bytes.
    ///
    /// ```
    /// use pilaster::bytes::{FileRange, Input, Piece};
    /// use pilaster::error::What;
    ///
    /// let end = Input::piece(Piece { at: 8, bytes: b"89" }, 10);
    /// assert_eq!(end.get(FileRange { at: 9, len: 1 }, What::INPUT), Ok(&b"9"[..]));
    /// ```
    #[must_use]
    pub const fn piece(piece: Piece<'a>, len: u64) -> Self {
        Input { bytes: Bytes::Piece(piece), len }
    }

    /// Creates the input of some pieces of a file of `len` bytes.
    #[must_use]
    pub const fn pieces(pieces: &'a [Piece<'a>], len: u64) -> Self {
        Input { bytes: Bytes::Pieces(pieces), len }
    }

    /// Creates the input of a file of `len` bytes, whose ranges `fetch` provides.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn fetched(fetch: &'a dyn Fetch, len: u64) -> Self {
        Input { bytes: Bytes::Fetched(fetch), len }
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the input of the first `len` bytes of the file, or of all if it has fewer.
    ///
    /// ```
    /// use pilaster::bytes::{FileRange, Input};
    /// use pilaster::error::What;
    ///
    /// let first = Input::whole(b"0123456789").up_to(4);
    /// assert_eq!(first.get(FileRange { at: 2, len: 2 }, What::INPUT)?, b"23");
    /// assert!(first.get(FileRange { at: 2, len: 3 }, What::INPUT).is_err());
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub fn up_to(mut self, len: u64) -> Self {
        self.len = self.len.min(len);
        if let Bytes::Piece(piece) = &mut self.bytes {
            let kept = usize::try_from(self.len.saturating_sub(piece.at)).unwrap_or(usize::MAX);
            piece.bytes = piece.bytes.get(..kept).unwrap_or(piece.bytes);
        }
        self
    }

    /// Returns whether the file has no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of a range of the file.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what` if the file ends before the range does; [`Kind::Missing`] with the range if its
    /// bytes are not present.
    #[cfg_attr(not(pilaster_small), inline)]
    #[cfg_attr(pilaster_small, inline(never))]
    pub fn get(&self, range: FileRange, what: What) -> Result<&'a [u8]> {
        if let Bytes::Piece(piece) = self.bytes
            && let Some(found) = piece.get(range)
        {
            return Ok(found);
        }
        self.find(range, what)
    }

    /// Returns the bytes of a range that is not in a single piece.
    #[cold]
    fn find(&self, range: FileRange, what: What) -> Result<&'a [u8]> {
        self.check(range, what)?;
        let found = match self.bytes {
            _ if range.len == 0 => Some(&[][..]),
            Bytes::Piece(_) => None,
            Bytes::Pieces(pieces) => pieces.iter().find_map(|piece| piece.get(range)),
            #[cfg(feature = "alloc")]
            Bytes::Fetched(fetch) => fetch.fetch(range),
        };
        found.ok_or_else(|| Error::needing(Kind::Missing, what, range.at, range.len))
    }

    /// Checks that the file does not end before `range` does.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what`.
    pub(crate) fn check(&self, range: FileRange, what: What) -> Result<()> {
        match range.end() {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::needing(Kind::Truncated, what, range.at, range.len)),
        }
    }
}

#[allow(dead_code, reason = "formats use it")]
impl<'a> Input<'a> {
    /// Returns all bytes, if they are in memory as one slice.
    pub(crate) const fn as_slice(&self) -> Option<&'a [u8]> {
        match self.bytes {
            Bytes::Piece(Piece { at: 0, bytes }) if bytes.len() as u64 == self.len => Some(bytes),
            _ => None,
        }
    }

    /// Passes the bytes of `range` to `each`, in order: in pieces that are released one after the other, if the input has
    /// windows, else at once.
    #[cfg(feature = "alloc")]
    pub(crate) fn each_piece(&self, range: FileRange, what: What, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.check(range, what)?;
        let (mut at, mut left) = (range.at, range.len);
        while left > 0 {
            let window = self.window();
            let len = if window.is_fresh() { left.min(PIECE) } else { left };
            each(window.input().get(FileRange { at, len }, what)?);
            (at, left) = (at.saturating_add(len), left.saturating_sub(len));
        }
        Ok(())
    }

    /// Returns a window: an input of the same file whose fetched bytes are released when the window is dropped.
    pub(crate) fn window(&self) -> Window<'a> {
        #[cfg(feature = "alloc")]
        let fresh = match self.bytes {
            Bytes::Fetched(fetch) => fetch.fresh(),
            _ => None,
        };
        Window {
            input: *self,
            #[cfg(feature = "alloc")]
            fresh,
        }
    }
}

impl fmt::Debug for Input<'_> {
    /// Omits the bytes of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("len", &self.len).finish_non_exhaustive()
    }
}

/// A temporary input of the same file as another one. A walk drops it, with the bytes that were fetched through it,
/// before its next step.
#[allow(dead_code, reason = "formats use it")]
pub(crate) struct Window<'a> {
    input: Input<'a>,
    #[cfg(feature = "alloc")]
    fresh: Option<Box<dyn Fetch + 'a>>,
}

/// Number of bytes after which a walk opens the next window.
#[cfg(feature = "alloc")]
const WINDOW: u64 = 4 << 20;

/// Number of bytes of one piece of a range that is read in pieces.
#[cfg(feature = "alloc")]
const PIECE: u64 = 1 << 20;

#[allow(dead_code, reason = "formats use it")]
impl Window<'_> {
    /// Returns whether the bytes that are fetched through this window are released with it.
    #[cfg(feature = "alloc")]
    const fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// Returns the input.
    pub(crate) fn input(&self) -> Input<'_> {
        #[cfg(feature = "alloc")]
        if let Some(fresh) = &self.fresh {
            return Input::fetched(&**fresh, self.input.len);
        }
        self.input
    }

    /// Returns whether at least `WINDOW` bytes were fetched: then the next step should use another window.
    pub(crate) fn is_full(&self) -> bool {
        #[cfg(feature = "alloc")]
        let full = self.fresh.as_ref().is_some_and(|fresh| fresh.held() >= WINDOW);
        #[cfg(not(feature = "alloc"))]
        let full = false;
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_in_one_piece_each() {
        let pieces = [Piece { at: 2, bytes: &[2, 3] }, Piece { at: 4, bytes: &[4, 5] }];
        let input = Input::pieces(&pieces, 8);
        let get = |at, len| input.get(FileRange { at, len }, What::INPUT);
        assert_eq!((get(2, 2), get(5, 1)), (Ok(&[2u8, 3][..]), Ok(&[5u8][..])));
        assert_eq!((get(0, 0), get(8, 0)), (Ok(&[][..]), Ok(&[][..])), "nothing needs no piece");
        for (at, len, kind) in [(1, 2, Kind::Missing), (3, 2, Kind::Missing), (6, 2, Kind::Missing)] {
            let e = get(at, len).unwrap_err();
            assert_eq!((e.kind(), e.at(), e.need()), (kind, at, 2), "{at}");
            let _ = len;
        }
        for (at, len) in [(7, 2), (9, 0), (u64::MAX, 2)] {
            assert_eq!(get(at, len).unwrap_err().kind(), Kind::Truncated, "{at}");
        }
    }
}
