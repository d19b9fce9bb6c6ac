//! Compiles the calls, with the compiler and the flags of the environment.

fn main() {
    let (source, headers) = ("../tests/wild.c", "../include");
    cc::Build::new().file(source).include(headers).define("PILASTER_WILD", None).compile("wild");
    for path in [source, headers, "../tests/check.h"] {
        println!("cargo::rerun-if-changed={path}");
    }
}
