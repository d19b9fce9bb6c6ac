//! Vortex arrays made by hand: what damage does, what claims cost, which segments rows take.
#![cfg(all(feature = "vortex", feature = "alloc"))]

use std::time::{Duration, Instant};

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Validity, Values};
use pilaster::error::{Error, Kind, What};
use pilaster::generated::owned::planus::Builder;
use pilaster::generated::owned::vortex as owned;
use pilaster::limits::Limits;
use pilaster::vortex::raw::Encoding;
use pilaster::vortex::{Column, DType, File, Piece};

/// A node of an array to be: encoding, metadata, buffers by number, children.
fn node(encoding: Encoding, metadata: &[u8], buffers: &[u16], children: Vec<owned::ArrayNode>) -> owned::ArrayNode {
    owned::ArrayNode {
        encoding: Encoding::ALL.iter().position(|known| *known == encoding).unwrap() as u16,
        metadata: Some(metadata.to_vec()),
        children: Some(children),
        buffers: Some(buffers.to_vec()),
        stats: None,
    }
}

/// A `vortex.primitive` of buffer `k`.
fn plain(k: u16) -> owned::ArrayNode {
    node(Encoding::Primitive, &[], &[k], vec![])
}

/// A blob of these buffers and this tree.
fn blob(root: owned::ArrayNode, buffers: &[&[u8]]) -> Vec<u8> {
    let mut bytes = buffers.concat();
    let descriptors = buffers.iter().map(|buffer| owned::Buffer {
        padding: 0,
        alignment_exponent: 0,
        compression: owned::Compression::None,
        length: buffer.len() as u32,
    });
    let array = owned::Array { root: Some(Box::new(root)), buffers: Some(descriptors.collect()) };
    let mut builder = Builder::new();
    let flat = builder.finish(array, None);
    bytes.extend_from_slice(flat);
    bytes.extend_from_slice(&(flat.len() as u32).to_le_bytes());
    bytes
}

fn dtype(ty: owned::Type) -> Vec<u8> {
    let mut builder = Builder::new();
    builder.finish(owned::DType { type_: Some(ty) }, None).to_vec()
}

fn number(ptype: owned::PType, nullable: bool) -> Vec<u8> {
    dtype(owned::Type::Primitive(Box::new(owned::Primitive { ptype, nullable })))
}

fn text() -> Vec<u8> {
    dtype(owned::Type::Utf8(Box::new(owned::Utf8 { nullable: false })))
}

/// Opens a blob as `rows` rows and shows its column.
fn with<R>(blob: &[u8], dtype: &[u8], rows: u64, look: impl FnOnce(&File<'_>, Column<'_>) -> R) -> R {
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let dtype = DType::parse(dtype).unwrap();
    let file = File::of_array(blob, dtype, rows, &ids, &Limits::DEFAULT).unwrap();
    let column = file.part().unwrap().column(0).unwrap();
    look(&file, column)
}

/// Reads all rows as i64; verifying says the same.
fn longs(blob: &[u8], rows: u64) -> Result<Vec<i64>, Error> {
    with(blob, &number(owned::PType::I64, false), rows, |file, column| {
        let mut memory = vec![0; 1 << 16];
        let read = column.read(0..rows, &mut Scratch::new(&mut memory)).map(|batch| match batch.values {
            Values::I64(values) => values.to_vec(),
            other => panic!("{other:?}"),
        });
        let verified = file.verify(&mut Scratch::new(&mut vec![0; 1 << 16]));
        assert_eq!(verified.is_ok(), read.is_ok());
        read
    })
}

