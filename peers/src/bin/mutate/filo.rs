//! Filo vectors.

use std::sync::atomic::Ordering::Relaxed;

use pilaster::column::Once;
use pilaster::error::Error;
use pilaster::filo::{Element, Value, Vector};

use crate::findings::OPENED;
use crate::walk::{Hash, ROWS, both, by_rows, verdict};

/// Reads `d` as two element types, which `hint` tells.
pub fn run(d: &[u8], hint: usize) {
    for element in [Element::ALL[hint % 10], Element::ALL[(hint / 10) % 10]] {
        let Ok(v) = Vector::open(d, element) else { continue };
        OPENED.fetch_add(1, Relaxed);
        let verified = v.verify().is_ok();
        let columns = both(&mut Once::new(v), 0, 7, true, "filo");
        verdict(verified, &columns, element.name());
        for row in v.rows().saturating_sub(3)..v.rows() {
            let _ = v.get(row);
        }
        if let Ok(columns) = &columns
            && v.rows() <= ROWS
        {
            let (values, offsets) = rows(&v);
            if let Some(outcome) = columns.get(&(0, 0)) {
                by_rows(outcome, &values, "filo");
            }
            if let (Some(outcome), Ok(offsets)) = (columns.get(&(0, 1)), offsets) {
                by_rows(outcome, &Ok(offsets), "filo offsets");
            }
        }
        let _ = v.iter().take(ROWS as usize).find(Result::is_err);
    }
}

/// Returns the digests of the values, and of the offsets of date-times, by `get`.
fn rows(v: &Vector<'_>) -> (Result<u64, Error>, Result<u64, Error>) {
    let (mut h, mut offsets) = (Hash::default(), Hash::default());
    for row in 0..v.rows() {
        match v.get(row) {
            Err(e) => return (Err(e), Err(e)),
            Ok(None) => {
                h.null();
                offsets.null();
            }
            Ok(Some(Value::Boolean(x))) => h.bool(x),
            Ok(Some(Value::Int(x))) => h.int(x),
            Ok(Some(Value::Long(x) | Value::Timestamp(x))) => h.int(x),
            Ok(Some(Value::Float(x))) => h.float(x),
            Ok(Some(Value::Double(x))) => h.double(x),
            Ok(Some(Value::Bytes(x))) => h.bytes(x),
            Ok(Some(Value::DateTime { millis, offset_ms })) => {
                h.int(millis);
                offsets.int(offset_ms);
            }
        }
    }
    (Ok(h.0), Ok(offsets.0))
}
