//! `edit`: changes a bcolz dataset in place.

use std::fs;
use std::io::Write;
use std::path::Path;

use pilaster::bcolz::write::{Builder, Editor, FileSystem, Missing, WriteOptions};
use pilaster::bcolz::{self, Cause, Dataset};
use pilaster::bytes::WriteError;
use pilaster::column::{Memory, Table as _, convert};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;

use crate::args::{Edit, Wanted};
use crate::columns::Columns;
use crate::conversion::View;
use crate::detect;
use crate::failure::Failure;
use crate::open::{self, part_room};
use crate::sieve::BATCH_ROOM;
use crate::sources::{Location, Source, is_dataset};

/// A directory in the table, for a column that is not complete. What a crash leaves of it, the next edit removes.
const COLUMN: &str = "column.pilaster-new";

pub fn run(how: &Edit, out: &mut dyn Write) -> Result<(), Failure> {
    let Location::Path(dir) = &how.source.path else {
        return Err(Failure::Usage("a dataset that is edited is a directory, not standard input".to_owned()));
    };
    let Edit { drop_column, trim, resize, add_column, overwrite, fill_missing: _, remove_attr, set_attr, source: _ } =
        how;
    let rows = [trim, resize].iter().any(|rows| rows.is_some());
    let lists = [drop_column, remove_attr].iter().any(|list| !list.is_empty());
    let pairs = [add_column, set_attr].iter().any(|list| !list.is_empty());
    if !rows && !lists && !pairs && overwrite.is_empty() {
        let why = "nothing to change: see pilaster edit --help for --set-attr, --resize and others";
        return Err(Failure::Usage(why.to_owned()));
    }
    let mut editor = Editor::open(FileSystem::default(), dir).map_err(|failure| unopened(dir, failure))?;
    for name in drop_column {
        removable(editor.dataset(), name)?;
        editor.drop_column(name)?;
    }
    if let Some(rows) = *trim {
        let all = editor.dataset().rows();
        if rows > all {
            return Err(Failure::of_file(dir, format!("--trim {rows} removes more rows than there are: {all}")));
        }
        editor.trim(rows)?;
    }
    if let Some(rows) = *resize {
        editor.resize(rows).map_err(|failure| unsized_by(failure, rows, dir))?;
    }
    for (name, path) in add_column {
        let to = dir.join(COLUMN);
        addable(editor.dataset(), name)?;
        new_column(how, name, Path::new(path), (editor.dataset(), &to))?;
        if let Err(failure) = editor.add_column(name, &to) {
            // It is of no use, and the reason is more important than whether it is removed.
            let _ = fs::remove_dir_all(&to);
            return Err(unnamed(failure, name, dir));
        }
    }
    for (first, path) in overwrite {
        overwritten(how, *first, path, dir)?;
    }
    remove_attr.iter().try_for_each(|name| editor.remove_attr(name))?;
    set_attr.iter().try_for_each(|(name, json)| editor.set_attr(name, json))?;
    let (rows, columns) = (editor.dataset().rows(), editor.dataset().arrays().len());
    Ok(writeln!(out, "{}: {rows} rows in {columns} columns", dir.display())?)
}

/// Converts the error of opening `dir`. If it is no dataset, the message says what it is.
fn unopened(dir: &Path, failure: bcolz::Failure) -> Failure {
    match fs::metadata(dir) {
        Err(e) => Failure::of_file(dir, e),
        Ok(found) if !found.is_dir() => {
            let why = "a file, and edit changes bcolz datasets, which are directories (pilaster convert writes chosen \
                       rows and columns of a file to a new one)";
            Failure::of_file(dir, why)
        }
        Ok(_) if !is_dataset(dir) => Failure::of_file(dir, open::no_dataset()),
        Ok(_) => failure.into(),
    }
}

