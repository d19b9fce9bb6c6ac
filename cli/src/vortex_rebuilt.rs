//! A new end for a Vortex file that has lost its own: the arrays that are found are assigned to the columns of a type that
//! the caller gives.

use std::fmt::Write as _;
use std::ops::Range;

use pilaster::column::{Column as _, Part as _};
use pilaster::unstable::vortex_container::end;
use pilaster::vortex::{DTypeBuf, File};

use crate::failure::Failure;
use crate::open::Input;
use crate::vortex_blobs::{Blob, Blobs};
use crate::vortex_counts::{Count, count};
use crate::vortex_end::{ended, opened};
use crate::vortex_ids::{fitting, in_order_of_use, is_own};
use crate::vortex_match::{Assigned, Group, Leaf, Outcome, Search, Tables, by_type, is_in_order, leaves};
use crate::vortex_plan::{Arrays, Chunks, Plan, tables, zones_of};
use crate::vortex_zoned::contradiction;
use crate::walk::batches;

/// Maximum number of arrays, or of ranges without one, that a report lists.
const SHOWN: usize = 16;

/// Nothing in the file tells which program wrote it.
const ASSIGNED: &str = "that the writer stores columns as the default writer of the original or as pilaster does: which array \
    belongs to which column follows from that";

/// A padding between segments has fewer bytes; an array has more.
const PADDING: u64 = 64;

/// A file with a new end.
pub struct Rebuilt<'s> {
    pub input: Input<'s>,
    /// What the report says about the arrays.
    pub notes: Vec<String>,
    /// Why a column has no rows, by its number.
    pub absent: Vec<Option<String>>,
    /// Facts that were not verified, so that values may be wrong.
    pub unverified: Option<&'static str>,
    /// Columns contradict their zones.
    pub is_contradicted: bool,
    /// Number of row groups that are lost.
    pub lost: u64,
}

impl<'s> Rebuilt<'s> {
    /// A file all of whose columns are known.
    pub const fn whole(input: Input<'s>) -> Self {
        Rebuilt { input, notes: Vec::new(), absent: Vec::new(), is_contradicted: false, unverified: None, lost: 0 }
    }
}

/// Finds the arrays of a file without its end, and gives it a new one. Without `--dtype`, the error lists the arrays.
pub fn rebuilt<'s>(input: &Input<'s>, why: &str) -> Result<Rebuilt<'s>, Failure> {
    let mut blobs = Blobs::search(input, 4)?;
    if blobs.found.is_empty() {
        return Err(Failure::Input(format!("{why}, and no array is found in its {} bytes", input.len())));
    }
    let hints = input.hints();
    let ids = match hints.array_ids {
        Some(ids) => Ok((String::new(), ids.to_vec())),
        None => {
            fitting(&blobs.found).map(|(releases, ids)| (format!("as by releases {releases} of the original"), ids))
        }
    };
    let Some(text) = hints.dtype else {
        let ids = ids.map(|(_, ids)| ids).unwrap_or_default();
        return Err(Failure::Input(format!("{why}; {}", diagnosis(&blobs, &ids))));
    };
    let dtype: DTypeBuf = text.parse()?;
    let mut all = Vec::new();
    leaves(dtype.as_dtype(), "", 0, &mut all)?;
    let found = found(&blobs);
    let mut notes = Vec::new();
    before_damage(&mut blobs, &mut notes);
    let new = |ids: &[&str]| new(input, (&blobs.found, ids), (&dtype, &all), notes.clone());
    let own = if hints.array_ids.is_none() { in_order_of_use(&blobs.found, &all) } else { None };
    let refused = |e: String| Failure::Input(format!("{why}; {e}"));
    let (by, mut rebuilt) = match own {
        Some(lists) => ("in the order of their first use".to_owned(), the_only(&lists, &new).map_err(refused)?),
        None => {
            let help = "--array-ids gives the ids, in the order of their numbers";
            let (by, ids) = ids.map_err(|e| refused(format!("{e}: {help}")))?;
            (by, new(&ids).map_err(|e| e.text().map_or(e, refused))?)
        }
    };
    let by = if by.is_empty() { by } else { format!("; their encodings are numbered {by}") };
    rebuilt.notes.insert(0, format!("{found}{by}"));
    Ok(rebuilt)
}

