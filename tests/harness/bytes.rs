//! Layer 0 against naive models: `Reader`, `Bits`, `BitReader`, `Scratch`, `SliceSink`.

use pilaster::bytes::{BigEndian, Bits, Endian, LittleEndian, Scratch, Sink, SliceSink};
use pilaster::error::What;
use pilaster::unstable::bytes::{BitReader, Reader};

/// The first half is a list of calls, the rest the bytes that they read.
pub fn run(data: &[u8]) {
    // Each call looks at all that is left, hence not too many.
    let (calls, input) = data.split_at((data.len() / 2).min(500));
    reader::<LittleEndian>(calls, input, true);
    reader::<BigEndian>(calls, input, false);
    bits(calls, input);
    bit_reader(calls, input);
    let mut memory = [0; 512];
    scratch(calls, &mut Scratch::new(&mut memory), 0);
    sink(calls, input);
}

/// A number of `bytes` in either order.
fn number(bytes: &[u8], little: bool) -> u64 {
    let digit = |n: u64, byte: &u8| n << 8 | u64::from(*byte);
    if little { bytes.iter().rev().fold(0, digit) } else { bytes.iter().fold(0, digit) }
}

fn reader<E: Endian>(calls: &[u8], input: &[u8], little: bool) {
    const START: u64 = 1000;
    let mut r = Reader::<E>::new_at(input, START);
    let mut at = 0;
    for call in calls {
        let n = usize::from(call >> 4);
        let size = [1, 2, 4, 8, 4, 8, n, n][usize::from(call & 7)];
        let expected = input.get(at..at + size);
        let what = What::INPUT;
        let number = expected.map(|bytes| number(bytes, little));
        let ok = match call & 7 {
            0 => r.u8(what).ok().map(u64::from) == number,
            1 => r.u16(what).ok().map(u64::from) == number,
            2 => r.u32(what).ok().map(u64::from) == number,
            3 => r.u64(what).ok() == number,
            4 => r.i32(what).ok() == number.map(|n| n as i32),
            5 => r.i64(what).ok() == number.map(|n| n as i64),
            6 => r.take(n, what).ok() == expected,
            _ => {
                let part = r.split(n, what);
                part.is_ok_and(|mut part| {
                    assert_eq!(part.at(), START + at as u64);
                    assert!(part.take(n + 1, what).is_err(), "a part has a fence");
                    Some(part.rest()) == expected
                }) || expected.is_none()
            }
        };
        assert!(ok, "call {call} at {at}");
        at += expected.map_or(0, <[u8]>::len);
        assert_eq!((r.at(), r.rest()), (START + at as u64, &input[at..]));
    }
    assert_eq!(r.end(What::INPUT).is_ok(), at == input.len());
}

fn bit(bytes: &[u8], i: usize) -> bool {
    bytes[i / 8] >> (i % 8) & 1 == 1
}

fn bits(calls: &[u8], input: &[u8]) {
    for call in calls.chunks_exact(2).take(8) {
        let (first, len) = (usize::from(call[0]), usize::from(call[1]));
        let Ok(bits) = Bits::new(input, first, len) else {
            assert!(first + len > input.len() * 8);
            continue;
        };
        let naive = || (first..first + len).map(|i| bit(input, i));
        assert!(bits.iter().eq(naive()));
        assert_eq!(bits.count_ones(), naive().filter(|bit| *bit).count());
        assert_eq!(bits.get(len), None);
        for (k, word) in bits.words().enumerate() {
            let expected = naive().skip(k * 64).take(64).enumerate().fold(0, |w, (i, bit)| w | u64::from(bit) << i);
            assert_eq!(word, expected);
        }
        let part = bits.slice(len / 3, len / 2).expect("a part of the bits");
        assert!(part.iter().eq(naive().skip(len / 3).take(len / 2)));
        assert!(bits.slice(len / 2, len).is_err() || len <= 1);
    }
}

fn bit_reader(calls: &[u8], input: &[u8]) {
    let mut r = BitReader::new(input);
    let mut at = 0;
    for call in calls {
        let n = usize::from(call % 66);
        let expected = (n <= 64 && at + n <= input.len() * 8)
            .then(|| (0..n).fold(0, |word, i| word | u64::from(bit(input, at + i)) << i));
        assert_eq!(r.take(n as u32).ok(), expected);
        at += expected.map_or(0, |_| n);
    }
    assert_eq!(r.rest(), &input[at.div_ceil(8)..]);
}

/// Every slice that was split off keeps its contents while later ones are split off.
fn scratch(calls: &[u8], memory: &mut Scratch<'_>, depth: u8) {
    let Some((call, calls)) = calls.split_first() else { return };
    if depth == 40 {
        return;
    }
    let n = usize::from(call >> 2);
    let room = memory.room();
    match call & 3 {
        0 => held(memory.take::<u8>(n), room, n, depth, |rest| scratch(calls, rest, depth + 1), memory),
        1 => held(memory.take::<u16>(n), room, n, depth.into(), |rest| scratch(calls, rest, depth + 1), memory),
        2 => held(memory.take::<u64>(n), room, n, depth.into(), |rest| scratch(calls, rest, depth + 1), memory),
        _ => {
            scratch(calls, &mut memory.scope(), depth + 1);
            assert_eq!(memory.room(), room, "a scope gives back");
        }
    }
}

fn held<T: Copy + PartialEq>(
    slice: pilaster::Result<&mut [T]>,
    room: usize,
    n: usize,
    mark: T,
    then: impl FnOnce(&mut Scratch<'_>),
    rest: &mut Scratch<'_>,
) {
    let cost = usize::try_from(Scratch::cost::<T>(n as u64)).expect("small");
    match slice {
        Ok(slice) => {
            assert!(slice.len() == n && room - rest.room() <= cost);
            slice.fill(mark);
            then(rest);
            assert!(slice.iter().all(|value| *value == mark), "slices overlap");
        }
        Err(e) => {
            assert!(cost > room && e.need() as usize == cost && rest.room() == room);
            then(rest);
        }
    }
}

fn sink(calls: &[u8], input: &[u8]) {
    let mut buffer = [0; 100];
    let mut sink = SliceSink::new(&mut buffer);
    let mut len = 0;
    let mut rest = input;
    for call in calls {
        let (head, tail) = rest.split_at(usize::from(call % 32).min(rest.len()));
        match sink.put(head) {
            Ok(()) => len += head.len(),
            Err(e) => {
                assert!(len + head.len() > 100 && e.need() as usize == len + head.len());
                break;
            }
        }
        rest = tail;
        assert_eq!(sink.written(), &input[..len]);
    }
}
