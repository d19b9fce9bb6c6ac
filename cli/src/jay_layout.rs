//! The description of a column of a Jay file, in the words of the expectations.

use pilaster::bytes::FileRange;
use pilaster::jay::{Field, HEAD, Layout, SType, Stats};
use serde_json::{Map, Value, json};

/// Returns the storage type, followed by the type of elements: `arr32(str32)`.
pub fn stype_name(field: &Field<'_>) -> pilaster::Result<String> {
    let name = field.stype().name();
    Ok(match field.child()? {
        Some(child) => format!("{name}({})", stype_name(&child)?),
        None => name.to_owned(),
    })
}

/// Returns the description of a column as it is stored, without members that are zero or absent.
pub fn layout(field: &Field<'_>, name: Option<&str>) -> pilaster::Result<Value> {
    let mut facts = Map::new();
    let mut put = |key: &str, value: Value| facts.insert(key.to_owned(), value);
    let pair = |span: &FileRange| json!([span.at.saturating_sub(HEAD.len() as u64), span.len]);
    if let Some(name) = name {
        put("name", name.into());
    }
    if field.null_count() > 0 {
        put("nullcount", field.null_count().into());
    }
    if let Some((tag, stats)) = stored_stats(field)? {
        put("stats_type", tag.into());
        put("stats", stats);
    }
    let [_, data, text] = field.buffers();
    match field.layout() {
        Layout::Old => {
            if field.stype() != SType::Bool8 {
                put("stype", format!("{:?}", field.stype()).into());
            }
            if field.stype() != SType::Void0 {
                put("data", pair(data));
            }
            if field.stype().is_text() {
                put("strdata", pair(text));
            }
        }
        Layout::New => {
            put("type", stored_type(field)?);
            if field.rows() > 0 {
                put("nrows", field.rows().into());
            }
            let count = field.stype().buffers();
            put("buffers", field.buffers().iter().take(count).map(pair).collect());
            if let Some(child) = field.child()? {
                put("children", json!([layout(&child, None)?]));
            }
        }
    }
    Ok(facts.into())
}

fn stored_type(field: &Field<'_>) -> pilaster::Result<Value> {
    let stype = format!("{:?}", field.stype());
    Ok(match field.child()? {
        Some(child) => json!({ "stype": stype, "extra_type": 1, "child": stored_type(&child)? }),
        None => json!({ "stype": stype }),
    })
}

/// Returns the tag of the statistics, and the minimum and maximum as they are stored.
fn stored_stats(field: &Field<'_>) -> pilaster::Result<Option<(u8, Value)>> {
    let Some(stats) = field.stats()? else { return Ok(None) };
    // The statistics of dates and times are stored as integers.
    let tag = match field.stype() {
        SType::Date32 => u8::from(SType::Int32),
        SType::Time64 => u8::from(SType::Int64),
        stype => u8::from(stype),
    };
    let single = |bits: u32| format!("bits:{bits:08x}");
    let double = |bits: u64| format!("bits:{bits:016x}");
    let (min, max) = match (stats, field.stype()) {
        (Stats::Int { min, max }, _) => (min.to_string(), max.to_string()),
        (Stats::Float32 { min, max }, _) => (single(min.to_bits()), single(max.to_bits())),
        (Stats::Float64 { min, max }, _) => (double(min.to_bits()), double(max.to_bits())),
        (Stats::Empty, SType::Float32) => (single(f32::NAN.to_bits()), single(f32::NAN.to_bits())),
        (Stats::Empty, SType::Float64) => (double(f64::NAN.to_bits()), double(f64::NAN.to_bits())),
        (Stats::Empty, stype) => {
            let bits = u32::try_from(stype.width()).unwrap_or(8).saturating_mul(8).clamp(1, 64);
            let least = (i64::MIN >> 64u32.saturating_sub(bits)).to_string();
            (least.clone(), least)
        }
    };
    Ok(Some((tag.saturating_add(1), json!([min, max]))))
}
