//! Compares both variants of the decoder with ruzstd, and with frames built by hand.

use super::*;
use crate::codec::tests as check;
use crate::error::{Kind, What};
use std::vec;
use std::vec::Vec;

fn encoded(src: &[u8]) -> Vec<u8> {
    let mut memory = vec![0; encode_scratch_len(5, src.len())];
    check::encoded(max_len(src.len()), |dst| encode(src, dst, 5, &mut Scratch::new(&mut memory)))
}

fn fast(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<true>(src, dst, &[], &mut Scratch::new(&mut vec![0xee; WORKSPACE_LEN]))
}

fn slow(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<false>(src, dst, &[], &mut Scratch::new(&mut vec![0x11; WORKSPACE_LEN]))
}

fn both(stream: &[u8], bytes: &[u8]) {
    check::decodes(fast, stream, bytes);
    check::decodes(slow, stream, bytes);
}

/// Builds a frame with a window of 1 MiB and without a content size.
fn frame(blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\x00\x50".to_vec();
    for (i, block) in blocks.iter().enumerate() {
        let [kind, body @ ..] = block else { continue };
        // In a repeated block, the count precedes the byte.
        let (size, body) = if *kind == 1 { (body[0] as usize, &body[1..]) } else { (body.len(), body) };
        let head = u32::from(i + 1 == blocks.len()) | u32::from(*kind) << 1 | (size as u32) << 3;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(body);
    }
    frame
}

/// Builds a stream from its bits, in the order in which they are read.
fn stream(bits: &str) -> Vec<u8> {
    let bits: Vec<u8> = bits.bytes().filter(|c| *c != b' ').map(|c| c - b'0').collect();
    let mut bytes = vec![0; bits.len() / 8 + 1];
    for (i, bit) in bits.iter().rev().chain(&[1]).enumerate() {
        bytes[i / 8] |= bit << (i % 8);
    }
    bytes
}

/// Literals and short matches that end anywhere near the end of the output, where no fixed number of bytes can be copied.
#[test]
fn small_blocks_end_anywhere() {
    for seed in 0..600usize {
        let noise = check::noise(700);
        let mut bytes = noise[seed % 97..][..40 + seed % 61].to_vec();
        let mut at = seed as u64;
        while bytes.len() < 200 + seed % 300 {
            at = at.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let (from, len) = ((at >> 33) as usize % bytes.len(), 4 + (at >> 23) as usize % 60);
            // A match, which may overlap itself, and literals.
            for i in 0..len {
                bytes.push(bytes[from + i]);
            }
            bytes.extend_from_slice(&noise[(at >> 40) as usize % 600..][..(at >> 13) as usize % 70]);
        }
        for level in [0, 1, 5] {
            let mut memory = vec![0; encode_scratch_len(level, bytes.len())];
            let stream =
                check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst, level, &mut Scratch::new(&mut memory)));
            both(&stream, &bytes);
        }
    }
}

#[test]
fn round_trips() {
    for bytes in
        check::samples().into_iter().step_by(7).chain([check::noise(300_000), vec![1; 400_000], check::text(500_000)])
    {
        both(&encoded(&bytes), &bytes);
    }
}

#[test]
fn frames_in_a_row_and_frames_to_skip() {
    let skip = [&0x184d_2a53u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
    let stream = [encoded(b"one"), skip.clone(), encoded(b""), encoded(b"two"), skip.clone()].concat();
    both(&stream, b"onetwo");
    assert_eq!(fast(&[], &mut []), Ok(0));
    let e = fast(&skip[..10], &mut []).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Truncated, What::ZSTD_FRAME, 8, 3));
    let e = fast(b"\x28\xb5\x2f\xfc", &mut []).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Invalid, What::ZSTD_FRAME, 0, 0xfc2f_b528));
}

#[test]
fn a_frame_of_the_original_with_its_checksum() {
    // `zstd -1` of "hello": a window in the header, one raw block, the low half of its XXH64.
    let mut stream = *b"\x28\xb5\x2f\xfd\x04\x48\x29\0\0hello\xa3\x6d\x9f\x88";
    both(&stream, b"hello");
    stream[9] ^= 1;
    let e = fast(&stream, &mut [0; 9]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Checksum, What::ZSTD_CHECKSUM, 0x889f_6da3));
}

