//! Encodings that are in no edition yet. Releases 0.90 and 0.93 of the original read the same
//! values from these files.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Value};
use pilaster::error::{Kind, What};
use pilaster::unstable::encoding::fastlanes;
use pilaster::vortex::{Column, Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{self, bits, blob, dtype, le, node, number, plain, varint, why};

/// Rows of a block.
const BLOCK: usize = 1024;

/// Packs numbers of 64 bits in blocks of these widths. Returns the blocks, and the boundaries between them.
fn packed(values: &[i64], widths: &[u32]) -> (Vec<u8>, Vec<i64>) {
    let (mut bytes, mut boundaries) = (Vec::new(), vec![0]);
    for (block, width) in values.chunks(BLOCK).zip(widths) {
        let mut all = [0u64; BLOCK];
        all.iter_mut().zip(block).for_each(|(to, value)| *to = *value as u64);
        let mut out = vec![0; 128 * *width as usize];
        fastlanes::pack(&all, 0, *width, &mut out).unwrap();
        bytes.extend(out);
        boundaries.push(bytes.len() as i64);
    }
    (bytes, boundaries)
}

fn field(number: u32, value: u64) -> Vec<u8> {
    [varint((number << 3).into()), varint(value)].concat()
}

/// A number of 256 bits, the lowest word first.
type Wide = [u64; 4];

fn wide(value: i64) -> Wide {
    let sign = (value >> 63) as u64;
    [value as u64, sign, sign, sign]
}

/// Reads every row of a file alone and in batches of several sizes, and verifies it.
fn read(file: &[u8]) -> pilaster::Result<Vec<Option<Wide>>> {
    let file = File::open(file)?;
    let mut memory = vec![0; 1 << 20];
    file.verify(&mut Scratch::new(&mut memory))?;
    let part = file.part()?;
    let column = part.column(0)?;
    let all = batches(&column, column.rows(), &mut memory)?;
    for step in [1, 7, 1000, 1500] {
        assert_eq!(batches(&column, step, &mut memory)?, all, "batches of {step} rows");
    }
    Ok(all)
}

fn batches(column: &Column<'_>, step: u64, memory: &mut [u8]) -> pilaster::Result<Vec<Option<Wide>>> {
    let (mut row, mut all) = (0, Vec::new());
    while row < column.rows() {
        let rows = row..column.rows().min(row + step);
        let need = column.need(rows.clone())? as usize;
        // Whatever the memory holds, the result is the same.
        memory.fill(row as u8 | 0x51);
        let batch = column.read(rows, &mut Scratch::new(&mut memory[..need]))?;
        for i in 0..batch.len {
            let value = match batch.value(i)? {
                Value::Null => None,
                Value::Int(value) => {
                    let sign = (value >> 127) as u64;
                    Some([value as u64, (value >> 64) as u64, sign, sign])
                }
                Value::Int256(words) => Some(words),
                other => panic!("{other:?}"),
            };
            all.push(value);
        }
        row += batch.len as u64;
    }
    Ok(all)
}

/// Rows of four blocks whose widths differ: 5, 0, 33 and 64 bits.
fn sample() -> (Vec<i64>, [u32; 4]) {
    let widths = [5, 0, 33, 64];
    let value = |i: usize| {
        let random = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        random.checked_shr(64 - widths[i / BLOCK]).unwrap_or(0) as i64
    };
    ((0..3 * BLOCK + 700).map(value).collect(), widths)
}

fn optional(values: &[i64]) -> Vec<Option<Wide>> {
    values.iter().map(|value| Some(wide(*value))).collect()
}

const I64: u64 = 7;
const U64: u64 = 3;

/// `fastlanes.bitpacked.v2` of the sample, whose first `skip` rows are cut off.
fn bit_packed(skip: usize, change: impl Fn(&mut Vec<i64>)) -> (Vec<i64>, Vec<u8>) {
    let (values, widths) = sample();
    let (bytes, mut boundaries) = packed(&values, &widths);
    // A slice keeps the boundaries as they were.
    let cut = skip / BLOCK;
    let (bytes, mut boundaries) = (&bytes[boundaries[cut] as usize..], boundaries.split_off(cut));
    change(&mut boundaries);
    let metadata = [field(1, (skip % BLOCK) as u64), field(2, U64)].concat();
    let root = node(Encoding::BitPackedV2, &metadata, &[0], vec![plain(1)]);
    let values = values[skip..].to_vec();
    let file =
        build::file(&blob(root, &[bytes, &le(&boundaries)]), &number(owned::PType::I64, false), values.len() as u64);
    (values, file)
}

#[test]
fn each_block_has_its_width() {
    for skip in [0, 1, 1023, 1024, 1500, 2048, 3772] {
        let (values, file) = bit_packed(skip, |_| ());
        assert_eq!(read(&file).unwrap(), optional(&values), "{skip} rows cut off");
    }
}

#[test]
fn boundaries_that_are_no_widths_are_an_error() {
    let refused = |change: &dyn Fn(&mut Vec<i64>)| why(read(&bit_packed(0, change).1).map(drop).unwrap_err());
    assert_eq!(refused(&|all| all[1] += 1), (Kind::Invalid, What::VORTEX_OFFSETS), "no multiple of 128");
    assert_eq!(refused(&|all| all[1] += 1024), (Kind::Invalid, What::VORTEX_OFFSETS), "the next one is less");
    assert_eq!(refused(&|all| all[4] += 128), (Kind::Invalid, What::VORTEX_OFFSETS), "65 bits");
    assert_eq!(refused(&|all| all[0] = 128), (Kind::Invalid, What::VORTEX_OFFSETS), "128 bytes are in no block");
    let (_, file) = bit_packed(0, |all| all.truncate(4));
    assert_eq!(read(&file).unwrap_err().what(), What::VORTEX_BUFFER, "a boundary is missing");
}

#[test]
fn packed_numbers_have_patches_and_nulls() {
    let (mut values, widths) = sample();
    let (bytes, boundaries) = packed(&values, &widths);
    let patched = [(3u64, 1 << 40), (1030, -5), (3771, 9)];
    for (row, value) in patched {
        values[row as usize] = value;
    }
    // Every third row is null.
    let valid: Vec<u8> = (0..values.len().div_ceil(8))
        .map(|k| (0..8).fold(0, |byte, i| byte | u8::from((8 * k + i) % 3 != 0) << i))
        .collect();
    let patches = [field(1, 3), field(3, U64)].concat();
    let metadata = [field(2, U64), vec![3 << 3 | 2, patches.len() as u8], patches].concat();
    let children = vec![plain(1), plain(2), bits(3), plain(4)];
    let root = node(Encoding::BitPackedV2, &metadata, &[0], children);
    let rows = le(&patched.map(|(row, _)| row as i64));
    let buffers = [&bytes, &rows, &le(&patched.map(|(_, value)| value)), &valid, &le(&boundaries)];
    let file = build::file(
        &blob(root, &buffers.map(|buffer| &buffer[..])),
        &number(owned::PType::I64, true),
        values.len() as u64,
    );
    let mut expected = optional(&values);
    expected.iter_mut().step_by(3).for_each(|value| *value = None);
    assert_eq!(read(&file).unwrap(), expected);
}

#[test]
fn rows_without_bits_take_no_time() {
    // 2^40 rows: all boundaries are the same constant.
    let rows = 1 << 40;
    let boundaries = node(Encoding::Constant, &[], &[1], vec![]);
    let root = node(Encoding::BitPackedV2, &field(2, U64), &[0], vec![boundaries]);
    let file = build::file(&blob(root, &[&[], &[0x20, 9]]), &number(owned::PType::I64, false), rows);
    let file = File::open(&file).unwrap();
    file.verify(&mut Scratch::new(&mut vec![0; 1 << 20])).unwrap();
    let part = file.part().unwrap();
    let mut memory = [0; 1024];
    let batch = part.column(0).unwrap().scalar_at(rows - 1, &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!(batch.value(0), Ok(Value::Int(0)));
}

/// `fastlanes.for.v2` of numbers below the references, whose first `skip` rows are cut off.
fn differences(skip: usize, references: &[i64], valid: Option<&[u8]>) -> Vec<u8> {
    let rows = 3 * BLOCK + 700 - skip;
    let numbers: Vec<i64> = (0..rows as i64).collect();
    let mut encoded = plain(0);
    let mut buffers = vec![le(&numbers), le(references)];
    if let Some(valid) = valid {
        encoded.children = Some(vec![bits(2)]);
        buffers.push(valid.to_vec());
    }
    let root = node(Encoding::ForV2, &field(1, (skip % BLOCK) as u64), &[], vec![encoded, plain(1)]);
    let buffers: Vec<&[u8]> = buffers.iter().map(|buffer| &buffer[..]).collect();
    build::file(&blob(root, &buffers), &number(owned::PType::I64, valid.is_some()), rows as u64)
}

#[test]
fn each_block_has_its_reference() {
    let references = [-7, i64::MAX, 1000, i64::MIN];
    for skip in [0, 1, 1023, 1024, 2049] {
        let cut = &references[skip / BLOCK..];
        let value = |i: usize| (i as i64).wrapping_add(references[(i + skip) / BLOCK]);
        let expected: Vec<i64> = (0..3 * BLOCK + 700 - skip).map(value).collect();
        assert_eq!(read(&differences(skip, cut, None)).unwrap(), optional(&expected), "{skip} rows cut off");
    }
    let valid = vec![0b1010_1010; 472];
    let nulls = read(&differences(0, &references, Some(&valid))).unwrap();
    assert_eq!(nulls[..4], [None, Some(wide(-6)), None, Some(wide(-4))]);
    // A reference is missing.
    assert_eq!(read(&differences(0, &references[1..], None)).unwrap_err().what(), What::VORTEX_BUFFER);
}

/// `vortex.decimal_byte_parts.v2` of these columns, the highest first, of types with these numbers.
fn parts(columns: &[Vec<u8>], types: &[u8], valid: Option<&[u8]>) -> pilaster::Result<Vec<Option<Wide>>> {
    let mut metadata = field(1, types[0].into());
    // Packed.
    metadata.extend([2 << 3 | 2, types.len() as u8 - 1]);
    metadata.extend(&types[1..]);
    let mut children: Vec<_> = (0..columns.len() as u16).map(plain).collect();
    let mut buffers: Vec<&[u8]> = columns.iter().map(|column| &column[..]).collect();
    if let Some(valid) = valid {
        children[0].children = Some(vec![bits(columns.len() as u16)]);
        buffers.push(valid);
    }
    let root = node(Encoding::DecimalBytePartsV2, &metadata, &[], children);
    let decimal = owned::Decimal { precision: 38, scale: 2, nullable: valid.is_some() };
    let precise = owned::Decimal { precision: 76, ..decimal };
    let decimal = if columns.len() > 2 { precise } else { decimal };
    read(&build::file(&blob(root, &buffers), &dtype(owned::Type::Decimal(Box::new(decimal))), 3))
}

#[test]
fn decimals_in_parts() {
    let high = le(&[0, -1, 1 << 40]);
    let low = le(&[5, -1, i64::MIN]);
    assert_eq!(
        parts(&[high.clone(), low.clone()], &[I64 as u8, U64 as u8], None).unwrap(),
        [Some([5, 0, 0, 0]), Some([u64::MAX; 4]), Some([1 << 63, 1 << 40, 0, 0])]
    );
    // The place of a part is 64 bits, whatever its type is: i8 and u16 here.
    let narrow = [vec![1, 0xff, 0x80], vec![1, 0, 2, 0, 0xff, 0xff]];
    assert_eq!(
        parts(&narrow, &[4, 1], Some(&[0b101])).unwrap(),
        [Some([1, 1, 0, 0]), None, Some([0xffff, (-128i64) as u64, u64::MAX, u64::MAX])]
    );
    // One part, and four.
    assert_eq!(
        parts(core::slice::from_ref(&high), &[I64 as u8], None).unwrap(),
        [0, -1, 1 << 40].map(|value| Some(wide(value)))
    );
    let four = [high, le(&[1; 3]), le(&[2; 3]), low];
    assert_eq!(
        parts(&four, &[I64 as u8, U64 as u8, U64 as u8, U64 as u8], None).unwrap(),
        [Some([5, 2, 1, 0]), Some([u64::MAX, 2, 1, u64::MAX]), Some([1 << 63, 2, 1, 1 << 40])]
    );
}

#[test]
fn parts_of_the_wrong_type_are_an_error() {
    let refused = |columns: usize, types: &[u8]| why(parts(&vec![le(&[0; 3]); columns], types, None).unwrap_err());
    let metadata = (Kind::Invalid, What::VORTEX_METADATA);
    assert_eq!(refused(2, &[U64 as u8, U64 as u8]), metadata, "the highest part is unsigned");
    assert_eq!(refused(2, &[I64 as u8, I64 as u8]), metadata, "a lower part is signed");
    assert_eq!(refused(2, &[I64 as u8, 10]), metadata, "a part is a float");
    assert_eq!(refused(5, &[I64 as u8, U64 as u8, U64 as u8, U64 as u8, U64 as u8]), metadata, "320 bits");
    assert_eq!(refused(1, &[I64 as u8, U64 as u8]), (Kind::Invalid, What::VORTEX_ARRAY), "a child is missing");
}
