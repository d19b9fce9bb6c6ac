//! Mutates valid files of one format and checks the readers of pilaster: no panic, no hang, no work or memory out of
//! proportion; equal values by large batches, small batches and single rows; a file that `verify` accepts can be read.
//!
//!   mutate FORMAT COUNT SEED CORPUS SCRATCH [FIRST]
//!
//! FORMAT: filo, ds, dsdeep (stored without compression first), jay, vortex, blosc, bmeta (metadata of bcolz), bdir
//! (bcolz datasets). CORPUS: a folder; all files of the format below it are taken. Findings are written to SCRATCH.
//! The first mutations, one per file, change nothing. Status 1: a panic, a difference, a file that verify accepts and
//! that cannot be read, or no input that opened; 3: a hang.

mod bcolz;
mod corpus;
mod dataseries;
mod filo;
mod findings;
mod heap;
mod jay;
mod mutation;
mod vortex;
mod walk;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use corpus::Entry;
use pilaster_peers::random::Random;

type Failure = Box<dyn std::error::Error>;

thread_local! { static PANIC: RefCell<String> = const { RefCell::new(String::new()) }; }

/// The arguments, and the files.
struct Run {
    format: String,
    seed: u64,
    entries: Vec<Entry>,
    /// Format `bdir`: the datasets, and the folder of the mutated one.
    datasets: Vec<PathBuf>,
    work: PathBuf,
}

impl Run {
    /// Makes input `i`; `None` if it is skipped.
    fn input(&self, i: u64) -> std::io::Result<Option<(Vec<u8>, usize)>> {
        let mut r =
            Random(self.seed.wrapping_mul(0x517c_c1b7_2722_0a95).wrapping_add(i.wrapping_mul(0x2545_f491_4f6c_dd1d)));
        if self.format == "bdir" {
            return self.dataset(i, &mut r);
        }
        let unchanged = i < self.entries.len() as u64;
        let entry = &self.entries[if unchanged { i as usize } else { r.below(self.entries.len()) }];
        let other = &self.entries[r.below(self.entries.len())].bytes;
        let hint = r.below(usize::MAX);
        let mut d = entry.bytes.clone();
        match &*self.format {
            _ if unchanged => {}
            "bmeta" => mutation::text(&mut d, other, &mut r),
            format => mutation::bytes(&mut d, other, &mut r, matches!(format, "vortex" | "jay")),
        }
        if !unchanged && (self.format == "dsdeep" || self.format == "ds" && r.below(2) == 0) {
            dataseries::correct_checksums(&mut d);
        }
        Ok(Some((d, if self.format == "filo" { entry.element + 10 * (hint % 10) } else { hint })))
    }

    /// Copies a dataset to the work folder and mutates one of its files, in three of four cases one of metadata.
    fn dataset(&self, i: u64, r: &mut Random) -> std::io::Result<Option<(Vec<u8>, usize)>> {
        let unchanged = i < self.datasets.len() as u64;
        let folder = &self.datasets[if unchanged { i as usize } else { r.below(self.datasets.len()) }];
        let files = corpus::files(folder, &|_| true);
        let mut contents = files.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
        if files.len() > 60 || contents.iter().map(Vec::len).sum::<usize>() > 80_000 {
            return Ok(None);
        }
        let metadata: Vec<usize> =
            (0..files.len()).filter(|j| files[*j].extension().is_none_or(|e| e != "blp")).collect();
        let changed = if r.below(4) > 0 { r.pick(&metadata) } else { r.below(files.len()) };
        let other = contents[r.below(files.len())].clone();
        let left_out = !unchanged && r.below(20) == 0;
        if !unchanged {
            mutation::text(&mut contents[changed], &other, r);
        }
        let _ = std::fs::remove_dir_all(&self.work);
        for (j, (file, bytes)) in files.iter().zip(&contents).enumerate() {
            let to = self.work.join(file.strip_prefix(folder).expect("below the folder"));
            std::fs::create_dir_all(to.parent().expect("a folder"))?;
            if !(left_out && j == changed) {
                std::fs::write(to, bytes)?;
            }
        }
        Ok(Some((contents.swap_remove(changed), 0)))
    }

