//! Reads files on the device extent by extent; only one is in memory at a time.

use embedded_io::{Read, ReadExactError};
use pilaster::bytes::{LittleEndian, Scratch, WriteError};
use pilaster::column::Part as _;
use pilaster::dataseries::write::{Cell, Descriptions, Record};
use pilaster::dataseries::{Extent, File, Next, Part, ReadOptions};
use pilaster::dataseries::{HEADER_LEN, TRAILER_LEN};
use pilaster::error::{Error, Kind, What};
use pilaster::filo::{Element, Value, Vector};

use crate::sensors::{Air, Battery, Motion, Pressure, START, air, battery, motion, pressure, sample};
use crate::vectors::Block;

/// The memory for reading: an extent as stored, and unpacked.
#[derive(Debug)]
pub struct Buffers {
    stored: [u8; 2048],
    unpacked: [u8; 3072],
}

impl Buffers {
    /// The initial value for a `static`.
    pub const NEW: Buffers = Buffers { stored: [0; 2048], unpacked: [0; 3072] };
}

/// A result with the errors of the source `R`.
type Outcome<T, R> = Result<T, WriteError<<R as embedded_io::ErrorType>::Error>>;

/// Reads the file of [`typed`](crate::typed) and compares each row with its sensor. Returns the number of rows.
///
/// # Errors
/// Errors of the source and of the file; [`Kind::Invalid`] with the number of a row that differs from the sensor.
pub fn typed<R: Read>(from: R, buffers: &mut Buffers) -> Outcome<u64, R> {
    let mut rows = 0;
    extents(from, crate::typed::TYPES, buffers, |extent, memory| {
        let name = extent.type_name();
        rows += if name == Air::NAME.as_bytes() {
            each::<Air>(extent, memory, |part, row, ms| {
                let Air { temp, humidity, .. } = air(ms);
                Ok(cell(part, 1, row)? == Some(Cell::Double(temp)) && cell(part, 2, row)? == humidity.map(Cell::Int32))
            })?
        } else if name == Battery::NAME.as_bytes() {
            each::<Battery>(extent, memory, |part, row, ms| {
                let Battery { millivolts, charging, .. } = battery(ms);
                Ok(cell(part, 1, row)? == Some(Cell::Int32(millivolts))
                    && cell(part, 2, row)? == Some(Cell::Bool(charging)))
            })?
        } else if name == Motion::NAME.as_bytes() {
            each::<Motion>(extent, memory, |part, row, ms| {
                let Motion { x, y, z, .. } = motion(ms);
                let mut same = true;
                for (k, was) in [(1, x), (2, y), (3, z)] {
                    same &= cell(part, k, row)? == Some(Cell::Int32(was));
                }
                Ok(same)
            })?
        } else if name == Pressure::NAME.as_bytes() {
            each::<Pressure>(extent, memory, |part, row, ms| {
                Ok(cell(part, 1, row)? == Some(Cell::Double(pressure(ms).pascal)))
            })?
        } else {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE_NAME, extent.header().at));
        };
        Ok(())
    })?;
    Ok(rows)
}

/// Reads the file of [`vectors`](crate::vectors) and compares each sample with its sensor. Returns the number of
/// samples.
///
/// # Errors
/// Errors of [`typed`].
pub fn blocks<R: Read>(from: R, buffers: &mut Buffers) -> Outcome<u64, R> {
    let mut samples = 0;
    extents(from, crate::vectors::TYPES, buffers, |extent, memory| {
        let part = extent.unpack_as::<Block<'_>>(&ReadOptions::DEFAULT, &mut Scratch::new(memory))?;
        for row in 0..part.rows() {
            let first = match cell(&part, 0, row)? {
                Some(Cell::Int64(first)) => first,
                _ => return Err(wrong(row)),
            };
            for (k, element) in [(1, Element::Long), (2, Element::Int), (3, Element::Double)] {
                let Some(Cell::Bytes(chunk)) = cell(&part, k, row)? else { return Err(wrong(row)) };
                samples += vector(chunk, element, first)?;
            }
        }
        Ok(())
    })?;
    Ok(samples)
}

