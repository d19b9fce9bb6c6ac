//! Where a reader is in a column.

/// Where a row of a column is stored, for reads that follow ([`Column::place`](super::Column::place)).
///
/// ```
/// # #[cfg(feature = "vortex")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Part};
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/lay_chunked_zones_a.vortex"));
/// let file = File::open(bytes)?;
/// let mut column = file.part()?.named("b")?;
/// let (mut row, mut memory) = (0, [0; 4096]);
/// while row < column.rows() {
///     row += column.read(row..column.rows(), &mut Scratch::new(&mut memory))?.len as u64;
///     // The next read does not search the chunks before.
///     column = column.at_place(column.place(row)?);
/// }
/// assert_eq!(row, 250);
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address of the metadata, and the offset of the node in them: a place of another column is not used. Address 0: no place.
    #[cfg(all(feature = "vortex", feature = "std"))]
    pub(crate) of: (usize, u64),
    /// The number of a chunk, and of its first row.
    #[cfg(all(feature = "vortex", feature = "std"))]
    pub(crate) chunk: (usize, u64),
}

impl Place {
    /// No place: searches begin at the first row.
    #[cfg(all(feature = "vortex", feature = "std"))]
    pub(crate) const NONE: Place = Place { of: (0, 0), chunk: (0, 0) };
}
