//! `head` and `cat`: rows as text.

use std::io::Write;
use std::ops::Range;

use console::Term;
use pilaster::any::{File, Table};
use pilaster::bytes::Fetch as _;
use pilaster::column::{Batch, Column};

use crate::args::{Form, Text};
use crate::csv::Csv;
use crate::failure::{Failure, warn};
use crate::feed::WINDOW;
use crate::grid::Grid;
use crate::json::Lines;
use crate::open::{self, Input};
use crate::sources::Source;
use crate::special::with_file;
use crate::walk::{Choice, Head, Pause, Rows, Walk};

/// Prints the rows of the tables of all files, one after the other, as one table: at most `most` unless the caller says
/// which.
pub fn run(how: &Text, most: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let found = how.sources.find()?;
    for unknown in &found.unknown {
        warn(&format!("{}: left out, its format is unknown", unknown.display()));
    }
    let terminal = Term::stdout().is_term().then(Term::stdout);
    match how.form(terminal.is_some()) {
        Form::Table => {
            let width = terminal.map(|terminal| terminal.size().1.into());
            let mut grid = Grid::new(out, !how.no_header, &how.missing, width);
            let done = tables(how, &found.files, most, &mut grid);
            // Rows before an error are printed, too.
            done.and(grid.finish())
        }
        Form::Csv => tables(how, &found.files, most, &mut Csv::new(out, !how.no_header, &how.missing)),
        Form::JsonLines => tables(how, &found.files, most, &mut Lines::new(out)),
    }
}

/// Passes the chosen rows of all files to `to`. Rows are counted over all of them.
fn tables<R: Rows>(how: &Text, files: &[Source], most: u64, to: &mut R) -> Result<(), Failure> {
    let mut left = how.rows.clone().unwrap_or(0..most);
    let mut chain = Chain { to, first: None, file: String::new() };
    for (k, source) in files.iter().enumerate() {
        if k > 0 && left.is_empty() {
            break;
        }
        chain.file = source.path.to_string();
        let mut passed = 0;
        with_file(source, |input, file, _| {
            passed = rows(input, file, how, &left, &mut chain)?;
            Ok(())
        })?;
        left = left.start.saturating_sub(passed)..left.end.saturating_sub(passed);
    }
    Ok(())
}

/// Passes the chosen rows of one file to `to`.
fn rows<R: Rows>(
    input: &Input<'_>,
    file: &File<'_>,
    how: &Text,
    rows: &Range<u64>,
    to: &mut R,
) -> Result<u64, Failure> {
    if how.table.is_some() && !open::has_names(file) {
        return Err(Failure::Usage("--table is for files with tables".to_owned()));
    }
    let choice = Choice {
        rows,
        columns: how.columns.as_deref(),
        time: &how.time,
        condition: how.condition.as_ref(),
        trust: how.trust_statistics,
        stored_times: how.stored_times,
        texts: input.texts(),
        rules: input.rules(),
    };
    let (mut walk, mut table) = (Walk::new(choice), open::table(file, how.table.as_deref())?);
    // Each round reads through a window, and releases what it has fetched.
    loop {
        let window = input.window();
        let full = || window.as_ref().is_some_and(|window| window.held() >= WINDOW);
        let more = match (&mut table, &window) {
            (Table::DataSeries(table), Some(window)) => {
                let mut step = table.with_input(window.input());
                let more = walk.step(&mut step, Pause::AfterPart(&full), to)?;
                table.follow(&step);
                more
            }
            (Table::Jay(_) | Table::Vortex(_), Some(window)) => {
                let file = file.with_input(window.input());
                walk.step(&mut file.table(None)?, Pause::AfterRow(&full), to)?
            }
            (table, _) => walk.step(table, Pause::Never, to).map_err(|failure| open::which(failure, table))?,
        };
        if !more {
            return Ok(walk.passed());
        }
    }
}

/// The rows of several files, which must have the same columns.
struct Chain<'t, R> {
    to: &'t mut R,
    /// The file with the first columns, and these.
    first: Option<(String, Head)>,
    file: String,
}

impl<R: Rows> Rows for Chain<'_, R> {
    fn batches(&mut self, columns: usize) {
        self.to.batches(columns);
    }

    fn head(&mut self, head: &Head) -> Result<(), Failure> {
        let (file, first) = self.first.get_or_insert_with(|| (self.file.clone(), head.clone()));
        if (&first.names, &first.types) != (&head.names, &head.types) {
            let columns = |head: &Head| {
                let all = head.names.iter().zip(&head.types);
                all.map(|(name, ty)| format!("{name} {ty}")).collect::<Vec<_>>().join(", ")
            };
            let why = format!("the columns are {}, and in {file} {}", columns(head), columns(first));
            return Err(Failure::Input(format!("{why} (--columns chooses those that all files have)")));
        }
        self.to.head(head)
    }

    fn value<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        column: &C,
        batch: &Batch<'_, C>,
        i: usize,
    ) -> pilaster::Result<()> {
        self.to.value(k, name, column, batch, i)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.to.end()
    }
}