/// Reads a vector of samples starting at `first`, and compares each with its sensor. Returns their number.
///
/// # Errors
/// Errors of the vector; [`Kind::Invalid`] with the number of a row that differs from the sensor.
pub fn vector(chunk: &[u8], element: Element, first: i64) -> Result<u64, Error> {
    let vector = Vector::open(chunk, element)?;
    for row in 0..vector.rows() {
        let was = sample(first + row as i64);
        let was = match element {
            Element::Long => Value::Long(was.time),
            Element::Int => Value::Int(was.z),
            _ => Value::Double(was.temp),
        };
        if vector.get(row)? != Some(was) {
            return Err(wrong(row));
        }
    }
    Ok(vector.rows())
}

fn wrong(row: u64) -> Error {
    Error::new(Kind::Invalid, What::ROW, row)
}

fn cell<'s>(part: &Part<'s>, k: usize, row: u64) -> Result<Option<Cell<'s>>, Error> {
    part.column(k)?.get(row)
}

/// Unpacks an extent of type `T` and passes each row to `same`, with its milliseconds since the start. Returns the
/// number of rows.
fn each<T: Record>(
    extent: &Extent<'_, LittleEndian>,
    memory: &mut [u8],
    same: impl Fn(&Part<'_>, u64, i64) -> Result<bool, Error>,
) -> Result<u64, Error> {
    let part = extent.unpack_as::<T>(&ReadOptions::DEFAULT, &mut Scratch::new(memory))?;
    for row in 0..part.rows() {
        let Some(Cell::Int64(time)) = cell(&part, 0, row)? else { return Err(wrong(row)) };
        if !same(&part, row, time - START)? {
            return Err(wrong(row));
        }
    }
    Ok(part.rows())
}

/// Passes every extent of data to `show`, with memory to unpack it.
fn extents<R: Read>(
    mut from: R,
    types: Descriptions<'_>,
    buffers: &mut Buffers,
    mut show: impl FnMut(&Extent<'_, LittleEndian>, &mut [u8]) -> Result<(), Error>,
) -> Outcome<(), R> {
    let Buffers { stored, unpacked } = buffers;
    // The header, and the extent of the types.
    let (front, rest) = stored.split_at_mut_checked(HEADER_LEN).unwrap_or_default();
    exact(&mut from, front)?;
    let Some(mut at) = fetch(&mut from, HEADER_LEN as u64, rest)?.map(|types| HEADER_LEN as u64 + types) else {
        return Err(Error::new(Kind::Truncated, What::DATASERIES_EXTENT, HEADER_LEN as u64).into());
    };
    let known = stored.get(..at as usize).unwrap_or_default();
    File::<LittleEndian>::open_known(known, types, &ReadOptions::DEFAULT)?;
    while let Some(len) = fetch(&mut from, at, stored)? {
        let extent = Extent::<LittleEndian>::of(stored, at)?;
        extent.check_stored()?;
        // The last extent is the index, which sequential reading does not use.
        if extent.type_name() != pilaster::dataseries::INDEX_TYPE.as_bytes() {
            show(&extent, unpacked)?;
        }
        at += len;
    }
    Ok(())
}

/// Reads the extent at offset `at` and returns its length, or `None` at the trailer.
fn fetch<R: Read>(from: &mut R, at: u64, memory: &mut [u8]) -> Outcome<Option<u64>, R> {
    let need = |len: u64| Error::needing(Kind::NoRoom, What::DESTINATION, at, len);
    let (head, _) = memory.split_at_mut_checked(TRAILER_LEN).ok_or_else(|| need(TRAILER_LEN as u64))?;
    exact(from, head)?;
    let Next::Extent(header) = Next::of::<LittleEndian>(head, at)? else { return Ok(None) };
    let len = header.span().len;
    exact(from, memory.get_mut(TRAILER_LEN..len as usize).ok_or_else(|| need(len))?)?;
    Ok(Some(len))
}

fn exact<R: Read>(from: &mut R, bytes: &mut [u8]) -> Outcome<(), R> {
    from.read_exact(bytes).map_err(|e| match e {
        ReadExactError::UnexpectedEof => Error::new(Kind::Truncated, What::INPUT, 0).into(),
        ReadExactError::Other(e) => WriteError::Sink(e),
    })
}
