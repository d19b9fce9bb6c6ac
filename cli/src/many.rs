//! `convert --out-dir`: every table of many files to a file of its own.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use pilaster::any::File;

use crate::args::Convert;
use crate::escape::escaped;
use crate::failure::{self, Failure};
use crate::goal::{Goal, extension_of};
use crate::open;
use crate::progress::Progress;
use crate::sources::{Location, Source, Sources};
use crate::special::with_file;

/// Converts one file to one target.
pub type One<'o> = dyn FnMut(&Convert, &mut dyn Write) -> Result<(), Failure> + 'o;

/// Converts all tables of all files. Files that are refused are named at the end, and the status is then 1. `one` converts
/// a single table.
pub fn run(how: &Convert, dir: &Path, goal: Goal, out: &mut dyn Write, one: &mut One<'_>) -> Result<(), Failure> {
    let sources = Sources { paths: how.paths.clone(), only: how.only.clone(), hints: how.hints.clone() };
    let found = sources.find()?;
    if let Some(empty) = found.empty.first().filter(|_| found.files.is_empty()) {
        return Err(found.no_files(empty));
    }
    if found.files.iter().any(|source| matches!(source.path, Location::Stdin)) {
        let why = "standard input is converted alone, to a target that is named: convert --to FORMAT - TARGET";
        return Err(Failure::Usage(why.to_owned()));
    }
    fs::create_dir_all(dir).map_err(|e| Failure::Target(format!("{}: {e}", dir.display()), e))?;
    let names = names(&how.paths, &found.files);
    let (mut written, mut refused, mut used) = (0usize, Vec::new(), HashSet::new());
    refused.extend(found.empty.iter().map(|dir| found.no_files(dir)));
    let mut progress = Progress::files(found.files.len() as u64);
    for (k, (source, name)) in found.files.iter().zip(&names).enumerate() {
        progress.at(k as u64);
        match tables(source, how) {
            Ok(tables) => {
                for table in tables {
                    let target = dir.join(distinct(&mut used, name, table.as_deref(), goal));
                    let how = Convert { source: source.clone(), target, table, ..how.clone() };
                    let done = beside(&how.target).and_then(|()| one(&how, &mut std::io::sink()));
                    match done {
                        Ok(()) => written = written.saturating_add(1),
                        Err(failure @ Failure::Output(_)) => return Err(failure),
                        Err(failure) => refused.push(failure.of(&source.path)),
                    }
                }
            }
            Err(failure) => refused.push(failure.of(&source.path)),
        }
    }
    drop(progress);
    for failure in &refused {
        failure::print(failure);
    }
    let mut line = format!("{}: {written} files of {goal} from {} files", dir.display(), found.files.len());
    if !refused.is_empty() {
        line.push_str(&format!("; {} refused, see above", refused.len()));
    }
    if let Some(first) = found.unknown.first() {
        line.push_str(&format!("; {} of unknown format left out, as {}", found.unknown.len(), first.display()));
    }
    writeln!(out, "{}", escaped(&line))?;
    match &refused[..] {
        [] => Ok(()),
        all if all.iter().all(|failure| matches!(failure, Failure::Untyped(_) | Failure::Usage(_))) => {
            Err(Failure::PrintedUsage)
        }
        _ => Err(Failure::Printed),
    }
}

/// Returns the names of the tables to convert one by one; a single `None` if the file is one table, or the caller named one.
fn tables(source: &Source, how: &Convert) -> Result<Vec<Option<String>>, Failure> {
    if how.table.is_some() {
        return Ok(vec![how.table.clone()]);
    }
    #[cfg(feature = "arrow")]
    if crate::arrow::is_known(source) {
        return Ok(vec![None]);
    }
    let mut tables = vec![None];
    with_file(source, |_, file: &File<'_>, _| {
        let names: Vec<_> = file.tables().map(|table| Some(table.to_owned())).collect();
        if open::has_names(file) && names.len() > 1 {
            tables = names;
        }
        Ok(())
    })?;
    Ok(tables)
}

/// Creates the directory of a target.
fn beside(target: &Path) -> Result<(), Failure> {
    let dir = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|e| Failure::Target(format!("{}: {e}", dir.display()), e))
}

/// Returns the path of each target below the directory, without its extension: the path of the file below the directory that
/// was named, without its extension if no other file then has the same name.
fn names(tops: &[Location], files: &[Source]) -> Vec<PathBuf> {
    let full: Vec<PathBuf> = files.iter().map(|source| below(tops, &source.path)).collect();
    let stem = |path: &Path| path.with_extension("");
    let key = |path: &Path| stem(path).to_string_lossy().to_lowercase();
    let mut count: HashMap<String, usize> = HashMap::new();
    for path in &full {
        let count = count.entry(key(path)).or_default();
        *count = count.saturating_add(1);
    }
    let alone = |path: &Path| count.get(&key(path)) == Some(&1);
    full.iter().map(|path| if alone(path) { stem(path) } else { path.clone() }).collect()
}

fn below(tops: &[Location], path: &Location) -> PathBuf {
    let Location::Path(path) = path else { return PathBuf::from("-") };
    let inside = tops.iter().filter_map(|top| match top {
        Location::Path(top) => path.strip_prefix(top).ok().filter(|rest| rest.file_name().is_some()),
        Location::Stdin => None,
    });
    let name = path.file_name().map_or_else(|| PathBuf::from("table"), PathBuf::from);
    inside.min_by_key(|rest| rest.components().count()).map_or(name, Path::to_owned)
}

/// Returns the name of a target that no other target has, also where upper and lower case are the same: with a number if need
/// be.
fn distinct(used: &mut HashSet<String>, name: &Path, table: Option<&str>, goal: Goal) -> PathBuf {
    let mut number = 1u64;
    loop {
        let target = with_extension(name, table, number, goal);
        if used.insert(target.to_string_lossy().to_lowercase()) {
            return target;
        }
        number = number.saturating_add(1);
    }
}

/// Returns the name of a target. Characters of a table that are not allowed in names of files become `_`.
fn with_extension(name: &Path, table: Option<&str>, number: u64, goal: Goal) -> PathBuf {
    let mut name = name.as_os_str().to_owned();
    if let Some(table) = table {
        let allowed = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') { c } else { '_' };
        name.push(".");
        name.push(table.chars().map(allowed).collect::<String>());
    }
    if number > 1 {
        name.push(format!(".{number}"));
    }
    name.push(".");
    name.push(extension_of(goal));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str) -> Source {
        Source { path: Location::Path(path.into()), ..Source::default() }
    }

    #[test]
    fn names_are_below_the_directory_and_differ() {
        let tops = [Location::Path("old".into()), Location::Path("x/lone.ds".into())];
        let files = ["old/a.jay", "old/sub/b.ds", "old/sub/b.jay", "x/lone.ds"].map(source);
        let names = names(&tops, &files);
        assert_eq!(names, ["a", "sub/b.ds", "sub/b.jay", "lone"].map(PathBuf::from));
        let goal = Goal::Text(crate::args::Form::Csv);
        let (mut used, table) = (HashSet::new(), Some("Trace::NFS/x"));
        assert_eq!(distinct(&mut used, &names[0], table, goal), Path::new("a.Trace__NFS_x.csv"));
        // Other characters and another case result in an equal name.
        assert_eq!(distinct(&mut used, &names[0], Some("Trace::NFS:X"), goal), Path::new("a.Trace__NFS_X.2.csv"));
        assert_eq!(distinct(&mut used, &names[0], table, goal), Path::new("a.Trace__NFS_x.3.csv"));
    }
}
