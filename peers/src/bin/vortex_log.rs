//! vortex_log FOLDER FIRST COUNT: writes random logs of random columns, one for each seed from FIRST on, most of them cut and
//! resumed: SEED.vortex, and SEED.json with the columns, the rows and the ends of the checkpoints. `peers/vortex/logs.py` opens
//! them cut at each.

use std::error::Error;
use std::fs;

use pilaster::column::{Prim, Unit};
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume, Schema, group_words, memory_len};
use pilaster_peers::random::Random;
use serde_json::{Value, json};

/// Numbers of rows of a row group: around the 1024 of a packed block, and a few.
const LENGTHS: [usize; 9] = [1, 7, 300, 1023, 1024, 1025, 2100, 3072, 64];
/// Memory: rows of the longest row group, bytes of their texts, and row groups.
const ROWS: usize = 3072;
const TEXTS: usize = 1 << 20;
const GROUPS: usize = 64;

/// The types of columns. Half of the logs have no time zones, which old releases do not convert to Arrow.
fn types(with_zones: bool) -> Vec<FieldType<'static>> {
    let mut all = vec![FieldType::Bool, FieldType::Utf8, FieldType::Binary];
    all.extend(
        [Prim::I8, Prim::I16, Prim::I32, Prim::I64, Prim::U8, Prim::U16, Prim::U32, Prim::U64].map(FieldType::Prim),
    );
    all.extend([Prim::F32, Prim::F64].map(FieldType::Prim));
    all.extend([Unit::Day, Unit::Milli].map(FieldType::Date));
    let units = [Unit::Second, Unit::Milli, Unit::Micro, Unit::Nano];
    all.extend(units.map(FieldType::Time));
    let zones = ["", "UTC", "Europe/Berlin"];
    for zone in if with_zones { &zones[..] } else { &zones[..1] } {
        all.extend(units.map(|unit| FieldType::Timestamp(unit, zone)));
    }
    all
}

/// Number of bits of a number, or 0.
fn bits(ty: FieldType<'_>) -> u32 {
    match ty {
        FieldType::Prim(prim) => prim.size() as u32 * 8,
        FieldType::Date(Unit::Day) | FieldType::Time(Unit::Second | Unit::Milli) => 32,
        FieldType::Date(_) | FieldType::Time(_) | FieldType::Timestamp(..) => 64,
        _ => 0,
    }
}

/// Number of nanoseconds of a unit of time.
fn nanos(unit: Unit) -> i64 {
    match unit {
        Unit::Second => 1_000_000_000,
        Unit::Milli => 1_000_000,
        Unit::Micro => 1000,
        _ => 1,
    }
}

fn is_float(ty: FieldType<'_>) -> bool {
    matches!(ty, FieldType::Prim(Prim::F32 | Prim::F64))
}

/// How the values of a column are in one row group.
#[derive(Clone, Copy)]
struct Style {
    kind: usize,
    base: u64,
    width: u32,
}

