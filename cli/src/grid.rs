//! Rows as an aligned table, for people.
//!
//! The first rows decide the widths of the columns, so that a table of any length is printed in bounded memory. On a
//! terminal, long cells are cut, and columns that do not fit are named below the table.

use std::io::Write;

use console::{measure_text_width, truncate_str};
use pilaster::Result;
use pilaster::column::{Batch, Column, Type, Value};

use crate::csv;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::json::{self, Ahead};
use crate::walk::{Head, Rows};

/// Rows that decide the widths.
const SAMPLE: usize = 1000;
/// The widest cell on a terminal.
const WIDEST: usize = 40;
/// Spaces between two columns.
const GAP: usize = 2;
/// Marks what was cut.
const CUT: &str = "…";

pub struct Grid<W> {
    pub out: W,
    header: bool,
    /// Stands for a missing value.
    missing: String,
    /// Whether bytes that are text are shown as such.
    texts: bool,
    /// Columns of the terminal; `None` if the table is not printed on one.
    terminal: Option<usize>,
    names: Vec<String>,
    types: Vec<String>,
    /// Whether the values of a column are numbers, which are aligned at their right end.
    numbers: Vec<bool>,
    /// The rows that decide the widths, until these are known.
    sample: Vec<Vec<String>>,
    /// The widths of the columns that are printed, once they are known.
    widths: Option<Vec<usize>>,
    /// The row so far.
    pub row: Vec<String>,
    ahead: Vec<Ahead>,
}

impl<W: Write> Grid<W> {
    pub fn new(out: W, header: bool, missing: &str, terminal: Option<usize>) -> Self {
        let missing = if missing.is_empty() { "null" } else { missing }.to_owned();
        Grid {
            out,
            header,
            missing,
            texts: false,
            terminal,
            names: Vec::new(),
            types: Vec::new(),
            numbers: Vec::new(),
            sample: Vec::new(),
            widths: None,
            row: Vec::new(),
            ahead: Vec::new(),
        }
    }

    /// Prints what is left, and the names of the columns that did not fit.
    pub fn finish(mut self) -> std::result::Result<(), Failure> {
        self.settle()?;
        let shown = self.widths.as_ref().map_or(0, Vec::len);
        let left: Vec<_> = self.names.iter().skip(shown).map(|name| escaped(name)).collect();
        if !left.is_empty() {
            let line = format!("and {} columns that do not fit: {} (--columns chooses)", left.len(), left.join(", "));
            writeln!(self.out, "{}", self.cut(&line, self.terminal.unwrap_or(usize::MAX)))?;
        }
        Ok(())
    }

    fn cut<'t>(&self, text: &'t str, width: usize) -> std::borrow::Cow<'t, str> {
        if self.terminal.is_some() { truncate_str(text, width, CUT) } else { text.into() }
    }

    /// Decides the widths, and prints the header and the rows so far.
    fn settle(&mut self) -> std::result::Result<(), Failure> {
        if self.widths.is_some() {
            return Ok(());
        }
        let sample = std::mem::take(&mut self.sample);
        let most = if self.terminal.is_some() { WIDEST } else { usize::MAX };
        let mut widths = Vec::new();
        let mut sum = 0usize;
        for (k, (name, ty)) in self.names.iter().zip(&self.types).enumerate() {
            let head = if self.header { measure_text_width(&escaped(name)).max(measure_text_width(ty)) } else { 0 };
            let cells = sample.iter().filter_map(|row| row.get(k)).map(|cell| measure_text_width(cell));
            let mut width = cells.fold(head, usize::max).min(most);
            let room = self.terminal.map_or(usize::MAX, |all| all.saturating_sub(sum));
            if k == 0 {
                width = width.min(room);
            } else if width > room {
                break;
            }
            sum = sum.saturating_add(width).saturating_add(GAP);
            widths.push(width);
        }
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        self.widths = Some(widths);
        // Before an error, columns may be unknown.
        if self.header && !self.names.is_empty() {
            let names: Vec<String> = self.names.iter().map(|name| escaped(name).into_owned()).collect();
            for row in [names, self.types.clone(), rule] {
                self.line(&row)?;
            }
        }
        sample.iter().try_for_each(|row| self.line(row))
    }

    /// Prints a row of cells, aligned.
    fn line(&mut self, row: &[String]) -> std::result::Result<(), Failure> {
        let mut line = String::new();
        let widths = self.widths.as_deref().unwrap_or_default();
        for (k, ((cell, width), number)) in row.iter().zip(widths).zip(&self.numbers).enumerate() {
            let text = self.cut(cell, *width);
            let pad = " ".repeat(width.saturating_sub(measure_text_width(&text)));
            line.push_str(if k > 0 { "  " } else { "" });
            if *number {
                line.push_str(&pad);
            }
            line.push_str(&text);
            if !*number {
                line.push_str(&pad);
            }
        }
        Ok(writeln!(self.out, "{}", line.trim_end())?)
    }
}

