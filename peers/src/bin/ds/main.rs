//! The counterpart of `gen.cpp` and `rd.cpp` with pilaster, and the loggers of `record!`.
//!
//!   ds log FOLDER                 one file per packing, mode and byte order, and log_truth.txt with the rows
//!   ds read FILE CHECKS VISIT     (0 or 1 each) as rd.cpp: rows, extents, sums, CPU seconds
//!   ds write FILE MODE ROWS       as gen.cpp, workload A

mod log;
mod read;
mod write;

type Failure = Box<dyn std::error::Error>;

/// The random numbers of `gen.cpp`.
struct Draw(u64);

impl Draw {
    fn new() -> Self {
        Draw(88_172_645_463_325_252)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["log", folder] => log::all(folder.as_ref())?,
        ["read", file, checks, visit] => read::all(file, *checks == "1", *visit == "1"),
        ["write", file, mode, rows] => write::workload(file, mode, rows.parse()?),
        _ => return Err("ds log FOLDER | ds read FILE CHECKS VISIT | ds write FILE MODE ROWS".into()),
    }
    Ok(())
}
