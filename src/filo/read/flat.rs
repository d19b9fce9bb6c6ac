//! Opens the FlatBuffer kinds (sections 5 to 8).

use super::mask::Mask;
use super::packed::{Packed, position};
use super::strings::Kinds;
use super::{Data, PAYLOAD, Vector, check_rows, rows_of};
use crate::column::Span;
use crate::error::{Error, Kind, Result, What};
use crate::filo::Element;
use crate::filo::raw::{self, HEADER_LEN, Header, Packing};
use crate::generated::filo as views;
use crate::meta::flat::{Flat, Inline, Table};

impl<'a> Vector<'a> {
    /// Opens the payload of the chunk. Fields that several of the six tables share are read first, then the fields of
    /// one kind.
    pub(super) fn open_flat(&mut self, shape: &Shape) -> Result<()> {
        let payload = self.strings.chunk.get(HEADER_LEN..).unwrap_or_default();
        let table = Fields(Flat::new_at(payload, PAYLOAD).root()?);

        if let Some(list) = shape.strings {
            self.data = Data::Strings;
            self.strings.kind = Kinds::Flat { slots: table.strings(list, &mut self.entries)? };
            self.rows = self.entries;
        }
        if let Some(field) = shape.vars {
            let vars: Option<views::DdtVars> = table.0.inline(field)?;
            let Some(vars) = vars else { return Err(table.missing(What::FILO_VARS)) };
            self.rows = vars.len.cast_unsigned();
            check_rows(self.rows, table.0.at())?;
            (self.numbers.line.base, self.zones.base) = (vars.base_millis, vars.base_tz);
        }
        if let Some(len) = shape.len {
            self.rows = table.0.scalar(len, 0)?;
            check_rows(self.rows, table.0.at())?;
        }
        if let Some(mask) = shape.mask {
            self.mask = table.mask(mask)?;
        }
        if self.header == Header::ConstString {
            let Some(string) = table.0.string(views::ConstStringVector::STR)? else {
                return Err(table.missing(What::FILO_STRING));
            };
            let span = Span { at: position(string.at()), len: rows_of(string.bytes().len())? };
            (self.data, self.strings.kind) = (Data::Strings, Kinds::One(span));
            return Ok(());
        }
        let Some([info, data]) = shape.packed else { return Ok(()) };

        self.data = Data::Numbers;
        self.numbers.constant = self.header == Header::ConstPrimitive;
        let mut stored = if self.numbers.constant { 1 } else { self.rows };
        // Booleans are stored as 64-bit words of 64 rows each.
        if self.element == Element::Boolean {
            self.data = Data::Bits;
            stored = stored.div_ceil(64);
        }
        let packed = &mut self.numbers.packed;
        table.packed(info, data, stored, packed)?;
        match self.header {
            Header::DictString if packed.packing == Packing::W64 => return Err(packed.too_wide()),
            Header::DictString => {
                self.data = Data::Coded;
                return Ok(());
            }
            Header::DiffDateTime => {
                use views::DiffDateTimeVector as Of;
                self.data = Data::DateTime;
                // If the UTC offsets are absent or empty, all rows have the base offset.
                self.zones.packed.at = packed.at;
                if !table.bytes(Of::TZ)?.1.is_empty() {
                    table.packed(Of::TZ_INFO, Of::TZ, self.rows, &mut self.zones.packed)?;
                }
                return Ok(());
            }
            Header::DiffPrimitive => self.numbers.line.base = table.0.scalar(views::DiffPrimitiveVector::BASE, 0)?,
            _ => {}
        }
        let packing = self.numbers.packed.packing;
        let fits = match self.element {
            Element::Boolean | Element::Double => packing == Packing::W64,
            Element::Int => packing != Packing::W64,
            Element::Float => packing == Packing::U32,
            _ => true,
        };
        if fits { Ok(()) } else { Err(self.wrong_type()) }
    }
}

/// The field ids of a table.
pub(super) struct Shape {
    len: Option<u8>,
    mask: Option<u8>,
    /// Field ids of info and bytes of a data vector.
    packed: Option<[u8; 2]>,
    strings: Option<u8>,
    vars: Option<u8>,
}

const NOTHING: Shape = Shape { len: None, mask: None, packed: None, strings: None, vars: None };

