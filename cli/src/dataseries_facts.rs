//! Facts about DataSeries files, under the keys of the golden expectations.

use pilaster::dataseries::{AnyFile, ExtentType, Field, FieldType, Header, Mode};
use pilaster::{Error, Result};
use serde_json::{Value, json};

/// Returns the facts about a file.
pub fn facts(file: &AnyFile<'_>, size: u64) -> Result<Vec<(&'static str, Value)>> {
    let (mut facts, mut extents, mut rows) = (few_facts(file, size), Vec::new(), Vec::new());
    each_extent(file, |extent| {
        extents.push(extent);
        Ok::<_, Error>(())
    })?;
    facts.push(("extents", extents.into()));
    if file.index().is_some() {
        each_index_row(file, |row| {
            rows.push(row);
            Ok::<_, Error>(())
        })?;
        facts.push(("index_rows", rows.into()));
    }
    Ok(facts)
}

/// Returns the facts whose size does not grow with the number of extents.
pub fn few_facts(file: &AnyFile<'_>, size: u64) -> Vec<(&'static str, Value)> {
    let types: Vec<Value> = file.types().iter().map(|ty| type_facts(&ty)).collect();
    let mut facts =
        vec![("byte_order", file.order().name().into()), ("file_size", size.into()), ("types", types.into())];
    if let Some((_, trailer)) = file.index() {
        let trailer = json!({
            "index_size": trailer.index.len, "index_offset": trailer.index.at,
            "chain": format!("{:08x}", trailer.chain), "lookup2": format!("{:08x}", trailer.hash),
        });
        facts.push(("trailer", trailer));
    }
    facts
}

/// Passes the facts about each extent to `put`.
pub fn each_extent<E: From<Error>>(
    file: &AnyFile<'_>,
    mut put: impl FnMut(Value) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    file.headers(|header, name| {
        let [fixed, variable] = modes(file, header, name);
        let mode = |mode: Option<Mode>| mode.map(Mode::name);
        put(json!({
            "offset": header.at, "size": header.span().len, "type": text(name),
            "compressed_fixed": header.fixed, "compressed_variable": header.variable,
            "nrecords": header.rows, "variable_size": header.pool,
            "adler32": format!("{:08x}", header.adler), "lookup2": format!("{:08x}", header.hash),
            "fixed_mode": mode(fixed), "variable_mode": mode(variable),
        }))
    })?;
    Ok(())
}

/// Passes each row of the index to `put`.
pub fn each_index_row<E: From<Error>>(
    file: &AnyFile<'_>,
    mut put: impl FnMut(Value) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let Some((index, _)) = file.index() else { return Ok(()) };
    (0..index.len()).try_for_each(|k| {
        let row = index.get(k)?;
        put(json!([row.span.at.to_string(), text(row.type_name)]))
    })
}

fn text(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

/// Returns the modes of the records and of the pool of an extent, each `None` if that part is empty.
pub fn modes(file: &AnyFile<'_>, header: &Header, name: &[u8]) -> [Option<Mode>; 2] {
    let records = file.types().find(name).is_some_and(|ty| header.rows > 0 && ty.record_len() > 0);
    [records.then_some(header.fixed_mode), (header.pool > 4).then_some(header.variable_mode)]
}

fn type_facts(ty: &ExtentType<'_>) -> Value {
    let fields: Vec<Value> = ty.fields().map(|field| field_facts(&field)).collect();
    let (major, minor) = ty.version();
    json!({
        "type_name": ty.name(), "xml": String::from_utf8_lossy(ty.xml()), "fixed_record_size": ty.record_len(),
        "version": format!("{major}.{minor}"), "namespace": ty.namespace(), "fields": fields,
    })
}

fn field_facts(field: &Field<'_>) -> Value {
    let mut facts = vec![
        ("name", json!(field.name)),
        ("ds_type", json!(field.ty.name())),
        ("nullable", json!(field.nullable)),
        ("size", json!(field.ty.size().max(1))),
        ("offset", json!(field.slot.at)),
    ];
    if field.ty == FieldType::Bool {
        facts.push(("bit", json!(field.slot.mask.trailing_zeros())));
    }
    if let Some(null) = field.slot.null {
        facts.extend([("null_offset", json!(null.at)), ("null_bit", json!(null.mask.trailing_zeros()))]);
    }
    if field.unique {
        facts.push(("pack_unique", json!(true)));
    }
    if field.base != 0.0 {
        facts.push(("doublebase", json!(format!("bits:{:016x}", field.base.to_bits()))));
    }
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<serde_json::Map<_, _>>().into()
}
