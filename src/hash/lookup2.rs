//! Bob Jenkins' hash of 1996, the checksum of DataSeries extents and trailers (DataSeries section 9).
//!
//! Words are read in little-endian order on all targets and for all files. The dependency chain of one input
//! limits the speed: nine steps of two cycles each per 12 bytes.

use crate::bytes::{STRICT, len32};

/// Returns the hash of `bytes` with the initial value `initial`.
///
/// ```
/// use pilaster::unstable::hash::lookup2;
///
/// assert_eq!(lookup2(0, b""), 0xbd49_d10d);
/// // Chained: the result of one call is the initial value of the next.
/// assert_ne!(lookup2(lookup2(1972, b"fixed"), b"pool"), lookup2(1972, b"fixedpool"));
/// ```
#[must_use]
pub fn lookup2(initial: u32, bytes: &[u8]) -> u32 {
    let mut state = Lookup2::new(initial);
    state.update(bytes);
    state.chain()
}

/// True if whole blocks bypass the buffer. Small targets have one loop for all bytes.
const WIDE: bool = !cfg!(pilaster_small);

/// A running [`lookup2`], for input in pieces.
///
/// ```
/// use pilaster::unstable::hash::{Lookup2, lookup2};
///
/// let mut state = Lookup2::new(1972);
/// for piece in [&b"a pool without"[..], b"", b" its", b" first bytes"] {
///     state.update(piece);
/// }
/// assert_eq!(state.value(), lookup2(1972, b"a pool without its first bytes"));
/// ```
#[derive(Clone, Debug)]
pub struct Lookup2 {
    // In this order no run of zeros is so long that a small target calls a function for it.
    /// The bytes of an incomplete block, padded with zeros.
    block: Block,
    state: State,
    waiting: usize,
    len: usize,
}

/// Bytes that are mixed together, aligned so that three words can be loaded.
#[derive(Clone, Copy, Debug)]
#[repr(align(4))]
struct Block([u8; 12]);

impl Block {
    const EMPTY: Block = Block([0; 12]);
}

impl Lookup2 {
    /// Creates the state of an empty input with the initial value `initial`.
    #[must_use]
    pub const fn new(initial: u32) -> Self {
        Lookup2 { state: State { c: initial, ..State::START }, block: Block::EMPTY, waiting: 0, len: 0 }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.len = self.len.wrapping_add(bytes.len());
        let mut rest = bytes;
        if !WIDE {
            return self.update_small(rest);
        }
        if self.waiting > 0 || rest.len() < 12 {
            let room = self.block.0.get_mut(self.waiting..).unwrap_or_default();
            let (head, tail) = rest.split_at_checked(room.len()).unwrap_or((rest, &[]));
            for (to, from) in room.iter_mut().zip(head) {
                *to = *from;
            }
            self.waiting = self.waiting.wrapping_add(head.len());
            if self.waiting < 12 {
                return;
            }
            self.state.take(&self.block.0);
            rest = tail;
        }
        let (blocks, rest) = rest.as_chunks::<12>();
        let mut state = self.state;
        for block in blocks {
            state.take(block);
        }
        self.state = state;
        self.block = Block::EMPTY;
        for (to, from) in self.block.0.iter_mut().zip(rest) {
            *to = *from;
        }
        self.waiting = rest.len();
    }

    /// Mixes whole blocks if no bytes are waiting, and completes the waiting block byte by byte before.
    fn update_small(&mut self, mut rest: &[u8]) {
        loop {
            if self.waiting == 0 {
                rest = self.state.take_all(rest);
            }
            let Some((byte, tail)) = rest.split_first() else { return };
            if let Some(to) = self.block.0.get_mut(self.waiting) {
                *to = *byte;
            }
            rest = tail;
            self.waiting = self.waiting.wrapping_add(1);
            if self.waiting == self.block.0.len() {
                self.state.take_all(&self.block.0);
                (self.block, self.waiting) = (Block::EMPTY, 0);
            }
        }
    }

    /// Adds the next bytes of two independent hashes. One dependency chain leaves half of a large processor
    /// idle, so this takes hardly longer than [`update`](Self::update) of the longer input.
    ///
    /// ```
    /// use pilaster::unstable::hash::{Lookup2, lookup2};
    ///
    /// let [mut a, mut b] = [1972, 1776].map(Lookup2::new);
    /// Lookup2::update_pair([&mut a, &mut b], [b"one extent", b"and another, which is longer"]);
    /// assert_eq!(a.value(), lookup2(1972, b"one extent"));
    /// assert_eq!(b.value(), lookup2(1776, b"and another, which is longer"));
    /// ```
    pub fn update_pair([a, b]: [&mut Self; 2], [x, y]: [&[u8]; 2]) {
        // Completes the waiting block of each.
        let (x, y) = (a.fill(x), b.fill(y));
        let blocks = x.as_chunks::<12>().0.iter().zip(y.as_chunks::<12>().0);
        let done = blocks.len().wrapping_mul(12);
        let (mut s, mut t) = (a.state, b.state);
        for (x, y) in blocks {
            s.take(x);
            t.take(y);
        }
        (a.state, b.state) = (s, t);
        a.len = a.len.wrapping_add(done);
        b.len = b.len.wrapping_add(done);
        a.update(x.get(done..).unwrap_or_default());
        b.update(y.get(done..).unwrap_or_default());
    }

