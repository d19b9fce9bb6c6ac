//! Files of any size: how much of them a command reads, and how much memory it takes.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use pilaster::bytes::{LittleEndian, Scratch, Sink};
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
use pilaster::dataseries::{self, record};

use super::*;

/// Runs a command. Returns what it printed, the number of bytes that it read, and the most memory that it took, in MiB.
pub fn measured(args: &[&str]) -> (String, u64, u64) {
    let (output, bytes, memory) = measured_call(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    (out(&output).to_owned(), bytes, memory)
}

/// Measures a call that may fail, like [`measured`]. The numbers are in the first line on standard error.
fn measured_call(args: &[&str]) -> (Output, u64, u64) {
    let output = pilaster().args(args).env("PILASTER_BYTES_READ", "1").output().unwrap();
    let line = str::from_utf8(&output.stderr).unwrap();
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let (bytes, kib) = (numbers.next().expect(line), numbers.next().expect(line));
    (output, bytes, kib >> 10)
}

/// Returns the memory in MiB for a small file, which is converted to `name`: most of it is the code of the program, which
/// takes 12 MiB and more without optimization, and 7 MiB more with Arrow.
fn least(name: &str) -> u64 {
    let tiny = format!("{}/../tests/golden/dataseries/tiny.ds", env!("CARGO_MANIFEST_DIR"));
    let (_, _, memory) = measured(&["convert", "--force", &tiny, &target(name)]);
    memory
}

/// Replaces the numbers `from` in `bytes`.
fn replace(bytes: &mut [u8], from: u64, to: u64) {
    let places: Vec<usize> = (0..bytes.len() - 7).filter(|at| bytes[*at..][..8] == from.to_le_bytes()).collect();
    assert!(!places.is_empty(), "{from}");
    places.into_iter().for_each(|at| bytes[at..][..8].copy_from_slice(&to.to_le_bytes()));
}

record! {
    struct Tick = "Tick" { time: int64 }
}

/// A file of one extent of `rows` zeros, and where the extent begins.
fn one_extent(rows: usize) -> (Vec<u8>, usize) {
    let (mut slots, mut memory) = ([IndexSlot::EMPTY; 3], vec![0; 16 * rows]);
    let mut writer = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
    let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory)).unwrap();
    (0..rows).for_each(|_| extent.push(&Tick { time: 0 }).unwrap());
    writer.flush(&mut extent).unwrap();
    let bytes = writer.finish().unwrap();
    let (mut kept, options) = ([0; 4096], dataseries::ReadOptions::DEFAULT);
    let file = dataseries::File::<LittleEndian>::open(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
    let at = file.extents().nth(1).unwrap().unwrap().header().at as usize;
    (bytes, at)
}

/// A sparse Jay file with the column `time`, of `rows` zeros.
pub fn large_jay(name: &str, rows: u64) -> String {
    const SMALL: u64 = 12_345;
    let (source, small) = (target(&format!("{name}.ds")), target(&format!("{name}.small.jay")));
    fs::write(&source, one_extent(SMALL as usize).0).unwrap();
    good(&["convert", &source, &small, "--no-stats"]);
    let bytes = fs::read(&small).unwrap();
    let mut end = bytes[8 + 8 * SMALL as usize..].to_vec();
    replace(&mut end, SMALL, rows);
    replace(&mut end, 8 * SMALL, 8 * rows);
    let path = target(&format!("{name}.jay"));
    let mut file = File::create(&path).unwrap();
    file.write_all(&bytes[..8]).unwrap();
    file.seek(SeekFrom::Start(8 + 8 * rows)).unwrap();
    file.write_all(&end).unwrap();
    path
}

/// Leaves holes for slices of zeros that come again and again.
struct Sparse {
    file: File,
    /// Such a slice: its place in memory, and the number of its bytes before the zeros.
    known: Option<(usize, usize)>,
}