#[test]
fn headers_of_every_size() {
    // A content size of 1, 2, 4 and 8 bytes, with a dictionary number of 0, 1, 2 and 4 bytes.
    for (flag, content) in [(0u8, vec![3]), (2, vec![3, 0, 0, 0]), (3, vec![3, 0, 0, 0, 0, 0, 0, 0])] {
        for (id, len) in [(0u8, 0), (1, 1), (2, 2), (3, 4)] {
            let head = [flag << 6 | 0x20 | id];
            let stream = [&b"\x28\xb5\x2f\xfd"[..], &head, &vec![0; len], &content, b"\x19\0\0abc"].concat();
            both(&stream, b"abc");
            let mut other = stream.clone();
            if let Some(at) = stream.len().checked_sub(6 + content.len() + 1).filter(|_| len > 0) {
                other[at] = 9;
                let e = fast(&other, &mut [0; 3]).unwrap_err();
                assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::ZSTD_DICTIONARY));
                assert_eq!(e.need(), 9 << (8 * (len - 1)));
            }
            other = stream;
            let claim = other.len() - 7 - (content.len() - 1);
            other[claim] = 2;
            let e = fast(&other, &mut [0; 9]).unwrap_err();
            assert!(matches!((e.kind(), e.what()), (Kind::Invalid, What::ZSTD_FRAME | What::ZSTD_BLOCK)), "{e}");
        }
    }
    // The reserved bit.
    let e = fast(b"\x28\xb5\x2f\xfd\x08\x50\x01\0\0", &mut []).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at()), (Kind::Unsupported, What::ZSTD_FRAME, 4));
}

#[test]
fn raw_and_repeated_blocks() {
    both(&frame(&[b"\0abc", b"\x01\x05x", b"\0", b"\x01\x00y", b"\0de"]), b"abcxxxxxde");
    let e = fast(&frame(&[b"\x03abc"]), &mut [0; 9]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at()), (Kind::Invalid, What::ZSTD_BLOCK, 6));
}

#[test]
fn literals_alone() {
    // Raw in headers of 1, 2 and 3 bytes; repeated; each without a sequence.
    both(&frame(&[b"\x02\x18abc\0"]), b"abc");
    both(&frame(&[b"\x02\x34\x00abc\0"]), b"abc");
    both(&frame(&[b"\x02\x3c\x00\x00abc\0"]), b"abc");
    both(&frame(&[b"\x02\x29z\0"]), b"zzzzz");
    // Huffman codes of two symbols in one stream, described by 98 weights of half a byte. The weight of 'a'
    // is 1, and so is the weight of the next symbol, which is not stored.
    let mut weights = vec![127 + 98];
    weights.resize(1 + 98 / 2, 0);
    weights[98 / 2] = 0x01;
    let bits = stream("0110 1");
    let huffman = |kind: u8, len: u32, body: &[u8]| {
        let head = u32::from(kind) | len << 4 | (body.len() as u32) << 14;
        [&[2][..], &head.to_le_bytes()[..3], body, &[0]].concat()
    };
    let described = [&weights[..], &bits].concat();
    both(&frame(&[&huffman(2, 5, &described)]), b"abbab");
    // A second block with the same codes.
    both(&frame(&[&huffman(2, 5, &described), &huffman(3, 5, &bits)]), b"abbababbab");
    let e = fast(&frame(&[&huffman(3, 5, &bits)]), &mut [0; 9]).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::ZSTD_LITERALS));
    // One code less or more than the stream has.
    for len in [4, 6] {
        let e = fast(&frame(&[&huffman(2, len, &described)]), &mut [0; 9]).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::ZSTD_LITERALS));
    }
}

