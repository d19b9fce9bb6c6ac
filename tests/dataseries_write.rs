//! DataSeries files that we write are those of the original, byte for byte, wherever the text fixes the
//! bytes; and every extent that we pack hashes as the original's does.
#![cfg(all(feature = "dataseries", feature = "alloc"))]

mod common;

use common::Golden;
use pilaster::Error;
use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::Part as _;
use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, IndexSlot, Memory, Stored, Writer};
use pilaster::dataseries::{File, Mode, Order, ReadOptions};
use pilaster::unstable::dataseries::raw::{EXTENT_SEED, HEADER_LEN, TRAILER_SEED};
use pilaster::unstable::hash::{adler32, lookup2, mix3};

/// Reads `bytes`, unpacks every data extent and writes its rows into a new file of byte order `F`, uncompressed.
fn rewrite<E: Endian, F: Endian>(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut memory = vec![0x55; 1 << 22];
    let (types_memory, memory) = memory.split_at_mut(1 << 20);
    let file = File::<E>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(types_memory))?;
    let types: Vec<_> = file.types().iter().filter(|ty| !ty.xml().is_empty()).collect();
    let descriptions: Vec<Description<'_>> = types.iter().map(Description::from).collect();
    let mut slots = [IndexSlot::EMPTY; 64];
    let mut writer = Writer::<F, _>::with(Vec::new(), Descriptions::new(&descriptions)?, &mut slots, Stored);
    for extent in file.extents() {
        let extent = extent?;
        let Some(ty) = types.iter().find(|ty| ty.name().as_bytes() == extent.type_name()) else { continue };
        let part = extent.unpack(ty, &ReadOptions::DEFAULT, &mut Scratch::new(memory))?;
        let mut rows = vec![0xaa; part.records().len()];
        let (mut pool, mut unique) = (vec![0xaa; 1 << 20], vec![0; 1 << 14]);
        let mut to = ExtentBuffer::new(*ty, Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique })?;
        for row in 0..part.rows() {
            to.push_record(&part, row)?;
        }
        writer.flush_any(&mut to).unwrap();
    }
    Ok(writer.finish().unwrap())
}

/// The same file with the mode 0 for every part that is empty, where the original leaves what happened to
/// be in memory (section 4). All check values above are made anew.
fn with_tidy_modes<E: Endian>(bytes: &[u8]) -> Vec<u8> {
    use zerocopy::byteorder::U32;
    let word = |bytes: &[u8], at: usize| U32::<E>::from_bytes(bytes[at..at + 4].try_into().unwrap()).get();
    let put =
        |bytes: &mut [u8], at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&U32::<E>::new(value).to_bytes());
    let mut tidy = bytes.to_vec();
    let (mut at, mut chain) = (HEADER_LEN, 0);
    while word(&tidy, at) != u32::MAX {
        let next = |n: u32| (n as usize).next_multiple_of(4);
        let (fixed, variable) = (word(&tidy, at), word(&tidy, at + 4));
        let len = next(28 + u32::from(tidy[at + 26])) + next(fixed) + next(variable);
        if fixed == 0 {
            tidy[at + 24] = 0;
        }
        if variable == 0 {
            tidy[at + 25] = 0;
        }
        let covered = [&tidy[at..at + 16], &tidy[at + 20..at + len]].concat();
        put(&mut tidy, at + 16, adler32(&covered));
        chain = mix3(word(&tidy, at + 16) ^ word(&tidy, at + 20), chain, EXTENT_SEED);
        at += len;
    }
    put(&mut tidy, at + 12, chain);
    let hash = lookup2(TRAILER_SEED, &tidy[at..at + 24]);
    put(&mut tidy, at + 24, hash);
    tidy
}

/// Number of rows and hash of every extent.
fn hashes<E: Endian>(bytes: &[u8]) -> Vec<(u32, u32)> {
    let mut memory = vec![0; 1 << 20];
    let file = File::<E>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    // The index extent holds offsets: it is another one where sizes differ.
    let mut all: Vec<_> =
        file.extents().map(|extent| extent.unwrap()).map(|e| (e.header().rows, e.header().hash)).collect();
    all.pop();
    all
}

