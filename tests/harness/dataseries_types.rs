//! Extent types out of XML descriptions.

use pilaster::bytes::Scratch;
use pilaster::dataseries::Relative;
use pilaster::dataseries::{ExtentType, FieldType};
use pilaster::error::Kind;
use pilaster::limits::Limits;
use pilaster::unstable::dataseries::types::parts;

use super::dataseries::ROOM;

/// All of `data` is the document.
pub fn run(data: &[u8]) {
    let mut memory = [0xa5; ROOM];
    let ty = match ExtentType::parse(data, &Limits::DEFAULT, &mut Scratch::new(&mut memory)) {
        Ok(ty) => ty,
        Err(e) => {
            assert!(e.kind() != Kind::NoRoom || data.len() > ROOM / 16, "{e:?} for {} bytes", data.len());
            assert!(e.at() <= data.len() as u64, "{e:?}");
            return;
        }
    };
    assert!(ty.xml() == data && (1..=255).contains(&ty.name().len()));
    let record = ty.record_len();
    let (layout, records) = parts(&ty);
    let fields = records.len();
    assert_eq!(ty.fields().count(), fields);
    for (k, field) in ty.fields().enumerate() {
        assert!((1..=255).contains(&field.name.len()) && !field.name.starts_with(' '));
        if k < 64 {
            assert_eq!(ty.find(field.name), Some(k), "names are unique");
        }
        let end = field.slot.at as usize + field.ty.size().max(1) as usize;
        assert!(end <= record, "{field:?} leaves its record of {record}");
        assert_eq!(field.slot.mask.count_ones(), u32::from(field.ty == FieldType::Bool));
        assert_eq!(field.slot.null.is_some(), field.nullable);
        assert!(field.slot.null.is_none_or(|bit| (bit.at as usize) < record && bit.mask.count_ones() == 1));
        match field.relative {
            Relative::No => {}
            Relative::Own => assert!(field.ty != FieldType::Double || field.scale.is_some()),
            Relative::To(base) => {
                assert!((base as usize) < k, "bases come first");
                assert_eq!(records[base as usize].ty(), field.ty);
            }
        }
        // No two fields share a byte that belongs to one of them alone.
        if k < 16 && field.ty != FieldType::Bool {
            for other in ty.fields().skip(k + 1).take(16).filter(|other| other.ty != FieldType::Bool) {
                let (from, to) = (other.slot.at as usize, (other.slot.at + other.ty.size()) as usize);
                assert!(end <= from || to <= field.slot.at as usize, "{field:?} and {other:?}");
            }
        }
    }
    if ty.options().compact {
        assert!(layout.compact_prefix() > 0);
    }
}