impl<W: Write> Rows for Grid<W> {
    fn batches(&mut self, columns: usize) -> std::result::Result<(), Failure> {
        self.ahead = json::ahead(columns);
        Ok(())
    }

    fn head(&mut self, head: &Head) -> std::result::Result<(), Failure> {
        self.texts = head.texts;
        if self.names.is_empty() {
            (self.names, self.types) = (head.names.clone(), head.types.clone());
            self.numbers = vec![false; head.names.len()];
        }
        Ok(())
    }

    fn value<C: Column>(&mut self, k: usize, _: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()> {
        let mut cell = String::new();
        let Some(ahead) = self.ahead.get_mut(k) else { return Ok(()) };
        if csv::field(&mut cell, column, batch, i, self.texts, ahead)? == csv::Written::Missing {
            cell.clone_from(&self.missing);
        }
        if let Some(number) = self.numbers.get_mut(k)
            && !*number
            && !matches!(batch.value(i)?, Value::Null)
        {
            *number = matches!(column.ty(), Type::Prim(_) | Type::Decimal { .. });
        }
        self.row.push(escaped(&cell).into_owned());
        Ok(())
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        let row = std::mem::take(&mut self.row);
        if self.widths.is_some() {
            return self.line(&row);
        }
        self.sample.push(row);
        if self.sample.len() < SAMPLE { Ok(()) } else { self.settle() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::sieve::Conditions;
    use crate::walk::{Choice, rows};

    fn table(names: &[&str], terminal: Option<usize>) -> String {
        let mut out = Vec::new();
        let (all, any) = (0..u64::MAX, Conditions::default());
        let choice = Choice::of(&all, &any);
        let mut grid = Grid::new(&mut out, true, "", terminal);
        rows(&mut sample::table(names), choice, &mut grid).unwrap();
        grid.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_stand_at_the_right_and_control_characters_are_escaped() {
        let wanted = "\
text          int       decimal
string      int32  decimal(9,2)
----------  -----  ------------
a\"b\\u{1}\\n      1        123.45
null         null          null
               -3         -0.05
";
        assert_eq!(table(&["text", "int", "decimal"], None), wanted);
    }

    #[test]
    fn a_column_is_as_wide_as_its_escaped_name() {
        let mut out = Vec::new();
        let mut grid = Grid::new(&mut out, true, "", None);
        let [names, types] = [["a\u{1b}[31mb", "c"], ["bool", "bool"]].map(|texts| texts.map(str::to_owned).to_vec());
        grid.head(&crate::walk::Head { names, types, texts: false, double: None }).unwrap();
        grid.finish().unwrap();
        let wanted = "\
a\\u{1b}[31mb  c
bool          bool
------------  ----
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let shown = table(&["text", "int", "decimal"], Some(16));
        assert!(shown.lines().all(|line| line.chars().count() <= 16), "{shown}");
        let wide = table(&["int", "decimal", "text", "wide"], Some(45));
        assert!(wide.ends_with("and 1 columns that do not fit: wide (--colum…\n"), "{wide}");
    }
}
