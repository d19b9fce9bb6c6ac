//! The forms of text in which `cat` and `head` print rows.

use std::io::Write;

use crate::csv::Csv;
use crate::failure::Failure;
use crate::grid::Grid;
use crate::lines::Lines;
use crate::walk::Rows;

/// Prints rows, and text that other threads have made of rows.
pub trait Printer: Rows {
    /// Returns how other threads make the text of rows, or `None` if the text of a row depends on the rows before it.
    fn style(&self) -> Option<Style>;

    fn out(&mut self) -> &mut dyn Write;

    /// Drops the values of a row that an error ended.
    fn drop_row(&mut self);

    fn put(&mut self, text: &[u8]) -> Result<(), Failure> {
        Ok(self.out().write_all(text)?)
    }

    /// Ends the rows of a file that an error ended, so that a message about it comes after them.
    fn flush(&mut self) -> Result<(), Failure> {
        self.drop_row();
        Ok(self.out().flush()?)
    }
}

/// How rows are printed.
pub enum Style {
    Csv { missing: String, texts: bool },
    Lines { texts: bool },
}

impl<W: Write> Printer for Csv<W> {
    fn style(&self) -> Option<Style> {
        Some(Style::Csv { missing: self.missing.clone(), texts: self.texts })
    }

    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    fn drop_row(&mut self) {
        self.line.clear();
    }
}

impl<W: Write> Printer for Lines<W> {
    fn style(&self) -> Option<Style> {
        Some(Style::Lines { texts: self.texts })
    }

    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    fn drop_row(&mut self) {
        self.line.clear();
    }
}

impl<W: Write> Printer for Grid<W> {
    fn style(&self) -> Option<Style> {
        None
    }

    fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    fn drop_row(&mut self) {
        self.row.clear();
    }
}
