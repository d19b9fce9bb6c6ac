//! The tables of a DataSeries file, found in one walk over its extents. A walk per table would take types times extents.

use pilaster::bytes::{Fetch as _, FileRange, Ranges, Scratch};
use pilaster::column::Part as _;
use pilaster::dataseries::{AnyFile, EXTENT_HEADER_LEN, ExtentType, ReadOptions};
use pilaster::error::{Kind, What};
use pilaster::{Error, Result};

use crate::columns::Columns;
use crate::failure::Failure;
use crate::feed::{Each, WINDOW};
use crate::open::Input;
use crate::parts::Parts;

/// Where the extents of each type are.
pub struct Tables<'f> {
    file: AnyFile<'f>,
    source: &'f Input<'f>,
    /// In the order of the types.
    all: Vec<Vec<Place>>,
}

/// An extent.
struct Place {
    at: u64,
    rows: u32,
}

impl<'f> Tables<'f> {
    /// Reads the headers of all extents of `file`, whose bytes are `source`.
    ///
    /// # Errors
    /// [`Kind::Limit`] if the whole file takes more than its limits.
    pub fn of(file: &AnyFile<'f>, source: &'f Input<'f>) -> Result<Self> {
        let limits = source.limits();
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
        Ok(Tables { file: *file, source, all })
    }

    /// Returns each type with its table.
    pub fn iter(&self) -> impl Iterator<Item = (ExtentType<'f>, OneTable<'_>)> {
        let tables = |(ty, places): (ExtentType<'f>, _)| {
            let columns = Columns::numbered(ty.fields().map(|field| field.name.to_owned()));
            (ty, OneTable { tables: self, ty, places, columns })
        };
        self.file.types().iter().zip(self.all.iter().map(Vec::as_slice)).map(tables)
    }
}

/// The rows of one type.
pub struct OneTable<'t> {
    tables: &'t Tables<'t>,
    ty: ExtentType<'t>,
    places: &'t [Place],
    columns: Columns,
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

impl Parts for OneTable<'_> {
    fn each(&self, scratch: &mut Scratch<'_>, each: &mut Each<'_, Failure>) -> std::result::Result<(), Failure> {
        let (order, source) = (self.tables.file.order(), self.tables.source);
        let mut window = source.window();
        for Place { at, .. } in self.places {
            if window.as_ref().is_some_and(|window| window.held() >= WINDOW) {
                window = source.window();
            }
            let input = window.as_ref().map_or(source.input(), Ranges::input);
            let range = FileRange { at: *at, len: EXTENT_HEADER_LEN as u64 };
            let header = order.header(input.get(range, What::DATASERIES_EXTENT)?, *at)?;
            let extent = order.extent(input.get(header.span(), What::DATASERIES_EXTENT)?, *at)?;
            let mut scope = scratch.scope();
            let part = extent.unpack(&self.ty, &ReadOptions::DEFAULT, &mut scope)?;
            let part = self.columns.of(part.into());
            each(&part, 0..part.rows(), &|| false, &mut scope)?;
        }
        Ok(())
    }
}
