//! `verify`: walks everything.

use std::io::Write;

use pilaster::any::File;

use crate::Failure;
use crate::dataseries;
use crate::jay;
use crate::open::{self, Input};

pub fn run(input: &Input, file: &File<'_>, out: &mut impl Write) -> Result<(), Failure> {
    if let File::Jay(frame) = file {
        jay::verify(input, frame)?;
    }
    open::verify(file)?;
    match file {
        File::Jay(frame) => jay::verified(input, frame, out)?,
        File::Filo(vector) => writeln!(
            out,
            "{}: ok, {} rows, {} bytes, filo {} as {}",
            input.path,
            vector.rows(),
            input.bytes.len(),
            vector.encoding(),
            vector.element()
        )?,
        File::Bcolz(chunk) => {
            writeln!(out, "{}: ok, {} bytes from {}, bcolz chunk", input.path, chunk.nbytes(), input.bytes.len())?;
        }
        File::DataSeries(series) => {
            let (mut rows, mut extents) = (0u64, 0u64);
            for ty in series.types().iter() {
                let (n, count) = dataseries::rows(series, ty.name())?;
                (rows, extents) = (rows.saturating_add(n), extents.saturating_add(count));
            }
            let (order, size) = (series.order().name(), input.bytes.len());
            writeln!(out, "{}: ok, {rows} rows in {extents} extents, {size} bytes, dataseries {order}", input.path)?;
        }
        File::Vortex(vortex) => {
            let (rows, segments, size) = (vortex.rows()?, vortex.segments(), input.bytes.len());
            writeln!(out, "{}: ok, {rows} rows in {segments} segments, {size} bytes, vortex", input.path)?;
        }
    }
    Ok(())
}
