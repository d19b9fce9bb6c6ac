//! Tables and columns, as far as they are known without reading rows.

use pilaster::any::File;
use pilaster::column::{self, Column as _, Memory, Part as _, Table as _};

use crate::columns::{Columns, Rules};
use crate::failure::Failure;
use crate::open::{Input, part_room};
use crate::type_name::{Budget, type_name};

/// A table, as far as it is known without reading rows.
pub struct Table {
    pub name: String,
    pub rows: u64,
    pub columns: Vec<Column>,
    /// What the file says about the program that wrote it.
    pub about: Vec<(String, String)>,
}

/// A column, as far as it is known without reading rows.
pub struct Column {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
    /// What the file says about its unit, and other comments.
    pub about: Vec<(String, String)>,
}

/// Returns the tables of a file whose columns are known from its first part.
pub fn tables(input: &Input, file: &File<'_>) -> Result<Vec<Table>, Failure> {
    // Parts of these formats lie ready in the file.
    let ready = matches!(file, File::Filo(_) | File::Jay(_) | File::Vortex(_));
    let mut memory = if ready { Memory::default() } else { Memory::with_len(part_room(file)?)? };
    let mut tables = Vec::new();
    for name in file.tables() {
        let mut table = file.table(Some(name))?;
        let mut known = Table { name: name.to_owned(), rows: 0, columns: Vec::new(), about: Vec::new() };
        let mut outer = memory.scratch();
        while let Some(part) = table.next_part(&mut outer.scope())? {
            if known.columns.is_empty() {
                known.columns = described(&part, input.rules())?;
            }
            known.rows = known.rows.saturating_add(part.rows());
            known.rows = known.rows.saturating_add(table.skip(u64::MAX)?);
        }
        tables.push(known);
    }
    Ok(tables)
}

/// Returns the columns of a part.
pub fn described<P: column::Part>(part: &P, rules: Rules<'_>) -> Result<Vec<Column>, Failure> {
    let (columns, mut budget) = (Columns::all(part, rules)?, Budget::default());
    let column = |(k, name): (&usize, String)| {
        // An unknown encoding of one column says nothing about the others.
        let ty = |column: P::Col| Ok((type_name(&column, ("vortex", false), &mut budget)?, column.nullable()));
        let known = part.column(*k).and_then(ty);
        let (ty, nullable) = known.unwrap_or_else(|e| (format!("cannot be read: {e}"), false));
        Column { name, ty, nullable, about: Vec::new() }
    };
    Ok(columns.numbers.iter().zip(columns.names).map(column).collect())
}
