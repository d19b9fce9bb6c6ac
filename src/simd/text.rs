//! The check that bytes are text.

use core::str::Utf8Error;

use super::{Kernel, Lanes, run};

/// Bytes of the shortest text that is checked by vectors. Of shorter ones, `core` has seen the end as fast.
const SHORT_TEXT: usize = 35;

/// Returns bytes as text, with the error of `str::from_utf8`.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Utf8Error> {
    struct Text<'a>(&'a [u8]);

    impl<'a> Kernel for Text<'a> {
        type Output = Result<&'a str, Utf8Error>;

        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            lanes.text(self.0)
        }
    }

    let has_wider = cfg!(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx2")));
    if has_wider && bytes.len() >= SHORT_TEXT { run(Text(bytes)) } else { str::from_utf8(bytes) }
}

/// Returns whether all strings that follow each other in `bytes` are UTF-8. `bounds`: where each begins or ends. All together are
/// checked, which is faster than one by one.
#[cfg(any(feature = "jay", feature = "vortex"))]
pub(crate) fn are_texts(bytes: &[u8], mut bounds: impl Iterator<Item = usize>) -> bool {
    text(bytes).is_ok_and(|text| bounds.all(|at| text.is_char_boundary(at)))
}

#[cfg(test)]
mod tests {
    use crate::simd::with_each_lanes;
    use std::vec::Vec;

    /// All that begins, goes on or ends a character wrongly, and what is right.
    const BYTES: [u8; 22] = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0,
        0xf3, 0xf4, 0xf5, 0xff,
    ];

    #[test]
    fn four_bytes_anywhere_are_text_where_core_says_so() {
        // At the ends, and across each end of a window.
        let lens = [35, 36, 66, 67, 68, 99, 100, 131, 163, 200];
        let mut text = Vec::new();
        with_each_lanes(|| {
            let all = BYTES.len().pow(4);
            for k in (0..all).step_by(if cfg!(miri) { 4001 } else { 1 }) {
                let four = [1, 22, 22 * 22, 22 * 22 * 22].map(|unit| BYTES[k / unit % 22]);
                let len = lens[k % lens.len()];
                let at = k % (len - 3);
                text.clear();
                text.resize(len, b'x');
                text[at..at + 4].copy_from_slice(&four);
                assert_eq!(super::text(&text), str::from_utf8(&text), "{four:x?} at {at} of {len}");
            }
        });
    }

    #[test]
    fn text_of_any_length_and_one_wrong_byte_in_it() {
        let long = "aé𝄞 ß中文字\u{10ffff}\u{d7ff}\u{e000}Ж\u{7ff}\u{800}\u{ffff}\u{10000}".repeat(9);
        let mut text = Vec::new();
        with_each_lanes(|| {
            for len in 0..long.len().min(if cfg!(miri) { 80 } else { 280 }) {
                text.clear();
                text.extend(&long.as_bytes()[..len]);
                assert_eq!(super::text(&text), str::from_utf8(&text), "{len}");
                for at in 0..len {
                    for wrong in [0x00, 0x80, 0xbf, 0xc3, 0xe1, 0xf1, 0xff] {
                        let right = std::mem::replace(&mut text[at], wrong);
                        assert_eq!(super::text(&text), str::from_utf8(&text), "{wrong:x} at {at} of {len}");
                        text[at] = right;
                    }
                }
            }
        });
    }
}
