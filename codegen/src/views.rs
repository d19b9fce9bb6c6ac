//! Heapless views, built on `pilaster::unstable::meta::flat`.
//!
//! | schema | Rust |
//! |---|---|
//! | enum | an enum with a further variant `Unknown(number)` |
//! | struct | a plain value with public fields |
//! | table | a `Copy` handle with one accessor per field |
//! | union | an enum of its members with a further variant `Unknown(tag)` |
//!
//! | field | accessor returns |
//! |---|---|
//! | scalar or enum | `Result<T>`, the default if absent |
//! | scalar or enum `= null`, struct, string, vector, table, union | `Result<Option<T>>` |
//! | struct, string, vector, table, union, `required` | `Result<T>` |
//!
//! Each table also has constants with the numbers of its fields, and each union has constants with its tags, for
//! readers that handle several tables or members in one function by `flat::Table`.

use planus_types::intermediate::{
    AssignMode, Declaration, DeclarationKind, Declarations, Enum, Literal, SimpleType, Struct, Table, TableField, Type,
    TypeKind, Union,
};

use crate::{Result, names};

/// Returns the views of one schema.
pub fn make(declarations: &Declarations) -> Result<String> {
    let mut code = String::from("use crate::error::Result;\nuse crate::meta::flat;\n");
    for (path, declaration) in &declarations.declarations {
        let views = Views { declarations, name: names::of_type(path) };
        code += "\n";
        code += &views.declaration(declaration).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(code)
}

struct Views<'d> {
    declarations: &'d Declarations,
    name: String,
}

