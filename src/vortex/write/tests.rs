//! Each encoding on its own: chosen if it is allowed and fits, and read back; never chosen otherwise.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::column::Column;
use super::dtype::{Logical, Shape};
use super::file::Layout;
use super::lanes::Lanes;
use super::rows::{Bitmap, Data, Numbers, Rows, Texts};
use super::writer::Writer as FileWriter;
use super::{Encodings, Profile, WriteOptions};
use crate::bytes::WriteError;
use crate::column::{Column as _, Part as _, Prim};
use crate::error::What;
use crate::meta::flat::write::Writer;
use crate::vortex::File;
use crate::vortex::raw::{Encoding, LayoutId};

/// Writes a file of one column, `v`.
fn file(rows: &Rows, ty: &Logical, how: &WriteOptions) -> Vec<u8> {
    let mut to = Lanes::new(Vec::new(), how).unwrap();
    let (mut column, mut row) = (Column::new(ty, (how.zones(), how.statistics), how, &mut to), 0);
    while row < rows.len {
        let end = rows.len.min(row + column.left());
        column.push(rows.slice(row..end), &mut to).unwrap();
        row = end;
    }
    column.end(&mut to).unwrap();
    to.wait().unwrap();
    let (layout, known) = column.finish(&mut to);
    known.put(ty, how.profile, &mut Writer::default());
    let dtype = Logical::new(Shape::Struct(vec![("v".into(), ty.clone())]), false).bytes();
    let layout = Layout { children: vec![layout], ..Layout::new(LayoutId::Struct, rows.len as u64) };
    to.finish(&dtype, &layout, None).unwrap()
}

/// Verifies a file, and returns the ids of its arrays outside of zones.
fn ids(bytes: &[u8]) -> BTreeSet<String> {
    let file = File::open(bytes).unwrap();
    let mut memory = vec![0; 1 << 24];
    file.verify(&mut crate::bytes::Scratch::new(&mut memory)).unwrap();
    let mut found = BTreeSet::new();
    let mut add = |node: &crate::vortex::Visit<'_>| {
        if node.is_array && !node.in_zones {
            found.insert(String::from_utf8_lossy(node.id).into());
        }
        Ok(())
    };
    file.visit(false, &mut add).unwrap();
    found
}

fn only(encodings: &[Encoding]) -> WriteOptions {
    let encodings = encodings.iter().fold(Encodings::BASIC, |set, one| set.with(*one));
    WriteOptions { encodings, dictionaries: false, ..WriteOptions::DEFAULT }
}

/// Integers, and 40 of each 280 missing if `nulls`.
fn integers(values: Vec<i64>, nulls: bool) -> (Rows, Logical) {
    let ty = Logical::new(Shape::Prim(Prim::I64), nulls);
    let mut valid = Bitmap::default();
    (0..values.len()).for_each(|i| valid.push(i / 40 % 7 != 3));
    let valid = nulls.then_some(valid);
    (Rows { len: values.len(), valid, data: Data::Numbers(Numbers::I64(values)) }, ty)
}

fn texts<'t>(values: impl Iterator<Item = &'t str>) -> (Rows, Logical) {
    let mut texts = Texts::default();
    values.for_each(|text| texts.push(text.as_bytes()));
    (Rows { len: texts.ends.len(), valid: None, data: Data::Texts(texts) }, Logical::new(Shape::Utf8, false))
}

/// Reads the integers of a file.
fn read(bytes: &[u8], rows: usize) -> Vec<Option<i64>> {
    let file = File::open(bytes).unwrap();
    let part = file.part().unwrap();
    part.named("v").unwrap().to_vec::<Option<i64>>(0..rows as u64).unwrap()
}

fn mixed(i: i64) -> i64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 40) & 0xffff
}

