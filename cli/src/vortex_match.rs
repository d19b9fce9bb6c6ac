//! The columns to which the array blobs of a Vortex file belong, if its end is lost. The default writer of the original
//! stores column after column. All columns have the same number of rows; all chunks of a column but the last have the same
//! number, a multiple of 8,192.

use std::collections::HashSet;

use pilaster::Result;
use pilaster::column::{Prim, Type};
use pilaster::vortex::DType;

use crate::vortex_blobs::Blob;
use crate::vortex_counts::{Count, Want, count};

/// Number of rows of which chunks are multiples.
const ROWS: u64 = 8192;

/// Maximum number of steps of the search.
const STEPS: u32 = 1 << 18;

/// Maximum number of assignments that are compared.
const MOST: usize = 32;

/// Maximum depth of structs.
const DEPTH: u32 = 16;

/// Rows that have segments of their own: a column, a field of a struct, or the validity of a struct.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names of the fields above it.
    pub path: String,
    pub want: Want,
}

/// Appends the leaves of a type in the order in which they are stored.
pub fn leaves(dtype: DType<'_>, path: &str, depth: u32, all: &mut Vec<Leaf>) -> Result<()> {
    let want = Want::of(dtype.ty(), dtype.nullable());
    if !matches!(dtype.ty(), Type::Struct(_)) || depth >= DEPTH {
        all.push(Leaf { path: path.to_owned(), want });
        return Ok(());
    }
    if dtype.nullable() {
        let want = Want { ty: Type::Bool, width: None, nullable: false };
        all.push(Leaf { path: format!("{path} (validity)"), want });
    }
    for k in 0..dtype.children() {
        let name = dtype.name(k)?;
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        leaves(dtype.child(k)?, &path, depth.saturating_add(1), all)?;
    }
    Ok(())
}

/// Chunks that follow each other, with the dictionary of their codes if they are codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number of the first blob, and of the blob after the last one.
    pub blobs: (usize, usize),
    /// The blob with the values of the dictionary, and the type of the codes.
    pub dictionary: Option<(usize, Prim)>,
    /// The rows of each chunk but the last, and of the last.
    pub each: Count,
    pub last: Count,
}

impl Group {
    fn chunks(&self) -> u64 {
        self.blobs.1.saturating_sub(self.blobs.0) as u64
    }

    /// Returns the number of rows, or `None` if chunks contradict each other.
    pub fn rows(&self) -> Option<Count> {
        let Some(before) = self.chunks().checked_sub(1).filter(|before| *before > 0) else { return Some(self.last) };
        let each = self.each();
        (each.least <= each.most && self.last.least <= each.most).then(|| Count {
            least: each.least.saturating_mul(before).saturating_add(self.last.least),
            most: each.most.saturating_mul(before).saturating_add(self.last.most.min(each.most)),
        })
    }

    /// Returns the rows of each chunk but the last.
    pub fn each(&self) -> Count {
        let Count { least, most } = self.each;
        let most = if most == u64::MAX { most } else { most.saturating_sub(most.checked_rem(ROWS).unwrap_or(0)) };
        Count { least: least.next_multiple_of(ROWS), most }
    }

    /// Returns the rows of each chunk but the last and of the last, if all chunks together have `rows` rows, and whether the
    /// size of chunks was assumed.
    pub fn split(&self, rows: u64, width: Option<u64>) -> Option<(u64, u64, bool)> {
        /// Number of bytes of values for which the original begins a chunk.
        const BYTES: u64 = 1 << 20;
        let Some(before) = self.chunks().checked_sub(1).filter(|before| *before > 0) else {
            return self.last.both(Count::exactly(rows)).map(|_| (0, rows, false));
        };
        let each = self.each();
        let last = |each: u64| {
            let last = rows.checked_sub(each.checked_mul(before)?)?;
            self.last.both(Count::exactly(last)).filter(|_| last > 0 && last <= each).map(|_| last)
        };
        if let Some(each) = each.exact() {
            return last(each).map(|last| (each, last, false));
        }
        let usual = BYTES.checked_div(width?)?;
        each.both(Count::exactly(usual))?;
        last(usual).map(|last| (usual, last, true))
    }
}

/// The groups of each leaf, as far as blobs are left, and the rows of all leaves but a torn last one.
#[derive(Clone, Debug)]
pub struct Assigned {
    pub leaves: Vec<Vec<Group>>,
    pub rows: Count,
    /// The last leaf has fewer rows, because the file ends there.
    pub torn: bool,
    /// All leaves have their rows.
    pub complete: bool,
}

/// What the search found.
pub enum Outcome {
    /// Nothing.
    Nothing,
    /// Too much to compare.
    TooMuch,
    /// Assignments, all of which fit.
    Fit(Vec<Assigned>),
}

/// The search.
pub struct Search<'s> {
    blobs: &'s [Blob],
    ids: &'s [&'s str],
    leaves: &'s [Leaf],
    steps: u32,
    found: Vec<Assigned>,
    failed: HashSet<(usize, usize, u64, u64)>,
    path: Vec<Vec<Group>>,
}

