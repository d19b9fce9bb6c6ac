//! `recover`: the intact part of a damaged file, by the command and by the package for Python.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pilaster::any::Format;
use pilaster::bytes::Ranges;
use pilaster::dataseries::Order;

use crate::args::Recover;
use crate::content::Held;
use crate::convert;
use crate::detect;
use crate::escape::Shown;
use crate::failure::Failure;
use crate::goal::{self, Goal};
use crate::lost::Saved;
use crate::open::Input;
use crate::sources::{Hints, Known, Location, Source};
use crate::target::Target;
use crate::{bcolz, jay_recover, rewrite, vortex_recover};

/// The command: a line for each loss, and one about what was saved.
pub fn run(how: &Recover, out: &mut dyn Write) -> Result<(), Failure> {
    let input = detect::load(&how.source, Some(how)).map_err(|failure| failure.of(&how.source.path))?;
    let done = recover(&input, how, out).and_then(|(saved, to_stdout)| {
        let mut err = Shown::new(io::stderr());
        let out: &mut dyn Write = if to_stdout { &mut err } else { out };
        Ok(writeln!(out, "{}", saved.line)?)
    });
    input.report();
    done.map_err(|failure| input.failure(failure).of(&how.source.path))
}

/// Writes what can be read to the target, and a line for each loss to `out`, or to standard error if the target is standard
/// output, which is returned, too. The input may be so damaged that it cannot be opened.
fn recover(input: &Input, how: &Recover, out: &mut dyn Write) -> Result<(Saved, bool), Failure> {
    let none = matches!(input.format, Format::Jay | Format::Vortex) || input.dataset().is_some();
    if none && (how.types.is_some() || how.order.is_some()) {
        let why = format!("--types and --order are for DataSeries files; {} is {}", input.path, input.format);
        return Err(Failure::Usage(why));
    }
    if let Some(dataset) = input.dataset() {
        return Ok((bcolz::recover(dataset, how)?, false));
    }
    if matches!(input.format, Format::DataSeries | Format::Jay | Format::Vortex) {
        input.check(true)?;
    }
    let (conversion, mut err) = (vortex_recover::conversion(how), Shown::new(io::stderr()));
    let (target, to) = match input.format {
        Format::Vortex => {
            let to = goal::goal(&conversion, "")?.unwrap_or(Goal::Format(input.format));
            if matches!(to, Goal::Text(_)) {
                let why = "recover does not write text: recover to .vortex, and convert that";
                return Err(Failure::Usage(why.to_owned()));
            }
            (&convert::open_target(&conversion, to)?, to)
        }
        format => (&Target::file(&how.target, how.force)?, Goal::Format(format)),
    };
    let out: &mut dyn Write = if target.is_stdout() { &mut err } else { out };
    let saved = match input.format {
        Format::Vortex => vortex_recover::recover(input, &conversion, (to, target), out)?,
        Format::Jay => jay_recover::recover(input, (how, target), out)?,
        _ => rewrite::recover(input, (how, target), out)?,
    };
    Ok((saved, target.is_stdout()))
}

/// The source of a recovery, for callers of this library.
pub enum Damaged {
    /// A file, or the directory of a dataset.
    Path(PathBuf),
    /// Bytes in memory, and their name.
    Memory(Held, String),
    /// Bytes that are read when they are needed, and their name.
    Ranges(Box<Ranges>, String),
}

/// What [`saved`] returns.
#[derive(Debug)]
pub struct Report {
    /// The number of rows that were saved.
    pub rows: u64,
    /// A line for each loss, as the command prints it.
    pub lost: Vec<String>,
}

/// The options of the command `recover` of these names.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub format: Option<Format>,
    pub dtype: Option<String>,
    pub types: Option<PathBuf>,
    pub order: Option<Order>,
}

/// Writes the intact part of a file to `to`, as the command `recover --force` does.
///
/// # Errors
/// [`Failure`], if nothing can be saved, or the target cannot be written. Then it is as it was before.
pub fn saved(damaged: Damaged, to: &Path, options: Options) -> Result<Report, Failure> {
    let Options { format, dtype, types, order } = options;
    let hints = Hints { format: format.map(Known::Format), dtype, ..Hints::default() };
    let of = |path: PathBuf| Source { path: Location::Path(path), hints };
    let (source, content) = match damaged {
        Damaged::Path(path) => (of(path), None),
        Damaged::Memory(bytes, name) => (of(name.into()), Some(bytes.into())),
        Damaged::Ranges(ranges, name) => (of(name.into()), Some((*ranges).into())),
    };
    // The command takes a dash for standard output.
    let target = if to.as_os_str() == "-" { Path::new(".").join(to) } else { to.to_owned() };
    let how = Recover { source, target, force: true, types, order };
    let input = match content {
        None => Input::load(&how.source, true)?,
        Some(content) => Input::of(&how.source, content),
    };
    let input = detect::detected(input, Some(&how))?;
    let mut out = Vec::new();
    let (saved, _) = recover(&input, &how, &mut out).map_err(|failure| input.failure(failure))?;
    let lines = String::from_utf8_lossy(&out).lines().map(str::to_owned).collect::<Vec<_>>();
    Ok(Report { rows: saved.rows, lost: [input.warnings.clone(), lines].concat() })
}
