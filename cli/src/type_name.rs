//! The names of types in the expectations. Each format has the names that its original program has.

use pilaster::Result;
use pilaster::column::{Column, Type, Unit};
use pilaster::limits::Limits;
use pilaster::unstable::limits::{Depth, Fuel};

/// How much of the types of a table may be looked at: a small file can describe types whose fields share their fields, and
/// so on.
pub struct Budget {
    depth: Depth,
    nodes: Fuel,
}

/// Maximum number of elements, fields, keys and values in the types of a table.
const NODES: u32 = 1 << 17;

impl Default for Budget {
    fn default() -> Self {
        let limits = Limits { max_nodes: NODES, ..Limits::DEFAULT };
        Budget { depth: Depth::new(&limits), nodes: Fuel::new(&limits) }
    }
}

impl Budget {
    /// Calls `look` on child `k` of `column`.
    pub fn child<C: Column, T>(
        &mut self,
        column: &C,
        k: usize,
        look: impl FnOnce(&C, &mut Self) -> Result<T>,
    ) -> Result<T> {
        self.nodes.spend(0)?;
        let depth = self.depth;
        self.depth.enter(0)?;
        let done = look(&column.child(k)?, self);
        self.depth = depth;
        done
    }
}

/// Returns the name of the type of `column` in the expectations of `format`. `texts`: a column of byte strings is text.
///
/// # Errors
/// [`Kind::Limit`](pilaster::error::Kind::Limit) if the budget is spent.
pub fn type_name<C: Column>(column: &C, (format, texts): (&str, bool), budget: &mut Budget) -> Result<String> {
    let mut child = |k| budget.child(column, k, |child, budget| type_name(child, (format, texts), budget));
    Ok(match (format, column.ty()) {
        // Timestamps of Filo appear as the stored integers.
        ("filo", Type::Timestamp(Unit::Milli)) => "int64".into(),
        ("dataseries", Type::Bytes) if texts => "string".into(),
        ("dataseries" | "bcolz", Type::FixedBytes(_)) => "bytes".into(),
        ("bcolz", Type::Timestamp(unit)) => format!("datetime64[{}]", unit.name()),
        ("jay", Type::List) => format!("array<{}>", child(0)?),
        ("jay", Type::Date(_)) => "date32".into(),
        ("jay", Type::Timestamp(_)) => "time64".into(),
        ("jay", Type::Null) => "void".into(),
        ("vortex", Type::Timestamp(unit)) => match column.zone()? {
            Some(zone) => format!("timestamp[{},{zone}]", unit.name()),
            None => format!("timestamp[{}]", unit.name()),
        },
        (_, Type::List) => format!("list<{}>", child(0)?),
        ("vortex", Type::FixedList(n)) => format!("fixed_size_list<{},{n}>", child(0)?),
        (_, Type::Map) => budget.child(column, 0, |entry, budget| {
            let mut child = |k| budget.child(entry, k, |child, budget| type_name(child, (format, texts), budget));
            Ok(format!("map<{},{}>", child(0)?, child(1)?))
        })?,
        ("vortex", Type::Struct(_)) if column.is_variant() => "variant".into(),
        ("vortex", Type::Struct(n)) => {
            let field = |k| Ok(format!("{}:{}", column.child_name(k)?, child(k)?));
            format!("struct<{}>", (0..n as usize).map(field).collect::<Result<Vec<_>>>()?.join(","))
        }
        (_, ty) => ty.to_string(),
    })
}
