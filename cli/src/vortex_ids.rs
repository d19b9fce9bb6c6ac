//! The ids of encodings of a Vortex file whose end is lost, to which its arrays refer by number.

use pilaster::column::{Prim, Type};
use pilaster::unstable::meta::proto::Message;
use pilaster::vortex::write::Encodings;
use pilaster::vortex::{Array, Encoding};

use crate::vortex_blobs::{Blob, Tree};
use crate::vortex_counts::has_shape;
use crate::vortex_match::{Leaf, fits};

/// Maximum number of lists that are tried.
const TRIED: usize = 64;

/// The ids of which releases 0.70 to 0.80 list fewer than release 0.90: those that are not in all of them.
const LATER: [&str; 3] = ["vortex.map", "vortex.onpair", "vortex.parquet.variant"];

/// The lists that the default writer of the original puts into every file, with the releases that do.
fn known() -> [(&'static str, Vec<&'static str>); 3] {
    let newest = Array::IDS.to_vec();
    let mut middle: Vec<&str> = newest.iter().copied().filter(|id| !LATER.contains(id)).collect();
    middle.push("fastlanes.delta");
    middle.sort_unstable();
    let oldest = middle.iter().copied().filter(|id| *id != "vortex.variant").collect();
    [("0.90 to 0.93", newest), ("0.80", middle), ("0.70", oldest)]
}

/// Returns the list that fits all `blobs`, and the releases that write it. The error tells why there is none.
pub fn fitting(blobs: &[Blob]) -> Result<(&'static str, Vec<&'static str>), String> {
    let fits = |ids: &[&str]| {
        blobs.iter().all(|blob| {
            let mut fits = true;
            blob.tree.walk(&mut |node| {
                fits &= ids.get(usize::from(node.encoding)).is_some_and(|id| has_shape(node, id));
            });
            fits
        })
    };
    let mut fitting: Vec<_> = known().into_iter().filter(|(_, ids)| fits(ids)).collect();
    if fitting.is_empty() {
        return Err(
            "the numbers of encodings are of no list that releases 0.70 to 0.93 of the original write".to_owned()
        );
    }
    let (releases, ids) = fitting.swap_remove(0);
    let differs = |other: &[&str]| {
        blobs.iter().any(|blob| {
            let mut differs = false;
            blob.tree.walk(&mut |node| {
                let place = usize::from(node.encoding);
                differs |= ids.get(place) != other.get(place);
            });
            differs
        })
    };
    match fitting.iter().find(|(_, other)| differs(other)) {
        Some((other, _)) => {
            Err(format!("the numbers of encodings fit releases {releases} and {other} of the original"))
        }
        None => Ok((releases, ids)),
    }
}

/// Returns the lists that fit all `blobs` of a file of pilaster, which numbers encodings in the order of their first use;
/// `None` if they are not numbered so, or if too many lists fit.
pub fn in_order_of_use(blobs: &[Blob], leaves: &[Leaf]) -> Option<Vec<Vec<&'static str>>> {
    is_own(blobs).then_some(())?;
    let mut lists = vec![Vec::new()];
    for blob in blobs {
        let mut longer = Vec::new();
        for list in lists {
            extended(list, blob, leaves, &mut longer);
        }
        lists = longer;
        (lists.len() <= TRIED).then_some(())?;
    }
    Some(lists)
}

/// Returns whether pilaster may have written arrays: encodings are numbered in the order of their first use, and empty
/// vectors are absent.
pub fn is_own(blobs: &[Blob]) -> bool {
    let (mut next, mut is_ordered, mut is_terse) = (0u16, true, false);
    for blob in blobs {
        blob.tree.walk(&mut |node| {
            is_ordered &= node.encoding <= next;
            next = next.max(node.encoding.saturating_add(1));
            is_terse |= node.is_terse;
        });
    }
    is_ordered && is_terse
}

/// Appends the lists that begin with `list`, have all encodings of a blob, and fit it.
fn extended(list: Vec<&'static str>, blob: &Blob, leaves: &[Leaf], all: &mut Vec<Vec<&'static str>>) {
    let mut most = 0;
    blob.tree.walk(&mut |node| most = most.max(usize::from(node.encoding).saturating_add(1)));
    let has_shape = |list: &[&str]| {
        let mut fits = true;
        blob.tree.walk(&mut |node| {
            let id = list.get(usize::from(node.encoding));
            fits &= id.is_none_or(|id| has_shape(node, id) && has_metadata(node, id));
        });
        fits
    };
    let mut open = vec![list];
    while let Some(list) = open.pop() {
        if all.len() > TRIED || !has_shape(&list) {
            continue;
        }
        if list.len() >= most {
            if fits(blob, &list, leaves) {
                all.push(list);
            }
            continue;
        }
        let ids = Encodings::COMPACT.iter().map(Encoding::id);
        for id in ids.filter(|id| !list.contains(id) && is_used(id, leaves)) {
            open.push(list.iter().copied().chain([id]).collect());
        }
    }
}

/// Returns whether metadata of an array fit an encoding, by the numbers and kinds of their fields.
fn has_metadata(tree: &Tree, id: &str) -> bool {
    let message = Message::new(&tree.metadata);
    let is_number = |field| matches!(message.uint(field), Ok(Some(_)));
    let is_message = |field| message.uint(field).is_err();
    match id {
        // A scalar: bool, integer or unsigned integer.
        "fastlanes.for" => is_number(3) || is_number(4),
        "vortex.sequence" => is_message(1) && is_message(2),
        "vortex.alp" => !is_number(3) && !is_number(4) && !is_message(1),
        "vortex.pco" => is_message(1),
        "vortex.zstd" => is_message(2),
        "vortex.alprd" | "fastlanes.rle" | "vortex.fsst" | "vortex.onpair" | "vortex.sparse" => {
            !tree.metadata.is_empty()
        }
        "vortex.varbinview" => tree.buffers.last().is_some_and(|views| views % 16 == 0),
        _ => true,
    }
}

/// Returns whether a writer may need an encoding for some types.
fn is_used(id: &str, leaves: &[Leaf]) -> bool {
    let any = |is: fn(Type) -> bool| leaves.iter().any(|leaf| is(leaf.want.ty));
    if any(|ty| matches!(ty, Type::List | Type::FixedList(_) | Type::Map | Type::Struct(_))) {
        return true;
    }
    match id {
        "vortex.decimal" | "vortex.decimal_byte_parts" => any(|ty| matches!(ty, Type::Decimal { .. })),
        "vortex.varbin" | "vortex.varbinview" | "vortex.fsst" | "vortex.onpair" => {
            any(|ty| matches!(ty, Type::Utf8 | Type::Bytes))
        }
        "vortex.alp" | "vortex.alprd" => any(|ty| matches!(ty, Type::Prim(Prim::F32 | Prim::F64))),
        "vortex.ext" | "vortex.datetimeparts" => {
            any(|ty| matches!(ty, Type::Date(_) | Type::Time(_) | Type::Timestamp(_)))
        }
        "vortex.null" => any(|ty| ty == Type::Null),
        "vortex.list" | "vortex.listview" | "vortex.fixed_size_list" | "vortex.map" => false,
        _ => true,
    }
}