fn le(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// ALP with patches at these rows: metadata e = f = 0, patches of u8 indices.
fn alp(indices: &[u8]) -> Vec<u8> {
    let metadata = [0x1a, 2, 0x08, indices.len() as u8];
    let children = vec![plain(0), plain(1), plain(2)];
    let (encoded, values) = (le(&[1, 2, 3, 4]), le(&[7; 4]));
    blob(node(Encoding::Alp, &metadata, &[], children), &[&encoded, indices, &values[..8 * indices.len()]])
}

#[test]
fn alp_patches_beyond_the_end_are_an_error() {
    let read = |indices: &[u8]| {
        with(&alp(indices), &number(owned::PType::F64, false), 4, |_, column| {
            let mut memory = [0; 512];
            column.read(0..4, &mut Scratch::new(&mut memory)).map(|batch| match batch.values {
                Values::F64(values) => [values[0], values[1], values[2], values[3]],
                other => panic!("{other:?}"),
            })
        })
    };
    assert_eq!(read(&[1]).unwrap()[1].to_bits(), 7);
    assert_eq!(read(&[1]).unwrap()[3], 4.0);
    for indices in [&[4u8][..], &[1, 200], &[3, 4]] {
        let e = read(indices).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::Patches), "{indices:?}");
    }
    // Out of order they are found, or not; never out of bounds.
    for indices in [&[3u8, 0][..], &[2, 2], &[3, 2, 1]] {
        let _ = read(indices);
    }
}

#[test]
fn sparse_indices_beyond_the_length_are_an_error() {
    let sparse = |indices: &[u8]| {
        let metadata = [0x0a, 2, 0x08, indices.len() as u8];
        let root = node(Encoding::Sparse, &metadata, &[0], vec![plain(1), plain(2)]);
        longs(&blob(root, &[&[0x18, 9], indices, &le(&[5; 8])[..8 * indices.len()]]), 6)
    };
    assert_eq!(sparse(&[0, 4]), Ok(vec![5, -5, -5, -5, 5, -5]));
    for indices in [&[6u8][..], &[0, 255], &[1, 2, 9]] {
        assert_eq!(sparse(indices).unwrap_err().what(), What::Patches, "{indices:?}");
    }
}

#[test]
fn dictionary_codes_beyond_the_values_are_an_error() {
    let dict = |codes: &[u8]| {
        let root = node(Encoding::Dict, &[0x08, 3], &[], vec![plain(0), plain(1)]);
        longs(&blob(root, &[codes, &le(&[10, 20, 30])]), codes.len() as u64)
    };
    assert_eq!(dict(&[2, 0, 1, 2]), Ok(vec![30, 10, 20, 30]));
    let e = dict(&[0, 3]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::Codes, 3));
}

#[test]
fn codes_of_null_rows_may_be_anything() {
    // Codes u8, nullable, validity 0b0101; values non-null in a nullable dictionary.
    let codes = node(Encoding::Primitive, &[], &[0], vec![node(Encoding::Bool, &[], &[1], vec![])]);
    let root = node(Encoding::Dict, &[0x08, 2], &[], vec![codes, plain(2)]);
    let blob = blob(root, &[&[1, 200, 0, 99], &[0b0101], &le(&[10, 20])]);
    with(&blob, &number(owned::PType::I64, true), 4, |file, column| {
        file.verify(&mut Scratch::new(&mut [0; 4096])).unwrap();
        let mut memory = [0xee; 1024];
        let batch = column.read(0..4, &mut Scratch::new(&mut memory)).unwrap();
        let Values::I64(values) = batch.values else { panic!() };
        assert_eq!((values[0], values[2]), (20, 10));
        assert!(matches!(batch.validity, Validity::Bits(bits) if bits.iter().eq([true, false, true, false])));
    });
}

#[test]
fn run_ends_that_overflow_are_an_error() {
    let runs = |ends: &[u64], offset: u8| {
        let ends: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        let count = (ends.len() / 8) as u8;
        let metadata = [0x08, 3, 0x10, count, 0x18, offset];
        let root = node(Encoding::RunEnd, &metadata, &[], vec![plain(0), plain(1)]);
        longs(&blob(root, &[&ends, &le(&[1, 2, 3])[..ends.len()]]), 5)
    };
    assert_eq!(runs(&[2, 4, 5], 0), Ok(vec![1, 1, 2, 2, 3]));
    assert_eq!(runs(&[2, 4, 7], 2), Ok(vec![2, 2, 3, 3, 3]));
    assert_eq!(runs(&[2, 4, u64::MAX], 0), Ok(vec![1, 1, 2, 2, 3]), "the last run may be longer");
    for ends in [&[2, 4][..], &[u64::MAX, 1, 5], &[4, 2, 5], &[2, 2, 3], &[0, 0, 0]] {
        assert_eq!(runs(ends, 0).unwrap_err().what(), What::Runs, "{ends:?}");
    }
}

