//! Booleans: one byte each or, in columns that came from Arrow, one bit (section 4.2).

use super::Column;
use super::field::Which;
use crate::bytes::{Bits, Scratch};
use crate::column::Validity;
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::NA_BOOL;

impl<'a> Column<'a> {
    pub(super) fn bools<'s>(
        &self,
        first: usize,
        len: usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<Bits<'s>>
    where
        'a: 's,
    {
        let data = self.data();
        if self.field().is_packed() {
            return Bits::new(data, first, len);
        }
        let bytes = data.get(first..).and_then(|rest| rest.get(..len)).unwrap_or_default();
        if !self.field().rules.tolerant && bitmap::any(bytes, is_odd) {
            return Err(self.odd_bool(bytes, first));
        }
        let bits = scratch.take::<u8>(len.div_ceil(8))?;
        bitmap::pack(bytes, bits, |byte| byte & !NA_BOOL != 0);
        if bitmap::any(bytes, |byte| byte == NA_BOOL) {
            let pack = |valid: &mut [u8]| bitmap::pack(bytes, valid, |byte| byte != NA_BOOL);
            self.mark(len, pack, validity, scratch)?;
        }
        Bits::new(bits, 0, len)
    }

    #[cold]
    fn odd_bool(&self, bytes: &[u8], first: usize) -> Error {
        let i = bytes.iter().position(|byte| is_odd(*byte)).unwrap_or(0);
        let at = self.field().buffer(Which::Data).at.saturating_add(first as u64).saturating_add(i as u64);
        Error::needing(Kind::Invalid, What::JAY_BOOL, at, bytes.get(i).copied().unwrap_or(0).into())
    }
}

/// Returns whether the byte is neither 0, 1 nor missing.
pub(super) const fn is_odd(byte: u8) -> bool {
    byte > 1 && byte != NA_BOOL
}
