//! The values of columns. Fields of the usual forms are read at once, and others when the batch ends.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types as t;
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType, NullBufferBuilder};
use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};

use super::super::Refuted;
use super::super::exact::{self, From, Wrong, made};
use super::super::forms::{self, Moment, Number};
use super::super::infer::Texts;
use super::store::{Store, Strings, Text};

/// The records of a batch.
pub struct Batch {
    /// The values of the chosen columns.
    pub columns: Vec<ArrayRef>,
    /// The line in which each record begins, counted from 1.
    pub lines: Vec<u64>,
}

/// Reads the values of columns.
pub struct Values {
    columns: Vec<Column>,
    refuted: Refuted,
}

struct Column {
    field: FieldRef,
    /// The texts so far, if others may give the column another type.
    supposed: Option<Texts>,
    simple: Simple,
    /// All texts, or those that are not simple, and their rows.
    texts: Strings,
    rows: Vec<usize>,
}

/// Values that are read at once, by their type.
enum Simple {
    Int(Rows<i64>),
    Float(Rows<f64>),
    Date(Rows<i32>),
    Time(Form, Rows<i64>),
    None,
}

impl Simple {
    /// Adds a missing value.
    fn missing(&mut self) {
        match self {
            Simple::Int(rows) => rows.missing(),
            Simple::Float(rows) => rows.missing(),
            Simple::Date(rows) => rows.missing(),
            Simple::Time(_, rows) => rows.missing(),
            Simple::None => {}
        }
    }
}

/// Times of a type: the number of units in a second, and whether it has a zone.
#[derive(Clone, Copy)]
struct Form {
    per_second: i64,
    zoned: bool,
}

impl Form {
    /// Returns the count of a time. One with an offset is not simple, nor is one without a zone if the type has one.
    #[inline]
    fn count(self, moment: &Moment) -> Option<i64> {
        if moment.utc == self.zoned { moment.count(self.per_second) } else { None }
    }
}

/// Values and missing values. A value that is not known yet has its place.
struct Rows<N> {
    values: Vec<N>,
    nulls: NullBufferBuilder,
}

impl<N: ArrowNativeType> Rows<N> {
    fn new() -> Self {
        Rows { values: Vec::new(), nulls: NullBufferBuilder::new(0) }
    }

    fn missing(&mut self) {
        self.values.push(N::default());
        self.nulls.append_null();
    }

    /// Adds a value. Returns the row if it is unknown.
    #[inline(always)]
    fn add(&mut self, value: Option<N>) -> Option<usize> {
        let row = self.values.len();
        self.values.push(value.unwrap_or_default());
        self.nulls.append_non_null();
        value.is_none().then_some(row)
    }

    /// Takes the values. `texts`: those that are unknown, and their rows.
    fn array<P: ArrowPrimitiveType<Native = N>>(
        &mut self,
        (texts, rows): (&StringArray, &[usize]),
        ty: &DataType,
    ) -> Result<ArrayRef, Wrong> {
        let next = Vec::with_capacity(self.values.len());
        let mut values = std::mem::replace(&mut self.values, next);
        let nulls = self.nulls.finish();
        if !rows.is_empty() {
            let others = exact::typed(texts, ty, From::Csv)?;
            let others = others.as_primitive_opt::<P>().map(|others| &**others.values()).unwrap_or_default();
            for (row, value) in rows.iter().zip(others) {
                if let Some(place) = values.get_mut(*row) {
                    *place = *value;
                }
            }
        }
        let array = PrimitiveArray::<P>::try_new(values.into(), nulls);
        made(array.map(|array| array.with_data_type(ty.clone())))
    }
}

