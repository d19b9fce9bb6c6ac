//! Memory of the machines that QEMU plays, and the linker's scripts.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let target = env::var("TARGET").unwrap();
    let (flash, ram, tick) = match target.as_str() {
        // microbit: a Cortex-M0. The last 5 of its 16 KiB are kept over a reset.
        "thumbv6m-none-eabi" => ("256K", 11, 62_500),
        // mps2-an386: a Cortex-M4F. It has more; a usual chip does not.
        "thumbv7em-none-eabihf" => ("256K", 64, 40_000),
        // A host that checks the workspace links no image.
        _ => return,
    };
    // Code begins where hardly a number leads to by chance: `examine` takes each for an address that may be one.
    let memory = format!(
        "MEMORY {{\n  FLASH : ORIGIN = 0x00000000, LENGTH = {flash}\n  RAM : ORIGIN = 0x20000000, LENGTH = {ram}K\n}}\n\
         _stext = ORIGIN(FLASH) + 0x10000;\n_kept = ORIGIN(RAM) + LENGTH(RAM);\n"
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("memory.x"), memory).unwrap();
    let chip = format!("/// Picoseconds of a tick of the system's timer.\nconst TICK_PS: u64 = {tick};\n");
    fs::write(out.join("chip.rs"), chip).unwrap();
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    // Every `async fn` has a panic for who polls it after its end; `.ci/firmware` sees to it that this
    // is the only one.
    println!("cargo::rustc-link-arg-bin=log_async=--defsym=a_panic_survived=0");
    println!("cargo::rerun-if-changed=build.rs");
}