    /// Reads one input. Returns whether it was slow and whether it took much memory.
    fn read(&self, d: &[u8], hint: usize) -> (bool, bool) {
        let start = Instant::now();
        let (result, peak) = heap::peak(|| {
            catch_unwind(AssertUnwindSafe(|| match &*self.format {
                "filo" => filo::run(d, hint),
                "ds" | "dsdeep" => dataseries::run(d, hint),
                "jay" => jay::run(d),
                "vortex" => vortex::run(d),
                "blosc" => bcolz::chunk(d, hint),
                "bmeta" => bcolz::metadata(d),
                _ => bcolz::dataset(&self.work),
            }))
        });
        if result.is_err() {
            findings::note("panic", &PANIC.with(|p| p.borrow().clone()));
            if self.format == "bdir" {
                let copy = findings::keep("panic_dataset").with_extension("bcolz");
                let _ = std::fs::rename(&self.work, copy);
            }
        }
        (start.elapsed().as_millis() > 200 && d.len() < 100_000, peak > (64 << 20))
    }
}

fn load(format: &str, seed: u64, folder: &Path, scratch: &Path) -> Result<Run, Failure> {
    let mut entries = corpus::entries(format, folder)?;
    if format == "dsdeep" {
        entries.retain_mut(|e| {
            e.bytes = dataseries::stored(&e.bytes).unwrap_or_default();
            !e.bytes.is_empty() && e.bytes.len() < 60_000
        });
    }
    if entries.is_empty() {
        return Err(format!("{}: no file of format {format}", folder.display()).into());
    }
    let datasets = if format == "bdir" { corpus::datasets(&entries) } else { Vec::new() };
    Ok(Run { format: format.to_owned(), seed, entries, datasets, work: scratch.join(format!("work_{seed}")) })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (format, count, seed, folder, scratch, first) =
        match &*arguments {
            [f, n, s, c, t] => (f, n, s, c, t, 0),
            [f, n, s, c, t, first] => (f, n, s, c, t, first.parse()?),
            _ => return Err(
                "mutate FORMAT COUNT SEED CORPUS SCRATCH [FIRST]; FORMAT: filo ds dsdeep jay vortex blosc bmeta bdir"
                    .into(),
            ),
        };
    let scratch = PathBuf::from(scratch);
    std::fs::create_dir_all(&scratch)?;
    let run = load(format, seed.parse()?, folder.as_ref(), &scratch)?;
    findings::FOLDER.set(scratch).expect("set once");
    std::panic::set_hook(Box::new(|i| PANIC.with(|p| *p.borrow_mut() = i.to_string())));
    findings::watch();
    let start = Instant::now();
    let (count, mut done, mut slow, mut fat) = (count.parse::<u64>()?, 0u64, 0u32, 0u32);
    for i in first..first + count {
        let Some((d, hint)) = run.input(i)? else { continue };
        findings::begin(i, &d);
        let (was_slow, was_fat) = run.read(&d, hint);
        findings::end();
        for (was, number, name) in [(was_slow, &mut slow, "slow"), (was_fat, &mut fat, "fat")] {
            *number += u32::from(was);
            if was && *number <= 3 {
                println!("{} {} bytes {}", name.to_uppercase(), d.len(), findings::keep(name).display());
            }
        }
        done += 1;
    }
    let _ = std::fs::remove_dir_all(&run.work);
    let kinds = findings::lock(&findings::KINDS);
    kinds.iter().for_each(|(kind, n)| println!("  {n} x {kind}"));
    let found: u32 = kinds.values().sum();
    let opened = findings::OPENED.load(Relaxed);
    // If no file opened, nothing was tested.
    let failed = found > 0 || opened == 0;
    println!(
        "mutate {format} seed {seed}: {}: {done} mutations in {:.0} s, {} opened, {} verified, {found} findings of {} kinds, \
         {slow} slow, {fat} fat, {} too large, {} unequal in files that verify refuses",
        if failed { "FAIL" } else { "ok" },
        start.elapsed().as_secs_f64(),
        opened,
        findings::VERIFIED.load(Relaxed),
        kinds.len(),
        findings::TOO_LARGE.load(Relaxed),
        findings::UNVERIFIED.load(Relaxed),
    );
    std::process::exit(i32::from(failed))
}