fn is_stored<E: Endian>(bytes: &[u8]) -> bool {
    let mut memory = vec![0; 1 << 20];
    let file = File::<E>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    file.extents().all(|extent| {
        let header = *extent.unwrap().header();
        (header.fixed == 0 || header.fixed_mode == Mode::None)
            && (header.variable == 0 || header.variable_mode == Mode::None)
    })
}

fn undamaged() -> Vec<Golden> {
    let goldens = common::of("dataseries");
    let bz2 = |golden: &Golden| golden.expected["facts"]["extents"].to_string().contains("\"bz2\"");
    let readable = |golden: &Golden| !golden.name.contains("damaged") && (cfg!(feature = "bzip2") || !bz2(golden));
    goldens.into_iter().filter(readable).collect()
}

/// Files whose rows cannot be had back exactly: values were rounded when they were written (section 8.4).
const LOSSY: &[&str] = &["scaled_lossy", "scaled_lossy_be"];

#[test]
fn what_the_original_wrote_is_written_again() {
    let (mut same, mut hashed, mut wrong) = (0, 0, Vec::new());
    for golden in undamaged() {
        let bytes = golden.bytes();
        let name = golden.name.trim_start_matches("dataseries/");
        let mut check =
            |ours: Result<Vec<u8>, Error>, tidy: Vec<u8>, stored: bool, hashes: fn(&[u8]) -> Vec<(u32, u32)>| {
                let ours = match ours {
                    Ok(ours) => ours,
                    Err(e) => return wrong.push(format!("{name}: {e}")),
                };
                if LOSSY.contains(&name) {
                    return;
                }
                if stored {
                    same += 1;
                    if ours != tidy {
                        let at = ours.iter().zip(&tidy).position(|(a, b)| a != b);
                        wrong.push(format!("{name}: differs at {at:?} of {} and {}", ours.len(), tidy.len()));
                    }
                } else {
                    hashed += 1;
                    if hashes(&ours) != hashes(&bytes) {
                        wrong.push(format!("{name}: hashes differ"));
                    }
                }
            };
        match Order::of(&bytes).unwrap() {
            Order::Little => check(
                rewrite::<LittleEndian, LittleEndian>(&bytes),
                with_tidy_modes::<LittleEndian>(&bytes),
                is_stored::<LittleEndian>(&bytes),
                hashes::<LittleEndian>,
            ),
            Order::Big => check(
                rewrite::<BigEndian, BigEndian>(&bytes),
                with_tidy_modes::<BigEndian>(&bytes),
                is_stored::<BigEndian>(&bytes),
                hashes::<BigEndian>,
            ),
        }
    }
    println!("{same} files byte for byte, {hashed} compressed ones extent by extent");
    assert!(wrong.is_empty(), "{}\n{same} and {hashed} compared", wrong.join("\n"));
    assert!(same >= 120 && hashed >= 40, "only {same} and {hashed} compared");
}

#[test]
fn there_and_back_between_the_orders() {
    for golden in undamaged() {
        let bytes = golden.bytes();
        if golden.name.contains("scaled_lossy") {
            continue;
        }
        let (here, back) = match Order::of(&bytes).unwrap() {
            Order::Little => (
                rewrite::<LittleEndian, LittleEndian>(&bytes).unwrap(),
                rewrite::<BigEndian, LittleEndian>(&rewrite::<LittleEndian, BigEndian>(&bytes).unwrap()).unwrap(),
            ),
            Order::Big => (
                rewrite::<BigEndian, BigEndian>(&bytes).unwrap(),
                rewrite::<LittleEndian, BigEndian>(&rewrite::<BigEndian, LittleEndian>(&bytes).unwrap()).unwrap(),
            ),
        };
        assert_eq!(here, back, "{}", golden.name);
    }
}
