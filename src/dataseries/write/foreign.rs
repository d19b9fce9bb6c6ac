//! Types whose records another compiler lays out: a C program, whose fields lie in its flash as plain data.

use super::pack::{FieldSource, pack};
use super::schema::{Steps, Uses};
use super::{Compress, ExtentBuffer, Writer};
use crate::bytes::{Endian, Sink, WriteError, low16};
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

    /// Lays out the fields of a type: sets `at`, `size`, `mask`, `null_at` and `null_mask` of each as the format demands, from its `kind`,
    /// the `size` of a fixedwidth, and whether `null_mask` is not 0. Returns the size of a record, or `None` if it would have 2 GiB or
    /// more, if a kind or a size does not exist, or if the bit of a null is after byte 65,535; the fields are unspecified then.
    ///
    /// ```
    /// use pilaster::dataseries::write::ForeignField;
    ///
    /// const EMPTY: ForeignField =
    ///     ForeignField { multiplier: 0.0, at: 0, size: 0, null_at: 0, relative: 0, kind: 0, mask: 0, null_mask: 0, flags: 0 };
    /// // A nullable int32, and a bool, laid out at compile time.
    /// const RECORD: ([ForeignField; 2], u32) = {
    ///     let mut fields = [ForeignField { kind: 2, null_mask: 1, ..EMPTY }, EMPTY];
    ///     let len = ForeignField::lay_out(&mut fields).expect("a small record");
    ///     (fields, len)
    /// };
    /// let ([number, bit], len) = RECORD;
    /// assert_eq!((number.at, number.size, number.null_mask, bit.mask, len), (4, 4, 1, 2, 8));
    /// ```
    #[must_use]
    pub const fn lay_out(fields: &mut [ForeignField]) -> Option<u32> {
        let mut counts = Counts::new();
        let mut rest: &[ForeignField] = fields;
        while let [field, tail @ ..] = rest {
            if field.kind > 6 || field.kind == 6 && field.size == 0 {
                return None;
            }
            counts = counts.with(field.ty(), field.null_mask != 0);
            rest = tail;
        }
        let Some(layout) = counts.layout(Options::DEFAULT) else { return None };
        let mut places = layout.places();
        let mut rest = fields;
        while let [field, tail @ ..] = rest {
            let Slot { at, mask, null } = places.next(field.ty(), field.null_mask != 0);
            (field.at, field.mask, field.size, field.null_at) = (at, mask, field.ty().size(), 0);
            if let Some(Bit { at, mask }) = null {
                // The field that holds the offset has 16 bits.
                if at > u16::MAX as u32 {
                    return None;
                }
                (field.null_at, field.null_mask) = (low16(at as usize), mask);
            }
            rest = tail;
        }
        Some(layout.record_len())
    }

    /// The type. [`Foreign::new`] checks kind and size.
    const fn ty(&self) -> FieldType {
        match self.kind {
            1 => FieldType::Byte,
            2 => FieldType::Int32,
            3 => FieldType::Int64,
            4 => FieldType::Double,
            5 => FieldType::Variable32,
            6 => FieldType::FixedWidth(self.size),
            _ => FieldType::Bool,
        }
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
        record.set_type(self.ty());
        record.set_slot(self.slot());
        record.relative = self.relative.into();
        record.multiplier = self.multiplier;
        record.flags = if self.flags & Self::SCALED == 0 { 0 } else { types::SCALED };
        record
    }
}

/// Where the next field of each group lies: a bit, then bytes. One loop adds up the groups, and another one, which begins at their starts,
/// compares the positions of the fields. This takes less code than [`Counts::add`] and [`Places`](crate::dataseries::layout::Places).
#[derive(Default)]
struct Groups([u32; 5]);

impl Groups {
    /// Adds a field, and returns whether it lies there. `None` if its type or size does not exist.
    #[inline(never)]
    fn add(&mut self, field: &ForeignField) -> Option<bool> {
        let (group, size) = *KINDS.get(usize::from(field.kind))?;
        let right = if field.kind == 6 { field.size > 0 } else { field.size == u32::from(size) };
        if !right {
            return None;
        }
        let mut same = if group == 0 {
            (field.at, field.mask) == self.bit()
        } else {
            let next = self.0.get_mut(usize::from(group))?;
            let at = *next;
            *next = at.saturating_add(field.size);
            (field.at, field.mask) == (at, 0)
        };
        if field.null_mask != 0 {
            same &= (u32::from(field.null_at), field.null_mask) == self.bit();
        }
        Some(same)
    }

