//! The trailer of a DataSeries file, and what else may begin where an extent may.

use pilaster::bytes::Endian;
use pilaster::dataseries::{End, Next, Trailer};
use pilaster::unstable::dataseries::raw::TRAILER_LEN;

use super::dataseries::{in_order, split};

/// A byte of flags, then the bytes.
pub fn run(data: &[u8]) {
    let Some((big, _, rest)) = split(data) else { return };
    in_order!(big, read(rest));
}

fn read<E: Endian>(bytes: &[u8]) {
    const AT: u64 = 4000;
    let span = Next::span(AT, AT + bytes.len() as u64);
    assert_eq!((span.at, span.len), (AT, bytes.len().min(TRAILER_LEN) as u64));
    let next = Next::of::<E>(bytes, AT);
    assert_eq!(next, Next::of::<E>(&bytes[..span.len as usize], AT), "what follows does not matter");
    match next {
        Ok(Next::End(end)) => {
            assert_eq!(end.at(), AT);
            let head = &bytes[..span.len as usize];
            match end {
                End::File { .. } => assert!(bytes.is_empty()),
                End::Erased { .. } => assert!(head.iter().all(|byte| *byte == 0xff)),
                End::Trailer { trailer, .. } => {
                    assert_eq!(Trailer::of::<E>(bytes, AT), Ok(trailer));
                    assert_eq!(trailer.located(AT).is_ok(), trailer.index.end() == Some(AT) && trailer.index.at >= 40);
                    assert!(Trailer::of::<E>(&head[..TRAILER_LEN - 1], AT).is_err());
                }
            }
        }
        Ok(Next::Extent(header)) => {
            assert!(header.at == AT && header.pool >= 4 && header.name_len > 0);
            assert!(header.span().len >= 32 && header.span().len < 1 << 31);
            assert!(Trailer::of::<E>(bytes, AT).is_err(), "both an extent and a trailer");
        }
        Err(e) => assert!(e.at() >= AT, "{e:?}"),
    }
    // A file must be long enough for a trailer at its end.
    let file_len = bytes.len() as u64;
    assert_eq!(Trailer::span(file_len).is_ok(), file_len >= 68);
}
