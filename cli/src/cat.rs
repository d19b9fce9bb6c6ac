//! `head` and `cat`: rows as text.

use std::io::Write;

use pilaster::any::File;

use crate::args::{Form, Text};
use crate::csv::Csv;
use crate::failure::Failure;
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
    let choice = Choice { rows: &rows, columns, time: &how.time, rules: input.rules() };
    let done = match how.form() {
        Form::Csv => {
            let mut csv = Csv::new(out, !how.no_header, &how.missing, input.texts());
            walk::rows(&mut table, choice, room, &mut csv)
        }
        Form::JsonLines => walk::rows(&mut table, choice, room, &mut Lines::new(out, input.texts())),
    };
    done.map_err(|failure| open::which(failure, &table))
}
