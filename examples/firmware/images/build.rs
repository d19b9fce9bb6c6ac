//! The memory maps of the machines that QEMU emulates, and the linker scripts.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let target = env::var("TARGET").unwrap();
    let (flash, ram, tick) = match target.as_str() {
        // microbit: a Cortex-M0. The last 5 of its 16 KiB RAM keep their contents over a reset.
        "thumbv6m-none-eabi" => ("256K", 11, 62_500),
        // mps2-an386: a Cortex-M4F. It has more RAM than this, but a typical chip does not.
        "thumbv7em-none-eabihf" => ("256K", 64, 40_000),
        // On a host, no image is linked.
        _ => return,
    };
    // A start of the code that few numbers equal by chance, because `examine` treats every number as a possible
    // address.
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
    // Every `async fn` has a panic for a poll after completion. `.ci/firmware` checks that it is the only one.
    println!("cargo::rustc-link-arg-bin=log_async=--defsym=a_panic_survived=0");
    println!("cargo::rerun-if-changed=build.rs");
}
