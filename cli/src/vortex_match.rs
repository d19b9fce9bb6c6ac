//! The columns to which the array blobs of a Vortex file belong, if its end is lost. The default writer of the original
//! stores column after column. All columns have the same number of rows; all chunks of a column but the last have the same
//! number, a multiple of 8,192.

use std::collections::HashSet;

use pilaster::Result;
use pilaster::column::{Prim, Type};
use pilaster::vortex::DType;

use crate::vortex_blobs::{Blob, Tree};
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
    /// The default writer stores a table of its zones: it is no field of a struct that may be missing.
    pub is_zoned: bool,
}

/// Appends the leaves of a type in the order in which they are stored.
pub fn leaves(dtype: DType<'_>, path: &str, depth: u32, all: &mut Vec<Leaf>) -> Result<()> {
    let want = Want::of(dtype.ty(), dtype.nullable());
    let start = all.len();
    if !matches!(dtype.ty(), Type::Struct(_)) || depth >= DEPTH {
        all.push(Leaf { path: path.to_owned(), want, is_zoned: true });
        return Ok(());
    }
    if dtype.nullable() {
        let want = Want { ty: Type::Bool, width: None, nullable: false };
        all.push(Leaf { path: format!("{path} (validity)"), want, is_zoned: false });
    }
    for k in 0..dtype.children() {
        let name = dtype.name(k)?;
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        leaves(dtype.child(k)?, &path, depth.saturating_add(1), all)?;
    }
    if dtype.nullable() {
        all.iter_mut().skip(start).for_each(|leaf| leaf.is_zoned = false);
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

/// Where writers store the tables of zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// After the last column, as the original does.
    Last,
    /// After each column, as pilaster does.
    Each,
}

/// The search.
pub struct Search<'s> {
    blobs: &'s [Blob],
    ids: &'s [&'s str],
    leaves: &'s [Leaf],
    tables: Tables,
    is_own: bool,
    steps: u32,
    found: Vec<Assigned>,
    failed: HashSet<(usize, usize, u64, u64)>,
    path: Vec<Vec<Group>>,
}

