//! The fields that a view and the reference type of planus have in common, for `tests/harness/flat.rs`.
//!
//! The list is generated from the schema, so that the comparison includes every field.

use std::collections::BTreeSet;

use planus_types::intermediate::{DeclarationKind, Declarations};

use crate::{Result, names, views};

/// Returns one macro call per declaration.
pub fn make(schema: &str, declarations: &Declarations) -> Result<String> {
    let (mut calls, mut macros) = (String::new(), BTreeSet::new());
    for (path, declaration) in &declarations.declarations {
        let name = names::of_type(path);
        let (call, of) = match &declaration.kind {
            DeclarationKind::Enum(e) => ("same_enum", format!("{name} as {}", names::of_integer(e.type_))),
            DeclarationKind::Struct(s) => ("same_struct", list(&name, "", s.fields.keys().map(|f| names::of_field(f)))),
            DeclarationKind::Table(t) => ("same_table", list(&name, "", t.fields.keys().map(|f| names::of_field(f)))),
            DeclarationKind::Union(u) => {
                let members = u.variants.keys().map(|member| names::of_variant(member));
                ("same_union", list(&name, views::lifetime(u), members))
            }
            DeclarationKind::RpcService(_) => return Err("services have no views".into()),
        };
        calls += &format!("{call}!({of});\n");
        macros.insert(call);
    }
    let macros = macros.into_iter().collect::<Vec<_>>().join(", ");
    Ok(format!(
        "use super::{{Same, Walk, {macros}}};
        use pilaster::unstable::generated::{schema} as views;
        use pilaster_oracle::{schema} as owned;

        {calls}"
    ))
}

fn list(name: &str, lifetime: &str, of: impl Iterator<Item = String>) -> String {
    format!("{name}{lifetime} {name}Ref {{ {} }}", of.collect::<Vec<_>>().join(", "))
}
