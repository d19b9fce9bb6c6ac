//! Types whose records another compiler lays out: a C program, whose fields lie in its flash as plain data.

use super::pack::{FieldSource, pack};
use super::schema::{Steps, Uses};
use super::{Compress, ExtentBuffer, Writer};
use crate::bytes::{Endian, Sink, WriteError};
use crate::dataseries::layout::{Bit, Counts, FieldType, Layout, Options, Slot};
use crate::dataseries::types::{self, FieldRecord};
use crate::error::{Error, Kind, Result, What};

/// What packing must know of a field: plain data of 24 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ForeignField {
    /// 1 / `pack_scale`, for a scaled double.
    pub multiplier: f64,
    /// Offset of the cell in a record.
    pub at: u32,
    /// Size of the cell in bytes; 0 for a bool.
    pub size: u32,
    /// Offset of the byte with the hidden bit that says that the field is null.
    pub null_at: u16,
    /// 0 if the field is not relative, else the number of its base, which may be the field itself, plus 1.
    pub relative: u16,
    /// bool, byte, int32, int64, double, variable32, fixedwidth: 0 to 6.
    pub kind: u8,
    /// The mask of a bool in its byte.
    pub mask: u8,
    /// The mask of the hidden bit; 0 for a field that is not nullable.
    pub null_mask: u8,
    /// [`UNIQUE`](Self::UNIQUE), [`SCALED`](Self::SCALED).
    pub flags: u8,
}

impl ForeignField {
    /// Equal strings share a pool entry (`pack_unique`).
    pub const UNIQUE: u8 = 1;
    /// The field has a scale (`pack_scale`).
    pub const SCALED: u8 = 2;

    const fn ty(&self) -> Option<FieldType> {
        Some(match (self.kind, self.size) {
            (0, 0) => FieldType::Bool,
            (1, 1) => FieldType::Byte,
            (2, 4) => FieldType::Int32,
            (3, 8) => FieldType::Int64,
            (4, 8) => FieldType::Double,
            (5, 4) => FieldType::Variable32,
            (6, 1..) => FieldType::FixedWidth(self.size),
            _ => return None,
        })
    }

    const fn slot(&self) -> Slot {
        let null = match self.null_mask {
            0 => None,
            mask => Some(Bit { at: self.null_at as u32, mask }),
        };
        Slot { at: self.at, mask: self.mask, null }
    }

    /// The field as packing takes it.
    #[inline(always)]
    fn record(&self) -> FieldRecord {
        let mut record = FieldRecord::EMPTY;
        record.set_type(self.ty().unwrap_or(FieldType::Bool));
        record.set_slot(self.slot());
        record.relative = self.relative.into();
        record.multiplier = self.multiplier;
        record.flags = if self.flags & Self::SCALED == 0 { 0 } else { types::SCALED };
        record
    }
}

/// The fields of a [`Foreign`].
struct Fields<'f, const DIFFERENCES: bool>(&'f [ForeignField]);

impl<const DIFFERENCES: bool> FieldSource for Fields<'_, DIFFERENCES> {
    const DIFFERENCES: bool = DIFFERENCES;

    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn field(&self, k: usize) -> Option<FieldRecord> {
        Some(self.0.get(k)?.record())
    }
}

/// A type whose fields were laid out elsewhere, without null compaction. `TEXTS`: whether it can have strings; `DIFFERENCES`: whether
/// doubles can be relative. The code for them is in the image only then.
///
/// ```
/// use pilaster::bytes::{LittleEndian, SliceSink};
/// use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, Foreign, ForeignField, Memory, Writer};
///
/// let xml = br#"<ExtentType name="Tick"><field type="int64" name="time" pack_relative="time" /></ExtentType>"#;
/// let fields = [ForeignField { size: 8, relative: 1, kind: 3, ..Default::default() }];
/// let types = [Description { name: "Tick", xml }];
/// let (mut file, mut rows) = ([0; 1024], [0; 16]);
///
/// let mut log = Writer::<LittleEndian, _>::new(SliceSink::new(&mut file), Descriptions::new(&types)?, &mut []);
/// let mut extent = ExtentBuffer::new(Foreign::<false, false>::new("Tick", &fields)?, Memory::rows(&mut rows))?;
/// for time in [1000i64, 1010, 1020] {
///     log.push_foreign(&mut extent, &time.to_le_bytes(), core::iter::empty())?; // flushes when it must
/// }
/// assert_eq!((log.extents(), extent.len()), (1, 1));
/// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Foreign<'t, const TEXTS: bool, const DIFFERENCES: bool> {
    name: &'t str,
    layout: Layout,
    fields: &'t [ForeignField],
}

impl<'t, const TEXTS: bool, const DIFFERENCES: bool> Foreign<'t, TEXTS, DIFFERENCES> {
    /// Creates the type. Its fields must have the positions of section 6 for the options that a description without options has.
    ///
    /// # Errors
    /// [`Kind::Misuse`] with the number of the first field that has another type, position, base, flag or multiplier than the format allows;
    /// [`Kind::Unsupported`] with the number of a field whose code is left out;
    /// [`Kind::Overflow`] if a record has 2 GiB.
    pub fn new(name: &'t str, fields: &'t [ForeignField]) -> Result<Self> {
        let mut counts = Counts::new();
        for (k, field) in fields.iter().enumerate() {
            counts.add(field.ty().ok_or_else(|| wrong(k))?, field.null_mask != 0);
        }
        let overflow = || Error::new(Kind::Overflow, What::DATASERIES_TYPE, 0);
        let layout = counts.layout(Options::DEFAULT).ok_or_else(overflow)?;
        let mut places = layout.places();
        for (k, field) in fields.iter().enumerate() {
            let Some(ty) = field.ty() else { return Err(wrong(k)) };
            let placed = places.next(ty, field.null_mask != 0) == field.slot();
            let left_out = match ty {
                FieldType::Variable32 => !TEXTS,
                FieldType::Double => !DIFFERENCES && field.relative != 0,
                _ => false,
            };
            if !placed || left_out || !is_allowed(field, ty, k, fields) {
                return Err(refused(k, if left_out { Kind::Unsupported } else { Kind::Misuse }));
            }
        }
        Ok(Foreign { name, layout, fields })
    }
}