/// Returns the names of the columns, for messages.
fn names(dataset: &Dataset) -> String {
    dataset.arrays().iter().map(bcolz::Array::name).collect::<Vec<_>>().join(", ")
}

/// Checks that the dataset has a column `name` that can be removed.
fn removable(dataset: &Dataset, name: &str) -> Result<(), Failure> {
    let why = match dataset.arrays() {
        _ if !dataset.is_table() => "a single array, and --drop-column is for columns of tables".to_owned(),
        arrays if arrays.iter().all(|array| array.name() != name) => {
            format!("there is no column {name:?}; there are {}", names(dataset))
        }
        [_] => format!("{name:?} is the only column, and a table has at least one"),
        _ => return Ok(()),
    };
    Err(Failure::of_file(dataset.dir(), why))
}

/// Checks that a column `name` can be added.
fn addable(dataset: &Dataset, name: &str) -> Result<(), Failure> {
    let why = match dataset.arrays().iter().any(|array| array.name() == name) {
        _ if !dataset.is_table() => "a single array, and --add-column is for tables".to_owned(),
        true => format!("there is a column {name:?} already (--drop-column removes it before the new one is added)"),
        false => return Ok(()),
    };
    Err(Failure::of_file(dataset.dir(), why))
}

/// Converts the error of changing the number of rows to `rows`.
fn unsized_by(failure: bcolz::Failure, rows: u64, dir: &Path) -> Failure {
    let why = match cause(&failure) {
        Some((Kind::Unsupported, What::BCOLZ_DTYPE)) => {
            "objects have no default value for new rows (pilaster convert --append appends rows)".to_owned()
        }
        Some((Kind::Limit, What::MAX_ROWS)) => {
            format!("--resize {rows} is too much: a dataset gets at most {} rows", Limits::DEFAULT.max_rows)
        }
        _ => return failure.into(),
    };
    Failure::of_file(dir, why)
}

/// Converts the error of adding the column `name`.
fn unnamed(failure: bcolz::Failure, name: &str, dir: &Path) -> Failure {
    match cause(&failure) {
        Some((Kind::Invalid, What::BCOLZ_NAME)) => {
            let why = "a column is a directory with its name, so the name is not empty, contains no / and no \\, and is \
                       neither ., .., __attrs__ nor __rootdirs__";
            Failure::of_file(dir, format!("no column can be called {name:?}: {why}"))
        }
        _ => failure.into(),
    }
}

/// Returns the kind and the field of an error, unless it is one of the system.
fn cause(failure: &bcolz::Failure) -> Option<(Kind, What)> {
    match failure.cause {
        Cause::Format(e) => Some((e.kind(), e.what())),
        _ => None,
    }
}

/// Writes the column `name` of a file, or its only one, as an array for the dataset.
fn new_column(how: &Edit, name: &str, path: &Path, (dataset, to): (&Dataset, &Path)) -> Result<(), Failure> {
    let choose = |columns: Columns, rows: u64| {
        let mut columns = match columns.names.len() {
            1 => columns,
            _ => columns.pick(&Wanted { columns: Some(vec![name.to_owned()]), ..Wanted::default() })?,
        };
        if rows != dataset.rows() && !dataset.arrays().is_empty() {
            let others = format!("the columns of {} have {}", dataset.dir().display(), dataset.rows());
            let help = "--resize changes the number of rows before a column is added";
            return Err(Failure::Input(format!("column {name:?} has {rows} rows, and {others} ({help})")));
        }
        // An array has no name.
        columns.names.iter_mut().for_each(String::clear);
        Ok(columns)
    };
    feed(how, path, choose, |options| Ok(Builder::create(FileSystem::default(), to, options)))
}

