//! Extent types: the fields and packing options of the records of an extent, without a heap.
//!
//! An [`ExtentType`] is a view. Its fields are a slice of plain [`FieldRecord`]s in caller-provided memory (a scratch,
//! an array, a `static`), and their names are spans. A name that is verbatim in the XML text is borrowed from it. A
//! name with references or normalised white space is in a separate buffer of decoded names.

use super::layout::{Bit, Counts, FieldType, Layout, Options, Places, Slot};
use super::raw::{INDEX_TYPE, XML_TYPE};
use super::write::Record;

/// The base that a field is stored relative to (`pack_relative`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Relative {
    /// None: the field is not relative.
    #[default]
    No,
    /// The value of the field itself in the record before.
    Own,
    /// The field with this index, in the same record. It is declared earlier and has the same type.
    To(u32),
}

/// A field of an extent type.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::dataseries::{Bit, ExtentType, Field, FieldType, Relative, Slot};
///
/// let xml = br#"<ExtentType name="Probe">
///   <field type="int64" name="time" pack_relative="time" />
///   <field type="double" name="temp" pack_scale="0.01" opt_nullable="yes" />
/// </ExtentType>"#;
/// let mut memory = [0; 512];
/// let ty = ExtentType::parse(xml, &Default::default(), &mut Scratch::new(&mut memory))?;
///
/// // The first byte of a record has the null bit of `temp`.
/// let slot = Slot { at: 16, mask: 0, null: Some(Bit { at: 0, mask: 1 }) };
/// let temp = Field { nullable: true, slot, scale: Some(0.01), ..Field::new("temp", FieldType::Double) };
/// assert_eq!(ty.field(1), Some(temp));
/// assert_eq!(ty.field(0).map(|time| (time.slot.at, time.relative)), Some((8, Relative::Own)));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The name.
    pub name: &'a str,
    /// The type.
    pub ty: FieldType,
    /// Whether rows can be null.
    pub nullable: bool,
    /// The position in the record.
    pub slot: Slot,
    /// `pack_unique`: equal strings of unique fields share a pool entry.
    pub unique: bool,
    /// `pack_scale`: the unit. Stored cells are multiples of it.
    pub scale: Option<f64>,
    /// `pack_relative`.
    pub relative: Relative,
    /// `opt_doublebase`: the number that values are relative to; 0 if not declared. It is not added to values.
    pub base: f64,
}

impl<'a> Field<'a> {
    /// Creates a field without options. `slot` is zero; it is computed when a description is parsed.
    #[must_use]
    pub const fn new(name: &'a str, ty: FieldType) -> Self {
        let slot = Slot { at: 0, mask: 0, null: None };
        Field { name, ty, nullable: false, slot, unique: false, scale: None, relative: Relative::No, base: 0.0 }
    }
}

/// A field as plain data, which can be stored in caller-provided memory.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FieldRecord {
    pub(super) scale: f64,
    /// 1 / scale. Stored, because a division of doubles takes 1 KB of flash on targets without an FPU for doubles.
    pub(super) multiplier: f64,
    pub(super) base: f64,
    pub(super) name_at: u32,
    pub(super) name_len: u32,
    size: u32,
    at: u32,
    null_at: u32,
    /// 0 if not relative, else the index of the base field plus 1.
    pub(super) relative: u32,
    kind: u8,
    mask: u8,
    /// 0 for a field that is not nullable.
    pub(super) null_mask: u8,
    pub(super) flags: u8,
    zero: [u8; 4],
}

pub(super) const UNIQUE: u8 = 1;
pub(super) const SCALED: u8 = 2;
pub(super) const DECODED: u8 = 4;

/// The position of the name of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameAt {
    /// Offset of the first byte.
    pub at: u32,
    /// Length in bytes.
    pub len: u32,
    /// Whether the name is in the decoded names instead of the XML text.
    pub decoded: bool,
}

impl FieldRecord {
    /// The initial value of arrays of records.
    pub(crate) const EMPTY: FieldRecord = FieldRecord {
        scale: 0.0,
        multiplier: 0.0,
        base: 0.0,
        name_at: 0,
        name_len: 0,
        size: 0,
        at: 0,
        null_at: 0,
        relative: 0,
        kind: 0,
        mask: 0,
        null_mask: 0,
        flags: 0,
        zero: [0; 4],
    };

