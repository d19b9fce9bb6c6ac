//! A DataSeries file against its expectation: tables, and all facts.

use pilaster::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use pilaster::column::{Part as _, Table};
use pilaster::dataseries::{ExtentType, FieldType, File, Mode, Order, ReadOptions};
use pilaster::error::Kind;
use serde_json::{Value as Json, json};

use super::expect::{equal, text, values};
use super::table::table;
use crate::harness::walk::ROOMS;

/// The three ways of opening that the damaged files are tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through trailer and index, all checks on.
    Indexed,
    /// From the front.
    Sequential,
    /// Through trailer and index, checks off.
    Unchecked,
}

impl Way {
    pub const ALL: [(Way, &str); 3] = [
        (Way::Indexed, "tail_and_index_all_checks"),
        (Way::Sequential, "sequential_without_tail_all_checks"),
        (Way::Unchecked, "tail_and_index_no_checks"),
    ];
}

/// Reads everything in `bytes` in one way, and compares it with the `tables` and, where there are some,
/// `facts`.
pub fn read(bytes: &[u8], way: Way, tables: Option<&Json>, facts: &Json) -> Result<(), String> {
    match Order::of(bytes).map_err(text)? {
        Order::Little => read_as::<LittleEndian>(bytes, way, tables, facts),
        Order::Big => read_as::<BigEndian>(bytes, way, tables, facts),
    }
}