    /// Adds the bytes that complete the waiting block. Returns the rest.
    fn fill<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let room = if self.waiting == 0 { 0 } else { 12usize.wrapping_sub(self.waiting) };
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.update(head);
        rest
    }

    /// Adds four bytes, as [`update`](Self::update) does, and faster.
    #[inline]
    pub fn word(&mut self, word: &[u8; 4]) {
        let place = self.block.0.get_mut(self.waiting..).and_then(|rest| rest.first_chunk_mut());
        let wide = WIDE || cfg!(target_family = "wasm");
        let Some(place) = place.filter(|_| wide) else { return self.update(word) };
        *place = *word;
        self.len = self.len.wrapping_add(4);
        self.waiting = self.waiting.wrapping_add(4);
        if self.waiting == 12 {
            self.state.take_all(&self.block.0);
            (self.block, self.waiting) = (Block::EMPTY, 0);
        }
    }

    /// Ends an input and returns its hash, which is the initial value of the next input.
    pub fn chain(&mut self) -> u32 {
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, _] = self.block.0;
        // The lowest byte of the third word belongs to the length, so the word's bytes move up by one.
        let third = u32::from_le_bytes([0, c0, c1, c2]);
        self.state.c = self.state.c.wrapping_add(third).wrapping_add(len32(self.len));
        self.block = Block([a0, a1, a2, a3, b0, b1, b2, b3, 0, 0, 0, 0]);
        (self.waiting, self.len) = (0, 0);
        self.state.take_all(&self.block.0);
        self.block = Block::EMPTY;
        (self.state.a, self.state.b) = (State::START.a, State::START.b);
        self.state.c
    }

    /// Returns the hash of all bytes of the input so far.
    #[must_use]
    pub fn value(&self) -> u32 {
        self.clone().chain()
    }
}

/// Mixes three words once. A DataSeries trailer chains its extents with this function.
///
/// ```
/// assert_eq!(pilaster::unstable::hash::mix3(1, 2, 3), 0xb7b4_8902);
/// ```
#[must_use]
pub fn mix3(a: u32, b: u32, c: u32) -> u32 {
    let mut state = State { a, b, c };
    state.take_all(&Block::EMPTY.0);
    state.c
}