impl Sink for Sparse {
    type Error = io::Error;

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() < 1 << 16 {
            return self.file.write_all(bytes);
        }
        let place = bytes.as_ptr() as usize;
        let front = match self.known {
            Some((known, front)) if known == place => front,
            _ => bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1),
        };
        self.known = Some((place, front));
        self.file.write_all(&bytes[..front])?;
        // The last byte is written, so that the file is long enough.
        self.file.seek(SeekFrom::Current((bytes.len() - front - 1) as i64))?;
        self.file.write_all(&[0])
    }
}

/// A sparse DataSeries file of `count` extents of 2^17 rows, 1 MiB each.
fn large_dataseries(name: &str, count: usize) -> String {
    let (bytes, at) = one_extent(1 << 17);
    let extent = dataseries::Extent::<LittleEndian>::of(&bytes[at..], at as u64).unwrap();
    let path = target(&format!("{name}.ds"));
    let mut slots = vec![IndexSlot::EMPTY; count + 2];
    let sink = Sparse { file: File::create(&path).unwrap(), known: None };
    let mut writer = Writer::<LittleEndian, _>::new(sink, Descriptions::of::<Tick>(), &mut slots);
    (0..count).for_each(|_| writer.put_stored(&extent).unwrap());
    writer.finish().unwrap();
    path
}

pub const GIB: u64 = 1 << 30;

