//! Every body of `tests/harness` is a fuzz target, every fuzz target runs its body, and every body
//! takes the goldens without complaint.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pilaster::unstable::hash::adler32;

use crate::common;
use crate::harness::{self, TARGETS};

/// The targets whose bodies lie in the tests of a bridge, which the library does not depend on.
const OF_BRIDGES: [&str; 3] = ["arrow_arrays", "arrow_batches", "arrow_input"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn names() -> BTreeSet<String> {
    TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// The bodies that read their input. For the others, which make files of it, `generate.rs` has inputs.
fn of_bytes() -> impl Iterator<Item = &'static (&'static str, harness::Body)> {
    TARGETS.iter().filter(|(name, _)| !name.ends_with("_made") && !name.ends_with("_written"))
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
    // The others are made by a macro; the table names none that is not there.
    assert!(bodies.len() > 38 && bodies.is_subset(&names()), "{:?}", bodies.difference(&names()));
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
    let own: BTreeSet<_> = names().into_iter().chain(OF_BRIDGES.map(str::to_owned)).collect();
    assert_eq!(value("name"), own, "fuzz/Cargo.toml, the table of tests/harness/mod.rs, and the bridges");
    for name in own {
        let path = format!("fuzz_targets/{name}.rs");
        assert!(value("path").contains(&path), "no {path} in fuzz/Cargo.toml");
        let place = if OF_BRIDGES.contains(&name.as_str()) { "pilaster_fuzz" } else { "harness" };
        let call = format!("fuzz_target!(|data: &[u8]| {place}::{name}::run(data));");
        assert!(text(&format!("fuzz/{path}")).contains(&call), "fuzz/{path} does not run its body");
    }
}

#[test]
fn every_format_has_a_dictionary() {
    for name in names() {
        let format = name.split('_').next().unwrap_or_default();
        if format != "bytes" && format != "any" {
            text(&format!("fuzz/dictionaries/{format}.dict"));
        }
    }
}

#[test]
fn bodies_take_the_goldens() {
    let goldens = common::all();
    for (name, body) in of_bytes() {
        body(&[]);
        for golden in goldens.iter().filter(|golden| golden.path.is_file()) {
            let bytes = golden.bytes();
            body(&bytes);
            // A byte in front picks the element type.
            if name.starts_with(&golden.format) {
                (0..10).for_each(|first| body(&[&[first], &bytes[..]].concat()));
            }
        }
    }
}

/// The seed corpus belongs to the targets, is small, and is taken by every body.
#[test]
fn bodies_take_their_seeds() {
    let mut size = 0;
    for entry in fs::read_dir(root().join("fuzz/corpus-seed")).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        // Their bodies, and the tests that read their seeds, belong to the bridges.
        if OF_BRIDGES.iter().chain(&["c_wild"]).any(|known| name == *known) {
            continue;
        }
        let found = TARGETS.iter().find(|(target, _)| name == *target);
        let (_, body) = found.unwrap_or_else(|| panic!("{name:?} is no target"));
        for input in fs::read_dir(entry.path()).unwrap().map(Result::unwrap) {
            let bytes = fs::read(input.path()).unwrap();
            size += bytes.len();
            body(&bytes);
        }
    }
    assert!((1 << 19..=4 << 20).contains(&size), "{size} bytes");
}

/// Bodies that put their input into a file of their own take the part that it has.
#[test]
fn parts_of_files_are_sound() {
    let layout = harness::vortex_layout::seed();
    harness::vortex_layout::run(layout);
    for at in 0..layout.len() {
        let mut other = layout.to_vec();
        for change in [1, 0x80, 0xff] {
            other[at] = layout[at] ^ change;
            harness::vortex_layout::run(&other);
        }
    }
    for encoding in 0..harness::vortex_array::IDS.len() as u8 {
        for (ty, metadata) in (0..=10)
            .zip([&[][..], &[8, 1], &[8, 3, 16, 2], &[10, 2, 8, 1], &[24, 6], &[26, 2, 8, 1]].into_iter().cycle())
        {
            for kinds in [0, 0x55, 0xaa, 0xff, 0x1b] {
                let head = [encoding, ty, kinds, ty % 6, kinds, metadata.len() as u8];
                harness::vortex_metadata::run(&[&head[..], metadata, &[0x18; 256]].concat());
            }
        }
    }
}

