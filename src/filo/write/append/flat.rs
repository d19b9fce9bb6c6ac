//! Row-by-row writers of FlatBuffer kinds of numbers (sections 8.1, 8.3, 8.4).
//!
//! The mask block is between the table and the data, because only the data can grow at the end of a buffer. A vector
//! without missing rows is finished without mask words.

use super::super::encode::{holds, wrong_type};
use super::super::mask::FlatMask;
use super::super::out::Out;
use super::Append;
use super::store::{Shape, Store, rows_and_room, too_wide};
use crate::bytes::low8;
use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::fits;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Header, QUARTER_MS};
use crate::filo::{Element, Encoding};

/// The layout of the mask block with words.
const WITH_WORDS: FlatMask = FlatMask { rows: 0, nulls: true };

/// Returns the layout of a chunk with cells of `packing` and a table that ends at `table_end`.
const fn shape(table_end: usize, packing: Packing) -> Shape {
    // The header word, and the length in bytes before the data.
    Shape::new(low8(WITH_WORDS.words(table_end).saturating_add(4)), true, packing)
}

/// Booleans are bits in words of 64.
const BITS: Shape = Shape { bits: 1, ..shape(SIMPLE_END, Packing::W64) };

const SIMPLE_END: usize = 36;
const DIFF_END: usize = 48;
const DATE_TIME_END: usize = 64;

// A `Shape` has one byte for the position of the mask words, which is largest for this table.
const _: () = assert!(WITH_WORDS.words(DATE_TIME_END) + 4 < 256);

/// The targets of the offsets in a table, and the number of rows.
struct Targets {
    rows: usize,
    mask: usize,
    data: usize,
}

/// Ends the vector. `table` writes everything from the root offset to `table_end`.
fn finish<'b>(
    store: Store<'b>,
    header: Header,
    table_end: usize,
    table: &dyn Fn(&mut Out<'_>, Targets) -> Result<()>,
) -> Result<(&'b mut [u8], usize)> {
    let (rows, cells) = (store.rows(), store.cell_bytes());
    let mask = FlatMask { rows, nulls: store.nulls() };
    let data = mask.end(table_end);
    let buffer = store.close(mask.words(table_end).saturating_add(4), mask.nulls);
    let mut out = Out::chunk(header, data.saturating_add(4).saturating_add(cells), buffer)?;
    table(&mut out, Targets { rows, mask: mask.table(table_end), data })?;
    mask.put_tables(&mut out)?;
    out.take(mask.words_len())?;
    out.u32(cells)?;
    out.take(cells)?;
    let len = out.finish()?;
    Ok((buffer, len))
}

fn finish_simple(store: Store<'_>, packing: Packing) -> Result<(&mut [u8], usize)> {
    finish(store, Header::SimplePrimitive, SIMPLE_END, &|out, targets| {
        out.root(16, [12, 20, 12, 16, 4, 8])?;
        out.info(packing)?;
        out.offset_to(targets.data)?;
        out.u32(targets.rows)?;
        out.offset_to(targets.mask)
    })
}

/// Defines writers over a [`Store`]. They differ in the type of a row, its cell, and the packing that is written.
macro_rules! simple_writers {
    ($($(#[$doc:meta])* $name:ident of $value:ty: $cell:expr, $shape:expr, $packing:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'b>(Store<'b>);

        impl<'b> $name<'b> {
            /// Creates an empty vector in `buffer`.
            ///
            /// # Errors
            /// [`Kind::Misuse`] if `buffer` holds no row.
            pub const fn new(buffer: &'b mut [u8]) -> Result<Self> {
                match Store::new(buffer, $shape) {
                    Ok(store) => Ok($name(store)),
                    Err(e) => Err(e),
                }
            }

            /// Returns the size in bytes of a buffer for `rows` rows.
            #[must_use]
            pub const fn max_len(rows: usize) -> usize {
                $shape.len(rows)
            }
        }

        impl<'b> Append<'b> for $name<'b> {
            type Value<'v> = $value;

            rows_and_room!(0);

            fn push(&mut self, value: $value) -> Result<()> {
                let cell: fn($value) -> u64 = $cell;
                self.0.push(cell(value), true)
            }

            fn push_na(&mut self) -> Result<()> {
                self.0.push(0, false)
            }

            fn close(self) -> Result<(&'b mut [u8], usize)> {
                finish_simple(self.0, Packing::$packing)
            }
        }
    )*};
}