    /// Creates the record of `field`, which has index `own` in its type. `name` is the position of its name;
    /// [`Field::name`] is ignored.
    #[must_use]
    pub const fn new(field: &Field<'_>, own: u32, name: NameAt) -> Self {
        let mut flags = 0;
        if field.unique {
            flags |= UNIQUE;
        }
        if name.decoded {
            flags |= DECODED;
        }
        let scale = match field.scale {
            Some(scale) => {
                flags |= SCALED;
                scale
            }
            None => 0.0,
        };
        let null = match field.slot.null {
            Some(bit) => bit,
            None => Bit { at: 0, mask: 0 },
        };
        FieldRecord {
            scale,
            multiplier: 1.0 / scale,
            base: field.base,
            name_at: name.at,
            name_len: name.len,
            size: field.ty.size(),
            at: field.slot.at,
            null_at: null.at,
            relative: match field.relative {
                Relative::No => 0,
                Relative::Own => own.saturating_add(1),
                Relative::To(k) => k.saturating_add(1),
            },
            kind: kind(field.ty),
            mask: field.slot.mask,
            null_mask: null.mask,
            flags,
            zero: [0; 4],
        }
    }

    /// Returns the position of the name.
    #[must_use]
    pub const fn name(&self) -> NameAt {
        NameAt { at: self.name_at, len: self.name_len, decoded: self.flags & DECODED != 0 }
    }

    pub(super) const fn set_type(&mut self, ty: FieldType) {
        (self.kind, self.size) = (kind(ty), ty.size());
    }

    pub(super) const fn set_slot(&mut self, slot: Slot) {
        (self.at, self.mask) = (slot.at, slot.mask);
        if let Some(null) = slot.null {
            (self.null_at, self.null_mask) = (null.at, null.mask);
        }
    }

    /// Returns the type.
    #[must_use]
    pub const fn ty(&self) -> FieldType {
        match self.kind {
            0 => FieldType::Bool,
            1 => FieldType::Byte,
            2 => FieldType::Int32,
            3 => FieldType::Int64,
            4 => FieldType::Double,
            5 => FieldType::Variable32,
            _ => FieldType::FixedWidth(self.size),
        }
    }

    /// Returns the position in the record.
    #[must_use]
    pub const fn slot(&self) -> Slot {
        Slot { at: self.at, mask: self.mask, null: self.null() }
    }

    /// Returns the null bit, or `None` if the field is not nullable.
    #[must_use]
    pub const fn null(&self) -> Option<Bit> {
        if self.null_mask == 0 { None } else { Some(Bit { at: self.null_at, mask: self.null_mask }) }
    }

    /// Returns whether equal strings share a pool entry.
    #[must_use]
    pub const fn unique(&self) -> bool {
        self.flags & UNIQUE != 0
    }

    /// Returns the unit of a scaled double.
    #[must_use]
    pub const fn scale(&self) -> Option<f64> {
        if self.flags & SCALED == 0 { None } else { Some(self.scale) }
    }

    /// Returns the factor that converts a value of a scaled double to its cell: 1 / scale, rounded (section 8.4).
    #[must_use]
    pub const fn multiplier(&self) -> f64 {
        self.multiplier
    }

    /// Returns the base that the field is relative to; `own` is the index of the field itself.
    #[must_use]
    pub const fn relative(&self, own: usize) -> Relative {
        match self.relative.checked_sub(1) {
            None => Relative::No,
            Some(k) if k as usize == own => Relative::Own,
            Some(k) => Relative::To(k),
        }
    }
}

const fn kind(ty: FieldType) -> u8 {
    match ty {
        FieldType::Bool => 0,
        FieldType::Byte => 1,
        FieldType::Int32 => 2,
        FieldType::Int64 => 3,
        FieldType::Double => 4,
        FieldType::Variable32 => 5,
        FieldType::FixedWidth(_) => 6,
    }
}