#[test]
fn onpair_codes_beyond_the_dictionary_are_an_error() {
    // Fields 1 lengths u8, 3 tokens, 4 codes, 5 offsets u8, 6 codes u16, 7 code offsets u8.
    let onpair = |codes: [u16; 3]| {
        let metadata = [0x18, 2, 0x20, 3, 0x30, 1];
        let children = vec![plain(1), plain(2), plain(3), plain(4)];
        let codes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        let root = node(Encoding::OnPair, &metadata, &[0], children);
        let blob = blob(root, &[b"abcd", &[0, 3, 4], &codes, &[0, 2, 3], &[4, 3]]);
        with(&blob, &text(), 2, |_, column| {
            let mut memory = [0; 4096];
            column.read(0..2, &mut Scratch::new(&mut memory)).map(|batch| match batch.values {
                Values::Utf8(texts) => [texts.text(0).unwrap().to_owned(), texts.text(1).unwrap().to_owned()],
                other => panic!("{other:?}"),
            })
        })
    };
    assert_eq!(onpair([0, 1, 0]).unwrap(), ["abcd", "abc"]);
    assert_eq!(onpair([0, 2, 0]).unwrap_err().what(), What::OnPair);
    // Tokens of other lengths than the rows say.
    assert_eq!(onpair([1, 1, 1]).unwrap_err().what(), What::VtxText);
}

#[test]
fn trees_without_end_cost_no_time() {
    // A dictionary whose codes and values are the same kind of node, twenty levels deep: a million paths.
    let mut tree = plain(0);
    for _ in 0..18 {
        tree = node(
            Encoding::Dict,
            &[0x08, 1],
            &[],
            vec![node(Encoding::Dict, &[0x08, 1], &[], vec![plain(0), plain(0)]), tree],
        );
    }
    let start = Instant::now();
    let _ = longs(&blob(tree, &[&[0; 8]]), 1);
    // Deeper than the budget.
    let mut tree = plain(0);
    for _ in 0..100 {
        tree = node(Encoding::Ext, &[], &[], vec![tree]);
    }
    let e = longs(&blob(tree, &[&[0; 8]]), 1).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Limit, What::MaxDepth));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn claimed_rows_cost_nothing() {
    let rows = 1 << 40;
    let constant = blob(node(Encoding::Constant, &[], &[0], vec![]), &[&[0x18, 14]]);
    let packed = blob(node(Encoding::BitPacked, &[], &[0], vec![]), &[&[]]);
    let sequence = blob(node(Encoding::Sequence, &[0x0a, 2, 0x18, 0, 0x12, 2, 0x18, 2], &[], vec![]), &[]);
    for (blob, expected) in [(constant, 7), (packed, 0), (sequence, (1 << 40) - 2)] {
        with(&blob, &number(owned::PType::I64, false), rows, |file, column| {
            let mut memory = [0; 256];
            let batch = column.read(rows - 2..rows, &mut Scratch::new(&mut memory)).unwrap();
            assert!(matches!(batch.values, Values::I64([first, _]) if *first == expected));
            let e = file.verify(&mut Scratch::new(&mut [0; 1024])).unwrap_err();
            assert_eq!((e.kind(), e.what()), (Kind::Limit, What::MaxRows));
        });
    }
}

