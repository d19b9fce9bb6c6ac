//! A logger's file, cut at every byte and changed at every byte: complete extents are read, the log
//! resumes, and a recovered file is valid.

use pilaster::bytes::{BigEndian, Endian, Input, LittleEndian, Scratch};
use pilaster::column::{Column as _, Part as _, Table as _, Values};
use pilaster::dataseries::recover::{Recovered, Salvage};
use pilaster::dataseries::write::{Description, Descriptions, ExtentBuffer, IndexSlot, Memory, Rest, Resume, Writer};
use pilaster::dataseries::{End, Extent, ExtentType, File, ReadOptions, record};
use pilaster::error::Kind;

record! {
    /// What a probe logs.
    struct Reading<'a> = "Probe" namespace "example.org" version 1.0 {
        time: int64 relative,
        temp: double scaled 0.01,
        place: variable32 unique,
        note: variable32 nullable,
        ok: bool,
    }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Reading<'_>>();
const ROWS: i64 = 20;
/// Rows of an extent.
const GROUP: i64 = 3;

fn reading(n: i64) -> Reading<'static> {
    Reading {
        time: 1_000_000 + n * 250,
        temp: 20.0 + n as f64 * 0.25,
        place: if n % 2 == 0 { b"attic" } else { b"cellar" },
        note: (n % 5 == 0).then_some(b"checked"),
        ok: n % 3 != 0,
    }
}

/// Logs the rows `from..ROWS`.
fn fill<E: Endian>(log: &mut Writer<'_, E, Vec<u8>>, from: i64, ends: &mut Vec<(u64, i64)>) {
    let (mut rows, mut pool, mut unique) = ([0; 512], [0; 512], [0; 16]);
    let mut extent =
        ExtentBuffer::of::<Reading<'_>>(Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique }).unwrap();
    for n in from..ROWS {
        log.push(&mut extent, &reading(n)).unwrap();
        if (n + 1) % GROUP == 0 || n + 1 == ROWS {
            log.flush(&mut extent).unwrap();
            ends.push((log.at(), n + 1));
        }
    }
}

/// The file, and offsets with the number of complete rows before each.
fn log<E: Endian>() -> (Vec<u8>, Vec<(u64, i64)>) {
    let mut slots = [IndexSlot::EMPTY; 16];
    let mut log = Writer::<E, _>::new(Vec::new(), TYPES, &mut slots);
    log.begin().unwrap();
    let mut ends = vec![(log.at(), 0)];
    fill(&mut log, 0, &mut ends);
    (log.finish().unwrap(), ends)
}

/// The times of all rows, in sequence, and how it ends.
fn sequential<E: Endian>(bytes: &[u8]) -> (Vec<i64>, Option<End>) {
    let mut memory = vec![0; 1 << 14];
    let (types, rows) = memory.split_at_mut(1 << 13);
    let Ok(file) = File::<E>::open_sequential(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(types)) else {
        return (Vec::new(), None);
    };
    let mut times = Vec::new();
    let mut extents = file.extents();
    for extent in extents.by_ref() {
        let Ok(extent) = extent else { break };
        let ty = file.type_of(&extent).unwrap();
        if ty.name() == "Probe" {
            let part = extent.unpack(&ty, &ReadOptions::DEFAULT, &mut Scratch::new(rows)).unwrap();
            let mut memory = [0; 256];
            let batch = part.column(0).unwrap().read(0..part.rows(), &mut Scratch::new(&mut memory)).unwrap();
            let Values::I64(values) = batch.values else { panic!("time is no int64") };
            times.extend_from_slice(values);
        }
    }
    (times, extents.end())
}

fn times(count: i64) -> Vec<i64> {
    (0..count).map(|n| reading(n).time).collect()
}

fn cut_at_every_byte<E: Endian>() {
    let (file, ends) = log::<E>();
    assert_eq!(sequential::<E>(&file).0, times(ROWS));
    let (first, last) = (ends[0].0 as usize, ends.last().unwrap().0 as usize);
    for len in 0..=file.len() {
        let cut = &file[..len];
        let &(at, whole) = ends.iter().rfind(|(at, _)| *at as usize <= len).unwrap_or(&(0, 0));
        assert_eq!(sequential::<E>(cut).0, times(whole), "cut at {len}");

        // As a file that is shorter, and as flash whose rest is erased.
        let erased = [cut, &[0xff; 100]].concat();
        for bytes in [cut, &erased] {
            let mut slots = [IndexSlot::EMPTY; 16];
            let resume = Resume::find::<E>(bytes, TYPES, &mut slots);
            if len < first {
                assert!(resume.is_err(), "cut at {len}: no types, no log");
                continue;
            }
            let resume = resume.unwrap();
            assert_eq!((resume.at(), resume.rows()), (at, whole as u64), "cut at {len}");
            let exact = at as usize == len;
            match resume.rest() {
                Rest::Nothing => assert!(exact && bytes.len() == len, "cut at {len}"),
                Rest::Erased => assert!(exact && bytes.len() > len, "cut at {len}"),
                Rest::Index => assert!(len > last, "cut at {len}"),
                Rest::Damage(_) => assert!(!exact, "cut at {len}"),
            }
            let mut log = Writer::<E, _>::resume(cut[..at as usize].to_vec(), TYPES, &mut slots, &resume);
            fill(&mut log, whole, &mut Vec::new());
            assert!(log.finish().unwrap() == file, "cut at {len}: goes on to the same file");
        }
        if len > at as usize + 28 {
            continue;
        }
        // Erased flash after a complete extent is the end of the log, not damage.
        let (rows, end) = sequential::<E>(&[&file[..at as usize], &[0xff; 64]].concat());
        if at > 0 {
            assert_eq!((rows, end), (times(whole), Some(End::Erased { at })));
        }
    }
}

