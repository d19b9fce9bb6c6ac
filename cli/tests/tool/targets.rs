//! The file that `convert` and `recover` write: what it may replace, and what is left of it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{bad, failed, good, out, pilaster, place, run, run_on};

const SOURCE: &str = "../tests/golden/dataseries/tiny.ds";
const OTHER: &str = "../tests/golden/dataseries/tiny_be.ds";

/// Returns a Filo vector of one Int, `rows` times: as many rows as a test needs, in 12 bytes.
fn sevens(rows: u32) -> Vec<u8> {
    [[6, 6, 0, 0], rows.to_le_bytes(), [7, 0, 0, 0]].concat()
}

fn path(place: &Path, name: &str) -> String {
    place.join(name).to_str().unwrap().to_owned()
}

fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_that_exists_is_replaced_by_force_only() {
    let place = place("target_exists");
    let (a, mine) = (path(&place, "a.ds"), path(&place, "mine"));
    for verb in ["convert", "recover"] {
        fs::write(&mine, "mine").unwrap();
        let why = bad(2, &[verb, "--format", "dataseries", SOURCE, &mine]);
        assert!(why.ends_with("mine exists; --force replaces it"), "{why}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
        fs::write(&a, "mine").unwrap();
        assert!(bad(2, &[verb, SOURCE, &a]).ends_with("a.ds exists; --force replaces it"));
        assert_eq!(fs::read(&a).unwrap(), b"mine");
        good(&[verb, "--force", SOURCE, &a]);
        assert!(good(&["verify", &a]).contains(": ok, "));
    }
    assert_eq!(names(&place), ["a.ds", "mine"]);
}

#[test]
fn source_and_target_are_the_same_file_by_force_only() {
    let place = place("target_same");
    let (a, link) = (path(&place, "a.ds"), path(&place, "link.ds"));
    fs::copy(OTHER, &a).unwrap();
    symlink("a.ds", &link).unwrap();
    let before = fs::read(&a).unwrap();
    for target in [&a, &link] {
        for verb in ["convert", "recover"] {
            assert!(bad(2, &[verb, &a, target]).contains("exists; --force replaces it"));
            assert_eq!(fs::read(&a).unwrap(), before);
        }
    }
    good(&["convert", "--force", "--order", "little", &a, &a]);
    assert!(good(&["verify", &a]).contains("dataseries little"));
    good(&["convert", "--force", "--order", "big", &link, &link]);
    assert!(good(&["verify", &a]).contains("dataseries big"));
}

#[test]
fn permissions_are_kept_and_those_of_new_files_are_the_usual_ones() {
    let place = place("target_permissions");
    let (a, usual) = (path(&place, "a.ds"), path(&place, "usual"));
    fs::write(&usual, "").unwrap();
    good(&["convert", SOURCE, &a]);
    assert_eq!(mode(&a), mode(&usual));
    for kept in [0o600, 0o640, 0o444, 0o666] {
        fs::set_permissions(&a, fs::Permissions::from_mode(kept)).unwrap();
        good(&["convert", "--force", SOURCE, &a]);
        assert_eq!(mode(&a), kept);
    }
    let (dataset, dir) = (path(&place, "a.bcolz"), path(&place, "dir"));
    fs::create_dir(&dir).unwrap();
    good(&["convert", "--fill-missing", SOURCE, &dataset]);
    assert_eq!(mode(&dataset), mode(&dir));
}

#[test]
fn no_file_of_a_predictable_name_is_touched() {
    let place = place("target_partial");
    let (a, victim) = (path(&place, "a.ds"), path(&place, "victim"));
    fs::write(&victim, "mine").unwrap();
    for link in ["a.ds.partial", "a.ds.tmp", ".a.ds"] {
        symlink("victim", place.join(link)).unwrap();
    }
    good(&["convert", SOURCE, &a]);
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
    assert_eq!(names(&place), [".a.ds", "a.ds", "a.ds.partial", "a.ds.tmp", "victim"]);
}

#[test]
fn a_link_stays_and_the_file_that_it_names_is_replaced() {
    let (place, elsewhere) = (place("target_link"), place("target_link_elsewhere"));
    let (link, file) = (path(&place, "link.ds"), path(&elsewhere, "file.ds"));
    fs::write(&file, "mine").unwrap();
    symlink(&file, &link).unwrap();
    assert!(bad(2, &["convert", SOURCE, &link]).contains("exists; --force replaces it"));
    good(&["convert", "--force", SOURCE, &link]);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new(&file));
    assert!(good(&["verify", &file]).contains(": ok, "));
    assert_eq!((names(&place), names(&elsewhere)), (vec!["link.ds".to_owned()], vec!["file.ds".to_owned()]));
}