#[test]
fn few_rows_of_ten_gigabytes() {
    let rows = 10 * GIB / 8;
    let (jay, ds) = (large_jay("ten_gigabytes", rows), large_dataseries("ten_gigabytes_of_extents", 10 << 10));
    // Most of what a small file takes is the code of the program.
    let (_, _, small) = measured(&["cat", &jay.replace(".jay", ".small.jay")]);
    for path in [jay, ds] {
        assert!(fs::metadata(&path).unwrap().len() >= 10 * GIB, "{path}");
        let range = format!("{}..{}", rows - 1_000_000, rows - 999_990);
        let calls: [&[&str]; 3] =
            [&["head", &path], &["info", &path], &["cat", &path, "--columns", "time", "--rows", &range]];
        for args in calls {
            let (text, bytes, memory) = measured(args);
            assert!(text.lines().count() >= 5, "{text}");
            // The headers of all extents before the rows are read, and nothing else of these extents.
            let most = if path.ends_with(".ds") { 5 << 20 } else { 1 << 20 };
            assert!(bytes < most, "{args:?}: {bytes} bytes");
            assert!(memory < small + 12, "{args:?}: {memory} MiB, {small} MiB for a small file");
        }
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn all_rows_in_windows() {
    let jay = large_jay("all_rows", 6 << 20);
    let ds = large_dataseries("all_rows_of_extents", 48);
    // Most of what a small file takes is the code of the program.
    let (_, _, small) = measured(&["cat", &jay.replace(".jay", ".small.jay"), "--from", "1", "--threads", "2"]);
    let most = small + 25;
    for path in [jay, ds] {
        let (text, bytes, memory) = measured(&["cat", &path, "--from", "1", "--threads", "2"]);
        assert_eq!(text, "time\n");
        assert!((48 << 20..50 << 20).contains(&bytes), "{bytes}");
        assert!(memory < most, "cat: {memory} MiB");
        let (_, bytes, memory) = measured(&["verify", "--threads", "2", &path]);
        assert!(bytes >= 48 << 20, "{bytes}");
        assert!(memory < most, "verify: {memory} MiB");
        let (text, bytes, memory) = measured(&["info", "-v", &path]);
        assert!(text.contains("time") && text.contains("6291456"), "{text}");
        // Jay stores that no value is missing.
        assert!(path.ends_with(".jay") || bytes >= 48 << 20, "info: {bytes}");
        assert!(memory < most, "info: {memory} MiB");
        // Rows across the windows.
        let rows = good(&["cat", &path, "--rows", "1048570..2097160"]);
        assert_eq!(rows.lines().count(), 1_048_591);
    }
}

#[test]
fn a_long_pipe_is_spooled() {
    let path = large_jay("pipe", 3 << 20);
    let bytes = fs::read(&path).unwrap();
    let output = run_on(&["head", "-"], &bytes);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(out(&output), good(&["head", &path]));
}

/// The temporary file of a long standard input has no name, so that a signal leaves nothing.
#[test]
fn a_long_pipe_leaves_nothing() {
    let place = place("pipe_temporary");
    let is_temporary = |link: &Path| fs::read_link(link).is_ok_and(|to| to.starts_with(&place));
    let mut child = pilaster()
        .args(["cat", "--format", "jay", "-"])
        .env("TMPDIR", &place)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than is kept in memory. The rest is awaited then.
    input.write_all(&vec![0; 17 << 20]).unwrap();
    let descriptors = format!("/proc/{}/fd", child.id());
    let start = std::time::Instant::now();
    while !fs::read_dir(&descriptors).unwrap().any(|link| is_temporary(&link.unwrap().path())) {
        assert!(start.elapsed().as_secs() < 60, "no temporary file");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn conversions_in_windows() {
    // The files are larger than the memory that is allowed.
    let rows = 5 << 20;
    let (jay, ds) = (large_jay("converted", rows), large_dataseries("converted_extents", 40));
    let least = least("converted_tiny.ds");
    for path in [&jay, &ds] {
        for extension in ["jay", "ds", "bcolz", "vortex"] {
            let to = target(&format!("converted_{}.{extension}", path.ends_with(".ds")));
            let (_, _, memory) = measured(&["convert", "--threads", "2", path, &to]);
            let own = memory.saturating_sub(least);
            assert!(own <= 24, "{path} to {extension}: {memory} MiB, {own} more than for a small file");
            let some = |path: &str| good(&["cat", path, "--rows", "1048570..1048580"]);
            assert_eq!(some(&to), some(path));
            assert!(good(&["info", &to, "--json"]).contains(&format!("\"rows\":{rows}}}")));
        }
    }
}

/// The chunks of a Vortex file are written as they are made, with every choice of encodings.
#[test]
fn conversions_to_vortex_in_windows() {
    let rows = 4 << 20;
    let path = large_jay("varied", rows);
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(8)).unwrap();
    let mut writer = io::BufWriter::new(file);
    for row in 0..rows {
        // Codes of a dictionary, then numbers on a line with noise, then any numbers.
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = [(mixed >> 60) << 40, 100 * row + (mixed >> 58), mixed >> 1][(3 * row / rows) as usize];
        writer.write_all(&value.to_le_bytes()).unwrap();
    }
    writer.into_inner().unwrap();
    let least = least("varied_tiny.vortex");
    for (name, options) in
        [("default", &[][..]), ("plain", &["--no-dictionaries"]), ("compact", &["--encodings", "compact"])]
    {
        let to = target(&format!("varied_{name}.vortex"));
        let (_, _, memory) = measured(&[&["convert", "--threads", "2"], options, &[&path, &to]].concat());
        let own = memory.saturating_sub(least);
        assert!(own <= 24, "{name}: {memory} MiB, {own} more than for a small file");
        for from in [1_048_570, rows / 3 - 5, rows - 10] {
            let some = |path: &str| good(&["cat", path, "--rows", &format!("{from}..{}", from + 10)]);
            assert_eq!(some(&to), some(&path));
        }
        assert!(good(&["info", &to, "--json"]).contains(&format!("\"rows\":{rows}}}")));
    }
}

/// A DataSeries file whose middle of some gigabytes was never written, and whose end is lost.
#[test]
fn recover_dataseries_with_a_hole_of_gigabytes() {
    const ROWS: usize = 1 << 17;
    let (bytes, at) = one_extent(ROWS);
    let extent =
        &bytes[at..at + dataseries::Order::Little.header(&bytes[at..], at as u64).unwrap().span().len as usize];
    let (path, hole) = (target("hole.ds"), 3 * GIB);
    let mut file = File::create(&path).unwrap();
    file.write_all(&bytes[..at]).unwrap();
    (0..20).for_each(|_| file.write_all(extent).unwrap());
    let from = file.stream_position().unwrap();
    file.seek(SeekFrom::Current(hole as i64)).unwrap();
    (0..20).for_each(|_| file.write_all(extent).unwrap());
    drop(file);
    let to = target("hole_recovered.ds");
    let (text, _, memory) = measured(&["recover", &path, &to]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("lost: {hole} bytes at {from}: ")), "{text}");
    let rows = 40 * ROWS;
    assert!(lines[1].contains(&format!("{rows} rows in 40 extents")), "{text}");
    assert!(lines[1].ends_with(&format!("; lost {hole} bytes in 1 places")) && lines.len() == 2, "{text}");
    assert!(memory < 48, "{memory} MiB");
    assert!(good(&["verify", &to]).contains(&format!("{rows} rows in 40 extents")));
    fs::remove_file(path).unwrap();
}

/// `dump` reads all rows of each column, and prints only some of a long column.
#[test]
fn dump_in_windows() {
    let rows = 5 << 20;
    let (jay, ds) = (large_jay("dumped", rows), large_dataseries("dumped_extents", 40));
    // Most of what a small file takes is the code of the program.
    let (_, _, small) = measured(&["dump", &jay.replace(".jay", ".small.jay")]);
    let mut digests = Vec::new();
    for path in [jay, ds] {
        let (text, bytes, memory) = measured(&["dump", &path]);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["nrows"], rows, "{path}");
        // Verified, then printed.
        assert!(bytes >= 2 * 8 * rows, "{bytes}");
        assert!(memory < small + 16, "{path}: {memory} MiB, {small} MiB for a small file");
        let columns = if path.ends_with(".jay") { &document["columns"] } else { &document["tables"][0]["columns"] };
        assert_eq!(columns[0]["tail"].as_array().unwrap().len(), 20);
        digests.push(columns[0]["sha256"].clone());
    }
    assert_eq!(digests[0], digests[1]);
}

/// More threads than cores: each takes memory, and all together less than 128 MB.
#[test]
fn several_threads_in_bounded_memory() {
    let jay = large_jay("threads_rows", 12 << 20);
    let ds = large_dataseries("threads_extents", 96);
    let mut rows = Vec::new();
    for path in [&jay, &ds] {
        for args in [&["cat", "--where", "time = 1"][..], &["cat", "--rows", "..3000000", "--json-lines"], &["verify"]]
        {
            let (text, _, memory) = measured(&[args, &["--threads", "16", path]].concat());
            assert!(memory < 122, "{args:?} {path}: {memory} MiB");
            rows.push(text.lines().count());
        }
        let to = target("threads_large.ds");
        let (_, _, memory) = measured(&["convert", "--threads", "16", "--compress", "lzf", path, &to]);
        assert!(memory < 122, "convert {path}: {memory} MiB");
        fs::remove_file(to).unwrap();
    }
    assert_eq!(rows, [1, 3_000_000, 1, 1, 3_000_000, 1]);
}

/// Makes a Vortex file of `chunks` of `rows` rows, which are `apart` bytes from each other, without its end marker and with a damaged
/// chunk. Returns its path and length.
fn torn(name: &str, (chunks, damaged): (u64, usize), rows: u64, apart: u64) -> (String, u64) {
    let (len, mut pieces) = build::chunked(chunks, rows, apart);
    // The pieces are the magic number, the end, and the description of each chunk.
    pieces[2 + damaged].1.fill(0xff);
    let path = target(name);
    let mut file = File::create(&path).unwrap();
    for (at, bytes) in pieces {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&bytes).unwrap();
    }
    file.set_len(len - 8).unwrap();
    (path, len)
}

