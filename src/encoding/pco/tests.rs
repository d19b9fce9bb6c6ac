//! Compares with the crate that defines the format, and reads damaged input.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::borrow::ToOwned;
use std::collections::BTreeSet;
use std::string::String;
use std::vec;
use std::vec::Vec;

use ::pco::data_types::Number as Original;
use ::pco::wrapped::FileCompressor;
use ::pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

use super::{Chunk, Number, Page, Version};
use crate::bytes::Scratch;
use crate::error::{Kind, Result};

/// Output of the original encoder: header, metadata, pages and their numbers.
struct Written {
    header: Vec<u8>,
    meta: Vec<u8>,
    pages: Vec<(Vec<u8>, usize)>,
}

fn write<T: Original>(numbers: &[T], mode: ModeSpec, delta: DeltaSpec, pages: usize) -> Option<Written> {
    let config = ChunkConfig::default()
        .with_mode_spec(mode)
        .with_delta_spec(delta)
        .with_enable_8_bit(true)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(numbers.len().div_ceil(pages).max(1)));
    let file = FileCompressor::default();
    let mut header = Vec::new();
    file.write_header(&mut header).unwrap();
    let mut chunk = file.chunk_compressor(numbers, &config).ok()?;
    let mut meta = Vec::new();
    chunk.write_meta(&mut meta).unwrap();
    let pages = chunk.n_per_page().into_iter().enumerate().map(|(k, n)| {
        let mut page = Vec::new();
        chunk.write_page(k, &mut page).unwrap();
        (page, n)
    });
    let pages = pages.collect();
    Some(Written { header, meta, pages })
}

/// Reads all pages, in no more memory than [`Chunk::need`].
fn read(written: &Written, number: Number) -> Result<Vec<u64>> {
    let chunk = Chunk::new(Version::new(&written.header)?, &written.meta, number)?;
    let most = written.pages.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let mut memory = vec![0xa5; chunk.need(most as u64) as usize];
    let mut s = Scratch::new(&mut memory);
    let tables = chunk.tables(&mut s)?;
    let mut out = Vec::new();
    for (bytes, n) in &written.pages {
        let mut s = s.scope();
        let mut page = Page::new(&chunk, &tables, bytes, *n as u64, &mut s)?;
        loop {
            match page.next()? {
                [] => break,
                batch => out.extend_from_slice(batch),
            }
        }
    }
    Ok(out)
}

/// Returns mode and delta of a chunk by their names.
fn name_of(written: &Written, number: Number) -> String {
    let chunk = Chunk::new(Version::new(&written.header).unwrap(), &written.meta, number).unwrap();
    let first = |text: String| text.split([' ', '(']).next().unwrap_or_default().to_owned();
    first(std::format!("{:?}", chunk.mode)) + " " + &first(std::format!("{:?}", chunk.delta))
}

fn deltas() -> Vec<DeltaSpec> {
    let mut deltas = vec![DeltaSpec::Auto, DeltaSpec::NoOp, DeltaSpec::TryLookback];
    deltas.extend([1, 2, 7].map(DeltaSpec::TryConsecutive));
    deltas.extend([1, 6, 32].map(DeltaSpec::TryConv1));
    deltas
}

/// Emulated targets test a sample.
const ALL: bool = cfg!(all(target_pointer_width = "64", target_endian = "little"));

/// Returns true one time in eleven.
fn turn() -> bool {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    TURN.fetch_add(1, Ordering::Relaxed).is_multiple_of(11)
}

/// Compares every mode with every delta that the original accepts. Returns those that the chunks have.
fn agree<T: Original>(numbers: &[T], modes: &[ModeSpec], number: Number, bits: impl Fn(&T) -> u64) -> BTreeSet<String> {
    let expected: Vec<u64> = numbers.iter().map(bits).collect();
    let mut seen = BTreeSet::new();
    for mode in modes {
        for delta in deltas() {
            for pages in [1, 3] {
                if !ALL && !turn() {
                    continue;
                }
                // The original panics if fewer numbers than weights are left of its steps of 512.
                let page = numbers.len() / pages;
                if matches!(delta, DeltaSpec::TryConv1(order) if page % 512 <= order) {
                    continue;
                }
                let Some(written) = write(numbers, mode.clone(), delta.clone(), pages) else { continue };
                let name = std::format!("{number:?} {mode:?} {delta:?} {pages}");
                assert_eq!(read(&written, number).as_deref(), Ok(&expected[..]), "{name}");
                seen.insert(name_of(&written, number));
            }
        }
    }
    seen
}

