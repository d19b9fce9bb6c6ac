//! `File.recover`: the intact part of a damaged file.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatchReader as _;
use pilaster::any::{File, Format};
use pilaster::bcolz;
use pilaster::bytes::{BigEndian, Endian, FileRange, Input, LittleEndian, Sink, WriteError};
use pilaster::column::Memory;
use pilaster::dataseries::recover::{self, Recovered, Salvage};
use pilaster::dataseries::write::{Description, Descriptions, IndexSlot, Writer};
use pilaster::dataseries::{EXTENT_HEADER_LEN, Extent, ExtentType, HEADER_LEN, Order, ReadOptions, Types};
use pilaster::error::What;
use pilaster_arrow::{Batches, Kept, convert};

use crate::error::{Failure, Result};
use crate::options::{Options, jay_options};
use crate::read;
use crate::selection::Selection;
use crate::source::Source;
use crate::write;

/// The rows that were saved, and a line for each loss.
#[derive(Debug, Default)]
pub struct Report {
    pub rows: u64,
    pub lost: Vec<String>,
}

/// Writes what can be read of a file to `to`.
pub fn recover(source: &Arc<Source>, to: &Path) -> Result<Report> {
    match source.format() {
        Format::DataSeries => {
            let input = source.input();
            match recover::order(&input).map_or_else(|| types_order(&input), Ok)? {
                Order::Little => series::<LittleEndian>(&input, Order::Little, to),
                Order::Big => series::<BigEndian>(&input, Order::Big, to),
            }
        }
        Format::Jay => jay(source, to),
        Format::Bcolz => source.with_file(|file| match file {
            File::Dataset(dataset) => {
                let stated = dataset.rows();
                let rows = write::directory(to, |dir| match bcolz::write::recover(dataset, dir)? {
                    0 if stated > 0 => {
                        let text = format!("no row can be saved, of {stated}: none is readable in all columns");
                        Err(Failure::other("Invalid", text))
                    }
                    rows => Ok(rows),
                })?;
                Ok(Report { rows, lost: lost_rows(stated, rows) })
            }
            _ => Err(Failure::Value("recover is for datasets of bcolz, not for single chunks".to_owned())),
        }),
        format => {
            let text = format!("recover of {format} is a command of the tool: python -m pilaster recover FILE TARGET");
            Err(Failure::Value(text))
        }
    }
}

fn lost_rows(stated: u64, saved: u64) -> Vec<String> {
    match stated.saturating_sub(saved) {
        0 => Vec::new(),
        lost => vec![format!("{lost} of {stated} rows")],
    }
}

/// Returns the byte order by the header, if no extent tells it.
fn types_order(input: &Input<'_>) -> Result<Order> {
    Ok(Order::of(input.get(FileRange { at: 0, len: (HEADER_LEN as u64).min(input.len()) }, What::DATASERIES_HEADER)?)?)
}

/// Copies the intact extents.
fn series<E: Endian>(input: &Input<'_>, order: Order, to: &Path) -> Result<Report> {
    let mut memory = Memory::default();
    while let Err(e) = types(*input, order, &mut memory) {
        memory.grow(e)?;
    }
    let types = types(*input, order, &mut memory)?;
    let types: Vec<ExtentType<'_>> = types.iter().collect();
    let (mut report, mut whole, mut memory) = (Report::default(), Vec::new(), Memory::default());
    let mut salvage = Salvage::<E>::new(*input, &types);
    loop {
        match salvage.next(&ReadOptions::DEFAULT, &mut memory.scratch()) {
            None => break,
            Some(Ok(Recovered::Extent(header))) => {
                whole.push(header.span());
                report.rows = report.rows.saturating_add(header.rows.into());
            }
            Some(Ok(Recovered::Lost(loss))) => {
                report.lost.push(format!("{} bytes at {}: {}", loss.span.len, loss.span.at, loss.why));
            }
            Some(Err(e)) => memory.grow(e)?,
        }
    }
    write::Target::new(to)?.fill(|sink| {
        let (types, mut slots) =
            (types.iter().map(Description::from).collect::<Vec<_>>(), vec![IndexSlot::EMPTY; whole.len()]);
        let mut writer = Writer::<E, _>::new(sink, Descriptions::new(&types)?, &mut slots);
        copy(&mut writer, input, &whole)?;
        Ok(writer.finish()?)
    })?;
    Ok(report)
}

fn copy<E: Endian, S: Sink>(
    writer: &mut Writer<'_, E, S>,
    input: &Input<'_>,
    whole: &[FileRange],
) -> Result<(), WriteError<S::Error>> {
    for span in whole {
        writer.put_stored(&Extent::of(input.get(*span, What::DATASERIES_EXTENT)?, span.at)?)?;
    }
    Ok(())
}

/// Returns the types, without a look at the index.
fn types<'b>(input: Input<'b>, order: Order, memory: &'b mut Memory) -> pilaster::Result<Types<'b>> {
    let at = HEADER_LEN as u64;
    let head = FileRange { at, len: (EXTENT_HEADER_LEN as u64).min(input.len().saturating_sub(at)) };
    let header = order.header(input.get(head, What::DATASERIES_EXTENT)?, at)?;
    let first = order.extent(input.get(header.span(), What::DATASERIES_EXTENT)?, at)?;
    first.types(&ReadOptions::DEFAULT, &mut memory.scratch())
}

/// Writes the columns that can be read.
fn jay(source: &Arc<Source>, to: &Path) -> Result<Report> {
    let names: Vec<String> = {
        let all = read::schema(source, &Selection::default())?;
        all.fields().iter().map(|field| field.name().clone()).collect()
    };
    let (mut report, mut kept) = (Report::default(), Vec::new());
    for name in names {
        let one = Selection { columns: Some(vec![name.clone()]), threads: 1, ..Selection::default() };
        let mut stream = read::stream(Arc::clone(source), one)?;
        let failed = loop {
            match stream.batch() {
                None => break None,
                Some(Ok(_)) => {}
                Some(Err(failure)) => break Some(failure),
            }
        };
        match failed {
            None => kept.push(name),
            Some(failure) => report.lost.push(failure.text()),
        }
    }
    if kept.is_empty() {
        return Err(Failure::other("Invalid", "no column can be saved"));
    }
    let stream = read::stream(Arc::clone(source), Selection { columns: Some(kept), ..Selection::default() })?;
    let schema = stream.schema();
    let batches = stream.collect::<Result<Vec<_>, _>>()?;
    report.rows = batches.iter().fold(0u64, |rows, batch| rows.saturating_add(batch.num_rows() as u64));
    let mut table = Batches::from_source(Kept::new(schema, batches))?;
    write::Target::new(to)?.fill(|sink| {
        let mut builder = pilaster::jay::write::Builder::new(sink, &jay_options(&Options::default())?)?;
        convert(&mut table, &mut builder)?;
        Ok(builder.finish()?)
    })?;
    Ok(report)
}