#[test]
fn sequences_by_hand() {
    // Raw literals "abcd"; two sequences with one symbol each: 2 literals, a distance of 2, 5 bytes.
    let body = [b"\x02\x20abcd\x02\x54\x02\x02\x02".to_vec(), stream("01 01")].concat();
    both(&frame(&[&body]), b"abababacdcdcdc");
    // Again, with the tables of the previous block: mode 3.
    let again = [b"\x02\x20efgh\x01\xfc".to_vec(), stream("01")].concat();
    both(&frame(&[&body, &again]), b"abababacdcdcdcefefefegh");
    let e = fast(&frame(&[&again]), &mut [0; 99]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::ZSTD_TABLE, 3));
    // A distance beyond the frame.
    let far = [b"\x02\x20abcd\x01\x54\x02\x02\x02".to_vec(), stream("11")].concat();
    let e = fast(&frame(&[&far]), &mut [0; 99]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::ZSTD_OFFSET, 4));
}

#[test]
fn a_dictionary_is_what_lies_before() {
    // Five bytes at distance 3, of which two are in the dictionary.
    let body = [b"\x02\x08a\x01\x54\x01\x02\x02".to_vec(), stream("10")].concat();
    let stream = frame(&[&body]);
    for form in [decode_by::<true>, decode_by::<false>] {
        let mut memory = vec![0; WORKSPACE_LEN];
        let mut dst = [0; 6];
        assert_eq!(form(&stream, &mut dst, b"0123456xy", &mut Scratch::new(&mut memory)), Ok(6));
        assert_eq!(dst, *b"axyaxy");
        let e = form(&stream, &mut dst, b"y", &mut Scratch::new(&mut memory)).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::ZSTD_OFFSET, 3));
    }
}

/// Literals that are moved over themselves may not be moved twice.
#[test]
fn a_dictionary_after_many_literals() {
    let (dictionary, literals) = (check::text(100), check::noise(600));
    // Two sequences of 300 literals and 37 bytes: from 350 back, which is in the dictionary, and from 400 back. All tables are of one symbol.
    let bits = stream("01100001 0 00101100 10010011 0 00101100");
    let block = [&[2, 0x84, 0x25][..], &literals, &[2, 0x54, 27, 8, 33], &bits].concat();
    let mut bytes = [&literals[..300], &dictionary[50..87], &literals[300..]].concat();
    bytes.extend_from_within(237..274);
    let frame = frame(&[&block]);
    for room in [674, 680, 700, 706, 900] {
        let mut read = vec![0; room];
        let mut memory = vec![0; WORKSPACE_LEN];
        assert_eq!(decode_by::<true>(&frame, &mut read, &dictionary, &mut Scratch::new(&mut memory)), Ok(674));
        assert!(read[..674] == bytes, "{room}");
        read.fill(1);
        assert_eq!(decode_by::<false>(&frame, &mut read, &dictionary, &mut Scratch::new(&mut memory)), Ok(674));
        assert!(read[..674] == bytes, "{room}");
    }
}

#[test]
fn too_little_scratch_says_how_much() {
    let stream = encoded(b"hello");
    let mut memory = vec![0; WORKSPACE_LEN];
    for room in (0..WORKSPACE_LEN - 8).step_by(97) {
        let e = decode(&stream, &mut [0; 9], &mut Scratch::new(&mut memory[..room])).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::SCRATCH));
    }
    assert_eq!(decode(&stream, &mut [0; 9], &mut Scratch::new(&mut memory)), Ok(5));
}

#[test]
fn damage() {
    let long = [check::noise(90), check::text(300), check::noise(70), check::text(200)].concat();
    for bytes in [check::text(300), vec![5; 600], check::text(900), long] {
        let mut stream = encoded(&bytes);
        check::damage(fast, slow, &stream);
        // Without its checksum, for damage that only changes bytes; near the end of the destination, and far from it.
        stream[4] &= !4;
        stream.truncate(stream.len() - 4);
        for more in [0, 31, 32, 33, 1000 - bytes.len()] {
            let room = bytes.len() + more;
            check::damage(|src, dst| fast(src, &mut dst[..room]), |src, dst| slow(src, &mut dst[..room]), &stream);
        }
    }
}

#[test]
fn memory_for_more_bytes_is_enough_for_fewer() {
    for level in 0..=MAX_LEVEL {
        let lens: Vec<usize> = (0..5000).map(|n| encode_scratch_len(level, n)).collect();
        assert!(lens.is_sorted(), "level {level}: {:?}", lens.windows(2).position(|two| two[0] > two[1]));
    }
}
