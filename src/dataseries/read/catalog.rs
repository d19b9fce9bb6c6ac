//! The types of a file: what its type extent holds (section 5).

use super::describe::{Outline, fill};
use super::extent::Stored;
use super::{Extent, Part, ReadOptions};
use crate::bytes::{Endian, Scratch, sort_by};
use crate::column::{Part as _, Span};
use crate::dataseries::layout::{Counts, Options, Ordering, Pad};
use crate::dataseries::raw::{INDEX_TYPE, XML_TYPE};
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;
use crate::meta::xml::Text;

/// The extent types of a file, in the order of their names. A small handle on lent memory.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a> {
    /// The pool of the type extent, in which the documents lie.
    documents: &'a [u8],
    /// Names that no document has as they are.
    decoded: &'a [u8],
    types: &'a [Entry],
    fields: &'a [FieldRecord],
}

/// A type, as plain data that can lie in lent memory.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Entry {
    document: Span,
    /// In the decoded names.
    name: Span,
    namespace: Span,
    /// Decoded names of fields.
    decoded: Span,
    fields: Span,
    version: [i32; 2],
    options: u32,
}

const COMPACT: u32 = 1;
const MAX_COLUMN: u32 = 2;
const BIG_TO_SMALL: u32 = 4;

impl<'a> Types<'a> {
    /// No types.
    pub(super) const NONE: Types<'a> = Types { documents: &[], decoded: &[], types: &[], fields: &[] };

    /// The types of a type extent, which must be one. Its documents stay in the file or go into
    /// `scratch`, with everything that is read out of them.
    ///
    /// # Errors
    /// What is wrong with the extent or with a document (then offsets count in the document),
    /// [`Kind::Invalid`] if two documents that differ have one name, [`Kind::NoRoom`].
    pub fn open<E: Endian>(extent: &Extent<'a, E>, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        Types::stored(&extent.stored, E::IS_NATIVE, options, scratch)
    }

    fn stored(extent: &Stored<'a>, native: bool, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        if extent.type_name() != XML_TYPE.as_bytes() {
            let at = extent.header.name_span().at;
            return Err(Error::new(Kind::Invalid, What::DsTypeName, at));
        }
        let part = extent.unpack::<ExtentType<'_>>(&ExtentType::XML, native, options, scratch)?;
        Types::of(&part, &options.limits, scratch)
    }

    fn of(part: &Part<'a>, limits: &Limits, scratch: &mut Scratch<'a>) -> Result<Self> {
        let rows = usize::try_from(part.rows()).unwrap_or(usize::MAX);
        let entries = scratch.take::<Entry>(rows)?;
        for (row, entry) in entries.iter_mut().enumerate() {
            *entry = Entry { document: part.string_at(row)?, ..bytemuck::Zeroable::zeroed() };
        }
        // Rows may share a string, which is then read once: or a few bytes would be much work.
        // None has a name yet.
        order(entries, &[]);
        let entries = distinct(entries, &|a, b| Ok(a.document.at == b.document.at))?;
        // How much room all of them take.
        let (mut fields, mut decoded) = (0usize, 0usize);
        for entry in entries.iter() {
            let outline = Outline::of(part.slice(entry.document)?, limits)?;
            let texts = outline.name.len().saturating_add(outline.namespace.map_or(0, |namespace| namespace.len()));
            fields = fields.saturating_add(outline.fields);
            decoded = decoded.saturating_add(texts).saturating_add(outline.decoded);
        }
        let fields = scratch.take::<FieldRecord>(fields)?;
        let decoded = scratch.take::<u8>(decoded)?;
        let (mut field_at, mut text_at) = (0usize, 0usize);
        for entry in entries.iter_mut() {
            let document = part.slice(entry.document)?;
            let outline = Outline::of(document, limits)?;
            let mut put = |text: Text<'_>| {
                let len = text.copy_to(decoded.get_mut(text_at..).unwrap_or_default());
                let at = text_at;
                text_at = at.saturating_add(len);
                span(at, len)
            };
            entry.name = put(outline.name)?;
            entry.namespace = outline.namespace.map_or(Ok(Span::default()), put)?;
            entry.fields = span(field_at, outline.fields)?;
            entry.decoded = span(text_at, outline.decoded)?;
            let records = fields.get_mut(field_at..).and_then(|rest| rest.get_mut(..outline.fields));
            let names = decoded.get_mut(text_at..).and_then(|rest| rest.get_mut(..outline.decoded));
            fill(document, &outline, records.unwrap_or_default(), names.unwrap_or_default(), &mut scratch.scope())?;
            field_at = field_at.saturating_add(outline.fields);
            text_at = text_at.saturating_add(outline.decoded);
            entry.version = [outline.version.0, outline.version.1];
            entry.options = bits(outline.options);
        }
        let types = sort(entries, decoded, part)?;
        Ok(Types { documents: part.pool_bytes(), decoded, types, fields })
    }

    /// How many types.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Type `k`, in the order of the names.
    #[must_use]
    pub fn get(&self, k: usize) -> Option<ExtentType<'a>> {
        let entry = self.types.get(k)?;
        let fields = self.fields.get(entry.fields.at as usize..)?.get(..entry.fields.len as usize)?;
        let counts = fields.iter().fold(Counts::new(), |counts, field| counts.with(field.ty(), field.null().is_some()));
        let options = options(entry.options);
        Some(ExtentType {
            xml: of(self.documents, entry.document),
            decoded: of(self.decoded, entry.decoded),
            name: core::str::from_utf8(of(self.decoded, entry.name)).ok()?,
            namespace: core::str::from_utf8(of(self.decoded, entry.namespace)).ok()?,
            version: (entry.version[0], entry.version[1]),
            options,
            layout: counts.layout(options)?,
            fields,
        })
    }

    /// All types, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = ExtentType<'a>> + use<'a> {
        let types = *self;
        (0..types.len()).filter_map(move |k| types.get(k))
    }

    /// The type of that name; the built-in types are found first.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<ExtentType<'a>> {
        if name == XML_TYPE.as_bytes() {
            return Some(ExtentType::XML);
        }
        if name == INDEX_TYPE.as_bytes() {
            return Some(ExtentType::INDEX);
        }
        let found = self.types.binary_search_by(|entry| of(self.decoded, entry.name).cmp(name));
        self.get(found.ok()?)
    }
}

