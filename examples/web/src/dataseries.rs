//! A DataSeries file. Types and the headers of all extents are read once, then only the extents with the requested
//! rows.

#[cfg(any(feature = "info", feature = "verify"))]
mod check;

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::any::{Column, File, Format};
use pilaster::bytes::{Fetch as _, FileRange, Input, Scratch};
use pilaster::column::{Part as _, Prim, Type};
use pilaster::dataseries::{AnyExtent, AnyFile, FieldType, Header, IndexRow, Next, ReadOptions};
use pilaster::error::{Error, Kind, What};
use pilaster::unstable::dataseries::raw::{EXTENT_HEADER_LEN, HEADER_LEN, INDEX_TYPE, MAX_NAME, XML_TYPE};

use crate::describe;
use crate::heap::{lasting, push};
use crate::json::Json;
use crate::pieces::{LASTING, Pieces};
use crate::session::{Call, Progress, Source, no_column};
use crate::tape::Tape;

/// Maximum number of headers that are requested together.
const HEADERS: usize = 256;
/// Maximum number of bytes of extents that are requested ahead, within the requested rows.
const AHEAD: u64 = 8 << 20;

/// An open file.
pub struct Series {
    file: AnyFile<'static>,
    /// The headers that were read so far.
    headers: Vec<Header>,
    tables: Vec<Rows>,
    /// Offset of the next header; `end`: offset after the last extent, if known.
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
    /// Reads types and index; [`scan`](Self::scan) reads the headers of the extents.
    pub fn open(source: &Source) -> Result<Self> {
        let (input, hints) = (LASTING.input(source.len), source.hints());
        let file = match lasting(|scratch| File::open_input(input, Format::DataSeries, &hints, scratch))? {
            File::DataSeries(file) => file,
            #[allow(unreachable_patterns, reason = "where there are other formats in the build")]
            other => return Err(other.format().unreadable()),
        };
        let mut tables = Vec::new();
        for _ in 0..file.types().len() {
            push(&mut tables, Rows::default())?;
        }
        Ok(Series { file, headers: Vec::new(), tables, at: HEADER_LEN as u64, end: None })
    }

    /// Reads headers of extents. Returns the progress, or `None` if all are read.
    pub fn scan(&mut self, pieces: &mut Pieces, source: &Source) -> Result<Option<Progress>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let input = pieces.input(source.len);
        if self.file.index().is_some() {
            self.scan_index(pieces, input)?;
        } else {
            let mut step = self.next_header(input);
            while step.is_ok() && self.end.is_none() && !self.headers.len().is_multiple_of(HEADERS) {
                step = self.next_header(input);
            }
            step?;
        }
        // Headers are not read again.
        pieces.clear();
        Ok(match self.end {
            Some(_) => None,
            None => Some(Progress { done: self.at, of: source.len }),
        })
    }

    /// With an index: requests some headers together, and reads them.
    fn scan_index(&mut self, pieces: &Pieces, input: Input<'_>) -> Result<()> {
        let file = self.file;
        let Some((index, _)) = file.index() else { return Ok(()) };
        let head = |row: &IndexRow<'_>| FileRange {
            len: row.span.len.min((EXTENT_HEADER_LEN + row.type_name.len()) as u64),
            ..row.span
        };
        let first = self.headers.len() as u64;
        let last = index.len().min(first.saturating_add(HEADERS as u64));
        for k in first..last {
            let _ = input.get(head(&index.get(k)?), What::DATASERIES_EXTENT);
        }
        pieces.complete()?;
        for k in first..last {
            let row = index.get(k)?;
            let bytes = input.get(head(&row), What::DATASERIES_EXTENT)?;
            let header = file.order().header(bytes, row.span.at)?;
            // The extent must match its index entry.
            if header.span() != row.span || bytes.get(EXTENT_HEADER_LEN..) != Some(row.type_name) {
                return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, k, row.span.at));
            }
            self.push(&header, row.type_name)?;
        }
        if last == index.len() {
            self.end = Some(self.at);
        }
        Ok(())
    }

    /// Without an index: reads the header at the end of the last extent.
    fn next_header(&mut self, input: Input<'_>) -> Result<()> {
        let at = self.at;
        let most = (EXTENT_HEADER_LEN + MAX_NAME) as u64;
        let span = FileRange { at, len: input.len().saturating_sub(at).min(most) };
        let bytes = input.get(span, What::DATASERIES_EXTENT)?;
        match &self.file.order().next(bytes, at)? {
            Next::End(end) => self.end = Some(end.at()),
            Next::Extent(header) => {
                if header.span().end().is_none_or(|end| end > input.len()) {
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
            let rows = self.file.types().place(name).and_then(|table| self.tables.get_mut(table));
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
            let Some(ty) = self.file.types().get(k) else { break };
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
        if call.pieces.fetch(span).is_none() {
            let mut ahead = span.len;
            for (first, number) in table.extents.get(after..).unwrap_or_default() {
                let Some(header) = self.headers.get(*number as usize) else { break };
                ahead = ahead.saturating_add(header.span().len);
                if *first >= call.ahead || ahead > AHEAD {
                    break;
                }
                call.pieces.fetch(header.span());
            }
        }
        let mut scratch = scratch.scope();
        let extent = self.extent(header, call.pieces.input(call.source.len))?;
        let ty = self.file.types().get(call.table);
        let ty = ty.as_ref().filter(|ty| ty.name().as_bytes() == extent.type_name());
        let ty = ty.ok_or_else(|| header.unknown_type())?;
        let part = extent.unpack(ty, &ReadOptions::DEFAULT, &mut scratch)?;
        let from = call.rows.start.saturating_sub(*first);
        let to = call.rows.end.saturating_sub(*first).min(part.rows());
        for k in call.columns() {
            tape.column(&Column::from(part.column(k)?), from..to, &mut scratch)?;
        }
        // At most the rows of the call.
        Ok(to.saturating_sub(from) as u32)
    }

    fn extent<'p>(&self, header: &Header, input: Input<'p>) -> Result<AnyExtent<'p>> {
        self.file.order().extent(input.get(header.span(), What::DATASERIES_EXTENT)?, header.at)
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
