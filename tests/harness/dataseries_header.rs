//! The header of a DataSeries file: which byte order it has, and that nothing else is taken for one.

use pilaster::dataseries::Order;
use pilaster::error::Kind;
use pilaster::unstable::dataseries::raw::{CHECK_I64, CHECK_INF, CHECK_PI, HEADER_LEN};

/// All of `data` is the front of a file.
pub fn run(data: &[u8]) {
    let order = match Order::of(data) {
        Ok(order) => order,
        Err(e) => {
            assert!(e.at() < HEADER_LEN as u64 && matches!(e.kind(), Kind::Truncated | Kind::Invalid), "{e:?}");
            assert!(data.len() >= HEADER_LEN || e.kind() == Kind::Truncated || e.at() < data.len() as u64);
            return;
        }
    };
    let word = |at: usize| {
        let bytes = data[at..at + 8].try_into().expect("eight bytes");
        if order == Order::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    };
    assert!(data.starts_with(b"DSv1") && data.len() >= HEADER_LEN);
    assert_eq!((word(8), word(16), word(24)), (CHECK_I64.cast_unsigned(), CHECK_PI, CHECK_INF));
    assert!(f64::from_bits(word(32)).is_nan());
}
