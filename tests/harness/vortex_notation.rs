//! The notation of a type, out of any text. A type that is parsed is displayed in a notation that gives the same type again.

use pilaster::limits::Limits;
use pilaster::vortex::{Array, DType, DTypeBuf};

use super::vortex_dtype;

pub fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let dtype = match text.parse::<DTypeBuf>() {
        Ok(dtype) => dtype,
        Err(e) => {
            assert!(e.at() <= text.len() as u64, "{e:?}");
            return;
        }
    };
    vortex_dtype::run(dtype.as_bytes());
    let shown = dtype.to_string();
    let again: DTypeBuf = shown.parse().unwrap_or_else(|e| panic!("{shown:?}: {e}"));
    assert_eq!(again.to_string(), shown);
    // The bytes are equal, unless the text has other spaces than the notation, or omits a default.
    if shown == text {
        assert_eq!(again, dtype);
    }
    // A type is enough to parse an array, but no bytes are an array.
    assert!(Array::parse_with(&[], dtype.as_dtype(), 1, &[], &Limits::DEFAULT).is_err());
    assert!(DType::parse(dtype.as_bytes()).is_ok());
}
