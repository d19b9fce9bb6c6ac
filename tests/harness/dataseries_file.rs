//! Whole DataSeries files: by their index and from the front, with checks and without.

use pilaster::bytes::{Endian, Scratch};
use pilaster::column::{Part as _, Table as _};
use pilaster::dataseries::{End, File, Order};
use pilaster::error::Kind;

use super::dataseries::{ROOM, every_row, extent, in_order, options, walk};

/// All of `data` is the file.
pub fn run(data: &[u8]) {
    read(data);
}

/// Reads `bytes` in every way; tells how many of the four could be opened.
pub fn read(bytes: &[u8]) -> usize {
    let Ok(order) = Order::of(bytes) else { return 0 };
    in_order!(order == Order::Big, read_as(bytes))
}

fn read_as<E: Endian>(bytes: &[u8]) -> usize {
    let mut memory = [0xa5; 2 * ROOM];
    let (kept, memory) = memory.split_at_mut(ROOM);
    let mut opened = 0;
    let mut sound = [false; 2];
    for (verify, sequential) in [(true, false), (true, true), (false, false), (false, true)] {
        let options = options(verify);
        let mut scratch = Scratch::new(kept);
        let file = match sequential {
            true => File::<E>::open_sequential(bytes, &options, &mut scratch),
            false => File::<E>::open(bytes, &options, &mut scratch),
        };
        let Ok(file) = file else { continue };
        opened += 1;
        assert_eq!(file.index().is_none(), sequential);
        let Walked { wrong, tight } = extents(&file, verify, memory);
        let verified = file.verify(&mut Scratch::new(memory));
        if verify {
            let no_room = matches!(verified, Err(e) if e.kind() == Kind::NoRoom);
            assert!(!wrong || verified.is_err(), "{verified:?}");
            assert!(tight || (verified.is_ok() != wrong && !no_room), "{verified:?}");
            sound[usize::from(sequential)] = verified.is_ok();
            tables(&file, memory, verified.is_ok());
        }
    }
    // Whoever follows the index sees the extents that lie behind each other.
    assert!(!sound[0] || sound[1], "good by the index, and not from the front");
    opened
}

/// What a walk over all extents met.
#[derive(Default)]
struct Walked {
    /// Something is wrong.
    wrong: bool,
    /// Before that, something may not fit the memory, so that verifying may stop there.
    tight: bool,
}

/// Walks and unpacks all extents.
fn extents<E: Endian>(file: &File<'_, E>, verify: bool, memory: &mut [u8]) -> Walked {
    let mut extents = file.extents();
    let (mut at, mut walked) = (40, Walked::default());
    while let Some(next) = extents.next() {
        let Ok(next) = next else {
            assert!(extents.next().is_none() && extents.end().is_none(), "nothing follows an error");
            return Walked { wrong: true, ..walked };
        };
        assert_eq!(next.header().at, at, "extents follow each other");
        at = next.header().span().end().expect("an end");
        let one = file.type_of(&next).map_or(Some(false), |ty| extent(&next, &ty, verify, memory));
        walked.tight |= one.is_none() && !walked.wrong;
        walked.wrong |= one == Some(false);
    }
    let end = extents.end().expect("what follows the last extent");
    assert_eq!(end.at(), at);
    assert!(file.index().is_none() || matches!(end, End::Trailer { .. }));
    walked
}

/// Tables have the rows of the extents, as often as they are walked.
fn tables<E: Endian>(file: &File<'_, E>, memory: &mut [u8], sound: bool) {
    assert!(file.table("no such type").is_err());
    for ty in file.types().iter() {
        let mut table = file.table(ty.name()).expect("a type of the file");
        let mut counts = [0u64; 2];
        for count in &mut counts {
            loop {
                let mut scratch = Scratch::new(memory);
                match table.next_part(&mut scratch) {
                    Ok(Some(part)) => {
                        if *count == 0 {
                            every_row(&part);
                        }
                        *count += part.rows();
                        walk(&part, true);
                    }
                    Ok(None) => break,
                    Err(e) => {
                        assert!(!sound, "{e:?} in a sound file");
                        break;
                    }
                }
            }
            assert_eq!(table.restart(), Ok(()));
        }
        assert_eq!(counts[0], counts[1]);
    }
}
