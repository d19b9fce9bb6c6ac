//! Opens BinaryVectors (sections 9 and 10; old releases: section 15).

use super::mask::Mask;
use super::numbers::Form;
use super::packed::{Packed, position};
use super::strings::{Kinds, Strings};
use super::{Data, PAYLOAD, Vector, check_rows, rows_of};
use crate::bytes::{LittleEndian, Reader, low32};
use crate::column::Span;
use crate::encoding::linear::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::Element;
use crate::filo::raw::{Header, Packing};

type Bytes<'a> = Reader<'a, LittleEndian>;

impl<'a> Vector<'a> {
    /// Opens the payload `r` of the chunk.
    pub(super) fn open_binary(&mut self, r: &mut Bytes<'a>) -> Result<()> {
        match self.header {
            Header::Repeated => self.open_repeated(r),
            Header::Utf8 => {
                self.data = Data::Strings;
                self.strings.kind = Kinds::Words { base: words(r, &mut self.rows)? };
                Ok(())
            }
            Header::FixedMaxUtf8 => self.open_fixed_max(r),
            _ => self.open_packed(r),
        }
    }

    /// Parses the kinds that end in a packed vector (section 9.1) after a mask (9.2), a line (9.4) or a dictionary
    /// (10.3).
    fn open_packed(&mut self, r: &mut Bytes<'a>) -> Result<()> {
        let start = r.at();
        let mut mask_at = start;
        self.data = Data::Numbers;
        match self.header {
            Header::MaskedPrimitive | Header::MaskedInt => {
                let words = up_to_sub(r)?;
                mask_at = words.at();
                self.mask = Mask::Words(words.rest());
            }
            Header::DeltaDelta => {
                self.numbers.line = Line { base: r.i64(What::FILO_BASE)?, slope: r.i32(What::FILO_SLOPE)? };
            }
            Header::DictUtf8 => {
                let layout = r.u32(What::FILO_DICTIONARY)?;
                if layout != UTF8_LAYOUT {
                    return Err(Error::needing(Kind::Unsupported, What::FILO_DICTIONARY, start, layout.into()));
                }
                let mut table = up_to_sub(r)?;
                let chunk = self.strings.chunk;
                self.data = Data::Coded;
                self.strings = Strings {
                    chunk: chunk.get(..position(r.at()) as usize).unwrap_or(chunk),
                    kind: Kinds::Words { base: words(&mut table, &mut self.entries)? },
                };
            }
            _ => {}
        }
        let packed = &mut self.numbers.packed;
        packed.open(r)?;
        let rows = packed.rows()?;
        // Only the headers of 64-bit numbers may have 64-bit numbers. Narrower numbers under these headers are the ints
        // of releases up to 0.3.2.
        if packed.packing == Packing::W64 {
            match self.header {
                Header::Primitive | Header::MaskedPrimitive if self.element == Element::Int => {
                    return Err(self.wrong_type());
                }
                Header::Primitive | Header::MaskedPrimitive => {}
                _ => return Err(packed.too_wide()),
            }
        } else if self.element == Element::Double {
            self.numbers.form = Form::Double;
        }
        self.rows = rows;
        // The mask must have 64-bit words for all rows.
        let need = rows.div_ceil(64).saturating_mul(8);
        match self.mask {
            Mask::Words(words) if words.len() < need as usize => {
                Err(Error::needing(Kind::Truncated, What::FILO_MASK, mask_at, need.into()))
            }
            _ => Ok(()),
        }
    }

    /// Parses a vector of one repeated value (sections 9.3 and 10.4).
    fn open_repeated(&mut self, r: &mut Bytes<'a>) -> Result<()> {
        let at = r.at();
        self.rows = r.u32(What::FILO_ROWS)?;
        check_rows(self.rows, at)?;
        let value = r.rest();
        let at = position(r.at());
        let packing = match (self.element, value.len()) {
            (Element::Int, 4) => Packing::I32,
            (Element::Long | Element::Double, 8) => Packing::W64,
            (Element::Utf8 | Element::Blob, len) => {
                self.data = Data::Strings;
                self.strings.kind = Kinds::One(Span { at, len: rows_of(len)? });
                return Ok(());
            }
            // The original reads a value of the width of the element type, past the end of the chunk.
            (_, len) => return Err(Error::needing(Kind::WrongType, What::FILO_VALUE, at.into(), len as u64)),
        };
        (self.data, self.numbers.constant) = (Data::Numbers, true);
        self.numbers.packed = Packed { packing, at, data: value, unused: 0 };
        Ok(())
    }

    /// Parses strings in slots of equal size (section 10.2).
    fn open_fixed_max(&mut self, r: &mut Bytes<'a>) -> Result<()> {
        let start = r.at();
        let size = r.u8(What::FILO_SLOT)?;
        if size < 2 {
            return Err(Error::needing(Kind::Invalid, What::FILO_SLOT, start, size.into()));
        }
        self.rows = rows_of(r.rest().len().checked_div(size.into()).unwrap_or(0))?;
        (self.data, self.strings.kind) = (Data::Strings, Kinds::Slots { at: position(r.at()), size });
        Ok(())
    }
}

/// The only layout that a dictionary has: variable UTF8.
const UTF8_LAYOUT: u32 = 2;

/// Reads the offset of a sub-vector and returns the bytes before the sub-vector. Leaves `r` at the sub-vector.
fn up_to_sub<'a>(r: &mut Bytes<'a>) -> Result<Bytes<'a>> {
    let at = r.at();
    let sub = r.u32(What::FILO_SUB_VECTOR)?;
    // Both numbers are offsets in the payload.
    let here = low32(r.at().wrapping_sub(PAYLOAD));
    match sub.checked_sub(here) {
        Some(len) => r.split(len as usize, What::FILO_SUB_VECTOR),
        None => Err(Error::needing(Kind::Invalid, What::FILO_SUB_VECTOR, at, sub.into())),
    }
}

/// Opens the word table of section 10.1, which extends to the end of `r`. Returns the position that its offsets count
/// from, and sets `rows`.
fn words(r: &mut Bytes<'_>, rows: &mut u32) -> Result<u32> {
    let base = position(r.at());
    *rows = r.u32(What::FILO_ROWS)?;
    check_rows(*rows, base.into())?;
    if r.rest().len() >> 2 < *rows as usize {
        return Err(Error::needing(Kind::Truncated, What::FILO_WORDS, r.at(), u64::from(*rows) << 2));
    }
    Ok(base)
}
