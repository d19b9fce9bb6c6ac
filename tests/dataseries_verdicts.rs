//! DataSeries files that are damaged, or claim more than they should: one answer by every way, in bounded work.
#![cfg(all(feature = "dataseries", feature = "std"))]

use std::fs;

use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::dataseries::recover::{self, Loss, Recovered, Salvage};
use pilaster::dataseries::{ExtentType, HEADER_LEN, Order, ReadOptions, Types};
use pilaster::error::{Error, Kind};

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
fn salvaged<'b, E: Endian>(bytes: &'b [u8], types: &[ExtentType<'_>]) -> (u64, Vec<Loss<'b>>) {
    let mut memory = vec![0; 1 << 16];
    let mut salvage = Salvage::<E>::new(bytes, types);
    let (mut rows, mut losses) = (0, Vec::new());
    while let Some(found) = salvage.next(&OPTIONS, &mut Scratch::new(&mut memory)) {
        match found.unwrap() {
            Recovered::Extent(extent) => rows += u64::from(extent.header().rows),
            Recovered::Lost(loss) => losses.push(loss),
        }
    }
    (rows, losses)
}

fn in_order<'b>(order: Order, bytes: &'b [u8], types: &[ExtentType<'_>]) -> (u64, Vec<Loss<'b>>) {
    match order {
        Order::Little => salvaged::<LittleEndian>(bytes, types),
        Order::Big => salvaged::<BigEndian>(bytes, types),
    }
}

/// What comes of a change of any byte of a range, for changes of one bit, the sign, and all bits.
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
    /// The header tells the order. The types are refused; with those of another file all rows are saved, and the type
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
                assert_eq!(recover::order(&bytes), Some(order), "{name}: {part}, byte {at}");
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
        assert_eq!(recover::order(&headless), Some(order));
        for len in 0..HEADER_LEN {
            assert_eq!(recover::order(&sound[..len]), if len < 32 { None } else { Some(order) });
        }
        for kept in [4..8, 8..16, 16..24] {
            let mut header = [0x55; HEADER_LEN];
            header[kept.clone()].copy_from_slice(&sound[kept]);
            assert_eq!(recover::order(&header), Some(order));
        }
    }
    assert_eq!(recover::order(&[]), None);
    assert_eq!(recover::order(&[0x55; 400]), None);
    // Sound types in the other order than the header: the types decide, as they can be read.
    let (little, big) = (golden("tiny"), golden("tiny_be"));
    assert_eq!(recover::order(&[&little[..HEADER_LEN], &big[HEADER_LEN..]].concat()), Some(Order::Big));
}
