//! Extent types from their XML descriptions (section 5.1).

use crate::bytes::{Scratch, sort_by};
use crate::dataseries::layout::{Counts, FieldType, Options, Ordering, Pad, Places};
use crate::dataseries::raw::MAX_NAME;
use crate::dataseries::types::{ExtentType, Field, FieldRecord, NameAt, Relative};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;
use crate::meta::xml::{Attribute, Event, Tag, Text, Xml};

use super::number;

/// What a description says, apart from its fields.
#[derive(Clone, Copy)]
pub(super) struct Outline<'a> {
    pub name: Text<'a>,
    pub namespace: Option<Text<'a>>,
    pub version: (i32, i32),
    pub options: Options,
    /// How many fields.
    pub fields: usize,
    counts: Counts,
    /// Bytes of the names of fields that are not in the document as they are.
    pub decoded: usize,
}

impl<'a> Outline<'a> {
    /// The first pass over a document: everything is looked at, nothing kept.
    pub(super) fn of(xml: &'a [u8], limits: &Limits) -> Result<Self> {
        let mut outline: Option<Outline<'a>> = None;
        each(xml, &mut |element| {
            match (element, &mut outline) {
                (Element::Root(tag), _) => outline = Some(Outline::root(&tag)?),
                (Element::Field(tag), Some(outline)) => {
                    let field = Declared::of(&tag)?;
                    outline.fields = outline.fields.saturating_add(1);
                    if outline.fields as u64 > limits.max_columns.into() {
                        let limit = limits.max_columns.into();
                        return Err(Error::new(Kind::Limit, What::MaxColumns, tag.name().at()).with_need(limit));
                    }
                    outline.counts = outline.counts.with(field.ty, field.nullable);
                    if field.name.as_str().is_none() {
                        outline.decoded = outline.decoded.saturating_add(field.name.len());
                    }
                }
                (Element::Field(_), None) => {}
            }
            Ok(())
        })?;
        let outline = outline.ok_or(Error::new(Kind::Truncated, What::DsType, 0))?;
        let layout = outline.counts.layout(outline.options);
        let layout = layout.ok_or(Error::new(Kind::Overflow, What::DsType, 0))?;
        if outline.options.compact && layout.compact_prefix() == 0 {
            // Compaction is said by bools; there must be one.
            return Err(Error::new(Kind::Invalid, What::DsType, outline.name.at()));
        }
        Ok(outline)
    }

    fn root(tag: &Tag<'a>) -> Result<Self> {
        let at = tag.name().at();
        if !tag.is("ExtentType") {
            return Err(Error::new(Kind::Invalid, What::DsType, at));
        }
        let (mut name, mut namespace, mut version, mut options) = (None, None, (0, 0), Options::DEFAULT);
        for Attribute { name: key, value } in tag.attributes() {
            let bad = || Error::new(Kind::Invalid, What::DsType, value.at());
            match key.as_str().unwrap_or_default() {
                "name" => name = Some(value),
                "namespace" => namespace = Some(value),
                "version" => version = number::version(value).ok_or_else(bad)?,
                "pack_null_compact" => options.compact = choice(value, ["no", "non_bool"]).ok_or_else(bad)?,
                "pack_pad_record" => {
                    let max = choice(value, ["original", "max_column_size"]).ok_or_else(bad)?;
                    options.pad = if max { Pad::MaxColumnSize } else { Pad::Original };
                }
                "pack_field_ordering" => {
                    let names = ["small_to_big_sep_var32", "big_to_small_sep_var32"];
                    let down = choice(value, names).ok_or_else(bad)?;
                    options.ordering = if down { Ordering::BigToSmall } else { Ordering::SmallToBig };
                }
                other => not_packing(other, key, What::DsType)?,
            }
        }
        let name = name.filter(|name| (1..=MAX_NAME).contains(&name.len()));
        let name = name.ok_or(Error::new(Kind::Invalid, What::DsTypeName, at))?;
        Ok(Outline { name, namespace, version, options, fields: 0, counts: Counts::new(), decoded: 0 })
    }
}