#[test]
fn what_is_no_plain_file_is_refused_even_by_force() {
    let place = place("target_kinds");
    let (dir, fifo, nowhere) = (path(&place, "dir.ds"), path(&place, "fifo.ds"), path(&place, "nowhere.ds"));
    let (to_dir, to_device) = (path(&place, "to_dir.ds"), path(&place, "to_device.ds"));
    fs::create_dir(&dir).unwrap();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    symlink("not-there", &nowhere).unwrap();
    symlink("dir.ds", &to_dir).unwrap();
    symlink("/dev/null", &to_device).unwrap();
    for (target, why) in [
        (dir.as_str(), "is a directory, which is not replaced (- is standard output)"),
        (&to_dir, "is a directory, which"),
        (&fifo, "is no plain file, which"),
        (&to_device, "is no plain file, which"),
        ("/dev/null", "is no plain file, which"),
        (&nowhere, "is a link to a file that does not exist"),
    ] {
        for verb in ["convert", "recover"] {
            let line = bad(2, &[verb, "--force", "--format", "dataseries", SOURCE, target]);
            assert!(line.contains(why), "{verb}: {line}");
        }
    }
    assert_eq!(names(&place), ["dir.ds", "fifo.ds", "nowhere.ds", "to_device.ds", "to_dir.ds"]);
    // A dataset is never written over anything.
    let line = bad(2, &["convert", "--force", "--to", "bcolz", "--fill-missing", SOURCE, &dir]);
    assert!(line.contains("dir.ds exists; a dataset is written to a new directory: remove this one"), "{line}");
}

#[test]
fn a_dash_is_standard_output() {
    let place = place("target_dash");
    let a = path(&place, "a.ds");
    good(&["convert", SOURCE, &a]);
    for verb in ["convert", "recover"] {
        let output = pilaster().args([verb, &a, "-"]).current_dir(&place).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let report = str::from_utf8(&output.stderr).unwrap();
        assert!(report.starts_with("-: ") && report.contains(" bytes"), "the report is beside it: {report}");
        assert!(out(&run_on(&["verify", "-"], &output.stdout)).contains("-: ok, 2 rows"));
    }
    assert_eq!(names(&place), ["a.ds"], "no file is called -");
    let why = bad(2, &["convert", "--to", "bcolz", SOURCE, "-"]);
    assert!(why.contains("a bcolz dataset is a directory, which standard output cannot take"), "{why}");
}

#[test]
fn standard_output_that_is_full_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for args in [&["cat", SOURCE][..], &["verify", SOURCE], &["convert", SOURCE, "-"], &["--version"]] {
        let full = fs::File::create("/dev/full").unwrap();
        let output = pilaster().args(args).stdout(full).output().unwrap();
        assert!(failed(1, &output).starts_with("pilaster: standard output: No space left"), "{args:?}");
    }
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let place = place("target_pipe");
    let many = path(&place, "many.filo");
    fs::write(&many, sevens(1_000_000)).unwrap();
    for args in [&["cat", "--type", "int", &many][..], &["convert", "--type", "int", "--to", "jay", &many, "-"]] {
        let mut child = pilaster().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
}

#[test]
fn nothing_is_left_after_an_error() {
    let place = place("target_error");
    let damaged = "../tests/golden/dataseries/damaged/payload_flip.ds";
    for name in ["a.ds", "a.jay", "a.bcolz"] {
        run(&["convert", damaged, &path(&place, name)]);
        assert!(names(&place).is_empty(), "{name}");
    }
    let kept = path(&place, "kept.ds");
    fs::write(&kept, "mine").unwrap();
    bad(1, &["convert", "--force", damaged, &kept]);
    assert_eq!((names(&place), fs::read(&kept).unwrap()), (vec!["kept.ds".to_owned()], b"mine".to_vec()));
}

#[test]
fn sigint_and_sigterm_leave_nothing() {
    let place = place("target_signal");
    let (sources, many) = (crate::place("target_signal_source"), "many.filo");
    let many = path(&sources, many);
    fs::write(&many, sevens(2_000_000_000)).unwrap();
    for (signal, name) in [(15, "a.ds"), (2, "a.ds"), (15, "a.bcolz"), (2, "a.bcolz")] {
        let target = path(&place, name);
        let mut child = pilaster().args(["convert", "--type", "int", &many, &target]).spawn().unwrap();
        // It is at work as soon as there is something to remove.
        let start = Instant::now();
        while names(&place).is_empty() && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(names(&place).iter().all(|name| name.starts_with(".pilaster-") && name.ends_with(".partial")));
        std::thread::sleep(Duration::from_millis(100));
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().signal(), Some(signal), "{name}");
        assert!(names(&place).is_empty(), "{name}: {:?}", names(&place));
    }
}