#[test]
fn each_encoding_of_integers_is_chosen_where_it_fits_and_reads_back() {
    use Encoding::{BitPacked, Dict, For, Masked, Rle, RunEnd, Sequence, Sparse, ZigZag};
    let shapes: [(&[Encoding], Vec<i64>); 9] = [
        (&[BitPacked], (0..5000).map(|i| mixed(i) % 100).collect()),
        (&[BitPacked, For], (0..5000).map(|i| mixed(i) % 100 - 1_000_000).collect()),
        (&[BitPacked, ZigZag], (0..5000).map(|i| mixed(i) % 100 - 50).collect()),
        (&[RunEnd, BitPacked], (0..5000).map(|i| mixed(i / 40)).collect()),
        (&[Rle, BitPacked], (0..5000).map(|i| mixed(i / 40)).collect()),
        (&[Rle], (0..2100).map(|i| mixed(i / 300)).collect()),
        (&[Sparse], (0..5000).map(|i| if i % 100 == 9 { mixed(i) } else { -7 }).collect()),
        (&[Sequence], (0..5000).map(|i| 5 - 3 * i).collect()),
        (&[Masked], vec![77; 3000]),
    ];
    for (encodings, values) in shapes {
        for nulls in [false, true] {
            let (rows, ty) = integers(values.clone(), nulls);
            let bytes = file(&rows, &ty, &only(encodings));
            let expected: Vec<_> = (0..rows.len).map(|i| rows.has(i).then(|| values[i])).collect();
            assert_eq!(read(&bytes, rows.len), expected, "{encodings:?}");
            let (found, wanted) = (ids(&bytes), encodings[0].id());
            // These have no place for missing rows; a constant without them needs no mask.
            let is_whole = matches!(encodings[0], Sparse | Sequence) && nulls || encodings[0] == Masked && !nulls;
            assert_eq!(found.contains(wanted), !is_whole, "{wanted} with {nulls}: {found:?}");
            let allowed = only(encodings).encodings;
            assert!(found.iter().all(|id| allowed.has(Encoding::of(id.as_bytes()))), "{found:?}");
        }
    }
    // Without any of them, and with a dictionary that is not allowed.
    let (rows, ty) = integers((0..5000).map(|i| mixed(i % 9)).collect(), true);
    let found = ids(&file(&rows, &ty, &only(&[])));
    assert!(found.iter().all(|id| Encodings::BASIC.has(Encoding::of(id.as_bytes()))), "{found:?} {Dict:?}");
}

#[test]
fn each_encoding_of_texts_is_chosen_where_it_fits() {
    use Encoding::{Dict, Fsst, OnPair, VarBinView};
    let visits: Vec<String> = (0..3000).map(|i| alloc::format!("user {} visits /items/{}", mixed(i), i % 97)).collect();
    let few = ["ab", "c", "d", "a text of 16 byt"];
    for (encodings, rows) in [
        (&[Fsst][..], texts(visits.iter().map(|text| &text[..]))),
        (&[OnPair], texts(visits.iter().map(|text| &text[..]))),
        (&[Dict, VarBinView], texts((0..3000).map(|i| few[mixed(i) as usize % 3]))),
        (&[VarBinView], texts(few.into_iter())),
    ] {
        let (rows, ty) = rows;
        let bytes = file(&rows, &ty, &only(encodings));
        let found = ids(&bytes);
        assert!(encodings.iter().all(|one| found.contains(one.id())), "{encodings:?} {found:?}");
        let opened = File::open(&bytes).unwrap();
        let part = opened.part().unwrap();
        let column = part.named("v").unwrap();
        let read = column.to_vec::<String>(0..rows.len as u64).unwrap();
        let Data::Texts(all) = &rows.data else { unreachable!() };
        assert!(read.iter().map(String::as_bytes).eq(all.iter()), "{encodings:?}");
        assert!(
            ids(&file(&rows, &ty, &only(&[])))
                .iter()
                .all(|id| ["vortex.varbin", "vortex.primitive"].contains(&&id[..]))
        );
    }
}