fn read_as<E: Endian>(bytes: &[u8], way: Way, tables: Option<&Json>, facts: &Json) -> Result<(), String> {
    let options = ReadOptions { verify: way != Way::Unchecked, ..ReadOptions::DEFAULT };
    // Memory at an odd address, filled.
    let mut memory = vec![0x77; (8 << 20) + 1];
    let mut scratch = Scratch::new(&mut memory[1..]);
    let file = match way {
        Way::Sequential => File::<E>::open_sequential(bytes, &options, &mut scratch),
        Way::Indexed | Way::Unchecked => File::<E>::open(bytes, &options, &mut scratch),
    }
    .map_err(text)?;
    if way != Way::Unchecked {
        file.verify(&mut scratch.scope()).map_err(text)?;
    }
    needs(&file, &options, &mut scratch)?;
    if facts.is_object() {
        let mut facts = facts.clone();
        facts.as_object_mut().unwrap().remove("written_on");
        for (key, got) in self::facts(&file, bytes).map_err(text)? {
            // From the front there is neither index nor trailer.
            if way == Way::Sequential && matches!(key, "index_rows" | "trailer") {
                continue;
            }
            equal(key, &facts[key], &got)?;
        }
    }
    let Some(tables) = tables.and_then(Json::as_array) else {
        for ty in file.types().iter() {
            walk(&mut file.table(ty.name()).map_err(text)?, &mut scratch).map_err(text)?;
        }
        return Ok(());
    };
    equal("tables", &tables.len().into(), &file.types().len().into())?;
    for expected in tables {
        let name = expected["type_name"].as_str().ok_or("no type_name")?;
        let ty = file.types().find(name.as_bytes()).ok_or("no such type")?;
        let compare = |mut found| fields(&ty, expected).and_then(|()| table(&mut found, "dataseries", expected, false));
        file.table(name).map_err(text).and_then(compare).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Every extent unpacks in as much memory as it said, and says no more than twice what it takes.
fn needs<E: Endian>(file: &File<'_, E>, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<(), String> {
    for extent in file.extents() {
        let extent = extent.map_err(text)?;
        let ty = file.type_of(&extent).map_err(text)?;
        let need = extent.need(&ty, options).map_err(text)? as usize;
        let mut all = scratch.scope();
        let room = all.take::<u8>(need).map_err(text)?;
        match extent.unpack(&ty, options, &mut Scratch::new(room)) {
            Err(e) if e.kind() == Kind::NoRoom => return Err(format!("{need} bytes are not enough: {e}")),
            unpacked => unpacked.map(drop).map_err(text)?,
        }
    }
    Ok(())
}

/// Reads all values of a table.
fn walk(table: &mut impl Table, scratch: &mut Scratch<'_>) -> pilaster::Result<()> {
    loop {
        let mut outer = scratch.scope();
        let Some(part) = table.next_part(&mut outer)? else { return Ok(()) };
        for k in 0..part.width() {
            values(&part.column(k)?, 0..part.rows(), ROOMS[2], false)?;
        }
    }
}

fn fields(ty: &ExtentType<'_>, expected: &Json) -> Result<(), String> {
    let columns = expected["columns"].as_array().ok_or("no columns")?;
    equal("columns", &columns.len().into(), &ty.fields().count().into())?;
    for (field, expected) in ty.fields().zip(columns) {
        equal("name", &expected["name"], &field.name.into())?;
        equal("nullable", &expected["nullable"], &field.nullable.into())?;
        equal("ds_type", &expected["ds_type"], &field.ty.name().into())?;
    }
    Ok(())
}

/// What the expectations have under `facts`.
fn facts<E: Endian>(file: &File<'_, E>, bytes: &[u8]) -> pilaster::Result<Vec<(&'static str, Json)>> {
    let name = |bytes: &[u8]| Json::from(String::from_utf8_lossy(bytes));
    let mut extents = Vec::new();
    for extent in file.extents() {
        let extent = extent?;
        let header = extent.header();
        let mode = |mode: Mode, len: u64| if len == 0 { Json::Null } else { mode.name().into() };
        let ty = file.type_of(&extent)?;
        let unpacked = u64::from(header.rows) * ty.record_len() as u64;
        extents.push(json!({
            "offset": header.at, "size": header.span().len, "type": name(extent.type_name()),
            "compressed_fixed": header.fixed, "compressed_variable": header.variable,
            "nrecords": header.rows, "variable_size": header.pool,
            "adler32": format!("{:08x}", header.adler), "lookup2": format!("{:08x}", header.hash),
            "fixed_mode": mode(header.fixed_mode, unpacked),
            "variable_mode": mode(header.variable_mode, u64::from(header.pool) - 4),
        }));
    }
    let order = if E::IS_NATIVE == cfg!(target_endian = "little") { "little" } else { "big" };
    let mut facts = vec![
        ("byte_order", order.into()),
        ("file_size", bytes.len().into()),
        ("types", file.types().iter().map(|ty| type_facts(&ty)).collect()),
        ("extents", extents.into()),
    ];
    if let Some((index, trailer)) = file.index() {
        let rows = (0..index.len()).map(|k| {
            let row = index.get(k)?;
            Ok(json!([row.span.at.to_string(), name(row.type_name)]))
        });
        facts.push(("index_rows", rows.collect::<pilaster::Result<Vec<_>>>()?.into()));
        facts.push((
            "trailer",
            json!({
                "index_size": trailer.index.len, "index_offset": trailer.index.at,
                "chain": format!("{:08x}", trailer.chain), "lookup2": format!("{:08x}", trailer.hash),
            }),
        ));
    }
    Ok(facts)
}

fn type_facts(ty: &ExtentType<'_>) -> Json {
    let fields = ty.fields().map(|field| {
        let mut facts = json!({
            "name": field.name, "ds_type": field.ty.name(), "nullable": field.nullable,
            "size": field.ty.size().max(1), "offset": field.slot.at,
        });
        if field.ty == FieldType::Bool {
            facts["bit"] = field.slot.mask.trailing_zeros().into();
        }
        if let Some(null) = field.slot.null {
            facts["null_offset"] = null.at.into();
            facts["null_bit"] = null.mask.trailing_zeros().into();
        }
        if field.unique {
            facts["pack_unique"] = true.into();
        }
        if field.base != 0.0 {
            facts["doublebase"] = format!("bits:{:016x}", field.base.to_bits()).into();
        }
        facts
    });
    let (major, minor) = ty.version();
    json!({
        "type_name": ty.name(), "xml": String::from_utf8_lossy(ty.xml()), "fixed_record_size": ty.record_len(),
        "version": format!("{major}.{minor}"), "namespace": ty.namespace(), "fields": fields.collect::<Vec<_>>(),
    })
}
