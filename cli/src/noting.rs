//! A builder that notes the column of an error, and the text of such an error.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Build, Column, Feed, Table, Type};
use pilaster::error::Kind;

use crate::conversion::{View, convert};
use crate::failure::Failure;
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
}

impl<B: Build> Noting<B> {
    /// Creates a builder over `build`.
    pub fn new(build: B) -> Self {
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
        let done = convert(table, threads, self, scratch);
        *refused = self.refused.take();
        done
    }
}

impl<B: Build> Build for Noting<B> {
    type Error = B::Error;

    fn feed(&self) -> Feed {
        self.build.feed()
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        self.build.passes(col)
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
        if done.is_err() {
            self.refused = Some(Refused { name: name.to_owned(), ty: col.ty() });
        }
        done
    }

    fn close(&mut self) -> Result<(), B::Error> {
        self.build.close()
    }
}

/// Converts the error of a value, or of bytes as text, that the target cannot store; adds the column and a remedy.
pub fn located(
    failure: Failure,
    refused: Option<Refused>,
    hint: impl Fn(&pilaster::Error, Type) -> &'static str,
) -> Failure {
    match (failure, refused) {
        (Failure::Format(e), Some(Refused { name, ty })) if matches!(e.kind(), Kind::Lossy | Kind::Utf8) => {
            Failure::Input(format!("column {name} ({ty}): {e}{}", hint(&e, ty)))
        }
        (failure, _) => failure,
    }
}
