//! Every golden to every format: what is refused, and what helps. `docs/conversions.md` lists it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::common::{self, Golden};
use crate::{pilaster, place};

const PAGE: &str = "../docs/conversions.md";
const FORMATS: [&str; 5] = ["filo", "dataseries", "jay", "bcolz", "vortex"];

/// Converts a golden to a format. Standard output takes all but a dataset, which needs a directory.
fn convert(golden: &Golden, to: &str, more: &[String], dir: &Path) -> Output {
    let target = dir.join("dataset");
    let _ = fs::remove_dir_all(&target);
    let mut call = pilaster();
    call.arg("convert").args(["--format-out", to]).args(more);
    if golden.format == "filo" {
        call.args(["--type", golden.fact("element_type")]);
    }
    call.arg(&golden.path).arg(if to == "bcolz" { target.as_os_str() } else { "-".as_ref() });
    call.output().unwrap()
}

/// The message of a refusal without its file.
fn message(golden: &Golden, output: &Output) -> String {
    let line = str::from_utf8(&output.stderr).unwrap().trim_end();
    assert_eq!(line.lines().count(), 1, "{}: {line}", golden.name);
    let line = line.strip_prefix("pilaster: ").unwrap();
    let path = format!("{}: ", golden.path.display());
    let line = line.strip_prefix(&path).unwrap_or(line);
    // The other columns that are refused have messages of their own if they are chosen alone.
    line.split("; it cannot store these either: ").next().unwrap().to_owned()
}

/// A message in general terms, as refusal and remedy: without names, numbers and lists.
fn general(message: &str) -> (String, String) {
    const BEFORE: [&str; 6] = ["row ", "are ", "has ", "(", ",", "V"];
    let mut text = String::new();
    for c in message.chars() {
        let after = |text: &str| BEFORE.iter().any(|before| text.ends_with(before));
        match c {
            '0'..='9' if text.ends_with('n') && after(&text[..text.len() - 1]) => {}
            '0'..='9' if after(&text) => text.push('n'),
            '|' => text += "\\|",
            c => text.push(c),
        }
    }
    if let Some((_, rest)) = text.strip_prefix("column ").and_then(|rest| rest.split_once(": ")) {
        text = rest.to_owned();
    }
    if let Some(at) = text.find("no whole items") {
        text = text[at..].to_owned();
    }
    for (before, after) in
        [("choose one with --table: ", "choose one with --table"), ("the time zone ", "the time zone")]
    {
        if let Some((head, tail)) = text.split_once(before) {
            let tail = tail.find(" (--").map_or("", |at| &tail[at..]);
            text = format!("{head}{after}{tail}");
        }
    }
    let split = text.rfind(" (--").or_else(|| text.rfind(" (numpy"));
    let (refusal, remedy) = match split {
        Some(at) => (text[..at].to_owned(), text[at + 2..].trim_end_matches(')').to_owned()),
        None => match text.rsplit_once([':', ',']) {
            Some((refusal, remedy)) if remedy.contains("--") => (refusal.to_owned(), remedy.trim().to_owned()),
            _ => (text, String::new()),
        },
    };
    (refusal, remedy)
}

/// A table of a golden if it has several, and a column.
type Place = (Option<String>, String);

/// One column of every type that the goldens of a format have, in files of several columns, where another column may be
/// refused first. Types differ by their names, not by their sizes.
fn columns_of_each_type(goldens: &[Golden]) -> Vec<(&Golden, Place)> {
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    for golden in goldens.iter().filter(|golden| golden.format != "filo") {
        let output = pilaster().args(["info", "--json"]).arg(&golden.path).output().unwrap();
        let info: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let tables = info["tables"].as_array().map_or(&[][..], Vec::as_slice);
        for table in tables {
            let columns = table["columns"].as_array().unwrap();
            for column in columns.iter().filter(|_| columns.len() > 1) {
                let [name, ty] = ["name", "type"].map(|key| column[key].as_str().unwrap());
                let is_plain = !name.is_empty() && !name.contains([',', '"']);
                let kind = ty.split(['(', ',']).next().unwrap().to_owned();
                if is_plain && known.insert((golden.format.clone(), kind, ty.contains(','))) {
                    let table = (tables.len() > 1).then(|| table["name"].as_str().unwrap().to_owned());
                    found.push((golden, (table, name.to_owned())));
                }
            }
        }
    }
    found
}

/// The options that choose a column.
fn choice((table, column): &Place) -> Vec<String> {
    let table = table.iter().flat_map(|table| ["--table".to_owned(), table.clone()]);
    table.chain(["--columns".to_owned(), column.clone()]).collect()
}

/// Each option that a message offers does away with its error, whichever the user takes.
fn each_offer_helps(golden: &Golden, to: &str, given: &[String], line: &str, dir: &Path) {
    let offers: [&[&str]; 7] = [
        &["--fill-missing"],
        &["--any-time"],
        &["--stored-times"],
        &["--bytes-as-text"],
        &["--records"],
        &["--sentinels", "missing"],
        &["--sentinels", "widen"],
    ];
    for offer in offers.iter().filter(|offer| line.contains(&offer.join(" "))) {
        let all: Vec<String> = given.iter().cloned().chain(offer.iter().map(|o| (*o).to_owned())).collect();
        let output = convert(golden, to, &all, dir);
        let is_done = output.status.code() == Some(0);
        assert!(is_done || message(golden, &output) != line, "{} to {to} {all:?}: {line}", golden.name);
    }
}

