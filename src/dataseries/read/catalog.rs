//! The types of a file: the contents of its type extent (section 5).

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

/// The extent types of a file, sorted by name. A handle on caller-provided memory, cheap to copy.
///
/// ```
/// use pilaster::bytes::{BigEndian, Scratch};
/// use pilaster::dataseries::write::{Descriptions, Writer};
/// use pilaster::dataseries::{File, INDEX_TYPE, ReadOptions, record};
///
/// record! {
///     struct Alarm = "Alarm" { code: int32 }
/// }
/// record! {
///     struct Reading = "Reading" { value: double }
/// }
///
/// let types = Descriptions::of::<(Alarm, Reading)>();
/// let bytes = Writer::<BigEndian, _>::new(Vec::new(), types, &mut []).finish().unwrap();
/// let mut memory = [0; 4096];
/// let file = File::<BigEndian>::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
/// let types = file.types();
///
/// let names: Vec<_> = types.iter().map(|ty| ty.name()).collect();
/// assert_eq!((names, types.len(), types.is_empty()), (vec!["Alarm", "Reading"], 2, false));
/// // An index among the types, for a table of the caller with one entry per type.
/// let k = types.place(b"Reading").expect("a type of the file");
/// assert_eq!(types.get(k), types.find(b"Reading"));
/// assert!(types.find(INDEX_TYPE.as_bytes()).is_some(), "built-in");
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Types<'a> {
    /// The pool of the type extent, which contains the documents.
    documents: &'a [u8],
    /// Names of types, and names of fields that are not verbatim in a document.
    decoded: &'a [u8],
    types: &'a [Entry],
    fields: &'a [FieldRecord],
}

/// A type as plain data, which can be stored in scratch memory.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Entry {
    document_at: u32,
    document_len: u32,
    /// Its range in the decoded names. The name comes first, followed by the namespace.
    decoded_at: u32,
    decoded_len: u32,
    name: u32,
    namespace: u32,
    fields_at: u32,
    fields_len: u32,
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

    /// Reads the types of a type extent. The documents stay in the file if they are uncompressed. Otherwise they go
    /// into `scratch`, as does everything that is parsed.
    ///
    /// # Errors
    /// Errors of an invalid extent or document; in the latter case, offsets count from the start of the document.
    /// [`Kind::Invalid`] if `extent` is not a type extent, or if two different documents have the same name;
    /// [`Kind::NoRoom`] if `scratch` is too small.
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
            let Span { at, len } = part.span(u32::from_ne_bytes([*a, *b, *c, *d]))?;
            *entry = Entry { document_at: at, document_len: len, ..bytemuck::Zeroable::zeroed() };
        }
        // Rows may share a string. It is parsed only once: otherwise a few bytes could cause much work. The entries
        // have no names yet.
        order(entries, &[]);
        let entries = distinct(entries, &|a, b| Ok(a.document_at == b.document_at))?;
        // The first pass determines the required sizes.
        let (mut fields, mut decoded): (&mut [FieldRecord], &mut [u8]) = (&mut [], &mut []);
        let mut room = false;
        loop {
            let (mut field_at, mut text_at) = (0usize, 0usize);
            for entry in entries.iter_mut() {
                entry.fields_at = number(field_at)?;
                entry.decoded_at = number(text_at)?;
                let (fields, texts) = (fields.get_mut(field_at..), decoded.get_mut(text_at..));
                let xml = part.slice(entry.document())?;
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

    /// Returns the number of types.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns whether the file describes no types.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns type `k` in the order of the names, or `None` if there is no such type.
    #[must_use]
    pub fn get(&self, k: usize) -> Option<ExtentType<'a>> {
        let entry = self.types.get(k)?;
        let fields = self.fields.get(entry.fields_at as usize..)?.get(..entry.fields_len as usize)?;
        let decoded = of(self.decoded, Span { at: entry.decoded_at, len: entry.decoded_len });
        let names = Span { at: entry.decoded_at, len: entry.name.saturating_add(entry.namespace) };
        let (name, namespace) =
            core::str::from_utf8(of(self.decoded, names)).ok()?.split_at_checked(entry.name as usize)?;
        Some(ExtentType {
            xml: of(self.documents, entry.document()),
            decoded,
            name,
            namespace,
            version: (entry.version[0], entry.version[1]),
            options: options(entry.options),
            layout: entry.layout,
            fields,
        })
    }

    /// Returns all types, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = ExtentType<'a>> + use<'a> {
        let types = *self;
        (0..types.len()).filter_map(move |k| types.get(k))
    }

    /// Returns the type named `name`. Built-in types have precedence.
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

    /// Returns the index of the type named `name` among the described types, as for [`get`](Self::get).
    #[must_use]
    pub fn place(&self, name: &[u8]) -> Option<usize> {
        self.types.binary_search_by(|entry| entry.name(self.decoded).cmp(name)).ok()
    }
}

impl Entry {
    const fn document(&self) -> Span {
        Span { at: self.document_at, len: self.document_len }
    }

    fn told(&mut self, found: &Description<'_, '_>) -> Result<()> {
        self.fields_len = number(found.count)?;
        self.decoded_len = number(found.used)?;
        self.name = number(found.name)?;
        self.namespace = number(found.namespace)?;
        self.version = found.version;
        self.options = bits(found.options);
        self.layout = found.layout;
        Ok(())
    }

    fn name<'d>(&self, decoded: &'d [u8]) -> &'d [u8] {
        of(decoded, Span { at: self.decoded_at, len: self.name })
    }
}

/// Sorts the types by name. Equal documents count once. Two different documents with the same name are an error.
fn sort<'a>(entries: &'a mut [Entry], decoded: &[u8], part: &Part<'_>) -> Result<&'a [Entry]> {
    let name = |entry: &Entry| entry.name(decoded);
    order(entries, decoded);
    let kept = distinct(entries, &|a, b| {
        let document = |entry: &Entry| of(part.pool_bytes(), entry.document());
        match name(a) == name(b) {
            true if document(a) != document(b) => Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE, 0)),
            named => Ok(named),
        }
    })?;
    Ok(kept)
}

/// Sorts by name; entries with the same name, by the offset of their documents.
fn order(entries: &mut [Entry], decoded: &[u8]) {
    let key = |entry: &Entry| (entry.name(decoded), entry.document_at);
    sort_by(entries, |a, b| key(a) < key(b));
}

/// Keeps the first entry of each run of entries that are equal by `same`.
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
