//! Extent types from their XML descriptions (section 5.1).

use crate::bytes::{Scratch, sort_by, word_list};
use crate::dataseries::layout::{Counts, FieldType, Layout, Options, Ordering, Pad};
use crate::dataseries::raw::MAX_NAME;
use crate::dataseries::types::{DECODED, ExtentType, FieldRecord, NameAt, SCALED, UNIQUE};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;
use crate::meta::xml::{Attribute, Tag, Text, Token, Xml};

use super::number;

/// A description, parsed into caller-provided memory. Items beyond the capacity are only counted. So the first walk
/// over the document determines the required sizes, and an equal second walk fills the memory.
pub(super) struct Description<'a, 'r> {
    xml: &'a [u8],
    /// Buffer for the fields.
    fields: &'r mut [FieldRecord],
    /// Buffer for the name, then the namespace, then the names of fields that are not verbatim in the document.
    texts: &'r mut [u8],
    /// The sizes of the fields, for the layout.
    counts: Counts,
    /// The number of fields.
    pub count: usize,
    /// The length in bytes of all texts; `name` and `namespace` are the lengths of these two.
    pub used: usize,
    pub name: usize,
    pub namespace: usize,
    pub version: [i32; 2],
    pub options: Options,
    pub layout: Layout,
}

impl<'a, 'r> Description<'a, 'r> {
    pub(super) const fn new(xml: &'a [u8], fields: &'r mut [FieldRecord], texts: &'r mut [u8]) -> Self {
        Description {
            xml,
            fields,
            texts,
            counts: Counts::new(),
            count: 0,
            used: 0,
            name: 0,
            namespace: 0,
            version: [0; 2],
            options: Options::DEFAULT,
            layout: Layout::NONE,
        }
    }