/// The second pass: the fields of the document into `fields`, names that are not in the document as they
/// are into `decoded`. Both are as long as the outline says.
pub(super) fn fill(
    xml: &[u8],
    outline: &Outline<'_>,
    fields: &mut [FieldRecord],
    decoded: &mut [u8],
    scratch: &mut Scratch<'_>,
) -> Result<()> {
    let overflow = || Error::new(Kind::Overflow, What::DsType, 0);
    let layout = outline.counts.layout(outline.options).ok_or_else(overflow)?;
    let mut places: Places = layout.places();
    let mut names = Names { xml, decoded, used: 0 };
    let mut k = 0usize;
    // First all of them without bases, whose names must be known to be found.
    each(xml, &mut |element| {
        let Element::Field(tag) = element else { return Ok(()) };
        let declared = Declared::of(&tag)?;
        let name = names.put(declared.name)?;
        let slot = places.next(declared.ty, declared.nullable);
        let field = Field {
            name: "",
            ty: declared.ty,
            nullable: declared.nullable,
            slot,
            unique: declared.unique,
            scale: declared.scale,
            relative: Relative::No,
            base: declared.base,
        };
        let own = u32::try_from(k).map_err(|_| overflow())?;
        *fields.get_mut(k).ok_or_else(overflow)? = FieldRecord::new(&field, own, name);
        k = k.saturating_add(1);
        Ok(())
    })?;
    let order = scratch.take::<u32>(fields.len())?;
    names.sort(fields, order)?;

    let mut k = 0usize;
    each(xml, &mut |element| {
        let Element::Field(tag) = element else { return Ok(()) };
        let declared = Declared::of(&tag)?;
        if let Some(relative) = declared.relative {
            let bad = || Error::new(Kind::Invalid, What::DsField, relative.at());
            let base = names.find(fields, order, relative).ok_or_else(bad)?;
            let same = fields.get(base).is_some_and(|base| base.ty() == declared.ty);
            let own = base == k;
            // A difference of doubles to the row before would drift without a scale.
            let drifts = own && declared.ty == FieldType::Double && declared.scale.is_none();
            if base > k || !same || drifts {
                return Err(bad());
            }
            let relative = match u32::try_from(base) {
                Ok(_) if own => Relative::Own,
                Ok(base) => Relative::To(base),
                Err(_) => return Err(overflow()),
            };
            let own = u32::try_from(k).map_err(|_| overflow())?;
            let record = fields.get_mut(k).ok_or_else(overflow)?;
            *record = record.with_relative(relative, own);
        }
        k = k.saturating_add(1);
        Ok(())
    })
}

impl<'a> ExtentType<'a> {
    /// Reads the description `xml`. Fields go into `scratch`, as do names that are not in the document
    /// as they are. The work is in proportion to the document, but for the sorting of its names.
    ///
    /// # Errors
    /// What is wrong with the document (offsets count in it), [`Kind::Limit`] for more fields than
    /// `limits` has columns, [`Kind::NoRoom`].
    pub fn parse(xml: &'a [u8], limits: &Limits, scratch: &mut Scratch<'a>) -> Result<ExtentType<'a>> {
        let outline = Outline::of(xml, limits)?;
        let fields = scratch.take::<FieldRecord>(outline.fields)?;
        let decoded = scratch.take::<u8>(outline.decoded)?;
        fill(xml, &outline, fields, decoded, &mut scratch.scope())?;
        Ok(ExtentType {
            xml,
            decoded,
            name: outline.name.decode(scratch)?,
            namespace: outline.namespace.map_or(Ok(""), |namespace| namespace.decode(scratch))?,
            version: outline.version,
            options: outline.options,
            layout: outline.layout()?,
            fields,
        })
    }
}

impl Outline<'_> {
    pub(super) fn layout(&self) -> Result<crate::dataseries::layout::Layout> {
        self.counts.layout(self.options).ok_or(Error::new(Kind::Overflow, What::DsType, 0))
    }
}

enum Element<'a> {
    Root(Tag<'a>),
    Field(Tag<'a>),
}

/// Walks a description: its root, then its fields. What may stand inside the root is fields and white
/// space; what is inside a field, nobody asks.
fn each<'a>(xml: &'a [u8], take: &mut dyn FnMut(Element<'a>) -> Result<()>) -> Result<()> {
    let mut reader = Xml::new(xml);
    loop {
        let at = reader.at();
        let Some(event) = reader.next()? else { return Ok(()) };
        match (reader.depth(), event) {
            (1, Event::Open(tag)) => take(Element::Root(tag))?,
            (2, Event::Open(tag)) if tag.is("field") => take(Element::Field(tag))?,
            (2, Event::Open(_))
            | (1, Event::Text { blank: false } | Event::Cdata | Event::Comment | Event::Instruction) => {
                return Err(Error::new(Kind::Invalid, What::DsType, at));
            }
            _ => {}
        }
    }
}

/// A field as its tag declares it.
struct Declared<'a> {
    name: Text<'a>,
    ty: FieldType,
    nullable: bool,
    unique: bool,
    scale: Option<f64>,
    relative: Option<Text<'a>>,
    base: f64,
}

