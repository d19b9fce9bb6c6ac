//! filo_check FILE FOLDER: reads the vectors that the original wrote (`Gen`) by `get` and by batches, and compares them with
//! the rows that the original reads. The first vector of each kind that differs is written to FOLDER.

use std::collections::BTreeMap;
use std::path::Path;

use pilaster_peers::filo::{Cell, ELEMENTS, Input, read_all};

/// Counts by kind, with a first example.
type Kinds = BTreeMap<String, (usize, String)>;

fn add(kinds: &mut Kinds, key: String, example: String) -> bool {
    let entry = kinds.entry(key).or_insert((0, example));
    entry.0 += 1;
    entry.0 == 1
}

/// Returns the first row that differs, as text.
fn difference(ours: &[Cell], theirs: &[Cell], written: &[Cell]) -> String {
    let n = ours.len().max(theirs.len());
    let j = (0..n).find(|j| ours.get(*j) != theirs.get(*j)).unwrap_or(0);
    format!("row {j} of {n}: ours {:?}, original {:?}, written {:?}", ours.get(j), theirs.get(j), written.get(j))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder] = &*arguments else { return Err("filo_check FILE FOLDER".into()) };
    let data = std::fs::read(file)?;
    let mut input = Input(&data);
    let (mut equal, mut rows, mut misread) = (0u64, 0usize, 0u64);
    let (mut kinds, mut bad) = (Kinds::new(), Kinds::new());
    while !input.0.is_empty() {
        let element = ELEMENTS[usize::from(input.byte())];
        let name = String::from_utf8_lossy(input.counted()).into_owned();
        let (chunk, theirs, written) = (input.counted(), input.cells(), input.cells());
        let key = name.split('|').next().unwrap_or_default().to_owned();
        add(&mut kinds, format!("{element} {key}"), String::new());
        let wrong = match read_all(chunk, element, 4096 + 64 * theirs.len()) {
            Ok(ours) if ours == theirs => {
                equal += 1;
                rows += ours.len();
                continue;
            }
            // The reader of the original is wrong; see README.md.
            Ok(ours) if ours == written => {
                misread += 1;
                continue;
            }
            Ok(ours) => format!("{name}: {}", difference(&ours, &theirs, &written)),
            Err(e) => format!("{name}: {e} ({} rows)", theirs.len()),
        };
        let path = format!("{}.filo", key.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        if add(&mut bad, key, wrong) {
            std::fs::write(Path::new(folder).join(path), chunk)?;
        }
    }
    kinds.iter().for_each(|(k, (n, _))| println!("{n:6} {k}"));
    bad.iter().for_each(|(k, (n, example))| println!("BAD {n} {k}: {example}"));
    let wrong: usize = bad.values().map(|(n, _)| n).sum();
    println!(
        "filo_check: {}: equal {equal} ({rows} rows), different or refused {wrong}, the original's reader wrong {misread}",
        if wrong == 0 { "ok" } else { "FAIL" }
    );
    std::process::exit(i32::from(wrong > 0))
}