    /// Parses the document: its root, then its fields. Inside the root, only fields and white space are valid; the
    /// contents of a field are ignored. If `fields` has the capacity for all fields, they are complete afterwards.
    pub(super) fn read(&mut self, limits: &Limits, scratch: &mut Scratch<'_>) -> Result<()> {
        let mut reader = Xml::new(self.xml);
        let mut root = None;
        loop {
            let at = reader.at();
            let Some(piece) = reader.advance()? else { break };
            match (reader.depth(), piece) {
                (1, Token::Open) => root = Some(self.root(reader.tag())?),
                (2, Token::Open) if reader.tag().is("field") => {
                    self.field(reader.tag())?;
                    if self.count as u64 > limits.max_columns.into() {
                        let (at, limit) = (reader.tag().name().at(), limits.max_columns.into());
                        return Err(Error::needing(Kind::Limit, What::MAX_COLUMNS, at, limit));
                    }
                }
                (2, Token::Open)
                | (1, Token::Text { blank: false } | Token::Cdata | Token::Comment | Token::Instruction) => {
                    return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, at));
                }
                _ => {}
            }
        }
        let root = root.ok_or_else(|| Error::new(Kind::Truncated, What::DATASERIES_TYPE, 0))?;
        if let Some(fields) = core::mem::take(&mut self.fields).get_mut(..self.count) {
            self.fields = fields;
            self.place(root.at())?;
            self.relate(root, scratch)?;
        }
        Ok(())
    }

    /// Parses the root. Returns its name attribute.
    fn root(&mut self, tag: &Tag<'a>) -> Result<Text<'a>> {
        let at = tag.name().at();
        if !tag.is("ExtentType") {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, at));
        }
        let mut declared = Declared::NOTHING;
        declared.read(tag, OF_ROOT, What::DATASERIES_TYPE)?;
        if !declared.is_named() {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE_NAME, at));
        }
        self.name = self.put(&declared.name);
        self.namespace = self.put(&declared.namespace);
        (self.version, self.options) = (declared.version, declared.options);
        Ok(declared.name)
    }

    /// Parses the next field. For now, `relative` of its record holds the offset of an attribute value, and `null_mask`
    /// only tells whether the field is nullable.
    fn field(&mut self, tag: &Tag<'a>) -> Result<()> {
        let mut declared = Declared::NOTHING;
        declared.read(tag, OF_FIELD, What::DATASERIES_FIELD)?;
        let bad = || Error::new(Kind::Invalid, What::DATASERIES_FIELD, tag.name().at());
        let ty = match (declared.ty.ok_or_else(bad)?, declared.size) {
            (FieldType::FixedWidth(_), 0) => return Err(bad()),
            (FieldType::FixedWidth(_), size) => FieldType::FixedWidth(size),
            (ty, 0) => ty,
            _ => return Err(bad()),
        };
        let allowed = match ty {
            FieldType::Variable32 => FOR_STRINGS,
            FieldType::Double => FOR_DOUBLES | FOR_NUMBERS,
            FieldType::Int32 | FieldType::Int64 => FOR_NUMBERS,
            _ => 0,
        };
        if declared.used & !allowed != 0 || (declared.warn && declared.field.flags & SCALED == 0) {
            return Err(bad());
        }
        if !declared.is_named() || declared.name.chars().next() == Some(' ') {
            return Err(bad());
        }
        let (field, name) = (&mut declared.field, &declared.name);
        field.set_type(ty);
        field.multiplier = 1.0 / field.scale;
        match name.as_str() {
            Some(text) => (field.name_at, field.name_len) = (small(name.at(), name)?, small(text.len() as u64, name)?),
            None => {
                field.flags |= DECODED;
                field.name_at = small(self.used as u64, name)?;
                field.name_len = small(self.put(name) as u64, name)?;
            }
        }
        self.counts.add(ty, field.null_mask != 0);
        if let Some(place) = self.fields.get_mut(self.count) {
            *place = *field;
        }
        self.count = self.count.wrapping_add(1);
        Ok(())
    }

    /// Appends a text. Returns its length in bytes.
    fn put(&mut self, text: &Text<'_>) -> usize {
        text.copy_to(self.texts.get_mut(self.used..).unwrap_or_default());
        let len = text.len();
        self.used = self.used.wrapping_add(len);
        len
    }

    /// Computes the position of each field in a record, which depends on all fields. `at` is the offset of the name of
    /// the type.
    fn place(&mut self, at: u64) -> Result<()> {
        self.layout =
            self.counts.layout(self.options).ok_or_else(|| Error::new(Kind::Overflow, What::DATASERIES_TYPE, 0))?;
        if self.options.compact && self.layout.compact_prefix() == 0 {
            // Compaction requires a bool, because the null bits tell which cells are stored.
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, at));
        }
        let mut places = self.layout.places();
        for field in self.fields.iter_mut() {
            field.set_slot(places.next(field.ty(), field.null_mask != 0));
        }
        Ok(())
    }

    /// Checks that the names of fields are distinct, and resolves the name in each `relative` to the index of a field.
    /// `root` is any text of the document.
    fn relate(&mut self, root: Text<'a>, scratch: &mut Scratch<'_>) -> Result<()> {
        let order = scratch.take::<u32>(self.count)?;
        for (number, k) in order.iter_mut().zip(0..) {
            *number = k;
        }
        sort_by(order, |a, b| (self.name_of(*a), a) < (self.name_of(*b), b));
        for pair in order.windows(2) {
            if let [a, b] = pair
                && self.name_of(*a) == self.name_of(*b)
                && let Some(field) = self.fields.get(*b as usize)
            {
                return Err(Error::new(Kind::Invalid, What::DATASERIES_FIELD, field.name_at.into()));
            }
        }
        for k in 0..self.count {
            let Some(field) = self.fields.get(k).filter(|field| field.relative != 0) else { continue };
            let name = root.other(self.xml, field.relative)?;
            let mut buffer = [0; MAX_NAME];
            // A text that does not fit is longer than any name, so it refers to no field.
            let text = bytes(&name, &mut buffer).unwrap_or_default();
            let base = order.binary_search_by(|k| self.name_of(*k).cmp(text)).ok();
            let base = base.and_then(|at| order.get(at)).map(|base| *base as usize);
            let fits = |base: &usize| {
                let same = self.fields.get(*base).is_some_and(|base| base.ty() == field.ty());
                // Doubles relative to the row before would accumulate rounding errors without a scale.
                let drifts = *base == k && field.ty() == FieldType::Double && field.flags & SCALED == 0;
                *base <= k && same && !drifts
            };
            let base = base.filter(fits).ok_or_else(|| Error::new(Kind::Invalid, What::DATASERIES_FIELD, name.at()))?;
            let relative = small(base.wrapping_add(1) as u64, &name)?;
            if let Some(field) = self.fields.get_mut(k) {
                field.relative = relative;
            }
        }
        Ok(())
    }

    /// Returns the name of field `k`.
    fn name_of(&self, k: u32) -> &[u8] {
        let Some(field) = self.fields.get(k as usize) else { return &[] };
        let NameAt { at, len, decoded } = field.name();
        let from: &[u8] = if decoded { self.texts } else { self.xml };
        from.get(at as usize..).and_then(|rest| rest.get(..len as usize)).unwrap_or_default()
    }
}

