//! A dictionary of a column: distinct values once, and codes in chunks.

use alloc::vec::Vec;
use core::ops::Range;

use super::WriteOptions;
use super::distinct::{Distinct, is_same_text, number_hash, text_hash};
use super::dtype::{Logical, Shape};
use super::encode::encode;
use super::file::Layout;
use super::integers;
use super::leaf::Segments;
use super::packing::Learned;
use super::rows::{Data, Numbers, Rows};
use crate::bytes::low16;
use crate::column::Prim;
use crate::meta::proto::write::Writer;
use crate::vortex::dtype::number_of_prim;
use crate::vortex::layouts::dict_field as field;
use crate::vortex::raw::{Encoding, LayoutId};

/// Maximum number of values, one of which may be null.
const MOST: usize = 65_535;

/// Maximum number of rows that are added at once, and number of rows by which a dictionary is tried.
const BLOCK: usize = 8192;

/// Maximum size in bytes of the values in memory.
const SIZE: u64 = 1 << 20;

/// A dictionary that is being filled.
#[derive(Debug)]
pub(super) struct Dictionary {
    ty: Logical,
    known: Distinct,
    /// The values by code. If rows may be missing, the first value is a missing one.
    values: Rows,
    rows: u64,
    codes: Vec<u16>,
    parts: Vec<Layout>,
    learned: Learned,
}

impl Dictionary {
    pub fn empty(ty: &Logical) -> Self {
        let mut values = Rows::new(ty);
        if ty.nullable {
            values.missing(ty);
        }
        let known = Distinct::new(MOST);
        Dictionary {
            ty: ty.clone(),
            known,
            values,
            rows: 0,
            codes: Vec::new(),
            parts: Vec::new(),
            learned: Learned::default(),
        }
    }

    /// Returns an empty dictionary if the first rows of a column are smaller with one.
    pub fn new(rows: &Rows, ty: &Logical, how: &WriteOptions) -> Option<Self> {
        let is_number = matches!(rows.data, Data::Numbers(_)) && !matches!(ty.shape, Shape::Decimal { .. });
        if !(is_number || matches!(rows.data, Data::Texts(_))) || rows.nulls() == rows.len || ty.extension.is_some() {
            return None;
        }
        if rows.len > BLOCK {
            return Dictionary::new(&rows.slice(0..BLOCK), ty, how);
        }
        let mut trial = Dictionary::empty(ty);
        trial.add(rows, 0..rows.len);
        if trial.values.len.saturating_mul(2) > rows.len {
            return None;
        }
        let codes: Vec<u64> = trial.codes.iter().map(|code| u64::from(*code)).collect();
        // Tokens are chosen slowly, and symbols tell nearly as much.
        let has_symbols = how.allowed().has(Encoding::Fsst);
        let encodings = if has_symbols { how.encodings.without(Encoding::OnPair) } else { how.encodings };
        let how = &WriteOptions { encodings, ..*how };
        let without = encode(rows, ty, how, &mut Learned::default());
        // Chunks with dictionaries of their own would repeat its values.
        let pays = without.encoding == Encoding::Dict || {
            let with = integers::unsigned(&codes, how.allowed()).0.size();
            with.saturating_add(encode(&trial.values, ty, how, &mut Learned::default()).size()) < without.size()
        };
        pays.then(|| Dictionary::empty(ty))
    }

    /// Returns whether there is space for a number of values, were they all new.
    fn takes(&self, rows: usize) -> bool {
        self.values.len.saturating_add(rows) < MOST && self.values.size() < SIZE
    }

    /// Adds the codes of rows for which there is space.
    fn add(&mut self, rows: &Rows, range: Range<usize>) {
        self.rows = self.rows.saturating_add(range.len() as u64);
        let start = usize::from(self.ty.nullable);
        for (row, hash) in range.clone().zip(rows.hashes(range)) {
            if !rows.has(row) {
                self.codes.push(0);
                continue;
            }
            let values = &self.values;
            let is_same = |code: u32| values.is_same((code as usize).saturating_add(start), rows, row);
            let Some(code) = self.known.code(hash, is_same) else { continue };
            let code = (code as usize).saturating_add(start);
            if code == self.values.len {
                self.values.append(rows.slice(row..row.saturating_add(1)));
            }
            self.codes.push(low16(code));
        }
    }

    /// Adds rows. A dictionary that is full becomes one of `parts`, and an empty one takes its place. Encodes the codes that
    /// make a chunk.
    pub fn push(&mut self, rows: &Rows, how: &WriteOptions, parts: &mut Vec<Layout>, to: &mut Segments) {
        for first in (0..rows.len).step_by(BLOCK) {
            let range = first..first.saturating_add(BLOCK).min(rows.len);
            if !self.takes(range.len()) {
                let full = core::mem::replace(self, Dictionary::empty(&self.ty));
                let (layout, learned) = full.finish(how, to);
                parts.push(layout);
                self.learned = learned;
            }
            self.add(rows, range);
        }
        if (self.codes.len() as u64).saturating_mul(2) >= how.chunk_size {
            self.write(how, to);
        }
    }

    fn write(&mut self, how: &WriteOptions, to: &mut Segments) {
        let codes = core::mem::take(&mut self.codes);
        let rows = codes.len() as u64;
        self.parts.push(to.flat(integers::encode(&Numbers::U16(codes), None, how.allowed()), rows));
    }

    /// Encodes the rest of the codes and the values. Returns also what the values have taught.
    pub fn finish(mut self, how: &WriteOptions, to: &mut Segments) -> (Layout, Learned) {
        if !self.codes.is_empty() {
            self.write(how, to);
        }
        let values = encode(&self.values, &self.ty, how, &mut self.learned);
        let values = to.flat(values, self.values.len as u64);
        let mut message = Writer::default();
        message.uint(field::CODES_TYPE, number_of_prim(Prim::U16).into()).uint(field::CODES_NULLABLE, 0);
        let children = Vec::from([values, Layout::chunked(self.parts)]);
        let layout = Layout { metadata: message.finish(), children, ..Layout::new(LayoutId::Dict, self.rows) };
        (layout, self.learned)
    }
}

impl Rows {
    /// Returns hashes of the values of some rows, for the types that dictionaries have.
    fn hashes(&self, rows: Range<usize>) -> Vec<u64> {
        match &self.data {
            Data::Texts(texts) => rows.map(|row| text_hash(texts.get(row))).collect(),
            Data::Numbers(numbers) => numbers.bits(rows).into_iter().map(number_hash).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether a row has the value of a row of other rows with the same hash, for the types that dictionaries have.
    fn is_same(&self, row: usize, other: &Rows, of: usize) -> bool {
        match (&self.data, &other.data) {
            (Data::Texts(texts), Data::Texts(others)) => is_same_text(texts.get(row), others.get(of)),
            // The hash of a number is its product with an odd one, of which no other number has the same.
            (Data::Numbers(_), Data::Numbers(_)) => true,
            _ => false,
        }
    }
}
