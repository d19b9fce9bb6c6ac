//! `edit`: changes a bcolz dataset in place.

use std::io::Write;
use std::path::Path;

use pilaster::bcolz::write::{Builder, Editor, FileSystem, Missing, WriteOptions};
use pilaster::bcolz::{self, Cause, Dataset};
use pilaster::bytes::WriteError;
use pilaster::column::{Memory, Table as _, convert};
use pilaster::error::{Kind, What};

use crate::args::Edit;
use crate::columns::Columns;
use crate::detect;
use crate::failure::Failure;
use crate::feed::View;
use crate::open::{self, part_room};
use crate::sieve::BATCH_ROOM;
use crate::sources::{Location, Source};

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
    let mut editor = Editor::open(FileSystem::default(), dir)?;
    drop_column.iter().try_for_each(|name| editor.drop_column(name))?;
    trim.map_or(Ok(()), |rows| editor.trim(rows))?;
    resize.map_or(Ok(()), |rows| editor.resize(rows)).map_err(explained)?;
    for (name, path) in add_column {
        let to = dir.join(COLUMN);
        new_column(how, name, Path::new(path), &to)?;
        if let Err(e) = editor.add_column(name, &to) {
            // It is of no use, and the reason is more important than whether it is removed.
            let _ = std::fs::remove_dir_all(&to);
            return Err(e.into());
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

fn explained(failure: bcolz::Failure) -> Failure {
    match &failure.cause {
        Cause::Format(e) if e.kind() == Kind::Unsupported && e.what() == What::BCOLZ_DTYPE => {
            let dir = failure.path.parent().and_then(Path::parent).unwrap_or(&failure.path);
            Failure::Input(format!(
                "{}: objects have no default value for new rows (pilaster convert --append appends rows)",
                dir.display()
            ))
        }
        _ => failure.into(),
    }
}

/// Writes the column `name` of a file, or its only one, as an array.
fn new_column(how: &Edit, name: &str, path: &Path, to: &Path) -> Result<(), Failure> {
    let choose = |columns: Columns| {
        let mut columns = match columns.names.len() {
            1 => columns,
            _ => columns.pick(Some(&[name.to_owned()]))?,
        };
        // An array has no name.
        columns.names.iter_mut().for_each(String::clear);
        Ok(columns)
    };
    feed(how, path, choose, |options| Ok(Builder::create(FileSystem::default(), to, options)))
}

/// Overwrites rows of the dataset in `dir` with the rows of a file.
fn overwritten(how: &Edit, first: u64, path: &Path, dir: &Path) -> Result<(), Failure> {
    let dataset = Dataset::open(dir)?;
    let names: Vec<&str> = dataset.arrays().iter().map(bcolz::Array::name).collect();
    let choose = |mut columns: Columns| {
        if !dataset.is_table() && columns.names.len() == 1 {
            columns.names.iter_mut().for_each(String::clear);
        }
        match columns.names.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => {
                let known = if dataset.is_table() { names.join(", ") } else { "one without a name".to_owned() };
                Err(Failure::Usage(format!("{} has no column {name:?}; there are {known}", dir.display())))
            }
            None => Ok(columns),
        }
    };
    feed(how, path, choose, |options| Builder::overwrite(FileSystem::default(), dir, first, options))
}

/// Feeds the chosen columns of a file to a builder.
fn feed(
    how: &Edit,
    path: &Path,
    choose: impl FnOnce(Columns) -> Result<Columns, Failure>,
    builder: impl Fn(&WriteOptions) -> Result<Builder, bcolz::Failure>,
) -> Result<(), Failure> {
    let source = Source { path: Location::Path(path.to_owned()), ..how.source.clone() };
    let named = |failure: Failure| match failure {
        Failure::Format(e) => Failure::of_file(path, e),
        Failure::Input(why) => Failure::of_file(path, why),
        other => other,
    };
    let input = detect::load(&source, None).map_err(named)?;
    let mut memory = Memory::default();
    let file = input.open(&mut memory).map_err(named)?;
    open::verify(&file).map_err(named)?;
    let mut table = open::table(&file, None).map_err(named)?;
    let mut memory = Memory::with_len(part_room(&file)?.saturating_add(BATCH_ROOM as u64))?;
    let (mut rows, mut all) = (0u64, None);
    while let Some(part) = table.next_part(&mut memory.scratch()).map_err(|e| Failure::of_file(path, e))? {
        use pilaster::column::Part as _;
        rows = rows.saturating_add(part.rows());
        if all.is_none() {
            all = Some(Columns::all(&part, input.rules())?);
        }
    }
    let columns = choose(all.ok_or_else(|| Failure::of_file(path, "there is no row to tell the columns by"))?)?;
    let missing = if how.fill_missing { Missing::Fill } else { Missing::Refuse };
    let options = WriteOptions { expectedlen: Some(rows), missing, ..WriteOptions::DEFAULT };
    let mut view = View { table, columns: &columns, windows: None };
    loop {
        let mut builder = builder(&options)?;
        view.restart()?;
        match convert(&mut view, &mut builder, &mut memory.scratch()) {
            Ok(_) => return Ok(builder.finish()?),
            Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => memory.grow(e)?,
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