/// The options that the messages name make every refused conversion succeed, or no column is left.
fn remedied(golden: &Golden, place: Option<&Place>, to: &str, dir: &Path) {
    let table = place.and_then(|(table, _)| table.clone());
    let mut options: Vec<String> = table.into_iter().flat_map(|table| ["--table".to_owned(), table]).collect();
    let mut columns: Option<Vec<String>> = place.map(|(_, column)| vec![column.clone()]);
    for _ in 0..40 {
        let mut more = options.clone();
        if let Some(columns) = &columns {
            let chosen = if to == "filo" { &columns[..1] } else { &columns[..] };
            more.extend(["--columns".to_owned(), chosen.join(",")]);
        }
        let output = convert(golden, to, &more, dir);
        if output.status.code() == Some(0) {
            return;
        }
        let line = message(golden, &output);
        let mut all = || {
            let mut call = pilaster();
            call.args(["head", "-n", "0"]);
            for option in ["--table", "--dtype"] {
                call.args(options.iter().skip_while(|given| *given != option).take(2));
            }
            if golden.format == "filo" {
                call.args(["--type", golden.fact("element_type")]);
            }
            let header = String::from_utf8(call.arg(&golden.path).output().unwrap().stdout).unwrap();
            header.trim_end().split(',').map(str::to_owned).collect::<Vec<_>>()
        };
        let fresh = |option: &str| line.contains(option) && !options.iter().any(|given| given == option);
        each_offer_helps(golden, to, &more, &line, dir);
        if let Some((_, tables)) = line.split_once("choose one with --table: \"") {
            options.extend(["--table".to_owned(), tables.split('"').next().unwrap().to_owned()]);
        } else if line.contains("choose it with --columns") {
            columns = Some(all());
        } else if let Some(option) =
            ["--fill-missing", "--any-time", "--stored-times", "--bytes-as-text", "--records"].iter().find(|o| fresh(o))
        {
            options.push((*option).to_owned());
        } else if fresh("--dtype") {
            options.extend(["--dtype".to_owned(), "uint8".to_owned()]);
        } else if fresh("--sentinels") {
            options.extend(["--sentinels".to_owned(), "missing".to_owned()]);
        } else if line.contains("--columns leaves it out") {
            let name = line.strip_prefix("column ").unwrap();
            let left = columns.get_or_insert_with(&mut all);
            let before = left.len();
            if left.iter().all(|column| column == "\"\"") {
                return;
            }
            if to == "filo" {
                left.remove(0);
            } else {
                left.retain(|column| {
                    !name.starts_with(&format!("{column}: ")) && !name.starts_with(&format!("{column} ("))
                });
            }
            assert!(left.len() < before, "{} to {to}: {line}: not in {left:?}", golden.name);
            if left.is_empty() {
                return;
            }
        } else if line.contains("no columns") || line.contains("no tables") {
            return;
        } else {
            panic!("{} to {to} {more:?}: nothing helps against: {line}", golden.name);
        }
    }
    panic!("{} to {to}: never done", golden.name);
}

/// The table of the page: every refusal, from which format to which, and what helps. It does help.
#[test]
fn all_refusals_are_listed_with_their_remedies() {
    let goldens: Vec<Golden> = FORMATS.into_iter().flat_map(common::of).filter(Golden::by_any).collect();
    assert!(goldens.len() > 500, "{}", goldens.len());
    // Whole files, then single columns.
    let apart = columns_of_each_type(&goldens);
    assert!(apart.len() > 50, "{}", apart.len());
    let tasks = goldens.iter().map(|golden| (golden, None));
    let tasks: Vec<_> = tasks.chain(apart.iter().map(|(golden, place)| (*golden, Some(place)))).collect();
    let place = place("matrix");
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let dir = place.join(worker.to_string());
            fs::create_dir(&dir).unwrap();
            let (tasks, next, rows) = (&tasks, &next, &rows);
            scope.spawn(move || {
                while let Some((golden, apart)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let options = apart.map_or(Vec::new(), choice);
                    for (k, to) in FORMATS.into_iter().enumerate() {
                        let output = convert(golden, to, &options, &dir);
                        if output.status.code() == Some(0) {
                            continue;
                        }
                        let (refusal, remedy) = general(&message(golden, &output));
                        let from = FORMATS.iter().position(|format| *format == golden.format);
                        let first = rows.lock().unwrap().insert((from, k, refusal, remedy));
                        // A name with a comma is no element of a list of names.
                        if first && !golden.name.contains("unicode") {
                            remedied(golden, *apart, to, &dir);
                        }
                    }
                }
            });
        }
    });
    let mut table = String::new();
    for (from, to, refusal, remedy) in rows.into_inner().unwrap() {
        let remedy = if remedy.is_empty() { "none" } else { &remedy };
        table += &format!("| {} | {} | {refusal} | {remedy} |\n", FORMATS[from.unwrap()], FORMATS[to]);
    }
    let page = fs::read_to_string(PAGE).unwrap_or_default();
    let listed: String =
        page.lines().filter(|line| line.starts_with("| ")).skip(1).map(|line| format!("{line}\n")).collect();
    if listed != table {
        let found = place.join("conversions.md");
        fs::write(&found, &table).unwrap();
        panic!("{PAGE} does not list these refusals; see {}\n{table}", found.display());
    }
}
