//! Rows as JSON lines.

use std::io::Write;

use pilaster::Result;
use pilaster::column::{Batch, Column};

use crate::cells;
use crate::failure::Failure;
use crate::json::{self, Ahead, Json, Style};
use crate::json_text::string;
use crate::walk::{Head, Lot, Rows};

/// Prints one object per row, each on its own line.
pub struct Lines<W> {
    pub out: W,
    /// The row so far.
    pub line: String,
    ahead: Vec<Ahead>,
    /// What precedes the value of each column that was printed: a brace or a comma, and the name.
    names: Vec<String>,
    /// True if bytes that are UTF-8 are shown as text.
    pub texts: bool,
    /// Rows that are not written yet.
    page: Vec<u8>,
}

impl<W: Write> Lines<W> {
    pub fn new(out: W) -> Self {
        Lines::rows(out, false)
    }

    /// Prints the rows of columns that are known.
    pub fn rows(out: W, texts: bool) -> Self {
        Lines { out, line: String::new(), ahead: Vec::new(), names: Vec::new(), texts, page: Vec::new() }
    }

    /// Makes what precedes the value of column `k`, called `name`, if it is the next one.
    fn name(&mut self, k: usize, name: &str) {
        if k == self.names.len() {
            let mut start = String::from(if k > 0 { "," } else { "{" });
            string(&mut start, name);
            start.push(':');
            self.names.push(start);
        }
    }
}

impl<W: Write> Rows for Lines<W> {
    fn batches(&mut self, columns: usize) -> std::result::Result<(), Failure> {
        self.ahead = json::ahead(columns);
        Ok(())
    }

    fn head(&mut self, head: &Head) -> std::result::Result<(), Failure> {
        self.texts = head.texts;
        self.names.clear();
        Ok(())
    }

    fn value<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()> {
        self.name(k, name);
        self.line.push_str(self.names.get(k).map_or("", String::as_str));
        match self.ahead.get_mut(k) {
            Some(ahead) => json::value(&mut self.line, column, batch, i, (Style::Plain, self.texts), ahead),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        self.line.push_str("}\n");
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn rows<C: Column>(
        &mut self,
        lot: &Lot<'_, '_, C>,
        rows: &mut dyn Iterator<Item = usize>,
    ) -> std::result::Result<(), Failure> {
        lot.names.iter().enumerate().for_each(|(k, name)| self.name(k, name));
        let objects = Json { names: &self.names, texts: self.texts };
        cells::print(&objects, lot, rows, &mut self.page, &mut self.out)
    }
}
