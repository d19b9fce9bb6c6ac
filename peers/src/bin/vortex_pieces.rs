//! vortex_pieces FILE COLUMN ROW: reads four rows of a column by range requests only (`File::open_input`), and prints them
//! with the number of requests and of bytes.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use pilaster::bytes::{Input, Piece, Scratch};
use pilaster::column::{Column as _, Part as _, Values};
use pilaster::error::Kind;
use pilaster::limits::Limits;
use pilaster::vortex::{self, TAIL_LEN};

/// Ranges of the file by their offset.
type Owned = Vec<(u64, Vec<u8>)>;

fn rows(owned: &Owned, len: u64, column: usize, row: u64) -> pilaster::Result<String> {
    let pieces: Vec<Piece<'_>> = owned.iter().map(|(at, bytes)| Piece { at: *at, bytes }).collect();
    let file = vortex::File::open_input(Input::pieces(&pieces, len), None, &Limits::DEFAULT)?;
    let part = file.part()?;
    let c = part.column(column)?;
    let mut memory = vec![0; 1 << 20];
    let batch = c.read(row..row + 4, &mut Scratch::new(&mut memory))?;
    let zones = c.zones()?.map(|z| z.len());
    Ok(match batch.values {
        Values::I64(v) => format!("{v:?} zones {zones:?}"),
        Values::F64(v) => format!("{v:?} zones {zones:?}"),
        _ => format!("{} rows zones {zones:?}", batch.len),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, column, row] = &*arguments else { return Err("vortex_pieces FILE COLUMN ROW".into()) };
    let file = File::open(file)?;
    let len = file.metadata()?.len();
    let mut owned = Owned::new();
    let (mut at, mut size) = (len.saturating_sub(TAIL_LEN), TAIL_LEN.min(len));
    let text = loop {
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, at)?;
        owned.push((at, bytes));
        match rows(&owned, len, column.parse()?, row.parse()?) {
            Err(e) if e.kind() == Kind::Missing => (at, size) = (e.at(), e.need().into()),
            result => break result?,
        }
    };
    println!("{text}\nrequests {} bytes {}", owned.len(), owned.iter().map(|(_, b)| b.len()).sum::<usize>());
    Ok(())
}
