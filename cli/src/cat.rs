//! `head` and `cat`: rows as text.

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use console::Term;
use pilaster::any::{File, Table};
use pilaster::bytes::Fetch as _;
use pilaster::column::{Batch, Column, Table as _};

use crate::args::{Form, Text, Which};
use crate::columns::Retyped;
use crate::csv::Csv;
use crate::failure::{self, Failure, warn};
use crate::feed::WINDOW;
use crate::grid::Grid;
use crate::lines::Lines;
use crate::open::{self, Input};
use crate::pieces::{self, Piece, Pieces};
use crate::printers::{Printer, Style};
use crate::progress::Progress;
use crate::runs;
use crate::sources::Source;
use crate::special::with_file;
use crate::threads::{Outlet, Pass, RESULT, in_order};
use crate::walk::{Choice, Head, Lot, Pause, Rows, Walk, Walked};

/// Prints the rows of the tables of all files, one after the other, as one table. `head`: the number of rows that `head`
/// prints unless the caller says which; `None` for `cat`.
pub fn run(how: &Text, head: Option<u64>, out: &mut dyn Write) -> Result<(), Failure> {
    let found = how.sources.find()?;
    runs::check(how.run, found.files.len())?;
    if let Some(dir) = found.empty.first() {
        return Err(found.no_files(dir));
    }
    match &found.unknown[..] {
        [] => {}
        [only] => warn(&format!("{}: left out, its format is unknown", only.display())),
        [first, ..] => {
            let count = found.unknown.len();
            warn(&format!("{count} files of unknown format are left out, as {}", first.display()));
        }
    }
    let terminal = Term::stdout().is_term().then(Term::stdout);
    match how.form(terminal.is_some()) {
        Form::Table => {
            let width = terminal.map(|terminal| terminal.size().1.into());
            let mut grid = Grid::new(out, !how.no_header, &how.missing, width);
            let done = tables(how, &found.files, head, &mut grid);
            // Rows before an error are printed, too.
            done.and(grid.finish())
        }
        Form::Csv => tables(how, &found.files, head, &mut Csv::new(out, !how.no_header, &how.missing)),
        Form::JsonLines => tables(how, &found.files, head, &mut Lines::new(out)),
    }
}

/// Returns the rows to read, by their numbers, and after how many printed ones `head` stops if they are not known by their
/// numbers.
fn chosen(how: &Text, head: Option<u64>) -> (Range<u64>, Option<u64>) {
    let first = match &how.rows {
        Some(Which::Range(rows)) => return (rows.clone(), None),
        Some(Which::First(first)) => *first,
        None => head.unwrap_or(u64::MAX),
    };
    match head.is_some() && how.conditions.are_given() && first > 0 {
        true => (0..u64::MAX, Some(first)),
        false => (0..first, None),
    }
}

/// Passes the chosen rows of all files to `to`. Rows are counted over all of them. If there are several files, an error of one
/// is printed, and those after it are read: the last line has their number.
fn tables<R: Printer>(how: &Text, files: &[Source], head: Option<u64>, to: &mut R) -> Result<(), Failure> {
    let (mut left, wanted) = chosen(how, head);
    let mut chain = Chain { to, first: None, next: None, file: String::new(), wanted };
    let mut bad = 0usize;
    for (k, source) in files.iter().enumerate() {
        if k > 0 && (left.is_empty() || chain.is_full()) {
            break;
        }
        chain.file = source.path.to_string();
        let mut passed = 0;
        let is_last = k.saturating_add(1) == files.len();
        let done = one(how, source, (&left, is_last), &mut chain, &mut passed);
        match done {
            Err(failure @ Failure::Input(_)) if files.len() > 1 => {
                chain.next = None;
                chain.to.flush()?;
                failure::print(&failure);
                bad = bad.saturating_add(1);
            }
            done => done?,
        }
        left = left.start.saturating_sub(passed)..left.end.saturating_sub(passed);
    }
    if bad == 0 {
        return Ok(());
    }
    let good = files.len().saturating_sub(bad);
    warn(&format!("{} files: {good} printed, {bad} bad; rows of these are missing above", files.len()));
    Err(Failure::Printed)
}

