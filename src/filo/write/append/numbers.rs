//! Row-by-row writers of BinaryVectors of numbers (section 9).

use super::super::encode::{holds, wrong_type};
use super::super::out::Out;
use super::Append;
use super::store::{Shape, Store, rows_and_room, too_wide};
use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::{Word, fits};
use crate::encoding::linear::Line;
use crate::encoding::min_max::whole;
use crate::error::{Result, What};
use crate::filo::{Element, Encoding};

/// A packed or masked vector that grows.
#[derive(Debug)]
struct Packed<'b> {
    store: Store<'b>,
    packing: Packing,
}

const fn shape(masked: bool, packing: Packing) -> Shape {
    // The header word and, before the mask, the offset of the data after it.
    Shape::new(if masked { 8 } else { 4 }, masked, packing)
}

impl<'b> Packed<'b> {
    fn new(buffer: &'b mut [u8], masked: bool, packing: Packing, element: Element) -> Result<Self> {
        if !holds(Encoding::Packed(packing), element) {
            return Err(wrong_type(Encoding::Packed(packing)));
        }
        Ok(Packed { store: Store::new(buffer, shape(masked, packing))?, packing })
    }

    /// Appends `word`, which are the bits of `value`.
    #[inline]
    fn push<W: Word>(&mut self, word: W, value: i64) -> Result<()> {
        if !fits(self.packing, word) {
            return Err(too_wide(What::FILO_VALUE_WIDTH, value, self.packing));
        }
        self.store.push(word.wide(), true)
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let Packed { store, packing } = self;
        let (front, masked) = (store.front(), store.masked());
        let (rows, words, cells) = (store.rows(), store.mask_bytes(), store.cell_bytes());
        let encoding = if masked { Encoding::Masked(packing) } else { Encoding::Packed(packing) };
        let buffer = store.close(front, masked);
        let payload = front.saturating_add(words).saturating_add(cells);
        let mut out = Out::chunk(encoding.header(), payload, buffer)?;
        if masked {
            out.u32(words.saturating_add(4))?;
            out.take(words)?;
        }
        out.packed_header(packing, rows)?;
        out.take(cells)?;
        let len = out.finish()?;
        Ok((buffer, len))
    }
}

/// Defines writers over [`Packed`]. They differ in the type of a row and its conversion to a word.
macro_rules! packed_writers {
    ($($(#[$doc:meta])* $name:ident of $element:ident: $value:ty, $push:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'b>(Packed<'b>);

        impl<'b> $name<'b> {
            /// Creates a vector of numbers of the width `packing`, without missing rows.
            ///
            /// # Errors
            /// [`Kind::WrongType`](crate::error::Kind::WrongType) if the element type has no such width,
            /// [`Kind::Misuse`](crate::error::Kind::Misuse) if `buffer` holds no row.
            pub fn new(buffer: &'b mut [u8], packing: Packing) -> Result<Self> {
                match Packed::new(buffer, false, packing, Element::$element) {
                    Ok(packed) => Ok($name(packed)),
                    Err(e) => Err(e),
                }
            }

            /// Creates a vector of numbers of the width `packing` with an NA mask.
            ///
            /// # Errors
            /// Errors of [`new`](Self::new).
            pub fn masked(buffer: &'b mut [u8], packing: Packing) -> Result<Self> {
                match Packed::new(buffer, true, packing, Element::$element) {
                    Ok(packed) => Ok($name(packed)),
                    Err(e) => Err(e),
                }
            }

            /// Returns the size in bytes of a buffer for `rows` rows, with or without a mask.
            #[must_use]
            pub const fn max_len(packing: Packing, masked: bool, rows: usize) -> usize {
                shape(masked, packing).len(rows)
            }
        }

        impl<'b> Append<'b> for $name<'b> {
            type Value<'v> = $value;

            rows_and_room!(0.store);

            fn push(&mut self, value: $value) -> Result<()> {
                let push: fn(&mut Packed<'b>, $value) -> Result<()> = $push;
                push(&mut self.0, value)
            }

            fn push_na(&mut self) -> Result<()> {
                self.0.store.push(0, false)
            }

            fn close(self) -> Result<(&'b mut [u8], usize)> {
                self.0.close()
            }
        }

    )*};
}

packed_writers! {
    /// Ints of 2 to 32 bits, one by one.
    ///
    /// ```
    /// use pilaster::filo::Packing;
    /// use pilaster::filo::write::append::{Append, Ints};
    ///
    /// let mut buffer = [0; Ints::max_len(Packing::U4, true, 4)];
    /// let mut ints = Ints::masked(&mut buffer, Packing::U4)?;
    /// ints.push(7)?;
    /// ints.push_na()?;
    /// assert!(ints.push(16).is_err(), "no value of four bits");
    /// ints.push(15)?;
    /// ints.push(1)?;
    /// assert!(ints.push(1).is_err(), "full");
    /// assert_eq!(ints.finish()?, [6, 7, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0x07, 0x1f]);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    Ints of Int: i32, |packed, value| packed.push(value.cast_unsigned(), value.into());

    /// Longs of 2 to 64 bits, one by one.
    ///
    /// ```
    /// use pilaster::filo::write::append::{Append, Longs};
    /// use pilaster::filo::{Element, Packing, Value, Vector};
    ///
    /// let mut buffer = [0; Longs::max_len(Packing::W64, true, 3)];
    /// let mut ids = Longs::masked(&mut buffer, Packing::W64)?;
    /// ids.push(1 << 40)?;
    /// ids.push_na()?;
    /// assert_eq!((ids.rows(), ids.room()), (2, 1));
    /// let vector = Vector::open(ids.finish()?, Element::Long)?;
    /// assert_eq!((vector.get(0)?, vector.get(1)?), (Some(Value::Long(1 << 40)), None));
    ///
    /// let mut narrow = Longs::new(&mut buffer, Packing::U8)?;
    /// let too_wide = narrow.push(256).unwrap_err();
    /// assert_eq!((too_wide.at(), too_wide.need()), (256, 8), "the value, and the width in bits");
    /// assert_eq!(too_wide.to_string(), "filo value: 256 does not fit 8 bits, unsigned");
    /// assert_eq!(narrow.push_na().unwrap_err().to_string(), "row 0 is missing, and the filo vector has no NA mask");
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    Longs of Long: i64, |packed, value| packed.push(value.cast_unsigned(), value);

    /// Doubles, one by one: in 64 bits, or as the ints that they are equal to in 2 to 32 bits.
    ///
    /// ```
    /// use pilaster::filo::write::append::{Append, Doubles};
    /// use pilaster::filo::{Element, Packing, Value, Vector};
    ///
    /// let mut buffer = [0; Doubles::max_len(Packing::W64, false, 2)];
    /// let mut prices = Doubles::new(&mut buffer, Packing::W64)?;
    /// prices.push(19.99)?;
    /// prices.push(f64::NAN)?;
    /// assert_eq!(prices.finish()?.len(), 24);
    ///
    /// let mut buffer = [0; Doubles::max_len(Packing::I8, true, 3)];
    /// let mut counts = Doubles::masked(&mut buffer, Packing::I8)?;
    /// counts.push(-3.0)?;
    /// counts.push_na()?;
    /// assert!(counts.push(0.5).is_err(), "not a whole number");
    /// let vector = Vector::open(counts.finish()?, Element::Double)?;
    /// assert_eq!((vector.get(0)?, vector.get(1)?), (Some(Value::Double(-3.0)), None));
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    Doubles of Double: f64, |packed, value| match packed.packing {
        Packing::W64 => packed.push(value.to_bits(), 0),
        _ => match whole(value) {
            Some(int) => packed.push(int.cast_unsigned(), int.into()),
            None => Err(too_wide(What::FILO_WHOLE, value.to_bits().cast_signed(), packed.packing)),
        },
    };
}

/// Longs close to a line that is given at the start, one by one: ticks of a clock, for instance. No row can be missing
/// (section 9.4).
///
/// ```
/// use pilaster::filo::Packing;
/// use pilaster::filo::write::Line;
/// use pilaster::filo::write::append::{Append, Lines};
///
/// let mut buffer = [0; Lines::max_len(Packing::U4, 4)];
/// let mut ticks = Lines::new(&mut buffer, Line { base: 77, slope: 100 }, Packing::U4)?;
/// for tick in [77, 186, 290] {
///     ticks.push(tick)?;
/// }
/// let early = ticks.push(376).unwrap_err();
/// assert_eq!(early.to_string(), "filo difference to line or base: -1 does not fit 4 bits, unsigned");
/// assert_eq!(ticks.finish()?.len(), 4 + 12 + 4 + 2);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<'b> {
    store: Store<'b>,
    packing: Packing,
    line: Line,
    /// The value of the line in the next row.
    next: u64,
}

