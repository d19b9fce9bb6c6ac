//! A DataSeries file: verification of all extents, and their storage.

use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::dataseries::{Mode, ReadOptions};
use pilaster::error::What;

use super::{AHEAD, Series};
use crate::heap::{filled, push};
use crate::json::Json;
use crate::pieces::Pieces;
use crate::session::{Progress, Source};

/// Number of extents that one step of [`Series::verify`] unpacks.
const STEP: usize = 16;

/// Table and modes; number of extents with these, their rows, stored bytes and unpacked bytes.
type Sum = (Option<usize>, [Option<Mode>; 2], [u64; 4]);

impl Series {
    /// Unpacks some extents, with all checks on.
    #[cfg(feature = "verify")]
    pub fn verify(
        &self,
        pieces: &Pieces,
        source: &Source,
        walk: &mut u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<Option<Progress>> {
        let first = *walk as usize;
        let input = pieces.input(source.len);
        let mut bytes = 0u64;
        let mut end = first;
        for header in self.headers.iter().skip(first).take(STEP) {
            bytes = bytes.saturating_add(header.span().len);
            if bytes > AHEAD && end > first {
                break;
            }
            end = end.saturating_add(1);
            let _ = input.get(header.span(), What::DATASERIES_EXTENT);
        }
        pieces.complete()?;
        for header in self.headers.get(first..end).unwrap_or_default() {
            let extent = self.extent(header, input)?;
            let ty = self.file.types().find(extent.type_name()).ok_or_else(|| header.unknown_type())?;
            extent.unpack(&ty, &ReadOptions::DEFAULT, &mut scratch.scope())?;
        }
        *walk = end as u64;
        match self.headers.get(end) {
            Some(header) => Ok(Some(Progress { done: header.at, of: source.len })),
            None => Ok(None),
        }
    }

    #[cfg(feature = "info")]
    pub fn info(&self, _: &Pieces, source: &Source, json: &mut Json) -> Result<()> {
        json.name("order", self.file.order().name()).key("index").bool(self.file.index().is_some());
        json.count("end", self.end.unwrap_or(source.len));
        json.key("types").open(b'[');
        for ty in self.file.types().iter() {
            let (major, minor) = ty.version();
            json.open(b'{').name("name", ty.name()).name("namespace", ty.namespace());
            json.key("version").open(b'[').signed(major.into()).signed(minor.into()).close(b']');
            json.count("record", ty.record_len() as u64).key("xml").text(ty.xml()).close(b'}');
        }
        json.close(b']');
        self.extents(json)
    }

    /// Describes the extents: sums per table and modes, and for each extent its offset, size, rows and number of its
    /// type.
    fn extents(&self, json: &mut Json) -> Result<()> {
        let mut of = filled(self.headers.len(), None)?;
        for (t, table) in self.tables.iter().enumerate() {
            for (_, number) in &table.extents {
                if let Some(of) = of.get_mut(*number as usize) {
                    *of = Some(t);
                }
            }
        }
        let mut sums: Vec<Sum> = Vec::new();
        json.key("extents").open(b'[');
        for (header, t) in self.headers.iter().zip(&of) {
            let span = header.span();
            json.open(b'[').number(span.at).number(span.len).number(header.rows.into());
            match t {
                Some(t) => json.number(*t as u64),
                None => json.null(),
            };
            json.close(b']');
            let record = t.and_then(|t| self.file.types().get(t)).map_or(0, |ty| ty.record_len() as u64);
            let records = record.saturating_mul(header.rows.into());
            let modes = [(records > 0).then_some(header.fixed_mode), (header.pool > 4).then_some(header.variable_mode)];
            let add = [1, header.rows.into(), span.len, records.saturating_add(header.pool.into())];
            match sums.iter_mut().find(|sum| (sum.0, sum.1) == (*t, modes)) {
                Some((_, _, sum)) => sum.iter_mut().zip(add).for_each(|(sum, add)| *sum = sum.saturating_add(add)),
                None => push(&mut sums, (*t, modes, add))?,
            }
        }
        json.close(b']').key("stored").open(b'[');
        for (t, [fixed, variable], [extents, rows, stored, unpacked]) in sums {
            json.open(b'{');
            if let Some(t) = t {
                json.count("table", t as u64);
            }
            for (key, mode) in [("records", fixed), ("strings", variable)] {
                if let Some(mode) = mode {
                    json.name(key, mode.name());
                }
            }
            json.count("extents", extents).count("rows", rows).count("size", stored).count("unpacked", unpacked);
            json.close(b'}');
        }
        json.close(b']');
        Ok(())
    }
}
