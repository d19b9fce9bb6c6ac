//! Every body of `tests/harness` is a fuzz target, every fuzz target runs its body, and every body
//! takes the goldens without complaint.

mod common;
mod harness;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use harness::TARGETS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn names() -> BTreeSet<String> {
    TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[test]
fn the_table_has_every_body() {
    let dir = root().join("tests/harness");
    let mut bodies = BTreeSet::new();
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        // A body that needs more than a file is a folder.
        let file = if path.is_dir() { path.join("mod.rs") } else { path.clone() };
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name != "mod" && fs::read_to_string(file).is_ok_and(|text| text.contains("\npub fn run(data: &[u8])")) {
            bodies.insert(name);
        }
    }
    assert_eq!(bodies, names());
}

#[test]
fn every_body_has_its_target() {
    let manifest = text("fuzz/Cargo.toml");
    let value = |key: &str| -> BTreeSet<String> {
        let lines = manifest.split("[[bin]]").skip(1).flat_map(str::lines);
        lines
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned))
            .collect()
    };
    assert_eq!(value("name"), names(), "fuzz/Cargo.toml and the table of tests/harness/mod.rs");
    for name in names() {
        let path = format!("fuzz_targets/{name}.rs");
        assert!(value("path").contains(&path), "no {path} in fuzz/Cargo.toml");
        let call = format!("fuzz_target!(|data: &[u8]| harness::{name}::run(data));");
        assert!(text(&format!("fuzz/{path}")).contains(&call), "fuzz/{path} does not run its body");
    }
}

#[test]
fn every_format_has_a_dictionary() {
    for name in names() {
        let format = name.split('_').next().unwrap_or_default();
        if format != "bytes" {
            text(&format!("fuzz/dictionaries/{format}.dict"));
        }
    }
}

#[test]
fn bodies_take_the_goldens() {
    let goldens: Vec<Vec<u8>> =
        common::all().iter().filter(|golden| golden.path.is_file()).map(common::Golden::bytes).collect();
    for (_, body) in TARGETS {
        body(&[]);
        for bytes in &goldens {
            body(bytes);
            for first in 0..12 {
                body(&[&[first], &bytes[..bytes.len().min(4 << 10)]].concat());
            }
        }
    }
}
