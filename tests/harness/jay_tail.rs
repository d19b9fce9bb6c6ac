//! The two ends of a Jay file.

use pilaster::bytes::FileRange;
use pilaster::unstable::jay::{check_head, tail, tail_span};

use super::jay_file::{STRICT, TOLERANT};

/// The last bytes of `data` are the tail; the length of the file is `data.len()`, or any number.
pub fn run(data: &[u8]) {
    if check_head(data).is_ok() {
        assert!(data.starts_with(b"JAY1\0\0\0\0"));
    }
    let any = data.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    for len in [data.len() as u64, any, u64::MAX, 24, 31, 32, 64] {
        let Ok(span) = tail_span(len) else {
            assert!(len < 24);
            continue;
        };
        assert_eq!(span.end(), Some(len));
        let end = &data[data.len().saturating_sub(16)..];
        let strict = tail(end, len, &STRICT);
        let tolerant = tail(end, len, &TOLERANT);
        if let Ok(tail) = strict {
            assert_eq!(tolerant, strict, "what is sound needs no tolerance");
            assert!(tail.meta.at.is_multiple_of(8) && tail.meta.len.is_multiple_of(8));
        }
        if let Ok(tail) = tolerant {
            let FileRange { at, len: size } = tail.meta;
            assert_eq!((at + size + 16, tail.file), (len, len));
            assert_eq!(tail.data().end(), Some(at));
        }
    }
}
