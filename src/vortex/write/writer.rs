//! A file from columns, by batches of rows.

use alloc::string::String;
use alloc::vec::Vec;

use super::WriteOptions;
use super::column::Column as Writing;
use super::dtype::{Logical, Shape};
use super::file::Layout;
use super::gather::{Gather, each_batch};
use super::lanes::Lanes;
use super::rows::Rows;
use crate::bytes::{Sink, WriteError};
use crate::column::{Batch, Column, Part};
use crate::error::{Error, Kind, What};
use crate::generated::vortex as flat;
use crate::limits::{Depth, Fuel};
use crate::meta::flat::write::{self, Field, Place};
use crate::vortex::raw::LayoutId;

type Done<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

/// Writes a file from columns in memory, or from the columns of any [`Part`], batch by batch.
///
/// The sink gets each chunk as soon as it is complete, and the metadata at the end; the writer never seeks. It keeps one
/// chunk of each column in memory ([`WriteOptions::chunk_size`]), and a few bytes for each chunk and zone.
///
/// ```
/// use pilaster::bytes::Bits;
/// use pilaster::column::{Borrowed, Prim, Spans, Type, Validity, Values, VarBytes};
/// use pilaster::vortex::File;
/// use pilaster::vortex::write::{WriteOptions, Writer};
///
/// /// A batch of rows: times, and the names of cities, which may be missing.
/// fn rows<'d>(times: &'d [i64], names: VarBytes<'d>, valid: Validity<'d>) -> [(&'static str, Borrowed<'d>); 2] {
///     let times = Borrowed::new(Type::Prim(Prim::I64), Values::I64(times));
///     [("time", times), ("city", Borrowed::new(Type::Utf8, Values::Utf8(names)).with_validity(valid))]
/// }
///
/// # fn main() -> Result<(), pilaster::bytes::WriteError<core::convert::Infallible>> {
/// let none = VarBytes { data: b"", spans: Spans::Off32(&[0]) };
/// let mut file = Writer::new(Vec::new(), &rows(&[], none, Validity::All)[..], &WriteOptions::DEFAULT)?;
/// let names = VarBytes { data: b"RomeBern", spans: Spans::Off32(&[0, 4, 8]) };
/// file.push(&rows(&[1, 2], names, Validity::All)[..])?;
/// let names = VarBytes { data: b"Oslo", spans: Spans::Off32(&[0, 4, 4]) };
/// file.push(&rows(&[3, 4], names, Validity::Bits(Bits::new(&[0b01], 0, 2)?))[..])?;
/// assert_eq!(file.rows(), 4);
/// let bytes = file.finish()?;
///
/// let file = File::open(&bytes)?;
/// let mut table = file.table()?;
/// # use pilaster::column::Table;
/// assert_eq!(table.to_vec::<i64>("time")?, [1, 2, 3, 4]);
/// assert_eq!(table.to_vec::<Option<String>>("city")?[1..], [Some("Bern".into()), Some("Oslo".into()), None]);
/// # Ok(())
/// # }
/// # main().unwrap();
/// ```
///
/// Decimals are integers of the width that their digits need, and lists are ranges of the rows of a child:
///
/// ```
/// # #[cfg(feature = "std")] {
/// use std::fs::File;
/// use std::io::BufWriter;
///
/// use pilaster::bytes::{Bits, IoSink};
/// use pilaster::column::{Borrowed, Prim, Ranges, Type, Unit, Validity, Values};
/// use pilaster::vortex::write::{WriteOptions, Writer};
///
/// // Two rows: a list of readings, a struct that is missing in the second row, a price, and a time with a zone.
/// let readings = [("item", Borrowed::new(Type::Prim(Prim::F64), Values::F64(&[20.5, 21.0, 19.5])))];
/// let lists = Borrowed::new(Type::List, Values::Nested(Ranges::Off32(&[0, 2, 3]))).with_children(&readings);
/// let fields = [("x", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1, 0])))];
/// let rows = Ranges::Stride { first: 0, size: 1, count: 2 };
/// let point = Borrowed::new(Type::Struct(1), Values::Nested(rows)).with_children(&fields);
/// let point = point.with_validity(Validity::Bits(Bits::new(&[0b01], 0, 2)?));
/// let price = Borrowed::new(Type::Decimal { precision: 18, scale: 4 }, Values::I64(&[12_5000, 99]));
/// let time = Borrowed::new(Type::Timestamp(Unit::Milli), Values::I64(&[0, 1000])).with_zone("Europe/Rome");
/// let batch = [("readings", lists), ("point", point), ("price", price), ("time", time)];
///
/// # let path = std::env::temp_dir().join(format!("pilaster-{}.vortex", std::process::id()));
/// let sink = IoSink(BufWriter::new(File::create(&path)?));
/// let mut file = Writer::new(sink, &batch[..], &WriteOptions::DEFAULT)?;
/// file.push(&batch[..])?;
/// // The buffer may still hold the end of the file.
/// file.finish()?.0.into_inner()?.sync_all()?;
///
/// let bytes = std::fs::read(&path)?;
/// # std::fs::remove_file(&path)?;
/// let dtype = pilaster::vortex::File::open(&bytes)?.dtype().to_string();
/// assert!(dtype.starts_with("{readings=list(f64), point={x=i32}?, price=decimal(18,4), "));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The name of a time zone is stored as it is. The original opens a column to Arrow only if the name is in the IANA database,
/// or an offset like `+02:00`.
#[derive(Debug)]
pub struct Writer<S> {
    file: Lanes<S>,
    options: WriteOptions,
    /// Nodes of types that the columns may still have.
    fuel: Fuel,
    gather: Gather,
    columns: Vec<Open>,
    /// Number of rows that all columns have.
    rows: u64,
    /// Whether a call failed, after which rows may be lost.
    broken: bool,
}

