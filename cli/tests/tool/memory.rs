//! The memory of conversions does not grow with the length of texts.

use std::fs;
use std::io::Write as _;
use std::process::{ChildStdin, Command, Stdio};

use crate::{good, place};

/// The maximum of the memory that a run of the tool takes, in KiB, while `feed` writes to its standard input: with mapped files,
/// and its own, which is looked at every 5 ms.
fn peak(args: &[&str], feed: impl FnOnce(&mut ChildStdin) + Send) -> (u64, u64) {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_pilaster"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = tool.stdin.take().unwrap();
    let status = format!("/proc/{}/status", tool.id());
    let (mut peak, mut own) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(move || feed(&mut stdin));
        while tool.try_wait().unwrap().is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let number = |key| {
                let number = text.lines().find_map(|line| line.strip_prefix(key));
                number.and_then(|number| number.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
            };
            (peak, own) = (peak.max(number("VmHWM:")), own.max(number("RssAnon:")));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    let output = tool.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", str::from_utf8(&output.stderr).unwrap());
    (peak, own)
}

/// Memory does not grow with the length of texts: a batch has fewer of them.
#[test]
fn long_texts_take_bounded_memory() {
    let place = place("arrow_memory");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    // 100 MB of texts of 20 kB that differ: 65,536 rows would take 1.3 GB.
    let text = |k: u64, long: &mut String| {
        let mut seed = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        long.clear();
        while long.len() < 20_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            long.push_str(&format!("{seed:x}"));
        }
    };
    let rows = |stdin: &mut ChildStdin, form: fn(u64, &str) -> String| {
        let mut long = String::new();
        for k in 0..5000 {
            text(k, &mut long);
            stdin.write_all(form(k, &long).as_bytes()).unwrap();
        }
    };
    let csv = peak(&["convert", "--format", "csv", "-", &path("a.parquet")], |stdin| {
        stdin.write_all(b"n,t\n").unwrap();
        rows(stdin, |k, text| format!("{k},{text}\n"));
    });
    let json = peak(&["convert", "--format", "jsonl", "-", &path("b.parquet")], |stdin| {
        rows(stdin, |k, text| format!("{{\"n\":{k},\"t\":\"{text}\"}}\n"));
    });
    let mut peaks = vec![("csv to parquet", csv), ("jsonl to parquet", json)];
    for (from, to) in [
        ("a.parquet", "c.arrow"),
        ("c.arrow", "d.arrows"),
        ("a.parquet", "e.vortex"),
        ("e.vortex", "f.parquet"),
        ("e.vortex", "g.arrow"),
        ("d.arrows", "h.csv"),
    ] {
        peaks.push((to, peak(&["convert", &path(from), &path(to)], |_| {})));
    }
    println!("{peaks:?}");
    // How much of a mapped file is in memory is for the system to decide.
    assert!(peaks.iter().all(|(_, (peak, own))| *peak < 256 << 10 && *own < 180 << 10), "{peaks:?}");
    let count = |name: &str| good(&["info", &path(name)]);
    assert!(count("f.parquet").contains("rows      5000\n") && count("g.arrow").contains("rows      5000\n"));
    fs::remove_dir_all(place).unwrap();
}