/// An extent type.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::dataseries::{ExtentType, FieldType, Options, Ordering, Pad};
///
/// let xml = br#"<ExtentType name="Probe" namespace="example.org" version="1.2" pack_pad_record="max_column_size">
///   <field type="int32" name="id" />
///   <field type="fixedwidth" size="6" name="mac" />
/// </ExtentType>"#;
/// let mut memory = [0; 512];
/// let ty = ExtentType::parse(xml, &Default::default(), &mut Scratch::new(&mut memory))?;
///
/// assert_eq!((ty.name(), ty.namespace(), ty.version()), ("Probe", "example.org", (1, 2)));
/// assert_eq!((ty.xml(), ty.record_len()), (&xml[..], 12), "6 bytes, 2 of padding, 4");
/// let options = Options { ordering: Ordering::SmallToBig, pad: Pad::MaxColumnSize, compact: false };
/// assert_eq!(ty.options(), options);
///
/// assert_eq!((ty.find("mac"), ty.find("MAC")), (Some(1), None));
/// assert_eq!(ty.field(1).map(|mac| (mac.ty, mac.slot.at)), Some((FieldType::FixedWidth(6), 0)));
/// let fields: Vec<_> = ty.fields().map(|field| (field.name, field.ty.name(), field.ty.size())).collect();
/// assert_eq!(fields, [("id", "int32", 4), ("mac", "fixedwidth", 6)]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtentType<'a> {
    pub(crate) xml: &'a [u8],
    /// Names that are not verbatim in the XML text.
    pub(crate) decoded: &'a [u8],
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) version: (i32, i32),
    pub(crate) options: Options,
    pub(crate) layout: Layout,
    pub(crate) fields: &'a [FieldRecord],
}

impl<'a> ExtentType<'a> {
    /// Returns the type of a record that was declared with [`record!`](super::record).
    #[must_use]
    pub const fn of<R: Record>() -> ExtentType<'static> {
        ExtentType {
            xml: R::XML.as_bytes(),
            decoded: R::FIELD_NAMES.as_bytes(),
            name: R::NAME,
            namespace: R::NAMESPACE,
            version: R::VERSION,
            options: R::OPTIONS,
            layout: R::LAYOUT,
            fields: R::FIELDS,
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the namespace, empty if not declared.
    #[must_use]
    pub const fn namespace(&self) -> &'a str {
        self.namespace
    }

    /// Returns the major and minor version, 0.0 if not declared.
    #[must_use]
    pub const fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Returns the options that the packing depends on.
    #[must_use]
    pub const fn options(&self) -> Options {
        self.options
    }

    /// Returns the positions of the groups in a record.
    #[must_use]
    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the size of a record in bytes.
    #[must_use]
    pub const fn record_len(&self) -> usize {
        self.layout.record_len() as usize
    }

    /// Returns the description in the file, byte for byte; empty for a built-in type.
    #[must_use]
    pub const fn xml(&self) -> &'a [u8] {
        self.xml
    }

    /// Returns the fields as plain data.
    #[must_use]
    pub(crate) const fn records(&self) -> &'a [FieldRecord] {
        self.fields
    }

    /// Returns field `k`, or `None` if there is no such field.
    #[must_use]
    pub fn field(&self, k: usize) -> Option<Field<'a>> {
        let record = self.fields.get(k)?;
        Some(Field {
            name: self.name_of(record)?,
            ty: record.ty(),
            nullable: record.null_mask != 0,
            slot: record.slot(),
            unique: record.unique(),
            scale: record.scale(),
            relative: record.relative(k),
            base: record.base,
        })
    }

    /// Returns the fields in declaration order.
    pub fn fields(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let ty = *self;
        (0..ty.fields.len()).map_while(move |k| ty.field(k))
    }

    /// Returns the index of the field named `name`, or `None` if there is no such field.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|record| self.name_of(record) == Some(name))
    }

    fn name_of(&self, record: &FieldRecord) -> Option<&'a str> {
        let NameAt { at, len, decoded } = record.name();
        let from = if decoded { self.decoded } else { self.xml };
        core::str::from_utf8(from.get(at as usize..)?.get(..len as usize)?).ok()
    }

    /// The built-in type of the type extent (section 5).
    pub const XML: ExtentType<'static> = ExtentType {
        xml: &[],
        decoded: b"xmltype",
        name: XML_TYPE,
        namespace: "",
        version: (0, 0),
        options: Options::DEFAULT,
        layout: XML_LAYOUT,
        fields: &[built_in(FieldType::Variable32, &mut XML_LAYOUT.places(), 0, 7)],
    };

    /// The built-in type of the index extent (section 5).
    pub const INDEX: ExtentType<'static> = ExtentType {
        xml: &[],
        decoded: b"offsetextenttype",
        name: INDEX_TYPE,
        namespace: "",
        version: (0, 0),
        options: Options::DEFAULT,
        layout: INDEX_LAYOUT,
        fields: &[
            built_in(FieldType::Int64, &mut INDEX_LAYOUT.places(), 0, 6),
            built_in(FieldType::Variable32, &mut INDEX_LAYOUT.places(), 6, 10),
        ],
    };
}