#[derive(Clone, Copy, Debug)]
struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    /// The golden ratio, an arbitrary initial value.
    const START: State = State { a: 0x9e37_79b9, b: 0x9e37_79b9, c: 0 };

    /// Mixes whole blocks. Returns the rest. Firmware has one copy of it, because each takes a tenth of a
    /// kilobyte.
    fn take_all<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [u8] {
        if STRICT {
            return self.take_words(bytes);
        }
        // In registers, if there are enough of them.
        let mut state = *self;
        while let Some((block, rest)) = bytes.split_first_chunk() {
            if WIDE {
                state.take(block)
            } else {
                self.take(block)
            }
            bytes = rest;
        }
        if WIDE {
            *self = state;
        }
        bytes
    }

    /// Like [`take_all`](Self::take_all), but mixes no block if `bytes` is unaligned.
    fn take_words<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [u8] {
        let mut state = *self;
        while let Some((block, rest)) = bytes.split_first_chunk::<12>()
            && let Ok(words) = bytemuck::try_cast_ref::<_, [u32; 3]>(block)
        {
            state.mix(words.map(u32::from_le));
            bytes = rest;
        }
        *self = state;
        bytes
    }

    /// Mixes a block.
    fn take(&mut self, block: &[u8; 12]) {
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *block;
        let (a, b) = (u32::from_le_bytes([a0, a1, a2, a3]), u32::from_le_bytes([b0, b1, b2, b3]));
        self.mix([a, b, u32::from_le_bytes([c0, c1, c2, c3])]);
    }

    /// Mixes the words of a block.
    fn mix(&mut self, [a, b, c]: [u32; 3]) {
        let mut a = self.a.wrapping_add(a);
        let mut b = self.b.wrapping_add(b);
        let mut c = self.c.wrapping_add(c);
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> 13;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << 8;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> 13;
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> 12;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << 16;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> 5;
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> 3;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << 10;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> 15;
        *self = State { a, b, c };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn known_answers() {
        let all: Vec<u8> = (0..=255).collect();
        let table: [(u32, &[u8], u32); 12] = [
            (0, b"", 0xbd49_d10d),
            (1972, b"", 0x096a_2819),
            (1776, b"", 0x2548_1311),
            (1972, b"\0", 0x985e_2c5e),
            (1972, b"a", 0xe70c_05a4),
            (1972, b"abc", 0xc60a_6c17),
            (1972, b"\0\0\0\0", 0xb378_db6d),
            (0, b"0123456789a", 0x90d7_829e),
            (0, b"0123456789ab", 0x92f3_1ad0),
            (0, b"0123456789abc", 0x88c1_bd29),
            (1776, b"\xff\xff\xff\xff", 0x79b5_c992),
            (1972, &all, 0x7e3f_9eae),
        ];
        for (initial, bytes, hash) in table {
            assert_eq!(lookup2(initial, bytes), hash, "{initial} {bytes:02x?}");
        }
    }

    #[test]
    fn known_mixes() {
        assert_eq!(mix3(0, 0, 1972), 0x97d3_d920);
        assert_eq!(mix3(1, 2, 3), 0xb7b4_8902);
        assert_eq!(mix3(u32::MAX, u32::MAX, 1972), 0x2682_044b);
        assert_eq!(mix3(0x1234_5678, 0, 1972), 0x014f_1330);
    }

    /// The definition in the original text, byte by byte.
    fn naive(initial: u32, bytes: &[u8]) -> u32 {
        let mut s = [0x9e37_79b9u32, 0x9e37_79b9, initial];
        let mix = |s: &mut [u32; 3]| {
            let shifts = [(13, 8, 13), (12, 16, 5), (3, 10, 15)];
            for (right, left, last) in shifts {
                s[0] = s[0].wrapping_sub(s[1]).wrapping_sub(s[2]) ^ (s[2] >> right);
                s[1] = s[1].wrapping_sub(s[2]).wrapping_sub(s[0]) ^ (s[0] << left);
                s[2] = s[2].wrapping_sub(s[0]).wrapping_sub(s[1]) ^ (s[1] >> last);
            }
        };
        let full = bytes.len() / 12 * 12;
        for block in bytes[..full].chunks(12) {
            for (i, byte) in block.iter().enumerate() {
                s[i / 4] = s[i / 4].wrapping_add(u32::from(*byte) << (i % 4 * 8));
            }
            mix(&mut s);
        }
        s[2] = s[2].wrapping_add(bytes.len() as u32);
        for (i, byte) in bytes[full..].iter().enumerate() {
            let i = if i >= 8 { i + 1 } else { i };
            s[i / 4] = s[i / 4].wrapping_add(u32::from(*byte) << (i % 4 * 8));
        }
        mix(&mut s);
        s[2]
    }

    #[test]
    fn agrees_with_the_text_at_every_length() {
        let bytes: Vec<u8> = (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        for n in 0..bytes.len() {
            for initial in [0, 1972, u32::MAX] {
                assert_eq!(lookup2(initial, &bytes[..n]), naive(initial, &bytes[..n]), "{n} bytes behind {initial}");
            }
        }
    }

    #[test]
    fn words_are_taken_where_they_lie() {
        let mut memory = [0u32; 10];
        let bytes = bytemuck::bytes_of_mut(&mut memory);
        (1..).zip(&mut *bytes).for_each(|(n, byte)| *byte = n);
        for at in 0..8 {
            let (mut state, mut other) = (State::START, State::START);
            let rest = state.take_words(&bytes[at..]).len();
            assert_eq!(rest, if at % 4 == 0 { (40 - at) % 12 } else { 40 - at }, "from {at}");
            other.take_all(&bytes[at..40 - rest]);
            assert_eq!([state.a, state.b, state.c], [other.a, other.b, other.c], "from {at}");
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_same_hash() {
        let bytes: Vec<u8> = (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        for size in 1..40 {
            let mut state = Lookup2::new(7);
            let mut done = 0;
            for piece in bytes.chunks(size) {
                state.update(piece);
                done += piece.len();
                assert_eq!(state.value(), lookup2(7, &bytes[..done]), "{done} bytes in pieces of {size}");
            }
        }
        for (front, behind) in (0..30).flat_map(|front| (0..30).map(move |behind| (front, behind))) {
            let (mut a, mut b) = (Lookup2::new(7), Lookup2::new(8));
            a.update(&bytes[..front]);
            Lookup2::update_pair([&mut a, &mut b], [&bytes[front..], &bytes[..150]]);
            Lookup2::update_pair([&mut b, &mut a], [&bytes[150..], &bytes[..behind]]);
            assert_eq!(a.value(), lookup2(7, &[&bytes[..], &bytes[..behind]].concat()));
            assert_eq!(b.value(), lookup2(8, &bytes));
        }
        for front in 0..14 {
            let mut state = Lookup2::new(7);
            state.update(&bytes[..front]);
            let (words, _) = bytes[front..].as_chunks::<4>();
            words.iter().for_each(|word| state.word(word));
            assert_eq!(state.value(), lookup2(7, &bytes[..front + words.len() * 4]), "words behind {front} bytes");
        }
    }
}
