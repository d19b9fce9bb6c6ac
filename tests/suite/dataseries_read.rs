//! Ways into a DataSeries file: step by step, from the front, in too little memory.

use std::fs;

use pilaster::bytes::{FileRange, LittleEndian, Scratch};
use pilaster::column::{Column as _, Part as _, Table as _, Values};
use pilaster::dataseries::write::Cell;
use pilaster::dataseries::{
    AnyFile, EXTENT_HEADER_LEN, End, Extent, ExtentType, File, Header, Index, Next, Order, ReadOptions, Trailer, Types,
};
use pilaster::error::{Kind, What};

use crate::common;

const OPTIONS: ReadOptions = ReadOptions::DEFAULT;

fn golden(name: &str) -> Vec<u8> {
    fs::read(format!("tests/golden/dataseries/{name}.ds")).unwrap()
}

/// Offset of the records of an extent.
fn records_at(header: &Header) -> usize {
    (header.at as usize + EXTENT_HEADER_LEN + usize::from(header.name_len)).next_multiple_of(4)
}

/// Every row of every golden, alone and in a batch.
#[test]
fn a_row_alone_is_what_it_is_in_a_batch() {
    let mut rows = 0;
    for golden in common::sound("dataseries", "ds") {
        let bytes = golden.bytes();
        let (mut kept, mut memory) = (vec![0; 1 << 20], vec![0; 8 << 20]);
        let file = AnyFile::open(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
        for ty in file.types().iter() {
            let mut table = file.table(ty.name()).unwrap();
            while let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() {
                for k in 0..part.width() {
                    let column = part.column(k).unwrap();
                    let mut memory = vec![0; usize::try_from(column.need(0..part.rows()).unwrap()).unwrap()];
                    let batch = column.read(0..part.rows(), &mut Scratch::new(&mut memory)).unwrap();
                    for row in 0..batch.len {
                        let cell = column.get(row as u64).unwrap();
                        assert_eq!(cell.is_some(), batch.validity.get(row));
                        let same = match (&batch.values, cell) {
                            (_, None) => true,
                            (Values::Bool(v), Some(Cell::Bool(cell))) => v.get(row) == Some(cell),
                            (Values::U8(v), Some(Cell::Byte(cell))) => v[row] == cell,
                            (Values::I32(v), Some(Cell::Int32(cell))) => v[row] == cell,
                            (Values::I64(v), Some(Cell::Int64(cell))) => v[row] == cell,
                            (Values::F64(v), Some(Cell::Double(cell))) => v[row].to_bits() == cell.to_bits(),
                            (Values::Bytes(v), Some(Cell::Bytes(cell))) => v.get(row).unwrap() == cell,
                            _ => false,
                        };
                        assert!(same, "{}: {k} {row}: {cell:?}", golden.name);
                        rows += 1;
                    }
                    assert_eq!(column.get(part.rows()).unwrap_err().kind(), Kind::OutOfRange);
                }
            }
        }
    }
    assert!(rows > 10_000, "{rows}");
}

/// Two extents at once yield the same rows, or the same errors, as each alone.
#[test]
fn two_at_once_are_what_each_is_alone() {
    let (mut pairs, mut bad) = (0, 0);
    for golden in common::of("dataseries") {
        let bytes = golden.bytes();
        let mut kept = vec![0; 1 << 20];
        let Ok(AnyFile::Little(file)) = AnyFile::open_sequential(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)) else {
            continue;
        };
        let extents: Vec<_> = file.extents().map_while(Result::ok).collect();
        for two in extents.windows(2) {
            let [Ok(ty_a), Ok(ty_b)] = [file.type_of(&two[0]), file.type_of(&two[1])] else { continue };
            for options in [OPTIONS, ReadOptions { verify: false, ..OPTIONS }] {
                let mut memory = [(); 3].map(|()| vec![0; 4 << 20]);
                let [pair, one, two_] = &mut memory;
                let pair = Extent::unpack_pair([&two[0], &two[1]], [&ty_a, &ty_b], &options, &mut Scratch::new(pair));
                let alone = [
                    two[0].unpack(&ty_a, &options, &mut Scratch::new(one)),
                    two[1].unpack(&ty_b, &options, &mut Scratch::new(two_)),
                ];
                for (pair, alone) in pair.iter().zip(&alone) {
                    match (pair, alone) {
                        (Ok(pair), Ok(alone)) => {
                            assert_eq!((pair.rows(), pair.records()), (alone.rows(), alone.records()));
                        }
                        (pair, alone) => {
                            assert_eq!(pair.as_ref().err(), alone.as_ref().err(), "{}", golden.name);
                            bad += 1;
                        }
                    }
                }
                pairs += 1;
            }
        }
    }
    assert!(pairs > 300 && bad > 10, "{pairs} {bad}");
}