#[test]
fn each_temporary_file_is_new_and_private() {
    let (place, sources) = (place("target_private"), crate::place("target_private_source"));
    let (many, target) = (path(&sources, "many.filo"), path(&place, "a.ds"));
    fs::write(&many, sevens(2_000_000_000)).unwrap();
    fs::write(&target, "mine").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut child = pilaster().args(["convert", "--force", "--type", "int", &many, &target]).spawn().unwrap();
        let start = Instant::now();
        while names(&place).len() < 2 && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let temporary = place.join(&names(&place)[0]);
        assert_eq!(mode(&temporary), 0o600, "as private as the file that it replaces");
        assert_eq!(fs::metadata(&temporary).unwrap().nlink(), 1);
        seen.push(temporary.clone());
        child.kill().unwrap();
        child.wait().unwrap();
        // Nothing can be removed on SIGKILL.
        fs::remove_file(temporary).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"mine");
    }
    assert_ne!(seen[0], seen[1]);
}

/// The directory of the target is missing: the message is about the target, not about the source.
#[test]
fn a_target_in_no_directory_is_named() {
    let place = place("no_directory");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::write(path("file"), "").unwrap();
    for (command, source) in [("convert", "jay/view_slice.jay"), ("recover", "dataseries/doublebase.ds")] {
        let source = format!("../tests/golden/{source}");
        for (target, why) in [("no/b.ds", "the directory "), ("file/b.ds", "/file is not a directory")] {
            let line = bad(1, &[command, &source, &path(target)]);
            assert!(line.starts_with(&format!("pilaster: {}: cannot be written: ", path(target))), "{line}");
            assert!(line.contains(why) && !line.contains(".partial"), "{line}");
        }
    }
    let line = bad(1, &["convert", "../tests/golden/jay/view_slice.jay", &path("no/b.bcolz")]);
    assert!(line.ends_with(&format!("cannot be written: the directory {} does not exist", path("no"))), "{line}");
    // The system has a directory in which no file can be created.
    if cfg!(target_os = "linux") {
        let line = bad(1, &["convert", "../tests/golden/jay/view_slice.jay", "/proc/b.ds"]);
        assert!(line.starts_with("pilaster: /proc/b.ds: cannot be written: ") && !line.contains(".partial"), "{line}");
    }
}

/// One row takes more memory than a batch has at first: standard output receives the file once.
#[test]
fn a_large_row_is_written_to_standard_output_once() {
    use pilaster::bcolz::write::{FileSystem, Spec, Writer};

    // The first column is longer than what is buffered, and a text is longer than a batch.
    const FIRST: usize = 100_000;
    const LONG: usize = 1_500_000;
    let dataset = crate::target("large_row.bcolz");
    let mut writer = Writer::create_table(FileSystem::default(), &dataset, b"{}").unwrap();
    for (name, dtype) in [("first", format!("S{FIRST}")), ("long", format!("U{LONG}"))] {
        writer.add(name, &Spec { chunklen: Some(2), ..Spec::new(&dtype) }).unwrap();
    }
    writer.put(0, &[b'x'; 2 * FIRST]).unwrap();
    writer.put(1, &u32::from(b'y').to_le_bytes().repeat(2 * LONG)).unwrap();
    writer.finish().unwrap();
    let to = crate::target("large_row.jay");
    good(&["convert", &dataset, &to, "--bytes-as-text"]);
    let output = run(&["convert", &dataset, "-", "--format-out", "jay", "--bytes-as-text"]);
    assert_eq!(output.status.code(), Some(0), "{:?}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == fs::read(&to).unwrap(), "{} bytes", output.stdout.len());
}

/// Between DataSeries files, too, a choice of columns is one, and types are changed.
#[test]
fn a_choice_is_the_same_for_every_target() {
    const SOURCE: &str = "../tests/golden/dataseries/all_types_auto.ds";
    for extension in ["ds", "jay", "vortex", "bcolz"] {
        let to = crate::target(&format!("chosen.{extension}"));
        good(&["convert", SOURCE, &to, "--columns", "y0,b0"]);
        assert!(good(&["cat", "--rows", "1", &to]).starts_with("y0,b0\n"), "{extension}");
    }
    assert!(bad(2, &["convert", SOURCE, &crate::target("plain.ds"), "--columns", "v0", "--plain"]).contains("--plain"));
}

#[test]
fn bytes_are_written_as_strings() {
    const SOURCE: &str = "../tests/golden/dataseries/all_types_auto.ds";
    for extension in ["jay", "vortex", "bcolz"] {
        let to = crate::target(&format!("strings.{extension}"));
        good(&["convert", SOURCE, &to, "--columns", "v0,v1", "--bytes-as-text", "--fill-missing"]);
        assert!(good(&["info", &to]).contains(" string"), "{extension}");
        assert!(good(&["cat", "--rows", "2", &to]).contains("\nabcd,k5\nabcdef,"), "{extension}");
        // A hash is not valid UTF-8.
        let line = bad(
            1,
            &["convert", SOURCE, &crate::target("no"), "--format-out", extension, "--columns", "w0", "--bytes-as-text"],
        );
        assert!(line.contains("column w0 (string)") && line.contains("not UTF-8"), "{extension}: {line}");
    }
}