/// A column that is being written.
#[derive(Debug)]
struct Open {
    name: String,
    ty: Logical,
    rows: u64,
    column: Writing,
}

impl<S: Sink> Writer<S> {
    /// Starts a file with the columns of `schema`: their names and types. Its rows are not written.
    ///
    /// # Errors
    /// Errors of [`WriteOptions::check`]; [`Kind::WrongType`] if the format has no type for a column, see
    /// [`holds`](super::holds); [`Kind::Unsupported`] for variants in a file of [`Profile::Wide`](super::Profile::Wide),
    /// whose releases refuse such a file as a whole; [`Kind::Limit`] if the types exceed [`WriteOptions::limits`]; errors of `schema`; errors of
    /// the sink.
    pub fn new<P: Part>(sink: S, schema: P, options: &WriteOptions) -> Result<Self, WriteError<S::Error>> {
        let mut file = Writer::start(sink, options)?;
        for k in 0..schema.width() {
            file.add(schema.name(k)?, &schema.column(k)?)?;
        }
        Ok(file)
    }

    /// Starts a file without columns.
    pub(super) fn start(sink: S, options: &WriteOptions) -> Done<Self, S> {
        options.check()?;
        let (file, fuel) = (Lanes::new(sink, options)?, Fuel::new(&options.limits));
        let (gather, columns) = (Gather::default(), Vec::new());
        Ok(Writer { file, options: *options, fuel, gather, columns, rows: 0, broken: false })
    }

    /// Returns the number of columns.
    pub(super) const fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of rows that were pushed.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of rows of column `k` so far.
    pub(super) fn rows_of(&self, k: usize) -> Option<u64> {
        self.columns.get(k).map(|open| open.rows)
    }

