//! The golden files, found by walking their folder: nothing is registered.

#![allow(dead_code, reason = "each test takes a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A point in the CPU time of this thread, which does not depend on what else the machine does. Where the system does not
/// tell it, no time passes: then only work without an end is noticed.
pub struct CpuTime(Duration);

impl CpuTime {
    pub fn now() -> Self {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
        CpuTime(nanos.map_or(Duration::ZERO, Duration::from_nanos))
    }

    pub fn elapsed(&self) -> Duration {
        CpuTime::now().0 - self.0
    }
}

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

    /// Whether the file has this extension.
    pub fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|own| own == extension)
    }

    /// Whether `any` opens the file. A damaged file, an array that was cut out of a file, a file without its type, and
    /// one with an encoding that is not decoded are only for the reader of their format.
    pub fn by_any(&self) -> bool {
        let damaged = matches!(self.expected["expect"].as_str(), Some("error" | "either"))
            || self.expected["reference_verdict"].is_object();
        let apart = !self.expected["facts"]["open_without_dtype"].is_null() || self.is("varr");
        !damaged && !apart
    }

    /// A string under `facts`.
    pub fn fact(&self, key: &str) -> &str {
        self.expected["facts"][key].as_str().unwrap_or_else(|| panic!("{}: no fact {key}", self.name))
    }
}

/// Returns the files below a folder, in the order of their paths.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

/// Copies a folder, which then can be written to.
pub fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let to = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, fs::read(path).unwrap()).unwrap();
    }
}

/// The folder for files that tests write: cargo's, or `PILASTER_TMP`, for example one in memory, where durable files take
/// no time.
pub fn tmp() -> PathBuf {
    std::env::var_os("PILASTER_TMP").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// Every golden, in the order of its name.
pub fn all() -> Vec<Golden> {
    // The tool's tests share this file; their package lies in a folder of the repository.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("tests/golden"));
    let root = folders.find(|dir| dir.is_dir()).expect("a folder of golden files");
    let found = below(&root);
    assert!(!found.is_empty(), "no golden files under {}", root.display());
    found
}

/// Every file with an expectation below `root`, in the order of its name.
pub fn below(root: &Path) -> Vec<Golden> {
    let mut found: Vec<_> = files(root).iter().filter_map(|path| golden(root, path)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The goldens that lie in the folder of a format itself, where nothing is damaged, and have this extension.
pub fn sound(format: &str, extension: &str) -> Vec<Golden> {
    let direct = |golden: &Golden| golden.name.matches('/').count() == 1;
    of(format).into_iter().filter(|golden| direct(golden) && golden.is(extension)).collect()
}

/// The goldens of one format.
pub fn of(format: &str) -> Vec<Golden> {
    all().into_iter().filter(|golden| golden.format == format).collect()
}

/// Inputs of the fuzz bodies of DataSeries made from the golden file `bytes`, each with the name of its
/// body: the file, and the bytes after its header, its index and its trailer, preceded by a byte of flags.
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

fn golden(root: &Path, path: &Path) -> Option<Golden> {
    let (dir, file_name) = (path.parent()?, path.file_name()?.to_str().expect("a name in UTF-8"));
    let stem = file_name.strip_suffix(".expected.json")?;
    let expected: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file = dir.join(expected["file"].as_str().unwrap_or(stem));
    assert!(file.exists(), "{} has no file beside it", path.display());
    let name = dir.strip_prefix(root).unwrap().join(stem).to_str().unwrap().replace('\\', "/");
    let format = name.split('/').next().unwrap_or_default().to_owned();
    Some(Golden { name, format, path: file, expected })
}
