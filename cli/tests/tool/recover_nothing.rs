//! `recover` of files of which nothing can be saved: status 1, and no target.

use super::*;

const GOLDEN: &str = "../tests/golden/";

/// Recovers a file of which nothing can be saved. Returns the error. The target must not exist, before and after.
fn refused(path: &str, to: &str) -> String {
    let output = run(&["recover", path, to]);
    let line = str::from_utf8(&output.stderr).unwrap();
    assert_eq!((output.status.code(), line.lines().count()), (Some(1), 1), "{output:?}");
    assert!(line.starts_with(&format!("pilaster: {path}: ")), "{line}");
    // The report has a line for each loss, and no line about the target.
    let is_loss = |line: &str| ["lost: ", "damaged: ", "left out: "].iter().any(|start| line.starts_with(start));
    assert!(out(&output).lines().all(is_loss), "{output:?}");
    assert!(fs::symlink_metadata(to).is_err(), "{to}");
    let parent = Path::new(to).parent().unwrap();
    let partial = |name: &str| name.starts_with(".pilaster-");
    assert!(fs::read_dir(parent).unwrap().all(|entry| !partial(entry.unwrap().file_name().to_str().unwrap())));
    line.trim_end().to_owned()
}

/// Writes a changed file to `place`.
fn changed(place: &Path, from: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = fs::read(from).unwrap();
    change(&mut bytes);
    let path = place.join("damaged").with_extension(Path::new(from).extension().unwrap());
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn path(place: &Path, name: &str) -> String {
    place.join(name).to_str().unwrap().to_owned()
}

#[test]
fn dataseries_without_an_intact_extent() {
    let place = place("nothing_ds");
    let (source, to) = (format!("{GOLDEN}dataseries/tiny.ds"), path(&place, "to.ds"));
    let extents = good(&["dump", &source]);
    let document: Value = serde_json::from_str(&extents).unwrap();
    let at = document["facts"]["extents"][1]["offset"].as_u64().unwrap() as usize;
    // The check value of the only extent with rows.
    let damaged = changed(&place, &source, |bytes| bytes[at + 16] ^= 1);
    assert!(refused(&damaged, &to).contains(": no row can be saved; "));
    // A target that exists stays as it is.
    fs::write(&to, "mine").unwrap();
    assert_eq!(run(&["recover", "--force", &damaged, &to]).status.code(), Some(1));
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    let output = run(&["recover", &damaged, "-"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

/// A file without rows has lost none.
#[test]
fn a_file_without_rows_is_recovered() {
    let place = place("nothing_empty");
    let source = format!("{GOLDEN}dataseries/tiny.ds");
    for extension in ["ds", "jay", "bcolz"] {
        let (empty, to) = (path(&place, &format!("empty.{extension}")), path(&place, &format!("to.{extension}")));
        good(&["convert", "--where", "d = 1e300", "--columns", "d", &source, &empty]);
        let said = good(&["recover", &empty, &to]);
        assert!(said.contains("0 rows in ") || said.contains("0 of 0 rows in 1 columns"), "{said}");
        assert_eq!(good(&["cat", &to]), good(&["cat", &empty]));
    }
    // Its index has no rows either.
    let damaged = changed(&place, &path(&place, "empty.ds"), |bytes| bytes.truncate(bytes.len() - 40));
    let said = good(&["recover", "--force", &damaged, &path(&place, "to.ds")]);
    assert!(said.contains("the index: no rows") && said.contains(": 0 rows in "), "{said}");
}

#[test]
fn jay_without_a_readable_value() {
    let place = place("nothing_jay");
    let (text, to) = (path(&place, "text.jay"), path(&place, "to.jay"));
    let source = format!("{GOLDEN}vortex/enc_fsst_a.vortex");
    good(&["convert", "--columns", "s", "--where", "s != ''", &source, &text]);
    let lines = good(&["cat", "--json-lines", &text]);
    let texts: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["s"].as_str().unwrap().to_owned())
        .collect();
    let all = texts.concat();
    // Makes some of the texts invalid.
    let damage = |len: usize| {
        changed(&place, &text, |bytes| {
            let at = (0..bytes.len() - all.len()).find(|at| &bytes[*at..][..all.len()] == all.as_bytes()).unwrap();
            bytes[at..at + len].fill(0xff);
        })
    };
    let line = refused(&damage(all.len()), &to);
    assert!(line.ends_with(&format!(": no value can be saved, of {} rows", texts.len())), "{line}");
    // One value is enough.
    let said = good(&["recover", &damage(all.len() - texts.last().unwrap().len()), &to]);
    assert!(said.ends_with(&format!("; lost: {} values\n", texts.len() - 1)), "{said}");
}

#[test]
fn vortex_without_a_readable_column() {
    let place = place("nothing_vortex");
    let source = format!("{GOLDEN}vortex/enc_fsst_a.vortex");
    let damaged = changed(&place, &source, |bytes| bytes[4..7000].fill(0xff));
    assert!(refused(&damaged, &path(&place, "to.jay")).ends_with(": no column can be saved"));
    // The one column that can be read is of bytes, which DataSeries stores.
    let said = good(&["recover", &damaged, &path(&place, "to.ds")]);
    assert!(said.contains("184 rows in 1 columns") && said.ends_with("; lost: 2 columns\n"), "{said}");
}

#[test]
fn bcolz_without_a_readable_row_or_column() {
    for (name, columns) in [("const", 1), ("ctable_basic", 2)] {
        let place = place(&format!("nothing_{name}"));
        let (dir, to) = (path(&place, "damaged"), path(&place, "to"));
        common::copy(format!("{GOLDEN}bcolz/{name}").as_ref(), dir.as_ref());
        let said = good(&["verify", &dir]);
        let rows = said.split_once(": ok, ").unwrap().1.split_once(' ').unwrap().0.to_owned();
        let arrays: Vec<PathBuf> = if columns == 1 {
            vec![PathBuf::from(&dir)]
        } else {
            let entries = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.join("meta").is_dir()).collect()
        };
        assert!(arrays.len() >= columns, "{arrays:?}");
        let chunks = |array: &PathBuf| fs::read_dir(array.join("data")).unwrap().map(|entry| entry.unwrap().path());
        arrays.iter().flat_map(chunks).for_each(|chunk| fs::write(chunk, b"junk").unwrap());
        let output = run(&["recover", &dir, &to]);
        let errors = str::from_utf8(&output.stderr).unwrap();
        assert_eq!((output.status.code(), out(&output)), (Some(1), ""), "{errors}");
        // Warnings about the chunks, then the error.
        let last = errors.lines().last().unwrap();
        let why = format!("{dir}: no row can be saved, of {rows}: none is readable in all columns");
        assert_eq!(last, format!("pilaster: {why}"));
        assert!(fs::symlink_metadata(&to).is_err());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "{place:?}");
        if columns > 1 {
            arrays.iter().for_each(|array| fs::write(array.join("meta/sizes"), b"junk").unwrap());
            let output = run(&["recover", &dir, &to]);
            let errors = str::from_utf8(&output.stderr).unwrap();
            assert!(output.status.code() == Some(1) && errors.ends_with(": no column can be read\n"), "{errors}");
            assert!(fs::symlink_metadata(&to).is_err());
        }
    }
}

#[test]
fn the_help_of_recover_has_its_exit_status() {
    let help = good(&["recover", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("Exit status: 0 if rows were saved, also if others are lost"), "{help}");
    assert!(help.contains("1 if nothing can be saved, and then no TARGET is written"), "{help}");
}
