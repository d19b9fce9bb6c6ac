//! Walks over tables of any format, with a digest per column, and comparisons of two walks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Table, Values, fit};
use pilaster::error::{Error, Kind, What};

use crate::differs;
use crate::findings::{TOO_LARGE, VERIFIED, unequal};

/// Maximum number of rows that a walk reads of a column.
pub const ROWS: u64 = 3000;
/// Maximum size in bytes of the scratch buffer for one row, and of the one for a file.
const ROW_MEMORY: u64 = 24 << 20;
const FILE_MEMORY: u64 = 48 << 20;

/// A digest of values.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Hash(pub u64);

impl Hash {
    /// Adds the bytes of a value; `tag` tells its kind.
    pub fn put(&mut self, tag: u8, bytes: &[u8]) {
        let mut h = self.0 ^ 0xcbf2_9ce4_8422_2325 ^ (u64::from(tag) << 56) ^ bytes.len() as u64;
        for c in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..c.len()].copy_from_slice(c);
            h = (h ^ u64::from_le_bytes(word)).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(29);
        }
        self.0 = h;
    }
    pub fn null(&mut self) {
        self.put(0, &[]);
    }
    pub fn int(&mut self, v: impl Into<i128>) {
        self.put(1, &v.into().to_le_bytes());
    }
    pub fn float(&mut self, v: f32) {
        self.put(2, &v.to_bits().to_le_bytes());
    }
    pub fn double(&mut self, v: f64) {
        self.put(3, &v.to_bits().to_le_bytes());
    }
    pub fn bytes(&mut self, v: &[u8]) {
        self.put(4, v);
    }
    pub fn bool(&mut self, v: bool) {
        self.put(5, &[u8::from(v)]);
    }
}

/// The state of a walk over one column.
pub struct Walk {
    /// Rows that it may yet read, and rows per batch.
    pub budget: u64,
    pub step: u64,
    /// The first text that is not UTF-8.
    pub bad_text: Option<Error>,
    /// Whether rows were left out.
    pub cut: bool,
}

impl Walk {
    pub fn new(budget: u64, step: u64) -> Self {
        Walk { budget, step, bad_text: None, cut: false }
    }
}

/// Adds row `i` of a batch to the digest.
pub fn cell<C: Column>(b: &Batch<'_, C>, i: usize, h: &mut Hash, w: &mut Walk, depth: u32) -> Result<(), Error> {
    if !b.validity.get(i) {
        h.null();
        return Ok(());
    }
    match b.values {
        Values::Null => h.null(),
        Values::Bool(v) => h.bool(v.get(i).expect("bit of row")),
        Values::I8(v) => h.int(v[i]),
        Values::I16(v) => h.int(v[i]),
        Values::I32(v) => h.int(v[i]),
        Values::I64(v) => h.int(v[i]),
        Values::I128(v) => h.int(v[i]),
        Values::U8(v) => h.int(v[i]),
        Values::U16(v) => h.int(v[i]),
        Values::U32(v) => h.int(v[i]),
        Values::U64(v) => h.int(v[i]),
        Values::I256(v) => v[i].iter().for_each(|x| h.put(6, &x.to_le_bytes())),
        Values::F16(v) => h.put(7, &v[i].to_le_bytes()),
        Values::F32(v) => h.float(v[i]),
        Values::F64(v) => h.double(v[i]),
        Values::Bytes(v) => h.bytes(v.get(i)?),
        Values::Utf8(v) => {
            let text = v.get(i)?;
            if let Err(e) = v.text(i) {
                w.bad_text.get_or_insert(e);
            }
            h.bytes(text);
        }
        Values::Nested(v) => nested(b, v.get(i)?, h, w, depth)?,
    }
    Ok(())
}

