//! The heapless FlatBuffers views hold the same as planus's types, on every FlatBuffer of every golden.

use std::collections::BTreeMap;
use std::env;

use pilaster::unstable::generated::{jay, vortex};
use pilaster::unstable::meta::flat::Flat;
use pilaster_oracle::planus::{self, ReadAsRoot};

use crate::common::{self, Golden};
use crate::harness::flat::{self, ROOTS, Same, Walk};

/// A FlatBuffer that a golden file holds.
struct Found {
    /// The file, for messages.
    file: String,
    /// What it is, in the terms of [`ROOTS`].
    root: &'static str,
    bytes: Vec<u8>,
}

/// Filo section 2: the header word determines the table of the payload after it.
fn filo() -> Vec<Found> {
    let root = |word: &[u8]| match word {
        [0x02 | 0x04, 0x00] => Some("filo SimplePrimitiveVector"),
        [0x02, 0x01] => Some("filo SimpleStringVector"),
        [0x03, 0x01] => Some("filo DictStringVector"),
        [0x04, 0x01] => Some("filo ConstStringVector"),
        [0x05, 0x00] => Some("filo DiffPrimitiveVector"),
        [0x05, 0x04] => Some("filo DiffDateTimeVector"),
        _ => None,
    };
    let found = |golden: Golden| {
        let chunk = golden.bytes();
        Some(Found { file: golden.name, root: root(&chunk[..2])?, bytes: chunk[4..].to_vec() })
    };
    common::sound("filo", "filo").into_iter().filter_map(found).collect()
}

/// Jay section 1: the length of the meta section is before the last eight bytes.
fn jay() -> Vec<Found> {
    let found = |golden: Golden| {
        let file = golden.bytes();
        let end = file.len() - 16;
        let len = u64::from_le_bytes(file[end..end + 8].try_into().unwrap());
        let meta = file[end - usize::try_from(len).unwrap()..end].to_vec();
        Found { file: golden.name, root: "jay Frame", bytes: meta }
    };
    common::sound("jay", "jay").into_iter().map(found).collect()
}

/// Vortex sections 3, 7 and 8: from the postscript to the other four, and from the layout to the blobs.
fn vortex() -> Vec<Found> {
    let mut found = Vec::new();
    for golden in common::sound("vortex", "vortex") {
        let bytes = golden.bytes();
        let mut add = |root, bytes: &[u8]| found.push(Found { file: golden.name.clone(), root, bytes: bytes.to_vec() });
        let end = bytes.len() - 8;
        let len = usize::from(u16::from_le_bytes([bytes[end + 2], bytes[end + 3]]));
        let postscript = &bytes[end - len..end];
        add("vortex Postscript", postscript);
        let postscript: vortex::Postscript = Flat::new(postscript).root().unwrap();
        let part = |segment: Option<vortex::PostscriptSegment<'_>>| {
            let segment = segment?;
            let at = usize::try_from(segment.offset().unwrap()).unwrap();
            Some(&bytes[at..at + segment.length().unwrap() as usize])
        };
        let (layout, footer) =
            (part(postscript.layout().unwrap()).unwrap(), part(postscript.footer().unwrap()).unwrap());
        add("vortex Layout", layout);
        add("vortex Footer", footer);
        for (root, segment) in
            [("vortex DType", postscript.dtype().unwrap()), ("vortex FileStatistics", postscript.statistics().unwrap())]
        {
            part(segment).into_iter().for_each(|bytes| add(root, bytes));
        }
        let footer: vortex::Footer = Flat::new(footer).root().unwrap();
        let mut used = Vec::new();
        segments(&Flat::new(layout).root().unwrap(), &mut used);
        for segment in used {
            let segment = footer.segment_specs().unwrap().unwrap().get(segment as usize).unwrap();
            let at = usize::try_from(segment.offset).unwrap();
            add("vortex Array", array(&bytes[at..at + segment.length as usize]));
        }
    }
    let blobs = common::sound("vortex", "varr").into_iter();
    let blob =
        |golden: Golden| Found { bytes: array(&golden.bytes()).to_vec(), file: golden.name, root: "vortex Array" };
    found.extend(blobs.map(blob));
    found
}

/// The segments that a layout tree uses.
fn segments(layout: &vortex::Layout<'_>, used: &mut Vec<u32>) {
    used.extend(layout.segments().unwrap().iter().flat_map(|segments| segments.iter()));
    for child in layout.children().unwrap().iter().flat_map(|children| children.iter()) {
        segments(&child.unwrap(), used);
    }
}

