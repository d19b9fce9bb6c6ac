//! The tables of a DataSeries file, found in one walk over its extents. A walk per table would take types times extents.

use pilaster::bytes::{FileRange, Input, Scratch};
use pilaster::column;
use pilaster::dataseries::{AnyFile, EXTENT_HEADER_LEN, ExtentType, Part, ReadOptions};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::{Error, Result};

/// Where the extents of each type are.
pub struct Tables<'f> {
    file: AnyFile<'f>,
    input: Input<'f>,
    /// In the order of the types.
    all: Vec<Vec<Place>>,
}

/// An extent.
struct Place {
    at: u64,
    rows: u32,
}

impl<'f> Tables<'f> {
    /// Reads the headers of all extents of `file`, whose bytes are `input`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if the whole file takes more than `limits`.
    pub fn of(file: &AnyFile<'f>, input: Input<'f>, limits: &Limits) -> Result<Self> {
        let types = file.types();
        let mut all: Vec<Vec<Place>> = Vec::new();
        all.resize_with(types.len(), Vec::new);
        let (mut rows, mut decoded) = (0u64, 0u64);
        file.headers(|header, name| {
            let ty = types.find(name).ok_or_else(|| header.unknown_type())?;
            if let Some(places) = types.place(name).and_then(|k| all.get_mut(k)) {
                places.push(Place { at: header.at, rows: header.rows });
                rows = rows.saturating_add(header.rows.into());
            }
            let records = u64::from(header.rows).saturating_mul(ty.record_len() as u64);
            decoded = decoded.saturating_add(records).saturating_add(header.pool.into());
            let over = |what, max| Err(Error::needing(Kind::Limit, what, header.at, max));
            match () {
                () if rows > limits.max_file_rows => over(What::MAX_FILE_ROWS, limits.max_file_rows),
                () if decoded > limits.max_file_decoded => over(What::MAX_FILE_DECODED, limits.max_file_decoded),
                () => Ok(()),
            }
        })?;
        Ok(Tables { file: *file, input, all })
    }

    /// Returns each type with its table.
    pub fn iter(&self) -> impl Iterator<Item = (ExtentType<'f>, OneTable<'_>)> {
        let tables = |(ty, places)| (ty, OneTable { tables: self, ty, places, next: 0 });
        self.file.types().iter().zip(self.all.iter().map(Vec::as_slice)).map(tables)
    }
}

/// The rows of one type.
pub struct OneTable<'t> {
    tables: &'t Tables<'t>,
    ty: ExtentType<'t>,
    places: &'t [Place],
    next: usize,
}

impl OneTable<'_> {
    /// Returns the number of rows of all extents.
    pub fn rows(&self) -> u64 {
        self.places.iter().fold(0, |rows, place| rows.saturating_add(place.rows.into()))
    }

    pub fn extents(&self) -> usize {
        self.places.len()
    }
}

impl<'t> column::Table for OneTable<'t> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        let Some(Place { at, .. }) = self.places.get(self.next) else { return Ok(None) };
        let (order, input) = (self.tables.file.order(), self.tables.input);
        let range = FileRange { at: *at, len: EXTENT_HEADER_LEN as u64 };
        let header = order.header(input.get(range, What::DATASERIES_EXTENT)?, *at)?;
        let extent = order.extent(input.get(header.span(), What::DATASERIES_EXTENT)?, *at)?;
        let part = extent.unpack(&self.ty, &ReadOptions::DEFAULT, outer);
        // A retry with more memory reads the same extent.
        if !matches!(&part, Err(e) if e.kind() == Kind::NoRoom) {
            self.next = self.next.saturating_add(1);
        }
        part.map(Some)
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        let mut skipped = 0u64;
        while let Some(place) = self.places.get(self.next) {
            let whole = skipped.saturating_add(place.rows.into());
            if whole > rows {
                break;
            }
            (skipped, self.next) = (whole, self.next.saturating_add(1));
        }
        Ok(skipped)
    }

    fn restart(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn lists(&self, name: &str) -> bool {
        self.ty.find(name).is_some()
    }
}