/// Returns the layout of the records, and the fields as plain data.
#[must_use]
pub const fn parts<'a>(ty: &ExtentType<'a>) -> (Layout, &'a [FieldRecord]) {
    (ty.layout, ty.fields)
}

const XML_LAYOUT: Layout = built_in_layout(&[(FieldType::Variable32, false)]);
const INDEX_LAYOUT: Layout = built_in_layout(&[(FieldType::Int64, false), (FieldType::Variable32, false)]);

#[allow(clippy::panic, reason = "runs in the compiler only")]
const fn built_in_layout(fields: &[(FieldType, bool)]) -> Layout {
    match Counts::of(fields).layout(Options::DEFAULT) {
        Some(layout) => layout,
        None => panic!("two fields fit a record"),
    }
}

/// Creates a field of a built-in type. Each field is the first of its group.
const fn built_in(ty: FieldType, places: &mut Places, name_at: u32, name_len: u32) -> FieldRecord {
    let slot = places.next(ty, false);
    let field =
        Field { name: "", ty, nullable: false, slot, unique: false, scale: None, relative: Relative::No, base: 0.0 };
    FieldRecord::new(&field, 0, NameAt { at: name_at, len: name_len, decoded: true })
}

#[cfg(test)]
mod tests {
    use super::super::raw::{INDEX_RECORD, XML_RECORD};
    use super::*;

    #[test]
    fn the_built_in_types() {
        assert_eq!(ExtentType::XML.record_len(), XML_RECORD);
        assert_eq!(ExtentType::INDEX.record_len(), INDEX_RECORD);
        let field = |ty: ExtentType<'static>, k| ty.field(k).map(|f| (f.name, f.ty, f.slot.at, f.nullable));
        assert_eq!(field(ExtentType::XML, 0), Some(("xmltype", FieldType::Variable32, 0, false)));
        assert_eq!(field(ExtentType::INDEX, 0), Some(("offset", FieldType::Int64, 8, false)));
        assert_eq!(field(ExtentType::INDEX, 1), Some(("extenttype", FieldType::Variable32, 0, false)));
        assert_eq!(field(ExtentType::INDEX, 2), None);
        assert_eq!(ExtentType::INDEX.find("extenttype"), Some(1));
    }

    #[test]
    fn a_record_keeps_a_field() {
        let field = Field {
            name: "d",
            ty: FieldType::Double,
            nullable: true,
            slot: Slot { at: 8, mask: 0, null: Some(Bit { at: 1, mask: 4 }) },
            unique: false,
            scale: Some(0.5),
            relative: Relative::Own,
            base: 3.0,
        };
        let (near, far) = (Field { relative: Relative::To(0), ..field }, Field { scale: None, ..field });
        let name = NameAt { at: 1, len: 1, decoded: false };
        let records = [&field, &near, &far].map(|f| FieldRecord::new(f, 2, name));
        let ty = ExtentType { xml: b"<d>", fields: &records, ..ExtentType::XML };
        assert_eq!(ty.field(1), Some(near));
        assert_eq!(ty.field(2), Some(far));
        assert_eq!(ty.field(0), Some(Field { relative: Relative::To(2), ..field }), "own is by number");
    }
}