impl<'s> Search<'s> {
    pub fn new(blobs: &'s [Blob], ids: &'s [&'s str], leaves: &'s [Leaf]) -> Self {
        Search { blobs, ids, leaves, steps: STEPS, found: Vec::new(), failed: HashSet::new(), path: Vec::new() }
    }

    /// Returns all assignments; those in which every column is complete, if there are any.
    pub fn run(mut self) -> Outcome {
        let _ = self.leaf(0, 0, Count::ANY);
        if self.steps == 0 || self.found.len() >= MOST {
            return Outcome::TooMuch;
        }
        let complete = self.found.iter().any(|found| found.complete);
        self.found.retain(|found| found.complete == complete);
        if self.found.is_empty() { Outcome::Nothing } else { Outcome::Fit(self.found) }
    }

    fn is_zones(&self, blob: &Blob) -> bool {
        self.ids.get(usize::from(blob.tree.encoding)).is_some_and(|id| *id == "vortex.struct")
    }

    fn fit(&self, blob: usize, want: &Want) -> Option<Count> {
        count(&self.blobs.get(blob)?.tree, self.ids, want)
    }

    /// Returns the rows of a blob with codes. A constant or a sequence has no dictionary.
    fn codes(&self, blob: usize, codes: Prim) -> Option<Count> {
        let id = self.ids.get(usize::from(self.blobs.get(blob)?.tree.encoding))?;
        let rows = self.fit(blob, &Want::of(Type::Prim(codes), true))?;
        (!matches!(*id, "vortex.constant" | "vortex.sequence")).then_some(rows)
    }

    /// Assigns the blobs from `start` on to leaf `k` and the leaves after it. Returns whether any assignment was found.
    fn leaf(&mut self, k: usize, start: usize, rows: Count) -> bool {
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        if self.found.len() >= MOST {
            return false;
        }
        let rest = self.blobs.get(start..).unwrap_or_default();
        let done = k == self.leaves.len();
        if rest.is_empty() || done {
            let fits = rest.iter().all(|blob| self.is_zones(blob)) && k > 0;
            if fits {
                self.found.push(Assigned { leaves: self.path.clone(), rows, torn: false, complete: done });
            }
            return fits;
        }
        let key = (k, start, rows.least, rows.most);
        if self.failed.contains(&key) {
            return false;
        }
        let Some(Leaf { want, .. }) = self.leaves.get(k) else { return false };
        let want = *want;
        let mut any = self.run_of(k, start, rows, &want, None, &mut Vec::new());
        any |= self.groups(k, start, rows, &want, &mut Vec::new());
        if !any {
            self.failed.insert(key);
        }
        any
    }

    /// Assigns one chunk more at a time, beginning at `start`: rows of the leaf, or codes of type `codes`.
    fn run_of(
        &mut self,
        k: usize,
        start: usize,
        rows: Count,
        want: &Want,
        codes: Option<Prim>,
        before: &mut Vec<Group>,
    ) -> bool {
        let (mut any, mut end, mut each) = (false, start, Count::ANY);
        let mut last = Count::ANY;
        while let Some(next) = codes.map_or_else(|| self.fit(end, want), |codes| self.codes(end, codes)) {
            if end > start {
                let Some(both) = each.both(last) else { break };
                each = both;
            }
            (last, end) = (next, end.saturating_add(1));
            let mut group = Group { blobs: (start, end), dictionary: None, each, last };
            if group.rows().is_none() {
                // Of a column without codes, the chunk that follows a shorter one belongs to the next column.
                break;
            }
            let after = match codes {
                // A dictionary has no more values than there are codes.
                Some(_)
                    if self
                        .fit(end, want)
                        .is_none_or(|values| group.rows().is_none_or(|rows| values.least > rows.most)) =>
                {
                    continue;
                }
                Some(codes) => {
                    group.dictionary = Some((end, codes));
                    end.saturating_add(1)
                }
                None => end,
            };
            before.push(group);
            any |= self.after(k, after, rows, before);
            if codes.is_some() {
                any |= self.groups(k, after, rows, want, before);
            }
            before.pop();
        }
        any
    }

    /// Assigns codes and their dictionary.
    fn groups(&mut self, k: usize, start: usize, rows: Count, want: &Want, before: &mut Vec<Group>) -> bool {
        let mut any = false;
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        for codes in [Prim::U8, Prim::U16, Prim::U32] {
            any |= self.run_of(k, start, rows, want, Some(codes), before);
        }
        any
    }

    /// Continues with the next leaf, if the rows of the groups fit.
    fn after(&mut self, k: usize, end: usize, rows: Count, groups: &[Group]) -> bool {
        let mut sum = Count::exactly(0);
        for group in groups {
            let Some(rows) = group.rows() else { return false };
            sum = sum.plus(rows);
        }
        if let Some(rows) = rows.both(sum) {
            self.path.push(groups.to_vec());
            let any = self.leaf(k.saturating_add(1), end, rows);
            self.path.pop();
            return any;
        }
        let torn = end == self.blobs.len() && sum.most < rows.least;
        if torn {
            let mut leaves = self.path.clone();
            leaves.push(groups.to_vec());
            self.found.push(Assigned { leaves, rows, torn, complete: false });
        }
        torn
    }
}

/// Assigns each blob to the only leaf whose type it has, for writers that do not store column after column. A leaf with a
/// blob that fits others, too, gets none.
pub fn by_type(blobs: &[Blob], ids: &[&str], leaves: &[Leaf]) -> Vec<Option<Vec<(usize, Count)>>> {
    let mut assigned: Vec<Option<Vec<(usize, Count)>>> = vec![Some(Vec::new()); leaves.len()];
    for (number, blob) in blobs.iter().enumerate() {
        let fits: Vec<(usize, Count)> =
            leaves.iter().enumerate().filter_map(|(k, leaf)| Some((k, count(&blob.tree, ids, &leaf.want)?))).collect();
        for (k, rows) in &fits {
            let Some(slot) = assigned.get_mut(*k) else { continue };
            match slot {
                Some(blobs) if fits.len() == 1 => blobs.push((number, *rows)),
                slot => *slot = None,
            }
        }
    }
    assigned
}
