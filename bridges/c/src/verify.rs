//! Checks of a whole DataSeries file, and of a type of records; names of fields of errors. For tests and debug builds: an image that does
//! not call them does not contain them.

use pilaster::bytes::Scratch;
use pilaster::dataseries::write::{Description, ForeignField};
use pilaster::dataseries::{AnyFile, End, ExtentType, Field, FieldType, ReadOptions, Relative};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::dataseries::CType;
use crate::error::Done;
use crate::raw::{In, Out, Text, exports};

/// Returns whether the table has field `k` as the description has it.
fn is_same(field: &Field<'_>, packed: &ForeignField, k: usize) -> bool {
    let kind = match field.ty {
        FieldType::Bool => (0, 0),
        FieldType::Byte => (1, 1),
        FieldType::Int32 => (2, 4),
        FieldType::Int64 => (3, 8),
        FieldType::Double => (4, 8),
        FieldType::Variable32 => (5, 4),
        FieldType::FixedWidth(size) => (6, size),
    };
    let base = match field.relative {
        Relative::No => 0,
        Relative::Own => (k as u64).saturating_add(1),
        Relative::To(base) => u64::from(base).saturating_add(1),
    };
    let null = field.slot.null.map_or((0, 0), |bit| (bit.at, bit.mask));
    let scaled = packed.flags & ForeignField::SCALED != 0;
    kind == (packed.kind, packed.size)
        && (field.slot.at, field.slot.mask) == (packed.at, packed.mask)
        && null == (if packed.null_mask == 0 { 0 } else { packed.null_at.into() }, packed.null_mask)
        && base == u64::from(packed.relative)
        && field.unique == (packed.flags & ForeignField::UNIQUE != 0)
        && field.scale.map(|scale| (1.0 / scale).to_bits()) == scaled.then_some(packed.multiplier.to_bits())
}

/// Checks that a reader takes the description of a type, and that it says the same as the table of fields.
fn record(ty: In<CType>, scratch: &mut Scratch<'static>) -> Done {
    let (Description { name, xml }, ty) = (CType::description(ty, 1)?, ty.load(1)?);
    let fields = ty.fields.items(ty.field_count as usize, 1)?;
    let described = ExtentType::parse(xml, &Limits::DEFAULT, scratch)?;
    if described.name() != name {
        return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE_NAME, 0).into());
    }
    let count = described.fields().count();
    if count != fields.len() || described.record_len() as u64 != u64::from(ty.record_len) {
        let need = described.record_len() as u64;
        return Err(Error::needing(Kind::Misuse, What::DATASERIES_TYPE, count as u64, need).into());
    }
    // A scale has a reciprocal.
    let real = |field: &Field<'_>| field.scale.is_none_or(|scale| (1.0 / scale).is_normal());
    match described.fields().zip(fields).enumerate().find(|(k, (is, packed))| !real(is) || !is_same(is, packed, *k)) {
        Some((k, _)) => Err(Error::new(Kind::Misuse, What::DATASERIES_FIELD, k as u64).into()),
        None => Ok(()),
    }
}

exports! {
    /// Checks a type of records.
    fn pilaster_ds_check_record(ty: In<CType>, memory: Out<u8>, size: usize) {
        let CType { name, xml, fields, field_count, .. } = ty.load(1)?;
        let count = field_count as usize;
        name.bytes(1)?;
        xml.bytes(1)?;
        fields.items(count, 1)?;
        let read = [ty.bounds(1), fields.bounds(count), name.bounds(), xml.bounds()];
        record(ty, &mut Scratch::new(memory.apart(size, &read, 2)?))
    }

    /// Returns the name of a field of errors.
    fn pilaster_what(what: u32, name: Out<Text>) {
        name.tell(Text::EMPTY, 2)?;
        let known = u16::try_from(what).ok().and_then(What::from_id);
        let known = known.ok_or_else(|| Error::needing(Kind::Unknown, What::INPUT, 1, what.into()))?;
        name.tell(Text::of(known.name()), 2)
    }

    /// Checks every byte of a file. `finished`: receives 1 if it has its index, and 0 if its writer was interrupted.
    fn pilaster_ds_verify(file: In<u8>, len: usize, memory: Out<u8>, size: usize, finished: Out<u32>) {
        let (bytes, options) = (file.items(len, 1)?, ReadOptions::DEFAULT);
        let mut scratch = Scratch::new(memory.apart(size, &[file.bounds(len)], 3)?);
        finished.apart(1, &[file.bounds(len), memory.bounds(size)], 5)?;
        finished.tell(0, 5)?;
        let end = AnyFile::open_sequential(bytes, &options, &mut scratch)?.verify(&mut scratch.scope())?;
        if !matches!(end, End::Trailer { .. }) {
            return Ok(());
        }
        // Compares the index with the extents.
        AnyFile::open(bytes, &options, &mut scratch)?.verify(&mut scratch)?;
        finished.tell(1, 5)
    }
}
