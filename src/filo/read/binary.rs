//! Opening BinaryVectors (sections 9 and 10, old releases: section 15).

use super::mask::Mask;
use super::numbers::{Form, Numbers};
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Data, PAYLOAD, Vector, row_count, rows_of};
use crate::bytes::{LittleEndian, Reader};
use crate::column::Span;
use crate::encoding::line::Line;
use crate::encoding::low32;
use crate::error::{Error, Kind, Result, What};
use crate::filo::Element;
use crate::filo::raw::{Header, Packing};

type Bytes<'a> = Reader<'a, LittleEndian>;

impl<'a> Vector<'a> {
    /// Opens the payload `r` of the chunk `bytes`.
    pub(super) fn open_binary(&mut self, bytes: &'a [u8], mut r: Bytes<'a>) -> Result<()> {
        let text = matches!(self.element, Element::Utf8 | Element::Blob);
        let number = matches!(self.element, Element::Int | Element::Long | Element::Double);
        match self.header {
            Header::Repeated if number || text => self.open_repeated(bytes, r),
            Header::Utf8 if text => {
                let base = words(&mut r, &mut self.rows)?;
                self.data = Data::Strings(Strings { chunk: bytes, kind: Kinds::Words { base } });
                Ok(())
            }
            Header::FixedMaxUtf8 if text => self.open_fixed_max(bytes, r),
            Header::Primitive | Header::Int | Header::MaskedPrimitive | Header::MaskedInt if number => {
                self.open_packed(bytes, r)
            }
            Header::DeltaDelta if self.element == Element::Long => self.open_packed(bytes, r),
            Header::DictUtf8 if text => self.open_packed(bytes, r),
            _ => Err(self.wrong_type()),
        }
    }

    /// The kinds that end in a packed vector (section 9.1), behind a mask (9.2), a line (9.4) or a
    /// dictionary (10.3).
    fn open_packed(&mut self, bytes: &'a [u8], mut r: Bytes<'a>) -> Result<()> {
        let start = r.at();
        let mut line = Line::ZERO;
        let mut words = None;
        // Of a dictionary: its end, its place and its entries.
        let (mut end, mut base, mut count) = (0, 0, 0);
        match self.header {
            Header::MaskedPrimitive | Header::MaskedInt => words = Some(up_to_sub(&mut r)?),
            Header::DeltaDelta => line = Line { base: r.i64(What::FiloBase)?, slope: r.i32(What::FiloSlope)? },
            Header::DictUtf8 => {
                let layout = r.u32(What::FiloDictionary)?;
                if layout != UTF8_LAYOUT {
                    return Err(Error::new(Kind::Unsupported, What::FiloDictionary, start).with_need(layout.into()));
                }
                let mut table = up_to_sub(&mut r)?;
                end = position(r.at());
                base = self::words(&mut table, &mut count)?;
            }
            _ => {}
        }
        let mut packed = Packed::NONE;
        packed.open(r)?;
        let rows = packed.rows()?;
        // Only the headers of 64-bit numbers may have such; under them narrow ones are the ints of
        // releases up to 0.3.2.
        if packed.packing == Packing::W64 {
            match self.header {
                Header::Primitive | Header::MaskedPrimitive if self.element == Element::Int => {
                    return Err(self.wrong_type());
                }
                Header::Primitive | Header::MaskedPrimitive => {}
                _ => return Err(packed.too_wide()),
            }
        }
        self.rows = rows;
        if let Some(words) = words {
            // Whole words, and as many as the rows need.
            let need = rows.div_ceil(64).saturating_mul(8);
            if words.rest().len() < need as usize {
                return Err(Error::new(Kind::Truncated, What::FiloMask, words.at()).with_need(need.into()));
            }
            self.mask = Mask::Words(words.rest());
        }
        if self.header == Header::DictUtf8 {
            let entries = Strings { chunk: bytes.get(..end as usize).unwrap_or(bytes), kind: Kinds::Words { base } };
            self.data = Data::Coded { entries, count, codes: packed };
            return Ok(());
        }
        let double = self.element == Element::Double && packed.packing != Packing::W64;
        let form = if double { Form::Double } else { Form::Word };
        self.data = Data::Numbers(Numbers { line, form, ..Numbers::plain(packed) });
        Ok(())
    }

    /// Sections 9.3 and 10.4.
    fn open_repeated(&mut self, bytes: &'a [u8], mut r: Bytes<'a>) -> Result<()> {
        let at = r.at();
        self.rows = row_count(r.u32(What::FiloRows)?, at)?;
        let value = r.rest();
        let at = position(r.at());
        let packing = match (self.element, value.len()) {
            (Element::Int, 4) => Packing::I32,
            (Element::Long | Element::Double, 8) => Packing::W64,
            (Element::Utf8 | Element::Blob, len) => {
                let one = Kinds::One(Span { at, len: rows_of(len)? });
                self.data = Data::Strings(Strings { chunk: bytes, kind: one });
                return Ok(());
            }
            // The original would read the width of the type that it was asked for, past the end.
            (_, len) => return Err(Error::new(Kind::WrongType, What::FiloValue, at.into()).with_need(len as u64)),
        };
        let numbers = Numbers::plain(Packed { packing, at, data: value, unused: 0 });
        self.data = Data::Numbers(Numbers { constant: true, ..numbers });
        Ok(())
    }

    /// Section 10.2.
    fn open_fixed_max(&mut self, bytes: &'a [u8], mut r: Bytes<'a>) -> Result<()> {
        let start = r.at();
        let size = r.u8(What::FiloSlot)?;
        if size < 2 {
            return Err(Error::new(Kind::Invalid, What::FiloSlot, start).with_need(size.into()));
        }
        self.rows = rows_of(r.rest().len().checked_div(size.into()).unwrap_or(0))?;
        self.data = Data::Strings(Strings { chunk: bytes, kind: Kinds::Slots { at: position(r.at()), size } });
        Ok(())
    }
}

/// The only layout that a dictionary has: variable UTF8.
const UTF8_LAYOUT: u32 = 2;

/// Takes the offset of a sub-vector and what lies before that; leaves `r` at the sub-vector.
#[inline(never)]
fn up_to_sub<'a>(r: &mut Bytes<'a>) -> Result<Bytes<'a>> {
    let at = r.at();
    let sub = r.u32(What::FiloSubVector)?;
    // Both count bytes of the payload.
    let here = low32(r.at().wrapping_sub(PAYLOAD));
    match sub.checked_sub(here) {
        Some(len) => r.split(len as usize, What::FiloSubVector),
        None => Err(Error::new(Kind::Invalid, What::FiloSubVector, at).with_need(sub.into())),
    }
}

/// The word table of section 10.1, which fills `r`: where its offsets count from, and how many rows.
#[inline(never)]
fn words(r: &mut Bytes<'_>, rows: &mut u32) -> Result<u32> {
    let base = position(r.at());
    *rows = row_count(r.u32(What::FiloRows)?, base.into())?;
    if r.rest().len() >> 2 < *rows as usize {
        return Err(Error::new(Kind::Truncated, What::FiloWords, r.at()).with_need(u64::from(*rows) << 2));
    }
    Ok(base)
}
