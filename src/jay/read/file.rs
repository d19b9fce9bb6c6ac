//! A file: its metadata, and where its bytes are.

use super::{Column, HEAD_SPAN, Meta, ReadOptions, Tail};
use crate::bytes::{Input, Scratch};
use crate::column;
use crate::error::{Kind, Result, What};

/// An open file. All its rows are one part; [`Once`](column::Once) makes a table of it.
///
/// ```
/// use pilaster::bytes::{FileRange, Scratch};
/// use pilaster::column::{Part, Value};
/// use pilaster::error::What;
/// use pilaster::jay::{File, ReadOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut bytes = std::fs::read("examples/data/keyed_1.jay")?;
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!((file.rows(), file.meta().keys()), (50, 1));
/// assert_eq!(file.tail().meta, FileRange { at: 1072, len: 384 });
/// let mut memory = vec![0; file.verify_need() as usize];
/// file.verify(&mut Scratch::new(&mut memory))?;
///
/// // Damages the first character of column 1, a string column.
/// bytes[416] = 0xff;
/// let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
/// let file = File::open(&bytes, &options, &mut Scratch::new(&mut []))?;
/// let mut problems = Vec::new();
/// file.problems(&mut Scratch::new(&mut memory), &mut |k, error| problems.push((k, error.what())));
/// assert_eq!(problems, [(Some(1), What::JAY_TEXT)]);
/// assert_eq!(file.column(1)?.get(1)?, Value::Text(b"ab"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    input: Input<'a>,
    tail: Tail,
    meta: Meta<'a>,
}

impl<'a> File<'a> {
    /// Opens `bytes`. Reads only the metadata. Releases all of `scratch` before it returns; files of up to 32 columns
    /// whose buffers are in order, as writers write them, need no scratch memory.
    ///
    /// # Errors
    /// Errors of invalid signatures and metadata; [`Kind::NoRoom`](crate::error::Kind::NoRoom) if `scratch` is too small.
    pub fn open(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Self> {
        File::open_input(Input::whole(bytes), options, scratch)
    }

    /// Opens a file as [`open`](Self::open) does. Of an input that fetches ranges, only the metadata is fetched here, and
    /// later, the touched rows of each column.
    ///
    /// ```
    /// use pilaster::bytes::{Ranges, Scratch};
    /// use pilaster::column::{Column, Part, Values};
    /// use pilaster::jay::{File, ReadOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ranges = Ranges::open("examples/data/keyed_1.jay")?;
    /// let file = File::open_input(ranges.input(), &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
    ///
    /// let mut memory = [0; 64];
    /// let batch = file.column(0)?.read(0..2, &mut Scratch::new(&mut memory))?;
    /// assert!(matches!(batch.values, Values::I32([-996, _])));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of [`open`](Self::open); [`Kind::Missing`](crate::error::Kind::Missing) if the metadata is not present.
    pub fn open_input(input: Input<'a>, options: &ReadOptions, scratch: &mut Scratch<'_>) -> Result<Self> {
        let len = input.len();
        let end = input.get(Tail::span(len)?, What::JAY_TAIL)?;
        let (tail, wrong) = Tail::of_ends(input.get(HEAD_SPAN, What::JAY_HEAD)?, end, len, options)?;
        let meta = Meta::open(input.get(tail.meta, What::JAY_META)?, &tail, options, scratch);
        let meta = meta.map_err(|e| match wrong {
            // If the metadata is not at the end, the signature is wrong because the end is lost.
            Some(wrong) if !matches!(e.kind(), Kind::NoRoom | Kind::Missing | Kind::Limit) => wrong,
            _ => e,
        })?;
        Ok(File { input, tail, meta })
    }

    /// Returns the file with its rows read through `input`, another input of the same bytes. The metadata stay where
    /// they are.
    #[must_use]
    pub(crate) fn with_input<'w>(&self, input: Input<'w>) -> File<'w>
    where
        'a: 'w,
    {
        File { input, ..*self }
    }

    /// Returns the metadata.
    #[must_use]
    pub const fn meta(&self) -> &Meta<'a> {
        &self.meta
    }

    /// Returns the positions of metadata and data.
    #[must_use]
    pub const fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Returns the bytes of the file.
    pub(crate) const fn input(&self) -> &Input<'a> {
        &self.input
    }
}

impl<'a> column::Part for File<'a> {
    type Col = Column<'a>;

    fn rows(&self) -> u64 {
        self.meta.rows()
    }

    fn width(&self) -> usize {
        self.meta.width()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.meta.name(k)
    }

    fn column(&self, k: usize) -> Result<Column<'a>> {
        Column::new(self.meta.field(k)?, self.input)
    }
}
