//! text_encoders FILE...: the encoders of texts beside the crates `fsst-rs` and `onpair`. A text is a line of a file; about 900,000
//! bytes are a chunk with a table of its own. The crates decode what pilaster encodes. Printed are sizes in bytes with tables and
//! bit-packed codes, and MB/s of CPU time, the best of 3 rounds: both sides, and pilaster's share of the crate's.

use std::mem::MaybeUninit;

use cpu_time::ProcessTime;
use pilaster::unstable::encoding::{fsst as ours, onpair as tokens, texts::Texts};

/// Bytes of a chunk, at least.
const CHUNK: usize = 900_000;

type Failure = Box<dyn std::error::Error>;

/// Sizes and seconds of one encoder.
#[derive(Clone, Copy, Default)]
struct Figures {
    size: usize,
    train: f64,
    encode: f64,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.size += other.size;
        self.train += other.train;
        self.encode += other.encode;
    }

    fn best(self, other: Figures) -> Figures {
        Figures { train: self.train.min(other.train), encode: self.encode.min(other.encode), ..other }
    }
}

/// The texts of a chunk.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Chunk {
    fn texts(&self) -> Result<Texts<'_>, Failure> {
        Ok(Texts::new(&self.bytes, &self.offsets).ok_or("offsets")?)
    }

    fn lines(&self) -> Vec<&[u8]> {
        self.offsets.windows(2).map(|pair| &self.bytes[pair[0] as usize..pair[1] as usize]).collect()
    }
}

fn chunks(file: &[u8]) -> Vec<Chunk> {
    let mut all = vec![Chunk { bytes: Vec::new(), offsets: vec![0] }];
    for line in file.strip_suffix(b"\n").unwrap_or(file).split(|byte| *byte == b'\n') {
        if all.last().is_some_and(|chunk| chunk.bytes.len() >= CHUNK) {
            all.push(Chunk { bytes: Vec::new(), offsets: vec![0] });
        }
        if let Some(chunk) = all.last_mut() {
            chunk.bytes.extend_from_slice(line);
            chunk.offsets.push(chunk.bytes.len() as u32);
        }
    }
    all
}

/// Runs `work` and returns its seconds of CPU time, too.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let done = work();
    (done, start.elapsed().as_secs_f64())
}

fn fsst_ours(chunk: &Chunk) -> Result<Figures, Failure> {
    let texts = chunk.texts()?;
    let (table, train) = timed(|| ours::Table::train(&texts));
    let ((codes, ends), encode) = timed(|| {
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        table.encode(&texts, &mut codes, &mut ends);
        (codes, ends)
    });
    // The crate takes the table in its order, decodes the codes, and its own codes for the table are decoded.
    let symbols: Vec<fsst::Symbol> =
        table.symbols().chunks_exact(8).map(|symbol| fsst::Symbol::from_slice(symbol.try_into().unwrap())).collect();
    let crates = fsst::Compressor::rebuild_from(&symbols, table.lengths());
    let mut start = 0;
    for (line, end) in chunk.lines().into_iter().zip(&ends) {
        let own = &codes[start..*end as usize];
        if crates.decompressor().decompress(own) != line {
            return Err("fsst-rs decodes another text".into());
        }
        start = *end as usize;
    }
    let theirs = crates.compress(&chunk.bytes);
    let mut out = vec![0; chunk.bytes.len()];
    let len = ours::Symbols::new(table.symbols(), table.lengths())?.decode(&theirs, &mut out)?;
    if out[..len] != chunk.bytes {
        return Err("the codes of fsst-rs are another text".into());
    }
    Ok(Figures { size: codes.len() + table.lengths().len() * 9, train, encode })
}

fn fsst_crate(chunk: &Chunk) -> Figures {
    let lines = chunk.lines();
    let (table, train) = timed(|| fsst::Compressor::train(&lines));
    let (codes, encode) = timed(|| {
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        table.compress_bulk_into::<{ fsst::Compressor::DEFAULT_BULK_LANES }>(&lines, &mut codes, &mut ends);
        codes
    });
    Figures { size: codes.len() + table.symbol_table().len() * 9, train, encode }
}

