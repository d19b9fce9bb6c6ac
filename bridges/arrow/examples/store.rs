//! Stores a Parquet, Arrow IPC, CSV or JSON lines file as Vortex or Jay, by the extension of the target:
//! `cargo run -p pilaster-arrow --example store -- prices.parquet prices.vortex`

use std::fs::File;
use std::io::BufWriter;

use pilaster::bytes::IoSink;
use pilaster::{jay, vortex};
use pilaster_arrow::input::{Input, InputOptions, open};
use pilaster_arrow::{Batches, Source, convert};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(from), Some(to)) = (args.next(), args.next()) else { return Err("usage: store FROM TO".into()) };
    let source = open(Input::path(&from)?, InputOptions::default())?;
    println!("{} with {} columns", source.kind(), source.schema().fields().len());
    let mut table = Batches::from_source(source)?;
    let sink = IoSink(BufWriter::new(File::create(&to)?));
    if to.ends_with(".jay") {
        let mut builder = jay::write::Builder::new(sink, &jay::write::WriteOptions::DEFAULT)?;
        convert(&mut table, &mut builder)?;
        builder.finish()?;
    } else {
        let mut builder = vortex::write::Builder::new(sink, &vortex::write::WriteOptions::DEFAULT)?;
        convert(&mut table, &mut builder)?;
        builder.finish()?;
    }
    Ok(())
}