impl Views<'_> {
    fn declaration(&self, declaration: &Declaration) -> Result<String> {
        let doc = names::doc(&declaration.docstrings, &self.name)?;
        match &declaration.kind {
            DeclarationKind::Enum(e) => self.enumeration(&doc, e),
            DeclarationKind::Struct(s) => self.structure(&doc, s),
            DeclarationKind::Table(t) => self.table(&doc, t),
            DeclarationKind::Union(u) => self.union(&doc, u),
            DeclarationKind::RpcService(_) => Err("services have no views".into()),
        }
    }

    fn enumeration(&self, doc: &str, e: &Enum) -> Result<String> {
        let (name, repr) = (&self.name, names::of_integer(e.type_));
        let (mut variants, mut from, mut into) = (String::new(), String::new(), String::new());
        for (number, variant) in &e.variants {
            let of = names::of_variant(&variant.name);
            variants += &format!("{}{of},\n", names::doc(&variant.docstrings, &variant.name)?);
            from += &format!("{number} => {name}::{of},\n");
            into += &format!("{name}::{of} => {number},\n");
        }
        Ok(format!(
            "{doc}#[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[cfg_attr(feature = \"defmt\", derive(defmt::Format))]
            pub enum {name} {{
                {variants}/// A number that the schema does not name.
                Unknown({repr}),
            }}

            impl From<{repr}> for {name} {{
                #[inline]
                fn from(number: {repr}) -> Self {{
                    match number {{ {from}number => {name}::Unknown(number) }}
                }}
            }}

            impl From<{name}> for {repr} {{
                #[inline]
                fn from(of: {name}) -> Self {{
                    match of {{ {into}{name}::Unknown(number) => number }}
                }}
            }}

            impl flat::Fixed for {name} {{
                const SIZE: usize = size_of::<{repr}>();

                #[inline]
                fn load(bytes: &[u8]) -> Option<Self> {{
                    <{repr} as flat::Fixed>::load(bytes).map(Self::from)
                }}
            }}
            "
        ))
    }

    fn structure(&self, doc: &str, s: &Struct) -> Result<String> {
        let (name, size) = (&self.name, s.size);
        let (mut fields, mut loads) = (String::new(), String::new());
        for (field, of) in &s.fields {
            let (doc, field) = (names::doc(&of.docstrings, field)?, names::of_field(field));
            let ty = names::of_simple(self.declarations, &of.type_);
            fields += &format!("{doc}pub {field}: {ty},\n");
            let bytes: Vec<_> = (of.offset..of.offset + of.size).map(|i| format!("b[{i}]")).collect();
            let number = |ty: &str| format!("{ty}::from_le_bytes([{}])", bytes.join(", "));
            let load = match &of.type_ {
                SimpleType::Bool => format!("b[{}] != 0", of.offset),
                SimpleType::Enum(index) => {
                    let (_, of) = self.declarations.get_declaration(*index);
                    let DeclarationKind::Enum(of) = &of.kind else { return Err(format!("{field} is no enum")) };
                    format!("{ty}::from({})", number(names::of_integer(of.type_)))
                }
                SimpleType::Integer(_) | SimpleType::Float(_) => number(&ty),
                SimpleType::Struct(_) => return Err(format!("{field}: structs in structs have no views yet")),
            };
            loads += &format!("{field}: {load},\n");
        }
        Ok(format!(
            "{doc}#[derive(Clone, Copy, Debug, PartialEq)]
            #[cfg_attr(feature = \"defmt\", derive(defmt::Format))]
            pub struct {name} {{ {fields} }}

            impl flat::Fixed for {name} {{
                const SIZE: usize = {size};

                #[inline]
                fn load(bytes: &[u8]) -> Option<Self> {{
                    let b = bytes.first_chunk::<{size}>()?;
                    Some({name} {{ {loads} }})
                }}
            }}
            "
        ))
    }

    fn table(&self, doc: &str, t: &Table) -> Result<String> {
        let name = &self.name;
        let (mut numbers, mut accessors) = (String::new(), String::new());
        for (field, of) in &t.fields {
            let (ty, get) = self.field(of).map_err(|e| format!("{field}: {e}"))?;
            let (doc, field) = (names::doc(&of.docstrings, field)?, names::of_field(field));
            if ["at", "check"].contains(&field.as_str()) {
                return Err(format!("a field with the name of the method `{field}`"));
            }
            let number = of.vtable_index;
            numbers += &format!(
                "/// Number of the field `{field}`.\npub const {}: u8 = {number};\n",
                names::of_constant(&field)
            );
            accessors += &format!("\n{doc}#[inline]\npub fn {field}(&self) -> Result<{ty}> {{ {get} }}\n");
        }
        Ok(format!(
            "{doc}#[derive(Clone, Copy, Debug)]
            pub struct {name}<'a>(flat::Table<'a>);

            impl<'a> From<flat::Table<'a>> for {name}<'a> {{
                #[inline]
                fn from(table: flat::Table<'a>) -> Self {{ {name}(table) }}
            }}

            impl<'a> From<{name}<'a>> for flat::Table<'a> {{
                #[inline]
                fn from({name}(table): {name}<'a>) -> Self {{ table }}
            }}

            impl<'a> flat::Target<'a> for {name}<'a> {{
                #[inline]
                fn read(flat: &flat::Flat<'a>, pos: flat::Pos) -> Result<Self> {{
                    flat::Table::read(flat, pos).map({name})
                }}
            }}

            impl {name}<'_> {{
                {numbers}
            }}

            impl<'a> {name}<'a> {{
                /// Offset in the file.
                #[must_use]
                #[inline]
                pub fn at(&self) -> u64 {{ self.0.at() }}

                /// Checks the frame of the table alone, as every accessor does first.
                pub fn check(&self) -> Result<()> {{ self.0.check() }}
                {accessors}
            }}
            "
        ))
    }

    /// Returns the type of a field of a table, and the expression that reads it.
    fn field(&self, field: &TableField) -> Result<(String, String)> {
        let id = field.vtable_index;
        let ty = self.value(&field.type_)?;
        let get = match &field.type_.kind {
            TypeKind::SimpleType(_) => format!("self.0.inline({id})"),
            TypeKind::Union(_) => format!("self.0.union({id})"),
            TypeKind::Table(_) => format!("self.0.table({id})"),
            TypeKind::String => format!("self.0.string({id})"),
            TypeKind::Vector(of) if matches!(of.kind, TypeKind::SimpleType(_)) => format!("self.0.vector({id})"),
            TypeKind::Vector(_) => format!("self.0.linked({id})"),
            TypeKind::Array(..) => return Err("arrays have no views yet".into()),
        };
        match &field.assign_mode {
            AssignMode::Optional => Ok((format!("Option<{ty}>"), get)),
            AssignMode::Required => Ok((ty, format!("self.0.required({id}, {get}?)"))),
            AssignMode::HasDefault(literal) => {
                let TypeKind::SimpleType(simple) = &field.type_.kind else {
                    return Err("only scalars have a default".into());
                };
                let default = self.default(simple, literal)?;
                Ok((ty, format!("self.0.scalar({id}, {default})")))
            }
        }
    }

    fn default(&self, ty: &SimpleType, literal: &Literal) -> Result<String> {
        match (ty, literal) {
            (_, Literal::Bool(value)) => Ok(value.to_string()),
            (_, Literal::Int(value)) => Ok(value.to_string()),
            (_, Literal::Float(value)) => Ok(value.to_string()),
            (SimpleType::Enum(index), Literal::EnumTag { variant_index, .. }) => {
                let (path, of) = self.declarations.get_declaration(*index);
                let DeclarationKind::Enum(of) = &of.kind else { return Err("is no enum".into()) };
                let (_, variant) = of.variants.get_index(*variant_index).ok_or("no such variant")?;
                Ok(format!("{}::{}", names::of_type(path), names::of_variant(&variant.name)))
            }
            _ => Err(format!("default {literal} is not known here")),
        }
    }

    /// Returns the Rust type of a present value.
    fn value(&self, ty: &Type) -> Result<String> {
        Ok(match &ty.kind {
            TypeKind::SimpleType(simple) => names::of_simple(self.declarations, simple),
            TypeKind::String => "flat::Str<'a>".into(),
            TypeKind::Table(index) => format!("{}<'a>", names::of_index(self.declarations, index)),
            TypeKind::Union(index) => {
                let (path, of) = self.declarations.get_declaration(*index);
                let DeclarationKind::Union(of) = &of.kind else { return Err("is no union".into()) };
                format!("{}{}", names::of_type(path), lifetime(of))
            }
            TypeKind::Vector(of) => {
                let vector = match &of.kind {
                    TypeKind::SimpleType(_) => "Inline",
                    TypeKind::String | TypeKind::Table(_) => "Linked",
                    _ => return Err("vectors of this type have no views yet".into()),
                };
                format!("flat::{vector}<'a, {}>", self.value(of)?)
            }
            TypeKind::Array(..) => return Err("arrays have no views yet".into()),
        })
    }

    fn union(&self, doc: &str, u: &Union) -> Result<String> {
        let name = &self.name;
        // One statement reads the table for all members.
        let tables = u.variants.len() > 1 && u.variants.values().all(|of| matches!(of.type_.kind, TypeKind::Table(_)));
        let (mut variants, mut members, mut tags) = (String::new(), String::new(), String::new());
        for (tag, (variant, of)) in (1u8..).zip(&u.variants) {
            let constant = names::of_constant(variant);
            let (doc, variant) = (names::doc(&of.docstrings, variant)?, names::of_variant(variant));
            tags += &format!("/// Tag of `{variant}`.\npub const {constant}: u8 = {tag};\n");
            variants += &format!("{doc}{variant}({}),\n", self.value(&of.type_)?);
            let read = match &of.type_.kind {
                _ if tables => format!("{name}::{variant}(table.into())"),
                TypeKind::SimpleType(SimpleType::Struct(_)) => format!("flat.value(pos).map({name}::{variant})"),
                TypeKind::Table(_) | TypeKind::String => {
                    format!("flat::Target::read(flat, pos).map({name}::{variant})")
                }
                _ => return Err(format!("{variant}: members of this type have no views")),
            };
            members += &format!("{tag} => {read},\n");
        }
        let (lifetime, of_any) = (lifetime(u), if lifetime(u).is_empty() { "" } else { "<'_>" });
        let member = if tables {
            let last = u.variants.len();
            format!(
                "if !(1..={last}).contains(&tag) {{ return Ok({name}::Unknown(tag)); }}
                let table: flat::Table<'a> = flat::Target::read(flat, pos)?;
                Ok(match tag {{ {members}_ => {name}::Unknown(tag) }})"
            )
        } else {
            format!("match tag {{ {members}tag => Ok({name}::Unknown(tag)) }}")
        };
        Ok(format!(
            "{doc}#[derive(Clone, Copy, Debug)]
            pub enum {name}{lifetime} {{
                {variants}/// A tag that the schema does not name.
                Unknown(u8),
            }}

            impl {name}{of_any} {{
                {tags}
            }}

            impl<'a> flat::Union<'a> for {name}{lifetime} {{
                #[inline]
                fn member(tag: u8, flat: &flat::Flat<'a>, pos: flat::Pos) -> Result<Self> {{
                    {member}
                }}
            }}
            "
        ))
    }
}

/// Returns the lifetime parameter of the enum of a union: structs are values, all other members borrow.
pub fn lifetime(u: &Union) -> &'static str {
    if u.variants.values().all(|of| matches!(of.type_.kind, TypeKind::SimpleType(_))) { "" } else { "<'a>" }
}
