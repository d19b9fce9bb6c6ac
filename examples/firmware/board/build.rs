//! The memory map of the chip. The last 64 KiB of its flash are reserved for the log.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let memory = "MEMORY {\n  FLASH : ORIGIN = 0x00000000, LENGTH = 960K\n  RAM : ORIGIN = 0x20000000, LENGTH = 256K\n}\n\
                  _log = ORIGIN(FLASH) + LENGTH(FLASH);\n";
    fs::write(out.join("memory.x"), memory).unwrap();
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    // This file itself is always watched; the package for embassy uses it, too.
    println!("cargo::rerun-if-changed=Cargo.toml");
}