#[test]
#[cfg(all(feature = "pco-encode", feature = "zstd-encode"))]
fn the_smallest_encodings_are_chosen_only_if_asked_for() {
    let compact = WriteOptions { encodings: Encodings::COMPACT, ..WriteOptions::DEFAULT };
    // Sums of small steps, which pco stores as steps.
    let mut sum = 0;
    let sums: Vec<i64> = (0..40_000)
        .map(|i| {
            sum += mixed(i) % 50;
            sum
        })
        .collect();
    for nulls in [false, true] {
        let (rows, ty) = integers(sums.clone(), nulls);
        let (small, usual) = (file(&rows, &ty, &compact), file(&rows, &ty, &WriteOptions::DEFAULT));
        assert!(small.len() * 4 < usual.len() * 3, "{} of {}", small.len(), usual.len());
        assert_eq!(read(&small, rows.len), read(&usual, rows.len));
        assert!(ids(&small).contains("vortex.pco") && !ids(&usual).contains("vortex.pco"));
    }
    // Texts that repeat after more bytes than a token has.
    let line = |i| alloc::format!("{:x}", 7u128.wrapping_pow(i % 20 + 25)).repeat(4);
    let lines: Vec<String> = (0..2000).map(|i| line(mixed(i).unsigned_abs() as u32)).collect();
    let (rows, ty) = texts(lines.iter().map(|text| &text[..]));
    let without = Encodings::COMPACT.without(Encoding::Dict);
    let small = file(&rows, &ty, &WriteOptions { encodings: without, dictionaries: false, ..compact });
    let (found, opened) = (ids(&small), File::open(&small).unwrap());
    assert!(found.contains("vortex.zstd"), "{found:?}");
    let part = opened.part().unwrap();
    let read = part.named("v").unwrap().to_vec::<String>(0..2000).unwrap();
    assert!(read == lines);
    // Long texts make frames of a megabyte.
    let long: Vec<String> = (0..2000).map(|i| alloc::format!("{i}").repeat(500)).collect();
    let (rows, ty) = texts(long.iter().map(|text| &text[..]));
    let total: usize = long.iter().map(String::len).sum();
    let bytes = file(&rows, &ty, &WriteOptions { chunk_size: 1 << 30, ..only(&[Encoding::Zstd]) });
    assert_eq!(buffers(&bytes, "vortex.zstd"), total.div_ceil(1 << 20));
}

/// Verifies a file, and returns the number of buffers of its only array with an id.
#[cfg(feature = "pco-encode")]
fn buffers(bytes: &[u8], id: &str) -> usize {
    assert!(ids(bytes).contains(id));
    let mut found = None;
    let mut count = |node: &crate::vortex::Visit<'_>| {
        if node.is_array && !node.in_zones && node.id == id.as_bytes() {
            assert_eq!(found.replace(node.buffers()?), None);
        }
        Ok(())
    };
    File::open(bytes).unwrap().visit(false, &mut count).unwrap();
    found.unwrap()
}

/// The original reads chunks of at most 2^18 values.
#[test]
#[cfg(feature = "pco-encode")]
fn many_values_are_several_chunks_of_pco() {
    let mut sum = 0;
    let values = (0..(1 << 18) + 9i64).map(|i| {
        sum += mixed(i) % 50;
        sum
    });
    let (rows, ty) = integers(values.collect(), false);
    let how = WriteOptions { chunk_size: 1 << 30, ..only(&[Encoding::Pco]) };
    let bytes = file(&rows, &ty, &how);
    // Two chunks, and 33 pages of 8,192 values.
    assert_eq!(buffers(&bytes, "vortex.pco"), 2 + 33);
    let Data::Numbers(Numbers::I64(values)) = &rows.data else { unreachable!() };
    assert!(read(&bytes, rows.len).into_iter().map(Option::unwrap).eq(values.iter().copied()));
}

/// The ids of the edition core2025.05.0.
const WIDE: &str = "fastlanes.bitpacked fastlanes.for vortex.alp vortex.alprd vortex.bool vortex.bytebool vortex.chunked \
    vortex.constant vortex.datetimeparts vortex.decimal vortex.decimal_byte_parts vortex.dict vortex.ext vortex.fsst \
    vortex.list vortex.null vortex.primitive vortex.runend vortex.sparse vortex.struct vortex.varbin vortex.varbinview \
    vortex.zigzag";

