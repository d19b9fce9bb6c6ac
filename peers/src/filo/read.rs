//! Reads a vector in two ways.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column as _, Values, fit};
use pilaster::error::{Error, Kind};
use pilaster::filo::{Column, Element, Value, Vector};

use super::{Cell, QUARTER};

fn of_value(v: Option<Value<'_>>) -> Cell {
    match v {
        None => Cell::Missing,
        Some(Value::Boolean(x)) => Cell::Number(x.into()),
        Some(Value::Int(x)) => Cell::Number(x.into()),
        Some(Value::Long(x) | Value::Timestamp(x)) => Cell::Number(x),
        Some(Value::Float(x)) => Cell::Number(x.to_bits().into()),
        Some(Value::Double(x)) => Cell::Number(x.to_bits() as i64),
        Some(Value::Bytes(x)) => Cell::Bytes(x.to_vec()),
        Some(Value::DateTime { millis, offset_ms }) => Cell::DateTime(millis, offset_ms / QUARTER),
    }
}

fn of_batch(b: &Batch<'_, Column<'_>>, i: usize) -> Result<Cell, Error> {
    Ok(match b.values {
        _ if !b.validity.get(i) => Cell::Missing,
        Values::Bool(v) => Cell::Number(v.get(i).expect("bit of row").into()),
        Values::I32(v) => Cell::Number(v[i].into()),
        Values::I64(v) => Cell::Number(v[i]),
        Values::F32(v) => Cell::Number(v[i].to_bits().into()),
        Values::F64(v) => Cell::Number(v[i].to_bits() as i64),
        Values::Bytes(v) => Cell::Bytes(v.get(i)?.to_vec()),
        Values::Utf8(v) => Cell::Bytes(v.get(i)?.to_vec()),
        _ => panic!("no type of Filo"),
    })
}

/// Reads a column by batches into `memory`.
fn batches(c: &Column<'_>, memory: &mut [u8]) -> Result<Vec<Cell>, Error> {
    let mut out = Vec::new();
    while (out.len() as u64) < c.rows() {
        let mut s = Scratch::new(memory);
        let rows = fit(c, out.len() as u64..c.rows(), s.room())?;
        let batch = c.read(rows, &mut s)?;
        assert!(batch.len > 0, "empty batch");
        for i in 0..batch.len {
            out.push(of_batch(&batch, i)?);
        }
    }
    Ok(out)
}

/// Returns the rows by `get`, or an error if the batches differ. `scratch_len`: the size of the scratch buffer in
/// bytes.
pub fn read_all(chunk: &[u8], element: Element, scratch_len: usize) -> Result<Vec<Cell>, String> {
    let said = |what: &'static str| move |e: Error| format!("{what} {e:?}");
    let v = Vector::open(chunk, element).map_err(said("open"))?;
    match v.verify() {
        // UTF8 of Filo may hold other bytes.
        Err(e) if element == Element::Utf8 && e.kind() == Kind::Utf8 => {}
        result => result.map_err(said("verify"))?,
    }
    let rows = (0..v.rows()).map(|i| v.get(i).map(of_value)).collect::<Result<Vec<_>, _>>().map_err(said("get"))?;
    let mut memory = vec![0u8; scratch_len];
    let mut values = batches(&v.column(0).map_err(said("column"))?, &mut memory).map_err(said("read"))?;
    if element == Element::DateTime {
        let offsets = batches(&v.column(1).map_err(said("column"))?, &mut memory).map_err(said("read"))?;
        for (value, offset) in values.iter_mut().zip(offsets) {
            if let (Cell::Number(millis), Cell::Number(offset)) = (&*value, offset) {
                *value = Cell::DateTime(*millis, offset as i32 / QUARTER);
            }
        }
    }
    match rows.iter().zip(&values).position(|(a, b)| a != b) {
        Some(i) => Err(format!("get and batches disagree at {i}: {:?} {:?}", rows[i], values[i])),
        None if rows.len() != values.len() => Err("get and batches disagree on the number of rows".into()),
        None => Ok(rows),
    }
}