/// Returns the file with the only list of ids with which all columns can be read and agree with their zones.
fn the_only<'s>(
    lists: &[Vec<&str>],
    new: &dyn Fn(&[&str]) -> Result<Rebuilt<'s>, Failure>,
) -> Result<Rebuilt<'s>, String> {
    let (mut found, mut why) = (None, None);
    for list in lists {
        match new(list) {
            Ok(rebuilt) if is_read(&rebuilt) => {
                if found.is_some() {
                    return Err("several lists of encodings fit the arrays: --array-ids gives the right one".to_owned());
                }
                found = Some(rebuilt);
            }
            Ok(_) => {}
            Err(e) => why = why.or(e.text()),
        }
    }
    let none = || "no list of encodings fits the arrays: --array-ids gives it".to_owned();
    found.ok_or_else(|| why.unwrap_or_else(none))
}

/// Returns whether all rows can be read, and no column contradicts its zones.
fn is_read(rebuilt: &Rebuilt<'_>) -> bool {
    let read = |k: usize, file: &File<'_>| -> Result<(), Failure> {
        let column = file.part()?.column(k)?;
        batches(&column, 0..column.rows(), |_| Ok::<_, pilaster::Error>(())).map_err(Failure::from)
    };
    let is_read = |file: File<'_>| {
        rebuilt.absent.iter().enumerate().filter(|(_, absent)| absent.is_none()).all(|(k, _)| read(k, &file).is_ok())
    };
    !rebuilt.is_contradicted && opened(&rebuilt.input).is_ok_and(is_read)
}

/// Gives a file a new end, in which the encodings of its arrays are numbered as in a list.
fn new<'s>(
    input: &Input<'s>,
    arrays: Arrays<'_>,
    (dtype, all): (&DTypeBuf, &[Leaf]),
    mut notes: Vec<String>,
) -> Result<Rebuilt<'s>, Failure> {
    let (blobs, ids) = arrays;
    let len = blobs.last().map_or(0, Blob::end);
    let found = matched(arrays, all).map_err(Failure::Input)?;
    if found.by_type {
        notes.push("assumed: an array belongs to the only column that has its type".to_owned());
    }
    let mut segments: Vec<(u64, u32)> = Vec::new();
    for blob in blobs {
        segments.push((blob.at, u32::try_from(blob.len).unwrap_or(u32::MAX)));
    }
    // Rows that are lost.
    segments.push((len, 0));
    let hole = u32::try_from(blobs.len()).unwrap_or(u32::MAX);
    // All possible numbers of rows have the same number of zones.
    let is_narrow = zones_of(found.rows.least) == zones_of(found.rows.most);
    let with = |rows: u64, notes: &mut Vec<String>| -> Result<_, Failure> {
        let parts: Vec<_> =
            found.leaves.iter().zip(all).map(|(leaf, of)| part(arrays, leaf, rows, of, notes)).collect();
        let tables = if is_narrow { tables(arrays, all) } else { Vec::new() };
        let mut plan = Plan { all, parts, tables, rows, next: 0, hole };
        let (layout, absent) = plan.root(dtype.as_dtype())?;
        let end = end(len, ids, &segments, dtype.as_bytes(), &layout)?;
        Ok((ended(input, len, end), absent))
    };
    let rows = certain(found.rows, &|rows| {
        let (input, absent) = with(rows, &mut Vec::new())?;
        ends_well(&input, &absent, rows)
    })?;
    if found.rows.exact().is_none() {
        let most = found.rows.most;
        notes.push(format!("uncertain: the file has {rows} to {most} rows; the first {rows} are saved"));
    }
    let (input, mut absent) = with(rows, &mut notes)?;
    let lost = absent.iter().flatten().count();
    let is_compared = compared(&input, &mut absent, found.rows.exact().is_some())?;
    let is_contradicted = absent.iter().flatten().count() > lost;
    if is_compared {
        notes.push("compared: all columns that are saved agree with their tables of zones".to_owned());
    }
    let unverified = match (is_compared, found.rows.exact()) {
        (false, _) => Some(ASSIGNED),
        (true, None) => Some("the number of rows, of which the arrays tell only the blocks"),
        (true, Some(_)) => None,
    };
    Ok(Rebuilt { input, notes, absent, is_contradicted, unverified, lost: 0 })
}