/// Overwrites rows of the dataset in `dir` with the rows of a file.
fn overwritten(how: &Edit, first: u64, path: &Path, dir: &Path) -> Result<(), Failure> {
    let dataset = Dataset::open(dir)?;
    let choose = |mut columns: Columns, rows: u64| {
        if !dataset.is_table() && columns.names.len() == 1 {
            columns.names.iter_mut().for_each(String::clear);
        }
        let is_known = |name: &String| dataset.arrays().iter().any(|array| array.name() == name);
        if let Some(name) = columns.names.iter().find(|name| !is_known(name)) {
            let known = if dataset.is_table() { names(&dataset) } else { "one without a name".to_owned() };
            return Err(Failure::Usage(format!("{} has no column {name:?}; there are {known}", dir.display())));
        }
        let (end, all) = (first.saturating_add(rows), dataset.rows());
        if end > all {
            let why = format!("--overwrite writes rows {first}..{end}, and {} has {all} rows", dir.display());
            return Err(Failure::Input(format!("{why} (--resize adds rows before rows are overwritten)")));
        }
        Ok(columns)
    };
    feed(how, path, choose, |options| Builder::overwrite(FileSystem::default(), dir, first, options))
}

/// Feeds the chosen columns of a file to a builder. `choose` is called with all columns and the number of rows. Errors name
/// the file, or the file of the dataset that they are about.
fn feed(
    how: &Edit,
    path: &Path,
    choose: impl FnOnce(Columns, u64) -> Result<Columns, Failure>,
    builder: impl Fn(&WriteOptions) -> Result<Builder, bcolz::Failure>,
) -> Result<(), Failure> {
    let source = Source { path: Location::Path(path.to_owned()), ..how.source.clone() };
    let named = |failure: Failure| failure.of(path.display());
    let input = detect::load(&source, None).map_err(named)?;
    let mut memory = Memory::default();
    let file = input.open(&mut memory).map_err(named)?;
    open::verify(&file).map_err(named)?;
    let mut table = open::table(&file, None).map_err(named)?;
    let room = part_room(&file).map_err(named)?.saturating_add(BATCH_ROOM as u64);
    let mut memory = Memory::with_len(room).map_err(|e| Failure::of_file(path, e))?;
    let (mut rows, mut all) = (0u64, None);
    while let Some(part) = table.next_part(&mut memory.scratch()).map_err(|e| Failure::of_file(path, e))? {
        use pilaster::column::Part as _;
        rows = rows.saturating_add(part.rows());
        if all.is_none() {
            all = Some(Columns::all(&part, input.rules()).map_err(|e| Failure::of_file(path, e))?);
        }
    }
    let all = all.ok_or_else(|| Failure::of_file(path, "there is no row to tell the columns by"))?;
    let columns = choose(all, rows).map_err(|failure| match failure {
        Failure::Usage(why) => Failure::Usage(format!("{}: {why}", path.display())),
        failure => named(failure),
    })?;
    let missing = if how.fill_missing { Missing::Fill } else { Missing::Refuse };
    let options = WriteOptions { expectedlen: Some(rows), missing, ..WriteOptions::DEFAULT };
    let mut view = View { table, columns: &columns, windows: None };
    loop {
        let mut builder = builder(&options)?;
        view.restart().map_err(|e| Failure::of_file(path, e))?;
        match convert(&mut view, &mut builder, &mut memory.scratch()) {
            Ok(_) => return Ok(builder.finish()?),
            Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => {
                memory.grow(e).map_err(|e| Failure::of_file(path, e))?;
            }
            Err(WriteError::Format(e)) => return Err(Failure::of_file(path, hinted(e))),
            Err(WriteError::Sink(e)) => return Err(e.into()),
        }
    }
}

fn hinted(e: pilaster::Error) -> String {
    match (e.kind(), e.what()) {
        (Kind::Lossy, What::BCOLZ_MISSING) => {
            format!("{e} (--fill-missing writes NaN, 0, false, and empty texts for missing values)")
        }
        (Kind::WrongType, What::BCOLZ_DTYPE) => format!("{e} (the column of the dataset has another type or shape)"),
        _ => e.to_string(),
    }
}