/// A Vortex file of gigabytes without its end marker, and with a damaged chunk of 2^17 rows.
#[test]
fn recover_vortex_of_gigabytes() {
    const ROWS: u64 = 1 << 17;
    let (chunks, damaged) = (40, 7);
    let (path, len) = torn("gigabytes.vortex", (chunks, damaged), ROWS, 64 << 20);
    // Recovering it needs the same code, most of which is in memory.
    let (small, _) = torn("kilobytes.vortex", (3, 1), 1 << 10, 1 << 15);
    assert!(len > 2 * GIB);
    let rows = chunks * ROWS;
    for extension in ["jay", "ds"] {
        let to = target(&format!("gigabytes.{extension}"));
        let (_, _, least) = measured(&["recover", &small, &target(&format!("kilobytes.{extension}"))]);
        let (text, bytes, memory) = measured(&["recover", &path, &to]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("damaged: the end marker, no rows: "), "{text}");
        let (first, last) = (damaged as u64 * ROWS, (damaged as u64 + 1) * ROWS);
        assert!(lines[1].starts_with(&format!("lost: rows {first}..{last} of a: ")), "{text}");
        assert!(lines[2].contains(&format!("{rows} rows in 1 columns, ")), "{text}");
        assert!(lines[2].ends_with("; lost: 1 row range") && lines.len() == 3, "{text}");
        assert!(bytes < GIB, "{bytes}");
        let own = memory.saturating_sub(least);
        assert!(own <= 24, "{extension}: {memory} MiB, {own} more than for a small file");
        let rows = |from: u64| good(&["cat", &to, "--rows", &format!("{}..{}", from - 1, from + 1)]);
        assert_eq!((rows(first), rows(last)), ("a\n0\n\n".to_owned(), "a\n\n0\n".to_owned()));
    }
    fs::remove_file(path).unwrap();
}