/// The FlatBuffer at the end of an array blob: its length is the last number.
fn array(blob: &[u8]) -> &[u8] {
    let (rest, len) = blob.split_last_chunk::<4>().unwrap();
    &rest[rest.len() - u32::from_le_bytes(*len) as usize..]
}

fn all() -> Vec<Found> {
    [filo(), jay(), vortex()].into_iter().flatten().collect()
}

#[test]
fn views_and_planus_agree_on_every_golden() {
    let mut seen = BTreeMap::new();
    for Found { file, root, bytes } in all() {
        println!("{file}: {root}");
        let (_, compare) = ROOTS.iter().find(|(name, _)| *name == root).unwrap();
        let mut walk = Walk::new(&bytes, 10_000_000);
        compare(&mut walk);
        // The early Jay file has two columns with the tag of a union and no value, which planus refuses.
        let planus_alone = if file == "jay/legacy_oldstyle" { 2 } else { 0 };
        assert_eq!((walk.refused, walk.cut), ([0, 0, planus_alone], false));
        assert!(walk.equal > 0);
        let (buffers, values) = seen.entry(root).or_insert((0, 0));
        *buffers += 1;
        *values += walk.equal;
    }
    println!("buffers and values: {seen:#?}");
    assert_eq!(seen.len(), ROOTS.len(), "every root occurs");
}

/// The comparison itself must be able to fail.
#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn another_value_is_noticed() {
    let frame = |nrows| {
        let frame = pilaster_oracle::jay::Frame { nrows, ..Default::default() };
        planus::Builder::new().finish(frame, None).to_vec()
    };
    let (one, other) = (frame(1), frame(2));
    let view = Flat::new(&one).root::<jay::Frame>();
    view.same(pilaster_oracle::jay::FrameRef::read_as_root(&other), &mut Walk::new(&one, 10));
}

/// Sound by the rules of FlatBuffers, but planus has let go of the bytes before the outer table.
#[test]
fn a_vtable_before_the_outer_table_is_read() {
    #[rustfmt::skip]
    let dtype = [
        /*  0 */ 16, 0, 0, 0,
        /*  4 */ 4, 0, 4, 0,                            // vtable of the member: no fields
        /*  8 */ 8, 0, 12, 0, 8, 0, 4, 0,               // vtable of the type: tag at +8, value at +4
        /* 16 */ 8, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0,    // the type: value at 28, tag 1
        /* 28 */ 24, 0, 0, 0,                           // the member: its vtable is at 4
    ];
    let view: vortex::DType = Flat::new(&dtype).root().unwrap();
    let Some(vortex::Type::Null(null)) = view.type_().unwrap() else { panic!("another type") };
    assert_eq!((null.at(), null.check()), (28, Ok(())));
    let (_, compare) = ROOTS.iter().find(|(name, _)| *name == "vortex DType").unwrap();
    let mut walk = Walk::new(&dtype, 10);
    compare(&mut walk);
    assert_eq!(walk.refused, [0, 0, 1]);
}

/// Every cut and three changes of every byte of the small FlatBuffers.
#[test]
fn damaged_goldens() {
    let mut small: Vec<_> = all().into_iter().filter(|found| found.bytes.len() <= 300).collect();
    small.sort_by(|a, b| (a.root, &a.bytes).cmp(&(b.root, &b.bytes)));
    small.dedup_by(|a, b| (a.root, &a.bytes) == (b.root, &b.bytes));
    // Set where a run is slow, as under emulation (`tests/suite/hostile.rs`).
    let step = if env::var_os("PILASTER_SAMPLE").is_some() { 20 } else { 1 };
    let (mut runs, mut refused) = (0, [0; 3]);
    for Found { root, mut bytes, .. } in small {
        let (_, compare) = ROOTS.iter().find(|(name, _)| *name == root).unwrap();
        let mut damaged = |bytes: &[u8]| {
            let mut walk = Walk::new(bytes, 1000);
            compare(&mut walk);
            refused.iter_mut().zip(walk.refused).for_each(|(sum, n)| *sum += n);
            runs += 1;
        };
        for at in (0..bytes.len()).step_by(step) {
            damaged(&bytes[..at]);
            for flip in [0x01, 0x80, 0xff] {
                bytes[at] ^= flip;
                damaged(&bytes);
                bytes[at] ^= flip;
            }
        }
        // Read as what it is not, too.
        flat::run(&bytes);
    }
    println!("{runs} damaged buffers; refused by both, by the view, by planus: {refused:?}");
    assert!(runs > 10_000 && refused.iter().all(|n| *n > 0));
}
