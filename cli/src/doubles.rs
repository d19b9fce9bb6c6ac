//! Names that several columns of a table have, or several fields of a struct: JSON readers keep one of them, or none.

use std::collections::HashSet;

use pilaster::Result;
use pilaster::column::{Column, Part, Type};

use crate::columns::Columns;
use crate::type_name::Budget;

/// Returns the first column with the name of a column before it, or the path to the first such field of a struct.
pub fn find<P: Part>(part: &P, columns: &Columns) -> Result<Option<String>> {
    let (mut known, mut budget) = (HashSet::new(), Budget::default());
    for ((k, name), place) in columns.numbers.iter().zip(&columns.names).zip(1u64..) {
        if !known.insert(name) {
            return Ok(Some(format!("column {place}, called {name:?}")));
        }
        let mut path = name.clone();
        if field(&part.column(*k)?, &mut path, &mut budget)? {
            return Ok(Some(format!("column {path}")));
        }
    }
    Ok(None)
}

/// Returns whether a struct within `column` has two fields with the same name, and appends the names that lead to the second.
fn field<C: Column>(column: &C, path: &mut String, budget: &mut Budget) -> Result<bool> {
    let (ty, len) = (column.ty(), path.len());
    let mut known = HashSet::new();
    for k in 0..ty.children() {
        if let Type::Struct(_) = ty {
            let name = column.child_name(k)?;
            path.push('.');
            path.push_str(name);
            if !known.insert(name) {
                return Ok(true);
            }
        }
        if budget.child(column, k, |child, budget| field(child, path, budget))? {
            return Ok(true);
        }
        path.truncate(len);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use pilaster::column::{Borrowed, Prim, Ranges, Values};

    use super::*;

    #[test]
    fn fields_of_structs_are_found_wherever_they_are() {
        let number = Borrowed::new(Type::Prim(Prim::U8), Values::U8(&[1, 2]));
        let path = |names: [&'static str; 3]| {
            let fields = names.map(|name| (name, number));
            let structs = Values::Nested(Ranges::Stride { first: 0, size: 1, count: 2 });
            let items = [("item", Borrowed::new(Type::Struct(3), structs).with_children(&fields))];
            let list = Borrowed::new(Type::List, Values::Nested(Ranges::Off32(&[0, 2]))).with_children(&items);
            let mut path = "l".to_owned();
            field(&list, &mut path, &mut Budget::default()).map(|is_double| is_double.then_some(path))
        };
        assert_eq!(path(["a", "b", "l"]), Ok(None));
        assert_eq!(path(["a", "b", "a"]), Ok(Some("l.a".to_owned())));
    }
}
