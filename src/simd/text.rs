//! The check that bytes are text.

use core::str::Utf8Error;

use super::{Kernel, Lanes, run};

/// Bytes of the shortest text that is checked by vectors. They need 35, and `core` checks shorter ones in the time of their start.
const SHORT_TEXT: usize = 35;

/// Returns bytes as text, with the error of `str::from_utf8`, which reads a wrong text once more.
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
#[cfg(all(feature = "alloc", any(feature = "jay", feature = "vortex")))]
pub(crate) fn are_texts(bytes: &[u8], mut bounds: impl Iterator<Item = usize>) -> bool {
    text(bytes).is_ok_and(|text| bounds.all(|at| text.is_char_boundary(at)))
}

#[cfg(test)]
mod tests {
    use crate::simd::with_each_lanes;
    use std::vec::Vec;

    #[test]
    fn text_of_any_length_and_one_wrong_byte_in_it() {
        let long = "aé𝄞 ß中文字\u{10ffff}\u{d7ff}\u{e000}Ж\u{7ff}\u{800}\u{ffff}\u{10000}".repeat(9);
        let mut text = Vec::new();
        // The length, not the text: a message would print what may be no text.
        let compare = |text: &[u8], change| {
            assert_eq!(super::text(text).map(str::len), str::from_utf8(text).map(str::len), "{change:x?}");
        };
        with_each_lanes(|| {
            for len in 0..long.len().min(320) {
                text.clear();
                text.extend(&long.as_bytes()[..len]);
                compare(&text, (0, len, len));
                for at in (len % 3..len).step_by(3) {
                    for wrong in [0x00, 0x80, 0xbf, 0xc3, 0xe1, 0xf1, 0xff] {
                        let right = std::mem::replace(&mut text[at], wrong);
                        compare(&text, (wrong, at, len));
                        text[at] = right;
                    }
                }
            }
        });
    }

    #[test]
    #[cfg(all(feature = "alloc", any(feature = "jay", feature = "vortex")))]
    fn strings_are_bounded_by_characters() {
        for (bytes, bounds, wanted) in [
            (&b"a\xc3\xa9b"[..], &[0, 1, 3, 3, 4][..], true),
            (b"a\xc3\xa9b", &[0, 2, 4], false),
            (b"a\xc3\xa9b", &[0, 4, 5], false),
            (b"a\xc3\xa9b", &[0, usize::MAX, 4], false),
            (b"a\xc3", &[0, 1], false),
            (b"", &[0, 0], true),
        ] {
            assert_eq!(super::are_texts(bytes, bounds.iter().copied()), wanted, "{bytes:x?} {bounds:?}");
        }
    }
}
