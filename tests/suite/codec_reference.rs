//! Streams of our encoders, read by the original zlib and bzip2, and the other way round, through Python's standard
//! modules.

use std::io::Write as _;
use std::process::{Command, Stdio};

use pilaster::bytes::Scratch;
use pilaster::unstable::codec::Codec;

/// Pipes `input` through a line of Python.
fn python(line: &str, input: &[u8]) -> Vec<u8> {
    let program = format!("import sys, zlib, bz2\nd = sys.stdin.buffer.read()\nsys.stdout.buffer.write({line})");
    let mut command = Command::new("python3");
    command.args(["-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("python3 can be started");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{line} fails");
    output.stdout
}

fn samples() -> Vec<Vec<u8>> {
    let text: Vec<u8> = (0..5000).flat_map(|i| format!("reading {i} status {}\n", i * 7 % 13).into_bytes()).collect();
    let mut x = 1u32;
    let mut noise = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 24) as u8
    };
    let noise: Vec<u8> = (0..105_000).map(|_| noise()).collect();
    let runs: Vec<u8> = (0..400u32).flat_map(|n| vec![n as u8; n as usize]).collect();
    vec![Vec::new(), b"a".to_vec(), vec![0; 200_000], b"abracadabra".repeat(1000), text, noise, runs]
}

#[test]
#[ignore = "needs python3: .ci/originals"]
fn the_originals_read_ours_and_we_theirs() {
    for (codec, module) in [(Codec::Zlib, "zlib"), (Codec::Bzip2, "bz2")] {
        for bytes in samples() {
            for level in [1, 9] {
                let mut stream = vec![0; codec.max_len(bytes.len())];
                let len = codec.encode(&bytes, &mut stream, level).unwrap();
                let read = python(&format!("{module}.decompress(d)"), &stream[..len]);
                assert!(read == bytes, "{module} reads other bytes, level {level}");

                let theirs = python(&format!("{module}.compress(d, {level})"), &bytes);
                let mut decoded = vec![0xee; bytes.len()];
                let mut memory = vec![0xee; codec.workspace_len(bytes.len())];
                let len = codec.decode(&theirs, &mut decoded, &mut Scratch::new(&mut memory));
                assert_eq!(len, Ok(bytes.len()), "{module}, level {level}");
                assert!(decoded == bytes, "{module}, level {level}");
            }
        }
    }
}
