//! The output of `info` and `dump` that is specific to Vortex: the tree of layouts and encodings, and their sizes.

use std::io::Write;

use pilaster::any::File as AnyFile;
use pilaster::column::{Column as _, Part};
use pilaster::error::{Error, Result, What};
use pilaster::vortex::write::holds_zone;
use pilaster::vortex::{File, Role, Visit};
use serde_json::{Map, Value, json};

use crate::budget;
use crate::columns::Columns;
use crate::digits;
use crate::dump;
use crate::escape::named;
use crate::failure::Failure;
use crate::feed::{Chosen, Windows};
use crate::info;
use crate::open::Input;
use crate::special::Special;
use crate::time::is_known_zone;

impl Special for File<'_> {
    fn info(&self, input: &Input, out: &mut dyn Write) -> std::result::Result<(), Failure> {
        tree_and_encodings(self, out)?;
        let (file, columns) = (AnyFile::Vortex(*self), Columns::all(&self.part()?, input.rules())?);
        let table = Chosen { windows: Windows::new(input, &file, None), columns: &columns };
        // The tree already shows a column that cannot be decoded. Nothing is counted then.
        match info::columns(&table, 0, out) {
            Err(Failure::Format(why)) => Ok(writeln!(out, "\nnot all columns can be read: {why}")?),
            Err(Failure::Input(why)) => Ok(writeln!(out, "\nnot all columns can be read: {why}")?),
            done => done,
        }
    }

    fn dump(&self, input: &Input, file: &AnyFile<'_>, out: &mut dyn Write) -> std::result::Result<(), Failure> {
        let part = self.part()?;
        let heads = dump::heads(&part, "vortex", |column| column.nullable())?;
        let columns = Columns::all(&part, input.rules())?;
        let table = Chosen { windows: Windows::new(input, file, None), columns: &columns };
        dump::table(part.rows(), &facts(self)?, &heads, &table, 0, out)
    }

    fn facts(&self, _: &Input) -> std::result::Result<Vec<(&'static str, Value)>, Failure> {
        facts(self)
    }

    fn verified(&self, input: &Input, _: &AnyFile<'_>) -> std::result::Result<String, Failure> {
        let (rows, segments, size) = (self.rows()?, self.segments(), input.len());
        let zone = match refused_zone(self, &is_known_zone)? {
            Some(Zones::Unknown(_, name)) => {
                format!("; no time zone is called {}, so that the original refuses the whole file", named(&name))
            }
            Some(Zones::TooMany) => format!("; the time zones of {TYPES} types were compared, and not of others"),
            None => String::new(),
        };
        Ok(format!("{rows} rows in {segments} segments, {size} bytes, vortex{zone}"))
    }

    /// Names an id that is unknown.
    fn explain(&self, e: Error) -> Failure {
        if e.what() == What::VORTEX_TIME_ZONE
            && let Ok(Some(Zones::Unknown(column, zone))) = refused_zone(self, &holds_zone)
        {
            return Failure::Input(format!("column {}, zone {}: {e}", named(&column), named(&zone)));
        }
        match self.unknown_id(&e) {
            Some(id) => Failure::Input(format!("{e}: {id}")),
            None => budget::explain(e),
        }
    }
}

/// Maximum number of types whose time zones are compared, and their maximum depth.
const TYPES: usize = 1 << 12;
const DEPTH: u32 = 64;

/// The result of the search for unknown time zones.
enum Zones {
    /// The column, and its zone, which no reader knows.
    Unknown(String, String),
    TooMany,
}

/// Returns the first time zone of a file that is not known.
fn refused_zone(file: &File<'_>, is_known: &dyn Fn(&str) -> bool) -> Result<Option<Zones>> {
    let (part, mut left) = (file.part()?, TYPES);
    let mut open = Vec::new();
    for k in (0..part.width()).rev() {
        open.push((part.column(k)?, k, DEPTH));
    }
    while let Some((column, top, depth)) = open.pop() {
        let (Some(rest), Some(depth)) = (left.checked_sub(1), depth.checked_sub(1)) else {
            return Ok(Some(Zones::TooMany));
        };
        left = rest;
        if let Some(zone) = column.zone()?.filter(|zone| !is_known(zone)) {
            return Ok(Some(Zones::Unknown(part.name(top)?.to_owned(), zone.to_owned())));
        }
        for k in 0..column.ty().children() {
            open.push((column.child(k)?, top, depth));
        }
    }
    Ok(None)
}

