//! Rewrites files in another byte order, compression or packing.

use alloc::vec;
use alloc::vec::Vec;

use super::extent::Parts;
use super::xml::put_escaped;
use super::{Compress, Description, Descriptions, ExtentBuffer, IndexSlot, Writer};
use crate::bytes::{BigEndian, Endian, LittleEndian, Scratch, Sink, WriteError};
use crate::column::Part as _;
#[cfg(feature = "unstable")]
use crate::dataseries::Extent;
use crate::dataseries::layout::{FieldType, Ordering, Pad};
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::dataseries::{AnyFile, File, Header, Order, ReadOptions};
use crate::error::{Error, Kind, Result, What};
use crate::limits::{Limits, Share};
use crate::meta::xml::{Event, Tag, Xml};

/// Changes to the packing of every type. A field that is `None` keeps the packing; without any change,
/// descriptions are kept byte for byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Repack {
    /// Drops `pack_relative`, `pack_scale` and `pack_unique` of all fields, so that cells are the values. Scaled
    /// doubles keep the values that reading returns.
    pub plain: bool,
    /// Sets or drops `pack_null_compact`. It is dropped from types that cannot have it: types without a bool,
    /// visible or hidden, types with fixedwidth fields of more than one byte, and types whose bools are at the
    /// end of the record.
    pub compact: Option<bool>,
    /// Sets `pack_pad_record`.
    pub pad: Option<Pad>,
    /// Sets `pack_field_ordering`.
    pub ordering: Option<Ordering>,
}

impl Repack {
    /// No change.
    pub const KEEP: Repack = Repack { plain: false, compact: None, pad: None, ordering: None };
}

/// Writes all data extents of `file` into a new file of byte order `order`, extent by extent. Calls `progress`
/// after each extent with the number of bytes of `file` that are done. In native byte order, records without null
/// compaction and their strings are kept byte for byte if no packing is changed: only their compression is another one.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::dataseries::write::{Repack, Stored, rewrite};
/// use pilaster::dataseries::{AnyFile, Order, ReadOptions};
///
/// let big = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// let mut memory = [0; 2048];
/// let file = AnyFile::open(big, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
/// let little = rewrite(&file, Order::Little, Repack::KEEP, Vec::new(), Stored, |_| {})?;
/// assert_eq!(little, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds")));
///
/// let compact = Repack { compact: Some(true), ..Repack::KEEP };
/// let smaller = rewrite(&file, Order::Big, compact, Vec::new(), Stored, |_| {})?;
/// let mut memory = [0; 2048];
/// let file = AnyFile::open(&smaller, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
/// assert!(file.types().get(0).unwrap().options().compact);
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
/// ```
///
/// # Errors
/// Errors of `file`; [`Kind::Unsupported`] for a packing that the original cannot read back (see
/// [`ExtentBuffer::new`]); errors of the sink.
pub fn rewrite<S: Sink, C: Compress>(
    file: &AnyFile<'_>,
    order: Order,
    repack: Repack,
    sink: S,
    compress: C,
    progress: impl FnMut(u64),
) -> Result<S, WriteError<S::Error>> {
    match (file, order) {
        (AnyFile::Little(file), Order::Little) => run::<_, LittleEndian, _, _>(file, repack, sink, compress, progress),
        (AnyFile::Little(file), Order::Big) => run::<_, BigEndian, _, _>(file, repack, sink, compress, progress),
        (AnyFile::Big(file), Order::Little) => run::<_, LittleEndian, _, _>(file, repack, sink, compress, progress),
        (AnyFile::Big(file), Order::Big) => run::<_, BigEndian, _, _>(file, repack, sink, compress, progress),
    }
}

fn run<E: Endian, F: Endian, S: Sink, C: Compress>(
    file: &File<'_, E>,
    repack: Repack,
    sink: S,
    compress: C,
    mut progress: impl FnMut(u64),
) -> Result<S, WriteError<S::Error>> {
    with_types(file, repack, |before, after| {
        let (descriptions, mut slots) = (descriptions(after), slots(file)?);
        let mut writer = Writer::<F, _, _>::with(sink, Descriptions::new(&descriptions)?, &mut slots, compress);
        copy(file, before, after, Share::ALL, &mut writer, |_, at, _| {
            progress(at);
            Ok(())
        })?;
        writer.finish()
    })
}

