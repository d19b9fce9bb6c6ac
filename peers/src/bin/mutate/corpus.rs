//! The valid files that are mutated.

use std::path::{Path, PathBuf};

use pilaster::filo::Element;

/// A file, and for Filo the index of its element type in [`Element::ALL`].
pub struct Entry {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub element: usize,
}

/// Returns all files below `folder` that `pick` accepts, sorted.
pub fn files(folder: &Path, pick: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if pick(&path) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Returns whether a file may be of the format.
fn belongs(format: &str, path: &Path) -> bool {
    let ext = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    match format {
        "ds" | "dsdeep" => ext == "ds",
        "blosc" => ["blosc", "blp"].contains(&ext),
        "bmeta" => ["sizes", "storage", "__rootdirs__", "__attrs__"].contains(&name),
        "bdir" => name == "sizes",
        _ => ext == format,
    }
}

/// Returns the index of the element type that `NAME.expected.json` states, else of int.
fn element(path: &Path) -> usize {
    let text = std::fs::read(path.with_extension("expected.json")).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let name = json["facts"]["element_type"].as_str().unwrap_or("int").to_lowercase();
    Element::ALL.iter().position(|e| e.name() == name).unwrap_or(1)
}

/// Reads the files of a format.
pub fn entries(format: &str, folder: &Path) -> std::io::Result<Vec<Entry>> {
    let paths = files(folder, &|p| belongs(format, p));
    paths
        .into_iter()
        .map(|path| {
            Ok(Entry { bytes: std::fs::read(&path)?, element: if format == "filo" { element(&path) } else { 0 }, path })
        })
        .collect()
}

/// Returns the folders of the datasets whose `meta/sizes` are `entries`.
pub fn datasets(entries: &[Entry]) -> Vec<PathBuf> {
    let dataset = |e: &Entry| {
        let array = e.path.parent()?.parent()?;
        let table = array.parent()?;
        Some(if table.join("__rootdirs__").exists() { table } else { array }.to_owned())
    };
    let mut folders: Vec<PathBuf> = entries.iter().filter_map(dataset).collect();
    folders.sort();
    folders.dedup();
    folders
}
