//! The commands of docs/sql.md print what the page says.

use std::fs;
use std::process::Output;

use crate::workers::{Worker, out, tool};

/// The page, whose commands are for the root of the sources.
fn page() -> String {
    fs::read_to_string("../../docs/sql.md").unwrap()
}

/// The first block of a kind after `place`, without the lines around it.
fn block<'p>(page: &'p str, place: &str, kind: &str) -> &'p str {
    let (_, rest) = page.split_once(place).unwrap_or_else(|| panic!("no {place:?} in the page"));
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).unwrap_or_else(|| panic!("no block of {kind}"));
    rest.split_once("```").unwrap().0
}

/// The text in the first quotes of a block.
fn quoted(block: &str) -> &str {
    block.split('"').nth(1).unwrap()
}

fn asked(workers: &[Worker], sql: &str) -> Output {
    let mut command = tool();
    let addresses: Vec<_> = workers.iter().map(|worker| worker.address.as_str()).collect();
    if !workers.is_empty() {
        command.args(["--workers", &addresses.join(","), "--split", "1000"]);
    }
    command.current_dir("../..").arg(sql).output().unwrap()
}

#[test]
fn one_machine_and_three_workers_print_the_rows_of_the_page() {
    let page = page();
    let wanted = block(&page, "## On one machine", "text");
    assert!(wanted.lines().count() > 5, "{wanted}");
    let sql = quoted(block(&page, "## On one machine", "sh"));
    assert_eq!(out(&asked(&[], sql)).trim_end(), wanted.trim_end());
    let commands = block(&page, "## On several machines", "sh");
    assert!(commands.contains("--split 1000"), "{commands}");
    let workers = [Worker::start(), Worker::start(), Worker::start()];
    assert_eq!(out(&asked(&workers, quoted(commands))).trim_end(), wanted.trim_end());
    // Workers read, and not the machine that asks.
    let plan = out(&asked(&workers, &format!("explain analyze {}", quoted(commands))));
    assert!(plan.contains("DistributedExec"), "{plan}");
}
