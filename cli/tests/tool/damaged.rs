//! Files and datasets in folders that are damaged: they are refused, and not left out.

use std::fs;
use std::path::Path;

use super::{bad, common, out, place, run};

const GOLDEN: &str = "../tests/golden/";

/// Each file by a name that the tool knows, with what is left of its bytes.
fn damaged(dir: &Path) -> Vec<String> {
    let jay = fs::read(format!("{GOLDEN}jay/alltypes_n5.jay")).unwrap();
    let vortex = fs::read(format!("{GOLDEN}vortex/def_temporal_a.vortex")).unwrap();
    let mut files = vec![("empty.jay", Vec::new()), ("empty.ds", Vec::new()), ("empty.vortex", Vec::new())];
    files.extend([
        ("zeroed.jay", [&[0; 64], &jay[64..]].concat()),
        ("middle.vortex", vortex[64..vortex.len() - 64].to_vec()),
    ]);
    files.extend([("garbled.DS", b"not a table, but binary\0".to_vec()), ("cut.blosc", vec![2, 1, 1])]);
    if cfg!(feature = "arrow") {
        files.extend([
            ("empty.parquet", Vec::new()),
            ("cut.parquet", b"PAR1 and no end".to_vec()),
            ("empty.arrow", Vec::new()),
        ]);
    }
    for (name, bytes) in &files {
        fs::write(dir.join(name), bytes).unwrap();
    }
    files.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn damaged_files_in_folders_are_refused() {
    let place = place("damaged_folder");
    let (old, new) = (place.join("old"), place.join("new"));
    fs::create_dir(&old).unwrap();
    let names = damaged(&old);
    fs::copy(format!("{GOLDEN}jay/alltypes_n5.jay"), old.join("good.jay")).unwrap();
    fs::write(old.join("notes.txt"), "no table").unwrap();
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    for call in [&["verify", old][..], &["convert", "--to", "csv", "--out-dir", new, old]] {
        let output = run(call);
        assert_eq!(output.status.code(), Some(1), "{call:?}");
        let errors = str::from_utf8(&output.stderr).unwrap();
        for name in &names {
            let line = errors.lines().find(|line| line.contains(&format!("/{name}: ")));
            let line = line.unwrap_or_else(|| panic!("{name} is not in {errors}"));
            assert!(!line.contains("--type ELEMENT"), "{line}");
        }
        assert_eq!(errors.lines().count(), names.len(), "{errors}");
        let said = out(&output);
        assert!(said.contains("; 1 of unknown format") && said.contains("notes.txt"), "{said}");
        let count = format!("{} {}", names.len(), if call[0] == "verify" { "bad" } else { "refused" });
        assert!(said.contains(&count), "{said}");
    }
    // A choice of formats holds for damaged files, too.
    let output = run(&["verify", "--only", "vortex", old]);
    let errors = str::from_utf8(&output.stderr).unwrap();
    assert!(errors.lines().count() == 2 && errors.lines().all(|line| line.contains(".vortex: ")), "{errors}");
}

#[test]
fn what_is_left_of_a_dataset_is_refused_as_a_whole() {
    let place = place("damaged_dataset");
    for (golden, lost) in [("bound_128", "meta"), ("ctable_basic", "__rootdirs__")] {
        let dir = place.join(golden);
        common::copy(format!("{GOLDEN}bcolz/{golden}").as_ref(), &dir);
        let lost = dir.join(lost);
        if lost.is_dir() { fs::remove_dir_all(lost).unwrap() } else { fs::remove_file(lost).unwrap() }
    }
    let top = place.to_str().unwrap();
    let new = format!("{top}/new");
    for call in [&["verify", top][..], &["convert", "--to", "csv", "--out-dir", &new, top]] {
        let output = run(call);
        assert_eq!(output.status.code(), Some(1), "{call:?}");
        let errors = str::from_utf8(&output.stderr).unwrap();
        for name in ["bound_128", "ctable_basic"] {
            assert!(errors.contains(&format!("/{name}: a directory, but no bcolz dataset")), "{errors}");
        }
        assert_eq!(errors.lines().count(), 2, "{errors}");
    }
    let alone = format!("{top}/bound_128");
    assert!(bad(1, &["verify", &alone]).contains("no bcolz dataset: it has neither __rootdirs__ nor meta/sizes"));
}