fn noise(i: u64) -> u64 {
    let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 7
}

/// Shapes of numbers: none, one, equal, noise, steps, a few values, extremes, repeated patterns.
fn shapes() -> Vec<Vec<u64>> {
    let mut shapes: Vec<Vec<u64>> = vec![vec![], vec![7], vec![5; 700]];
    shapes.push((0..600).map(noise).collect());
    shapes.push((0..1030).map(|i| i * 7 + noise(i) % 3).collect());
    shapes.push((0..513).map(|i| [3, 3, 3, 1 << 40, u64::MAX][noise(i) as usize % 5]).collect());
    shapes.push((0..300).map(|i| if i % 2 == 0 { noise(i) } else { u64::MAX - noise(i) }).collect());
    shapes.push((0..900).map(|i| noise(i % 100) % 1000 * 100 + i % 2).collect());
    shapes
}

#[test]
fn integers_read_as_the_original_wrote_them() {
    let modes = [ModeSpec::Auto, ModeSpec::Classic, ModeSpec::TryIntMult(100), ModeSpec::TryDict];
    let mut seen = BTreeSet::new();
    for shape in shapes() {
        macro_rules! agree {
            ($($ty:ty, $make:ident, $bits:ty);*) => {$(
                let numbers: Vec<$ty> = shape.iter().map(|n| *n as $ty).collect();
                let number = Number::$make(size_of::<$ty>()).unwrap();
                seen.extend(agree(&numbers, &modes, number, |n| u64::from(*n as $bits)));
            )*};
        }
        agree!(u8, unsigned, u8; u16, unsigned, u16; u32, unsigned, u32; u64, unsigned, u64;
            i8, signed, u8; i16, signed, u16; i32, signed, u32; i64, signed, u64);
    }
    assert!(!ALL || seen.len() == 12, "{seen:?}");
}

#[test]
fn floats_read_as_the_original_wrote_them() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 5e-324, f64::MAX, 1e-40, -65504.0];
    let mut seen = BTreeSet::new();
    for shape in shapes() {
        let tenths = shape.iter().map(|n| (*n % 100_000) as f64 * 0.1 - 500.0);
        let mut numbers: Vec<f64> = tenths.collect();
        for (k, number) in numbers.iter_mut().enumerate().filter(|(k, _)| k % 37 == 5) {
            *number = odd[k / 37 % odd.len()];
        }
        let modes = |quant| {
            let base = [ModeSpec::Auto, ModeSpec::Classic, ModeSpec::TryFloatMult(0.1), ModeSpec::TryDict];
            [&base[..], &[ModeSpec::TryFloatQuant(quant), ModeSpec::TryFloatMult(-3.0)]].concat()
        };
        seen.extend(agree(&numbers, &modes(20), Number::float(8).unwrap(), |n| n.to_bits()));
        let narrow: Vec<f32> = numbers.iter().map(|n| *n as f32).collect();
        seen.extend(agree(&narrow, &modes(5), Number::float(4).unwrap(), |n| n.to_bits().into()));
        let half: Vec<half::f16> = numbers.iter().map(|n| half::f16::from_f64(*n)).collect();
        seen.extend(agree(&half, &modes(3), Number::float(2).unwrap(), |n| n.to_bits().into()));
    }
    assert!(!ALL || seen.len() == 16, "{seen:?}");
}

/// Reads any bytes: the result is numbers or an error, without more memory than [`Chunk::need`].
fn survives(written: &Written, number: Number) -> bool {
    match read(written, number) {
        Ok(_) => true,
        Err(e) => {
            assert!(e.kind() != Kind::NoRoom && e.kind() != Kind::Misuse, "{e:?}");
            false
        }
    }
}