/// Puts the types in the order of their names. A document that is listed twice counts once; two that
/// differ have two names.
fn sort<'a>(entries: &'a mut [Entry], decoded: &[u8], part: &Part<'_>) -> Result<&'a [Entry]> {
    let name = |entry: &Entry| of(decoded, entry.name);
    order(entries, decoded);
    let kept = distinct(entries, &|a, b| {
        let same = part.slice(a.document)? == part.slice(b.document)?;
        match name(a) == name(b) {
            true if !same => Err(Error::new(Kind::Invalid, What::DsType, 0)),
            named => Ok(named),
        }
    })?;
    Ok(kept)
}

/// In the order of their names, and of one name as their documents lie.
#[inline(never)]
fn order(entries: &mut [Entry], decoded: &[u8]) {
    let key = |entry: &Entry| (of(decoded, entry.name), entry.document.at);
    sort_by(entries, |a, b| key(a) < key(b));
}

/// Keeps the first of each run of entries that are the `same`.
fn distinct<'e>(entries: &'e mut [Entry], same: &dyn Fn(&Entry, &Entry) -> Result<bool>) -> Result<&'e mut [Entry]> {
    let mut kept = 0usize;
    for k in 0..entries.len() {
        let before = kept.checked_sub(1).and_then(|last| entries.get(last));
        let Some(entry) = entries.get(k).copied() else { break };
        if let Some(before) = before
            && same(before, &entry)?
        {
            continue;
        }
        if let Some(place) = entries.get_mut(kept) {
            *place = entry;
        }
        kept = kept.saturating_add(1);
    }
    Ok(entries.get_mut(..kept).unwrap_or_default())
}

fn of(bytes: &[u8], span: Span) -> &[u8] {
    bytes.get(span.at as usize..).and_then(|rest| rest.get(..span.len as usize)).unwrap_or_default()
}

fn span(at: usize, len: usize) -> Result<Span> {
    match (u32::try_from(at), u32::try_from(len)) {
        (Ok(at), Ok(len)) => Ok(Span { at, len }),
        _ => Err(Error::new(Kind::Overflow, What::DsType, 0).with_need(at as u64)),
    }
}

fn bits(options: Options) -> u32 {
    let compact = if options.compact { COMPACT } else { 0 };
    let pad = if options.pad == Pad::MaxColumnSize { MAX_COLUMN } else { 0 };
    compact | pad | if options.ordering == Ordering::BigToSmall { BIG_TO_SMALL } else { 0 }
}

const fn options(bits: u32) -> Options {
    Options {
        ordering: if bits & BIG_TO_SMALL != 0 { Ordering::BigToSmall } else { Ordering::SmallToBig },
        pad: if bits & MAX_COLUMN != 0 { Pad::MaxColumnSize } else { Pad::Original },
        compact: bits & COMPACT != 0,
    }
}
