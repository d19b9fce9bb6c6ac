//! The reader returns the rows that the Filo writers were given, bit by bit: a chosen encoding, the smallest,
//! and the original's choice.

use pilaster::bytes::Scratch;
use pilaster::error::{Kind, Result};
use pilaster::filo::write::{choose, encode, encode_auto, holds, max_len, scratch_len};
use pilaster::filo::{Element, Encoding, Vector};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};

use super::filo_rows::{CHUNK, Input, Owned};
use super::{filo_vector, walk::Memory};

pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let encoding = input.encoding();
    let hint = input.byte();
    let owned = Owned::of(&mut input);
    let rows = owned.rows();
    let mut dst = [0xee; CHUNK];
    let mut memory = Memory::filled(0xdd);
    assert!(scratch_len(owned.len) <= memory.0.len());
    let mut scratch = Scratch::new(&mut memory.0);

    let element = rows.values.element();
    let written = encode(encoding, &rows, &mut dst, &mut scratch);
    let chosen = match written {
        Ok(len) => {
            assert!(holds(encoding, element));
            assert!(len <= max_len(encoding, owned.len, owned.text_bytes()), "{encoding:?} of {element}");
            let found = reads_back(&owned, &dst[..len]);
            // Without rows, zones that are stored and zones that are not are the same bytes.
            let zones = owned.len == 0 && element == Element::DateTime;
            assert!(found == encoding || zones, "{encoding:?} became {found:?}");
            // One byte less is an error with the required length; no byte after the chunk changes.
            assert_eq!(dst[len..].iter().find(|byte| **byte != 0xee), None);
            let short = encode(encoding, &rows, &mut dst[..len - 1], &mut scratch).expect_err("too short");
            assert_eq!((short.kind(), short.need() as usize), (Kind::NoRoom, len), "{encoding:?} of {element}");
            Some(len)
        }
        Err(e) => {
            refused(e.kind(), &owned);
            assert_eq!(e.kind() == Kind::WrongType, !holds(encoding, element), "{encoding:?} of {element}: {e}");
            None
        }
    };

    match encode_auto(&rows, &mut dst, &mut scratch) {
        Ok(len) => {
            assert_eq!(Ok(reads_back(&owned, &dst[..len])), choose(&rows, &mut scratch));
            // A line that the original misreads is written only if it is asked for.
            let steep = matches!(encoding, Encoding::DeltaDelta(_)) && owned.is_steep();
            assert!(
                steep || chosen.is_none_or(|other| len <= other),
                "{encoding:?} of {element} is smaller than {len}"
            );
        }
        // Rows that some encoding holds are never refused.
        Err(e) => assert!(chosen.is_none(), "{element} as {encoding:?}, but not by itself: {e}"),
    }

    let original = Original {
        builder: [BuilderFamily::Default, BuilderFamily::Old, BuilderFamily::New][usize::from(hint) % 3],
        hint: [Hint::Auto, Hint::Simple, Hint::Dictionary, Hint::Diff][usize::from(hint / 3) % 4],
    };
    match encode_like_original(&rows, original, &mut dst, &mut scratch) {
        Ok(len) => drop(reads_back(&owned, &dst[..len])),
        Err(e) => refused(e.kind(), &owned),
    }
}

/// The errors for which rows may be refused: not too little memory, as there is enough.
fn refused(kind: Kind, owned: &Owned<'_>) {
    match kind {
        Kind::WrongType | Kind::Lossy => {}
        Kind::Utf8 => assert!(!owned.is_utf8()),
        // Hashes that were made to collide.
        Kind::Limit => assert!(matches!(owned.element, Element::String | Element::Utf8 | Element::Blob)),
        kind => panic!("{kind:?}"),
    }
}

/// Compares all rows; the encoding that the reader sees.
fn reads_back(owned: &Owned<'_>, chunk: &[u8]) -> Encoding {
    let element = if owned.element == Element::Utf8 && !owned.is_utf8() { Element::Blob } else { owned.element };
    let opened: Result<Vector<'_>> = Vector::open(chunk, element);
    let vector = opened.unwrap_or_else(|e| panic!("{element}: {e} in {chunk:02x?}"));
    assert_eq!(vector.verify(), Ok(()));
    assert_eq!(vector.rows(), owned.len as u64);
    for i in 0..owned.len {
        let value = vector.get(i as u64).expect("a verified row");
        for k in 0..if element == Element::DateTime { 2 } else { 1 } {
            let there = filo_vector::cell(value, k);
            assert_eq!(there, owned.cell(i, k), "row {i} of {:?}", vector.encoding());
        }
    }
    assert!(filo_vector::read(chunk, element));
    vector.encoding()
}
