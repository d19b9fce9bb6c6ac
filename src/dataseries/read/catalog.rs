//! The types of a file: what its type extent holds (section 5).

use super::describe::Description;
use super::extent::Stored;
use super::{Extent, Part, ReadOptions};
use crate::bytes::{Endian, Scratch, sort_by};
use crate::column::Span;
use crate::dataseries::layout::{Layout, Options, Ordering, Pad};
use crate::dataseries::raw::{INDEX_TYPE, XML_RECORD, XML_TYPE};
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;

/// The extent types of a file, in the order of their names. A small handle on lent memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Types<'a> {
    /// The pool of the type extent, in which the documents lie.
    documents: &'a [u8],
    /// Names of types, and those of fields that no document has as they are.
    decoded: &'a [u8],
    types: &'a [Entry],
    fields: &'a [FieldRecord],
}

/// A type, as plain data that can lie in lent memory.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Entry {
    document: Span,
    /// Its part of the decoded names, which begins with the name and the namespace.
    decoded: Span,
    name: u32,
    namespace: u32,
    fields: Span,
    version: [i32; 2],
    options: u32,
    layout: Layout,
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

    pub(super) fn stored(
        extent: &Stored<'a>,
        native: bool,
        options: &ReadOptions,
        scratch: &mut Scratch<'a>,
    ) -> Result<Self> {
        if extent.type_name() != XML_TYPE.as_bytes() {
            return Err(extent.header.unknown_type());
        }
        let part = extent.unpack::<ExtentType<'_>>(&ExtentType::XML, native, options, scratch)?;
        Types::of(&part, &options.limits, scratch)
    }

    fn of(part: &Part<'a>, limits: &Limits, scratch: &mut Scratch<'a>) -> Result<Self> {
        let (records, _) = part.records().as_chunks::<XML_RECORD>();
        let entries = scratch.take::<Entry>(records.len())?;
        for (entry, [a, b, c, d, ..]) in entries.iter_mut().zip(records) {
            let document = part.span(u32::from_ne_bytes([*a, *b, *c, *d]))?;
            *entry = Entry { document, ..bytemuck::Zeroable::zeroed() };
        }
        // Rows may share a string, which is then read once: or a few bytes would be much work.
        // None has a name yet.
        order(entries, &[]);
        let entries = distinct(entries, &|a, b| Ok(a.document.at == b.document.at))?;
        // First how much room all of them take.
        let (mut fields, mut decoded): (&mut [FieldRecord], &mut [u8]) = (&mut [], &mut []);
        let mut room = false;
        loop {
            let (mut field_at, mut text_at) = (0usize, 0usize);
            for entry in entries.iter_mut() {
                entry.fields.at = number(field_at)?;
                entry.decoded.at = number(text_at)?;
                let (fields, texts) = (fields.get_mut(field_at..), decoded.get_mut(text_at..));
                let xml = part.slice(entry.document)?;
                let mut found = Description::new(xml, fields.unwrap_or_default(), texts.unwrap_or_default());
                found.read(limits, &mut scratch.scope())?;
                field_at = field_at.saturating_add(found.count);
                text_at = text_at.saturating_add(found.used);
                entry.told(&found)?;
            }
            if room {
                break;
            }
            (fields, decoded, room) = (scratch.take(field_at)?, scratch.take(text_at)?, true);
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
        let decoded = of(self.decoded, entry.decoded);
        let names = Span { len: entry.name.saturating_add(entry.namespace), ..entry.decoded };
        let (name, namespace) =
            core::str::from_utf8(of(self.decoded, names)).ok()?.split_at_checked(entry.name as usize)?;
        Some(ExtentType {
            xml: of(self.documents, entry.document),
            decoded,
            name,
            namespace,
            version: (entry.version[0], entry.version[1]),
            options: options(entry.options),
            layout: entry.layout,
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
        self.get(self.place(name)?)
    }

    /// The number of the type of that name among all that the file describes.
    #[must_use]
    pub fn place(&self, name: &[u8]) -> Option<usize> {
        self.types.binary_search_by(|entry| entry.name(self.decoded).cmp(name)).ok()
    }
}

impl Entry {
    fn told(&mut self, found: &Description<'_, '_>) -> Result<()> {
        self.fields.len = number(found.count)?;
        self.decoded.len = number(found.used)?;
        self.name = number(found.name)?;
        self.namespace = number(found.namespace)?;
        self.version = found.version;
        self.options = bits(found.options);
        self.layout = found.layout;
        Ok(())
    }

    fn name<'d>(&self, decoded: &'d [u8]) -> &'d [u8] {
        of(decoded, Span { len: self.name, ..self.decoded })
    }
}

/// Puts the types in the order of their names. A document that is listed twice counts once; two that
/// differ have two names.
fn sort<'a>(entries: &'a mut [Entry], decoded: &[u8], part: &Part<'_>) -> Result<&'a [Entry]> {
    let name = |entry: &Entry| entry.name(decoded);
    order(entries, decoded);
    let kept = distinct(entries, &|a, b| {
        let document = |entry: &Entry| of(part.pool_bytes(), entry.document);
        match name(a) == name(b) {
            true if document(a) != document(b) => Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, 0)),
            named => Ok(named),
        }
    })?;
    Ok(kept)
}

/// In the order of their names, and of one name as their documents lie.
fn order(entries: &mut [Entry], decoded: &[u8]) {
    let key = |entry: &Entry| (entry.name(decoded), entry.document.at);
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

fn number(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::needing(Kind::Overflow, What::DATASERIES_TYPE, 0, n as u64))
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