impl Column {
    fn new(field: &FieldRef, supposed: Option<Texts>) -> Self {
        let simple = match field.data_type() {
            DataType::Int64 => Simple::Int(Rows::new()),
            DataType::Float64 => Simple::Float(Rows::new()),
            DataType::Date32 => Simple::Date(Rows::new()),
            DataType::Timestamp(unit, zone) => {
                let form = Form { per_second: forms::per_second(*unit), zoned: zone.is_some() };
                Simple::Time(form, Rows::new())
            }
            _ => Simple::None,
        };
        Column { field: Arc::clone(field), supposed, simple, texts: Strings::new(), rows: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, text: &Text<'_>) -> Result<(), String> {
        let (front, supposed) = (text.front, &mut self.supposed);
        if matches!(self.simple, Simple::None) {
            if let Some(supposed) = supposed
                && !text.missing
            {
                supposed.add(front);
            }
            return self.texts.add(text);
        }
        // An empty text in quotes is missing in all of the simple types.
        if text.missing || front.text().is_empty() {
            self.simple.missing();
            return Ok(());
        }
        let unknown = match &mut self.simple {
            Simple::Int(rows) => {
                let number = Number::new(front);
                if let Some(supposed) = supposed {
                    supposed.add_number(front, number.as_ref());
                }
                rows.add(number.and_then(|number| number.int()))
            }
            Simple::Float(rows) => {
                let number = Number::new(front);
                if let Some(supposed) = supposed {
                    supposed.add_number(front, number.as_ref());
                }
                rows.add(number.and_then(|number| number.float()))
            }
            Simple::Date(rows) => {
                let days = forms::date(front.text());
                if let Some(supposed) = supposed {
                    supposed.add_date(front, days);
                }
                rows.add(days)
            }
            Simple::Time(form, rows) => {
                let moment = Moment::new(front.text());
                if let Some(supposed) = supposed {
                    supposed.add_moment(front, moment.as_ref());
                }
                rows.add(moment.and_then(|moment| form.count(&moment)))
            }
            Simple::None => None,
        };
        let Some(row) = unknown else { return Ok(()) };
        self.rows.push(row);
        self.texts.add(text)
    }

    /// Takes the values. `texts` are those that are not read yet.
    fn array(&mut self, texts: &StringArray) -> Result<ArrayRef, Wrong> {
        let (ty, rows) = (self.field.data_type(), std::mem::take(&mut self.rows));
        let others = (texts, rows.as_slice());
        let array = match &mut self.simple {
            Simple::Int(rows) => rows.array::<t::Int64Type>(others, ty),
            Simple::Float(rows) => rows.array::<t::Float64Type>(others, ty),
            Simple::Date(rows) => rows.array::<t::Date32Type>(others, ty),
            Simple::Time(_, rows) => match ty {
                DataType::Timestamp(TimeUnit::Second, _) => rows.array::<t::TimestampSecondType>(others, ty),
                DataType::Timestamp(TimeUnit::Millisecond, _) => rows.array::<t::TimestampMillisecondType>(others, ty),
                DataType::Timestamp(TimeUnit::Microsecond, _) => rows.array::<t::TimestampMicrosecondType>(others, ty),
                _ => rows.array::<t::TimestampNanosecondType>(others, ty),
            },
            Simple::None => exact::typed(texts, ty, From::Csv),
        };
        array.map_err(|e| Wrong { row: rows.get(e.row).copied().unwrap_or(e.row), why: e.why })
    }
}

impl Values {
    /// Reads columns. `supposed`: what the first texts of each told of its type, if others may tell more; then `refuted` is set.
    pub fn new(fields: &Fields, supposed: impl Iterator<Item = Option<Texts>>, refuted: Refuted) -> Self {
        let columns = fields.iter().zip(supposed).map(|(field, supposed)| Column::new(field, supposed));
        Values { columns: columns.collect(), refuted }
    }

    /// Checks that the texts of a batch, which ends in the record that begins in line `last`, left the types as they were.
    fn check(&self, last: u64) -> Result<(), String> {
        let fits = |column: &&Column| column.supposed.is_none_or(|texts| texts.ty() == *column.field.data_type());
        let Some(column) = self.columns.iter().find(|column| !fits(column)) else { return Ok(()) };
        self.refuted.set();
        let (name, ty) = (column.field.name(), column.field.data_type());
        Err(format!("column {name:?}: a text in a line up to {last} is not {ty}, as those of the first lines are"))
    }
}

impl Store for Values {
    type Batch = Batch;

    const ASCII: bool = false;

    #[inline(always)]
    fn field(&mut self, column: usize, text: Text<'_>) -> Result<(), String> {
        let Some(column) = self.columns.get_mut(column) else { return Ok(()) };
        column.add(&text)
    }

    fn batch(&mut self, lines: &mut Vec<u64>) -> Result<Batch, String> {
        let next = Vec::with_capacity(lines.len());
        let lines = std::mem::replace(lines, next);
        self.check(lines.last().copied().unwrap_or_default())?;
        let line = |row: usize| lines.get(row).copied().unwrap_or_default();
        let mut texts = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let wrong = |k: usize| format!("line {}: no UTF-8", line(column.rows.get(k).copied().unwrap_or(k)));
            texts.push(column.texts.array().map_err(wrong)?);
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        for (column, texts) in self.columns.iter_mut().zip(&texts) {
            let array = column.array(texts);
            let wrong = |e: Wrong| format!("line {}, column {:?}: {}", line(e.row), column.field.name(), e.why);
            columns.push(array.map_err(wrong)?);
        }
        Ok(Batch { columns, lines })
    }
}