#[test]
fn rows_are_skipped_by_whole_extents() {
    let mut bytes = golden("large_zlib");
    let mut kept = vec![0; 1 << 20];
    let (counts, damage) = {
        let file = File::<LittleEndian>::open(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
        let extents: Vec<_> = file.extents().map(Result::unwrap).collect();
        let data = &extents[1..extents.len() - 1];
        (data.iter().map(|e| u64::from(e.header().rows)).collect::<Vec<_>>(), records_at(data[0].header()))
    };
    assert!(counts.len() > 2);
    // A skipped extent is not unpacked, so its damage is not found.
    bytes[damage + 9] ^= 1;
    let mut kept = vec![0; 1 << 20];
    let file = AnyFile::open(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
    let name = file.types().get(0).unwrap().name();
    let mut table = file.table(name).unwrap();
    let mut memory = vec![0; 1 << 20];
    assert_eq!(table.skip(counts[0] - 1), Ok(0));
    assert!(table.next_part(&mut Scratch::new(&mut memory)).is_err());
    table.restart().unwrap();
    assert_eq!(table.skip(counts[0] + counts[1] - 1), Ok(counts[0]));
    let part = table.next_part(&mut Scratch::new(&mut memory)).unwrap().unwrap();
    assert_eq!(part.rows(), counts[1]);
    assert_eq!(table.skip(u64::MAX), Ok(counts[2..].iter().sum()));
    assert!(table.next_part(&mut Scratch::new(&mut memory)).unwrap().is_none());
}

/// A file that lies elsewhere: ranges are fetched one by one, and counted.
struct Far {
    bytes: Vec<u8>,
    fetched: u64,
}

impl Far {
    fn fetch(&mut self, span: FileRange) -> Vec<u8> {
        self.fetched += span.len;
        span.of(&self.bytes, What::INPUT).unwrap().to_vec()
    }
}

#[test]
fn a_file_beyond_memory_is_read_in_steps() {
    let mut far = Far { bytes: golden("large_zlib"), fetched: 0 };
    let len = far.bytes.len() as u64;
    let mut memory = vec![0; 1 << 20];
    let mut scratch = Scratch::new(&mut memory);

    let header = far.fetch(Order::SPAN);
    assert_eq!(Order::of(&header), Ok(Order::Little));
    let span = Trailer::span(len).unwrap();
    let trailer = far.fetch(span);
    let trailer = Trailer::of::<LittleEndian>(&trailer, span.at).unwrap().located(span.at).unwrap();
    let bytes = far.fetch(trailer.index);
    let extent = Extent::<LittleEndian>::of(&bytes, trailer.index.at).unwrap();
    let index = Index::open(&extent, &trailer, &OPTIONS, &mut scratch).unwrap();
    let first = index.get(0).unwrap();
    let bytes = far.fetch(first.span);
    let types =
        Types::open(&Extent::<LittleEndian>::of(&bytes, first.span.at).unwrap(), &OPTIONS, &mut scratch).unwrap();

    // One extent out of the middle, and nothing of the others.
    let row = index.get(2).unwrap();
    let ty = types.find(row.type_name).unwrap();
    let bytes = far.fetch(row.span);
    let extent = Extent::<LittleEndian>::of(&bytes, row.span.at).unwrap();
    let part = extent.unpack(&ty, &OPTIONS, &mut scratch).unwrap();
    assert!(part.rows() > 0 && far.fetched < len / 2, "{} of {len} bytes", far.fetched);
}

#[test]
fn from_the_front_in_steps() {
    let mut far = Far { bytes: golden("large_zlib"), fetched: 0 };
    let len = far.bytes.len() as u64;
    let (mut at, mut rows) = (40, 0);
    let end = loop {
        match Next::of::<LittleEndian>(&far.fetch(Next::span(at, len)), at).unwrap() {
            Next::Extent(header) => {
                let name = far.fetch(header.name_span());
                rows += if name.starts_with(b"DataSeries: ") { 0 } else { header.rows };
                at = header.span().end().unwrap();
            }
            Next::End(end) => break end,
        }
    };
    assert!(matches!(end, End::Trailer { trailer, .. } if trailer.index.end() == Some(end.at())));
    assert!(rows > 2000 && far.fetched < 1000, "{} of {len} bytes", far.fetched);
}

/// Data extents from the front, and what follows them.
fn from_front(bytes: &[u8]) -> (Vec<Header>, Option<End>, Option<Kind>) {
    let mut memory = vec![0; 1 << 20];
    let file = File::<LittleEndian>::open_sequential(bytes, &OPTIONS, &mut Scratch::new(&mut memory)).unwrap();
    let mut extents = file.extents();
    let (mut found, mut error) = (Vec::new(), None);
    for extent in extents.by_ref() {
        match extent {
            Ok(extent) => found.push(*extent.header()),
            Err(e) => error = Some(e.kind()),
        }
    }
    (found, extents.end(), error)
}

#[test]
fn what_follows_the_last_extent_is_told() {
    let whole = golden("many_extents");
    let (all, end, _) = from_front(&whole);
    let (at, last) = (end.unwrap().at(), all.last().unwrap());
    assert!(matches!(end, Some(End::Trailer { .. })));
    assert_eq!(from_front(&[&whole[..], b"junk"].concat()).1, end, "what follows the trailer does not matter");

    let logged = &whole[..last.at as usize];
    assert_eq!(from_front(logged).1, Some(End::File { at: last.at }));
    for erased in [1, 4, 27, 28, 4096] {
        let flash = [logged, &vec![0xff; erased]].concat();
        assert_eq!(from_front(&flash), (all[..all.len() - 1].to_vec(), Some(End::Erased { at: last.at }), None));
    }
    // A cut or damaged trailer is not a trailer.
    for cut in [5, 27] {
        assert_eq!(from_front(&whole[..at as usize + cut]).2, Some(Kind::Truncated));
    }
    let mut damaged = whole.clone();
    damaged[at as usize + 12] ^= 1;
    assert_eq!(from_front(&damaged).2, Some(Kind::Checksum));
}

#[test]
fn all_whole_extents_are_found_wherever_the_file_is_cut() {
    let whole = golden("many_extents");
    let (all, ..) = from_front(&whole);
    let first = all[0].span().end().unwrap() as usize;
    for end in first..whole.len() {
        let (found, ..) = from_front(&whole[..end]);
        let expected = all.iter().filter(|header| header.span().end().unwrap() <= end as u64).count();
        assert_eq!(found, all[..expected], "cut at {end}");
    }
}

#[test]
fn too_little_memory_can_be_made_good() {
    let bytes = golden("all_types_zlib");
    let mut kept = vec![0; 1 << 16];
    let file = File::<LittleEndian>::open(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
    let mut table = file.table("Test::AllTypes").unwrap();
    let mut small = [0; 100];
    for _ in 0..2 {
        let e = table.next_part(&mut Scratch::new(&mut small)).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::SCRATCH));
    }
    let mut memory = vec![0; file.need().unwrap() as usize];
    let mut rows = 0;
    while let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() {
        rows += part.rows();
    }
    assert_eq!(rows, 80, "nothing was passed over");
    let e = File::<LittleEndian>::open(&bytes, &OPTIONS, &mut Scratch::new(&mut small)).unwrap_err();
    assert_eq!(e.kind(), Kind::NoRoom);
}

#[test]
#[cfg(target_endian = "little")]
fn stored_records_that_lie_aligned_are_lent_as_they_are() {
    let bytes = golden("large_none_int64");
    let (extents, ..) = from_front(&bytes);
    let records = records_at(&extents[1]);
    for shift in [0, 4] {
        // The records of the first extent at a multiple of 8, and four bytes off.
        let mut aligned = vec![0u64; bytes.len() / 8 + 3];
        let from = (16 - records % 8) % 8 + shift;
        let place = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut aligned)[from..from + bytes.len()];
        place.copy_from_slice(&bytes);
        let mut memory = vec![0; 1 << 16];
        let file = File::<LittleEndian>::open(place, &OPTIONS, &mut Scratch::new(&mut memory)).unwrap();
        let mut table = file.table(file.types().get(0).unwrap().name()).unwrap();
        let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().expect("nothing is unpacked");
        let column = part.column(0).unwrap();
        match column.read(0..column.rows(), &mut Scratch::new(&mut [])) {
            Ok(batch) => assert!(shift == 0 && matches!(batch.values, Values::I64(_))),
            Err(e) => assert!(shift == 4 && e.kind() == Kind::NoRoom, "{e}"),
        }
    }
}

