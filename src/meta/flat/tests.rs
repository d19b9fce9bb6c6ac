//! A valid buffer, and one case per rule that breaks it.

use std::string::{String, ToString};
use std::vec::Vec;

use super::*;

/// A buffer with a field of each kind. Numbers on the left are positions.
#[rustfmt::skip]
const SOUND: [u8; 114] = [
    /*   0 */ 24, 0, 0, 0,                  // root table at 24
    /*   4 */ 20, 0, 32, 0,                 // its vtable: 20 bytes; the table: 32 bytes
    /*   8 */ 4, 0, 8, 0, 12, 0, 16, 0,     // fields 0 to 3
    /*  16 */ 20, 0, 24, 0, 28, 0, 0, 0,    // fields 4 to 6; field 7 is absent
    /*  24 */ 20, 0, 0, 0,                  // the table: its vtable lies 20 bytes before it
    /*  28 */ 7, 0, 0, 0,                   // field 0: the number 7
    /*  32 */ 24, 0, 0, 0,                  // field 1: a string at 56
    /*  36 */ 28, 0, 0, 0,                  // field 2: a vector of u16 at 64
    /*  40 */ 32, 0, 0, 0,                  // field 3: a vector of strings at 72
    /*  44 */ 52, 0, 0, 0,                  // field 4: a table at 96
    /*  48 */ 1, 0, 0, 0,                   // field 5: the tag of a union
    /*  52 */ 52, 0, 0, 0,                  // field 6: its value, a bare struct at 104
    /*  56 */ 2, 0, 0, 0, b'h', b'i', 0, 0,
    /*  64 */ 2, 0, 0, 0, 1, 0, 2, 1,
    /*  72 */ 2, 0, 0, 0, 8, 0, 0, 0, 10, 0, 0, 0,
    /*  84 */ 1, 0, 0, 0, b'a', 0,
    /*  90 */ 0, 0, 0, 0, 0, 0,
    /*  96 */ 0xf4, 0xff, 0xff, 0xff,       // the inner table: its vtable lies 12 bytes after it
    /* 100 */ 9, 0, 0, 0,                   // its field 0: the byte 9
    /* 104 */ 5, 0, 6, 0,                   // the struct
    /* 108 */ 6, 0, 5, 0, 4, 0,             // the inner vtable
];

/// Offset of the buffer in its file.
const AT: u64 = 1 << 33;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair(u16, u16);

impl Fixed for Pair {
    const SIZE: usize = 4;

