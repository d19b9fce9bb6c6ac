//! Comparison with c-blosc: `check` checks that each reads the chunks of the other, `bench` compares the speed. An
//! argument after `bench` chooses lines by name.

mod bench;
mod check;
mod original;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => check::run(),
        ["bench"] => bench::run(""),
        ["bench", which] => bench::run(which),
        _ => {
            eprintln!("check, or bench and a word that chooses lines");
            std::process::exit(2);
        }
    }
}
