//! A log of pilaster that is damaged, or whose end is lost, such as after a power cut: all its intact row groups, and the
//! columns that its checkpoints agree on (format description, section 17).

use pilaster::bytes::{FileRange, Ranges};
use pilaster::column::{Column as _, Part as _, Type};
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::generated::vortex as flat;
use pilaster::unstable::meta::flat::{Flat, Table};
use pilaster::unstable::vortex_container::{Layout, end};
use pilaster::unstable::vortex_raw::{LayoutId, MAGIC};
use pilaster::vortex::log::last_checkpoint;
use pilaster::vortex::{DTypeBuf, File};

use crate::failure::Failure;
use crate::lost::number;
use crate::open::Input;
use crate::vortex_end::{ended, opened, postscript_of};
use crate::vortex_frames::{Group, Groups, Known, ROW_GROUPS, has_frames};
use crate::vortex_log_ids;
use crate::vortex_rebuilt::Rebuilt;
use crate::walk::batches;

/// Offset of the first checkpoint of a log.
const FIRST: u64 = 8;

/// The first checkpoint of a log ends within this number of bytes.
const SEARCHED: u64 = 1 << 18;

/// Maximum number of checkpoints that are compared.
const COMPARED: usize = 8;

/// What cannot be known of a log with one checkpoint.
const SINGLE: &str = "names and types of the columns: only one checkpoint states them, and nothing can be compared with it; \
    --dtype confirms them";

/// The columns of a log.
struct Columns {
    /// The type as text, and as it is stored.
    dtype: (String, Vec<u8>),
    count: usize,
    /// `--dtype` gives them.
    is_confirmed: bool,
    /// What the report says about them.
    notes: Vec<String>,
}

/// A checkpoint: its end, and what it says about columns.
struct Checkpoint {
    end: u64,
    /// The type as text, and as it is stored.
    dtype: (String, Vec<u8>),
    ids: Vec<String>,
    columns: usize,
}

impl Checkpoint {
    fn of(input: &Input<'_>, end: u64) -> Result<Self, Failure> {
        let before = ended(input, end, Vec::new());
        let file = opened(&before)?;
        let dtype = (file.dtype().to_string(), dtype(&before)?);
        Ok(Checkpoint { end, dtype, ids: ids(&file), columns: file.dtype().children() })
    }

    fn agrees(&self, other: &Self) -> bool {
        self.dtype.0 == other.dtype.0 && self.ids == other.ids
    }
}

/// Returns the intact row groups of a log as a file with an end, `None` if the file is no log. `is_whole`: its end can be
/// read.
pub fn torn<'s>(input: &Input<'s>, is_whole: bool) -> Result<Option<Rebuilt<'s>>, Failure> {
    let first = first(input)?;
    if first.is_none() && is_whole && !is_log(input)? {
        return Ok(None);
    }
    if is_whole && first == Some(input.len()) {
        // A file without rows.
        return Ok(None);
    }
    let window = input.window();
    let Some(last) = last_checkpoint(&window.as_ref().map_or(input.input(), Ranges::input))? else { return Ok(None) };
    if first.is_none() && !is_whole && !is_log(&ended(input, last, Vec::new()))? {
        return Ok(None);
    }
    let all = checkpoints(input, first, last)?;
    let columns = chosen(input, &all)?;
    let unverified = (all.len() == 1 && !columns.is_confirmed).then_some(SINGLE);
    let before = ended(input, last, Vec::new());
    let listed = listed(&opened(&before)?, columns.count)?;
    let listed = listed.as_deref();
    let known = Known { end: last, listed, columns: columns.count, dtype: &columns.dtype.1 };
    let groups = Groups::search(input, &known)?;
    let mut notes = Vec::new();
    if !is_whole {
        let (before, behind) = groups.found.split_at_checked(groups.listed).unwrap_or_default();
        notes.push(format!("found: {} up to the checkpoint that ends at {last}", rows(before)));
        if !behind.is_empty() {
            let groups = number(behind.len() as u64, ROW_GROUPS);
            notes.push(format!("found: {} in {groups} behind the checkpoint", rows(behind)));
        }
    }
    let stored: Vec<_> = all.iter().map(|one| (one.end, one.ids.as_slice())).collect();
    Ok(Some(saved(input, (&columns, &stored), groups, (notes, last, unverified))?))
}

