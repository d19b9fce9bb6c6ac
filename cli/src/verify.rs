//! `verify`: checks files, with several threads.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use pilaster::any::File;
use pilaster::column::Memory;
use pilaster::error::Kind;
use pilaster::unstable::any::verify_share;
use pilaster::unstable::limits::Share;
use serde_json::json;

use crate::args::Verify;
use crate::failure::Failure;
use crate::feed::WINDOW;
use crate::open::{Input, check_room};
use crate::progress::Progress;
use crate::special::Special;
use crate::threads::Threads;

/// Checks a file, and prints what was checked.
pub fn run(
    input: &Input<'_>,
    file: &File<'_>,
    special: &dyn Special,
    how: &Verify,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut progress = Progress::bytes(input.len());
    let check = || if by_shares(input, file, how.threads)? { Ok(()) } else { special.verify(input, file) };
    progress.watch(&|| input.bytes_read(), &check)?;
    drop(progress);
    let verified = special.verified(input, file)?;
    if how.json {
        let (path, format) = (input.path.as_str(), input.format.name());
        let document = json!({ "file": path, "format": format, "ok": true, "verified": verified });
        return Ok(writeln!(out, "{document}")?);
    }
    Ok(writeln!(out, "{}: ok, {verified}", input.path)?)
}

/// Number of shares of a file whose columns are shared.
const COLUMNS: u64 = 33;

/// Number of chunks of a dataset below which one thread checks it.
const FEW: u64 = 8;

/// Checks the shares of a file at the same time. Returns whether all are valid; if one is not, the whole file must be
/// checked to find its first error. Returns false for a file that is better checked by one thread.
fn by_shares(input: &Input<'_>, file: &File<'_>, threads: Threads) -> Result<bool, Failure> {
    let len = match file {
        File::Dataset(dataset) => {
            let chunks = dataset.arrays().iter().fold(0, |sum: u64, array| sum.saturating_add(array.chunks()));
            if chunks < FEW { 0 } else { u64::MAX }
        }
        File::DataSeries(_) | File::Jay(_) | File::Vortex(_) => input.len(),
        File::Filo(_) | File::Bcolz(..) => return Ok(false),
    };
    // Two parts are checked interleaved.
    let room = check_room(file)?.saturating_mul(2);
    let count = threads.count(len, WINDOW.saturating_add(room));
    // Shares of a limit are not exact, and the verdict does not depend on the number of threads.
    if count < 2 || input.tolerant || input.is_limited() {
        return Ok(false);
    }
    let of = if matches!(file, File::Jay(_) | File::Vortex(_)) { COLUMNS } else { count as u64 };
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let check = || -> Result<(), Failure> {
        let mut memory = Memory::with_len(room)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= of || failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            while let Err(e) = verify_share(file, Share { number, of }, &mut memory.scratch()) {
                match e {
                    pilaster::any::FileError::Format(e) if e.kind() == Kind::NoRoom => memory.grow(e)?,
                    e => return Err(e.into()),
                }
            }
        }
    };
    let work = || {
        if check().is_err() {
            failed.store(true, Ordering::Relaxed);
        }
    };
    // The threads that the system gives check all shares.
    let started = thread::scope(|scope| {
        let start = |_: &usize| thread::Builder::new().spawn_scoped(scope, work).is_ok();
        (0..count).filter(start).count()
    });
    Ok(started > 0 && !failed.into_inner())
}
