//! Files that arrive in frames: through a pipe and a pseudo terminal, with damaged, missing, repeated and late frames.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pilaster::bytes::Sink as _;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::{out, pilaster, run_on, target};

/// The sender, as firmware has it.
#[allow(dead_code, reason = "a module of another package")]
#[path = "../../../examples/firmware/logger/src/serial.rs"]
mod serial;

fn log() -> Vec<u8> {
    fs::read("../tests/golden/dataseries/sensor_log_auto.ds").unwrap()
}

/// The frames of a file from offset `at` on, each ends with a zero. The last one says where the file ends.
fn frames(bytes: &[u8], chunk: usize, at: u32) -> Vec<Vec<u8>> {
    let mut memory = vec![0; chunk];
    let mut sent = Vec::new();
    let mut frames = serial::Frames::new(&mut sent, &mut memory, at).unwrap();
    // In pieces, as a writer puts them.
    bytes.chunks(37).for_each(|piece| frames.put(piece).unwrap());
    frames.end().unwrap();
    sent.split_inclusive(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// Receives frames. Returns the status, the lines of output, and the file.
fn receive(name: &str, sent: &[u8]) -> (Option<i32>, Vec<String>, Vec<u8>) {
    let path = target(name);
    let output = run_on(&["receive", "-", &path], sent);
    let lines = out(&output).lines().map(|line| line.replace(&path, "log.ds")).collect();
    (output.status.code(), lines, fs::read(&path).unwrap())
}

#[test]
fn a_file_arrives_in_frames_of_any_size() {
    // Runs without zeros of all lengths around the longest of COBS.
    let runs: Vec<u8> = (250..=520).flat_map(|len| [vec![7; len], vec![0; len % 3]].concat()).collect();
    for (k, bytes) in [log(), Vec::new(), vec![0; 1000], vec![9; 5000], runs].iter().enumerate() {
        for chunk in [9, 16, 128, 262, 263, 4096, serial::LONGEST] {
            let sent = frames(bytes, chunk, 0);
            let (status, lines, got) = receive(&format!("received{k}.{chunk}.ds"), &sent.concat());
            let of = format!("log.ds: {} bytes in {} chunks", bytes.len(), sent.len());
            assert_eq!((status, lines), (Some(0), vec![of]), "{k}, {chunk}");
            assert!(got == *bytes, "{k}, {chunk}");
        }
    }
    // The longest frame arrives; a longer one is refused where it is sent, as the receiver would drop it.
    let most = vec![0x55; 3 * 65_000 + 1];
    assert!(receive("longest.ds", &frames(&most, serial::LONGEST, 0).concat()).2 == most);
    for len in [0, 8, serial::LONGEST + 1] {
        let refused = serial::Frames::new(Vec::new(), &mut vec![0; len], 0).unwrap_err();
        assert_eq!(refused.to_string(), format!("a chunk of {len} bytes; it has 9 to 65008"));
    }
}

#[test]
fn what_is_missing_is_told_and_its_place_stays() {
    let bytes = log();
    let mut sent = frames(&bytes, 108, 0);
    // One is lost, one is damaged; the receiver began in the middle of a frame.
    sent[7][20] ^= 4;
    sent.remove(3);
    sent.insert(0, vec![1, 2, 3, 0]);
    let (status, lines, got) = receive("gaps.ds", &sent.concat());
    assert_eq!(status, Some(1));
    let whole = format!("log.ds: {} bytes in {} chunks; 200 bytes are missing", bytes.len(), sent.len() - 2);
    assert_eq!(
        lines,
        ["missing: 100 bytes at 300", "missing: 100 bytes at 700", &whole, "2 damaged frames were left out"]
    );
    let mut expected = bytes.clone();
    (300..400).chain(700..800).for_each(|at| expected[at] = 0);
    assert!(got == expected);
}

#[test]
fn frames_come_late_or_twice() {
    let bytes = log();
    let mut sent = frames(&bytes, 108, 0);
    let late = sent.remove(2);
    sent.insert(5, late);
    sent.insert(9, sent[8].clone());
    let (status, lines, got) = receive("late.ds", &sent.concat());
    let of = format!("log.ds: {} bytes in {} chunks, 1 of them repeated", bytes.len(), sent.len());
    assert_eq!((status, lines, got == bytes), (Some(0), vec![of], true));
}

#[test]
fn a_device_that_begins_again_begins_a_file() {
    let (bytes, other) = (log(), vec![5; 1000]);
    let first = frames(&bytes, 108, 0)[..9].concat();
    let (path, next) = (target("again.ds"), target("again.1.ds"));
    let output = run_on(&["receive", "-", &path], &[first.clone(), frames(&other, 108, 0).concat()].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).contains("900 bytes in 9 chunks; its end did not come\n"), "{}", out(&output));
    assert!(fs::read(&path).unwrap() == bytes[..900] && fs::read(&next).unwrap() == other);
    // Also if the first frame of the second file is lost.
    let _ = (target("again.ds"), target("again.1.ds"));
    let output = run_on(&["receive", "-", &path], &[first, frames(&other, 108, 0)[1..].concat()].concat());
    assert!(out(&output).contains("missing: 100 bytes at 0\n"), "{}", out(&output));
    assert_eq!((output.status.code(), fs::read(&next).unwrap()), (Some(1), [vec![0; 100], vec![5; 900]].concat()));
    // A file is never replaced unasked.
    let output = run_on(&["receive", "-", &path], b"");
    assert_eq!((output.status.code(), fs::read(&path).unwrap().len()), (Some(1), 900));
}

/// The receiver joins late, and the device begins again: nothing of the second run fills the first file.
#[test]
fn a_device_that_begins_again_after_a_gap() {
    let (bytes, other) = (log(), vec![5; 1000]);
    let tail = frames(&bytes[400..900], 108, 400)[..5].concat();
    for (name, lost) in [("joined.ds", 0), ("joined_lost.ds", 4)] {
        let (path, next) = (target(name), target(&name.replace(".ds", ".1.ds")));
        let output =
            run_on(&["receive", "-", &path], &[tail.clone(), frames(&other, 108, 0)[lost..].concat()].concat());
        assert_eq!(output.status.code(), Some(1));
        let said = out(&output);
        assert!(said.starts_with("missing: 400 bytes at 0\n"), "{said}");
        assert!(fs::read(&path).unwrap() == [vec![0; 400], bytes[400..900].to_vec()].concat(), "{said}");
        let start = lost * 100;
        assert!(fs::read(&next).unwrap() == [vec![0; start], other[start..].to_vec()].concat(), "{said}");
    }
}

/// The chunks of a device that sends a part again with other borders; the part of a chunk that came before must be the same.
#[test]
fn chunks_overlap_what_came() {
    let bytes = log();
    let first = frames(&bytes[..960], 168, 0);
    let again = frames(&bytes[700..], 108, 700);
    let (status, lines, got) = receive("overlap.ds", &[&first[..6], &again[..]].concat().concat());
    assert_eq!(status, Some(0), "{lines:?}");
    assert!(got == bytes, "{lines:?}");
    let (path, next) = (target("short.ds"), target("short.1.ds"));
    let short = frames(&bytes[..60], 108, 0)[..1].concat();
    // Other bytes after the same ones: the device was reset after a short chunk.
    let output = run_on(&["receive", "-", &path], &[short, frames(&bytes, 108, 0).concat()].concat());
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    assert!(fs::read(&path).unwrap() == bytes[..60] && fs::read(&next).unwrap() == bytes);
}

#[test]
fn the_first_chunk_may_come_twice() {
    let mut sent = frames(&log(), 108, 0);
    sent.insert(0, sent[0].clone());
    let (status, lines, got) = receive("twice.ds", &sent.concat());
    assert_eq!((status, got == log()), (Some(0), true), "{lines:?}");
}

/// A file of an earlier day takes its number; --force is about the target only.
#[test]
fn numbers_of_files_that_exist_are_left_out() {
    let (bytes, other) = (log(), vec![5; 1000]);
    let sent = [frames(&bytes, 108, 0)[..9].concat(), frames(&other, 108, 0).concat()].concat();
    let (path, taken, next) = (target("taken.ds"), target("taken.1.ds"), target("taken.2.ds"));
    fs::write(&taken, "of yesterday").unwrap();
    fs::write(&path, "replaced").unwrap();
    let output = run_on(&["receive", "--force", "-", &path], &sent);
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    assert!(fs::read(&path).unwrap() == bytes[..900] && fs::read(&next).unwrap() == other);
    assert_eq!(fs::read(&taken).unwrap(), b"of yesterday");
}

#[test]
fn errors_name_the_file_and_what_came_is_told() {
    let sent = frames(&log(), 108, 0);
    let output = run_on(&["receive", "-", "--force", "/dev/full"], &sent.concat());
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("/dev/full: "), "{error}");
    assert!(out(&output).contains("0 bytes in 1 chunks"), "{}", out(&output));
    let output = run_on(&["receive", "--baud", "9600", "-", &target("no_line.ds")], b"");
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(error.contains("--baud is for serial lines"), "{error}");
}

