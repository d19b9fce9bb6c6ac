//! Logs with damaged checkpoints, with values that look like checkpoints, and made of row groups that cost much time.

use pilaster::bytes::{Input, SliceSink};
use pilaster::column::Prim;
use pilaster::error::{Kind, What};
use pilaster::unstable::hash::lookup2;
use pilaster::vortex::log::{
    Cell, Field, FieldType, Fields, Frames, Log, Policy, Resume, Source, group_words, last_checkpoint, memory_len,
};

use crate::vortex_log::{Own, Room, Rows, cells, read, write};

/// Rows of integers.
fn integers(columns: usize, len: u64) -> (Vec<Field<'static>>, Rows) {
    let fields = ["a", "b", "c"].map(|name| Field::new(name, FieldType::Prim(Prim::I64)));
    let row = |i: u64| (0..columns as u64).map(|k| Own::Word(i * i * 7919 % 1000 + k)).collect();
    (fields[..columns].to_vec(), (0..len).map(row).collect())
}

/// The offset after the last row group.
fn data_end(bytes: &[u8], columns: usize) -> usize {
    let (mut frames, mut lens, mut end) = (Frames::new(bytes, 8), vec![0; columns], 0);
    while let Some(frame) = frames.find(&mut lens).expect("a slice") {
        end = frame.end as usize;
    }
    end
}

/// All row groups are intact, so that a damaged bit of the last checkpoint costs none of them, and the log that continues has
/// all of their rows.
#[test]
fn a_damaged_bit_of_the_last_checkpoint_costs_no_row() {
    for columns in 1..=3 {
        let (fields, rows) = integers(columns, 49);
        let whole = write(&fields, &rows[..48].to_vec(), 16, Policy::Every(2));
        let schema = Fields::new(&fields).expect("valid types");
        let mut room = Room::of(&fields, 16, 0);
        for at in data_end(&whole, columns)..whole.len() {
            for bit in 0..8 {
                for is_verified in [false, true] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 1 << bit;
                    let mut found = Resume::find(&bytes[..], &schema, &mut room.groups).expect("a log");
                    if is_verified {
                        let dropped = found.drop_damaged(&bytes[..], &schema, &mut room.groups).expect("a slice");
                        assert_eq!(dropped, 0, "{columns} columns, bit {bit} of byte {at}");
                    }
                    bytes.truncate(found.at() as usize);
                    let memory = (&mut room.rows[..], room.most);
                    let mut log = Log::resume(bytes, schema, memory, &mut room.groups, (&found, Policy::ByHand))
                        .expect("enough memory");
                    log.push_cells(&cells(&rows[48])).expect("a vector");
                    let have = read(&log.finish().expect("a vector"));
                    assert!(have.as_ref() == Ok(&rows), "{columns} columns, bit {bit} of byte {at}");
                }
            }
        }
    }
}

/// A damaged length in a postscript makes its checkpoint invalid. It is not the limit of the search.
#[test]
fn the_search_for_a_checkpoint_passes_damaged_lengths() {
    let (fields, rows) = integers(2, 48);
    let whole = write(&fields, &rows, 16, Policy::ByHand);
    let first = write(&fields, &[].into(), 16, Policy::ByHand).len() as u64;
    for at in whole.len() - 120..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let found = last_checkpoint(&Input::whole(&bytes)).map(|end| end.unwrap_or_default());
            assert!([Ok(first), Ok(whole.len() as u64)].contains(&found), "bit {bit} of byte {at}: {found:?}");
        }
    }
}

/// Counts the bytes that are read.
struct Counted<'b>(&'b [u8], u64);

impl Source for Counted<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> pilaster::Result<()> {
        self.1 += to.len() as u64;
        self.0.read(at, to)
    }
}

fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let check = lookup2(u32::from_le_bytes(*b"PLRG"), &bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}

/// The start of a row group of one column, with an intact check.
fn head(len: u32) -> Vec<u8> {
    checked([b"PLRG".as_slice(), &1u32.to_le_bytes(), &len.to_le_bytes()].concat())
}

