//! The memory map of the board, the linker scripts, and goldens as constants.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// QEMU's mps2-an386: a Cortex-M4F.
const MEMORY: &str = "MEMORY {
  FLASH : ORIGIN = 0x00000000, LENGTH = 4M
  RAM : ORIGIN = 0x20000000, LENGTH = 2M
}";

/// Keeps the frame sizes that `-Zemit-stack-sizes` writes.
const STACK_SIZES: &str = "SECTIONS { .stack_sizes 0 (INFO) : { KEEP(*(.stack_sizes)); } } INSERT AFTER .bss;";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("memory.x"), MEMORY).unwrap();
    fs::write(out.join("stack.x"), STACK_SIZES).unwrap();
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tstack.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }

    // (name, element type, chunk) of every Filo golden.
    let dir = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../tests/golden/filo");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut table = String::from("[\n");
    let mut paths: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "filo")) {
        let expected = fs::read_to_string(path.with_extension("expected.json")).unwrap();
        let (_, after) = expected.split_once("\"element_type\": \"").unwrap();
        let (element, _) = after.split_once('"').unwrap();
        let path = path.canonicalize().unwrap();
        writeln!(table, "({:?}, {element:?}, include_bytes!({path:?})),", path.file_stem().unwrap()).unwrap();
    }
    table.push(']');
    fs::write(out.join("goldens.rs"), table).unwrap();
    fs::write(out.join("jays.rs"), jays()).unwrap();
}

/// (name, file) of every small Jay golden.
fn jays() -> String {
    let dir = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../tests/golden/jay");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut table = String::from("[\n");
    let mut paths: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jay")) {
        if fs::metadata(path).unwrap().len() < 4096 {
            let path = path.canonicalize().unwrap();
            writeln!(table, "({:?}, include_bytes!({path:?})),", path.file_stem().unwrap()).unwrap();
        }
    }
    table.push(']');
    table
}
