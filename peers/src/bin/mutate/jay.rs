//! Jay files.

use std::sync::atomic::Ordering::Relaxed;

use pilaster::bytes::Scratch;
use pilaster::column::{Once, Part as _, Value};
use pilaster::error::{Error, Kind};
use pilaster::jay::{Column, File, ReadOptions};

use crate::differs;
use crate::findings::OPENED;
use crate::walk::{Hash, affordable, both, by_rows, grow, verdict};

/// Maximum number of rows that are read one by one.
const SINGLE_ROWS: u64 = 300;

/// Reads `d` strictly, without the counts of missing values, and tolerantly.
pub fn run(d: &[u8]) {
    for (tolerant, check_null_counts) in [(false, true), (false, false), (true, true)] {
        let options = ReadOptions { tolerant, check_null_counts, ..ReadOptions::DEFAULT };
        let mut memory = vec![0; 1 << 12];
        if grow(&mut memory, |m| File::open(d, &options, &mut Scratch::new(m)).map(|_| ())).is_err() {
            continue;
        }
        let f = File::open(d, &options, &mut Scratch::new(&mut memory)).expect("opened before");
        OPENED.fetch_add(1, Relaxed);
        let Some(need) = affordable(f.verify_need()) else { continue };
        let mut memory = vec![0; need + 64];
        let verified = f.verify(&mut Scratch::new(&mut memory));
        if let Err(e) = &verified
            && e.kind() == Kind::NoRoom
        {
            differs!("NEED jay verify {e:?} of {need}");
        }
        let mut problems = 0;
        f.problems(&mut Scratch::new(&mut memory), &mut |_, _| problems += 1);
        if verified.is_ok() && problems > 0 && !tolerant {
            differs!("DIFF jay verify ok, problems {problems}");
        }
        let columns = both(&mut Once::new(f), 0, 9, true, if tolerant { "jay tolerant" } else { "jay" });
        if !tolerant {
            verdict(verified.is_ok(), &columns, "jay");
        }
        let Ok(columns) = columns else { continue };
        for k in 0..f.width().min(100) {
            let _ = f.meta().field(k).and_then(|x| x.stats().map(|_| ()));
            let Ok(c) = f.column(k) else { continue };
            if let (Some(outcome), Some(got)) = (columns.get(&(0, k)), rows(&c)) {
                let known_to_differ = !check_null_counts && outcome.digest.is_ok() && got.is_ok();
                if !known_to_differ {
                    by_rows(outcome, &got, if tolerant { "jay tolerant" } else { "jay" });
                }
            }
        }
    }
}

/// Returns the digest by `get`, or `None` of a nested or long column.
fn rows(c: &Column<'_>) -> Option<Result<u64, Error>> {
    use pilaster::column::Column as _;
    if c.rows() > SINGLE_ROWS {
        return None;
    }
    let mut h = Hash::default();
    for row in 0..c.rows() {
        match c.get(row) {
            Err(e) => return Some(Err(e)),
            Ok(Value::Null) => h.null(),
            Ok(Value::Bool(x)) => h.bool(x),
            Ok(Value::Int(x)) => h.int(x),
            Ok(Value::F32(x)) => h.float(x),
            Ok(Value::F64(x)) => h.double(x),
            Ok(Value::Text(x) | Value::Bytes(x)) => h.bytes(x),
            Ok(_) => return None,
        }
    }
    Some(Ok(h.0))
}