#[test]
fn ids_that_are_not_known_are_named() {
    let mut root = plain(0);
    root.encoding = 1;
    let blob = blob(root, &[&[0; 8]]);
    let dtype = number(owned::PType::I64, false);
    let file =
        File::of_array(&blob, DType::parse(&dtype).unwrap(), 1, &["a", "vortex.patched"], &Limits::DEFAULT).unwrap();
    let column = file.part().unwrap().column(0).unwrap();
    let e = column.read(0..1, &mut Scratch::new(&mut [0; 64])).unwrap_err();
    assert_eq!(
        (e.kind(), e.what(), file.unknown_id(&e)),
        (Kind::Unsupported, What::VtxEncoding, Some("vortex.patched"))
    );
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Fetches what is missing until `look` has all that it wants: what it found, and the number of requests.
fn fetched<R>(bytes: &[u8], look: impl Fn(&[Piece<'_>]) -> Result<R, Error>) -> (R, usize, usize) {
    let tail = bytes.len().saturating_sub(2048);
    let first = tail..bytes.len();
    let mut ranges = vec![first];
    loop {
        let pieces: Vec<_> =
            ranges.iter().map(|range| Piece { at: range.start as u64, bytes: &bytes[range.clone()] }).collect();
        match look(&pieces) {
            Ok(found) => return (found, ranges.len(), ranges.iter().map(|range| range.len()).sum()),
            Err(e) if e.kind() == Kind::Missing && ranges.len() < 20 => {
                ranges.push(e.at() as usize..e.at() as usize + e.need() as usize);
            }
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn a_column_takes_few_requests() {
    let bytes = golden("def_big_small_a");
    let whole = File::open(&bytes).unwrap();
    let limits = &Limits::DEFAULT;
    let rows = 200_000..200_004;
    let (found, requests, fetched_bytes) = fetched(&bytes, |pieces| {
        let file = File::open_pieces(pieces, bytes.len() as u64, limits)?;
        let column = file.part()?.column(0)?;
        let mut memory = vec![0; 1 << 16];
        let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory))?;
        Ok(format!("{:?}", batch.values))
    });
    let column = whole.part().unwrap().column(0).unwrap();
    let mut memory = vec![0; 1 << 16];
    let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!(found, format!("{:?}", batch.values));
    assert!(requests <= 6 && fetched_bytes < bytes.len() / 2, "{requests} requests, {fetched_bytes} bytes");

    // The segments are known beforehand, from the metadata alone.
    let mut spans = Vec::new();
    column
        .segments(rows, &mut |span| {
            spans.push(span);
            Ok(())
        })
        .unwrap();
    assert!((1..=2).contains(&spans.len()), "{spans:?}");
}

/// Numbers of a column by row, `None` where one is missing.
fn integers(column: &Column<'_>, rows: std::ops::Range<u64>) -> Vec<Option<i64>> {
    let mut memory = vec![0; 1 << 20];
    let mut out = Vec::new();
    for row in rows {
        let batch = column.read(row..row + 1, &mut Scratch::new(&mut memory)).unwrap();
        let value = match batch.values {
            Values::I64(values) => values[0],
            Values::U64(values) => values[0] as i64,
            other => panic!("{other:?}"),
        };
        out.push(batch.validity.get(0).then_some(value));
    }
    out
}

#[test]
fn zones_bound_their_rows() {
    for (name, zones) in [("lay_chunked_zones_a", 3), ("def_root_i64_a", 1), ("legacy_v0.54.0_a", 1)] {
        let bytes = golden(name);
        let file = File::open(&bytes).unwrap();
        let column = file.part().unwrap().column(0).unwrap();
        let map = column.zones().unwrap().expect("zones");
        assert_eq!(map.len(), zones, "{name}");
        let [min, max] = [map.min(), map.max()].map(|bound| integers(&bound.unwrap(), 0..zones));
        let nulls = integers(&map.null_count().unwrap(), 0..zones);
        let mut seen = 0;
        for zone in 0..zones {
            let values = integers(&column, map.rows(zone));
            let k = zone as usize;
            assert_eq!(nulls[k], Some(values.iter().filter(|value| value.is_none()).count() as i64), "{name}");
            assert_eq!(values.iter().flatten().min().copied(), min[k], "{name}");
            assert_eq!(values.iter().flatten().max().copied(), max[k], "{name}");
            seen += values.len() as u64;
        }
        assert_eq!(seen, column.rows());
    }
}

#[test]
fn zones_of_every_golden_can_be_asked_for() {
    let mut zoned = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/vortex")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "vortex") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let Ok(file) = File::open(&bytes) else { continue };
        let part = file.part().unwrap();
        for k in 0..part.width() {
            let Some(map) = part.column(k).unwrap().zones().unwrap_or_else(|e| panic!("{path:?} {k}: {e}")) else {
                continue;
            };
            zoned += 1;
            let mut memory = vec![0; 1 << 20];
            for bound in [map.min(), map.max(), map.null_count()].into_iter().flatten() {
                let read = bound.read(0..map.len(), &mut Scratch::new(&mut memory));
                assert_eq!(read.map(|batch| batch.len as u64), Ok(map.len()), "{path:?} {k}");
            }
        }
    }
    assert!(zoned > 200, "{zoned}");
}

/// A `vortex.zstd` of frames with so many values each, as metadata says.
#[cfg(feature = "zstd")]
fn zstd(frames: &[(&[u8], u8)], claim: impl Fn(usize) -> u8, validity: Option<&[u8]>) -> Vec<u8> {
    let mut metadata = Vec::new();
    let mut packed = Vec::new();
    for (bytes, count) in frames {
        metadata.extend_from_slice(&[0x12, 4, 0x08, claim(bytes.len()), 0x10, *count]);
        let mut frame = vec![0; pilaster::codec::zstd::max_len(bytes.len())];
        let len = pilaster::codec::zstd::encode(bytes, &mut frame).unwrap();
        frame.truncate(len);
        packed.push(frame);
    }
    let mut buffers: Vec<&[u8]> = packed.iter().map(Vec::as_slice).collect();
    let numbers: Vec<u16> = (0..packed.len() as u16).collect();
    let children = validity.map(|_| node(Encoding::Bool, &[], &[packed.len() as u16], vec![]));
    buffers.extend(validity);
    blob(node(Encoding::Zstd, &metadata, &numbers, children.into_iter().collect()), &buffers)
}

#[cfg(feature = "zstd")]
#[test]
fn frames_hold_the_rows_that_have_a_value() {
    let (one, two) = (le(&[1, 2, 3]), le(&[4, 5]));
    let blob = zstd(&[(&one, 3), (&two, 0)], |len| len as u8, Some(&[0b0101_1011, 0]));
    with(&blob, &number(owned::PType::I64, true), 9, |file, column| {
        file.verify(&mut Scratch::new(&mut [0; 1 << 15])).unwrap();
        let naive = [Some(1), Some(2), None, Some(3), Some(4), None, Some(5), None, None];
        assert_eq!(integers(&column, 0..9), naive);
        // Any rows on their own, across the frames and within one.
        for (from, to) in [(0, 9), (3, 7), (4, 5), (5, 9), (7, 9)] {
            let mut memory = [0xaa; 1 << 15];
            let batch = column.read(from..to, &mut Scratch::new(&mut memory)).unwrap();
            let Values::I64(values) = batch.values else { panic!() };
            let read: Vec<_> = (0..batch.len).map(|i| batch.validity.get(i).then_some(values[i])).collect();
            assert_eq!(read, naive[from as usize..to as usize]);
        }
    });
}

#[cfg(feature = "zstd")]
#[test]
fn frames_that_are_not_as_long_as_they_say_are_an_error() {
    let values = le(&[1, 2, 3]);
    assert_eq!(longs(&zstd(&[(&values, 3)], |len| len as u8, None), 3), Ok(vec![1, 2, 3]));
    let read = |blob: &[u8], rows| longs(blob, rows).map(drop).unwrap_err();
    let e = read(&zstd(&[(&values, 3)], |len| len as u8 - 8, None), 3);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxBuffer), "the frame has more");
    let e = read(&zstd(&[(&values, 3)], |len| len as u8 + 8, None), 3);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxBuffer), "the frame has less");
    let e = read(&zstd(&[(&values, 2)], |len| len as u8, None), 2);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxMetadata), "values and bytes differ");
    let e = read(&zstd(&[(&values, 3)], |len| len as u8, None), 4);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxRows), "more rows than values");
    // 2^40 bytes from a frame of a few: nothing is taken for that.
    let mut claims = vec![0x12, 9, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x10, 3];
    let blob_of = |metadata: &[u8]| blob(node(Encoding::Zstd, metadata, &[0], vec![]), &[&[0; 20]]);
    let e = read(&blob_of(&claims), 3);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxMetadata), "a claim");
    // A dictionary, which is not read yet.
    claims = vec![0x08, 5, 0x12, 4, 0x08, 24, 0x10, 3];
    let e = read(&blob_of(&claims), 3);
    assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::VtxEncoding));
}