/// Passes the chosen rows of a file to `chain`. `passed` becomes the number of rows before the next file.
fn one<R: Printer>(
    how: &Text,
    source: &Source,
    (rows, is_last): (&Range<u64>, bool),
    chain: &mut Chain<'_, R>,
    passed: &mut u64,
) -> Result<(), Failure> {
    #[cfg(feature = "arrow")]
    if let Some(foreign) = crate::arrow::opened(source)? {
        *passed = foreign_rows(how, foreign, (rows, is_last), chain).map_err(|failure| failure.of(&source.path))?;
        return Ok(());
    }
    let _ = is_last;
    with_file(source, |input, file, _| {
        if how.table.is_some() && !open::has_names(file) {
            return Err(Failure::Usage("--table is for files with tables".to_owned()));
        }
        let rows = runs::within(file, how.table.as_deref(), how.run, rows)?;
        let done = Reading { how, input, file }.rows(&rows, chain);
        *passed = match done {
            Ok(passed) => passed,
            // The last row that was wanted ended the walk.
            Err(Failure::Printed) if chain.is_full() => return Ok(()),
            // The rows of the files after a bad one keep their numbers, as far as it says how many rows it has.
            Err(failure) => {
                *passed = pieces::count(file, how.table.as_deref()).unwrap_or(0);
                return Err(failure);
            }
        };
        chain.announce()
    })
}

/// Passes the chosen rows of a file of Parquet, Arrow, CSV or JSON lines to `to`. Returns the number of its rows.
#[cfg(feature = "arrow")]
fn foreign_rows<R: Printer>(
    how: &Text,
    mut foreign: crate::arrow::Foreign,
    (rows, is_last): (&Range<u64>, bool),
    to: &mut Chain<'_, R>,
) -> Result<u64, Failure> {
    if how.table.is_some() || how.run.is_some() {
        return Err(Failure::Usage("--table and --run are for files with tables".to_owned()));
    }
    // The rows of the files after this one are counted from its end.
    let all = if is_last { 0 } else { foreign.rows()? };
    let choice = Choice {
        rows,
        wanted: &how.wanted,
        conditions: &how.conditions,
        retyped: Retyped { stored_times: how.stored_times, ..Retyped::default() },
        texts: false,
        rules: crate::columns::Rules::default(),
        types: &[],
    };
    let passed = match crate::arrow::cat(foreign, choice, to) {
        // The last row that was wanted ended the walk.
        Err(Failure::Printed) if to.is_full() => 0,
        done => done?,
    };
    to.announce()?;
    Ok(passed.max(all))
}

/// A file whose rows are printed.
#[derive(Clone, Copy)]
struct Reading<'r> {
    how: &'r Text,
    input: &'r Input<'r>,
    file: &'r File<'r>,
}

/// Size in bytes of the memory of a thread for a window, batches, and text that waits. The memory of a part is added to it.
const MEMORY: u64 = (12 << 20) + RESULT;