/// Every second of many long row groups with a wrong second check is followed by a short intact one. One bound applies to all
/// searches of a walk together.
#[test]
fn a_walk_over_row_groups_is_bounded_by_the_length() {
    let mut bytes = Vec::new();
    let len = 1 << 16;
    while bytes.len() < len / 2 {
        let long = head((len - bytes.len() - 128) as u32);
        bytes.extend([&long[..], &long].concat());
        bytes.extend(checked([head(8), vec![7; 8]].concat()));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes.resize(len, 0);
    let (mut counted, mut lens) = (Counted(&bytes, 0), [0]);
    let mut frames = Frames::new(&mut counted, 0);
    // It may end with an error that names the limit.
    while let Ok(Some(_)) = frames.find(&mut lens) {}
    assert!(counted.1 <= 64 * len as u64, "{} bytes are read in a file of {len}", counted.1);
}

/// The starts of row groups of many columns that overlap each other, each with an intact check and a length that exceeds the file.
#[test]
fn the_search_for_row_groups_of_many_columns_is_bounded_by_the_length() {
    let (columns, len) = (1001, 1 << 15);
    let mut words: Vec<u32> =
        (0..len / 4).map(|i| if i % 2 == 0 { u32::from_le_bytes(*b"PLRG") } else { u32::MAX }).collect();
    for i in (0..words.len() - columns - 2).step_by(2) {
        let bytes: Vec<u8> = words[i..i + 2 + columns].iter().flat_map(|word| word.to_le_bytes()).collect();
        words[i + 2 + columns] = lookup2(u32::from_le_bytes(*b"PLRG"), &bytes);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (mut counted, mut lens) = (Counted(&bytes, 0), vec![0; columns]);
    let _ = Frames::new(&mut counted, 0).find(&mut lens);
    assert!(counted.1 <= 64 * len as u64, "{} bytes are read in a file of {len}", counted.1);
}

/// Ends of checkpoints that list many row groups, each 120 bytes after the one before: they overlap each other, and their row
/// groups are absent.
#[test]
fn the_search_for_a_checkpoint_is_bounded_by_the_length() {
    let (fields, rows) = integers(1, 8 * 1000);
    let columns = Fields::new(&fields).expect("valid types");
    let (mut memory, mut groups) = (vec![0; memory_len(&fields, 8, 0)], vec![0; 1000 * group_words(1)]);
    let mut log = Log::new(Vec::new(), columns, (&mut memory, 8), &mut groups, Policy::ByHand).expect("enough memory");
    rows.iter().for_each(|row| log.push_cells(&cells(row)).expect("a vector"));
    let whole = log.finish().expect("a vector");
    let tail: [u8; 120] = *whole.last_chunk().expect("a checkpoint");
    let mut bytes = vec![0; 1 << 17];
    bytes[..4].copy_from_slice(b"VTXF");
    for end in (bytes.len() / 2..=bytes.len()).step_by(120) {
        let mut tail = tail;
        // The offsets of the dtype, the layout and the footer.
        for at in [48, 72, 96] {
            let offset = u64::from_le_bytes(*tail[at..].first_chunk().expect("a postscript"));
            let moved = offset + end as u64 - whole.len() as u64;
            tail[at..at + 8].copy_from_slice(&moved.to_le_bytes());
        }
        bytes[end - 120..end].copy_from_slice(&tail);
    }
    let mut counted = Counted(&bytes, 0);
    let e = Resume::find(&mut counted, &columns, &mut groups).expect_err("no checkpoint");
    assert_eq!((e.kind(), e.what()), (Kind::Limit, What::VORTEX_CHECKPOINT));
    assert!(counted.1 <= 16 * bytes.len() as u64, "{} bytes are read in a file of {}", counted.1, bytes.len());
    // With memory for fewer row groups, the true log needs more; the copies of its end do not.
    let short = &mut groups[..100];
    let e = Resume::find(&whole[..], &columns, short).expect_err("1000 row groups");
    assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 4 * 4 * 1000));
    let e = Resume::find(&bytes[..], &columns, short).expect_err("no checkpoint");
    assert_eq!(e.kind(), Kind::Limit);
}

/// A byte string that is a checkpoint without row groups for the offset at which it is stored: the row groups before it stay.
#[test]
fn a_checkpoint_in_a_value_is_not_the_last_checkpoint() {
    let fields = [Field::new("n", FieldType::Prim(Prim::I64)), Field::new("raw", FieldType::Binary)];
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 4000);
    let first = write(&fields, &[].into(), 8, Policy::ByHand);
    let mut met = 0;
    for at in (first.len() + 8..first.len() + 1600).step_by(8) {
        let found = Resume::find(&first[..], &columns, &mut room.groups).expect("a log").skipping(at as u64);
        let (at, mut value) = (found.at() as usize, vec![0; 4000]);
        let memory = (&mut room.rows[..], room.most);
        let resumed =
            Log::resume(SliceSink::new(&mut value), columns, memory, &mut room.groups, (&found, Policy::ByHand));
        let value = resumed.expect("memory").finish().expect("room").into_written();
        for padding in 0..8 {
            let value = [&vec![0; padding][..], value].concat();
            let memory = (&mut room.rows[..], room.most);
            let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
            for i in 0..16 {
                let raw = if i == 12 { &value[..] } else { &[] };
                log.push_cells(&[Cell::of(i), Cell::of(raw)]).expect("a vector");
            }
            let bytes = log.sink().clone();
            if !value.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(&value[padding..])) {
                met += 1;
                let found = Resume::find(&bytes[..], &columns, &mut room.groups).expect("a log");
                assert_eq!((found.rows(), found.at()), (16, bytes.len() as u64));
            }
        }
    }
    assert!(met > 0);
}

/// Readers find a column by its name: releases 0.70 to 0.93 of the original return the first one twice, and 0.36 and 0.50 refuse
/// the file.
#[test]
fn columns_of_the_same_name_are_refused() {
    let fields = [Field::new("a", FieldType::Prim(Prim::U8)), Field::new("a", FieldType::Prim(Prim::I32))];
    let e = Fields::new(&fields).map(drop).expect_err("two of the same name");
    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Invalid, What::VORTEX_FIELD, 1, 0));
}