    fn load(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, d] = *bytes.first_chunk()?;
        Some(Pair(u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Member {
    Pair(Pair),
    Unknown(u8),
}

impl<'a> Union<'a> for Member {
    fn member(tag: u8, flat: &Flat<'a>, pos: Pos) -> Result<Self> {
        match tag {
            1 => flat.value(pos).map(Member::Pair),
            tag => Ok(Member::Unknown(tag)),
        }
    }
}

/// The contents of the buffer as one line of text.
fn read(bytes: &[u8]) -> Result<String> {
    let root: Table = Flat::new_at(bytes, AT).root()?;
    let number: u32 = root.scalar(0, 0)?;
    let text: Option<Str> = root.string(1)?;
    let shorts: Option<Inline<u16>> = root.vector(2)?;
    let words: Option<Linked<Str>> = root.linked(3)?;
    let inner: Option<Table> = root.table(4)?;
    let member: Option<Member> = root.union(5)?;
    let text = root.required(1, text)?.text()?;
    let shorts: Vec<u16> = shorts.map(|v| v.iter().collect()).unwrap_or_default();
    let words: Result<Vec<&str>> = words.iter().flat_map(Linked::iter).map(|word| word?.text()).collect();
    let inner = inner.map(|t| t.scalar::<u8>(0, 0)).transpose()?;
    Ok(std::format!("{number} {text} {shorts:?} {:?} {inner:?} {member:?}", words?))
}

/// The valid buffer with other bytes at some positions.
fn with(changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = SOUND.to_vec();
    for (at, new) in changes {
        bytes[*at..at + new.len()].copy_from_slice(new);
    }
    bytes
}

#[test]
fn a_sound_buffer_is_read() {
    assert_eq!(read(&SOUND).unwrap(), r#"7 hi [1, 258] ["a", ""] Some(9) Some(Pair(Pair(5, 6)))"#);
}

#[test]
fn handles_know_their_offsets() {
    let root: Table = Flat::new_at(&SOUND, AT).root().unwrap();
    assert_eq!(root.at(), AT + 24);
    assert_eq!(root.string(1).unwrap().unwrap().at(), AT + 60);
    assert_eq!(root.vector::<u16>(2).unwrap().unwrap().at(), AT + 68);
    assert_eq!(root.linked::<Str>(3).unwrap().unwrap().at(), AT + 76);
}

#[test]
fn each_rule_has_its_error() {
    use Kind::*;
    /// A description, the bytes that break the rule, and the error: kind, field, position, need.
    type Case = (&'static str, &'static [(usize, &'static [u8])], Kind, What, u64, u32);
    #[rustfmt::skip]
    let cases: &[Case] = &[
        ("root offset zero",                &[(0, &[0])],                       Invalid,   What::FLAT_ROOT,   0,   0),
        ("root offset outside",             &[(0, &[114])],                     Invalid,   What::FLAT_ROOT,   0,   114),
        ("root offset overflows",           &[(0, &[0xff; 4])],                 Invalid,   What::FLAT_ROOT,   0,   u32::MAX),
        ("table begins at the last byte",   &[(0, &[113])],                     Truncated, What::FLAT_TABLE,  113, 4),
        ("vtable before the buffer",        &[(24, &[25])],                     Invalid,   What::FLAT_VTABLE, 24,  25),
        ("vtable behind the buffer",        &[(24, &[0xa9, 0xff, 0xff, 0xff])], Invalid,   What::FLAT_VTABLE, 24,  87),
        ("vtable distance has no negative", &[(24, &[0, 0, 0, 0x80])],          Invalid,   What::FLAT_VTABLE, 24,  1 << 31),
        ("vtable length odd",               &[(4, &[19])],                      Invalid,   What::FLAT_VTABLE, 4,   19),
        ("vtable length below 4",           &[(4, &[2])],                       Invalid,   What::FLAT_VTABLE, 4,   2),
        ("vtable ends outside",             &[(4, &[112])],                     Truncated, What::FLAT_VTABLE, 4,   112),
        ("table length below 4",            &[(6, &[3])],                       Invalid,   What::FLAT_TABLE,  24,  3),
        ("table ends outside",              &[(6, &[91])],                      Truncated, What::FLAT_TABLE,  24,  91),
        ("scalar over the vtable distance", &[(8, &[3])],                       Invalid,   What::FLAT_FIELD,  8,   3),
        ("scalar over the table's end",     &[(8, &[29])],                      Invalid,   What::FLAT_FIELD,  8,   29),
        ("scalar outside the table",        &[(8, &[0xff, 0xff])],              Invalid,   What::FLAT_FIELD,  8,   0xffff),
        ("offset over the table's end",     &[(10, &[30])],                     Invalid,   What::FLAT_FIELD,  10,  30),
        ("table too short for a field",     &[(6, &[31])],                      Invalid,   What::FLAT_FIELD,  20,  28),
        ("string offset zero",              &[(32, &[0])],                      Invalid,   What::FLAT_OFFSET, 32,  0),
        ("string offset outside",           &[(32, &[82])],                     Invalid,   What::FLAT_OFFSET, 32,  82),
        ("string offset overflows",         &[(32, &[0xff; 4])],                Invalid,   What::FLAT_OFFSET, 32,  u32::MAX),
        ("string length outside",           &[(32, &[79])],                     Truncated, What::FLAT_STRING, 111, 4),
        ("string ends outside",             &[(56, &[55])],                     Truncated, What::FLAT_STRING, 56,  59),
        ("string ends where the buffer does", &[(56, &[54])],                   Truncated, What::FLAT_STRING, 114, 1),
        ("string length overflows",         &[(56, &[0xff; 4])],                Truncated, What::FLAT_STRING, 56,  u32::MAX),
        ("no zero behind a string",         &[(62, b"!")],                      Invalid,   What::FLAT_STRING, 62,  33),
        ("string is no text",               &[(61, &[0xff])],                   Utf8,      What::FLAT_STRING, 61,  0),
        ("required field absent",           &[(10, &[0])],                      Invalid,   What::FLAT_FIELD,  24,  1),
        ("vector ends outside",             &[(64, &[24])],                     Truncated, What::FLAT_VECTOR, 64,  52),
        ("vector size overflows",           &[(64, &[0, 0, 0, 0x80])],          Truncated, What::FLAT_VECTOR, 64,  u32::MAX),
        ("vector of offsets ends outside",  &[(72, &[10])],                     Truncated, What::FLAT_VECTOR, 72,  44),
        ("element offset outside",          &[(80, &[34])],                     Invalid,   What::FLAT_OFFSET, 80,  34),
        ("element offset zero",             &[(80, &[0])],                      Invalid,   What::FLAT_OFFSET, 80,  0),
        ("inner vtable outside",            &[(96, &[0xec])],                   Invalid,   What::FLAT_VTABLE, 96,  20),
        ("union's struct outside",          &[(52, &[59])],                     Truncated, What::FLAT_UNION,  111, 4),
    ];
    for (wrong, changes, kind, what, pos, need) in cases {
        let e = read(&with(changes)).expect_err(wrong);
        assert_eq!((e.kind(), e.what(), e.at(), e.need()), (*kind, *what, AT + pos, *need), "{wrong}");
    }
}

#[test]
fn absent_fields_have_defaults() {
    for (changes, want) in [
        (&[(8, &[0, 0][..])][..], r#"0 hi [1, 258] ["a", ""] Some(9) Some(Pair(Pair(5, 6)))"#),
        (&[(12, &[0; 6])], "7 hi [] [] None Some(Pair(Pair(5, 6)))"),
        (&[(18, &[0])], r#"7 hi [1, 258] ["a", ""] Some(9) None"#),
        (&[(48, &[0])], r#"7 hi [1, 258] ["a", ""] Some(9) None"#),
        (&[(48, &[2])], r#"7 hi [1, 258] ["a", ""] Some(9) Some(Unknown(2))"#),
        // A tag without a value, as in early Jay files; then with a vtable that ends between the two.
        (&[(20, &[0])], r#"7 hi [1, 258] ["a", ""] Some(9) None"#),
        (&[(4, &[16])], r#"7 hi [1, 258] ["a", ""] Some(9) None"#),
    ] {
        assert_eq!(read(&with(changes)).unwrap(), want, "{changes:?}");
    }
    let root: Table = Flat::new(&SOUND).root().unwrap();
    assert_eq!((root.scalar(7, 3u8), root.scalar(8, 4u8), root.scalar(255, 5u8)), (Ok(3), Ok(4), Ok(5)));
    assert_eq!((root.inline::<Pair>(0), root.inline::<Pair>(7)), (Ok(Some(Pair(7, 0))), Ok(None)));
}

#[test]
fn every_cut_is_noticed() {
    // The last bytes of the buffer are a vtable that is needed.
    for len in 0..SOUND.len() {
        assert!(read(&SOUND[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn every_changed_byte_is_survived() {
    for at in 0..SOUND.len() {
        for new in 0..=255 {
            let _ = read(&with(&[(at, &[new])]));
        }
    }
}

#[test]
fn elements_behind_the_end() {
    let root: Table = Flat::new(&SOUND).root().unwrap();
    let shorts: Inline<u16> = root.vector(2).unwrap().unwrap();
    assert_eq!((shorts.len(), shorts.get(1), shorts.get(2), shorts.get(usize::MAX)), (2, Some(258), None, None));
    let words: Linked<Str> = root.linked(3).unwrap().unwrap();
    for i in [2, usize::MAX] {
        let e = words.get(i).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::OutOfRange, What::FLAT_VECTOR, i as u64, 2));
    }
}

#[test]
fn nesting_is_bounded() {
    let shallow = Depth::new(&Limits { max_depth: 1, ..Limits::DEFAULT });
    let root: Table = Flat::new(&SOUND).with_depth(shallow).root().unwrap();
    let e = root.table::<Table>(4).unwrap_err();
    assert_eq!(e.to_string(), "max_depth at offset 96: limit of 1 reached");
    assert!(root.string(1).is_ok(), "strings do not nest");
}

#[test]
fn handles_are_small() {
    let words = |size: usize| size / size_of::<usize>();
    assert!(words(size_of::<Flat>()) <= if cfg!(target_pointer_width = "32") { 5 } else { 4 });
    assert!(words(size_of::<Table>()) <= if cfg!(target_pointer_width = "32") { 6 } else { 5 });
    assert!(words(size_of::<Inline<u64>>()) <= 4);
}

/// A buffer with a vector of tables, each with a `u64` and one of three vtables. The first two, at 4 and 12, are equal.
#[cfg(all(feature = "vortex", feature = "std"))]
fn counts(tables: &[(u64, u32)]) -> Vec<u8> {
    const VTABLES: [u8; 24] = [6, 0, 12, 0, 4, 0, 0, 0, 6, 0, 12, 0, 4, 0, 0, 0, 6, 0, 16, 0, 4, 0, 0, 0];
    let mut bytes = Vec::from(28u32.to_le_bytes());
    bytes.extend(VTABLES);
    let len = tables.len() as u32;
    // The root has the first vtable, too. Its field is the offset of the vector, after 4 more bytes.
    for word in [24, 8, 0, len] {
        bytes.extend(u32::to_le_bytes(word));
    }
    let (slots, first) = (44, 44 + 4 * len);
    for k in 0..len {
        bytes.extend(u32::to_le_bytes(first + 12 * k - (slots + 4 * k)));
    }
    for (k, (count, vtable)) in (0..).zip(tables) {
        bytes.extend(u32::to_le_bytes(first + 12 * k - vtable));
        bytes.extend(u64::to_le_bytes(*count));
    }
    bytes
}

#[test]
#[cfg(all(feature = "vortex", feature = "std"))]
fn sums_of_fields_end_before_another_vtable_or_damage() {
    let tables = [(5, 4), (0, 12), (7, 4), (1, 20), (2, 12), (u64::MAX, 4)];
    let whole = counts(&tables);
    let sum = |bytes: &[u8], k, most| {
        let list: Linked<'_, Table<'_>> = Flat::new(bytes).root::<Table<'_>>().unwrap().links(0).unwrap().unwrap();
        list.sum_up_to(0, (k, 0), most)
    };
    assert_eq!(sum(&whole, 0, 4), (0, 0));
    assert_eq!(sum(&whole, 0, 5), (2, 5));
    assert_eq!(sum(&whole, 0, 11), (2, 5));
    assert_eq!(sum(&whole, 0, u64::MAX), (3, 12), "past an equal vtable, before another one");
    assert_eq!(sum(&whole, 3, u64::MAX), (4, 1));
    assert_eq!(sum(&whole, 4, u64::MAX), (5, 2), "no overflow");
    assert_eq!(sum(&whole, 6, u64::MAX), (6, 0));
    // A table that leaves the buffer, and offsets of zero and beyond the end.
    let end = whole.len();
    assert_eq!(sum(&whole[..end - 37], 0, u64::MAX), (2, 5));
    for offset in [0, u32::MAX, 1 << 31] {
        let mut bytes = whole.clone();
        bytes[52..56].copy_from_slice(&u32::to_le_bytes(offset));
        assert_eq!(sum(&bytes, 0, u64::MAX), (2, 5), "{offset}");
    }
    // A vtable that takes long to compare.
    let mut bytes = counts(&[(5, 4), (7, 4), (9, 4)]);
    for (len, expected) in [(64, (3, 21)), (66, (0, 0))] {
        bytes[4..6].copy_from_slice(&u16::to_le_bytes(len));
        assert_eq!(sum(&bytes, 0, u64::MAX), expected, "{len}");
    }
}
