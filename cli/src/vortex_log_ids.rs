//! The ids of encodings of a Vortex log that is damaged: the arrays in its row groups, which are intact, tell which lists may
//! be right (format description, section 17).

use pilaster::bytes::FileRange;
use pilaster::column::{Prim, Type};
use pilaster::error::Error;
use pilaster::vortex::{DType, Encoding};

use crate::failure::Failure;
use crate::open::Input;
use crate::vortex_blobs::Tree;
use crate::vortex_counts::has_shape;
use crate::vortex_frames::{Groups, Steps};

/// Number of bytes at the end of a segment that are read first. The tree of an array of a log has fewer.
const TAIL: u64 = 512;

/// The encodings of logs, in the order of their numbers. A log lists those that its columns may get.
const LOGGED: [Encoding; 8] = [
    Encoding::Primitive,
    Encoding::Constant,
    Encoding::Bool,
    Encoding::BitPacked,
    Encoding::For,
    Encoding::VarBin,
    Encoding::Ext,
    Encoding::Alp,
];

/// A list of ids, and what is known about it.
struct List {
    ids: Vec<String>,
    /// The checkpoints that store it, by the offsets of their ends.
    ends: Vec<u64>,
    fits: bool,
}

/// The list of ids that is chosen, and what is said about those that checkpoints list.
pub struct Chosen {
    pub ids: Vec<String>,
    pub notes: Vec<String>,
    /// No checkpoint states it.
    pub is_assumed: bool,
}

/// What a user can do if no list is right.
const HELP: &str = "--array-ids, with --dtype, gives the ids, in the order of their numbers";

/// Returns why nothing can be saved.
pub fn refused() -> Failure {
    let why = "no list of encodings in a checkpoint fits the arrays of the row groups";
    Failure::Input(format!("{why}: {HELP}"))
}

/// Returns the ids of the arrays of `groups`. `stored`: the end of each checkpoint, and its list.
pub fn chosen(
    input: &Input<'_>,
    stored: &[(u64, &[String])],
    dtype: Option<DType<'_>>,
    groups: &Groups,
) -> Result<Chosen, Failure> {
    if let Some(ids) = input.hints().array_ids {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        return Ok(Chosen { ids, notes: Vec::new(), is_assumed: false });
    }
    let mut lists: Vec<List> = Vec::new();
    for (end, ids) in stored {
        match lists.iter_mut().find(|list| list.ids == *ids) {
            Some(list) => list.ends.push(*end),
            None => lists.push(List { ids: ids.to_vec(), ends: vec![*end], fits: is_list(ids) }),
        }
    }
    // A log of pilaster has the list that its columns need.
    if let Some(ids) = dtype.map(logged).transpose()? {
        lists.push(List { ids, ends: Vec::new(), fits: true });
    }
    let used = compare(input, groups, &mut lists)?;
    let fitting = || lists.iter().filter(|list| list.fits);
    let most = fitting().map(|list| list.ends.len()).max().ok_or_else(refused)?;
    let mut best = fitting().filter(|list| list.ends.len() == most);
    let list = best.next().ok_or_else(refused)?;
    if let Some(other) = best.find(|other| other.ids.iter().take(used).ne(list.ids.iter().take(used))) {
        let [a, b] = [list, other].map(|list| list.ids.join(","));
        let why = format!("checkpoints list the encodings {a} and {b}, and nothing tells which list is damaged");
        return Err(Failure::Input(format!("{why}: {HELP}")));
    }
    let damaged = lists.iter().filter(|other| other.ids != list.ids).flat_map(|other| &other.ends);
    let note = |end| format!("damaged: the encodings that the checkpoint that ends at {end} lists");
    let mut notes: Vec<String> = damaged.map(note).collect();
    let is_assumed = list.ends.is_empty();
    if is_assumed {
        notes.push(
            "assumed: the encodings have the numbers that a log of pilaster with these columns gives them".to_owned(),
        );
    }
    Ok(Chosen { ids: list.ids.clone(), notes, is_assumed })
}

/// Returns whether all ids are known, and none is listed twice.
fn is_list(ids: &[String]) -> bool {
    let is_known = |id: &String| Encoding::of(id.as_bytes()) != Encoding::Unknown;
    ids.iter().enumerate().all(|(k, id)| is_known(id) && ids.iter().take(k).all(|before| before != id))
}

/// Compares lists with all arrays of the row groups. Returns the number of ids that the arrays use.
fn compare(input: &Input<'_>, groups: &Groups, lists: &mut [List]) -> Result<usize, Failure> {
    let (mut bytes, mut used) = (Steps::of(input), 0);
    for segment in groups.found.iter().flat_map(|group| &group.segments) {
        // An array that cannot be read tells nothing.
        let Some(tree) = tree(&mut bytes, *segment)? else { continue };
        tree.walk(&mut |node| {
            let number = usize::from(node.encoding);
            used = used.max(number.saturating_add(1));
            for list in lists.iter_mut().filter(|list| list.fits) {
                list.fits = list.ids.get(number).is_some_and(|id| has_shape(node, id));
            }
        });
    }
    Ok(used)
}

/// Returns the tree of the array in a segment.
fn tree(bytes: &mut Steps, segment: FileRange) -> Result<Option<Tree>, Error> {
    let end = segment.at.saturating_add(segment.len);
    let mut tail = |len: u64| {
        let len = len.min(segment.len);
        bytes.get(FileRange { at: end.saturating_sub(len), len })
    };
    let short = tail(TAIL)?;
    let Some((_, last)) = short.split_last_chunk() else { return Ok(None) };
    let need = u64::from(u32::from_le_bytes(*last)).saturating_add(4);
    Ok(if need > TAIL { Tree::of_segment(&tail(need)?) } else { Tree::of_segment(&short) })
}

/// Returns the list of a log of pilaster with these columns.
fn logged(dtype: DType<'_>) -> Result<Vec<String>, Error> {
    let mut used = vec![Encoding::Primitive, Encoding::Constant];
    for k in 0..dtype.children() {
        let column = dtype.child(k)?;
        used.extend_from_slice(match column.ty() {
            Type::Bool => &[Encoding::Bool],
            Type::Utf8 | Type::Bytes => &[Encoding::VarBin],
            Type::Prim(Prim::F32 | Prim::F64) => &[Encoding::BitPacked, Encoding::For, Encoding::Alp],
            Type::Prim(_) => &[Encoding::BitPacked, Encoding::For],
            _ => &[Encoding::BitPacked, Encoding::For, Encoding::Ext],
        });
        if column.nullable() {
            used.push(Encoding::Bool);
        }
    }
    Ok(LOGGED.iter().filter(|encoding| used.contains(encoding)).map(|encoding| encoding.id().to_owned()).collect())
}