impl Reading<'_> {
    /// Passes the chosen rows to `to`. Returns the number of rows up to the last part that was needed.
    fn rows<R: Printer>(&self, rows: &Range<u64>, to: &mut Chain<'_, R>) -> Result<u64, Failure> {
        let mut pieces = Pieces::new(self.file, self.how.table.as_deref(), rows.clone())?;
        let total = || pieces::count(self.file, self.how.table.as_deref()).unwrap_or(0);
        let mut progress = Progress::counted(|| total().min(rows.end), true);
        let mut walk = Walked::default();
        // The first rows tell the columns.
        while let Some(piece) = pieces.next() {
            self.piece(&piece, &mut walk, &mut |row| progress.at(row), to)?;
            let Some(known) = walk.known.clone() else { continue };
            pieces.widen(known.0.numbers.len(), known.1.is_some());
            to.announce()?;
            let threads = self.how.threads.count(u64::MAX, MEMORY.saturating_add(walk.memory.scratch().room() as u64));
            let style = to.to.style().filter(|_| threads > 1 && !pieces.ended());
            if let Some(style) = style
                && let Some(next) = pieces.next()
            {
                // A single piece needs no other thread.
                if pieces.ended() {
                    self.piece(&next, &mut walk, &mut |row| progress.at(row), to)?;
                    break;
                }
                let all = std::iter::once(next).chain(pieces);
                return self.threads(threads, all, &style, walk, &mut progress, to);
            }
        }
        Ok(walk.passed)
    }

    /// Passes the rows of `pieces` to `to`. Several threads make their text.
    fn threads<'p, R: Printer>(
        &'p self,
        threads: usize,
        mut pieces: impl Iterator<Item = Piece<'p>>,
        style: &Style,
        walk: Walked,
        progress: &mut Progress,
        to: &mut Chain<'_, R>,
    ) -> Result<u64, Failure> {
        let (passed, done) = (AtomicU64::new(walk.passed), AtomicU64::new(walk.passed));
        let one_by_one = to.wanted.is_some();
        in_order(
            threads,
            || pieces.next(),
            || Walked { known: walk.known.clone(), ..Walked::default() },
            |walk, piece, pass| {
                match one_by_one {
                    true => self.text_of_rows(&piece, walk, style, pass)?,
                    false => Outlet::over(pass, |out| self.text(&piece, walk, style, out))?,
                }
                passed.fetch_max(walk.passed, Ordering::Relaxed);
                done.fetch_add(piece.rows.end.saturating_sub(piece.rows.start), Ordering::Relaxed);
                Ok(())
            },
            |text| {
                progress.at(done.load(Ordering::Relaxed));
                to.to.put(&text)?;
                to.count()
            },
        )?;
        Ok(passed.into_inner())
    }

    /// Writes the text of the chosen rows of a piece.
    fn text(&self, piece: &Piece<'_>, walk: &mut Walked, style: &Style, out: impl Write) -> Result<(), Failure> {
        match style {
            Style::Csv { missing, texts } => self.piece(piece, walk, &mut |_| {}, &mut Csv::rows(out, missing, *texts)),
            Style::Lines { texts } => self.piece(piece, walk, &mut |_| {}, &mut Lines::rows(out, *texts)),
        }
    }

    /// Passes on the text of each chosen row of a piece alone, so that the rows can be counted.
    fn text_of_rows(
        &self,
        piece: &Piece<'_>,
        walk: &mut Walked,
        style: &Style,
        pass: &mut Pass<'_, Vec<u8>>,
    ) -> Result<(), Failure> {
        match style {
            Style::Csv { missing, texts } => {
                let rows = Csv::rows(Vec::new(), missing, *texts);
                self.piece(piece, walk, &mut |_| {}, &mut OneByOne { rows, text: |rows| &mut rows.out, pass })
            }
            Style::Lines { texts } => {
                let rows = Lines::rows(Vec::new(), *texts);
                self.piece(piece, walk, &mut |_| {}, &mut OneByOne { rows, text: |rows| &mut rows.out, pass })
            }
        }
    }

    /// Passes the chosen rows of a piece to `to`.
    fn piece<R: Rows>(
        &self,
        piece: &Piece<'_>,
        walked: &mut Walked,
        progress: &mut dyn FnMut(u64),
        to: &mut R,
    ) -> Result<(), Failure> {
        let choice = Choice {
            rows: &piece.rows,
            wanted: &self.how.wanted,
            conditions: &self.how.conditions,
            retyped: Retyped { stored_times: self.how.stored_times, ..Retyped::default() },
            texts: self.input.texts(),
            rules: self.input.rules(),
            types: &[],
        };
        if let Some((_, Some(filter))) = walked.known.as_deref()
            && piece.is_ruled_out(self.file, (filter, self.how.conditions.trust_statistics))
        {
            return Ok(());
        }
        let (mut table, first) = piece.table(self.file, self.how.table.as_deref())?;
        let mut walk = Walk::resume(choice, walked, first);
        // Each round reads through a window, and releases what it has fetched.
        loop {
            let window = self.input.window();
            let full = || window.as_ref().is_some_and(|window| window.held() >= WINDOW);
            let more = match (&mut table, &window) {
                (Table::DataSeries(table), Some(window)) => {
                    let mut step = table.with_input(window.input());
                    let more = walk.step(&mut step, Pause::AfterPart(&full), progress, to)?;
                    table.seek(step.bookmark())?;
                    more
                }
                (Table::Jay(_) | Table::Vortex(_), Some(window)) => {
                    let file = self.file.with_input(window.input());
                    walk.step(&mut file.table(None)?, Pause::AfterRow(&full), progress, to)?
                }
                (table, _) => {
                    let step = walk.step(table, Pause::Never, progress, to);
                    step.map_err(|failure| open::which(failure, table))?
                }
            };
            if !more {
                return Ok(());
            }
        }
    }
}