impl<'a> ExtentType<'a> {
    /// Parses the description `xml`. The fields go into `scratch`, as do the names of the type, and the names of fields
    /// that are not verbatim in the document. The time is proportional to the length of the document, except for the
    /// sorting of the names.
    ///
    /// # Errors
    /// Errors of an invalid document, with offsets in the document; [`Kind::Limit`] for more than `limits.max_columns`
    /// fields; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn parse(xml: &'a [u8], limits: &Limits, scratch: &mut Scratch<'a>) -> Result<ExtentType<'a>> {
        let mut sizes = Description::new(xml, &mut [], &mut []);
        sizes.read(limits, &mut scratch.scope())?;
        let fields = scratch.take::<FieldRecord>(sizes.count)?;
        let decoded = scratch.take::<u8>(sizes.used)?;
        let mut all = Description::new(xml, fields, decoded);
        all.read(limits, &mut scratch.scope())?;
        let Description { name, namespace, version: [major, minor], options, layout, .. } = all;
        let decoded = &*decoded;
        let (name, rest) = decoded.split_at_checked(name).unwrap_or_default();
        Ok(ExtentType {
            xml,
            decoded,
            name: core::str::from_utf8(name).unwrap_or_default(),
            namespace: rest.get(..namespace).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default(),
            version: (major, minor),
            options,
            layout,
            fields,
        })
    }
}

/// The attributes of a tag.
struct Declared<'a> {
    name: Text<'a>,
    namespace: Text<'a>,
    version: [i32; 2],
    options: Options,
    ty: Option<FieldType>,
    /// 0 if not declared.
    size: u32,
    field: FieldRecord,
    /// The types of fields that the attributes are for. For another type even the value "no" is invalid.
    used: u8,
    warn: bool,
}

/// Bits of [`Declared::used`].
const FOR_STRINGS: u8 = 1;
const FOR_NUMBERS: u8 = 2;
const FOR_DOUBLES: u8 = 4;

/// The attributes that a reader must know.
#[derive(Clone, Copy)]
enum Key {
    Name,
    Namespace,
    Version,
    NullCompact,
    PadRecord,
    FieldOrdering,
    Type,
    Size,
    Nullable,
    Unique,
    ScaleWarn,
    Scale,
    Relative,
    DoubleBase,
}

/// The names of attributes, separated by spaces, and their keys in the same order.
type Known = (&'static str, &'static [Key]);

const OF_ROOT: Known = (
    "name namespace version pack_null_compact pack_pad_record pack_field_ordering",
    &[Key::Name, Key::Namespace, Key::Version, Key::NullCompact, Key::PadRecord, Key::FieldOrdering],
);

const OF_FIELD: Known = (
    "name type size opt_nullable pack_unique pack_scale_warn pack_scale pack_relative opt_doublebase",
    &[
        Key::Name,
        Key::Type,
        Key::Size,
        Key::Nullable,
        Key::Unique,
        Key::ScaleWarn,
        Key::Scale,
        Key::Relative,
        Key::DoubleBase,
    ],
);

impl<'a> Declared<'a> {
    const NOTHING: Self = Declared {
        name: Attribute::NONE.value,
        namespace: Attribute::NONE.value,
        version: [0; 2],
        options: Options::DEFAULT,
        ty: None,
        size: 0,
        field: FieldRecord::EMPTY,
        used: 0,
        warn: false,
    };