/// Compares columns with their zones, and leaves out those that contradict them. Returns whether all others have zones.
/// `is_exact`: the number of rows is known.
fn compared(input: &Input<'_>, absent: &mut [Option<String>], is_exact: bool) -> Result<bool, Failure> {
    let (file, mut all, mut any) = (opened(input)?, true, false);
    for (k, absent) in absent.iter_mut().enumerate().filter(|(_, absent)| absent.is_none()) {
        match contradiction(&file.part()?.column(k)?, is_exact) {
            Some(None) => any = true,
            Some(Some(why)) => {
                *absent =
                    Some(format!("{why}: its arrays are damaged, or those of another column, or the table is damaged"));
            }
            None => all = false,
        }
    }
    Ok(all && any)
}

/// Returns the smallest number of rows with which the last row of every column can be read: a patch after the end cannot.
fn certain(rows: Count, is_read: &dyn Fn(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let Count { mut least, mut most } = rows;
    if least == most || is_read(least)? || !is_read(most)? {
        return Ok(least);
    }
    while most.saturating_sub(least) > 1 {
        let middle = least.midpoint(most);
        if is_read(middle)? { most = middle } else { least = middle }
    }
    Ok(most)
}

/// Returns whether the last row of every column that is present can be read.
fn ends_well(input: &Input<'_>, absent: &[Option<String>], rows: u64) -> Result<bool, Failure> {
    let file = opened(input)?;
    let part = file.part()?;
    for k in (0..part.width()).filter(|k| absent.get(*k).is_some_and(Option::is_none)) {
        let column = part.column(k)?;
        if batches(&column, rows.saturating_sub(1)..rows, |_| Ok::<_, pilaster::Error>(())).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Lists the arrays, and says what helps.
fn diagnosis(blobs: &Blobs, ids: &[&str]) -> String {
    let count = blobs.found.len();
    let mut text = format!("{count} arrays are found:");
    for blob in blobs.found.iter().take(SHOWN) {
        let _ = write!(text, " {}+{} {},", blob.at, blob.len, blob.tree.shown(ids));
    }
    if count > SHOWN {
        let _ = write!(text, " and {} more,", count.saturating_sub(SHOWN));
    }
    let _ = text.pop();
    text.push_str(
        "; --dtype gives the types of the columns, as info prints them, so that arrays are matched to columns",
    );
    text
}

fn found(blobs: &Blobs) -> String {
    let bytes = blobs.found.iter().fold(0, |sum: u64, blob| sum.saturating_add(blob.len));
    format!("found: {} arrays of {bytes} bytes", blobs.found.len())
}

/// Leaves out the arrays after damaged bytes, in which arrays of any column may be lost. Reports bytes without an array.
fn before_damage(blobs: &mut Blobs, notes: &mut Vec<String>) {
    let last = blobs.found.last().map_or(0, |blob| blob.at);
    let range = |other: &Range<u64>| format!("{} bytes at {}", other.end.saturating_sub(other.start), other.start);
    for other in blobs.others.iter().filter(|other| other.end.saturating_sub(other.start) >= PADDING) {
        if other.start > last {
            notes.push(format!("lost: {}, the beginning of an array or other data", range(other)));
            continue;
        }
        let kept = blobs.found.iter().take_while(|blob| blob.at < other.start).count();
        let after = blobs.found.len().saturating_sub(kept);
        let why = "arrays that were there are missing, so that the columns of those after it are not known";
        notes.push(format!("lost: {} and {after} arrays after it: {why}", range(other)));
        blobs.found.truncate(kept);
        return;
    }
}

/// Why a column without arrays is lost.
const GONE: &str = "none of its arrays is in the file";

/// The groups of each leaf, or why it has none.
struct Matched {
    leaves: Vec<Result<Found, String>>,
    rows: Count,
    by_type: bool,
}

/// The groups of a leaf.
struct Found {
    groups: Vec<Group>,
    /// The leaf ends with the file.
    is_torn: bool,
    /// The numbers of the blobs, if they do not follow each other.
    blobs: Vec<usize>,
}

/// Assigns the arrays to the leaves.
fn matched((blobs, ids): Arrays<'_>, all: &[Leaf]) -> Result<Matched, String> {
    let mut ordered = None;
    let is_own = is_own(blobs);
    for tables in [Tables::Last, Tables::Each] {
        match Search::new((blobs, ids), all, (tables, is_own)).run() {
            Outcome::Fit(found) => {
                if !found.iter().any(|found| is_in_order((blobs, ids), all, found, (tables, is_own))) {
                    return Err(in_turns(all));
                }
                ordered = Some(agreed(&found, all)?);
                break;
            }
            Outcome::TooMuch => return Err(format!("the arrays fit the columns in too many ways; {LIST}")),
            Outcome::Nothing => {}
        }
    }
    let found = match ordered {
        Some(found) => found,
        None => typed(by_type(blobs, ids, all).ok_or_else(|| in_turns(all))?, all)?,
    };
    if found.rows.most == u64::MAX {
        return Err("no array tells the number of rows".to_owned());
    }
    Ok(found)
}

/// What helps if the arrays cannot be matched.
const LIST: &str =
    "without --dtype, recover lists the arrays, each of which `cat --dtype --array-rows` reads if it is cut out";

/// Returns why files whose columns may take turns are not saved.
fn in_turns(all: &[Leaf]) -> String {
    let paths: Vec<&str> = all.iter().map(|leaf| leaf.path.as_str()).take(SHOWN).collect();
    let more = if all.len() > SHOWN { " and others" } else { "" };
    format!(
        "which arrays belong to which of the columns {}{more} is not certain: they do not follow each other column after column, \
         or may not, as in files that were written from several batches; {LIST}",
        paths.join(", ")
    )
}

/// Returns what all assignments agree on.
fn agreed(found: &[Assigned], all: &[Leaf]) -> Result<Matched, String> {
    let first = found.first().ok_or("no assignment")?;
    if found.iter().any(|other| other.rows != first.rows) {
        return Err("the arrays fit the columns in several ways, with different numbers of rows".to_owned());
    }
    let mut leaves = Vec::new();
    for k in 0..all.len() {
        leaves.push(match first.leaves.get(k).map(Vec::as_slice) {
            None => Err(GONE.to_owned()),
            Some([]) if found.iter().all(|other| other.leaves.get(k).is_some_and(Vec::is_empty)) => {
                Err("the values of its dictionary are lost".to_owned())
            }
            // The order of packed codes depends on their type, and zones have the same bounds in any order.
            Some(groups) if found.iter().any(|other| other.leaves.get(k).map(Vec::as_slice) != Some(groups)) => {
                let why =
                    "several arrays, or several types of codes, fit it; its values or their dictionary may be lost";
                Err(why.to_owned())
            }
            Some(groups) => {
                let is_torn = first.torn && k.saturating_add(1) == first.leaves.len();
                Ok(Found { groups: groups.to_vec(), is_torn, blobs: Vec::new() })
            }
        });
    }
    Ok(Matched { leaves, rows: first.rows, by_type: false })
}

/// Returns the leaves whose arrays have no other place. They may have different numbers of rows.
fn typed(assigned: Vec<Vec<(usize, Count)>>, all: &[Leaf]) -> Result<Matched, String> {
    let (mut leaves, mut rows) = (Vec::new(), Count::exactly(0));
    for blobs in assigned {
        let found = match &blobs[..] {
            [] => Err(GONE.to_owned()),
            [before @ .., (_, last)] => {
                let each = before.iter().try_fold(Count::ANY, |each, (_, rows)| each.both(*rows));
                let group = each.map(|each| Group {
                    blobs: (0, before.len().saturating_add(1)),
                    dictionary: None,
                    each,
                    last: *last,
                });
                group
                    .filter(|group| group.rows().is_some())
                    .ok_or_else(|| "its chunks contradict each other".to_owned())
            }
        };
        leaves.push(found.map(|group| {
            if let Some(own) = group.rows().filter(|own| own.least > rows.least) {
                rows = own;
            }
            let blobs = blobs.into_iter().map(|(blob, _)| blob).collect();
            Found { groups: vec![group], is_torn: true, blobs }
        }));
    }
    if leaves.iter().all(Result::is_err) {
        let why = leaves.iter().zip(all).find_map(|(found, leaf)| Some((found.as_ref().err()?, leaf)));
        let why = why.map_or_else(String::new, |(why, leaf)| format!(": {}: {why}", leaf.path));
        return Err(format!("the arrays cannot be matched to the columns{why}"));
    }
    Ok(Matched { leaves, rows: Count::exactly(rows.least), by_type: true })
}

/// Returns the chunks of a leaf of a file with `rows` rows.
fn part(
    arrays: Arrays<'_>,
    found: &Result<Found, String>,
    rows: u64,
    leaf: &Leaf,
    notes: &mut Vec<String>,
) -> Result<Chunks, String> {
    let Found { groups, is_torn, blobs } = found.as_ref().map_err(Clone::clone)?;
    let mut chunks = chunks(arrays, groups, (!is_torn).then_some(rows), leaf, notes)?;
    let number = |place: usize| blobs.get(place).copied().unwrap_or(place);
    chunks.iter_mut().flat_map(|(chunks, _)| chunks).for_each(|chunk| chunk.0 = number(chunk.0));
    Ok(chunks)
}

/// Returns the chunks of the groups of a leaf with `rows` rows; `None` for a leaf that ends with the file.
fn chunks(
    arrays: Arrays<'_>,
    groups: &[Group],
    rows: Option<u64>,
    leaf: &Leaf,
    notes: &mut Vec<String>,
) -> Result<Chunks, String> {
    let (mut chunks, mut left, mut last_group) = (Vec::new(), rows, groups.len());
    for group in groups {
        last_group = last_group.saturating_sub(1);
        let width = group.dictionary.map_or(leaf.want.width, |(_, codes)| Some(codes.size() as u64));
        let unknown = || "the rows of its chunks are not known".to_owned();
        let total = match (left, last_group) {
            (Some(left), 0) => left,
            // The end of the last chunk is not known.
            (None, 0) => {
                let before = group.blobs.1.saturating_sub(group.blobs.0).saturating_sub(1) as u64;
                let each = if before == 0 { Some(0) } else { group.each().exact() };
                each.ok_or_else(unknown)?.saturating_mul(before).saturating_add(group.last.least)
            }
            _ => group.rows().and_then(Count::exact).ok_or_else(unknown)?,
        };
        let (each, last, assumed) = group.split(total, width).ok_or_else(unknown)?;
        if assumed {
            notes.push(format!("assumed: chunks of {} have {each} rows, as the original writes them", leaf.path));
        }
        left = left.map(|left| left.saturating_sub(total));
        let (start, end) = group.blobs;
        let rows = |k: usize| if k.saturating_add(1) == end { last } else { each };
        let dictionary = match group.dictionary {
            None => None,
            Some((values, codes)) => Some((values, entries(arrays, group, values, leaf)?, codes)),
        };
        chunks.push(((start..end).map(|k| (k, rows(k))).collect(), dictionary));
    }
    Ok(chunks)
}

/// Returns the number of values of a dictionary: what its array tells, else one more than the largest code.
fn entries((blobs, ids): Arrays<'_>, group: &Group, values: usize, leaf: &Leaf) -> Result<u64, String> {
    let stated = blobs.get(values).and_then(|blob| count(&blob.tree, ids, &leaf.want)).unwrap_or(Count::ANY);
    let codes = blobs.get(group.blobs.0..group.blobs.1).unwrap_or_default();
    let largest = codes.iter().map(|blob| blob.tree.max).try_fold(0, |most: u64, max| Some(most.max(max?)));
    let used = largest.and_then(|largest| stated.both(Count::exactly(largest.saturating_add(1))));
    let rows = stated.exact().or(used.and_then(Count::exact)).or((stated.most < u64::MAX).then_some(stated.most));
    rows.ok_or_else(|| "the number of values of its dictionary is not known".to_owned())
}
