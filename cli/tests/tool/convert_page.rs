//! The commands of `docs/convert.md`.

use std::fs;

use crate::{out, pilaster, place};

const PAGE: &str = "../docs/convert.md";

/// Returns the arguments of a command: words, or texts in single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (Vec::new(), false);
    for piece in line.split('\'') {
        match quoted {
            true => words.push(piece.to_owned()),
            false => words.extend(piece.split_whitespace().map(str::to_owned)),
        }
        quoted = !quoted;
    }
    words
}

/// Runs the commands in the order of the page. Those of other programs are left out, also after a pipe.
#[test]
fn every_command_of_the_page_works() {
    let (dir, top) = (place("convert_page"), fs::canonicalize("..").unwrap());
    let page = fs::read_to_string(PAGE).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.starts_with("pilaster ")).collect();
    assert!(lines.len() > 12, "{lines:?}");
    for line in lines {
        let words = words(line.trim_end_matches(['|', ' ']));
        let args = words[1..].iter().map(|word| match word.starts_with("tests/golden/") {
            true => top.join(word).to_str().unwrap().to_owned(),
            false => word.clone(),
        });
        let output = pilaster().args(args).current_dir(&dir).output().unwrap();
        let said = str::from_utf8(&output.stderr).unwrap();
        if line.contains("--out-dir") {
            // Some golden files are damaged.
            let made = fs::read_dir(dir.join("parquet")).unwrap().count();
            assert!(made > 1 && matches!(output.status.code(), Some(0 | 1)), "{line}: {said}");
            continue;
        }
        assert!(output.status.success(), "{line}: {said}");
        // Everything but a stream is a file that can be read again.
        if !line.contains(" - ") && !line.ends_with(" -") {
            let target = dir.join(words.last().unwrap());
            let again = pilaster().arg("verify").args(filo(&words)).arg(&target).output().unwrap();
            assert!(again.status.success() && !out(&again).is_empty(), "{line}");
        }
    }
}

/// The type of a Filo vector, which has none of its own.
fn filo(words: &[String]) -> &'static [&'static str] {
    match words.last() {
        Some(target) if target.ends_with(".filo") => &["--type", "long"],
        _ => &[],
    }
}