/// The rows of several files, which must have the same columns.
struct Chain<'t, R> {
    to: &'t mut R,
    /// The file with the first columns, and these.
    first: Option<(String, Head)>,
    /// The columns of this file, until a row of it is printed, or the file ends without an error.
    next: Option<Head>,
    file: String,
    /// How many rows are still wanted; `None` if the rows are known by their numbers.
    wanted: Option<u64>,
}

impl<R> Chain<'_, R> {
    /// Returns whether all wanted rows were printed.
    fn is_full(&self) -> bool {
        self.wanted == Some(0)
    }

    /// Counts a row that was printed.
    ///
    /// # Errors
    /// [`Failure::Printed`] after the last row that is wanted, which ends the walk over the rows.
    fn count(&mut self) -> Result<(), Failure> {
        self.wanted = self.wanted.map(|wanted| wanted.saturating_sub(1));
        if self.is_full() { Err(Failure::Printed) } else { Ok(()) }
    }
}

impl<R: Rows> Chain<'_, R> {
    /// Passes on the columns of this file, unless the columns of a file before it were passed on.
    fn announce(&mut self) -> Result<(), Failure> {
        let Some(head) = self.next.take() else { return Ok(()) };
        self.to.head(&head)?;
        self.first.get_or_insert((self.file.clone(), head));
        Ok(())
    }
}

impl<R: Rows> Rows for Chain<'_, R> {
    fn names_differ(&self) -> bool {
        self.to.names_differ()
    }

    fn batches(&mut self, columns: usize) -> Result<(), Failure> {
        self.announce()?;
        self.to.batches(columns)
    }

    fn head(&mut self, head: &Head) -> Result<(), Failure> {
        if let Some((file, first)) = &self.first
            && (&first.names, &first.types) != (&head.names, &head.types)
        {
            let columns = |head: &Head| {
                let all = head.names.iter().zip(&head.types);
                all.map(|(name, ty)| format!("{name} {ty}")).collect::<Vec<_>>().join(", ")
            };
            let why = format!("the columns are {}, and in {file} {}", columns(head), columns(first));
            return Err(Failure::Input(format!("{why} (--columns chooses those that all files have)")));
        }
        self.next = Some(head.clone());
        Ok(())
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
        self.to.end()?;
        self.count()
    }

    fn rows<C: Column>(&mut self, lot: &Lot<'_, '_, C>, rows: &mut dyn Iterator<Item = usize>) -> Result<(), Failure> {
        if self.wanted.is_some() {
            return lot.one_by_one(rows, self);
        }
        self.announce()?;
        self.to.rows(lot, rows)
    }
}

/// Passes on the text of each row alone.
struct OneByOne<'p, 'q, R> {
    rows: R,
    /// Returns the text of the row.
    text: fn(&mut R) -> &mut Vec<u8>,
    pass: &'p mut Pass<'q, Vec<u8>>,
}

impl<R: Rows> Rows for OneByOne<'_, '_, R> {
    fn names_differ(&self) -> bool {
        self.rows.names_differ()
    }

    fn batches(&mut self, columns: usize) -> Result<(), Failure> {
        self.rows.batches(columns)
    }

    fn value<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        column: &C,
        batch: &Batch<'_, C>,
        i: usize,
    ) -> pilaster::Result<()> {
        self.rows.value(k, name, column, batch, i)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.rows.end()?;
        Ok((self.pass)(std::mem::take((self.text)(&mut self.rows)))?)
    }
}