/// A number, as its bits.
fn number(ty: FieldType<'_>, style: Style, random: &mut Random) -> u64 {
    let bits = bits(ty);
    let low = |word: u64| if bits == 64 { word } else { word & ((1 << bits) - 1) };
    if let FieldType::Time(unit) = ty {
        let day = 86_400_000_000_000 / nanos(unit);
        return if style.kind == 0 { 60 } else { random.next() % day as u64 };
    }
    if let FieldType::Date(unit) = ty {
        // Whole days, as Arrow wants them.
        let days = (random.next() % 40_000) as i64 - 20_000;
        let days = if style.kind == 0 { -3 } else { days };
        return low((if unit == Unit::Day { days } else { days * 86_400_000 }) as u64);
    }
    if let FieldType::Timestamp(unit, _) = ty {
        // Within 1908 to 2032: releases around 0.70 panic at years that they cannot show.
        let second = 1_000_000_000 / nanos(unit);
        let some = if style.kind == 0 { 1_700_000_000 } else { (random.next() % 3_900_000_000) as i64 - 1_950_000_000 };
        let part = if style.kind < 2 { 0 } else { (random.next() % second as u64) as i64 };
        return (some * second + part) as u64;
    }
    if is_float(ty) {
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 5e-324, 0.1];
        let value = match style.kind {
            0 => 21.5,
            1 => (random.next() % 4000) as f64 / 100.0 - 20.0,
            2 => random.next() as i32 as f64,
            3 => special[random.below(special.len())],
            _ => return low(random.next()),
        };
        return if bits == 32 { (value as f32).to_bits().into() } else { value.to_bits() };
    }
    low(match style.kind {
        0 => style.base,
        1..=3 => style.base.wrapping_add(random.next() & (u64::MAX >> (64 - style.width.clamp(1, bits)))),
        _ => [0, 1, u64::MAX, 1 << (bits - 1), (1 << (bits - 1)) - 1, random.next()][random.below(6)],
    })
}

fn text(style: Style, random: &mut Random) -> String {
    match style.kind {
        0 => "same".into(),
        1 => String::new(),
        2 => ["attic", "cellar", "", "größer"][random.below(4)].into(),
        3 => "x".repeat(random.below(200)),
        _ => format!("reading {}", random.next() % 100_000),
    }
}

/// A value: as a cell takes it, and as the script compares it.
enum Held {
    Null,
    Word(u64),
    Text(String),
}

fn held(field: &Field<'_>, style: Style, nulls: usize, random: &mut Random) -> Held {
    if field.nullable && (nulls == 1 || nulls > 1 && random.below(nulls) == 0) {
        return Held::Null;
    }
    match field.ty {
        FieldType::Bool => Held::Word(if style.kind == 0 { 1 } else { random.next() >> 63 }),
        FieldType::Utf8 | FieldType::Binary => Held::Text(text(style, random)),
        ty => Held::Word(number(ty, style, random)),
    }
}

fn cell<'a>(field: &Field<'_>, held: &'a Held) -> Cell<'a> {
    match held {
        Held::Null => Cell::Null,
        Held::Word(word) => Cell::Word(*word),
        Held::Text(text) if field.ty == FieldType::Utf8 => Cell::Text(text),
        Held::Text(text) => Cell::Bytes(text.as_bytes()),
    }
}

fn shown(held: &Held) -> Value {
    match held {
        Held::Null => Value::Null,
        Held::Word(word) => json!(word),
        Held::Text(text) => json!(text),
    }
}

/// The rows of a row group, or of several if they are more than fit, and whether a checkpoint follows.
type Part = (Vec<Vec<Held>>, bool);

/// Offset of the end of a checkpoint, and number of rows before it.
type End = (u64, usize);