/// Prints the tree of layouts, and for each column the encodings and their sizes.
fn tree_and_encodings(file: &File<'_>, out: &mut dyn Write) -> std::result::Result<(), Failure> {
    writeln!(out, "rows      {}", file.rows()?)?;
    writeln!(out, "segments  {}", file.segments())?;
    for i in 0..file.metadata_len() {
        let (key, span) = file.metadata(i)?;
        writeln!(out, "metadata  {key}: {} bytes at {}", span.len, span.at)?;
    }
    writeln!(out, "\nlayout")?;
    let (mut lines, mut run) = (Vec::new(), Run::default());
    file.visit(true, &mut |visit| {
        run.add(visit, &mut lines);
        Ok(())
    })?;
    run.end(&mut lines);
    for line in lines {
        writeln!(out, "{line}")?;
    }
    encodings(file, out)
}

/// Flat chunks in a row. Only the first and the last have a line.
#[derive(Default)]
struct Run {
    depth: u16,
    count: u64,
    bytes: u64,
    last: Option<String>,
}

impl Run {
    /// Adds a node to the lines, or to the run.
    fn add(&mut self, visit: &Visit<'_>, lines: &mut Vec<String>) {
        let (Role::Chunk(_), Some(span)) = (visit.role, visit.segment) else {
            self.end(lines);
            return lines.push(layout(visit));
        };
        if visit.depth != self.depth || self.count == 0 {
            self.end(lines);
            (self.depth, self.count) = (visit.depth, 1);
            return lines.push(layout(visit));
        }
        // The last one has a line of its own.
        if self.last.replace(layout(visit)).is_some() {
            self.count = self.count.saturating_add(1);
        }
        self.bytes = self.bytes.saturating_add(span.len);
    }

    /// Appends the lines of the run, apart from its first one.
    fn end(&mut self, lines: &mut Vec<String>) {
        let Run { depth, count, bytes, last } = std::mem::take(self);
        if count > 1 {
            let indent = "  ".repeat(usize::from(depth).saturating_add(1));
            lines.push(format!("{indent}{} chunks more, {bytes} bytes with the last one", count.saturating_sub(1)));
        }
        lines.extend(last);
    }
}

/// Returns the role of a node in its parent.
fn role_name(role: Role<'_>) -> Option<String> {
    Some(match role {
        Role::Root => return None,
        Role::Field(name) => name.to_owned(),
        Role::Validity => "validity".to_owned(),
        Role::Chunk(k) | Role::Child(k) => format!("[{k}]"),
        Role::Values => "values".to_owned(),
        Role::Codes => "codes".to_owned(),
        Role::Data => "data".to_owned(),
        Role::Zones => "zones".to_owned(),
    })
}

fn layout(visit: &Visit<'_>) -> String {
    let role = match (visit.role, role_name(visit.role)) {
        (Role::Child(k), _) => format!("({k}) "),
        (Role::Chunk(_), Some(role)) => format!("{role} "),
        (_, Some(role)) => format!("{role}: "),
        (_, None) => String::new(),
    };
    let id = String::from_utf8_lossy(visit.id);
    let mut line = format!("{}{role}{id}", "  ".repeat(usize::from(visit.depth).saturating_add(1)));
    if let Some(rows) = visit.rows {
        line.push_str(&format!(", {rows} rows"));
    }
    if let Some(span) = visit.segment {
        line.push_str(&format!(", {} bytes at {}", span.len, span.at));
    }
    line
}

/// The size of one encoding in one column.
struct Share {
    column: Option<usize>,
    id: String,
    arrays: u64,
    bytes: u64,
}

fn encodings(file: &File<'_>, out: &mut dyn Write) -> std::result::Result<(), Failure> {
    let shares = shares(file)?;
    let part = file.part()?;
    writeln!(out, "\nencodings of each column, with the size of their own buffers and metadata")?;
    for share in &shares {
        let name = match share.column {
            Some(k) => part.name(k)?.to_owned(),
            None => "(root)".to_owned(),
        };
        writeln!(out, "  {name}: {}, {} arrays, {} bytes", share.id, share.arrays, share.bytes)?;
    }
    Ok(())
}

