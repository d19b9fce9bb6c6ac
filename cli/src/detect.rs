//! The format of a file: from the option, the content or the name. If damage may have hit the magic number, formats are
//! tried, so that an error names the one that helps.

use std::path::Path;

use pilaster::any::{self, Format};
use pilaster::bytes::{self, FileRange, Scratch};
use pilaster::column::Memory;
use pilaster::dataseries::{EXTENT_HEADER_LEN, HEADER_LEN, Order, ReadOptions, Types, recover};
use pilaster::error::{Kind, What};

use crate::args::Recover;
use crate::failure::{Failure, warn};
use crate::foreign;
use crate::open::Input;
use crate::ring;
use crate::sources::{Source, named};
use crate::vortex_dtype::is_array;
use crate::vortex_end::{completed, opened};

/// Opens a file and detects its format. `recover`: the input is damaged. Problems of a dataset are warnings.
pub fn load<'s>(source: &'s Source, recover: Option<&Recover>) -> Result<Input<'s>, Failure> {
    let input = ring::joined(Input::load(source, source.tolerant || recover.is_some())?)?;
    for warning in &input.warnings {
        warn(warning);
    }
    detected(input, recover)
}

/// Detects the format of a file, unless it is a dataset.
pub fn detected<'s>(mut input: Input<'s>, recover: Option<&Recover>) -> Result<Input<'s>, Failure> {
    let source = input.source;
    if input.dataset().is_none() {
        input.format = match source.library_format() {
            Some(format) => format,
            // It has no magic number.
            None if source.array_rows.is_some() => Format::Vortex,
            None => format(&input, source, recover).map_err(|failure| input.failure(failure))?,
        };
    }
    Ok(input)
}

/// Returns the format by the content and the name, or implied by options of one format.
fn format(input: &Input<'_>, source: &Source, recover: Option<&Recover>) -> Result<Format, Failure> {
    let (bytes, len) = (input.input(), input.len());
    let end = |n: u64, at: u64| bytes.get(FileRange { at, len: n.min(len) }, What::MAGIC);
    let (first, last) = (end(16, 0)?, end(4, len.saturating_sub(4))?);
    match (any::detect_ends(first, last, len, Some(&input.name)), source.element) {
        // Only DataSeries has types and an order, and damage may have hit the magic number.
        (Ok(Format::Filo) | Err(_), None) if recover.is_some_and(|how| how.types.is_some() || how.order.is_some()) => {
            Ok(Format::DataSeries)
        }
        (Ok(format), _) => Ok(format),
        (Err(_), Some(_)) => Ok(Format::Filo),
        (Err(e), None) => {
            let found = foreign::name(end(4096, 0).unwrap_or_default())
                .map(|name| format!("the file is {name}{}; ", foreign::remedy(name)));
            let (found, help) = (found.unwrap_or_default(), help(input, recover.is_some()));
            Err(Failure::Input(format!("{found}unknown format: {e} ({help})")))
        }
    }
}

/// Returns the options that help with a file whose format is unknown: formats are tried.
fn help(input: &Input<'_>, recover: bool) -> String {
    let (jay, series) = (input.opens(Format::Jay, true, false), has_types(input));
    let ways: Vec<&str> = match recover {
        true => {
            let is_vortex = || opened(input).is_ok() || completed(input).is_ok_and(|file| file.is_some());
            let fits = [
                (series, "--format dataseries"),
                (jay, "--format jay"),
                (!series && !jay && is_vortex(), "--format vortex"),
            ];
            fits.iter().filter(|(fits, _)| *fits).map(|(_, way)| *way).collect()
        }
        false => {
            let fits = [
                (jay, "--format jay --tolerant reads the readable part"),
                (series, "recover --format dataseries saves the intact part"),
            ];
            fits.iter().filter(|(fits, _)| *fits).map(|(_, way)| *way).collect()
        }
    };
    if ways.is_empty() && input.name.to_ascii_lowercase().ends_with(".vortex") {
        let how = if recover {
            "--format vortex searches for its arrays"
        } else {
            "recover --format vortex searches for its arrays"
        };
        return format!("neither end of the file has the magic number of Vortex; if it is one that lost both, {how}");
    }
    match (ways.is_empty(), recover) {
        (true, true) => "no DataSeries types, no Jay and no Vortex metadata are found; --types takes those of a \
                         DataSeries file from an intact one"
            .to_owned(),
        (true, false) if is_array(&input.input()) => {
            "a single Vortex array has no magic number: if it is one, --dtype TYPE --array-rows N reads it".to_owned()
        }
        (true, false) if named(Path::new(&input.name)).is_some() => {
            "it is damaged: no end of the file is as its extension says".to_owned()
        }
        (true, false) => "a Filo vector has no magic number: if it is one, --type ELEMENT reads it".to_owned(),
        (false, true) => format!("{} fits, if the magic number is damaged", ways.join(" or ")),
        (false, false) => format!("if the magic number is damaged, {}", ways.join(", or ")),
    }
}

/// Returns whether the types of a DataSeries file can be read.
fn has_types(input: &Input<'_>) -> bool {
    let (order, mut memory) = (recover::order(&input.input()), Memory::default());
    loop {
        let Err(e) = types(input.input(), order, &mut memory.scratch()).map(drop) else { return true };
        if e.kind() != Kind::NoRoom || memory.grow(e).is_err() {
            return false;
        }
    }
}

/// The types of a file whose header may be damaged, without a look at the header if the order is known.
pub fn types<'b>(
    input: bytes::Input<'b>,
    order: Option<Order>,
    scratch: &mut Scratch<'b>,
) -> pilaster::Result<(Order, Types<'b>)> {
    let order = match order {
        Some(order) => order,
        None => Order::of(start(&input)?)?,
    };
    let at = HEADER_LEN as u64;
    let head = FileRange { at, len: (EXTENT_HEADER_LEN as u64).min(input.len().saturating_sub(at)) };
    let header = order.header(input.get(head, What::DATASERIES_EXTENT)?, at)?;
    let first = order.extent(input.get(header.span(), What::DATASERIES_EXTENT)?, at)?;
    Ok((order, first.types(&ReadOptions::DEFAULT, scratch)?))
}

/// Returns the header of a file, or all of a shorter file.
pub fn start<'b>(input: &bytes::Input<'b>) -> pilaster::Result<&'b [u8]> {
    input.get(FileRange { at: 0, len: (HEADER_LEN as u64).min(input.len()) }, What::DATASERIES_HEADER)
}
