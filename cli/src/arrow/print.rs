//! Rows that another program has computed, as `cat` prints the rows of a file.

use std::io::Write;

use console::Term;
use pilaster_arrow::arrow_array::RecordBatchReader;
use pilaster_arrow::{Batches, Stream};

use super::source::failed;
use crate::args::{Form, Wanted};
use crate::columns::{Retyped, Rules};
use crate::csv::Csv;
use crate::failure::Failure;
use crate::grid::Grid;
use crate::lines::Lines;
use crate::sieve::Conditions;
use crate::walk::{Choice, Pause, Rows, Walk, Walked};

/// Prints all rows, as `cat` prints the rows of a file.
///
/// # Errors
/// An error of the reader; a column of a type that no file has, with its name; an error of `out`.
pub fn print_rows<R: RecordBatchReader>(rows: R, form: Form, out: &mut dyn Write) -> Result<(), Failure> {
    match form {
        Form::Table => {
            let terminal = Term::stdout();
            let width = terminal.is_term().then(|| terminal.size().1.into());
            let mut grid = Grid::new(out, true, "", width);
            let done = all(rows, &mut grid);
            // Rows before an error are printed, too.
            done.and(grid.finish())
        }
        Form::Csv => all(rows, &mut Csv::new(out, true, "")),
        Form::JsonLines => all(rows, &mut Lines::new(out)),
    }
}

/// Passes all rows to `to`.
fn all<R: RecordBatchReader, T: Rows>(rows: R, to: &mut T) -> Result<(), Failure> {
    let (every, wanted, conditions) = (0..u64::MAX, Wanted::default(), Conditions::default());
    let choice = Choice {
        rows: &every,
        wanted: &wanted,
        conditions: &conditions,
        retyped: Retyped::default(),
        texts: false,
        rules: Rules::default(),
        types: &[],
    };
    let mut table = Batches::tolerant(Stream::new(rows)).map_err(failed)?;
    let mut walked = Walked::default();
    let done = Walk::resume(choice, &mut walked, 0).step(&mut table, Pause::Never, &mut |_| {}, to);
    match table.failed() {
        Some(e) => done.map_err(|_| Failure::Input(e.to_string())),
        None => done,
    }
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pilaster_arrow::arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray};
    use pilaster_arrow::arrow_schema::ArrowError;

    use super::*;

    fn batch() -> RecordBatch {
        let texts: StringArray = [Some("a"), Some(""), None].into_iter().collect();
        let numbers: Float64Array = [Some(f64::NAN), Some(0.5), Some(f64::INFINITY)].into_iter().collect();
        let columns: [(&str, ArrayRef); 2] = [("s", Arc::new(texts)), ("x", Arc::new(numbers))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn printed(batches: Vec<Result<RecordBatch, ArrowError>>, form: Form) -> (String, Option<String>) {
        let mut out = Vec::new();
        let done = print_rows(RecordBatchIterator::new(batches, batch().schema()), form, &mut out);
        (String::from_utf8(out).unwrap(), done.err().map(|failure| failure.to_string()))
    }

    #[test]
    fn rows_in_every_form() {
        let twice = || vec![Ok(batch()), Ok(batch().slice(0, 1))];
        let (csv, none) = printed(twice(), Form::Csv);
        assert_eq!((&csv[..], none), ("s,x\na,NaN\n\"\",0.5\n,Infinity\na,NaN\n", None));
        let (json, _) = printed(twice(), Form::JsonLines);
        assert_eq!(json.lines().nth(2), Some("{\"s\":null,\"x\":\"Infinity\"}"));
        let (table, _) = printed(twice(), Form::Table);
        // Names, types and a line before the rows.
        assert_eq!(table.lines().count(), 7, "{table}");
        // The names, of no rows.
        assert_eq!(printed(vec![], Form::Csv).0, "s,x\n");
    }

    #[test]
    fn an_error_before_any_row_is_alone() {
        for form in [Form::Table, Form::JsonLines] {
            let (rows, error) = printed(vec![Err(ArrowError::ComputeError("torn".to_owned()))], form);
            assert!(rows.is_empty() && error.is_some(), "{form:?}: {rows:?}");
        }
    }

    #[test]
    fn rows_before_an_error_are_printed() {
        let torn = || vec![Ok(batch()), Err(ArrowError::ComputeError("torn".to_owned()))];
        for form in [Form::Table, Form::Csv, Form::JsonLines] {
            let (rows, error) = printed(torn(), form);
            assert!(rows.contains("Infinity"), "{form:?}: {rows}");
            assert!(error.as_ref().is_some_and(|error| error.contains("torn")), "{form:?}: {error:?}");
        }
    }
}
