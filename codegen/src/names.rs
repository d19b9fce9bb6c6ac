//! Rust names, equal to the names that planus chooses, and documentation.

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use planus_types::ast::{Docstrings, FloatType, IntegerType};
use planus_types::intermediate::{AbsolutePath, DeclarationIndex, Declarations, SimpleType};

use crate::Result;

/// Keywords that are or could be field names in the schemas. A keyword that is not in this list fails the build.
const KEYWORDS: [&str; 8] = ["type", "struct", "enum", "union", "ref", "match", "mod", "const"];

/// Returns the name of a type.
pub fn of_type(path: &AbsolutePath) -> String {
    path.0.last().map_or_else(String::new, |name| name.to_upper_camel_case())
}

/// Returns the name of the type of a declaration.
pub fn of_index(declarations: &Declarations, index: &DeclarationIndex) -> String {
    of_type(declarations.get_declaration(*index).0)
}

/// Returns the name of an enum variant or union member.
pub fn of_variant(name: &str) -> String {
    name.to_upper_camel_case()
}

/// Returns the name of a field.
pub fn of_field(name: &str) -> String {
    let name = name.to_snake_case();
    if KEYWORDS.contains(&name.as_str()) { name + "_" } else { name }
}

/// Returns the name of the constant with the number of a field.
pub fn of_constant(name: &str) -> String {
    name.to_shouty_snake_case()
}

/// Returns the Rust integer type.
pub fn of_integer(integer: IntegerType) -> &'static str {
    match integer {
        IntegerType::U8 => "u8",
        IntegerType::I8 => "i8",
        IntegerType::U16 => "u16",
        IntegerType::I16 => "i16",
        IntegerType::U32 => "u32",
        IntegerType::I32 => "i32",
        IntegerType::U64 => "u64",
        IntegerType::I64 => "i64",
    }
}

/// Returns the Rust type of a value of fixed size.
pub fn of_simple(declarations: &Declarations, simple: &SimpleType) -> String {
    match simple {
        SimpleType::Struct(index) | SimpleType::Enum(index) => of_index(declarations, index),
        SimpleType::Bool => "bool".into(),
        SimpleType::Integer(integer) => of_integer(*integer).into(),
        SimpleType::Float(FloatType::F32) => "f32".into(),
        SimpleType::Float(FloatType::F64) => "f64".into(),
    }
}

/// Returns the comment of the schema as documentation. A missing comment is an error, because the library requires one
/// for every public item.
pub fn doc(docstrings: &Docstrings, of: &str) -> Result<String> {
    if docstrings.docstrings.is_empty() {
        return Err(format!("{of} has no comment"));
    }
    Ok(docstrings.docstrings.iter().map(|line| format!("/// {}\n", line.value.trim())).collect())
}