#[test]
fn little() {
    cut_at_every_byte::<LittleEndian>();
}

#[test]
fn big() {
    cut_at_every_byte::<BigEndian>();
}

/// The number of intact rows in `bytes`, the number of lost bytes, and the recovered file.
fn recovered<E: Endian>(bytes: &[u8]) -> (u64, u64, Vec<u8>) {
    let mut memory = vec![0; 1 << 14];
    let (types, rows) = memory.split_at_mut(1 << 13);
    let ty =
        ExtentType::parse(Description::of::<Reading<'_>>().xml, &Default::default(), &mut Scratch::new(types)).unwrap();
    let mut slots = [IndexSlot::EMPTY; 32];
    let mut clean = Writer::<E, _>::new(Vec::new(), TYPES, &mut slots);
    let all = [ty];
    let mut salvage = Salvage::<E>::new(Input::whole(bytes), &all);
    let (mut whole, mut lost, mut at) = (0, 0, 0);
    while let Some(piece) = salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(rows)) {
        match piece.unwrap() {
            Recovered::Extent(header) => {
                whole += u64::from(header.rows);
                clean.put_stored(&Extent::of(&bytes[header.at as usize..], header.at).unwrap()).unwrap();
            }
            Recovered::Lost(loss) => {
                assert!(loss.span.at >= at && loss.span.len > 0);
                at = loss.span.end().unwrap();
                lost += loss.span.len;
            }
        }
    }
    (whole, lost, clean.finish().unwrap())
}

fn hit_at_every_byte<E: Endian>() {
    let (file, ends) = log::<E>();
    assert_eq!(recovered::<E>(&file), (ROWS as u64, 0, file.clone()));
    for at in 0..file.len() {
        let mut hit = file.clone();
        hit[at] ^= 0x10;
        // The changed data extent, if the byte is in one.
        let group = ends.windows(2).find(|pair| (pair[0].0..pair[1].0).contains(&(at as u64)));
        let gone = group.map_or(0, |pair| pair[1].1 - pair[0].1);
        let (whole, _, clean) = recovered::<E>(&hit);
        assert_eq!(whole, (ROWS - gone) as u64, "hit at {at}");
        let (rows, end) = sequential::<E>(&clean);
        assert_eq!(rows.len() as u64, whole, "hit at {at}");
        assert!(matches!(end, Some(End::Trailer { .. })), "hit at {at}");
    }
}

#[test]
fn one_hit_costs_one_extent() {
    hit_at_every_byte::<LittleEndian>();
    hit_at_every_byte::<BigEndian>();
}

#[test]
fn missing_bytes_cost_one_extent() {
    let (file, ends) = log::<LittleEndian>();
    let (a, b) = (ends[2].0 as usize, ends[3].0 as usize);
    for missing in 1..12 {
        let short = [&file[..a + 30], &file[a + 30 + missing..]].concat();
        let (whole, lost, _) = recovered::<LittleEndian>(&short);
        // With them goes the trailer's place; what follows the extent lies where no extent can.
        assert_eq!((whole, lost), ((ROWS - GROUP) as u64, (b - a - missing) as u64), "{missing} bytes");
    }
}

#[test]
fn a_file_of_others_is_not_continued() {
    let (file, _) = log::<LittleEndian>();
    let mut slots = [IndexSlot::EMPTY; 16];
    assert_eq!(Resume::find::<BigEndian>(&file, TYPES, &mut slots).unwrap_err().kind(), Kind::Misuse);
    let other = [Description { name: "Probe", xml: b"<ExtentType name=\"Probe\"/>" }];
    for types in [&other[..], &[]] {
        let types = Descriptions::new(types).unwrap();
        assert_eq!(Resume::find::<LittleEndian>(&file, types, &mut slots).unwrap_err().kind(), Kind::Misuse);
    }
}

#[test]
fn too_few_slots_cost_the_index_and_nothing_else() {
    let mut slots = [IndexSlot::EMPTY; 2];
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
    fill(&mut log, 0, &mut Vec::new());
    let bytes = log.sink().clone();
    let pilaster::bytes::WriteError::Format(e) = log.finish().unwrap_err();
    assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 7));
    assert_eq!(sequential::<LittleEndian>(&bytes).0, times(ROWS));
    let mut slots = [IndexSlot::EMPTY; 7];
    let resume = Resume::find::<LittleEndian>(&bytes, TYPES, &mut slots).unwrap();
    let finished = Writer::<LittleEndian, _>::resume(bytes, TYPES, &mut slots, &resume).finish().unwrap();
    assert!(finished == self::log::<LittleEndian>().0);
}

#[test]
fn what_is_written_is_what_is_read() {
    let (file, _) = log::<BigEndian>();
    let mut memory = vec![0; 1 << 13];
    let file = File::<BigEndian>::open(&file, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!(file.types().find(b"Probe").unwrap().record_len(), 32);
    let mut table = file.table("Probe").unwrap();
    let logged = || (0..ROWS).map(reading);
    assert_eq!(table.to_vec("time"), Ok(logged().map(|row| row.time).collect::<Vec<_>>()));
    assert_eq!(table.to_vec("temp"), Ok(logged().map(|row| row.temp).collect::<Vec<_>>()));
    assert_eq!(table.to_vec("place"), Ok(logged().map(|row| row.place.to_vec()).collect::<Vec<_>>()));
    assert_eq!(table.to_vec("note"), Ok(logged().map(|row| row.note.map(<[u8]>::to_vec)).collect::<Vec<_>>()));
    assert_eq!(table.to_vec("ok"), Ok(logged().map(|row| row.ok).collect::<Vec<_>>()));
}
