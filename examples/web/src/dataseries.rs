//! A DataSeries file. Types and the headers of all extents are read once, then only the extents with the requested
//! rows.

#[cfg(feature = "check")]
mod check;

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::{FileRange, Scratch};
use pilaster::column::{Part as _, Prim, Type};
use pilaster::dataseries::{AnyExtent, FieldType, Header, Index, IndexRow, Next, Order, ReadOptions, Trailer, Types};
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::dataseries::raw::{EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, MAX_NAME, XML_TYPE};

use crate::describe;
use crate::heap::{lasting, push};
use crate::json::Json;
use crate::pieces::{Missing, Pieces};
use crate::session::{Call, Progress, Source, no_column};
use crate::tape::Tape;

/// Maximum number of headers that are requested together.
const HEADERS: usize = 256;
/// Maximum number of bytes of extents that are requested ahead, within the requested rows.
const AHEAD: u64 = 8 << 20;

/// An open file.
pub struct Series {
    order: Order,
    types: Types<'static>,
    /// The index, if the file was opened with it.
    index: Option<Index<'static>>,
    /// The headers that were read so far.
    headers: Vec<Header>,
    tables: Vec<Rows>,
    /// Offset of the next header, 0 until the types are read; `end`: offset after the last extent, if known.
    at: u64,
    end: Option<u64>,
}

/// The extents of a table: first row and number of each.
#[derive(Default)]
struct Rows {
    extents: Vec<(u64, u32)>,
    rows: u64,
}

impl Series {
    /// Creates a file of which nothing is read yet; [`scan`](Self::scan) reads it.
    pub fn new() -> Self {
        Series {
            order: Order::Little,
            types: Types::default(),
            index: None,
            headers: Vec::new(),
            tables: Vec::new(),
            at: 0,
            end: None,
        }
    }

    /// Reads header, index and types.
    fn begin(&mut self, pieces: &Pieces, source: &Source) -> Result<()> {
        let header = FileRange { len: Order::SPAN.len.min(source.len), ..Order::SPAN };
        let order = Order::of(pieces.get(header, What::DATASERIES_HEADER)?)?;
        self.order = order;
        let at = HEADER_LEN as u64;
        let left = source.len.saturating_sub(at);
        let header = FileRange { at, len: left.min(EXTENT_HEADER_LEN as u64) };
        let span = order.header(pieces.get(header, What::DATASERIES_EXTENT)?, at)?.span();
        let types = FileRange { len: span.len.min(left), ..span };
        // Copies only after all bytes are present, because a repeated step would copy again.
        pieces.get(types, What::DATASERIES_EXTENT)?;
        if !source.sequential {
            let span = Trailer::span(source.len)?;
            let trailer = order.trailer(pieces.get(span, What::DATASERIES_TRAILER)?, span.at)?.located(span.at)?;
            let extent = order.extent(pieces.keep(trailer.index, What::DATASERIES_EXTENT)?, trailer.index.at)?;
            lasting(|scratch| {
                let index = extent.index(&trailer, &ReadOptions::DEFAULT, scratch);
                self.index = Some(index?);
                Ok(())
            })?;
        }
        let extent = order.extent(pieces.keep(types, What::DATASERIES_EXTENT)?, at)?;
        lasting(|scratch| {
            self.types = extent.types(&ReadOptions::DEFAULT, scratch)?;
            Ok(())
        })?;
        for _ in 0..self.types.len() {
            push(&mut self.tables, Rows::default())?;
        }
        self.at = at;
        Ok(())
    }

    /// Reads the types, then headers of extents. Returns the progress, or `None` if all are read.
    pub fn scan(&mut self, pieces: &mut Pieces, source: &Source) -> Result<Option<Progress>> {
        if self.at == 0 {
            self.begin(pieces, source)?;
        }
        if self.end.is_some() {
            return Ok(None);
        }
        self.scan_some(pieces, source)?;
        // Headers are not read again.
        pieces.clear();
        Ok(match self.end {
            Some(_) => None,
            None => Some(Progress { done: self.at, of: source.len }),
        })
    }