#[test]
fn damage_is_an_error_or_other_numbers() {
    let numbers: Vec<u32> = (0..600).map(|i| (noise(i % 50) % 9000) as u32).collect();
    let number = Number::unsigned(4).unwrap();
    for mode in [ModeSpec::Classic, ModeSpec::TryIntMult(100), ModeSpec::TryDict] {
        for delta in deltas() {
            let mut written = write(&numbers, mode.clone(), delta, 1).unwrap();
            for at in (0..written.meta.len()).step_by(written.meta.len() / 40 + 1) {
                for flip in [1, 0x80, 0xff] {
                    written.meta[at] ^= flip;
                    survives(&written, number);
                    written.meta[at] ^= flip;
                }
            }
            let (page, _) = &written.pages[0];
            for at in (0..page.len()).step_by(page.len() / 20 + 1) {
                written.pages[0].0[at] ^= 0x10;
                survives(&written, number);
                written.pages[0].0[at] ^= 0x10;
            }
            let whole = written.pages[0].0.clone();
            // A page of another length is always refused.
            for cut in (0..whole.len()).step_by(whole.len() / 20 + 1) {
                written.pages[0].0 = whole[..cut].to_vec();
                assert!(!survives(&written, number));
            }
            written.pages[0].0 = [&whole[..], &[0]].concat();
            assert!(!survives(&written, number));
            written.pages[0].0 = whole;
            for cut in 0..written.meta.len().min(60) {
                let meta = written.meta.split_off(cut);
                assert!(!survives(&written, number), "{cut}");
                written.meta.extend(meta);
            }
            assert!(survives(&written, number));
        }
    }
}

#[test]
fn claims_cost_nothing() {
    // 2^24 numbers of one bin without offsets take no bytes: only reading them takes time.
    let mut meta = [0; 6];
    meta[1] = 0x10;
    let chunk = Chunk::new(Version::new(&[4, 1]).unwrap(), &meta, Number::unsigned(2).unwrap()).unwrap();
    let mut memory = vec![0; chunk.need(1 << 24) as usize];
    assert!(memory.len() < 8 << 10);
    let mut s = Scratch::new(&mut memory);
    let tables = chunk.tables(&mut s).unwrap();
    let mut page = Page::new(&chunk, &tables, &[], 1 << 24, &mut s.scope()).unwrap();
    assert_eq!(page.next().unwrap(), [0; 256]);
    let e = Page::new(&chunk, &tables, &[], (1 << 24) + 1, &mut s.scope()).unwrap_err();
    assert_eq!(e.kind(), Kind::Limit);
    for (header, kind) in [(&[][..], Kind::Truncated), (&[4], Kind::Truncated), (&[5, 0], Kind::Unsupported)] {
        assert_eq!(Version::new(header).unwrap_err().kind(), kind);
    }
    assert!(Version::new(&[3]).is_ok() && Version::new(&[3, 0]).is_err());
}

/// Our encoder, all types, pages of a few sizes.
#[test]
#[cfg(feature = "pco-encode")]
fn chunks_in_pages_return() {
    use super::encode::{self, Encoded};

    fn check<T: Original>(numbers: &[T], number: Number, bits: impl Fn(&T) -> u64) {
        for page in [1, 100, 256, 1000] {
            let some = numbers.get(..20 * page).unwrap_or(numbers);
            let Encoded { header, meta, pages } = encode::numbers(some, page).unwrap();
            assert!(pages.iter().all(|one| one.numbers <= page));
            let pages = pages.into_iter().map(|one| (one.bytes, one.numbers)).collect();
            let expected: Vec<u64> = some.iter().map(&bits).collect();
            assert_eq!(read(&Written { header, meta, pages }, number), Ok(expected), "{number:?} in pages of {page}");
        }
    }
    for shape in shapes().into_iter().filter(|shape| !shape.is_empty() && (ALL || shape.len() < 100)) {
        macro_rules! check {
            ($($ty:ty, $make:ident, $bits:ty);*) => {$(
                let numbers: Vec<$ty> = shape.iter().map(|n| *n as $ty).collect();
                check(&numbers, Number::$make(size_of::<$ty>()).unwrap(), |n| u64::from(*n as $bits));
            )*};
        }
        check!(u16, unsigned, u16; u32, unsigned, u32; u64, unsigned, u64; i16, signed, u16; i32, signed, u32;
            i64, signed, u64);
        let doubles: Vec<f64> = shape.iter().map(|n| (*n % 100_000) as f64 * 0.1 - 500.0).collect();
        check(&doubles, Number::float(8).unwrap(), |n| n.to_bits());
        let bits: Vec<u16> = shape.iter().map(|n| *n as u16).collect();
        let halves = encode::halves(&bits, 300).unwrap();
        let pages = halves.pages.into_iter().map(|one| (one.bytes, one.numbers)).collect();
        let written = Written { header: halves.header, meta: halves.meta, pages };
        let expected: Vec<u64> = bits.iter().map(|bits| u64::from(*bits)).collect();
        assert_eq!(read(&written, Number::float(2).unwrap()), Ok(expected), "every NaN keeps its bits");
    }
}