/// Random rows, in a few parts.
fn parts(fields: &[Field<'_>], random: &mut Random) -> Vec<Part> {
    let mut part = || {
        let styles: Vec<(Style, usize)> = fields
            .iter()
            .map(|_| {
                let style = Style { kind: random.below(5), base: random.next(), width: 1 + random.below(64) as u32 };
                (style, [0, 0, 1, 2, 10][random.below(5)])
            })
            .collect();
        let row = |random: &mut Random| {
            fields.iter().zip(&styles).map(|(field, (style, nulls))| held(field, *style, *nulls, random)).collect()
        };
        let rows = (0..LENGTHS[random.below(LENGTHS.len())]).map(|_| row(random)).collect();
        (rows, random.below(2) == 0)
    };
    (0..6).map(|_| part()).collect()
}

/// Writes the rows that the log does not have yet.
fn put<T: Schema>(
    log: &mut Log<'_, Vec<u8>, T>,
    fields: &[Field<'_>],
    parts: &[Part],
    ends: &mut Vec<End>,
) -> Result<(), Box<dyn Error>> {
    let (before, mut rows) = (ends.last().map_or(0, |(_, rows)| *rows), 0);
    for (part, checkpoint) in parts {
        for row in part {
            rows += 1;
            if rows > before {
                let cells: Vec<Cell<'_>> = fields.iter().zip(row).map(|(field, held)| cell(field, held)).collect();
                log.push_cells(&cells)?;
            }
        }
        if *checkpoint && rows > before {
            log.checkpoint()?;
            ends.push((log.at(), rows));
        } else {
            log.flush()?;
        }
    }
    log.checkpoint()?;
    ends.push((log.at(), rows));
    Ok(())
}

fn write(seed: u64) -> Result<(Vec<u8>, Value), Box<dyn Error>> {
    let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let types = types(seed % 2 == 0);
    let names: Vec<String> = (0..1 + random.below(9)).map(|i| format!("c{i}{}", "_".repeat(random.below(4)))).collect();
    let fields: Vec<Field<'_>> = names
        .iter()
        .map(|name| {
            let field = Field::new(name, types[random.below(types.len())]);
            if random.below(2) == 0 { field.nullable() } else { field }
        })
        .collect();
    let mut memory = vec![0; memory_len(&fields, ROWS, TEXTS)];
    let mut groups = vec![0; GROUPS * group_words(fields.len())];
    let policy = [Policy::ByHand, Policy::Every(2), Policy::Doubling][random.below(3)];
    let schema = Fields::new(&fields)?;
    let mut parts = parts(&fields, &mut random);
    parts.truncate(1 + random.below(6));

    let mut log = Log::new(Vec::new(), schema, (&mut memory, ROWS), &mut groups, policy)?;
    let mut ends = vec![(log.at(), 0)];
    put(&mut log, &fields, &parts, &mut ends)?;
    let mut file = log.finish()?;
    // Two of three logs are cut somewhere and resumed: after the bytes that count, or after those that were written.
    let kind = random.below(3);
    if kind > 0 {
        let first = ends[0].0 as usize;
        file.truncate(first + random.below(file.len() - first + 1));
        ends.retain(|(end, _)| *end <= file.len() as u64);
        let mut found = Resume::find(&file[..], &schema, &mut groups)?;
        if kind == 1 {
            file.truncate(found.at() as usize);
        } else {
            found = found.skipping(file.len() as u64);
            file.resize(found.at() as usize, 0xff);
        }
        let whole = ends.len();
        ends.push((found.at(), found.rows() as usize));
        let resumed = Log::resume(file, schema, (&mut memory, ROWS), &mut groups, (&found, policy))?;
        let is_replacing = random.below(2) == 0;
        let mut log = if is_replacing { resumed.replacing() } else { resumed };
        put(&mut log, &fields, &parts, &mut ends)?;
        // Where the log was resumed, no checkpoint ends; of checkpoints that replace each other, the last is left.
        let last = if is_replacing { ends.len() - 1 } else { whole + 1 };
        ends.drain(whole..last);
        file = log.finish()?;
    }
    let columns: Vec<Vec<Value>> = (0..fields.len())
        .map(|k| parts.iter().flat_map(|(rows, _)| rows.iter().map(|row| shown(&row[k]))).collect())
        .collect();
    let types: Vec<Value> =
        fields.iter().map(|field| json!([bits(field.ty), is_float(field.ty), format!("{:?}", field.ty)])).collect();
    Ok((file, json!({ "names": names, "types": types, "columns": columns, "ends": ends })))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, first, count] = &*arguments else { return Err("vortex_log FOLDER FIRST COUNT".into()) };
    let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
    for seed in first..first + count {
        let (file, told) = write(seed)?;
        fs::write(format!("{folder}/{seed}.vortex"), file)?;
        fs::write(format!("{folder}/{seed}.json"), serde_json::to_string(&told)?)?;
    }
    Ok(())
}