    fn scan_some(&mut self, pieces: &Pieces, source: &Source) -> Result<()> {
        let Some(index) = self.index else {
            let mut step = self.next_header(pieces, source);
            while step.is_ok() && self.end.is_none() && !self.headers.len().is_multiple_of(HEADERS) {
                step = self.next_header(pieces, source);
            }
            return step;
        };
        let first = self.headers.len() as u64;
        let last = index.len().min(first.saturating_add(1).next_multiple_of(HEADERS as u64));
        // Requests all of these headers before the step ends, and reads those before the first missing one.
        let mut missing = Missing::default();
        for k in first..last {
            let IndexRow { span, type_name } = index.get(k)?;
            let len = span.len.min((EXTENT_HEADER_LEN + type_name.len()) as u64);
            let found = pieces.get(FileRange { len, ..span }, What::DATASERIES_EXTENT);
            let (Ok(bytes), false) = (found, missing.any()) else {
                missing.look(found);
                continue;
            };
            let header = self.order.header(bytes, span.at)?;
            // The extent must match its index entry.
            if header.span() != span || bytes.get(EXTENT_HEADER_LEN..) != Some(type_name) {
                return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, k, span.at));
            }
            self.push(&header, type_name)?;
        }
        missing.end()?;
        if last == index.len() {
            self.end = Some(self.at);
        }
        Ok(())
    }

    /// Without an index: reads the header at the end of the last extent.
    fn next_header(&mut self, pieces: &Pieces, source: &Source) -> Result<()> {
        let at = self.at;
        let most = (EXTENT_HEADER_LEN + MAX_NAME) as u64;
        let span = FileRange { at, len: source.len.saturating_sub(at).min(most) };
        let bytes = pieces.get(span, What::DATASERIES_EXTENT)?;
        match &self.order.next(bytes, at)? {
            Next::End(end) => self.end = Some(end.at()),
            Next::Extent(header) => {
                if header.span().end().is_none_or(|end| end > source.len) {
                    return Err(Error::needing(Kind::Truncated, What::DATASERIES_EXTENT, at, header.span().len));
                }
                let name = bytes.get(EXTENT_HEADER_LEN..).and_then(|rest| rest.get(..header.name_len.into()));
                let name = name.unwrap_or_default();
                if !self.headers.is_empty() && name == XML_TYPE.as_bytes() {
                    return Err(header.unknown_type());
                }
                self.push(header, name)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, header: &Header, name: &[u8]) -> Result<()> {
        if name != XML_TYPE.as_bytes() && name != INDEX_TYPE.as_bytes() {
            let rows = self.types.place(name).and_then(|table| self.tables.get_mut(table));
            let rows = rows.ok_or_else(|| header.unknown_type())?;
            if header.rows > 0 {
                push(&mut rows.extents, (rows.rows, self.headers.len() as u32))?;
                rows.rows = rows.rows.saturating_add(header.rows.into());
            }
        }
        self.at = header.span().end().unwrap_or(u64::MAX);
        push(&mut self.headers, *header)
    }

    pub fn tables(&self, _: &Pieces, _: &Source, json: &mut Json) -> Result<()> {
        for (k, table) in self.tables.iter().enumerate() {
            let Some(ty) = self.types.get(k) else { break };
            describe::table(json, ty.name(), table.rows);
            for field in ty.fields() {
                describe::begin(json, field.name, logical(field.ty), field.nullable);
                json.name("stored", field.ty.name()).close(b'}');
            }
            describe::end(json);
        }
        Ok(())
    }

    pub fn read(&self, call: &Call<'_>, tape: &mut Tape, scratch: &mut Scratch<'_>) -> Result<u32> {
        let Some(table) = self.tables.get(call.table) else { return Err(no_column(call.table, self.tables.len())) };
        call.len(table.rows)?;
        if call.rows.is_empty() {
            return Ok(0);
        }
        let after = table.extents.partition_point(|(first, _)| *first <= call.rows.start);
        let place = after.saturating_sub(1);
        let Some((first, number)) = table.extents.get(place) else { return Err(no_column(place, 0)) };
        let Some(header) = self.headers.get(*number as usize) else { return Err(no_column(place, 0)) };
        let span = header.span();
        if call.pieces.get(span, What::DATASERIES_EXTENT).is_err() {
            let mut ahead = span.len;
            for (first, number) in table.extents.get(after..).unwrap_or_default() {
                let Some(header) = self.headers.get(*number as usize) else { break };
                ahead = ahead.saturating_add(header.span().len);
                if *first >= call.ahead || ahead > AHEAD {
                    break;
                }
                let _ = call.pieces.get(header.span(), What::DATASERIES_EXTENT);
            }
        }
        let mut scratch = scratch.scope();
        let extent = self.extent(header, call.pieces)?;
        let ty = self.types.get(call.table);
        let ty = ty.as_ref().filter(|ty| ty.name().as_bytes() == extent.type_name());
        let ty = ty.ok_or_else(|| header.unknown_type())?;
        let part = extent.unpack(ty, &ReadOptions::DEFAULT, &mut scratch)?;
        let from = call.rows.start.saturating_sub(*first);
        let to = call.rows.end.saturating_sub(*first).min(part.rows());
        for k in call.columns() {
            tape.column(&part.column(k)?, from..to, &mut scratch)?;
        }
        // At most the rows of the call.
        Ok(to.saturating_sub(from) as u32)
    }

    fn extent<'p>(&self, header: &Header, pieces: &'p Pieces) -> Result<AnyExtent<'p>> {
        self.order.extent(pieces.get(header.span(), What::DATASERIES_EXTENT)?, header.at)
    }
}

/// Returns the type of the column of a field.
const fn logical(ty: FieldType) -> Type {
    match ty {
        FieldType::Bool => Type::Bool,
        FieldType::Byte => Type::Prim(Prim::U8),
        FieldType::Int32 => Type::Prim(Prim::I32),
        FieldType::Int64 => Type::Prim(Prim::I64),
        FieldType::Double => Type::Prim(Prim::F64),
        FieldType::Variable32 => Type::Bytes,
        FieldType::FixedWidth(size) => Type::FixedBytes(size),
    }
}