/// Returns whether field `k` has a multiplier, a base and flags that the format allows for its type.
#[inline(always)]
fn is_allowed(field: &ForeignField, ty: FieldType, k: usize, fields: &[ForeignField]) -> bool {
    let (scaled, unique) = (field.flags & ForeignField::SCALED != 0, field.flags & ForeignField::UNIQUE != 0);
    // The scale is not 0. The bits take no code for floating-point numbers.
    let real = (field.multiplier.to_bits() >> 52) & 0x7ff != 0x7ff;
    if (scaled && (ty != FieldType::Double || !real)) || (unique && ty != FieldType::Variable32) {
        return false;
    }
    let Some(base) = field.relative.checked_sub(1).map(usize::from) else { return true };
    let number = matches!(ty, FieldType::Int32 | FieldType::Int64 | FieldType::Double);
    // A double that is relative to itself must be scaled.
    let own = base == k && (ty != FieldType::Double || scaled);
    number && (own || (base < k && fields.get(base).is_some_and(|base| base.kind == field.kind)))
}

fn wrong(k: usize) -> Error {
    refused(k, Kind::Misuse)
}

#[cold]
fn refused(k: usize, kind: Kind) -> Error {
    Error::new(kind, What::DATASERIES_FIELD, k as u64)
}

impl<const TEXTS: bool, const DIFFERENCES: bool> Steps for Foreign<'_, TEXTS, DIFFERENCES> {
    const USES: Uses = Uses { compact: false, strings: TEXTS, relative_double: DIFFERENCES, ..Uses::ALL };

    fn name(&self) -> &str {
        self.name
    }

    fn options(&self) -> Options {
        Options::DEFAULT
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    /// None: rows are added by [`ExtentBuffer::push_foreign`] only.
    fn fields(&self) -> &[FieldRecord] {
        &[]
    }

    fn pack<E: Endian>(&self, records: &mut [u8]) {
        pack::<E, _>(&Fields::<DIFFERENCES>(self.fields), self.layout.record_len(), false, records);
    }

    fn compact(&self, records: &mut [u8]) -> usize {
        records.len()
    }
}

impl<E: Endian, S: Sink, C: Compress> Writer<'_, E, S, C> {
    /// Adds a row to `extent`. If the row does not fit, `extent` is flushed first.
    ///
    /// # Errors
    /// Errors of [`ExtentBuffer::push_foreign`] if the row does not fit into an empty extent either; errors of
    /// [`flush`](Self::flush).
    pub fn push_foreign<'s, const TEXTS: bool, const DIFFERENCES: bool>(
        &mut self,
        extent: &mut ExtentBuffer<'_, E, Foreign<'_, TEXTS, DIFFERENCES>>,
        record: &[u8],
        strings: impl Iterator<Item = &'s [u8]> + Clone,
    ) -> Result<(), WriteError<S::Error>> {
        loop {
            match extent.push_foreign(record, strings.clone()) {
                Err(e) if e.kind() == Kind::NoRoom && !extent.is_empty() => self.flush_any(extent)?,
                done => return Ok(done?),
            }
        }
    }
}

impl<E: Endian, const TEXTS: bool, const DIFFERENCES: bool> ExtentBuffer<'_, E, Foreign<'_, TEXTS, DIFFERENCES>> {
    /// Adds a row: a record in byte order `E`, in which the cells of strings are zero, and a string for each variable32 in the order
    /// of the fields. The string of a null is not stored.
    ///
    /// # Errors
    /// Errors of [`push`](ExtentBuffer::push); [`Kind::Misuse`] for a record of another size, with the right size, and for
    /// too few or too many strings.
    pub fn push_foreign<'s>(&mut self, record: &[u8], mut strings: impl Iterator<Item = &'s [u8]>) -> Result<()> {
        if record.len() != self.record_len() {
            return Err(Error::needing(Kind::Misuse, What::ROW, self.len().into(), self.record_len() as u64));
        }
        self.open_group(1)?;
        let (schema, rows, pool) = self.group();
        let Some(to) = rows.get_mut(..record.len()) else { return Ok(()) };
        to.copy_from_slice(record);
        if TEXTS {
            let before = pool.len();
            for (k, field) in schema.fields.iter().enumerate().filter(|(_, field)| field.kind == 5) {
                let text = strings.next().ok_or_else(|| wrong(k));
                let null = field.slot().null;
                if null.is_some_and(|bit| record.get(bit.at as usize).is_some_and(|byte| byte & bit.mask != 0)) {
                    continue;
                }
                let unique = field.flags & ForeignField::UNIQUE != 0;
                match text.and_then(|text| pool.add::<E>(text, unique)) {
                    Ok(cell) => {
                        let cell = super::extent::order::<E, 4>(cell.to_le_bytes());
                        if let Some(to) = to.get_mut(field.at as usize..).and_then(<[u8]>::first_chunk_mut) {
                            *to = cell;
                        }
                    }
                    Err(e) => {
                        pool.truncate(before);
                        return Err(e);
                    }
                }
            }
            if strings.next().is_some() {
                pool.truncate(before);
                return Err(wrong(schema.fields.len()));
            }
        } else if strings.next().is_some() {
            return Err(wrong(schema.fields.len()));
        }
        self.close_group(1);
        Ok(())
    }
}
