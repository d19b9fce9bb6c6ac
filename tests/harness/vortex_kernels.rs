//! The kernels of Vortex's encodings: the first byte picks one and its parameters, the rest is its input.
//! What is decoded together is what is decoded in pieces.

#[cfg(feature = "pco")]
use pilaster::bytes::Scratch;
use pilaster::encoding::cells::Cells;
#[cfg(feature = "pco")]
use pilaster::encoding::pco::{Chunk, Number, Page, Version};
use pilaster::encoding::{fastlanes, fsst, onpair};
#[cfg(feature = "pco")]
use pilaster::error::{Error, Kind};

pub fn run(data: &[u8]) {
    let Some((&[kind, a, b], rest)) = data.split_first_chunk() else { return };
    match kind % 9 {
        0 => lanes::<u8>(a, b, rest, |out| Cells::W1(out)),
        1 => lanes::<u16>(a, b, rest, |out| Cells::W2(out)),
        2 => lanes::<u32>(a, b, rest, |out| Cells::W4(out)),
        3 => lanes::<u64>(a, b, rest, |out| Cells::W8(out)),
        4 => symbols(a, rest),
        5 => tokens(a, rest),
        6 => runs(a, rest),
        #[cfg(feature = "pco")]
        7 => pages(a, b, rest),
        _ => codes(a, rest),
    }
}

fn lanes<T: Copy + Default + PartialEq + core::fmt::Debug>(
    width: u8,
    first: u8,
    packed: &[u8],
    cells: impl Fn(&mut [T]) -> Cells<'_>,
) {
    let (width, first) = (u32::from(width), u64::from(first) * 5);
    let mut whole = [T::default(); 2100];
    let done = fastlanes::unpack(packed, width, first, cells(&mut whole));
    let mut len = 1;
    let mut at = 0;
    while at + len <= whole.len() {
        let mut part = [T::default(); 2100];
        let got = fastlanes::unpack(packed, width, first + at as u64, cells(&mut part[..len]));
        assert!(done.is_err() || got.is_ok());
        if done.is_ok() {
            assert_eq!(part[..len], whole[at..at + len]);
        }
        at += len;
        len = len * 3 + 1;
    }
}

fn symbols(count: u8, rest: &[u8]) {
    let count = usize::from(count);
    let Some((table, codes)) = rest.split_at_checked(count * 9) else { return };
    let (symbols, lengths) = table.split_at(count * 8);
    let Ok(table) = fsst::Table::new(symbols, lengths) else { return };
    let codes = &codes[..codes.len().min(200)];
    let (mut wide, mut exact) = ([0; 200 * 8 + 64], [0; 200 * 8 + 64]);
    let together = table.decode(codes, &mut wide);
    if let Ok(len) = together {
        assert_eq!(table.decode(codes, &mut exact[..len]), Ok(len));
        assert_eq!(wide[..len], exact[..len]);
        assert!(len == 0 || table.decode(codes, &mut exact[..len - 1]).is_err());
    }
}

fn tokens(count: u8, rest: &[u8]) {
    let count = usize::from(count);
    let Some((lengths, rest)) = rest.split_at_checked(count) else { return };
    let mut offsets = [0u32; 257];
    for (i, len) in lengths.iter().enumerate() {
        offsets[i + 1] = offsets[i] + u32::from(*len);
    }
    let (bytes, codes) = rest.split_at(rest.len() / 2);
    let Ok(tokens) = onpair::Tokens::new(bytes, &offsets[..=count]) else { return };
    let mut numbers = [0u16; 100];
    let len = codes.len().min(100);
    for (number, code) in numbers.iter_mut().zip(codes) {
        *number = (*code).into();
    }
    let (mut wide, mut exact) = ([0; 100 * 16 + 128], [0; 100 * 16 + 128]);
    if let Ok(done) = tokens.decode(&numbers[..len], &mut wide) {
        assert_eq!(tokens.decode(&numbers[..len], &mut exact[..done]), Ok(done));
        assert_eq!(wide[..done], exact[..done]);
    }
}

fn runs(len: u8, ends: &[u8]) {
    let (mut out, mut values, mut places) = ([0u16; 256], [0u16; 64], [0u64; 64]);
    for (i, (place, end)) in places.iter_mut().zip(ends).enumerate() {
        (*place, values[i]) = ((*end).into(), i as u16 + 1);
    }
    let (len, count) = (usize::from(len), ends.len().min(64));
    let done = Cells::W2(&mut out[..len]).expand(&Cells::W2(&mut values[..count]), &places[..count]);
    if done.is_ok() {
        for (i, cell) in out[..len].iter().enumerate() {
            let naive = places[..count].iter().position(|end| *end > i as u64).expect("a run");
            assert_eq!(usize::from(*cell), naive + 1);
        }
    }
}

fn codes(count: u8, codes: &[u8]) {
    let mut values = [0u32; 256];
    for (i, value) in values.iter_mut().enumerate() {
        *value = i as u32 * 3;
    }
    let (mut out, mut numbers) = ([7u32; 64], [0u32; 64]);
    for (number, code) in numbers.iter_mut().zip(codes) {
        *number = (*code).into();
    }
    let bad = Cells::W4(&mut out).gather(&Cells::W4(&mut values[..usize::from(count)]), &numbers);
    assert_eq!(bad, numbers.iter().position(|number| *number >= count.into()));
    for (cell, number) in out.iter().zip(numbers).filter(|(_, number)| *number < count.into()) {
        assert_eq!(*cell, number * 3);
    }
}

/// A chunk of pco and one page: what memory held before does not show, and what was said is enough of it.
#[cfg(feature = "pco")]
fn pages(kind: u8, len: u8, rest: &[u8]) {
    let size = 1usize << (kind & 3);
    let number = match kind >> 2 & 3 {
        0 => Number::unsigned(size),
        1 => Number::signed(size),
        _ => Number::float(size),
    };
    let (meta, page) = rest.split_at(rest.len().min(usize::from(len)));
    let version = Version::new(if kind & 0x80 == 0 { &[4, 1] } else { &[2] });
    let (Ok(number), Ok(version)) = (number, version) else { return };
    let Ok(chunk) = Chunk::new(version, meta, number) else { return };
    let count = u64::from(kind) * 9;
    let need = chunk.need(count) as usize;
    if need > 1 << 20 {
        return;
    }
    let read = |fill: u8| -> Result<Vec<u64>, Error> {
        let mut memory = vec![fill; need];
        let mut s = Scratch::new(&mut memory);
        let tables = chunk.tables(&mut s)?;
        let mut page = Page::new(&chunk, &tables, page, count, &mut s)?;
        let mut out = Vec::new();
        loop {
            match page.next()? {
                [] => return Ok(out),
                batch => out.extend_from_slice(batch),
            }
        }
    };
    let numbers = read(0);
    assert_eq!(numbers, read(0xff));
    match numbers {
        Ok(numbers) => {
            assert_eq!(numbers.len() as u64, count);
            assert!(numbers.iter().all(|number| size == 8 || number >> (8 * size) == 0));
        }
        Err(e) => assert_ne!(e.kind(), Kind::NoRoom),
    }
}