/// Maximum size in bytes of a part of the metadata, and of what is searched besides the length of the file.
const PART: u64 = 32 << 20;
const SEARCHED: u64 = 256 << 20;

/// Writes `count` postscripts at offset `at` of a sparse file. The last eight name parts that are too long, each of the
/// others four parts that must be read before one of them proves to be wrong.
fn put_postscripts(file: &mut File, at: u64, count: usize) {
    let places = [1, 2, 3, 4].map(|k| k * 2 * PART);
    // The statistics are zeros, which are no table.
    for (at, part) in [places[0], places[1], places[3]].into_iter().zip(build::metadata()) {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&part).unwrap();
    }
    let [plausible, long] = [PART, 2 * GIB].map(|len| build::postscript(places, u32::try_from(len).unwrap()));
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[plausible.repeat(count - 8), long.repeat(8)].concat()).unwrap();
}

/// The end marker of a hostile file is lost, and any number of places lead to metadata: the search reads a bounded number of
/// bytes, and holds few of them.
#[test]
fn the_search_for_the_end_of_a_hostile_vortex_file_is_bounded() {
    const COUNT: usize = 300;
    let (len, path, to) = (3 * GIB, target("hostile_end.vortex"), target("hostile_end.jay"));
    let mut file = File::create(&path).unwrap();
    file.write_all(b"VTXF").unwrap();
    put_postscripts(&mut file, len - 60_000, COUNT);
    file.set_len(len).unwrap();
    drop(file);
    // Without a limit, the search reads ten times as much.
    let most = len + SEARCHED;
    assert!(4 * PART * (COUNT as u64 - 8) > 10 * most);
    let (output, bytes, memory) = measured_call(&["recover", &path, &to]);
    let said = str::from_utf8(&output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
    let why =
        format!("\npilaster: {path}: the postscript is not found in the first {most} bytes that were read for it\n");
    assert!(said.ends_with(&why), "{said}");
    // The parts of one more postscript are read, and the end of the file.
    assert!((most..most + 4 * PART + (1 << 20)).contains(&bytes), "{bytes}");
    assert!(memory < 4 * 32 + 64, "{memory} MiB");
    assert!(!Path::new(&to).exists());
    fs::remove_file(path).unwrap();
}

/// The search goes on behind wrong postscripts, up to the right one.
#[test]
fn the_end_of_a_vortex_file_is_found_behind_wrong_postscripts() {
    let (len, pieces) = build::chunked(3, 1000, GIB);
    let (path, to) = (target("wrong_ends.vortex"), target("wrong_ends.jay"));
    let mut file = File::create(&path).unwrap();
    for (at, bytes) in pieces {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&bytes).unwrap();
    }
    put_postscripts(&mut file, len - 8, 12);
    drop(file);
    let (text, bytes, memory) = measured(&["recover", &path, &to]);
    assert!(text.starts_with("damaged: the end marker, no rows: "), "{text}");
    assert!(text.contains(": 3000 rows in 1 columns, ") && text.ends_with("; nothing is lost\n"), "{text}");
    // The parts of four postscripts, and of another place whose bytes lead to them by chance.
    assert!((16 * PART..24 * PART).contains(&bytes) && memory < 4 * 32 + 64, "{bytes} bytes, {memory} MiB");
    fs::remove_file(path).unwrap();
}

