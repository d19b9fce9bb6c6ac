//! The golden files, found by walking their folder: nothing is registered.

#![allow(dead_code, reason = "each test takes a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// A file (or, for bcolz, a directory) with an expectation beside it.
pub struct Golden {
    /// `filo/bin_double`: the path below `tests/golden`, without extension.
    pub name: String,
    /// `filo`: the folder.
    pub format: String,
    pub path: PathBuf,
    pub expected: serde_json::Value,
}

impl Golden {
    /// The bytes of a single file.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap_or_else(|e| panic!("{}: {e}", self.path.display()))
    }

    /// A string under `facts`.
    pub fn fact(&self, key: &str) -> &str {
        self.expected["facts"][key].as_str().unwrap_or_else(|| panic!("{}: no fact {key}", self.name))
    }
}

/// Every golden, in the order of its name.
pub fn all() -> Vec<Golden> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let found = below(&root);
    assert!(!found.is_empty(), "no golden files under {}", root.display());
    found
}

/// Every file with an expectation below `root`, in the order of its name.
pub fn below(root: &Path) -> Vec<Golden> {
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The goldens of one format.
pub fn of(format: &str) -> Vec<Golden> {
    all().into_iter().filter(|golden| golden.format == format).collect()
}

/// Inputs of the fuzz bodies of DataSeries made from the golden file `bytes`, each with the name of its
/// body: the file, and what follows its header, its index and its trailer, behind a byte of flags.
pub fn dataseries_inputs(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let big = bytes.get(4) == Some(&0x12);
    let flagged = |rest: &[u8]| [&[u8::from(big)], rest].concat();
    let mut inputs = vec![("dataseries_file", bytes.to_vec()), ("dataseries_header", bytes.to_vec())];
    inputs.push(("dataseries_recover", bytes.to_vec()));
    inputs.push(("dataseries_roundtrip", bytes.get(40..).unwrap_or_default().to_vec()));
    inputs.push(("dataseries_log", bytes.get(40..).unwrap_or_default().to_vec()));
    inputs.push(("dataseries_extent", flagged(bytes.get(40..).unwrap_or_default())));
    let Some(trailer) = bytes.last_chunk::<28>() else { return inputs };
    inputs.push(("dataseries_trailer", flagged(trailer)));
    let size = trailer[4..8].try_into().expect("four bytes");
    let size = if big { u32::from_be_bytes(size) } else { u32::from_le_bytes(size) };
    let at = bytes.len().saturating_sub(28).checked_sub(size as usize);
    inputs.push(("dataseries_index", flagged(&bytes[at.unwrap_or_default()..])));
    inputs
}

/// The descriptions of the types of a golden DataSeries file.
pub fn dataseries_documents(golden: &Golden) -> Vec<Vec<u8>> {
    let types = golden.expected["facts"]["types"].as_array();
    types.into_iter().flatten().filter_map(|ty| Some(ty["xml"].as_str()?.as_bytes().to_vec())).collect()
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<Golden>) {
    let entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in &entries {
        let file_name = path.file_name().unwrap().to_str().expect("a name in UTF-8");
        let Some(stem) = file_name.strip_suffix(".expected.json") else {
            if path.is_dir() {
                walk(root, path, found);
            }
            continue;
        };
        let text = fs::read_to_string(path).unwrap();
        let expected: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = dir.join(expected["file"].as_str().unwrap_or(stem));
        assert!(file.exists(), "{} has no file beside it", path.display());
        let name = dir.strip_prefix(root).unwrap().join(stem).to_str().unwrap().replace('\\', "/");
        let format = name.split('/').next().unwrap_or_default().to_owned();
        found.push(Golden { name, format, path: file, expected });
    }
}