/// Bytes of a dictionary with offsets of 16 bits, and of codes of as many bits as necessary.
fn packed(bytes: &[u8], offsets: &[u32], codes: &[u16]) -> usize {
    let bits = usize::BITS - offsets.len().saturating_sub(2).leading_zeros();
    bytes.len() + offsets.len() * 2 + codes.len() * bits as usize / 8
}

fn onpair_ours(chunk: &Chunk) -> Result<Figures, Failure> {
    let texts = chunk.texts()?;
    let (dictionary, train) = timed(|| tokens::Dictionary::train(&texts, 12));
    let ((codes, ends), encode) = timed(|| {
        let (mut codes, mut ends) = (Vec::new(), Vec::new());
        dictionary.encode(&texts, &mut codes, &mut ends);
        (codes, ends)
    });
    // The crate accepts the dictionary as sorted and complete, decodes the codes, and finds a text by its own codes.
    let view = onpair::CompactDictionaryView::validate(dictionary.bytes(), dictionary.offsets())?;
    let mut out = vec![MaybeUninit::new(0); chunk.bytes.len() + onpair::DECODE_PADDING];
    let len = onpair::try_decode_into(&codes, view, &mut out).map_err(|_| "onpair: output too small")?;
    let row_offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
    let column = onpair::ColumnView { dict: view, codes: &codes, row_offsets: &row_offsets };
    let mut back = vec![0; chunk.bytes.len()];
    tokens::Tokens::new(dictionary.bytes(), dictionary.offsets())?.decode(&codes, &mut back)?;
    let decoded =
        (0..column.num_rows()).map(|row| column.row_decoded_len(row)).eq(chunk.lines().iter().map(|line| line.len()));
    if len != chunk.bytes.len() || !decoded || back != chunk.bytes {
        return Err("onpair decodes another text".into());
    }
    let lines = chunk.lines();
    for row in (0..lines.len()).step_by(lines.len() / 50 + 1) {
        if !column.rows_equal_to(lines[row]).contains(&row) {
            return Err(format!("onpair does not find row {row}").into());
        }
    }
    Ok(Figures { size: packed(dictionary.bytes(), dictionary.offsets(), &codes), train, encode })
}

fn onpair_crate(chunk: &Chunk) -> Result<Figures, Failure> {
    let (parser, train) = timed(|| onpair::Parser::train(&chunk.bytes, &chunk.offsets, onpair::DEFAULT_CONFIG));
    let parser = parser?;
    let (column, encode) = timed(|| parser.parse(&chunk.bytes, &chunk.offsets));
    let column = column?;
    Ok(Figures { size: packed(column.dict.bytes(), column.dict.offsets(), &column.codes), train, encode })
}

fn main() -> Result<(), Failure> {
    for name in std::env::args().skip(1) {
        let chunks = chunks(&std::fs::read(&name)?);
        let raw: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        let (mut sums, worst) = ([Figures::default(); 4], f64::MAX);
        for chunk in &chunks {
            let mut best = [Figures { size: 0, train: worst, encode: worst }; 4];
            for _ in 0..3 {
                let round = [fsst_ours(chunk)?, fsst_crate(chunk), onpair_ours(chunk)?, onpair_crate(chunk)?];
                best = std::array::from_fn(|k| best[k].best(round[k]));
            }
            sums.iter_mut().zip(best).for_each(|(sum, best)| sum.add(best));
        }
        println!("{name}: {raw} bytes");
        for (kind, [own, other]) in ["fsst", "onpair"].iter().zip(sums.as_chunks::<2>().0) {
            let speed = |seconds: f64| raw as f64 / seconds / 1e6;
            println!(
                "  {kind:6} size {} / {} = {:.3}  train {:.0} / {:.0} = {:.2}  encode {:.0} / {:.0} = {:.2}",
                own.size,
                other.size,
                own.size as f64 / other.size as f64,
                speed(own.train),
                speed(other.train),
                other.train / own.train,
                speed(own.encode),
                speed(other.encode),
                other.encode / own.encode,
            );
        }
    }
    Ok(())
}
