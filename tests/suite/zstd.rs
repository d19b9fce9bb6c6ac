//! Frames that the original wrote: every one is what its checksum says, and what ruzstd makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use pilaster::bytes::Scratch;
use pilaster::error::{Kind, What};
#[cfg(feature = "zstd-encode")]
use pilaster::unstable::codec::zstd::{MAX_LEVEL, encode, encode_scratch_len, max_len};
use pilaster::unstable::codec::zstd::{WORKSPACE_LEN, decode, decode_with};
use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zstd")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Every frame, and the dictionary it was written with.
fn frames() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let mut frames = Vec::new();
    for path in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".zst") {
            let dictionary = match &name {
                name if name.starts_with("with_trained") => read("trained.dict"),
                name if name.starts_with("with_raw") => read("raw.dict"),
                _ => Vec::new(),
            };
            frames.push((name, fs::read(path).unwrap(), dictionary));
        }
    }
    assert!(frames.len() > 20, "only {} frames", frames.len());
    frames.sort();
    frames
}

/// What ruzstd makes of a frame.
fn oracle(frame: &[u8], dictionary: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(1 << 30);
    if !dictionary.is_empty() {
        decoder.add_dict(Dictionary::decode_dict(dictionary).ok()?).ok()?;
    }
    let mut rest = frame;
    decoder.reset(&mut rest).ok()?;
    decoder.decode_blocks(&mut rest, BlockDecodingStrategy::All).ok()?;
    decoder.collect()
}

#[test]
fn the_originals_frames() {
    let mut memory = vec![0xee; WORKSPACE_LEN];
    for (name, frame, dictionary) in frames() {
        let mut room = vec![0xee; 1 << 21];
        let got = decode_with(&frame, &mut room, &dictionary, &mut Scratch::new(&mut memory));
        let len = got.unwrap_or_else(|e| panic!("{name}: {e}"));
        // A dictionary without tables has none of ruzstd's form.
        if !name.starts_with("with_raw") {
            assert!(oracle(&frame, &dictionary).as_deref() == Some(&room[..len]), "{name}");
        }
        // The exact length, or a little more.
        for more in [0, 1, 40] {
            let mut exact = vec![0x11; len + more];
            let got = decode_with(&frame, &mut exact, &dictionary, &mut Scratch::new(&mut memory));
            assert_eq!(got, Ok(len), "{name}");
            assert!(exact[..len] == room[..len], "{name}: the room makes a difference");
        }
        if let Some(less) = len.checked_sub(1) {
            let e = decode_with(&frame, &mut room[..less], &dictionary, &mut Scratch::new(&mut memory)).unwrap_err();
            assert_eq!((e.kind(), e.what(), e.need() as usize), (Kind::NoRoom, What::DESTINATION, len), "{name}");
        }
    }
}

#[test]
fn cuts_and_other_bytes() {
    let mut memory = vec![0; WORKSPACE_LEN];
    let (mut taken, mut alone) = (0, 0);
    for (name, frame, dictionary) in frames().iter().filter(|(name, ..)| !name.starts_with("with_raw")) {
        // Without the checksum, which would hide what the rest makes of the damage.
        let mut frame = frame.clone();
        if frame[4] & 4 != 0 {
            frame[4] &= !4;
            frame.truncate(frame.len() - 4);
        }
        let mut room = vec![0; 160_000];
        let step = frame.len() / 30 + 1;
        for cut in (0..frame.len()).step_by(step) {
            let got = decode_with(&frame[..cut], &mut room, dictionary, &mut Scratch::new(&mut memory));
            assert_eq!(got.is_ok(), cut == 0, "{name} cut to {cut}");
        }
        for at in (4..frame.len()).filter(|at| *at < 30 || at % step == 0) {
            for change in [1u8, 0x10, 0x80, 0xff] {
                let mut frame = frame.clone();
                frame[at] ^= change;
                // Sizes of the header are believed further by some than by others.
                if let Ok(len) = decode_with(&frame, &mut room, dictionary, &mut Scratch::new(&mut memory)) {
                    taken += 1;
                    match oracle(&frame, dictionary) {
                        Some(bytes) => assert!(bytes == room[..len], "{name}: byte {at} ^ {change:02x}"),
                        None => alone += 1,
                    }
                }
            }
        }
    }
    assert!(taken > 100, "only {taken} taken");
    assert!(alone * 10 < taken, "{alone} of {taken} by us alone");
}

#[test]
fn the_dictionary_is_asked_for() {
    let mut memory = vec![0; WORKSPACE_LEN];
    let frame = read("with_trained_1.zst");
    let e = decode(&frame, &mut [0; 700], &mut Scratch::new(&mut memory)).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Unsupported, What::ZSTD_DICTIONARY, 4711));
    // A dictionary that is cut or damaged.
    let whole = read("trained.dict");
    for cut in (8..whole.len()).step_by(3).take(60) {
        let got = decode_with(&frame, &mut [0; 700], &whole[..cut], &mut Scratch::new(&mut memory));
        assert!(got.is_err(), "cut to {cut}");
    }
    for at in 0..200 {
        let mut other = whole.clone();
        other[at] ^= 0x55;
        let got = decode_with(&frame, &mut [0; 700], &other, &mut Scratch::new(&mut memory));
        assert!(got.is_err() || at >= 8, "byte {at}");
    }
}

/// Returns the frame of `bytes` at a level.
#[cfg(feature = "zstd-encode")]
pub fn encoded(bytes: &[u8], level: u8) -> Vec<u8> {
    let mut frame = vec![0; max_len(bytes.len())];
    let mut memory = vec![0; encode_scratch_len(level, bytes.len())];
    let len = encode(bytes, &mut frame, level, &mut Scratch::new(&mut memory)).unwrap();
    frame.truncate(len);
    frame
}

/// The frames of a Vortex writer state the length of their content, which its readers require. Both decoders find it.
#[cfg(feature = "zstd-encode")]
#[test]
fn frames_that_state_their_length() {
    let mut memory = vec![0xee; WORKSPACE_LEN];
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    };
    // Short, of one block, of several blocks of 128 KiB; runs, texts, and bytes that do not get smaller.
    for len in [0usize, 1, 5, 255, 256, 1000, 65_791, 65_792, (1 << 17) - 1, (1 << 17) + 1, 400_000] {
        let run = vec![7; len];
        let text: Vec<u8> = b"GET /index.html 200 ".iter().cycle().take(len).copied().collect();
        let words: Vec<u8> = (0..len).map(|i| if i % 3 == 0 { noise() & 7 } else { b'a' }).collect();
        let any: Vec<u8> = (0..len).map(|_| noise()).collect();
        for content in [run, text, words, any] {
            for level in [1, 5, MAX_LEVEL] {
                let frame = encoded(&content, level);
                let mut decoder = FrameDecoder::new();
                decoder.reset(&mut &frame[..]).unwrap();
                assert_eq!(decoder.content_size(), len as u64);
                assert!(oracle(&frame, &[]).is_some_and(|found| found == content), "{len}, level {level}");
                let mut room = vec![0xee; len];
                let got = decode(&frame, &mut room, &mut Scratch::new(&mut memory));
                assert!(got == Ok(len) && room == content, "{len}, level {level}: {got:?}");
            }
        }
    }
}
