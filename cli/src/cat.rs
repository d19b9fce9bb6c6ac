//! `head` and `cat`: rows as text.

use std::io::Write;

use console::Term;
use pilaster::any::File;

use crate::args::{Form, Text};
use crate::csv::Csv;
use crate::failure::Failure;
use crate::grid::Grid;
use crate::json::Lines;
use crate::open::{self, Input};
use crate::walk::{self, Choice};

/// Prints the rows of a table, at most `most` without `--rows`.
pub fn run(input: &Input, file: &File<'_>, how: &Text, most: u64, out: &mut dyn Write) -> Result<(), Failure> {
    if how.table.is_some() && !open::has_names(file) {
        return Err(Failure::Usage("--table is for files with tables".to_owned()));
    }
    let (mut table, room) = (open::table(file, how.table.as_deref())?, open::part_room(file)?);
    let rows = how.rows.clone().unwrap_or(0..most);
    let columns = how.columns.as_deref();
    let choice = Choice {
        rows: &rows,
        columns,
        time: &how.time,
        condition: how.condition.as_ref(),
        trust: how.trust_statistics,
        stored_times: how.stored_times,
        rules: input.rules(),
    };
    let terminal = Term::stdout().is_term().then(Term::stdout);
    let done = match how.form(terminal.is_some()) {
        Form::Table => {
            let width = terminal.map(|terminal| terminal.size().1.into());
            let mut grid = Grid::new(out, !how.no_header, &how.missing, input.texts(), width);
            let done = walk::rows(&mut table, choice, room, &mut grid);
            // Rows before an error are printed, too.
            done.and(grid.finish())
        }
        Form::Csv => {
            let mut csv = Csv::new(out, !how.no_header, &how.missing, input.texts());
            walk::rows(&mut table, choice, room, &mut csv)
        }
        Form::JsonLines => walk::rows(&mut table, choice, room, &mut Lines::new(out, input.texts())),
    };
    done.map_err(|failure| open::which(failure, &table))
}