#[test]
fn a_file_without_its_start_keeps_the_place_of_its_bytes() {
    let (status, lines, got) = receive("tail.ds", &frames(&[3; 50], 64, 4000).concat());
    assert_eq!((status, &*lines[0], got.len()), (Some(1), "missing: 4000 bytes at 0", 4050));
}

/// The tool sets the line so that all bytes pass, and ends when the device says that the file is complete.
#[test]
fn a_file_arrives_through_a_terminal() {
    // All bytes, among them those that a terminal would change or act on.
    let bytes: Vec<u8> = (0..=255u8).cycle().take(3000).collect();
    let control = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&control).unwrap();
    unlockpt(&control).unwrap();
    let name = ptsname(&control, Vec::new()).unwrap().into_string().unwrap();
    let line = OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let path = target("terminal.ds");
    let call = ["receive", "--baud", "115200", &name, &path];
    // In a session of its own without a terminal, as a service has it: the line must not become the one of the session, as the end of
    // the line would end the service.
    let mut child =
        Command::new("setsid").arg(pilaster().get_program()).args(call).stdout(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while tcgetattr(&line).unwrap().local_modes.contains(LocalModes::ICANON) {
        assert!(start.elapsed() < Duration::from_secs(60), "the line is never set");
        std::thread::sleep(Duration::from_millis(5));
    }
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    let terminal = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(4));
    let mut control = File::from(control);
    frames(&bytes, 128, 0).iter().for_each(|frame| control.write_all(frame).unwrap());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(terminal, cfg!(target_os = "linux").then_some("0"), "{stat}");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(said.contains(": 3000 bytes in 26 chunks\n"), "{said}");
    assert!(fs::read(&path).unwrap() == bytes);
}
