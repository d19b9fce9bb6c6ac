//! Frames and pages that are kept for the next rows of variants: what they unpack to, how they are found, and which are kept.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Value};
use pilaster::unstable::encoding::pco::encode;
use pilaster::vortex::Encoding;
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, node, varint, with};
use crate::vortex_costs::field;
use crate::vortex_shredded::{batches, object};
use crate::vortex_variant::{I64, constant, of, parquet, scalar, variant};

/// A `vortex.pco` of one page whose buffers are `k` and `k + 1`, with these buffers.
fn paged(numbers: &[i64], k: u16) -> (owned::ArrayNode, [Vec<u8>; 2]) {
    let encode::Encoded { header, meta, pages } = encode::numbers(numbers, numbers.len()).unwrap();
    let page = field(1, &[&[8][..], &varint(numbers.len() as u64)].concat());
    let metadata = [field(1, &header), field(2, &page)].concat();
    (node(Encoding::Pco, &metadata, &[k, k + 1], vec![]), [meta, pages[0].bytes.clone()])
}

/// Makes the second child of the only array with two children of the same encoding another reference to the first one.
fn share_children(bytes: &mut [u8]) {
    let word = |bytes: &[u8], at: usize| bytes.get(at..at + 4).map(|four| u32::from_le_bytes(four.try_into().unwrap()));
    let encoding = |at: usize| {
        let vtable = at.checked_add_signed(-(word(bytes, at)? as i32) as isize)?;
        let field = word(bytes, vtable + 4)? as u16;
        (field > 0).then(|| word(bytes, at + usize::from(field)).map(|word| word as u16))?
    };
    let pco = Encoding::ALL.iter().position(|known| *known == Encoding::Pco).unwrap() as u16;
    let found: Vec<usize> = (0..bytes.len())
        .filter(|at| {
            let child = |k: usize| encoding(at + 4 * k + word(bytes, at + 4 * k)? as usize);
            word(bytes, *at) == Some(2) && child(1) == Some(pco) && child(2) == Some(pco)
        })
        .collect();
    let [at] = found[..] else { panic!("{found:?}") };
    let first = word(bytes, at + 4).unwrap() - 4;
    bytes[at + 8..at + 12].copy_from_slice(&first.to_le_bytes());
}

#[test]
fn a_page_of_two_types_is_kept_for_each() {
    let f64: &[u8] = &[0x1a, 4, 8, 10, 0x10, 1];
    let numbers: Vec<i64> = (0..300).map(|i: i64| -(1 << 62) - i * i).collect();
    let (array, [meta, page]) = paged(&numbers, 2);
    let ty = object(&[("a", I64), ("b", f64)]);
    let fields = node(Encoding::Struct, &[], &[], vec![array.clone(), array]);
    let core = parquet(&[], vec![bits(4), constant(0), constant(1)]);
    let metadata = scalar(&[0x11, 2, 0, 1, 2, b'a', b'b']);
    let separate = blob(of(&ty, vec![core, fields]), &[&metadata, &[8, 0], &meta, &page, &[0xff; 38]]);
    let mut shared = separate.clone();
    share_children(&mut shared);
    assert_ne!(separate, shared);
    let read = |bytes: &[u8]| with(bytes, &variant(false), 300, |_, column| batches(&column).unwrap().0);
    let expected = read(&separate);
    assert!(expected[7].windows(9).any(|value| value == [&[0x18][..], &numbers[7].to_le_bytes()].concat()));
    assert!(read(&shared) == expected);
    // In memory that lacks what pages are kept in.
    with(&shared, &variant(false), 300, |_, column| {
        let (child, mut len) = (column.child(1).unwrap(), 1 << 20);
        while let Ok(batch) = child.read(7..8, &mut Scratch::new(&mut vec![0; len])) {
            assert_eq!(batch.value(0), Ok(Value::Bytes(&expected[7])));
            len -= if len > 40_000 { 1 << 14 } else { 256 };
        }
        assert!(len < child.need(7..8).unwrap() as usize, "{len}");
    });
}