impl<'s> Search<'s> {
    /// `is_own`: pilaster may have written the file.
    pub fn new(
        (blobs, ids): (&'s [Blob], &'s [&'s str]),
        leaves: &'s [Leaf],
        (tables, is_own): (Tables, bool),
    ) -> Self {
        let (found, failed, path) = (Vec::new(), HashSet::new(), Vec::new());
        Search { blobs, ids, leaves, tables, is_own, steps: STEPS, found, failed, path }
    }

    /// Returns all assignments, also those in which columns have lost chunks: complete ones are no better.
    pub fn run(mut self) -> Outcome {
        // Zones of pilaster may have any number of rows.
        let rows = if self.is_own { Count::ANY } else { rows_of_zones(self.blobs, self.ids) };
        let _ = self.leaf(0, 0, rows);
        if self.steps == 0 || self.found.len() >= MOST {
            return Outcome::TooMuch;
        }
        if self.found.is_empty() { Outcome::Nothing } else { Outcome::Fit(self.found) }
    }

    fn is_table(&self, blob: usize) -> bool {
        self.blobs.get(blob).is_some_and(|blob| is_table(blob, self.ids))
    }

    fn fit(&self, blob: usize, want: &Want) -> Option<Count> {
        count(&self.blobs.get(blob)?.tree, self.ids, want)
    }

    /// Returns the rows of a blob with codes. `is_first`: a dictionary does not begin with codes that are all equal.
    fn codes(&self, blob: usize, prim: Prim, is_first: bool) -> Option<Count> {
        let blob = self.blobs.get(blob)?;
        codes(blob, self.ids, prim).filter(|_| !is_first || !is_line(blob, self.ids))
    }

    /// Assigns the blobs from `start` on to leaf `k` and the leaves after it. Returns whether any assignment was found.
    fn leaf(&mut self, k: usize, start: usize, rows: Count) -> bool {
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        if self.found.len() >= MOST {
            return false;
        }
        let done = k == self.leaves.len();
        let tables = (start..self.blobs.len()).take_while(|blob| self.is_table(*blob)).count();
        let is_end = start.saturating_add(tables) == self.blobs.len();
        if is_end && tables == 0 || done {
            let fits = is_end && k > 0 && tables <= self.leaves.len();
            if fits {
                self.found.push(Assigned { leaves: self.path.clone(), rows, torn: false });
            }
            return fits;
        }
        let key = (k, start, rows.least, rows.most);
        if self.failed.contains(&key) {
            return false;
        }
        let Some(Leaf { want, .. }) = self.leaves.get(k) else { return false };
        let want = *want;
        if !self.is_enough(k, start) {
            return false;
        }
        let mut any = self.run_of(k, start, rows, &want, None, &mut Vec::new());
        any |= self.groups(k, start, rows, &want, &mut Vec::new());
        if !any {
            self.failed.insert(key);
        }
        any
    }

    /// Returns whether there may be an array for each leaf from `k` on. The original stores tables of zones after all
    /// columns, so that each has one if there is a table.
    fn is_enough(&self, k: usize, start: usize) -> bool {
        let is_last = self.tables == Tables::Last && self.is_table(self.blobs.len().saturating_sub(1));
        let data = (start..self.blobs.len()).take_while(|blob| !self.is_table(*blob));
        !is_last || data.take(self.leaves.len()).count() >= self.leaves.len().saturating_sub(k)
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
        while let Some(next) = match codes {
            None => self.fit(end, want),
            Some(codes) => self.codes(end, codes, end == start),
        } {
            if end > start {
                let Some(both) = each.both(last) else { break };
                each = both;
            }
            (last, end) = (next, end.saturating_add(1));
            let mut group = Group { blobs: (start, end), dictionary: None, each, last };
            let Some(count) = group.rows() else {
                // Of a column without codes, the chunk that follows a shorter one belongs to the next column.
                break;
            };
            let after = match codes {
                Some(_) if end == self.blobs.len() => {
                    any |= self.without_values(count, rows, before);
                    break;
                }
                // A dictionary has no more values than there are codes.
                Some(_) if self.fit(end, want).is_none_or(|values| values.least > count.most) => continue,
                Some(codes) => {
                    group.dictionary = Some((end, codes));
                    end.saturating_add(1)
                }
                None => end,
            };
            let sum = before.iter().filter_map(Group::rows).fold(count, Count::plus);
            if sum.least > rows.most || !self.is_enough(k.saturating_add(1), after) {
                break;
            }
            before.push(group);
            any |= self.after(k, after, rows, before);
            if codes.is_some() {
                any |= self.groups(k, after, rows, want, before);
            }
            before.pop();
        }
        any
    }

    /// Assigns codes at the end of the file to a leaf whose dictionary is lost, and with it all of its rows.
    fn without_values(&mut self, codes: Count, rows: Count, before: &[Group]) -> bool {
        let sum = before.iter().filter_map(Group::rows).fold(codes, Count::plus);
        let fits = sum.least <= rows.most;
        if fits {
            let mut leaves = self.path.clone();
            leaves.push(Vec::new());
            self.found.push(Assigned { leaves, rows, torn: true });
        }
        fits
    }

    /// Assigns codes and their dictionary.
    fn groups(&mut self, k: usize, start: usize, rows: Count, want: &Want, before: &mut Vec<Group>) -> bool {
        let mut any = false;
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        // The codes of pilaster always have 16 bits.
        let types = if self.tables == Tables::Each { &CODES[1..2] } else { &CODES[..] };
        for codes in types.iter().copied() {
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
            let next = match self.tables {
                Tables::Last => Some(end),
                Tables::Each if end == self.blobs.len() => Some(end),
                Tables::Each => self.is_table(end).then_some(end.saturating_add(1)),
            };
            let Some(next) = next else { return false };
            self.path.push(groups.to_vec());
            let any = self.leaf(k.saturating_add(1), next, rows);
            self.path.pop();
            return any;
        }
        let torn = end == self.blobs.len() && sum.most < rows.least;
        if torn {
            let mut leaves = self.path.clone();
            leaves.push(groups.to_vec());
            self.found.push(Assigned { leaves, rows, torn });
        }
        torn
    }
}

/// The types of codes.
const CODES: [Prim; 3] = [Prim::U8, Prim::U16, Prim::U32];

/// Returns whether a blob is a table of zones.
pub fn is_table(blob: &Blob, ids: &[&str]) -> bool {
    ids.get(usize::from(blob.tree.encoding)).is_some_and(|id| *id == "vortex.struct")
}

/// Returns whether a blob may be a table of zones, rows of a leaf, or codes of 16 bits, also by the types of its children.
pub fn fits(blob: &Blob, ids: &[&str], leaves: &[Leaf]) -> bool {
    let (number, bits) = (Want::of(Type::Prim(Prim::U64), true), Want { ty: Type::Bool, width: None, nullable: false });
    let id = |tree: &Tree| ids.get(usize::from(tree.encoding)).copied().unwrap_or_default();
    let mut fits = true;
    blob.tree.walk(&mut |node| {
        let values = match id(node) {
            "vortex.primitive" | "vortex.bool" | "vortex.varbinview" | "vortex.decimal" => 0,
            "vortex.varbin" => 1,
            _ => return,
        };
        // The child after those with values is the validity.
        fits &= node.children.get(values).is_none_or(|validity| count(validity, ids, &bits).is_some());
    });
    let is_field = |field: &Tree| {
        id(field) == "vortex.struct"
            || count(field, ids, &number).is_some()
            || leaves.iter().any(|leaf| count(field, ids, &leaf.want).is_some())
    };
    let is_table = is_table(blob, ids)
        && blob.tree.children.iter().all(is_field)
        && blob.tree.children.last().is_some_and(|nulls| count(nulls, ids, &number).is_some());
    let is_rows = || leaves.iter().any(|leaf| count(&blob.tree, ids, &leaf.want).is_some());
    fits && (is_table || codes(blob, ids, Prim::U16).is_some() || is_rows())
}

/// Returns whether the rows of a blob are all equal, or grow evenly.
fn is_line(blob: &Blob, ids: &[&str]) -> bool {
    ids.get(usize::from(blob.tree.encoding)).is_some_and(|id| matches!(*id, "vortex.constant" | "vortex.sequence"))
}

/// Returns the number of codes of type `prim` in a blob, or `None` if it has others.
fn codes(blob: &Blob, ids: &[&str], prim: Prim) -> Option<Count> {
    let is_ext = ids.get(usize::from(blob.tree.encoding)).is_some_and(|id| *id == "vortex.ext");
    count(&blob.tree, ids, &Want::of(Type::Prim(prim), true)).filter(|_| !is_ext)
}

/// Returns the leaf whose type a blob has, or `None` if other leaves have it, too.
fn only(blob: &Blob, ids: &[&str], leaves: &[Leaf]) -> Option<(usize, Count)> {
    let mut fits = leaves.iter().enumerate().filter_map(|(k, leaf)| Some((k, count(&blob.tree, ids, &leaf.want)?)));
    fits.next().filter(|_| fits.next().is_none())
}

/// Assigns each blob to the only leaf whose type it has, for files whose columns take turns. Returns `None` if a blob fits
/// no leaf or several ones, or may have codes, to which others may be the dictionary.
pub fn by_type(blobs: &[Blob], ids: &[&str], leaves: &[Leaf]) -> Option<Vec<Vec<(usize, Count)>>> {
    let mut assigned = vec![Vec::new(); leaves.len()];
    for (number, blob) in blobs.iter().enumerate().filter(|(_, blob)| !is_table(blob, ids)) {
        if CODES.into_iter().any(|prim| codes(blob, ids, prim).is_some()) {
            return None;
        }
        let (k, rows) = only(blob, ids, leaves)?;
        assigned.get_mut(k)?.push((number, rows));
    }
    Some(assigned)
}

/// Returns whether a blob may be a chunk before the last one of a column.
fn is_inner(blob: &Blob, ids: &[&str], leaves: &[Leaf]) -> bool {
    let wants = leaves.iter().filter_map(|leaf| count(&blob.tree, ids, &leaf.want));
    let mut counts = wants.chain(CODES.into_iter().filter_map(|prim| codes(blob, ids, prim)));
    counts.any(|rows| rows.least.max(1).next_multiple_of(ROWS) <= rows.most)
}

/// Returns the number of rows of a file, as far as the number of its zones tells it.
fn rows_of_zones(blobs: &[Blob], ids: &[&str]) -> Count {
    let want = Want::of(Type::Prim(Prim::U64), true);
    let tables = blobs.iter().filter(|blob| is_table(blob, ids));
    let mut zones =
        tables.flat_map(|blob| blob.tree.children.last()).filter_map(|nulls| count(nulls, ids, &want)?.exact());
    match zones.next().and_then(|zones| Some((zones.checked_sub(1)?.checked_mul(ROWS)?, zones.checked_mul(ROWS)?))) {
        Some((before, most)) => Count { least: before.saturating_add(1), most },
        None => Count::ANY,
    }
}

/// Returns whether columns cannot have taken turns, if the arrays fit `found` column after column.
///
/// A file is written in rounds: in each, every column writes the chunks that are complete by then. All columns have their
/// last, shorter chunk in the last round, in order. So turns need chunks before the last one of a column; and if two
/// columns are found next to each other that each have all rows and end with such a chunk, no earlier chunk is another
/// column's, because there are no rows without an array. `is_own`: pilaster may have written the file.
pub fn is_in_order(
    (blobs, ids): (&[Blob], &[&str]),
    leaves: &[Leaf],
    found: &Assigned,
    (tables, is_own): (Tables, bool),
) -> bool {
    let data: Vec<&Blob> = blobs.iter().filter(|blob| !is_table(blob, ids)).collect();
    let before = data.split_last().map_or(&[][..], |(_, before)| before);
    let is_one = |groups: &Vec<Group>| groups.len() <= 1 && groups.iter().all(|group| group.chunks() == 1);
    let is_single = match tables {
        // A column of pilaster without a table after its array has more arrays, of any number of rows.
        Tables::Last if is_own => before.is_empty(),
        Tables::Last => {
            rows_of_zones(blobs, ids).most <= ROWS || !before.iter().any(|blob| is_inner(blob, ids, leaves))
        }
        // A table follows the last chunk of each column, and all earlier chunks precede the first table.
        Tables::Each => found.leaves.iter().all(is_one),
    };
    if leaves.len() == 1 || is_single || tables == Tables::Last && is_own {
        return leaves.len() == 1 || is_single;
    }
    // Whether a leaf has all rows of the file, and its last chunk is the last one of a column.
    let is_whole = |groups: &Vec<Group>| {
        let sum = groups.iter().try_fold(Count::exactly(0), |sum, group| Some(sum.plus(group.rows()?)))?;
        let last = groups.last()?;
        let blob = blobs.get(last.blobs.1.checked_sub(1)?)?;
        let end = last.dictionary.map_or(last.blobs.1, |(values, _)| values.saturating_add(1));
        let has_table = tables == Tables::Each && end < blobs.len();
        let is_known = sum.most.saturating_sub(sum.least) < ROWS && sum.both(found.rows).is_some();
        Some(is_known && (has_table || !is_inner(blob, ids, leaves)))
    };
    let torn = found.leaves.len().saturating_sub(usize::from(found.torn));
    let all: Vec<Option<bool>> = found.leaves.iter().take(torn).map(is_whole).collect();
    all.windows(2).any(|pair| pair == [Some(true), Some(true)])
}