fn nested<C: Column>(b: &Batch<'_, C>, rows: Range<u64>, h: &mut Hash, w: &mut Walk, depth: u32) -> Result<(), Error> {
    h.put(8, &(rows.end - rows.start).to_le_bytes());
    assert!(depth <= 70, "nesting over the limit");
    for k in 0..b.of.ty().children().min(64) {
        column(&b.of.child(k)?, rows.clone(), h, w, depth + 1)?;
        if w.cut {
            break;
        }
    }
    Ok(())
}

/// Chooses the rows of the next batch, and makes `memory` large enough for them.
fn next<C: Column>(c: &C, want: Range<u64>, memory: &mut Vec<u8>) -> Result<Range<u64>, Error> {
    if memory.is_empty() {
        *memory = vec![0x5a; c.need(want.clone())?.min(1 << 16) as usize + 1];
    }
    match fit(c, want.clone(), memory.len() - 1) {
        Err(e) if e.kind() == Kind::NoRoom => {
            let one = want.start..want.start + 1;
            let need = c.need(one.clone())?;
            if need > ROW_MEMORY {
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, 0, need));
            }
            *memory = vec![0x5a; need as usize + 1];
            Ok(one)
        }
        result => result,
    }
}

/// Adds rows of a column to the digest. Also checks `need`, `nullable` and the row range of every batch.
pub fn column<C: Column>(c: &C, rows: Range<u64>, h: &mut Hash, w: &mut Walk, depth: u32) -> Result<(), Error> {
    let _ = c.zone().map(|z| z.map(str::len));
    let mut memory: Vec<u8> = Vec::new();
    let mut row = rows.start;
    while row < rows.end {
        if w.budget == 0 {
            w.cut = true;
            return Ok(());
        }
        let want = row..rows.end.min(row + w.step.max(1)).min(row + w.budget.min(1 << 16));
        let asked = next(c, want, &mut memory)?;
        // One byte into the vector, so that the memory is not aligned.
        let mut s = Scratch::new(&mut memory[1..]);
        let (before, need) = (s.room() as u64, c.need(asked.clone())?);
        let b = match c.read(asked.clone(), &mut s) {
            Err(e) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => {
                panic!("NEED {need} bytes promised for {asked:?}, but {e:?} of {c:?}")
            }
            result => result?,
        };
        assert!(before - s.room() as u64 <= need, "NEED took more: {c:?}");
        assert!(
            b.first == row && b.len >= 1 && b.len as u64 <= asked.end - row,
            "BATCH {} {} for {asked:?}",
            b.first,
            b.len
        );
        assert!(c.nullable() || b.validity.nulls(b.len) == 0, "NULLABLE is false, but a row is missing: {c:?}");
        for i in 0..b.len {
            cell(&b, i, h, w, depth)?;
            if w.cut {
                return Ok(());
            }
            w.budget = w.budget.saturating_sub(1);
        }
        row += b.len as u64;
    }
    Ok(())
}

/// The outcome of one column of one part.
pub struct Outcome {
    pub digest: Result<u64, Error>,
    pub bad_text: Option<Error>,
    pub cut: bool,
}
/// Outcomes by part and column.
pub type Columns = BTreeMap<(usize, usize), Outcome>;

/// Reads all parts and columns in batches of `step` rows. `memory`: bytes of scratch for the parts.
pub fn table<T: Table>(t: &mut T, memory: usize, step: u64) -> Result<Columns, Error> {
    t.restart()?;
    let mut out = Columns::new();
    let mut memory = vec![0xa5u8; memory + 64];
    let mut left = ROWS;
    for p in 0..4000 {
        let mut scope = Scratch::new(&mut memory[1..]);
        let Some(part) = t.next_part(&mut scope)? else { break };
        for k in 0..part.width().min(200) {
            let _ = part.name(k).map(|n| n.len());
            let (mut w, mut h) = (Walk::new(ROWS, step), Hash::default());
            let read = part.column(k).and_then(|c| {
                assert!(c.rows() == part.rows(), "ROWS column has {} rows, part {}", c.rows(), part.rows());
                column(&c, 0..c.rows(), &mut h, &mut w, 0)
            });
            out.insert((p, k), Outcome { digest: read.map(|()| h.0), bad_text: w.bad_text, cut: w.cut });
        }
        left = left.saturating_sub(part.rows());
        if left == 0 {
            break;
        }
    }
    Ok(out)
}