simple_writers! {
    /// Floats, one by one, as a [`Simple`](Encoding::Simple) vector.
    Floats of f32: |value| value.to_bits().into(), shape(SIMPLE_END, Packing::U32), U32;
    /// Booleans, one by one, as a [`Simple`](Encoding::Simple) vector. The capacity is a multiple of 64 rows.
    ///
    /// ```
    /// use pilaster::filo::write::append::{Append, Booleans};
    ///
    /// let mut buffer = [0; Booleans::max_len(64)];
    /// let mut switches = Booleans::new(&mut buffer)?;
    /// while switches.room() > 0 {
    ///     switches.push(switches.rows() % 3 == 0)?;
    /// }
    /// assert_eq!(switches.rows(), 64);
    /// assert_eq!(switches.finish()?.len(), 68, "without missing rows, no mask is stored");
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    Booleans of bool: u64::from, BITS, W64;
}

/// Differences to a base that is given at the start.
#[derive(Debug)]
struct Diffs<'b> {
    store: Store<'b>,
    packing: Packing,
    base: i64,
}

impl<'b> Diffs<'b> {
    fn push(&mut self, value: i64) -> Result<()> {
        let difference = value.wrapping_sub(self.base).cast_unsigned();
        if !fits(self.packing, difference) {
            return Err(too_wide(What::FILO_DIFFERENCE, difference.cast_signed(), self.packing));
        }
        self.store.push(difference, true)
    }

    /// Stores the cell of a missing row: that cell is equal to the cell of the value 0 (section 8.3).
    fn push_na(&mut self) -> Result<()> {
        self.store.push(self.base.wrapping_neg().cast_unsigned(), false)
    }
}

/// Timestamps, one by one, as a [`Diff`](Encoding::Diff) vector.
///
/// ```
/// use pilaster::filo::Packing;
/// use pilaster::filo::write::append::{Append, Timestamps};
///
/// let mut buffer = [0; Timestamps::max_len(Packing::U16, 100)];
/// // At most a minute after the base.
/// let mut times = Timestamps::new(&mut buffer, 1_480_000_000_000, Packing::U16)?;
/// times.push(1_480_000_000_000)?;
/// times.push(1_480_000_060_000)?;
/// assert!(times.push(1_480_000_070_000).is_err());
/// assert_eq!(times.finish()?.len(), 76);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Timestamps<'b>(Diffs<'b>);

impl<'b> Timestamps<'b> {
    /// Creates a vector of timestamps whose differences to `base`, in milliseconds, have the width `packing`.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format has no such width, [`Kind::Misuse`] if `buffer` holds no row.
    pub fn new(buffer: &'b mut [u8], base: i64, packing: Packing) -> Result<Self> {
        if !holds(Encoding::Diff(packing), Element::Timestamp) {
            return Err(wrong_type(Encoding::Diff(packing)));
        }
        Ok(Timestamps(Diffs { store: Store::new(buffer, shape(DIFF_END, packing))?, packing, base }))
    }

    /// Returns the size in bytes of a buffer for `rows` rows.
    #[must_use]
    pub const fn max_len(packing: Packing, rows: usize) -> usize {
        shape(DIFF_END, packing).len(rows)
    }
}