impl<'a> Declared<'a> {
    fn of(tag: &Tag<'a>) -> Result<Self> {
        let at = tag.name().at();
        let (mut name, mut ty, mut size) = (None, None, None);
        let (mut nullable, mut unique, mut warn) = (None, None, None);
        let (mut scale, mut relative, mut base) = (None, None, None);
        for Attribute { name: key, value } in tag.attributes() {
            let bad = || Error::new(Kind::Invalid, What::DsField, value.at());
            let number = || number::double(value).ok_or_else(bad);
            let yes = || choice(value, ["no", "yes"]).ok_or_else(bad);
            match key.as_str().unwrap_or_default() {
                "name" => name = Some(value),
                "type" => ty = Some(field_type(value).ok_or_else(bad)?),
                "size" => size = Some(number::size(value).ok_or_else(bad)?),
                "opt_nullable" => nullable = Some(yes()?),
                "pack_unique" => unique = Some(yes()?),
                "pack_scale_warn" => warn = Some(yes()?),
                "pack_scale" => scale = Some(number().and_then(|n| if n == 0.0 { Err(bad()) } else { Ok(n) })?),
                "pack_relative" if value.is_empty() => return Err(bad()),
                "pack_relative" => relative = Some(value),
                "opt_doublebase" => base = Some(number()?),
                other => not_packing(other, key, What::DsField)?,
            }
        }
        let named = |name: &Text<'_>| (1..=MAX_NAME).contains(&name.len()) && name.chars().next() != Some(' ');
        let bad = Error::new(Kind::Invalid, What::DsField, at);
        let name = name.filter(named).ok_or(bad)?;
        let ty = match (ty.ok_or(bad)?, size) {
            (FieldType::FixedWidth(_), Some(size)) => FieldType::FixedWidth(size),
            (FieldType::FixedWidth(_), None) | (_, Some(_)) => return Err(bad),
            (ty, None) => ty,
        };
        let double = ty == FieldType::Double;
        let numeric = double || matches!(ty, FieldType::Int32 | FieldType::Int64);
        // Each option has types that it is for; elsewhere even a "no" is wrong.
        if (unique.is_some() && ty != FieldType::Variable32)
            || ((scale.is_some() || base.is_some()) && !double)
            || (relative.is_some() && !numeric)
            || (warn.is_some() && scale.is_none())
        {
            return Err(bad);
        }
        Ok(Declared {
            name,
            ty,
            nullable: nullable.unwrap_or(false),
            unique: unique.unwrap_or(false),
            scale,
            relative,
            base: base.unwrap_or(0.0),
        })
    }
}

/// The type of a name; a fixedwidth field learns its size elsewhere.
fn field_type(name: Text<'_>) -> Option<FieldType> {
    use FieldType::{Bool, Byte, Double, FixedWidth, Int32, Int64, Variable32};
    let all = [Bool, Byte, Int32, Int64, Double, Variable32, FixedWidth(0)];
    all.into_iter().find(|ty| name == *ty.name())
}

/// Which of two values it is: whether the second.
fn choice(value: Text<'_>, [first, second]: [&str; 2]) -> Option<bool> {
    if value == *second { Some(true) } else { (value == *first).then_some(false) }
}

/// Other attributes are for whoever shows the data, but not these.
fn not_packing(name: &str, key: Text<'_>, what: What) -> Result<()> {
    if name.starts_with("pack_") || name.starts_with("opt_") {
        return Err(Error::new(Kind::Unsupported, what, key.at()));
    }
    Ok(())
}

/// The names of the fields of a type.
struct Names<'x, 'd> {
    xml: &'x [u8],
    decoded: &'d mut [u8],
    used: usize,
}

impl Names<'_, '_> {
    /// Where a name lies: in the document, or decoded beside it.
    fn put(&mut self, name: Text<'_>) -> Result<NameAt> {
        let overflow = || Error::new(Kind::Overflow, What::DsField, name.at());
        let number = |n: u64| u32::try_from(n).map_err(|_| overflow());
        if let Some(text) = name.as_str() {
            return Ok(NameAt { at: number(name.at())?, len: number(text.len() as u64)?, decoded: false });
        }
        let rest = self.decoded.get_mut(self.used..).unwrap_or_default();
        let len = name.decode(&mut Scratch::new(rest))?.len();
        let at = self.used;
        self.used = at.saturating_add(len);
        Ok(NameAt { at: number(at as u64)?, len: number(len as u64)?, decoded: true })
    }

    fn get(&self, record: &FieldRecord) -> &[u8] {
        let NameAt { at, len, decoded } = record.name();
        let from: &[u8] = if decoded { self.decoded } else { self.xml };
        from.get(at as usize..).and_then(|rest| rest.get(..len as usize)).unwrap_or_default()
    }

    fn of<'n>(&'n self, fields: &[FieldRecord], k: u32) -> &'n [u8] {
        fields.get(k as usize).map_or(&[], |field| self.get(field))
    }

    /// Puts the numbers of the fields in the order of their names, of which no two may be the same.
    fn sort(&self, fields: &[FieldRecord], order: &mut [u32]) -> Result<()> {
        for (number, k) in order.iter_mut().zip(0..) {
            *number = k;
        }
        sort_by(order, |a, b| (self.of(fields, *a), a) < (self.of(fields, *b), b));
        let twice = order.windows(2).find_map(|pair| match pair {
            [a, b] if self.of(fields, *a) == self.of(fields, *b) => fields.get(*b as usize),
            _ => None,
        });
        match twice {
            Some(field) => Err(Error::new(Kind::Invalid, What::DsField, field.name().at.into())),
            None => Ok(()),
        }
    }

    /// The number of the field named `name`.
    fn find(&self, fields: &[FieldRecord], order: &[u32], name: Text<'_>) -> Option<usize> {
        // Bytes of UTF-8 are in the order of the characters.
        let found = order.binary_search_by(|k| {
            let own = core::str::from_utf8(self.of(fields, *k)).unwrap_or_default();
            own.chars().cmp(name.chars())
        });
        found.ok().and_then(|at| order.get(at)).map(|k| *k as usize)
    }
}
