//! The files that are exchanged with the original. They contain the code, name, chunk and cells of each vector.

use super::Cell;

fn counted(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

/// Appends a vector.
pub fn put(out: &mut Vec<u8>, code: u8, name: &str, chunk: &[u8], cells: &[Cell]) {
    out.push(code);
    counted(out, name.as_bytes());
    counted(out, chunk);
    out.extend((cells.len() as u32).to_le_bytes());
    for cell in cells {
        match cell {
            Cell::Missing => out.push(0),
            Cell::Number(x) => {
                out.push(1);
                out.extend(x.to_le_bytes());
            }
            Cell::Bytes(s) => {
                out.push(2);
                counted(out, s);
            }
            Cell::DateTime(a, b) => {
                out.push(3);
                out.extend(a.to_le_bytes());
                out.extend(b.to_le_bytes());
            }
        }
    }
}

/// The rest of a file that the original wrote. An incomplete file is a panic.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Takes a byte.
    pub fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }
    /// Takes bytes after their length.
    pub fn counted(&mut self) -> &'a [u8] {
        let len = self.number() as usize;
        self.take(len)
    }
    /// Takes the cells of a vector.
    pub fn cells(&mut self) -> Vec<Cell> {
        (0..self.number()).map(|_| self.cell()).collect()
    }
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n);
        self.0 = rest;
        taken
    }
    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four bytes"))
    }
    fn long(&mut self) -> i64 {
        i64::from_le_bytes(self.take(8).try_into().expect("eight bytes"))
    }
    fn cell(&mut self) -> Cell {
        match self.byte() {
            0 => Cell::Missing,
            1 => Cell::Number(self.long()),
            2 => Cell::Bytes(self.counted().to_vec()),
            _ => Cell::DateTime(self.long(), self.number() as i32),
        }
    }
}