/// Returns whether an error only says that more memory is needed.
pub fn is_limit(e: &Error) -> bool {
    matches!(e.kind(), Kind::Limit | Kind::NoRoom)
}

/// Reads a table by large and by small batches, compares them, and returns the result of the former. `promised`: whether
/// a column that is read by one of them must be read by the other. Values must be equal in any case.
pub fn both<T: Table>(t: &mut T, memory: usize, small: u64, promised: bool, tag: &str) -> Result<Columns, Error> {
    let large = table(t, memory, 1 << 16);
    let small = table(t, memory, small);
    let (Ok(a), Ok(b)) = (&large, &small) else { return large };
    for (k, x) in a.iter().filter(|(_, x)| !x.cut) {
        let Some(y) = b.get(k) else { panic!("DIFF {tag}: {k:?} is missing by small batches") };
        match (&x.digest, &y.digest) {
            (Ok(x), Ok(y)) => assert!(x == y, "DIFF {tag}: column {k:?} has other values by small batches"),
            (Ok(_), Err(e)) | (Err(e), Ok(_)) if !is_limit(e) => {
                unequal(promised, &format!("DIFF {tag}: column {k:?}: ok by one batch size, {e:?} by the other"))
            }
            _ => {}
        }
    }
    large
}

/// Compares with reading row by row. `got`: the digest, or the error of the first bad row.
pub fn by_rows(outcome: &Outcome, got: &Result<u64, Error>, tag: &str) {
    if outcome.cut {
        return;
    }
    match (&outcome.digest, got) {
        (Ok(x), Ok(y)) => assert!(x == y, "DIFF {tag}: other values by get than by batch"),
        (Ok(_), Err(e)) if e.kind() != Kind::Utf8 || outcome.bad_text.is_none() => {
            differs!("DIFF {tag}: get {e:?}, batch ok")
        }
        (Err(e), Ok(_)) if !is_limit(e) && e.what() != What::JAY_NULLS => differs!("DIFF {tag}: batch {e:?}, get ok"),
        _ => {}
    }
}

/// Notes a file that `verify` accepted and that cannot be read.
pub fn verdict(verified: bool, columns: &Result<Columns, Error>, tag: &str) {
    if !verified {
        return;
    }
    VERIFIED.fetch_add(1, Relaxed);
    let wrong = match columns {
        Err(e) => (!is_limit(e)).then(|| format!("{e:?} {e}")),
        Ok(c) => c.iter().find_map(|(k, o)| match (&o.digest, &o.bad_text) {
            (Err(e), _) if !is_limit(e) => Some(format!("{k:?}: {e:?} {e}")),
            (_, Some(e)) => Some(format!("{k:?}: text {e:?} {e}")),
            _ => None,
        }),
    };
    if let Some(wrong) = wrong {
        differs!("VERIFYOK {tag}: verify accepts, reading says {wrong}");
    }
}

/// Returns `need` as a length, or `None` if it is more than these programs provide.
pub fn affordable(need: u64) -> Option<usize> {
    if need > FILE_MEMORY {
        TOO_LARGE.fetch_add(1, Relaxed);
        return None;
    }
    Some(need as usize)
}

/// Calls `f` with memory that grows until it suffices.
pub fn grow<X>(memory: &mut Vec<u8>, mut f: impl FnMut(&mut [u8]) -> Result<X, Error>) -> Result<X, Error> {
    loop {
        match f(memory) {
            Err(e) if e.kind() == Kind::NoRoom && memory.len() < (16 << 20) => *memory = vec![0; memory.len() * 4],
            result => return result,
        }
    }
}
