use super::Parts;
use crate::error::Result;
use crate::filo::{Element, raw::Header};
pub(super) fn open<'a>(_b: &'a [u8], _h: Header, _e: Element) -> Result<Option<Parts<'a>>> {
    Ok(None)
}
