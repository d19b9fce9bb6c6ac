//! DataSeries files that are damaged, or claim more than they should: one answer by every way, in bounded work.

use std::fs;

use pilaster::bytes::{BigEndian, Endian, Input, LittleEndian, Scratch};
use pilaster::column::{Column, Part as _, Table as _};
use pilaster::dataseries::recover::{self, Loss, Recovered, Salvage};
use pilaster::dataseries::{AnyFile, ExtentType, HEADER_LEN, Order, ReadOptions, Types};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

const OPTIONS: ReadOptions = ReadOptions::DEFAULT;

fn golden(name: &str) -> Vec<u8> {
    fs::read(format!("tests/golden/dataseries/{name}.ds")).unwrap()
}

/// The types of a file, without a look at its header.
fn types<'b>(bytes: &'b [u8], order: Order, memory: &'b mut [u8]) -> Result<Types<'b>, Error> {
    let first = order.extent(bytes.get(HEADER_LEN..).unwrap_or_default(), HEADER_LEN as u64)?;
    first.types(&OPTIONS, &mut Scratch::new(memory))
}

/// Rows that are saved, and all losses.
fn salvaged<E: Endian>(bytes: &[u8], types: &[ExtentType<'_>]) -> (u64, Vec<Loss>) {
    let mut memory = vec![0; 1 << 16];
    let mut salvage = Salvage::<E>::new(Input::whole(bytes), types);
    let (mut rows, mut losses) = (0, Vec::new());
    while let Some(found) = salvage.next(&OPTIONS, &mut Scratch::new(&mut memory)) {
        match found.unwrap() {
            Recovered::Extent(header) => rows += u64::from(header.rows),
            Recovered::Lost(loss) => losses.push(loss),
        }
    }
    (rows, losses)
}

fn in_order(order: Order, bytes: &[u8], types: &[ExtentType<'_>]) -> (u64, Vec<Loss>) {
    match order {
        Order::Little => salvaged::<LittleEndian>(bytes, types),
        Order::Big => salvaged::<BigEndian>(bytes, types),
    }
}

/// The outcome of a change of any byte of a range, for changes of one bit, the sign, and all bits.
const OUTCOMES: [(std::ops::Range<usize>, &str, Outcome); 12] = [
    (0..40, "file header", Outcome::Saved),
    (40..44, "stored size of the records", Outcome::Types),
    (44..48, "stored size of the pool", Outcome::Types),
    (48..52, "number of records", Outcome::Types),
    (52..56, "size of the pool", Outcome::Types),
    (56..60, "check of the stored bytes", Outcome::Types),
    (60..64, "check of the unpacked bytes", Outcome::Types),
    (64..66, "modes", Outcome::Types),
    (66..67, "length of the name", Outcome::Types),
    (67..68, "padding", Outcome::Types),
    (68..88, "name", Outcome::Types),
    (88..376, "documents", Outcome::Types),
];

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// The file itself tells its order and its types, and all rows are saved.
    Saved,
    /// The header tells the order. The types are refused; with the types of another file all rows are saved, and the type
    /// extent is lost.
    Types,
}

#[test]
fn damage_to_every_byte_of_header_and_types() {
    for (name, order) in [("tiny", Order::Little), ("tiny_be", Order::Big)] {
        let sound = golden(name);
        let (mut memory, mut other) = (vec![0; 1 << 14], vec![0; 1 << 14]);
        let known: Vec<_> = types(&sound, order, &mut memory).unwrap().iter().collect();
        assert_eq!(OUTCOMES.iter().map(|(range, ..)| range.len()).sum::<usize>(), 376);
        for (range, part, outcome) in OUTCOMES {
            for (at, change) in range.flat_map(|at| [1, 0x80, 0xff].map(|change| (at, change))) {
                let mut bytes = sound.clone();
                bytes[at] ^= change;
                assert_eq!(recover::order(&Input::whole(&bytes)), Some(order), "{name}: {part}, byte {at}");
                let own = types(&bytes, order, &mut other);
                let (rows, losses) = match outcome {
                    Outcome::Saved => in_order(order, &bytes, &own.unwrap().iter().collect::<Vec<_>>()),
                    Outcome::Types => {
                        let e = own.unwrap_err();
                        let kinds = [Kind::Checksum, Kind::Invalid, Kind::Truncated];
                        assert!(kinds.contains(&e.kind()), "{name}: {part}, byte {at}: {e}");
                        in_order(order, &bytes, &known)
                    }
                };
                assert_eq!(rows, 2, "{name}: {part}, byte {at}");
                let lost: Vec<_> = losses.iter().map(|loss| (loss.span.at, loss.span.len)).collect();
                let types = if outcome == Outcome::Saved { vec![] } else { vec![(40, 336)] };
                assert_eq!(lost, types, "{name}: {part}, byte {at}");
            }
        }
    }
}

#[test]
fn the_order_of_what_is_left() {
    for (name, order) in [("tiny", Order::Little), ("tiny_be", Order::Big)] {
        let sound = golden(name);
        // Without a header, by the types; without types, by the header, of which most may be lost.
        let headless = [&[0; HEADER_LEN], &sound[HEADER_LEN..]].concat();
        assert_eq!(recover::order(&Input::whole(&headless)), Some(order));
        for len in 0..HEADER_LEN {
            assert_eq!(recover::order(&Input::whole(&sound[..len])), if len < 32 { None } else { Some(order) });
        }
        for kept in [4..8, 8..16, 16..24] {
            let mut header = [0x55; HEADER_LEN];
            header[kept.clone()].copy_from_slice(&sound[kept]);
            assert_eq!(recover::order(&Input::whole(&header)), Some(order));
        }
    }
    assert_eq!(recover::order(&Input::whole(&[])), None);
    assert_eq!(recover::order(&Input::whole(&[0x55; 400])), None);
    // Sound types in the other order than the header: the types decide, as they can be read.
    let (little, big) = (golden("tiny"), golden("tiny_be"));
    assert_eq!(recover::order(&Input::whole(&[&little[..HEADER_LEN], &big[HEADER_LEN..]].concat())), Some(Order::Big));
}

/// Rows of the tables, and bytes that all extents unpack to.
fn cost(file: &AnyFile<'_>) -> (u64, u64) {
    let (mut rows, mut decoded) = (0, 0);
    file.headers(|header, name| {
        rows += if name.starts_with(b"DataSeries: ") { 0 } else { u64::from(header.rows) };
        let ty = file.types().find(name).unwrap();
        // The first four bytes of a pool are never stored.
        decoded += u64::from(header.rows) * ty.record_len() as u64 + u64::from(header.pool) - 4;
        Ok::<_, Error>(())
    })
    .unwrap();
    (rows, decoded)
}

/// What a limit of exactly the cost says, and one less; the error is about the limit and its value.
fn bounded(what: What, cost: u64, mut run: impl FnMut(u64) -> Result<(), Error>) {
    assert_eq!(run(cost), Ok(()));
    let e = run(cost - 1).unwrap_err();
    assert_eq!((e.kind(), e.what(), u64::from(e.need())), (Kind::Limit, what, cost - 1));
}

#[test]
fn verifying_is_bounded_by_the_limits_of_a_file() {
    for name in ["many_extents", "large_zlib", "all_types_lz4_be", "tiny"] {
        let bytes = golden(name);
        let mut kept = vec![0; 1 << 20];
        let file = AnyFile::open(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
        let (rows, decoded) = cost(&file);
        let need = usize::try_from(file.need().unwrap()).unwrap() + 8;
        // One extent at a time, and two.
        for room in [need, 2 * need] {
            let mut memory = vec![0; room];
            let mut kept = vec![0; 1 << 20];
            let mut verify = |limits| {
                let options = ReadOptions { limits, ..OPTIONS };
                let file = AnyFile::open(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
                file.verify(&mut Scratch::new(&mut memory)).map(|_| ())
            };
            bounded(What::MAX_FILE_ROWS, rows, |n| verify(Limits { max_file_rows: n, ..Limits::DEFAULT }));
            bounded(What::MAX_FILE_DECODED, decoded, |n| verify(Limits { max_file_decoded: n, ..Limits::DEFAULT }));
        }
    }
}

#[test]
fn recovering_is_bounded_by_the_limits_of_a_file() {
    let sound = golden("many_extents");
    let mut bytes = sound.clone();
    let (mut memory, mut kept) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let known: Vec<_> = types(&sound, Order::Little, &mut memory).unwrap().iter().collect();
    let file = AnyFile::open_sequential(&sound, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
    let (mut extents, (rows, mut decoded)) = (Vec::new(), cost(&file));
    file.headers(|header, name| {
        if name.starts_with(b"DataSeries: ") {
            let ty = file.types().find(name).unwrap();
            // Types and index are skipped.
            decoded -= u64::from(header.rows) * ty.record_len() as u64 + u64::from(header.pool) - 4;
        } else {
            extents.push((header.at as usize, header.rows));
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    let run = |bytes: &[u8], limits| {
        let (options, mut memory) = (ReadOptions { limits, ..OPTIONS }, vec![0; 1 << 16]);
        let mut salvage = Salvage::<LittleEndian>::new(Input::whole(bytes), &known);
        while let Some(found) = salvage.next(&options, &mut Scratch::new(&mut memory)) {
            let at = salvage.at();
            if let Err(e) = found {
                // A retry with larger limits resumes where it stopped.
                assert!(salvage.next(&OPTIONS, &mut Scratch::new(&mut memory)).unwrap().is_ok() && salvage.at() > at);
                return Err(e);
            }
        }
        Ok(())
    };
    bounded(What::MAX_FILE_ROWS, rows, |n| run(&bytes, Limits { max_file_rows: n, ..Limits::DEFAULT }));
    bounded(What::MAX_FILE_DECODED, decoded, |n| run(&bytes, Limits { max_file_decoded: n, ..Limits::DEFAULT }));
    // Every second extent is damaged where its Adler-32 sees it: not unpacked, and those after them once.
    let damaged: Vec<_> = extents.iter().step_by(2).collect();
    let lost: u64 = damaged.iter().map(|(_, rows)| u64::from(*rows)).sum();
    damaged.iter().for_each(|(at, _)| bytes[at + 20] ^= 1);
    bounded(What::MAX_FILE_ROWS, rows - lost, |n| run(&bytes, Limits { max_file_rows: n, ..Limits::DEFAULT }));
    bounded(What::MAX_PROBLEMS, damaged.len() as u64, |n| {
        run(&bytes, Limits { max_problems: u32::try_from(n).unwrap(), ..Limits::DEFAULT })
    });
}

/// 200 extents of 64 MiB of zeros each in 22 KB, whose hashes are wrong: the work is done before they are known.
#[test]
fn what_cannot_be_unpacked_counts_too() {
    let bytes = fs::read("tests/regressions/unpacks_to_13_gb.ds").unwrap();
    let mut memory = vec![0; 1 << 12];
    let known: Vec<_> = types(&bytes, Order::Little, &mut memory).unwrap().iter().collect();
    let mut salvage = Salvage::<LittleEndian>::new(Input::whole(&bytes), &known);
    let options = ReadOptions { limits: Limits { max_file_decoded: (64 << 20) - 1, ..Limits::DEFAULT }, ..OPTIONS };
    let e = salvage.next(&options, &mut Scratch::new(&mut [])).unwrap().unwrap_err();
    assert_eq!((e.kind(), e.what(), salvage.at()), (Kind::Limit, What::MAX_FILE_DECODED, 192));
    let limits = Limits::DEFAULT.of_file(bytes.len() as u64);
    assert!(limits.max_file_decoded < 33 * (64 << 20), "32 of the 200 extents");
}

/// Found by fuzzing: an extent states 24 MB of records, and a pool that its bytes cannot unpack to.
#[test]
fn an_invalid_extent_is_not_an_error_of_the_memory() {
    let bytes = fs::read("tests/regressions/invalid_and_large.ds").unwrap();
    let (mut kept, mut memory) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let file = AnyFile::open_sequential(&bytes, &OPTIONS, &mut Scratch::new(&mut kept)).unwrap();
    let e = file.verify(&mut Scratch::new(&mut memory)).unwrap_err();
    assert_eq!(file.need().unwrap_err(), e, "as the headers say");
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::DATASERIES_POOL));
}

/// Reads every row of a column alone, in a batch of its own, and in a batch of all. Returns how many rows are refused.
fn refused<C: Column>(column: &C, get: impl Fn(u64) -> Result<(), Error>) -> usize {
    let mut memory = vec![0; usize::try_from(column.need(0..column.rows()).unwrap()).unwrap() + 64];
    let mut refused = 0;
    for row in 0..column.rows() {
        let batch =
            column.read(row..row + 1, &mut Scratch::new(&mut memory)).and_then(|batch| batch.value(0).map(|_| ()));
        assert_eq!(get(row), batch, "row {row}");
        refused += usize::from(batch.is_err());
    }
    let all = column.read(0..column.rows(), &mut Scratch::new(&mut memory));
    assert_eq!(all.is_err(), refused > 0, "{all:?}");
    refused
}

#[test]
fn a_row_is_refused_alone_and_in_a_batch() {
    let bytes = fs::read("tests/regressions/batch_is_an_error.ds").unwrap();
    let options = ReadOptions { verify: false, ..OPTIONS };
    let (mut kept, mut memory) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let file = AnyFile::open_sequential(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
    let mut count = 0;
    for ty in file.types().iter() {
        let mut table = file.table(ty.name()).unwrap();
        while let Ok(Some(part)) = table.next_part(&mut Scratch::new(&mut memory)) {
            for k in 0..part.width() {
                let column = part.column(k).unwrap();
                count += refused(&column, |row| column.get(row).map(|_| ()));
            }
        }
    }
    assert!(count > 0);
    assert!(file.verify(&mut Scratch::new(&mut memory)).is_err(), "so it is by verify");
}

#[test]
#[cfg(feature = "filo")]
fn a_row_of_a_vector_is_refused_alone_and_in_a_batch() {
    use pilaster::filo::{Element, Vector};

    let bytes = fs::read("tests/regressions/batch_is_an_error.filo").unwrap();
    let vector = Vector::open(&bytes, Element::String).unwrap();
    let column = vector.column(0).unwrap();
    assert!(refused(&column, |row| vector.get(row).map(|_| ())) > 0);
    assert!(vector.verify().is_err(), "so it is by verify");
}