/// Field ids of `SimplePrimitiveVector` (sections 8.1 and 8.2).
pub(super) const SIMPLE: Shape = {
    use views::SimplePrimitiveVector as Of;
    Shape { len: Some(Of::LEN), mask: Some(Of::NA_MASK), packed: Some([Of::INFO, Of::DATA]), ..NOTHING }
};

/// Field ids of `DiffPrimitiveVector` (section 8.3).
pub(super) const DIFF: Shape = {
    use views::DiffPrimitiveVector as Of;
    Shape { len: Some(Of::LEN), mask: Some(Of::NA_MASK), packed: Some([Of::INFO, Of::DATA]), ..NOTHING }
};

/// Field ids of `DiffDateTimeVector` (section 8.4).
pub(super) const DATE_TIME: Shape = {
    use views::DiffDateTimeVector as Of;
    Shape { mask: Some(Of::NA_MASK), packed: Some([Of::MILLIS_INFO, Of::MILLIS]), vars: Some(Of::VARS), ..NOTHING }
};

/// Field ids of `SimpleStringVector` (section 8.5).
pub(super) const SIMPLE_STRING: Shape = {
    use views::SimpleStringVector as Of;
    Shape { mask: Some(Of::NA_MASK), strings: Some(Of::DATA), ..NOTHING }
};

/// Field ids of `ConstStringVector` (section 8.6).
pub(super) const CONST_STRING: Shape = {
    use views::ConstStringVector as Of;
    Shape { len: Some(Of::LEN), mask: Some(Of::NA_MASK), ..NOTHING }
};

/// Field ids of `DictStringVector` (section 8.7).
pub(super) const DICT_STRING: Shape = {
    use views::DictStringVector as Of;
    Shape { len: Some(Of::LEN), packed: Some([Of::INFO, Of::CODES]), strings: Some(Of::DICTIONARY), ..NOTHING }
};

/// A table whose fields are read by id.
#[derive(Clone, Copy)]
struct Fields<'a>(Table<'a>);

impl<'a> Fields<'a> {
    /// Reads a data vector (section 6) of `rows` numbers.
    fn packed(&self, info: u8, data: u8, rows: u32, out: &mut Packed<'a>) -> Result<()> {
        let Some(views::DataInfo { nbits, signed }) = self.0.inline(info)? else {
            return Err(self.missing(What::FILO_INFO));
        };
        let Some(packing) = raw::packing_of_info(nbits, signed) else {
            return Err(Error::needing(Kind::Invalid, What::FILO_INFO, self.0.at(), nbits.into()));
        };
        let (at, data) = self.bytes(data)?;
        *out = Packed { packing, at, data, unused: 0 };
        out.check(rows)
    }

    /// Returns position and bytes of a byte vector, which is empty if it is absent.
    fn bytes(&self, field: u8) -> Result<(u32, &'a [u8])> {
        let vector: Option<Inline<'a, u8>> = self.0.vector(field)?;
        Ok((position(vector.map_or(self.0.at(), |v| v.at())), vector.map_or(&[], |v| v.bytes())))
    }

    /// Returns the NA mask (section 7), which must be present.
    fn mask(&self, field: u8) -> Result<Mask<'a>> {
        let Some(mask) = self.0.table::<views::NaMask<'a>>(field)? else { return Err(self.missing(What::FILO_MASK)) };
        match mask.mask_type()? {
            views::MaskType::AllZeroes => Ok(Mask::None),
            views::MaskType::SimpleBitMask => Ok(Mask::Words(mask.bit_mask()?.map_or(&[], |words| words.bytes()))),
            views::MaskType::AllOnes => Ok(Mask::All),
            views::MaskType::Unknown(id) => {
                let id = u64::from(id.cast_unsigned());
                Err(Error::needing(Kind::Unsupported, What::FILO_MASK_TYPE, mask.at(), id))
            }
        }
    }

    /// Returns the position of the offsets of a list of strings, and sets `count`. Checks the frame of the list; each
    /// string is checked when it is read.
    fn strings(&self, field: u8, count: &mut u32) -> Result<u32> {
        let list: Option<Inline<'a, u32>> = self.0.vector(field)?;
        let slots = list.map_or(self.0.at(), |list| list.at());
        *count = rows_of(list.map_or(0, |list| list.len()))?;
        check_rows(*count, slots)?;
        Ok(position(slots))
    }

    /// Creates the error for an absent field of the table.
    #[cold]
    fn missing(&self, what: What) -> Error {
        Error::new(Kind::Invalid, what, self.0.at())
    }
}