#[test]
fn wide_files_have_only_what_old_releases_read() {
    let wide = WriteOptions { profile: Profile::Wide, encodings: Encodings::COMPACT, ..WriteOptions::DEFAULT };
    if wide.check().is_err() {
        return;
    }
    let nullable = |(mut rows, mut ty): (Rows, Logical)| {
        let mut valid = Bitmap::default();
        (0..rows.len).for_each(|i| valid.push(i % 3 > 0));
        (rows.valid, ty.nullable) = (Some(valid), true);
        (rows, ty)
    };
    let halves = |bits: Vec<u16>| {
        let rows = Rows { len: bits.len(), valid: None, data: Data::Numbers(Numbers::F16(bits)) };
        (rows, Logical::new(Shape::Prim(Prim::F16), false))
    };
    let decimals = |values: Vec<i64>| {
        let rows = Rows { len: values.len(), valid: None, data: Data::Numbers(Numbers::I64(values)) };
        (rows, Logical::new(Shape::Decimal { precision: 18, scale: 2 }, false))
    };
    let visits: Vec<String> = (0..3000).map(|i| alloc::format!("user {} visits /items/{}", mixed(i), i % 97)).collect();
    for (rows, ty) in [
        integers((0..3000).map(|i| 9 + 4 * i).collect(), false),
        integers(vec![5; 3000], true),
        integers((0..3000).map(|i| mixed(i / 5)).collect(), true),
        texts(visits.iter().map(|text| &text[..])),
        nullable(texts(visits.iter().map(|text| &text[..]))),
        nullable(texts(core::iter::repeat_n("one", 3000))),
        halves(vec![0x3c00; 3000]),
        nullable(halves(vec![0x3c00; 3000])),
        decimals((0..3000).map(|i| mixed(i) % 100).collect()),
    ] {
        let bytes = file(&rows, &ty, &wide);
        let found = ids(&bytes);
        assert!(found.iter().all(|id| WIDE.split(' ').any(|one| one == id)), "{found:?}");
        let opened = File::open(&bytes).unwrap();
        let mut check = |node: &crate::vortex::Visit<'_>| {
            match node.id {
                b"vortex.fsst" => assert_eq!(node.buffers()?, 2, "codes in a buffer"),
                // Field 10 of a scalar, the bits of a half float.
                b"vortex.constant" if node.is_array => assert_ne!(bytes[node.buffer(0)?.at as usize], 0x50),
                b"vortex.decimal_byte_parts" => assert_eq!(node.metadata()?, [0x08, 7], "64 bits, as 18 digits need"),
                _ => {}
            }
            assert!(node.is_array || !node.id.starts_with(b"vortex.zoned"));
            Ok(())
        };
        opened.visit(false, &mut check).unwrap();
    }
}

#[test]
fn zones_have_the_chosen_number_of_rows() {
    let (rows, ty) = integers((0..5000).collect(), false);
    for (zone_rows, zones) in [(1024, 5), (2048, 3), (8192, 1)] {
        let bytes = file(&rows, &ty, &WriteOptions { zone_rows, ..WriteOptions::DEFAULT });
        let opened = File::open(&bytes).unwrap();
        let part = opened.part().unwrap();
        let column = part.named("v").unwrap();
        let found = column.zones().unwrap().unwrap();
        assert_eq!(found.len(), zones, "{zone_rows}");
    }
}

#[test]
fn options_out_of_range_are_named() {
    use crate::error::{Kind, What};
    let default = WriteOptions::DEFAULT;
    let refused = |options: WriteOptions| options.check().map_err(|e| (e.kind(), e.what(), e.need()));
    let invalid = |what, need| Err((Kind::Invalid, what, need));
    assert_eq!(refused(default), Ok(()));
    assert_eq!(refused(WriteOptions { chunk_size: 0, zone_rows: 1 << 20, ..default }), Ok(()));
    assert_eq!(
        refused(WriteOptions { chunk_size: 1 << 30 | 1, ..default }),
        invalid(What::VORTEX_CHUNK_SIZE, 1 << 30 | 1)
    );
    for zone_rows in [0, 1000, 1 << 21] {
        assert_eq!(refused(WriteOptions { zone_rows, ..default }), invalid(What::VORTEX_ZONE_ROWS, zone_rows));
    }
    // Primitive is encoding 1; delta is not written.
    let encodings = default.encodings.without(Encoding::Primitive);
    assert_eq!(refused(WriteOptions { encodings, ..default }), invalid(What::VORTEX_ENCODINGS, 1));
    let encodings = default.encodings.with(Encoding::Delta);
    let delta = Encoding::ALL.iter().position(|one| *one == Encoding::Delta).unwrap() as u32;
    assert_eq!(refused(WriteOptions { encodings, ..default }), Err((Kind::Unsupported, What::VORTEX_ENCODINGS, delta)));
    let builder = super::Builder::new(Vec::new(), &WriteOptions { zone_rows: 3, ..default });
    assert!(builder.is_err());
}

#[test]
fn a_file_is_not_finished_after_a_panic() {
    let mut file = FileWriter::start(Vec::new(), &WriteOptions::DEFAULT).unwrap();
    let call = std::panic::AssertUnwindSafe(|| file.call(|_| -> Result<(), WriteError<_>> { panic!("on purpose") }));
    assert!(std::panic::catch_unwind(call).is_err());
    let e = file.finish().unwrap_err();
    assert!(matches!(e, WriteError::Format(e) if e.what() == What::VORTEX_FAILED));
}