#[cfg(feature = "zstd")]
#[test]
fn texts_behind_their_lengths() {
    let texts = |bytes: &[u8], count: u8| {
        with(&zstd(&[(bytes, count)], |len| len as u8, None), &text(), 2, |_, column| {
            let mut memory = [0; 1 << 15];
            column.read(0..2, &mut Scratch::new(&mut memory)).map(|batch| match batch.values {
                Values::Utf8(texts) => [texts.text(0).unwrap().to_owned(), texts.text(1).unwrap().to_owned()],
                other => panic!("{other:?}"),
            })
        })
    };
    assert_eq!(texts(b"\x02\0\0\0ab\0\0\0\0", 2).unwrap(), ["ab", ""]);
    assert_eq!(texts(b"\x02\0\0\0ab\x01\0\0\0c", 0).unwrap(), ["ab", "c"], "without a count");
    for bad in [&b"\x02\0\0\0ab"[..], b"\x02\0\0\0ab\x01\0\0\0", b"\xff\xff\xff\xffab", b"\x02\0\0\0ab\x01\0"] {
        let e = texts(bad, 2).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxText), "{bad:?}");
    }
}

/// Metadata of a pco chunk of i64: one bin from `lower` on, with offsets of 8 bits.
#[cfg(feature = "pco")]
fn pco_meta(lower: i64) -> Vec<u8> {
    let ordered = u128::from(lower as u64 ^ 1 << 63);
    // Mode, delta and size of the table are 0; 15 bits of how many bins, 64 of the first, 7 of its offsets.
    (1u128 << 12 | ordered << 27 | 8u128 << 91).to_le_bytes()[..13].to_vec()
}