/// Returns the intact row groups of a log without any complete checkpoint as a file with an end, `None` if it has no intact one.
/// `--dtype` gives the columns, or `first`, the first checkpoint with a new end marker.
pub fn unstated<'s>(input: &Input<'s>, first: Option<&Input<'_>>) -> Result<Option<Rebuilt<'s>>, Failure> {
    let given = input.hints().dtype.and_then(|text| text.parse::<DTypeBuf>().ok());
    let (dtype, count) = match (&given, first) {
        (Some(given), _) if matches!(given.as_dtype().ty(), Type::Struct(_)) => {
            ((given.to_string(), given.as_bytes().to_vec()), given.as_dtype().children())
        }
        (None, Some(first)) => {
            let file = opened(first)?;
            ((file.dtype().to_string(), dtype(first)?), file.dtype().children())
        }
        _ => return Ok(None),
    };
    if count == 0 {
        return Ok(None);
    }
    let groups = Groups::search(input, &Known { end: 0, listed: None, columns: count, dtype: &dtype.1 })?;
    if groups.found.is_empty() {
        return Ok(None);
    }
    let found = number(groups.found.len() as u64, ROW_GROUPS);
    let notes = vec![format!("found: {} in {found}, and no complete checkpoint", rows(&groups.found))];
    let unverified = given.is_none().then_some(SINGLE);
    let columns = Columns { dtype, count, is_confirmed: given.is_some(), notes: Vec::new() };
    Ok(Some(saved(input, (&columns, &[]), groups, (notes, 0, unverified))?))
}

/// Returns whether the end of a file is the first checkpoint of a log.
pub fn is_first(input: &Input<'_>) -> bool {
    dtype_range(input).is_ok_and(|dtype| dtype.at == FIRST)
}

/// Returns the number of rows of row groups, in words.
fn rows(groups: &[Group]) -> String {
    format!("{} rows", groups.iter().fold(0, |sum: u64, group| sum.saturating_add(group.rows)))
}

/// Returns a file with the row groups. `stored`: the ids of encodings that checkpoints list.
fn saved<'s>(
    input: &Input<'s>,
    (columns, stored): (&Columns, &[(u64, &[String])]),
    groups: Groups,
    (mut notes, end, unverified): (Vec<String>, u64, Option<&'static str>),
) -> Result<Rebuilt<'s>, Failure> {
    let dtype: Option<DTypeBuf> = columns.dtype.0.parse().ok();
    let dtype = dtype.as_ref().map(DTypeBuf::as_dtype);
    let chosen = vortex_log_ids::chosen(input, stored, dtype, &groups)?;
    let whole = joined(input, (columns, &chosen.ids), &groups, end)?;
    if chosen.is_assumed && !is_read(&whole)? {
        return Err(vortex_log_ids::refused());
    }
    notes.extend(columns.notes.iter().cloned().chain(chosen.notes));
    notes.extend(groups.notes);
    Ok(Rebuilt { input: whole, notes, absent: Vec::new(), is_contradicted: false, unverified, lost: groups.lost })
}

/// Returns whether a file begins with a checkpoint, as a log does.
pub fn begins(input: &Input<'_>) -> Result<bool, Failure> {
    Ok(first(input)?.is_some())
}

