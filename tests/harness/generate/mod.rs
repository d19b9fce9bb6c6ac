//! Files that are made and bent: a table of any rows, written by the library's own writers with any options, then
//! changed at a few places, its checks and lengths mended. Such a file gets past the first checks of a reader, which
//! bytes that must become a file by luck do not.
//!
//! Each format has a `Made`, which implements `arbitrary::Arbitrary`: the input of a fuzzer is a table, its options and
//! its bends. `Made::file` returns the bytes. `docs/fuzzing.md` shows how a reader of one's own uses them.

pub mod bcolz;
pub mod bend;
pub mod dataseries;
pub mod extents;
pub mod filo;
pub mod jay;
pub mod rows;
pub mod vortex;

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table, fit};
use pilaster::unstable::hash::adler32;

use super::cell::Cell;
use bend::Bend;
use rows::Rows;

/// What became of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether the file differs from what the writer wrote.
    pub bent: bool,
    /// Whether all checks were passed and rows were read.
    pub deep: bool,
}

/// Takes changes out of the input: often none or one, rarely more.
pub fn bends(u: &mut Unstructured<'_>) -> Result<Vec<Bend>> {
    let count = *u.choose(&[0, 0, 0, 1, 1, 1, 2, 4])?;
    (0..count).map(|_| Bend::arbitrary(u)).collect()
}

/// Checks that the only table of a file has exactly these rows. `like` says which cells a format cannot tell apart: what
/// was written, what was read.
pub fn same(rows: &Rows, file: &File<'_>, like: fn(Cell<'_>, Cell<'_>) -> bool) {
    let need = file.need().expect("a file that was just written") as usize;
    let (mut memory, mut batches) = (vec![0xa5; need], vec![0x5a; 1 << 14]);
    file.verify(&mut Scratch::new(&mut memory)).expect("a file that was just written");
    let name = file.tables().next();
    let mut table = file.table(name).expect("a table");
    let mut first = 0;
    loop {
        let mut scratch = Scratch::new(&mut memory);
        let Some(part) = table.next_part(&mut scratch).expect("a part") else { break };
        assert_eq!(part.width(), rows.columns.len());
        for (k, cells) in rows.columns.iter().enumerate() {
            let column = part.column(k).expect("a column");
            let mut row = 0;
            while row < column.rows() {
                let asked = fit(&column, row..column.rows(), batches.len()).expect("room for a row");
                let batch = column.read(asked, &mut Scratch::new(&mut batches)).expect("rows that were written");
                for i in 0..batch.len {
                    let at = (first + row) as usize + i;
                    let (made, read) = (cells.cell(at), Cell::of_batch(&batch, i).expect("a value"));
                    assert!(made == read || like(made, read), "row {at} of {cells:?}: {made:?} became {read:?}");
                }
                row += batch.len as u64;
            }
        }
        first += part.rows();
    }
    assert_eq!(first, (&rows).rows(), "the number of rows");
}

/// Makes the Adler-32 right at the end of every zlib stream in `bytes`, wherever it starts.
pub fn mend_zlib(bytes: &mut [u8]) {
    use miniz_oxide::inflate::TINFLStatus;
    use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

    let mut out = vec![0; 64 << 10];
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 2) {
        let header = u16::from_be_bytes([head[0], head[1]]);
        if head[0] == 0x78 && header.is_multiple_of(31) {
            let stream = &bytes[at + 2..];
            let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
            let (status, read, written) = decompress(&mut DecompressorOxide::new(), stream, &mut out, 0, flags);
            let end = at + 2 + read;
            if status == TINFLStatus::Done
                && let Some(sum) = bytes.get_mut(end..end + 4)
            {
                sum.copy_from_slice(&adler32(&out[..written]).to_be_bytes());
                at = end + 3;
            }
        }
        at += 1;
    }
}
