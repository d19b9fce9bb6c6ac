//! What we write is, byte for byte, what the original wrote, wherever the format fixes the bytes.
#![cfg(feature = "filo")]

mod support;

use std::path::PathBuf;

use pilaster::bytes::Scratch;
use pilaster::filo::write::{Strings, dict_string, encode, max_len, scratch_len};
use pilaster::filo::{Element, Encoding, Vector};
use support::{Owned, Values};

/// Chunks that the original lays out in another way, with the reason. All of them are read back.
const DIFFERENT: &[(&str, &str)] = &[];

fn goldens() -> Vec<(String, Vec<u8>, serde_json::Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/filo");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "filo") {
            let json = std::fs::read_to_string(path.with_extension("expected.json")).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            all.push((name, std::fs::read(&path).unwrap(), serde_json::from_str(&json).unwrap()));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 100, "the goldens are missing");
    all
}

/// Rows of the expectation; those of long columns through our reader.
fn rows(chunk: &[u8], json: &serde_json::Value) -> Owned {
    let element: Element = json["facts"]["element_type"].as_str().unwrap().parse().unwrap();
    Owned::expected(json).unwrap_or_else(|| Owned::read(chunk, element).unwrap())
}

fn write(encoding: Encoding, rows: &Owned) -> Vec<u8> {
    rows.with(|rows| {
        let text: usize = match rows.values {
            pilaster::filo::write::Plain::String(s) | pilaster::filo::write::Plain::Utf8(s) => {
                (0..s.len()).map(|i| s.get(i).unwrap().len()).sum()
            }
            _ => 0,
        };
        let mut memory = vec![0xa5; scratch_len(rows.len())];
        let mut chunk = vec![0xa5; max_len(encoding, rows.len(), text)];
        let len = encode(encoding, rows, &mut chunk, &mut Scratch::new(&mut memory)).unwrap();
        chunk.truncate(len);
        chunk
    })
}

/// The entries of a DictString chunk behind the first, in their order.
fn dictionary(chunk: &[u8]) -> Vec<&[u8]> {
    let f = &chunk[4..];
    let u32_at = |at: usize| u32::from_le_bytes(f[at..at + 4].try_into().unwrap()) as usize;
    let u16_at = |at: usize| usize::from(u16::from_le_bytes(f[at..at + 2].try_into().unwrap()));
    let table = u32_at(0);
    let vtable = table - u32_at(table);
    let field = table + u16_at(vtable + 4 + 2);
    let list = field + u32_at(field);
    let string = |i: usize| {
        let slot = list + 4 + 4 * i;
        let at = slot + u32_at(slot);
        &f[at + 4..at + 4 + u32_at(at)]
    };
    (1..u32_at(list)).map(string).collect()
}

fn write_with_dictionary(chunk: &[u8], encoding: Encoding, rows: &Owned) -> Vec<u8> {
    let (entries, Values::String(strings)) = (dictionary(chunk), &rows.values) else { panic!("no strings") };
    let code = |(text, valid): (&Vec<u8>, &bool)| match valid {
        true => entries.iter().position(|entry| entry == text).unwrap() as u32 + 1,
        false => 0,
    };
    let codes: Vec<u32> = strings.iter().zip(&rows.valid).map(code).collect();
    let mut written = vec![0xa5; chunk.len() + 100];
    let packing = encoding.packing().unwrap();
    let len = dict_string(Strings::Slices(&entries), &codes, packing, &mut written).unwrap();
    written.truncate(len);
    written
}

#[test]
fn every_golden_written_anew() {
    let mut unexpected = Vec::new();
    let (mut identical, mut different) = (0, 0);
    for (name, chunk, json) in goldens() {
        let rows = rows(&chunk, &json);
        let encoding = Vector::open(&chunk, rows.element()).unwrap().encoding();
        let written = match encoding {
            Encoding::DictString(_) => write_with_dictionary(&chunk, encoding, &rows),
            _ => write(encoding, &rows),
        };
        rows.assert_read(&written, &name);
        let known = DIFFERENT.iter().any(|(known, _)| name == *known);
        match (written == chunk, known) {
            (true, false) => identical += 1,
            (false, true) => different += 1,
            (true, true) => unexpected.push(format!("{name} is identical by now")),
            (false, false) => {
                unexpected.push(format!("{name} ({encoding}): {} bytes, golden {}", written.len(), chunk.len()))
            }
        }
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert_eq!((identical, different), (0, DIFFERENT.len()));
}