/// Returns the end of the first checkpoint, which begins at offset 8 and has no rows.
fn first(input: &Input<'_>) -> Result<Option<u64>, Failure> {
    let bytes = input.window();
    let bytes = bytes.as_ref().map_or(input.input(), Ranges::input);
    let len = bytes.len().min(SEARCHED);
    let start = bytes.get(FileRange { at: 0, len }, What::INPUT)?;
    let ends = start.chunks(4).zip((4u64..).step_by(4)).filter(|(four, end)| **four == MAGIC && *end > FIRST);
    for (_, end) in ends.take(COMPARED) {
        let before = ended(input, end, Vec::new());
        // No other checkpoint has its type there. Its number of rows may be damaged.
        if opened(&before).is_ok() && is_first(&before) {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Returns whether the end of a file lists row groups in frames.
pub fn is_log(input: &Input<'_>) -> Result<bool, Failure> {
    let file = opened(input)?;
    let count = file.dtype().children();
    listed(&file, count)?.map_or(Ok(false), |listed| has_frames(input, &listed, count))
}

/// Returns the first and the last checkpoint, and others before the last one if they do not agree.
fn checkpoints(input: &Input<'_>, first: Option<u64>, last: u64) -> Result<Vec<Checkpoint>, Failure> {
    let mut all = vec![Checkpoint::of(input, last)?];
    if let Some(first) = first.filter(|first| *first < last) {
        all.push(Checkpoint::of(input, first)?);
    }
    let mut end = last;
    while all.len() < 2
        || all.len() < COMPARED && all.iter().any(|one| all.first().is_some_and(|last| !last.agrees(one)))
    {
        let before = ended(input, end.saturating_sub(4), Vec::new());
        let Some(next) = last_checkpoint(&before.input())?.filter(|next| first.is_none_or(|first| *next > first))
        else {
            break;
        };
        all.push(Checkpoint::of(input, next)?);
        end = next;
    }
    Ok(all)
}

/// Returns the columns that most checkpoints have, or that `--dtype` gives.
fn chosen(input: &Input<'_>, all: &[Checkpoint]) -> Result<Columns, Failure> {
    let given = input.hints().dtype.and_then(|text| text.parse::<DTypeBuf>().ok());
    let text = given.as_ref().map(ToString::to_string);
    let fits = |one: &&Checkpoint| text.as_ref().is_none_or(|text| one.dtype.0 == *text);
    let votes = |one: &Checkpoint| all.iter().filter(|other| other.dtype.0 == one.dtype.0).count();
    let damaged = |of: &Checkpoint| format!("damaged: the columns that the checkpoint that ends at {} states", of.end);
    let Some(best) = all.iter().filter(fits).max_by_key(|one| votes(one)) else {
        // A damaged type has as many columns, in most cases.
        if let ([only], Some(given)) = (all, &given)
            && given.as_dtype().children() == only.columns
        {
            let notes = vec![format!("{}, {}: they are read as --dtype says", damaged(only), only.dtype.0)];
            return Ok(Columns {
                dtype: (given.to_string(), given.as_bytes().to_vec()),
                count: only.columns,
                is_confirmed: true,
                notes,
            });
        }
        let stored: Vec<&str> = all.iter().take(1).map(|one| one.dtype.0.as_str()).collect();
        let why = format!("{} stores {}", input.path, stored.join(", "));
        return Err(Failure::Usage(format!("--dtype is not the type of any checkpoint, and {why}")));
    };
    let others = || all.iter().filter(|other| other.dtype.0 != best.dtype.0);
    if let Some(rival) = others().filter(fits).find(|other| votes(other) == votes(best)) {
        let why = format!("their columns are {} and {}: --dtype gives the right ones", best.dtype.0, rival.dtype.0);
        let which = format!("the checkpoints that end at {} and {}", best.end, rival.end);
        return Err(Failure::Input(format!("{which} contradict each other: {why}")));
    }
    let (dtype, notes) = (best.dtype.clone(), others().map(damaged).collect());
    Ok(Columns { dtype, count: best.columns, is_confirmed: text.is_some(), notes })
}

/// Returns the row groups that a checkpoint lists, or `None` if a log has other layouts.
fn listed(file: &File<'_>, columns: usize) -> Result<Option<Vec<Group>>, Failure> {
    let (mut all, mut is_plain) = (vec![Vec::new(); columns], true);
    let visited = file.visit(true, &mut |node| {
        let id = LayoutId::of(node.id);
        match (node.column.map(|column| all.get_mut(column)), node.segment, node.rows) {
            (Some(Some(chunks)), Some(segment), Some(rows)) => chunks.push((segment, rows)),
            (Some(Some(_)), ..) => is_plain &= id == LayoutId::Chunked,
            (Some(None), ..) => is_plain = false,
            _ => is_plain &= id == LayoutId::Struct,
        }
        Ok::<_, Error>(())
    });
    let count = all.first().map_or(0, Vec::len);
    let is_even = all.iter().all(|chunks| chunks.len() == count);
    match visited {
        Err(e) if e.kind() == Kind::Missing => return Err(e.into()),
        Ok(()) if is_plain && is_even => {}
        _ => return Ok(None),
    }
    let group = |k: usize| {
        let chunks: Option<Vec<_>> = all.iter().map(|chunks| chunks.get(k).copied()).collect();
        let chunks = chunks?;
        let rows = chunks.first()?.1;
        let is_even = chunks.iter().all(|(_, other)| *other == rows);
        Group::listed(chunks.into_iter().map(|(segment, _)| segment).collect(), rows).filter(|_| is_even)
    };
    Ok((0..count).map(group).collect())
}

/// Returns whether all rows of all columns can be read.
fn is_read(input: &Input<'_>) -> Result<bool, Failure> {
    let file = opened(input)?;
    let part = file.part()?;
    let is_read = |k| {
        let column = part.column(k)?;
        batches(&column, 0..column.rows(), |_| Ok::<_, Error>(()))
    };
    Ok((0..part.width()).all(|k| is_read(k).is_ok()))
}

/// Returns a file with the row groups. `end_at`: where it ends without a row group.
fn joined<'s>(
    input: &Input<'s>,
    (columns, ids): (&Columns, &[String]),
    groups: &Groups,
    end_at: u64,
) -> Result<Input<'s>, Failure> {
    let (mut chunks, mut specs) = (vec![Vec::new(); columns.count], Vec::new());
    for group in &groups.found {
        for (chunks, segment) in chunks.iter_mut().zip(&group.segments) {
            chunks.push(Layout::flat(u32::try_from(specs.len()).unwrap_or(u32::MAX), group.rows));
            specs.push((segment.at, u32::try_from(segment.len).unwrap_or(u32::MAX)));
        }
    }
    let children = chunks.into_iter().map(Layout::chunked).collect();
    let layout = Layout { children, ..Layout::new(LayoutId::Struct, groups.rows()) };
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    // Bytes of the file after the last row group are not needed, but offsets in what follows are right without them.
    let at = groups.found.last().map_or(end_at, |group| group.end);
    Ok(ended(input, at, end(at, &ids, &specs, &columns.dtype.1, &layout)?))
}

/// Returns the ids of encodings in the order of their numbers.
fn ids(file: &File<'_>) -> Vec<String> {
    let id = |number| file.unknown_id(&Error::needing(Kind::Unsupported, What::VORTEX_ENCODING, 0, number));
    (0..u64::from(u16::MAX)).map_while(id).map(str::to_owned).collect()
}

/// Returns the range of the FlatBuffer of the type of a file.
fn dtype_range(input: &Input<'_>) -> Result<FileRange, Failure> {
    let lost = || Error::new(Kind::Invalid, What::VORTEX_DTYPE, input.len());
    let bytes = input.input();
    let postscript: Table<'_> = Flat::new(bytes.get(postscript_of(input)?, What::VORTEX_POSTSCRIPT)?).root()?;
    let part = flat::Postscript::from(postscript).dtype()?.ok_or_else(lost)?;
    Ok(FileRange { at: part.offset()?, len: part.length()?.into() })
}

/// Returns the FlatBuffer of the type of a file.
fn dtype(input: &Input<'_>) -> Result<Vec<u8>, Failure> {
    Ok(input.input().get(dtype_range(input)?, What::VORTEX_DTYPE)?.to_vec())
}