    /// Returns offset and mask of one more bit.
    fn bit(&mut self) -> (u32, u8) {
        let [next, ..] = &mut self.0;
        let bit = *next;
        *next = bit.saturating_add(1);
        (bit >> 3, 1 << (bit & 7))
    }
}

/// The group and the size in bytes of each kind; 0 for any size.
const KINDS: [(u8, u8); 7] = [(0, 0), (1, 1), (2, 4), (4, 8), (4, 8), (3, 4), (1, 0)];

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
        let mut groups = Groups::default();
        for (k, field) in fields.iter().enumerate() {
            groups.add(field).ok_or_else(|| wrong(k))?;
        }
        let overflow = || Error::new(Kind::Overflow, What::DATASERIES_TYPE, 0);
        let layout = Counts::of_groups(groups.0).layout(Options::DEFAULT).ok_or_else(overflow)?;
        let mut groups = Groups(layout.starts());
        for (k, field) in fields.iter().enumerate() {
            if (!TEXTS && field.kind == 5) || (!DIFFERENCES && field.kind == 4 && field.relative != 0) {
                return Err(refused(k, Kind::Unsupported));
            }
            if groups.add(field) != Some(true) || !is_allowed(field, k, fields) {
                return Err(wrong(k));
            }
        }
        Ok(Foreign { name, layout, fields })
    }
}

/// Returns whether field `k` has a multiplier, a base and flags that the format allows for its type.
#[inline(always)]
fn is_allowed(field: &ForeignField, k: usize, fields: &[ForeignField]) -> bool {
    let (scaled, unique) = (field.flags & ForeignField::SCALED != 0, field.flags & ForeignField::UNIQUE != 0);
    // The scale is not 0. The bits take no code for floating-point numbers.
    let real = (field.multiplier.to_bits() >> 52) & 0x7ff != 0x7ff;
    if (scaled && (field.kind != 4 || !real)) || (unique && field.kind != 5) {
        return false;
    }
    let Some(base) = field.relative.checked_sub(1).map(usize::from) else { return true };
    // A double that is relative to itself must be scaled.
    let own = base == k && (field.kind != 4 || scaled);
    let number = matches!(field.kind, 2..=4);
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

#[cfg(test)]
mod tests {
    use super::*;

    const SCALED: ForeignField = ForeignField {
        multiplier: 100.0,
        at: 0,
        size: 8,
        null_at: 0,
        relative: 1,
        kind: 4,
        mask: 0,
        null_mask: 0,
        flags: ForeignField::SCALED,
    };

    fn refused<const DIFFERENCES: bool>(field: ForeignField) -> Option<(Kind, u64)> {
        let fields = [ForeignField { relative: 0, ..SCALED }, ForeignField { at: 8, ..field }];
        let ty = Foreign::<'_, false, DIFFERENCES>::new("T", &fields);
        ty.err().map(|e| (e.kind(), e.at()))
    }

    #[test]
    fn what_a_build_leaves_out_is_unsupported() {
        let relative = ForeignField { relative: 2, ..SCALED };
        assert_eq!(refused::<true>(relative), None);
        assert_eq!(refused::<false>(relative), Some((Kind::Unsupported, 1)));
        assert_eq!(refused::<false>(ForeignField { relative: 0, ..SCALED }), None);
    }

    #[test]
    fn a_scale_of_zero_is_refused() {
        let scaled = |scale: f64| refused::<true>(ForeignField { multiplier: 1.0 / scale, ..SCALED });
        assert_eq!((scaled(0.01), scaled(-1e300), scaled(3e-308)), (None, None, None));
        assert_eq!(
            (scaled(0.0), scaled(-0.0), scaled(f64::NAN)),
            (Some((Kind::Misuse, 1)), Some((Kind::Misuse, 1)), Some((Kind::Misuse, 1)))
        );
    }
}