    /// Reads the attributes of `tag`. Attributes with other names than the known ones are checked only by their prefix.
    fn read(&mut self, tag: &Tag<'a>, (names, keys): Known, what: What) -> Result<()> {
        let (mut attributes, mut attribute) = (tag.attributes(), Attribute::NONE);
        while attributes.read(&mut attribute) {
            let Attribute { name, value } = &attribute;
            let text = name.as_str().unwrap_or_default();
            match word_list::place(names, text.as_bytes()).and_then(|place| keys.get(place)) {
                Some(key) => {
                    self.set(*key, value).ok_or_else(|| Error::new(Kind::Invalid, what, value.at()))?;
                }
                // Other attributes only affect the display of the data, unless they have one of these prefixes.
                None if ["pack_", "opt_"].iter().any(|start| start.chars().eq(name.chars().take(start.len()))) => {
                    return Err(Error::new(Kind::Unsupported, what, name.at()));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Stores the value of an attribute. Returns `None` if the value is not valid.
    fn set(&mut self, key: Key, value: &Text<'a>) -> Option<()> {
        let mut buffer = [0; number::LONGEST];
        // A longer value with references becomes empty. Only names may be longer, and they are taken from `value`.
        let text = bytes(value, &mut buffer).unwrap_or_default();
        let field = &mut self.field;
        match key {
            Key::Name => self.name = *value,
            Key::Namespace => self.namespace = *value,
            Key::Version => self.version = number::version(text)?,
            Key::NullCompact => self.options.compact = choice(text, "no non_bool")?,
            Key::PadRecord => {
                let max = choice(text, "original max_column_size")?;
                self.options.pad = if max { Pad::MaxColumnSize } else { Pad::Original };
            }
            Key::FieldOrdering => {
                let down = choice(text, "small_to_big_sep_var32 big_to_small_sep_var32")?;
                self.options.ordering = if down { Ordering::BigToSmall } else { Ordering::SmallToBig };
            }
            Key::Type => self.ty = Some(field_type(text)?),
            Key::Size => self.size = number::size(text)?,
            Key::Nullable => field.null_mask = choice(text, YES)?.into(),
            Key::Unique => {
                self.used |= FOR_STRINGS;
                field.flags |= if choice(text, YES)? { UNIQUE } else { 0 };
            }
            Key::ScaleWarn => {
                choice(text, YES)?;
                self.warn = true;
            }
            Key::Scale => {
                self.used |= FOR_DOUBLES;
                field.flags |= SCALED;
                field.scale = number::double(text).filter(|scale| *scale != 0.0)?;
            }
            Key::Relative => {
                self.used |= FOR_NUMBERS;
                field.relative = u32::try_from(value.at()).ok().filter(|_| !value.is_empty())?;
            }
            Key::DoubleBase => {
                self.used |= FOR_DOUBLES;
                field.base = number::double(text)?;
            }
        }
        Some(())
    }

    /// Returns whether the name has a valid length.
    fn is_named(&self) -> bool {
        (1..=MAX_NAME).contains(&self.name.len())
    }
}

/// Returns the bytes of `text`. A text with references is decoded into `buffer`; `None` if it does not fit.
fn bytes<'b>(text: &Text<'b>, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    text.decode(&mut Scratch::new(buffer)).ok().map(str::as_bytes)
}

/// Converts an offset or a length for a field record. Only a document that no file can hold has larger ones.
fn small(n: u64, text: &Text<'_>) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::new(Kind::Overflow, What::DATASERIES_FIELD, text.at()))
}

/// Returns the type named `name`. The size of a fixedwidth field is set later.
fn field_type(name: &[u8]) -> Option<FieldType> {
    use FieldType::{Bool, Byte, Double, FixedWidth, Int32, Int64, Variable32};
    const ALL: [FieldType; 7] = [Bool, Byte, Int32, Int64, Double, Variable32, FixedWidth(0)];
    ALL.iter().find(|ty| ty.name().as_bytes() == name).copied()
}

const YES: &str = "no yes";

/// Returns whether `text` is the second of the two names, or `None` if it is neither.
fn choice(text: &[u8], names: &str) -> Option<bool> {
    word_list::place(names, text).map(|place| place > 0)
}
