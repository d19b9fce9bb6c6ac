//! Arrows between the modules point down only: this reads the paths that begin with `crate::` and
//! fails on an upward or sideways one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common;

/// The modules of the crate: layer, and the neighbours in the same layer that they may use.
const MODULES: &[(&str, u8, &[&str])] = &[
    ("error", 0, &[]),
    ("bytes", 0, &["error"]),
    ("hash", 0, &["error", "bytes", "simd"]),
    ("limits", 0, &["error"]),
    ("simd", 0, &["bytes"]),
    ("meta", 1, &[]),
    ("codec", 1, &[]),
    ("encoding", 1, &["codec"]),
    ("generated", 1, &["meta"]),
    ("column", 2, &[]),
    ("filo", 3, &[]),
    ("dataseries", 3, &[]),
    ("jay", 3, &[]),
    ("bcolz", 3, &[]),
    ("vortex", 3, &[]),
    ("any", 4, &[]),
    ("names", 4, &["any"]),
];

/// What the crate's root hands on under a shorter name, and macros, which lie at the root.
const AT_THE_ROOT: &[(&str, &str)] =
    &[("Error", "error"), ("Result", "error"), ("__dataseries_record", "dataseries"), ("__vortex_record", "vortex")];

#[test]
fn arrows_point_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut edges = 0;
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        let module = inside.split('/').next().unwrap().trim_end_matches(".rs");
        // The root and `unstable` declare modules and hand on names.
        if matches!(module, "lib" | "unstable") {
            continue;
        }
        let used = used(&fs::read_to_string(&file).unwrap());
        edges += used.len();
        wrong.extend(violations(module, &used).into_iter().map(|why| format!("src/{inside}: {why}")));
    }
    assert!(edges > 10, "only {edges} edges found: the checker is blind");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Each module of the tool can be read after those that it uses.
#[test]
fn modules_of_the_tool_form_no_cycle() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/src");
    let module = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    let read = |file: &PathBuf| (module(file), used(&fs::read_to_string(file).unwrap()));
    let mut left: BTreeMap<_, _> = sources(&src).iter().map(read).collect();
    assert!(left.len() > 20 && left.values().any(|used| used.contains("open")), "the checker is blind");
    let ready = |left: &BTreeMap<String, BTreeSet<String>>| {
        let is_ready =
            |(name, used): &(&String, &BTreeSet<String>)| used.iter().all(|u| u == *name || !left.contains_key(u));
        left.iter().find(is_ready).map(|(name, _)| name.clone())
    };
    while let Some(name) = ready(&left) {
        left.remove(&name);
    }
    assert!(left.is_empty(), "a cycle in, or below, {:?}", left.keys());
}

#[test]
fn a_planted_violation_is_caught() {
    let bad = |module, text: &str| !violations(module, &used(text)).is_empty();
    assert!(bad("column", "use crate::filo::Vector;"), "upward");
    assert!(bad("filo", "use crate::jay::File;"), "sideways between formats");
    assert!(bad("filo", "fn f(a: crate::vortex::File) {}"), "a path outside of a use");
    assert!(bad("codec", "use crate::{bytes::Reader, error::{Error, Kind}, column::Type};"), "in a group");
    assert!(bad("encoding", "use crate::{\n    bytes::Reader,\n    column::Type,\n};"), "over lines");
    assert!(bad("bytes", "use crate::limits::Limits;"), "sideways in layer 0");
    assert!(bad("nobody", "use crate::error::Error;"), "a module without a layer");
    assert!(bad("filo", "use crate::nobody::Error;"), "a target without a layer");
    assert!(bad("bytes", "use crate::*;"), "everything at once");

    assert!(!bad("filo", "use crate::column::{Type, Unit};\nuse crate::{Result, error::Kind, filo::raw};"));
    assert!(!bad("generated", "use crate::meta::flat::Table;"));
    assert!(!bad("bytes", "//! [`Column`](crate::column::Column)\n/// use crate::filo::Vector;"), "prose");
}

/// Why the `used` modules are not for `module`.
fn violations(module: &str, used: &BTreeSet<String>) -> Vec<String> {
    let layer = |name: &str| MODULES.iter().find(|(known, ..)| *known == name);
    let Some((_, from, neighbours)) = layer(module) else {
        return vec![format!("module {module} has no layer: give it a line in tests/suite/layering.rs")];
    };
    let mut why = Vec::new();
    for name in used {
        let name = AT_THE_ROOT.iter().find(|(short, _)| short == name).map_or(name.as_str(), |(_, long)| long);
        match layer(name) {
            _ if name == module => {}
            None => why.push(format!("uses `crate::{name}`, which has no layer")),
            Some((_, to, _)) if to > from => why.push(format!("layer {from} uses `crate::{name}` of layer {to}")),
            Some((_, to, _)) if to == from && !neighbours.contains(&name) => {
                why.push(format!("uses its neighbour `crate::{name}`"));
            }
            Some(_) => {}
        }
    }
    why
}

/// The first names after every `crate::` of a source text, without comments.
fn used(source: &str) -> BTreeSet<String> {
    let code: String = source.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` and `pilaster_crate::` are no paths of ours.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(heads(group)),
            None => {
                names.insert(head(rest));
            }
        }
    }
    names
}

/// The first name of a path.
fn head(path: &str) -> String {
    let path = path.trim_start();
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '*')).unwrap_or(path.len());
    path[..end].to_owned()
}

/// The first names of the paths of a group, up to its closing brace.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut start) = (1, Vec::new(), true);
    for (at, c) in group.char_indices() {
        if start && depth == 1 && !c.is_whitespace() && c != '}' {
            names.push(head(&group[at..]));
            start = false;
        }
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => start = true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    common::files(dir).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The bridges and the tool have no `unsafe` either, except in one file.
#[test]
fn one_file_of_a_bridge_has_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["cli/src", "bridges/arrow/src", "bridges/c/src", "bridges/sql/src", "bridges/python/src"] {
        for file in sources(&root.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            if code.flat_map(str::split_whitespace).any(|word| word == "unsafe") {
                found.push(file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    assert_eq!(found, ["bridges/c/src/raw.rs", "bridges/python/src/raw.rs"], "ARCHITECTURE.md names the files");
}