impl<'b> Append<'b> for Timestamps<'b> {
    type Value<'v> = i64;

    rows_and_room!(0.store);

    fn push(&mut self, millis: i64) -> Result<()> {
        self.0.push(millis)
    }

    fn push_na(&mut self) -> Result<()> {
        self.0.push_na()
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let Diffs { store, packing, base } = self.0;
        finish(store, Header::DiffPrimitive, DIFF_END, &|out, targets| {
            out.root(20, [14, 28, 20, 24, 4, 12, 16])?;
            out.put(base.to_le_bytes())?;
            out.info(packing)?;
            out.offset_to(targets.data)?;
            out.u32(targets.rows)?;
            out.offset_to(targets.mask)
        })
    }
}

/// Instants with one UTC offset, one by one, as a [`DiffDateTime`](Encoding::DiffDateTime) vector.
///
/// ```
/// use pilaster::filo::write::append::{Append, DateTimes};
/// use pilaster::filo::{Element, Packing, Value, Vector};
///
/// let (noon, one_hour) = (1_480_000_000_000, 3_600_000);
/// let mut buffer = [0; DateTimes::max_len(Packing::I32, 2)];
/// let mut events = DateTimes::new(&mut buffer, noon, one_hour, Packing::I32)?;
/// events.push(noon + 250)?;
/// events.push(noon - 250)?;
/// let vector = Vector::open(events.finish()?, Element::DateTime)?;
/// assert_eq!(vector.get(1)?, Some(Value::DateTime { millis: noon - 250, offset_ms: one_hour }));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct DateTimes<'b> {
    diffs: Diffs<'b>,
    quarters: i8,
}

impl<'b> DateTimes<'b> {
    /// Creates a vector of instants whose differences to `base`, in milliseconds, have the width `packing`. `offset_ms`
    /// is the offset from UTC of all rows.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format has no such width, [`Kind::Lossy`] if the offset is not a multiple of a quarter
    /// of an hour, or if the number of quarters does not fit a signed byte; [`Kind::Misuse`] if `buffer` holds no row.
    #[allow(clippy::cast_possible_truncation, reason = "checked on the same line")]
    pub fn new(buffer: &'b mut [u8], base: i64, offset_ms: i32, packing: Packing) -> Result<Self> {
        let encoding = Encoding::DiffDateTime { millis: packing, zones: None };
        if !holds(encoding, Element::DateTime) {
            return Err(wrong_type(encoding));
        }
        let quarters = offset_ms / QUARTER_MS;
        if offset_ms % QUARTER_MS != 0 || quarters != quarters as i8 as i32 {
            return Err(Error::new(Kind::Lossy, What::FILO_ZONE, 0));
        }
        let store = Store::new(buffer, shape(DATE_TIME_END, packing))?;
        Ok(DateTimes { diffs: Diffs { store, packing, base }, quarters: quarters as i8 })
    }

    /// Returns the size in bytes of a buffer for `rows` rows.
    #[must_use]
    pub const fn max_len(packing: Packing, rows: usize) -> usize {
        shape(DATE_TIME_END, packing).len(rows)
    }
}

impl<'b> Append<'b> for DateTimes<'b> {
    type Value<'v> = i64;

    rows_and_room!(diffs.store);

    fn push(&mut self, millis: i64) -> Result<()> {
        self.diffs.push(millis)
    }

    fn push_na(&mut self) -> Result<()> {
        self.diffs.push_na()
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let Diffs { store, packing, base } = self.diffs;
        let [zone] = self.quarters.to_le_bytes();
        finish(store, Header::DiffDateTime, DATE_TIME_END, &|out, targets| {
            out.root(20, [16, 44, 40, 20, 16, 12, 0, 0])?;
            out.put([0; 8])?;
            out.offset_to(targets.data)?;
            out.info(packing)?;
            out.u32(targets.rows)?;
            out.put([zone, 0, 0, 0])?;
            out.put(base.to_le_bytes())?;
            out.put([0; 4])?;
            out.offset_to(targets.mask)
        })
    }
}