/// Golden datasets as inputs of their body: complete, cut, with files left out, and with changed bytes.
#[test]
fn datasets_that_are_damaged() {
    let mut count = 0;
    for golden in common::of("bcolz").into_iter().filter(|golden| golden.path.is_dir()) {
        let files = common::files(&golden.path).into_iter().map(|path| {
            let name = path.strip_prefix(&golden.path).unwrap().to_str().unwrap().replace('\\', "/");
            (name, fs::read(path).unwrap())
        });
        // The columns are called as the body calls its directories.
        let names =
            golden.expected["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap());
        let names: Vec<&str> = names.collect();
        let short = |text: &str| {
            let pairs = names.iter().zip(["a", "b", "c"]).filter(|(name, _)| !name.is_empty());
            pairs.fold(text.to_owned(), |text, (name, short)| match text.strip_prefix(&format!("{name}/")) {
                Some(rest) => format!("{short}/{rest}"),
                None => text.replace(&format!("\"{name}\""), &format!("\"{short}\"")),
            })
        };
        let files = files.map(|(name, bytes)| match &name[..] {
            "__rootdirs__" => (name, short(str::from_utf8(&bytes).unwrap()).into_bytes()),
            _ => (short(&name), bytes),
        });
        let files: Vec<(String, Vec<u8>)> = files.collect();
        let pack = |left_out: usize| {
            let kept = files.iter().enumerate().filter(|(k, _)| *k != left_out);
            harness::bcolz_dataset::pack(kept.map(|(_, (name, bytes))| (&name[..], &bytes[..])))
        };
        let Some(whole) = pack(usize::MAX).filter(|whole| whole.len() < 4096) else { continue };
        count += 1;
        harness::bcolz_dataset::run(&whole);
        (0..files.len()).for_each(|k| harness::bcolz_dataset::run(&pack(k).unwrap()));
        let steps = env::var("PILASTER_SAMPLE").map_or(30, |n| n.parse().expect("a number"));
        for at in (0..whole.len()).step_by((whole.len() / steps).max(1)) {
            harness::bcolz_dataset::run(&whole[..at]);
            for change in [1, 0x10, 0xff] {
                let mut other = whole.clone();
                other[at] ^= change;
                harness::bcolz_dataset::run(&other);
            }
        }
    }
    assert!(count > 40, "{count} datasets are small enough");
}

/// Inputs without structure, the same in each run: what ten seconds of fuzzing begin with.
#[test]
fn bodies_take_noise() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = [0; 400];
    let rounds = env::var("PILASTER_SAMPLE").map_or(2000, |n| n.parse().expect("a number"));
    for round in 0..rounds {
        for byte in &mut noise {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            *byte = (state >> 56) as u8 & [0xff, 0x0f, 0x81][round % 3];
        }
        for (_, body) in of_bytes() {
            body(&noise[..round % noise.len()]);
        }
    }
}

/// Inputs that fuzzing found, and what they did.
const FOUND: &[(&str, &[u8], &str)] = &[
    (
        "filo_roundtrip",
        &[
            49, 49, 38, 49, 3, 49, 49, 49, 49, 73, 73, 73, 73, 73, 73, 73, 73, 6, 6, 52, 52, 52, 52, 5, 1, 255, 255, 0,
            0, 1, 0, 1, 0, 0, 4, 49, 49, 49, 49, 56, 251, 7, 0,
        ],
        "a missing row's zone, (0 - base) cut to 16 bits, was too large for a batch to be read",
    ),
    (
        "filo_roundtrip",
        &[251, 254, 0, 32, 254, 44, 255, 243, 0, 16, 0, 1, 20, 0, 45, 0, 0, 0, 0, 14, 0, 28, 0, 0],
        "a line that is too steep for the original is the smallest encoding, and not chosen",
    ),
    (
        "filo_damage",
        &[4, 60, 112, 6, 6, 3, 0, 0, 2, 126, 97, 1, 98, 1, 99, 1, 100, 39, 17, 39, 101, 1, 17, 102, 1, 0, 1, 1, 104],
        "instants can be read whose zones are too large",
    ),
    (
        "flat",
        &[
            16, 0, 0, 0, 12, 0, 20, 0, 12, 0, 16, 0, 6, 0, 8, 0, 12, 0, 0, 0, 64, 0, 255, 255, 255, 255, 0, 0, 12, 0,
            0, 0, 4, 0, 0, 0, 24, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 12, 0, 11, 0, 4, 0, 8, 0, 0, 0, 0,
            0, 0, 0, 8, 0, 0, 1, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
        ],
        "only the view accepts a union's table whose vtable lies before the table that leads to it",
    ),
];

#[test]
fn what_fuzzing_found_stays_mended() {
    for (target, input, story) in FOUND {
        println!("{target}: {story}");
        let (_, body) = TARGETS.iter().find(|(name, _)| name == target).expect("a target");
        body(input);
    }
}

/// Found by fuzzing, where checksums are not compared: verifying stops at the first extent that requires too
/// much memory, whatever is wrong after it.
#[test]
fn too_large_an_extent_before_one_that_is_wrong() {
    let path = root().join("tests/golden/dataseries/all_types_bz2_be.ds");
    let mut file = fs::read(path).expect("a golden");
    // The first extent holds the types. Of the second a byte of the number of rows, and the sum (section 3.1).
    let (second, third) = (356, 2152);
    file[second + 8] = 1;
    let covered = [&file[second..second + 16], &file[second + 20..third]].concat();
    file[second + 16..second + 20].copy_from_slice(&adler32(&covered).to_be_bytes());
    file[third] ^= 0xff;
    assert_eq!(harness::dataseries_file::read(&file), 4, "by the index and from the front, with checks and without");
}
