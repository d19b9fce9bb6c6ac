//! The types that the target of `convert` can store, checked before anything is written.

use std::collections::HashSet;

use pilaster::Result;
use pilaster::any::Format;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part as _, Table, Type};
use pilaster::vortex::write::holds_zone;

use crate::conversion::View;
use crate::extents::LEAVE_OUT;
use crate::failure::Failure;
use crate::type_name::Budget;

/// Maximum length in bytes of the name of a column: a limit of DataSeries, and of directories, as in bcolz.
const MAX_NAME: usize = 255;

/// Precedes the other columns that a target cannot store.
const ALSO: &str = "; it cannot store these either: ";

/// What a target can store.
pub struct Storable<'s> {
    pub to: Format,
    /// Returns whether it stores values of a type, for a type with children if it stores these.
    pub holds: &'s dyn Fn(Type) -> bool,
    /// Returns what helps with a type that it does not store, or an empty text.
    pub hint: &'s dyn Fn(Type) -> &'static str,
    /// Whether the time zone of timestamps is kept, or may be dropped.
    pub any_time: bool,
}

impl Storable<'_> {
    /// Checks the columns of the first part.
    ///
    /// # Errors
    /// [`Failure::Input`] that names the column, and the field in it, whose type or time zone the target cannot store, and the
    /// other columns that are refused.
    pub fn check<T: Table>(
        &self,
        table: &mut View<'_, T>,
        scratch: &mut Scratch<'_>,
    ) -> std::result::Result<(), Failure> {
        table.restart()?;
        let mut scope = scratch.scope();
        let Some(part) = table.next_part(&mut scope)? else { return Ok(()) };
        let (to, budget) = (self.to, &mut Budget::default());
        let (mut refused, mut known) = (Vec::<(String, String)>::new(), HashSet::new());
        for k in 0..part.width() {
            let (column, name) = (part.column(k)?, part.name(k)?);
            if matches!(to, Format::DataSeries | Format::Bcolz) && name.len() > MAX_NAME {
                let (start, len) = (name.chars().take(20).collect::<String>(), name.len());
                let why = format!("its name has {len} bytes, and {to} allows {MAX_NAME}{LEAVE_OUT}");
                return Err(Failure::Input(format!("column {start}: {why}")));
            }
            if let Some(why) = self.unfit(name, part.width(), !known.insert(name.to_owned())) {
                let number = k.saturating_add(1);
                refused.push((
                    name.to_owned(),
                    format!("column {number}, called {name:?}: {to} cannot store {why}{LEAVE_OUT}"),
                ));
                continue;
            }
            let mut path = name.to_owned();
            if let Some(why) = self.refusal(&column, &mut path, budget)? {
                refused.push((name.to_owned(), format!("column {path}: {to} cannot store {why}")));
            }
        }
        match &refused[..] {
            [] => Ok(()),
            [(_, only)] => Err(Failure::Input(only.clone())),
            [(_, first), ..] => {
                let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
                let (others, all) = (names.get(1..).unwrap_or_default().join(", "), names.join(","));
                Err(Failure::Input(format!("{first}{ALSO}{others} (--except {all} leaves all of these out)")))
            }
        }
    }

    /// Returns what is wrong with the name of a column of a table of `width` columns. `is_known`: a column before it has it.
    fn unfit(&self, name: &str, width: usize, is_known: bool) -> Option<&'static str> {
        let is_path = name.contains(['/', '\\', '\0']) || name == "." || name == "..";
        match self.to {
            Format::Filo | Format::Vortex => None,
            // An array alone has no name.
            Format::Bcolz if name.is_empty() && width == 1 => None,
            Format::Bcolz if is_path => Some("a name that is no name of a directory"),
            _ if name.is_empty() => Some("an empty name"),
            _ if is_known => Some("the same name twice"),
            _ => None,
        }
    }

    /// Returns what the target cannot store of `column`, which is called `path`, and appends the names of the fields that
    /// lead to it.
    fn refusal<C: Column>(&self, column: &C, path: &mut String, budget: &mut Budget) -> Result<Option<String>> {
        let ty = column.ty();
        if !(self.holds)(ty) {
            let hint = Some((self.hint)(ty)).filter(|hint| !hint.is_empty()).unwrap_or(LEAVE_OUT);
            return Ok(Some(format!("{ty}{hint}")));
        }
        if let Some(zone) = column.zone()?.filter(|_| !self.any_time && !self.to.keeps_time(ty, true)) {
            return Ok(Some(format!("the time zone {zone} (--any-time drops it)")));
        }
        if let Some(zone) = column.zone()?.filter(|zone| self.to == Format::Vortex && !holds_zone(zone)) {
            let known = "IANA names and offsets such as +01:00; the zone UTC is called UTC";
            return Ok(Some(format!("the time zone {zone:?}, only {known}{LEAVE_OUT}")));
        }
        let len = path.len();
        for k in 0..ty.children() {
            if let Type::Struct(_) = ty {
                path.push('.');
                path.push_str(column.child_name(k)?);
            }
            let refusal = budget.child(column, k, |child, budget| self.refusal(child, path, budget))?;
            if refusal.is_some() {
                return Ok(refusal);
            }
            path.truncate(len);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use pilaster::any::{Hints, Owned};
    use pilaster::column::{Memory, Prim};

    use super::*;

    #[test]
    fn a_field_is_named_by_its_path() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/vortex/def_nested_a.vortex");
        let mut owned = Owned::open(path, &Hints::default()).unwrap();
        let (file, mut memory) = (owned.file().unwrap(), Memory::default());
        let mut table = file.table(None).unwrap();
        let part = table.next_part(&mut memory.scratch()).unwrap().unwrap();
        let storable =
            Storable { to: Format::Bcolz, holds: &|ty| ty != Type::Prim(Prim::F64), hint: &|_| "", any_time: true };
        let refused = |name: &str| {
            let mut path = name.to_owned();
            let column = part.column((0..part.width()).find(|k| part.name(*k) == Ok(name)).unwrap()).unwrap();
            storable.refusal(&column, &mut path, &mut Budget::default()).unwrap().map(|why| (path, why))
        };
        let why = format!("float64{LEAVE_OUT}");
        assert_eq!(refused("st"), Some(("st.z.w".to_owned(), why.clone())));
        assert_eq!(refused("lst"), Some(("lst.z.w".to_owned(), why)));
        assert_eq!(refused("fsln"), None);
    }
}