impl<'b> Lines<'b> {
    /// Number of bytes before the packed vector: header word, base, slope.
    const FRONT: u8 = 16;

    /// Creates a vector of longs whose differences to `line` have the width `packing`.
    ///
    /// # Errors
    /// [`Kind::WrongType`](crate::error::Kind::WrongType) if the format has no such width,
    /// [`Kind::Misuse`](crate::error::Kind::Misuse) if `buffer` holds no row.
    pub fn new(buffer: &'b mut [u8], line: Line, packing: Packing) -> Result<Self> {
        if !holds(Encoding::DeltaDelta(packing), Element::Long) {
            return Err(wrong_type(Encoding::DeltaDelta(packing)));
        }
        let store = Store::new(buffer, Shape::new(Self::FRONT, false, packing))?;
        Ok(Lines { store, packing, line, next: line.at(0) })
    }

    /// Returns the size in bytes of a buffer for `rows` rows.
    #[must_use]
    pub const fn max_len(packing: Packing, rows: usize) -> usize {
        Shape::new(Self::FRONT, false, packing).len(rows)
    }
}

impl<'b> Append<'b> for Lines<'b> {
    type Value<'v> = i64;

    rows_and_room!(store);

    fn push(&mut self, value: i64) -> Result<()> {
        let distance = value.cast_unsigned().wrapping_sub(self.next);
        if !fits(self.packing, distance) {
            return Err(too_wide(What::FILO_DIFFERENCE, distance.cast_signed(), self.packing));
        }
        self.store.push(distance, true)?;
        self.next = self.next.wrapping_add(i64::from(self.line.slope).cast_unsigned());
        Ok(())
    }

    fn push_na(&mut self) -> Result<()> {
        self.store.push(0, false)
    }

    fn close(self) -> Result<(&'b mut [u8], usize)> {
        let Lines { store, packing, line, .. } = self;
        let rows = store.rows();
        let cells = store.cell_bytes();
        let buffer = store.close(Self::FRONT.into(), false);
        let mut out = Out::chunk(Encoding::DeltaDelta(packing).header(), cells.saturating_add(16), buffer)?;
        out.put(line.base.to_le_bytes())?;
        out.put(line.slope.to_le_bytes())?;
        out.packed_header(packing, rows)?;
        out.take(cells)?;
        let len = out.finish()?;
        Ok((buffer, len))
    }
}