/// Jay and bcolz: more bytes than memory.
#[test]
fn recover_in_windows() {
    let jay = large_jay("recovered", 6 << 20);
    let to = target("recovered.new.jay");
    let (_, bytes, memory) = measured(&["recover", &jay, &to]);
    assert!(bytes >= 48 << 20, "{bytes}");
    assert!(memory < 40, "jay: {memory} MiB");
    assert!(good(&["info", &to, "--json"]).contains("\"rows\":6291456"));

    let (bcolz, clean) = (target("recovered.bcolz"), target("recovered.clean.bcolz"));
    good(&["convert", &jay, &bcolz, "--fill-missing"]);
    fs::remove_file(Path::new(&bcolz).join("time/data/__3.blp")).unwrap();
    let output = pilaster().args(["recover", &bcolz, &clean]).env("PILASTER_BYTES_READ", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = str::from_utf8(&output.stderr).unwrap();
    let memory = said.lines().last().unwrap().strip_suffix(" kB of memory").and_then(|line| line.rsplit(' ').next());
    assert!(memory.unwrap().parse::<u64>().unwrap() < 40 << 10, "{said}");
    let rows: u64 = out(&output).split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    assert!(rows < 6 << 20 && rows > 5 << 20, "{output:?}");
}

/// A file of the original, of release 0.80: its codes of a dictionary are in three chunks, and its zones have sums, too.
#[test]
fn few_rows_of_a_dictionary_in_chunks() {
    const PATH: &str = "tests/samples/chunked_codes.vortex";
    let place = |row: usize| ["north", "east", "south", "west", "centre"][row / 977 % 5];
    for first in [0, 524_280, 1_048_570, 1_199_990] {
        let rows = format!("{first}..{}", first + 10);
        let (text, bytes, _) = measured(&["cat", PATH, "--no-header", "--columns", "place", "--rows", &rows]);
        let wanted: String = (first..first + 10).map(|row| format!("{}\n", place(row))).collect();
        assert_eq!(text, wanted, "{rows}");
        // The whole column is about 16,000 bytes, with what is read twice.
        assert!(bytes < 13_000, "{rows}: {bytes} bytes");
    }
    let condition = ["--where", "k = 140000", "--trust-statistics", "--columns", "place"];
    let (text, bytes, _) = measured(&[&["cat", PATH, "--no-header"], &condition[..]].concat());
    assert_eq!(text, format!("{}\n", place(1_120_000)).repeat(8));
    assert!(bytes < 20_000, "{bytes} bytes");
}

/// A file of the original, of release 0.80, with two zones: columns of every type that has a sum in its zones, and some
/// that have none. A wrong guess at the type would be an error about the zones.
#[test]
fn zones_with_sums_of_every_type() {
    const PATH: &str = "tests/samples/sums.vortex";
    for (condition, row) in [
        ("i = 8500", 8500),
        ("f = 4250", 8500),
        ("s = x0008500", 8500),
        ("d = 85", 8500),
        ("ts = '1970-01-01T02:21:40'", 8500),
        ("day = '1993-04-10'", 8500),
        ("f32 = 8500", 8500),
        ("b = true and i = 8502", 8502),
        ("u8 = 42 and i = 8500", 8500),
        ("l is not missing and i = 8500", 8500),
    ] {
        for trust in [&[][..], &["--trust-statistics"]] {
            let args = [&["cat", PATH, "--no-header", "--columns", "i", "--where", condition], trust].concat();
            assert_eq!(good(&args), format!("{row}\n"), "{condition} {trust:?}");
        }
    }
}