#[test]
fn an_extent_is_not_unpacked_as_another_type() {
    let bytes = golden("tiny");
    let mut memory = vec![0; 1 << 12];
    let file = File::<LittleEndian>::open(&bytes, &OPTIONS, &mut Scratch::new(&mut memory)).unwrap();
    let extent = file.extents().nth(1).unwrap().unwrap();
    let e = extent.unpack(&ExtentType::XML, &OPTIONS, &mut Scratch::new(&mut [])).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::DATASERIES_TYPE_NAME));
}

#[test]
#[cfg(feature = "alloc")]
fn a_type_without_extents_has_its_columns_and_no_other() {
    use pilaster::any::{Format, Hints, Owned};
    use pilaster::dataseries::write::{Descriptions, IndexSlot, Writer};

    pilaster::dataseries::record! {
        struct Tick = "Tick" namespace "example.org" version 1.0 { time: int64, price: double, }
    }
    let mut slots = [IndexSlot::EMPTY; 1];
    let log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
    let bytes = log.finish().unwrap();
    let mut owned = Owned::from_bytes(bytes, Format::DataSeries, &Hints::default()).unwrap();
    let file = owned.file().unwrap();
    let mut table = file.table(Some("Tick")).unwrap();
    let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().map(|part| (part.rows(), part.width()));
    assert_eq!(part, Some((0, 2)));
    assert!(table.next_part(&mut Scratch::new(&mut [])).unwrap().is_none());
    assert_eq!(table.to_vec::<i64>("time"), Ok(vec![]));
    let e = table.to_vec::<f64>("size").unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Unknown, What::COLUMN));
    assert_eq!(table.to_strings("").unwrap_err().kind(), Kind::Unknown);
}
