//! A builder that notes the column of an error, and the text of such an error.

use pilaster::bytes::{Scratch, WriteError};
use pilaster::column::{Batch, Build, Column, Feed, Table, Type};
use pilaster::error::Kind;

use crate::conversion::{View, convert};
use crate::csv;
use crate::failure::Failure;
use crate::feed::Full;
use crate::json::Ahead;
use crate::threads::Threads;

/// A builder that stores the column of its first error.
pub struct Noting<B> {
    pub build: B,
    pub refused: Option<Refused>,
}

/// The column that a builder refused.
pub struct Refused {
    name: String,
    ty: Type,
    /// The row of the table, and the text of its value, if the error is about a value.
    value: Option<(u64, String)>,
}

impl<E, B: Build<Error = WriteError<E>>> Noting<B> {
    /// Creates a builder over `build`. Its batches count from the first row of the table.
    pub const fn new(build: B) -> Self {
        Noting { build, refused: None }
    }

    /// Converts `table`. On an error of a column, `refused` is that column.
    pub fn convert<T: Table>(
        &mut self,
        table: &mut View<'_, T>,
        threads: Threads,
        scratch: &mut Scratch<'_>,
        refused: &mut Option<Refused>,
    ) -> Result<(), B::Error> {
        self.convert_in_groups(table, threads, &|_| false, scratch, refused)
    }

    /// Converts `table`. A group whose error is one of which `full` says so is fed again in smaller groups.
    pub fn convert_in_groups<T: Table>(
        &mut self,
        table: &mut View<'_, T>,
        threads: Threads,
        full: Full<'_, Self>,
        scratch: &mut Scratch<'_>,
        refused: &mut Option<Refused>,
    ) -> Result<(), B::Error> {
        let done = convert(table, threads, (self, full), scratch);
        *refused = self.refused.take();
        done
    }
}

impl<E, B: Build<Error = WriteError<E>>> Build for Noting<B> {
    type Error = B::Error;

    fn feed(&self) -> Feed {
        self.build.feed()
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        self.build.passes(col)
    }

    fn beside<C: Column>(&self, k: usize, col: &C) -> Option<u64> {
        self.build.beside(k, col)
    }

    fn again(&self) -> bool {
        self.build.again()
    }

    fn no_columns(&mut self, rows: u64) -> Result<(), B::Error> {
        self.build.no_columns(rows)
    }

    fn open(&mut self, rows: u64) -> Result<(), B::Error> {
        self.build.open(rows)
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), B::Error> {
        let done = self.build.batch(k, name, at, col, batch);
        if let Err(e) = &done {
            let value = match e {
                WriteError::Format(e) if e.kind() == Kind::Lossy => value(e.at(), at, col, batch),
                _ => None,
            };
            self.refused = Some(Refused { name: name.to_owned(), ty: col.ty(), value });
        }
        done
    }

    fn close(&mut self) -> Result<(), B::Error> {
        self.build.close()
    }
}

/// Maximum length of the text of a value in an error, in characters.
const SHOWN: usize = 40;

/// Returns the row of the table that a builder calls `row`, and the text of its value. The builder calls the first row of the
/// batch `at`: it counts the rows that it is fed, perhaps from the start of a group.
fn value<C: Column>(row: u64, at: u64, col: &C, batch: &Batch<'_, C>) -> Option<(u64, String)> {
    let i = usize::try_from(row.checked_sub(at)?).ok().filter(|i| *i < batch.len)?;
    let mut text = String::new();
    let written = csv::field(&mut text, col, batch, i, true, &mut Ahead::default()).ok()?;
    if matches!(col.ty(), Type::Utf8 | Type::Bytes | Type::FixedBytes(_)) {
        text = format!("{text:?}");
    }
    if text.chars().count() > SHOWN {
        text = text.chars().take(SHOWN).chain("...".chars()).collect();
    }
    let text = if written == csv::Written::Missing { "missing".to_owned() } else { text };
    Some((batch.first.saturating_add(i as u64), text))
}

/// Converts the error of a value, or of bytes as text, that the target cannot store; adds the column and a remedy.
pub fn located(
    failure: Failure,
    refused: Option<Refused>,
    hint: impl Fn(&pilaster::Error, Type) -> &'static str,
) -> Failure {
    match (failure, refused) {
        (Failure::Format(e), Some(Refused { name, ty, value })) if matches!(e.kind(), Kind::Lossy | Kind::Utf8) => {
            let hint = hint(&e, ty);
            let Some((row, text)) = value else { return Failure::Input(format!("column {name} ({ty}): {e}{hint}")) };
            let e = pilaster::Error::needing(e.kind(), e.what(), row, e.need().into());
            Failure::Input(format!("column {name} ({ty}), value {text}: {e}{hint}"))
        }
        (failure, _) => failure,
    }
}
