//! `head` and `cat`: rows as text.

use std::io::Write;

use pilaster::any::File;
use pilaster::filo;

use crate::Failure;
use crate::args::{Text, To};
use crate::csv::Csv;
use crate::json::Lines;
use crate::walk;

pub fn run(file: &File<'_>, how: &Text, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = match file {
        File::Filo(vector) => filo::Table::new(*vector),
    };
    match how.to {
        To::Csv => walk::rows(&mut table, how.rows, &mut Csv::new(out, how.header, &how.missing)),
        To::JsonLines => walk::rows(&mut table, how.rows, &mut Lines::new(out)),
    }
}