/// A `vortex.pco` of two chunks, the first of which has two pages; all of them as bytes above 100 and 200.
#[cfg(feature = "pco")]
fn pco(claims: [u8; 3], pages: [&[u8]; 3], validity: Option<&[u8]>) -> Vec<u8> {
    let [a, b, c] = claims;
    let metadata = [&[0x0a, 2, 4, 1][..], &[0x12, 8, 0x0a, 2, 0x08, a, 0x0a, 2, 0x08, b], &[0x12, 4, 0x0a, 2, 0x08, c]];
    let metas = [pco_meta(100), pco_meta(200)];
    let mut buffers = vec![&metas[0][..], &metas[1]];
    buffers.extend(pages);
    buffers.extend(validity);
    let children = validity.map(|_| node(Encoding::Bool, &[], &[5], vec![]));
    blob(node(Encoding::Pco, &metadata.concat(), &[0, 1, 2, 3, 4], children.into_iter().collect()), &buffers)
}

#[cfg(feature = "pco")]
#[test]
fn pages_hold_the_rows_that_have_a_value() {
    let blob = pco([2, 1, 2], [&[1, 2], &[3], &[4, 5]], Some(&[0b0101_1011, 0]));
    with(&blob, &number(owned::PType::I64, true), 9, |file, column| {
        file.verify(&mut Scratch::new(&mut [0; 16 << 10])).unwrap();
        let naive = [Some(101), Some(102), None, Some(103), Some(204), None, Some(205), None, None];
        assert_eq!(integers(&column, 0..9), naive);
        for (from, to) in [(0, 9), (3, 7), (1, 4), (4, 5), (5, 9), (7, 9)] {
            let mut memory = [0xaa; 16 << 10];
            let batch = column.read(from..to, &mut Scratch::new(&mut memory)).unwrap();
            let Values::I64(values) = batch.values else { panic!() };
            let read: Vec<_> = (0..batch.len).map(|i| batch.validity.get(i).then_some(values[i])).collect();
            assert_eq!(read, naive[from as usize..to as usize]);
        }
    });
}

#[cfg(feature = "pco")]
#[test]
fn pages_that_are_not_as_long_as_they_say_are_an_error() {
    let pages: [&[u8]; 3] = [&[1, 2], &[3], &[4, 5]];
    assert_eq!(longs(&pco([2, 1, 2], pages, None), 5), Ok(vec![101, 102, 103, 204, 205]));
    let error = |claims, rows| longs(&pco(claims, pages, None), rows).unwrap_err();
    let e = error([3, 1, 2], 5);
    assert_eq!((e.kind(), e.what()), (Kind::Truncated, What::PcoPage), "more than the page has");
    let e = error([1, 1, 2], 4);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::PcoPage), "less than the page has");
    let e = error([2, 1, 2], 6);
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VtxRows), "more rows than values");
    // A type that the chunk is not of.
    let blob = pco([2, 1, 2], pages, None);
    with(&blob, &number(owned::PType::I32, false), 5, |_, column| {
        let e = column.read(0..5, &mut Scratch::new(&mut [0; 16 << 10])).unwrap_err();
        assert_eq!(e.what(), What::Pco);
    });
}