    /// Adds a column of the type of `column`.
    pub(super) fn add<C: Column>(&mut self, name: &str, column: &C) -> Done<(), S> {
        let ty = Logical::of(column, Depth::new(&self.options.limits), &mut self.fuel)?;
        #[cfg(feature = "vortex-variant")]
        if ty.has_variants() && !self.options.profile.edition().variants {
            return Err(Error::new(Kind::Unsupported, What::VORTEX_VARIANT, 0).into());
        }
        let facts = (self.options.zones(), self.options.statistics);
        let column = Writing::new(&ty, facts, &self.options, &mut self.file);
        self.columns.push(Open { name: name.into(), ty, rows: 0, column });
        Ok(())
    }

    /// Appends all rows of `part`, which has the columns of the schema, in the same order.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if a column has another type than in the schema; [`Kind::Misuse`] in `What::VORTEX_WIDTH` for
    /// another number of columns, in `What::VORTEX_COLUMN_NAME` with the number of a column that has another name (`need`:
    /// the number of the column of the schema that has this name, plus one, or 0), in
    /// `What::VORTEX_COLUMN_ROWS` with the number of a column that has another number of rows, and in
    /// `What::VORTEX_FAILED` if an earlier call failed; [`Kind::Lossy`] with the row if
    /// one is missing where the schema says that none is, or has a decimal of more digits than its type;
    /// [`Kind::Limit`] if a row takes more than `max_decoded` bytes of
    /// [`WriteOptions::limits`]; [`Kind::Overflow`] if a segment has 4 GiB or more; errors of `part`; errors of the sink.
    /// After an error the file cannot be finished: some columns may have rows that others lack.
    pub fn push<P: Part>(&mut self, part: P) -> Result<(), WriteError<S::Error>> {
        self.call(|file| file.push_all(&part))
    }

    /// Calls `of`, unless an earlier call failed.
    pub(super) fn call<T>(&mut self, of: impl FnOnce(&mut Self) -> Done<T, S>) -> Done<T, S> {
        if self.broken {
            return Err(Error::new(Kind::Misuse, What::VORTEX_FAILED, 0).into());
        }
        // Also if `of` panics: a block that a thread had is lost then, and would be waited for without end.
        self.broken = true;
        let done = of(self);
        self.broken = done.is_err();
        done
    }

    fn push_all<P: Part>(&mut self, part: &P) -> Done<(), S> {
        let misuse = |what, at: usize, need| Err(Error::needing(Kind::Misuse, what, at as u64, need).into());
        if part.width() != self.columns.len() {
            return misuse(What::VORTEX_WIDTH, part.width(), self.columns.len() as u64);
        }
        let mut memory = self.gather.memory()?;
        for k in 0..part.width() {
            let (name, column) = (part.name(k)?, part.column(k)?);
            self.check_name(k, name)?;
            if column.rows() != part.rows() {
                return misuse(What::VORTEX_COLUMN_ROWS, k, column.rows());
            }
            each_batch(&column, 0..part.rows(), &mut memory, &mut |batch| self.append(k, &column, batch))?;
        }
        self.gather.release(memory);
        self.end(part.rows())
    }

    /// Checks that column `k` is called `name`.
    pub(super) fn check_name(&self, k: usize, name: &str) -> Done<(), S> {
        if self.columns.get(k).is_some_and(|open| open.name == name) {
            return Ok(());
        }
        let place = self.columns.iter().position(|open| open.name == name);
        let need = place.map_or(0, |place| (place as u64).saturating_add(1));
        Err(Error::needing(Kind::Misuse, What::VORTEX_COLUMN_NAME, k as u64, need).into())
    }

    /// Counts rows that all columns have.
    pub(super) fn end(&mut self, rows: u64) -> Done<(), S> {
        let all = self.rows.checked_add(rows).ok_or_else(|| Error::new(Kind::Overflow, What::ROW, self.rows))?;
        if let Some((k, open)) = self.columns.iter().enumerate().find(|(_, open)| open.rows != all) {
            let rows = open.rows.saturating_sub(self.rows);
            return Err(Error::needing(Kind::Misuse, What::VORTEX_COLUMN_ROWS, k as u64, rows).into());
        }
        self.rows = all;
        Ok(())
    }

