//! DataSeries files that we write equal the files of the original byte for byte, wherever the format fixes the
//! bytes; and every extent that we pack has the hash of the original's.

use pilaster::Error;
use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::Part as _;
use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, IndexSlot, Memory, Stored, Writer};
use pilaster::dataseries::{ExtentType, File, Mode, Order, ReadOptions};
use pilaster::limits::Limits;
use pilaster::unstable::dataseries::raw::{EXTENT_SEED, HEADER_LEN, TRAILER_SEED};
use pilaster::unstable::hash::{adler32, lookup2, mix3};

use crate::common::{self, Golden};

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
        let mut rows = vec![0xaa; part.records().len().max(ty.record_len())];
        let (mut pool, mut unique) = (vec![0xaa; 1 << 20], vec![0; 1 << 14]);
        let mut to = ExtentBuffer::new(*ty, Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique })?;
        for row in 0..part.rows() {
            to.push_record(&part, row)?;
        }
        writer.flush_any(&mut to).unwrap();
    }
    Ok(writer.finish().unwrap())
}

/// Returns the file with mode 0 for every empty part, where the original leaves uninitialised memory (section 4), and
/// with new check values.
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

/// Whether rows cannot be had back exactly: values were rounded when they were written (section 8.4).
fn is_lossy(golden: &Golden) -> bool {
    golden.name.contains("scaled_lossy")
}

/// Writes a golden again. It is the same file, then true; or its extents have the same hashes. Of one that is lossy
/// nothing is compared.
fn written_again<E: Endian>(golden: &Golden, bytes: &[u8]) -> Result<Option<bool>, String> {
    let ours = rewrite::<E, E>(bytes).map_err(|e| e.to_string())?;
    if is_lossy(golden) {
        return Ok(None);
    }
    if !is_stored::<E>(bytes) {
        let same = hashes::<E>(&ours) == hashes::<E>(bytes);
        return if same { Ok(Some(false)) } else { Err("hashes differ".into()) };
    }
    let tidy = with_tidy_modes::<E>(bytes);
    match ours.iter().zip(&tidy).position(|(a, b)| a != b) {
        _ if ours == tidy => Ok(Some(true)),
        at => Err(format!("differs at {at:?} of {} and {}", ours.len(), tidy.len())),
    }
}

#[test]
fn what_the_original_wrote_is_written_again() {
    let (mut same, mut hashed, mut wrong) = (0, 0, Vec::new());
    for golden in undamaged() {
        let bytes = golden.bytes();
        let done = match Order::of(&bytes).unwrap() {
            Order::Little => written_again::<LittleEndian>(&golden, &bytes),
            Order::Big => written_again::<BigEndian>(&golden, &bytes),
        };
        match done {
            Ok(None) => {}
            Ok(Some(true)) => same += 1,
            Ok(Some(false)) => hashed += 1,
            Err(why) => wrong.push(format!("{}: {why}", golden.name)),
        }
    }
    println!("{same} files byte for byte, {hashed} compressed ones extent by extent");
    assert!(wrong.is_empty(), "{}\n{same} and {hashed} compared", wrong.join("\n"));
    assert!(same >= 120 && hashed >= 40, "only {same} and {hashed} compared");
}

