//! FSST and OnPair: tables and codes out of the input, compared with a simple loop, decoded into a destination of
//! the exact length and into longer ones.

use bytemuck::Zeroable as _;
use pilaster::unstable::encoding::{fsst, onpair};

pub fn run(data: &[u8]) {
    let Some((&[kind, a], rest)) = data.split_first_chunk() else { return };
    if kind % 2 == 0 { symbols(a, rest) } else { tokens(a, rest) }
}

/// What codes stand for, byte by byte; `None` if one stands for nothing.
fn naive_symbols(symbols: &[u8], lengths: &[u8], codes: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut len, mut codes) = (0, codes.iter());
    while let Some(code) = codes.next() {
        let literal;
        let bytes = match *code {
            255 => {
                literal = [*codes.next()?];
                &literal[..]
            }
            code => {
                let len = *lengths.get(usize::from(code))?;
                &symbols[8 * usize::from(code)..][..len.into()]
            }
        };
        out[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    }
    Some(len)
}

fn symbols(count: u8, rest: &[u8]) {
    let count = usize::from(count);
    let Some((table, codes)) = rest.split_at_checked(count * 9) else { return };
    let (symbols, lengths) = table.split_at(count * 8);
    let sound = count <= 255 && lengths.iter().all(|len| (1..=8).contains(len));
    let table = fsst::Symbols::new(symbols, lengths);
    assert_eq!(table.is_ok(), sound);
    let Ok(table) = table else { return };
    let codes = &codes[..codes.len().min(200)];
    let (mut wide, mut exact, mut naive) = ([0; 200 * 8 + 64], [0; 200 * 8 + 64], [0; 200 * 8 + 64]);
    let expected = naive_symbols(symbols, lengths, codes, &mut naive);
    assert_eq!(table.decode(codes, &mut wide).ok(), expected);
    if let Some(len) = expected {
        assert_eq!(wide[..len], naive[..len]);
        assert_eq!(table.decode(codes, &mut exact[..len]), Ok(len));
        assert_eq!(exact[..len], naive[..len]);
        assert!(len == 0 || table.decode(codes, &mut exact[..len - 1]).is_err());
    }
}

fn naive_tokens(bytes: &[u8], offsets: &[u32], codes: &[u16], out: &mut [u8]) -> Option<usize> {
    let mut len = 0;
    for code in codes {
        let code = usize::from(*code);
        let token = &bytes[*offsets.get(code)? as usize..*offsets.get(code + 1)? as usize];
        out[len..len + token.len()].copy_from_slice(token);
        len += token.len();
    }
    Some(len)
}

fn tokens(count: u8, rest: &[u8]) {
    let count = usize::from(count);
    let Some((lengths, rest)) = rest.split_at_checked(count) else { return };
    let mut offsets = [0u32; 257];
    for (i, len) in lengths.iter().enumerate() {
        offsets[i + 1] = offsets[i] + u32::from(*len);
    }
    let (offsets, (bytes, codes)) = (&offsets[..=count], rest.split_at(rest.len() / 2));
    let tokens = onpair::Tokens::new(bytes, offsets);
    let sound = lengths.iter().all(|len| (1..=16).contains(len)) && offsets[count] as usize <= bytes.len();
    assert!(!sound || tokens.is_ok(), "{tokens:?}");
    let Ok(tokens) = tokens else { return };
    let mut numbers = [0u16; 100];
    let numbers = &mut numbers[..codes.len().min(100)];
    for (number, code) in numbers.iter_mut().zip(codes) {
        *number = (*code).into();
    }
    let (mut wide, mut exact, mut naive) = ([0; 100 * 16 + 2048], [0; 100 * 16], [0; 100 * 16]);
    let expected = naive_tokens(bytes, offsets, numbers, &mut naive);
    let mut room = onpair::Room::zeroed();
    let rows = tokens.spread(&mut room);
    assert_eq!(rows.is_some(), count > 0);
    for rows in [rows, None] {
        wide.fill(0xcc);
        let done = match rows {
            Some(rows) => rows.decode(numbers, &mut wide),
            None => tokens.decode(numbers, &mut wide),
        };
        assert_eq!(done.ok(), expected);
        if let Some(len) = expected {
            assert_eq!(wide[..len], naive[..len]);
        }
    }
    if let Some(len) = expected {
        assert_eq!(tokens.decode(numbers, &mut exact[..len]), Ok(len));
        assert_eq!(exact[..len], naive[..len]);
        assert!(len == 0 || tokens.decode(numbers, &mut exact[..len - 1]).is_err());
    }
}
