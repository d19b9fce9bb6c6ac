//! Everything that a view and planus's reference have in common, for `tests/harness/flat.rs`.
//!
//! The list is made from the schema, so that no field can be forgotten in the comparison.

use planus_types::intermediate::{DeclarationKind, Declarations};

use crate::{Result, names};

/// One macro call per declaration.
pub fn make(schema: &str, declarations: &Declarations) -> Result<String> {
    let mut code = format!(
        "use super::{{Same, Walk, same_enum, same_struct, same_table, same_union}};
        use pilaster::generated::{{{schema} as views, owned::{schema} as owned}};\n\n"
    );
    for (path, declaration) in &declarations.declarations {
        let name = names::of_type(path);
        let names: Vec<_> = match &declaration.kind {
            DeclarationKind::Enum(e) => {
                code += &format!("same_enum!({name} as {});\n", names::of_integer(e.type_));
                continue;
            }
            DeclarationKind::Struct(s) => s.fields.keys().map(|name| names::of_field(name)).collect(),
            DeclarationKind::Table(t) => t.fields.keys().map(|name| names::of_field(name)).collect(),
            DeclarationKind::Union(u) => u.variants.keys().map(|name| names::of_variant(name)).collect(),
            DeclarationKind::RpcService(_) => return Err("services have no views".into()),
        };
        let kind = declaration.kind.kind_as_str();
        code += &format!("same_{kind}!({name} {name}Ref {{ {} }});\n", names.join(", "));
    }
    Ok(code)
}