/// Another compression changes nothing else: the extents are the same as of rows that are written one by one, and have the hashes of
/// the file, also if writing its values would round them once more.
#[cfg(feature = "alloc")]
#[test]
fn a_rewrite_keeps_packed_records() {
    use pilaster::dataseries::AnyFile;
    use pilaster::dataseries::write::{self, Repack};
    let (mut same, mut hashed, mut memory) = (0, 0, vec![0; 1 << 20]);
    for golden in undamaged() {
        let (bytes, name) = (golden.bytes(), &golden.name);
        let file = AnyFile::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
        let order = Order::of(&bytes).unwrap();
        let ours = write::rewrite(&file, order, Repack::KEEP, Vec::new(), Stored, |_| {}).unwrap();
        let (by_rows, before, after) = match order {
            Order::Little => (
                rewrite::<LittleEndian, LittleEndian>(&bytes),
                hashes::<LittleEndian>(&bytes),
                hashes::<LittleEndian>(&ours),
            ),
            Order::Big => {
                (rewrite::<BigEndian, BigEndian>(&bytes), hashes::<BigEndian>(&bytes), hashes::<BigEndian>(&ours))
            }
        };
        if !is_lossy(&golden) {
            assert_eq!(ours, by_rows.unwrap(), "{name}");
            same += 1;
        } else if (order == Order::Little) == cfg!(target_endian = "little") {
            assert_eq!(before, after, "{name}");
            hashed += 1;
        }
    }
    assert!(same >= 160 && hashed > 0, "only {same} and {hashed} compared");
}

/// No reader takes such an extent, so no file with one is written.
#[cfg(all(feature = "alloc", target_pointer_width = "64"))]
#[test]
fn a_rewrite_refuses_extents_that_are_too_large() {
    use pilaster::bytes::WriteError;
    use pilaster::dataseries::AnyFile;
    use pilaster::dataseries::write::{self, Compress, Compressed, Repack};
    use pilaster::error::{Kind, What};

    /// Makes parts of a length.
    #[derive(Clone)]
    struct Long(Vec<u8>);

    impl Compress for Long {
        fn compress<'c>(&'c mut self, _: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
            Compressed { fixed: (Mode::None, &self.0), variable: (Mode::None, variable) }
        }
    }

    // Packed records are kept in native byte order only.
    let name = if cfg!(target_endian = "little") { "/tiny" } else { "/tiny_be" };
    let golden = undamaged().into_iter().find(|golden| golden.name.ends_with(name)).unwrap();
    let (bytes, mut memory) = (golden.bytes(), vec![0; 1 << 20]);
    let file = AnyFile::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    let order = Order::of(&bytes).unwrap();
    // The zeros are never read.
    let long = Long(vec![0; 512 << 20]);
    let refused = write::rewrite(&file, order, Repack::KEEP, Vec::new(), long, |_| {});
    let Err(WriteError::Format(e)) = refused else { panic!("a file that no reader opens") };
    assert_eq!((e.kind(), e.what()), (Kind::Limit, What::DATASERIES_EXTENT));
}

/// Writes in the same byte order, and in the other `F` and back.
fn there_and_back<E: Endian, F: Endian>(bytes: &[u8], name: &str) {
    let there = rewrite::<E, F>(bytes).unwrap();
    assert_eq!(rewrite::<E, E>(bytes).unwrap(), rewrite::<F, E>(&there).unwrap(), "{name}");
}

#[test]
fn there_and_back_between_the_orders() {
    for golden in undamaged().iter().filter(|golden| !is_lossy(golden)) {
        let bytes = golden.bytes();
        match Order::of(&bytes).unwrap() {
            Order::Little => there_and_back::<LittleEndian, BigEndian>(&bytes, &golden.name),
            Order::Big => there_and_back::<BigEndian, LittleEndian>(&bytes, &golden.name),
        }
    }
}

/// The records of an extent must stay below 512 MiB, also those of a growing extent.
#[test]
fn an_extent_has_room_for_the_records_that_fit() {
    for (size, records) in [(1 << 20, 511), (1 << 28, 1), ((1 << 29) - 1, 1), (3 << 20, 170)] {
        let field = format!(r#"<field type="fixedwidth" size="{size}" name="x" />"#);
        let xml = format!(r#"<ExtentType name="Big" namespace="n" version="1.0">{field}</ExtentType>"#);
        let mut memory = vec![0; 4096];
        let ty = ExtentType::parse(xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
        let len = ty.record_len() as usize;
        let extent = ExtentBuffer::<LittleEndian, _>::growing(ty).unwrap();
        assert_eq!(extent.room(), ((512 << 20) - 1) / len, "{len}");
        assert!(extent.room() <= records, "{size}");
    }
}