    /// Appends the rows of a batch to column `k`, in pieces that fit into memory.
    pub(super) fn append<C: Column>(&mut self, k: usize, column: &C, batch: &Batch<'_, C>) -> Done<(), S> {
        let misuse = || Error::new(Kind::Misuse, What::COLUMN, k as u64);
        let open = self.columns.get_mut(k).ok_or_else(misuse)?;
        let (depth, mut fuel) = (Depth::new(&self.options.limits), Fuel::new(&self.options.limits));
        if !open.ty.takes(&Logical::of(column, depth, &mut fuel)?) {
            return Err(Error::new(Kind::WrongType, column.ty().what(), 0).into());
        }
        open.append(column, batch, &mut self.gather, (&self.options, &mut self.file))
    }

    /// Writes the rest of the rows and the metadata. Returns the sink.
    ///
    /// # Errors
    /// [`Kind::Misuse`] in `What::VORTEX_FAILED` if an earlier call failed;
    /// [`Kind::Overflow`] if a segment or the metadata has 4 GiB or more; errors of the sink.
    pub fn finish(mut self) -> Result<S, WriteError<S::Error>> {
        self.call(|_| Ok(()))?;
        let Writer { mut file, options, mut columns, rows, .. } = self;
        let mut to = write::Writer::default();
        let (mut fields, mut layouts, mut statistics) = (Vec::new(), Vec::new(), Vec::<Place>::new());
        for (k, Open { rows: known, column, .. }) in columns.iter_mut().enumerate() {
            if *known != rows {
                return Err(Error::needing(Kind::Misuse, What::VORTEX_COLUMN_ROWS, k as u64, *known).into());
            }
            column.end(&mut file)?;
        }
        file.wait()?;
        for Open { name, ty, column, .. } in columns {
            let (layout, facts) = column.finish(&mut file);
            statistics.push(facts.put(&ty, options.profile, &mut to));
            layouts.push(layout);
            fields.push((name, ty));
        }
        let dtype = Logical::new(Shape::Struct(fields), false).bytes();
        let all = to.places(&statistics);
        let root = to.table(&[(flat::FileStatistics::FIELD_STATS, Field::Place(all))]);
        let statistics = options.statistics.then(|| to.finish(root));
        let layout = Layout { children: layouts, ..Layout::new(LayoutId::Struct, rows) };
        file.finish(&dtype, &layout, statistics.as_deref())
    }
}

impl Open {
    fn append<C: Column, S: Sink>(
        &mut self,
        column: &C,
        batch: &Batch<'_, C>,
        gather: &mut Gather,
        (options, file): (&WriteOptions, &mut Lanes<S>),
    ) -> Done<(), S> {
        let (mut at, mut most) = (0usize, usize::MAX);
        while at < batch.len {
            let len = batch.len.saturating_sub(at).min(self.column.left()).min(most);
            let bytes = if len > 1 { options.block() } else { options.limits.max_decoded };
            let (mut rows, end) = (Rows::new(&self.ty), at.saturating_add(len));
            match gather.rows((&mut rows, &self.ty), column, batch, at..end, bytes) {
                Err(_) if len > 1 && gather.is_over() => {
                    most = len >> 1;
                    continue;
                }
                // Halving finds the row of the table in which the value is, perhaps in a list.
                Err(e) if e.kind() == Kind::Lossy && len > 1 => {
                    most = len >> 1;
                    continue;
                }
                Err(e) if e.kind() == Kind::Lossy => {
                    return Err(e.turned(e.kind(), e.what(), batch.first.saturating_add(at as u64)).into());
                }
                done => done?,
            }
            self.column.push(rows, file)?;
            self.rows = self.rows.saturating_add(len as u64);
            at = end;
        }
        Ok(())
    }
}
