//! Blosc chunks beside c-blosc: `check` says whether each reads what the other writes, `bench` which is
//! faster. A word behind `bench` chooses lines.

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