/// Returns the sizes by column and encoding: columns in order, the largest encodings first.
fn shares(file: &File<'_>) -> Result<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    file.visit(false, &mut |visit| {
        if !visit.is_array {
            return Ok(());
        }
        let zones = if visit.in_zones { " (zones)" } else { "" };
        let id = format!("{}{zones}", String::from_utf8_lossy(visit.id));
        match shares.iter_mut().find(|share| share.column == visit.column && share.id == id) {
            Some(share) => {
                share.arrays = share.arrays.saturating_add(1);
                share.bytes = share.bytes.saturating_add(visit.bytes);
            }
            None => shares.push(Share { column: visit.column, id, arrays: 1, bytes: visit.bytes }),
        }
        Ok(())
    })?;
    shares.sort_by(|a, b| a.column.cmp(&b.column).then(b.bytes.cmp(&a.bytes)));
    Ok(shares)
}

/// Maximum number of nodes of a tree that `dump` prints; a long type counts as several. A larger tree is left out,
/// because a small file can describe an almost unlimited one.
const SHOWN: usize = 1 << 16;

/// Returns the facts about a Vortex file.
fn facts(file: &File<'_>) -> std::result::Result<Vec<(&'static str, Value)>, Failure> {
    let mut facts = vec![
        ("file_bytes", json!(file.input().len())),
        ("rows", json!(file.rows()?)),
        ("dtype", json!(file.dtype().to_string())),
        ("segments_offset_length_alignexp", segments(file)?),
    ];
    if file.metadata_len() > 0 {
        facts.push(("metadata", metadata(file)?));
    }
    if let Some(tree) = tree(file)? {
        facts.push(("layout_tree", tree));
    }
    Ok(facts)
}

fn segments(file: &File<'_>) -> Result<Value> {
    let count = u32::try_from(file.segments()).unwrap_or(u32::MAX);
    let of = |i| Ok(json!([file.segment(i)?.at, file.segment(i)?.len, file.segment_alignment(i)?]));
    (0..count).map(of).collect()
}

/// Returns the user data.
fn metadata(file: &File<'_>) -> Result<Value> {
    let of = |i| {
        let (key, span) = file.metadata(i)?;
        Ok(json!({"key": key, "hex": digits::hex(file.input().get(span, What::VORTEX_POSTSCRIPT)?)}))
    };
    (0..file.metadata_len()).map(of).collect()
}

/// Returns the tree of layouts and arrays, with the keys of the golden expectations.
fn tree(file: &File<'_>) -> Result<Option<Value>> {
    // The nodes from the root to the last visited one, each with its depth.
    let mut path: Vec<(u16, bool, Map<String, Value>)> = Vec::new();
    let mut count = 0usize;
    file.visit(false, &mut |visit| {
        if count <= SHOWN {
            fold(&mut path, visit.depth);
            let node = node(visit)?;
            let ty = node.get("dtype").and_then(Value::as_str).map_or(0, str::len);
            count = count.saturating_add(ty >> 5).saturating_add(1);
            path.push((visit.depth, visit.is_array, node));
        }
        Ok(())
    })?;
    fold(&mut path, 1);
    Ok(path.pop().filter(|_| count <= SHOWN).map(|(.., root)| Value::Object(root)))
}

/// Moves the nodes at `depth` and below it into their parents.
fn fold(path: &mut Vec<(u16, bool, Map<String, Value>)>, depth: u16) {
    while path.last().is_some_and(|(at, ..)| *at >= depth) {
        let Some((_, is_array, node)) = path.pop() else { return };
        let Some((_, in_array, above)) = path.last_mut() else { return };
        if is_array && !*in_array {
            above.insert("array".to_owned(), Value::Object(node));
        } else if let Value::Array(children) = above.entry("children").or_insert_with(|| json!([])) {
            children.push(Value::Object(node));
        }
    }
}

fn node(visit: &Visit<'_>) -> Result<Map<String, Value>> {
    let mut node = Map::new();
    let mut put = |key: &str, value: Value| node.insert(key.to_owned(), value);
    put(if visit.is_array { "encoding" } else { "layout" }, json!(String::from_utf8_lossy(visit.id)));
    put("metadata_hex", json!(digits::hex(visit.metadata()?)));
    if visit.is_array {
        let lengths = (0..visit.buffers()?).map(|k| visit.buffer(k).map(|buffer| buffer.len));
        put("buffer_lengths", json!(lengths.collect::<Result<Vec<_>>>()?));
        return Ok(node);
    }
    let role = role_name(visit.role);
    role.map(|role| put("role", json!(role)));
    visit.dtype.map(|dtype| put("dtype", json!(dtype.to_string())));
    put("rows", json!(visit.rows));
    visit.segment_number()?.map(|number| put("segments", json!([number])));
    Ok(node)
}
