//! The rows of one type of a file, extent by extent.

use super::{Extent, Extents, Part};
use crate::bytes::{Endian, Input, Scratch};
use crate::column::{self, Bookmark};
use crate::dataseries::types::ExtentType;
use crate::error::{Kind, Result};

/// The rows of all extents of one type, one extent at a time.
#[derive(Clone, Debug)]
pub struct Table<'a, E> {
    extents: Extents<'a, E>,
    ty: ExtentType<'a>,
    /// Whether an extent of the type has been passed, or the part without rows of a table that has none.
    told: bool,
    /// Whether extents are not unpacked, as no column was chosen.
    bare: bool,
}

impl<'a, E: Endian> Table<'a, E> {
    /// Creates the table of the extents of type `ty`.
    pub(super) const fn new(extents: Extents<'a, E>, ty: ExtentType<'a>) -> Self {
        Table { extents, ty, told: false, bare: false }
    }

    /// Returns the table, at the same part, with its rows read through another input of the same file.
    #[must_use]
    pub(crate) fn with_input<'w>(&self, input: Input<'w>) -> Table<'w, E>
    where
        'a: 'w,
    {
        Table { extents: self.extents.with_input(input), ty: self.ty, told: self.told, bare: self.bare }
    }

    /// Returns the next extent of the type.
    fn next_extent(&mut self) -> Result<Option<Extent<'a, E>>> {
        let file = self.extents.file;
        let other = |extent: &Extent<'a, E>| extent.type_name() != self.ty.name().as_bytes();
        loop {
            match self.extents.next().transpose()? {
                // Extents of other types are skipped, but their types must be known.
                Some(extent) if other(&extent) => file.type_of(&extent)?,
                mine => return Ok(mine),
            };
        }
    }
}

impl<'a, E: Endian> column::Table for Table<'a, E> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        let before = self.extents.clone();
        let next = self.next_extent();
        let told = core::mem::replace(&mut self.told, true);
        let Some(extent) = next? else { return Ok(if told { None } else { Some(Part::bare(self.ty, 0)) }) };
        let options = &self.extents.file.options;
        let part = match self.bare {
            // The number of rows is compared with the stored size, as few bytes can claim any number.
            true => extent.need(&self.ty, options).map(|_| Part::bare(self.ty, extent.header().rows)),
            false => extent.unpack(&self.ty, options, outer),
        };
        match part {
            // Rewinds, so that a retry with more memory reads the same extent.
            Err(e) if e.kind() == Kind::NoRoom => {
                (self.extents, self.told) = (before, told);
                Err(e)
            }
            part => part.map(Some),
        }
    }

    /// Reads only the headers of the extents.
    fn skip(&mut self, rows: u64) -> Result<u64> {
        let mut passed = 0u64;
        let mut window = self.extents.file.input.window();
        loop {
            if window.is_full() {
                window = self.extents.file.input.window();
            }
            let mut ahead = self.with_input(window.input());
            let whole = ahead.next_extent().map(|extent| {
                extent.map(|extent| passed.saturating_add(extent.header().rows.into())).filter(|whole| *whole <= rows)
            });
            if let Ok(None) = whole {
                return Ok(passed);
            }
            self.extents.follow(&ahead.extents);
            self.told = true;
            passed = whole?.unwrap_or(passed);
        }
    }

    fn bookmark(&self) -> Bookmark {
        match self.told {
            true => Bookmark::new(self.extents.at, self.extents.row),
            false => Bookmark::START,
        }
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.extents = self.extents.file.extents();
        self.told = to != Bookmark::START;
        if self.told {
            (self.extents.at, self.extents.row) = to.numbers();
        }
        Ok(())
    }

    /// Leaves out no column, but unpacks nothing if none is chosen; then no checksum is compared.
    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        self.bare = columns.is_some_and(<[usize]>::is_empty);
        self.bare
    }

    /// Looks up the name in the type, so that it is found even if there are no extents.
    fn lists(&self, name: &str) -> bool {
        self.ty.find(name).is_some()
    }
}
