//! Extents of both byte orders, after their types.

use pilaster::bytes::{Endian, Scratch};
use pilaster::dataseries::{Extent, ExtentType, Types};
use pilaster::limits::Limits;
use pilaster::unstable::dataseries::types::parts;

use super::dataseries::{ROOM, extent, in_order, options, split};

/// A byte of flags, then what follows the header of a file: the type extent, and others.
pub fn run(data: &[u8]) {
    let Some((big, verify, rest)) = split(data) else { return };
    in_order!(big, read(rest, verify));
}

fn read<E: Endian>(bytes: &[u8], verify: bool) {
    let Ok(first) = Extent::<E>::of(bytes, 40) else { return };
    let mut memory = [0xa5; 2 * ROOM];
    let (kept, memory) = memory.split_at_mut(ROOM);
    extent(&first, &ExtentType::XML, verify, memory);
    let Ok(types) = Types::open(&first, &options(verify), &mut Scratch::new(kept)) else { return };
    self::types(&types, memory);
    let mut rest = bytes;
    let mut at = 40;
    while let Ok(next) = Extent::<E>::of(rest, at) {
        if let Some(ty) = types.find(next.type_name()) {
            extent(&next, &ty, verify, memory);
        }
        rest = &rest[next.bytes().unwrap().len()..];
        at += next.bytes().unwrap().len() as u64;
    }
}

/// Each type of a file equals the result of parsing its document alone.
fn types(types: &Types<'_>, memory: &mut [u8]) {
    assert!(types.get(types.len()).is_none());
    let mut before = None;
    for ty in types.iter() {
        let alone = ExtentType::parse(ty.xml(), &Limits::DEFAULT, &mut Scratch::new(memory)).expect("parsed before");
        assert_eq!((alone.name(), alone.namespace(), alone.version()), (ty.name(), ty.namespace(), ty.version()));
        let ((layout, fields), (alone_layout, alone_fields)) = (parts(&ty), parts(&alone));
        assert_eq!((alone.options(), alone_layout, alone_fields.len()), (ty.options(), layout, fields.len()));
        // A scale may be NaN, so the texts are compared and not the numbers.
        assert!(alone.fields().zip(ty.fields()).all(|(a, b)| (a.name, a.ty, a.slot) == (b.name, b.ty, b.slot)));
        assert!(before < Some(ty.name()), "in the order of the names, each once");
        before = Some(ty.name());
    }
}