/// Calls `each` with the types of `file`, before and after the changes.
fn with_types<E: Endian, T, X: From<Error>>(
    file: &File<'_, E>,
    repack: Repack,
    each: impl FnOnce(&[ExtentType<'_>], &[ExtentType<'_>]) -> Result<T, X>,
) -> Result<T, X> {
    let before: Vec<ExtentType<'_>> = file.types().iter().collect();
    let mut texts = Vec::new();
    for ty in &before {
        texts.push(describe_anew(ty, repack)?);
    }
    let mut memories = Vec::new();
    let mut after = Vec::new();
    for text in &texts {
        // Parsing takes memory in proportion to the text: a field has at least 16 bytes of text and takes at most 64
        // bytes of memory.
        memories.push((text, vec![0; text.len().saturating_mul(16).saturating_add(1024)]));
    }
    for (text, memory) in &mut memories {
        after.push(ExtentType::parse(text, &Limits::DEFAULT, &mut Scratch::new(memory))?);
    }
    each(&before, &after)
}

fn descriptions<'t>(types: &'t [ExtentType<'_>]) -> Vec<Description<'t>> {
    types.iter().map(Description::from).collect()
}

/// Returns one slot per extent of `file`.
fn slots<E: Endian>(file: &File<'_, E>) -> Result<Vec<IndexSlot>> {
    let mut extents = 0usize;
    file.each(|_| {
        extents = extents.saturating_add(1);
        Ok::<_, Error>(())
    })?;
    Ok(vec![IndexSlot::EMPTY; extents])
}

/// Writes a share of the data extents. Calls `each` after each of them, and after the extents of types and index, which
/// are not written, with the number of bytes of `file` that are done, and whether an extent was written.
fn copy<E: Endian, F: Endian, S: Sink, C: Compress>(
    file: &File<'_, E>,
    before: &[ExtentType<'_>],
    after: &[ExtentType<'_>],
    share: Share,
    writer: &mut Writer<'_, F, S, C>,
    mut each: impl FnMut(&mut S, u64, bool) -> Result<(), WriteError<S::Error>>,
) -> Result<(), WriteError<S::Error>> {
    let options = ReadOptions::DEFAULT;
    let need = usize::try_from(file.need()?).map_err(|_| Error::new(Kind::Overflow, What::SCRATCH, 0))?;
    let mut memory = vec![0; need];
    let mut open = Vec::new();
    for ty in after {
        open.push(ExtentBuffer::<F, _>::growing(*ty)?);
    }
    let mut number = 0u64;
    file.each(|extent| {
        let mut types = before.iter().zip(&mut open);
        let found = types.find(|(ty, _)| ty.name().as_bytes() == extent.type_name());
        let written = found.is_some();
        if let Some((ty, to)) = found {
            let mine = share.has(number);
            number = number.saturating_add(1);
            if !mine {
                return Ok(());
            }
            let mut scratch = Scratch::new(&mut memory);
            if E::IS_NATIVE && F::IS_NATIVE && stay(ty, to.schema()) {
                let [fixed, variable] = extent.packed(ty, &options, &mut scratch)?;
                let Header { rows, hash, .. } = *extent.header();
                writer.put_packed(&Parts { name: ty.name(), rows, hash, fixed, variable })?;
            } else {
                let part = extent.unpack(ty, &options, &mut scratch)?;
                for row in 0..part.rows() {
                    to.push_record(&part, row)?;
                }
                writer.flush_any(to)?;
            }
        }
        each(writer.sink(), extent.header().span().end().unwrap_or(u64::MAX), written)
    })?;
    Ok(())
}

/// Returns whether both types have the same packed records, so that only their compression changes.
fn stay(before: &ExtentType<'_>, after: &ExtentType<'_>) -> bool {
    before.xml() == after.xml() && !before.options().compact
}

/// Writes a share of what [`rewrite`] writes: header and types, and a share of the extents. Calls `each` after header
/// and types, and after each extent. [`join`] makes a file of all shares.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::dataseries::write::{Repack, Stored, rewrite};
/// use pilaster::dataseries::{AnyFile, Order, ReadOptions};
/// use pilaster::unstable::dataseries::{join, rewrite_share};
/// use pilaster::unstable::limits::Share;
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// let mut memory = [0; 2048];
/// let file = AnyFile::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
/// let (order, repack) = (Order::Little, Repack::KEEP);
/// let mut pieces = Vec::new();
/// rewrite_share(&file, (order, repack), Share::ALL, Vec::new(), Stored, |sink: &mut Vec<u8>| {
///     pieces.push(std::mem::take(sink));
///     Ok(())
/// })?;
/// let mut extents = pieces.into_iter().skip(1);
/// let joined = join(&file, (order, repack), Vec::new(), Stored, || Ok(extents.next()))?;
/// assert_eq!(joined, rewrite(&file, order, repack, Vec::new(), Stored, |_| {})?);
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
/// ```
///
/// # Errors
/// Errors of [`rewrite`] and of `each`.
#[cfg(feature = "unstable")]
pub fn rewrite_share<S: Sink, C: Compress>(
    file: &AnyFile<'_>,
    (order, repack): (Order, Repack),
    share: Share,
    sink: S,
    compress: C,
    each: impl FnMut(&mut S) -> Result<(), WriteError<S::Error>>,
) -> Result<(), WriteError<S::Error>> {
    fn to<E: Endian, F: Endian, S: Sink, C: Compress>(
        file: &File<'_, E>,
        repack: Repack,
        share: Share,
        sink: S,
        compress: C,
        mut each: impl FnMut(&mut S) -> Result<(), WriteError<S::Error>>,
    ) -> Result<(), WriteError<S::Error>> {
        with_types(file, repack, |before, after| {
            let descriptions = descriptions(after);
            let mut writer = Writer::<F, _, _>::with(sink, Descriptions::new(&descriptions)?, &mut [], compress);
            writer.begin()?;
            each(writer.sink())?;
            copy(file, before, after, share, &mut writer, |sink, _, written| if written { each(sink) } else { Ok(()) })
        })
    }
    match (file, order) {
        (AnyFile::Little(file), Order::Little) => {
            to::<_, LittleEndian, _, _>(file, repack, share, sink, compress, each)
        }
        (AnyFile::Little(file), Order::Big) => to::<_, BigEndian, _, _>(file, repack, share, sink, compress, each),
        (AnyFile::Big(file), Order::Little) => to::<_, LittleEndian, _, _>(file, repack, share, sink, compress, each),
        (AnyFile::Big(file), Order::Big) => to::<_, BigEndian, _, _>(file, repack, share, sink, compress, each),
    }
}

/// Writes the file that [`rewrite`] writes. Its extents, which [`rewrite_share`] wrote, are returned by `next` in the order
/// of the file.
///
/// # Errors
/// Errors of [`rewrite`] and of `next`.
#[cfg(feature = "unstable")]
pub fn join<S: Sink, C: Compress>(
    file: &AnyFile<'_>,
    (order, repack): (Order, Repack),
    sink: S,
    compress: C,
    next: impl FnMut() -> Result<Option<Vec<u8>>, WriteError<S::Error>>,
) -> Result<S, WriteError<S::Error>> {
    fn of<E: Endian, F: Endian, S: Sink, C: Compress>(
        file: &File<'_, E>,
        repack: Repack,
        sink: S,
        compress: C,
        mut next: impl FnMut() -> Result<Option<Vec<u8>>, WriteError<S::Error>>,
    ) -> Result<S, WriteError<S::Error>> {
        with_types(file, repack, |_, after| {
            let (descriptions, mut slots) = (descriptions(after), slots(file)?);
            let mut writer = Writer::<F, _, _>::with(sink, Descriptions::new(&descriptions)?, &mut slots, compress);
            while let Some(bytes) = next()? {
                writer.put_stored(&Extent::<F>::of(&bytes, 0)?)?;
            }
            writer.finish()
        })
    }
    match (file, order) {
        (AnyFile::Little(file), Order::Little) => of::<_, LittleEndian, _, _>(file, repack, sink, compress, next),
        (AnyFile::Little(file), Order::Big) => of::<_, BigEndian, _, _>(file, repack, sink, compress, next),
        (AnyFile::Big(file), Order::Little) => of::<_, LittleEndian, _, _>(file, repack, sink, compress, next),
        (AnyFile::Big(file), Order::Big) => of::<_, BigEndian, _, _>(file, repack, sink, compress, next),
    }
}

/// The description of a type with another packing. All other attributes keep their values, but these may be
/// escaped in another way.
fn describe_anew(ty: &ExtentType<'_>, repack: Repack) -> Result<Vec<u8>> {
    if repack == Repack::KEEP {
        return Ok(ty.xml().to_vec());
    }
    let mut text = Vec::new();
    let mut xml = Xml::new(ty.xml());
    let put = |text: &mut Vec<u8>, bytes: &str| text.extend_from_slice(bytes.as_bytes());
    while let Some(event) = xml.next()? {
        match (xml.depth(), event) {
            (1, Event::Open(tag)) => {
                put(&mut text, "<ExtentType");
                let own = |name: &str| match name {
                    "pack_null_compact" => repack.compact.is_some(),
                    "pack_pad_record" => repack.pad.is_some(),
                    "pack_field_ordering" => repack.ordering.is_some(),
                    _ => false,
                };
                keep_attributes(&mut text, &tag, own)?;
                if repack.compact == Some(true) && can_be_compact(ty, repack) {
                    put(&mut text, " pack_null_compact=\"non_bool\"");
                }
                match repack.pad {
                    Some(Pad::MaxColumnSize) => put(&mut text, " pack_pad_record=\"max_column_size\""),
                    Some(Pad::Original) | None => {}
                }
                match repack.ordering {
                    Some(Ordering::BigToSmall) => {
                        put(&mut text, " pack_field_ordering=\"big_to_small_sep_var32\"");
                    }
                    Some(Ordering::SmallToBig) | None => {}
                }
                put(&mut text, ">\n");
            }
            (2, Event::Open(tag)) => {
                put(&mut text, "  <field");
                let packing = ["pack_relative", "pack_scale", "pack_scale_warn", "pack_unique"];
                keep_attributes(&mut text, &tag, |name| repack.plain && packing.contains(&name))?;
                put(&mut text, " />\n");
            }
            _ => {}
        }
    }
    put(&mut text, "</ExtentType>\n");
    Ok(text)
}

/// Returns whether extents of the type can be written with null compaction: the type needs a bool, and the
/// original must be able to read the extents back.
fn can_be_compact(ty: &ExtentType<'_>, repack: Repack) -> bool {
    let wide = |field: &FieldRecord| matches!(field.ty(), FieldType::FixedWidth(size) if size > 1);
    ty.layout().compact_prefix() > 0
        && repack.ordering.unwrap_or(ty.options().ordering) == Ordering::SmallToBig
        && !ty.records().iter().any(wide)
}

/// Copies the attributes of a tag, except the `dropped` ones.
fn keep_attributes(text: &mut Vec<u8>, tag: &Tag<'_>, dropped: impl Fn(&str) -> bool) -> Result<()> {
    for attribute in tag.attributes() {
        let name: alloc::string::String = attribute.name.chars().collect();
        if dropped(&name) {
            continue;
        }
        let value: alloc::string::String = attribute.value.chars().collect();
        text.push(b' ');
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"=\"");
        put_escaped(text, &value).map_err(|e| match e {
            WriteError::Format(e) => e,
            WriteError::Sink(never) => match never {},
        })?;
        text.push(b'"');
    }
    Ok(())
}
