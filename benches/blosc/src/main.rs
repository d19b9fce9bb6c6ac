//! Comparison with c-blosc: `check` checks that each reads the chunks of the other, `bench` compares the speed;
//! `zstd` compares our frames with frames of the C library of Zstandard, `streams` our raw streams with liblz4 and zlib.
//! An argument after the last three chooses lines by name.

mod bench;
mod check;
mod original;
#[path = "../../common/record.rs"]
mod record;
mod streams;
mod zstd;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => check::run(),
        ["bench"] => bench::run(""),
        ["bench", which] => bench::run(which),
        ["streams"] => streams::run(""),
        ["streams", which] => streams::run(which),
        ["zstd"] => zstd::run(""),
        ["zstd", which] => zstd::run(which),
        _ => {
            eprintln!("check, or bench, streams or zstd and a word that chooses lines");
            std::process::exit(2);
        }
    }
}
