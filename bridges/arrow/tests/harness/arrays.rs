//! The fuzz body of arrays of Arrow as columns: arrays of any type from any bytes, as far as Arrow accepts them. `cargo
//! test` and the target `arrow_arrays` of `fuzz/` run it.

use std::ops::Range;
use std::sync::Arc;

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Table, Value};
use pilaster_arrow::arrow_array::{Array, RecordBatch, make_array};
use pilaster_arrow::arrow_data::ArrayData;
use pilaster_arrow::arrow_schema::{DataType, Field, Schema};
use pilaster_arrow::{Batches, Buffer, Kept};

/// Maximum depth of types.
const DEPTH: u32 = 3;

/// Maximum number of rows that are read, and of child rows of each.
const ROWS: u64 = 200;

/// The rest of the input.
struct Input<'d>(&'d [u8]);

impl<'d> Input<'d> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, len: usize) -> &'d [u8] {
        let (first, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        first
    }

    fn field(&mut self, depth: u32) -> Arc<Field> {
        Arc::new(Field::new("item", self.ty(depth), true))
    }

    fn ty(&mut self, depth: u32) -> DataType {
        let nested = if depth == 0 { 20 } else { 30 };
        match self.byte() % nested {
            0 => DataType::Null,
            1 => DataType::Boolean,
            2 => DataType::Int8,
            3 => DataType::Int16,
            4 => DataType::UInt32,
            5 => DataType::Float64,
            6 => DataType::Date64,
            7 => DataType::Decimal32(3, 1),
            8 => DataType::Decimal64(4, 0),
            9 => DataType::Decimal128(9, 2),
            10 => DataType::Decimal128(38, 2),
            11 => DataType::Decimal256(20, 2),
            12 => DataType::FixedSizeBinary(3),
            13 => DataType::Binary,
            14 => DataType::LargeBinary,
            15 => DataType::BinaryView,
            16 => DataType::Utf8,
            17 => DataType::LargeUtf8,
            18 | 19 => DataType::Utf8View,
            20 => DataType::List(self.field(depth - 1)),
            21 => DataType::LargeList(self.field(depth - 1)),
            22 => DataType::ListView(self.field(depth - 1)),
            23 => DataType::LargeListView(self.field(depth - 1)),
            24 => DataType::FixedSizeList(self.field(depth - 1), 2),
            25 => DataType::Struct(vec![self.field(depth - 1), self.field(depth - 1)].into()),
            26 => DataType::Dictionary(Box::new(DataType::Int8), Box::new(self.ty(depth - 1))),
            27 => DataType::Dictionary(Box::new(DataType::UInt16), Box::new(self.ty(depth - 1))),
            28 => runs(DataType::Int16, self.field(depth - 1)),
            _ => runs(DataType::Int32, self.field(depth - 1)),
        }
    }

    /// Returns a buffer of whole items: Arrow's checks panic over others.
    fn buffer(&mut self, len: usize) -> Buffer {
        let mut bytes = self.bytes(len).to_vec();
        bytes.resize(len.next_multiple_of(32), 0);
        Buffer::from(bytes)
    }

    /// Returns `n` small numbers of `size` bytes, ascending if they are `ends`; now and then any number.
    fn numbers(&mut self, n: usize, size: usize, ends: bool) -> Buffer {
        let (mut bytes, mut end, wild) = (Vec::new(), 0u64, self.byte().is_multiple_of(16));
        for _ in 0..n {
            let step = u64::from(self.byte());
            end = if ends { end + step % 3 } else { step % 4 };
            let number = if wild { step << 56 | step } else { end };
            bytes.extend_from_slice(&number.to_le_bytes()[..size]);
        }
        Buffer::from(bytes)
    }

    /// Returns views and buffers of texts that they refer to.
    fn views(&mut self, n: usize) -> Vec<Buffer> {
        let count = 1 + usize::from(self.byte() % 2);
        let data: Vec<Vec<u8>> =
            (0..count).map(|_| self.bytes(60).iter().map(|byte| byte & 0x7f).collect::<Vec<u8>>()).collect();
        let mut views = Vec::new();
        for _ in 0..n {
            let (len, k, at) =
                (usize::from(self.byte() % 24), usize::from(self.byte()) % count, usize::from(self.byte() % 40));
            let mut view = [0; 16];
            match data[k].get(at..at + len) {
                Some(text) if len <= 12 => view[4..4 + len].copy_from_slice(text),
                Some(text) => {
                    view[4..8].copy_from_slice(&text[..4]);
                    view[8] = k as u8;
                    view[12] = at as u8;
                }
                None => {}
            }
            view[0] = if data[k].len() < at + len { 0 } else { len as u8 };
            views.extend_from_slice(&view);
        }
        std::iter::once(views).chain(data).map(Buffer::from).collect()
    }

    /// Returns the buffers of an array of `n` rows.
    fn buffers(&mut self, ty: &DataType, n: usize) -> Vec<Buffer> {
        use DataType::*;
        match ty {
            Null | Struct(_) | FixedSizeList(..) | RunEndEncoded(..) => vec![],
            Utf8View | BinaryView => self.views(n),
            Utf8 | Binary => vec![self.numbers(n + 1, 4, true), self.buffer(80)],
            LargeUtf8 | LargeBinary => vec![self.numbers(n + 1, 8, true), self.buffer(80)],
            List(_) => vec![self.numbers(n + 1, 4, true)],
            LargeList(_) => vec![self.numbers(n + 1, 8, true)],
            ListView(_) => vec![self.numbers(n, 4, false), self.numbers(n, 4, false)],
            LargeListView(_) => vec![self.numbers(n, 8, false), self.numbers(n, 8, false)],
            Dictionary(key, _) => vec![self.numbers(n, key.primitive_width().unwrap_or(1), false)],
            _ => vec![self.buffer(n * 32)],
        }
    }

    /// Returns an array, if Arrow accepts it.
    fn array(&mut self, ty: &DataType, n: usize) -> Option<ArrayData> {
        let mut builder = ArrayData::builder(ty.clone()).len(n).align_buffers(true);
        if self.byte().is_multiple_of(2) && !matches!(ty, DataType::Null | DataType::RunEndEncoded(..)) {
            builder = builder.null_bit_buffer(Some(self.buffer(n.div_ceil(8))));
        }
        builder = builder.buffers(self.buffers(ty, n));
        let mut child = |ty: &DataType, len: usize| self.array(ty, len);
        let children = match ty {
            DataType::List(item) | DataType::LargeList(item) => vec![child(item.data_type(), 60)?],
            DataType::ListView(item) | DataType::LargeListView(item) => vec![child(item.data_type(), 6)?],
            DataType::FixedSizeList(item, size) => vec![child(item.data_type(), n * usize::try_from(*size).ok()?)?],
            DataType::Struct(fields) => {
                fields.iter().map(|field| child(field.data_type(), n)).collect::<Option<_>>()?
            }
            DataType::Dictionary(_, values) => vec![child(values, 4)?],
            DataType::RunEndEncoded(ends, values) => {
                let values = child(values.data_type(), 5)?;
                let width = ends.data_type().primitive_width()?;
                let mut bytes = Vec::new();
                for run in 1..=5usize {
                    bytes.extend_from_slice(&(run * (n / 5 + 1)).to_le_bytes()[..width]);
                }
                let ends = ArrayData::builder(ends.data_type().clone()).len(5).add_buffer(Buffer::from(bytes));
                vec![ends.align_buffers(true).build().ok()?, values]
            }
            _ => vec![],
        };
        builder.child_data(children).build().ok()
    }
}

fn runs(ends: DataType, values: Arc<Field>) -> DataType {
    DataType::RunEndEncoded(Arc::new(Field::new("run_ends", ends, false)), values)
}

/// Reads an array from `data`, and its rows as a column.
#[allow(dead_code, reason = "the fuzz target calls it")]
pub fn run(data: &[u8]) {
    accepted(data);
}

/// Does the same, and returns the type of the array if Arrow accepted it.
pub fn accepted(data: &[u8]) -> Option<DataType> {
    let mut input = Input(data);
    let len = usize::from(input.byte() % 40);
    let ty = input.ty(DEPTH);
    let first = usize::from(input.byte() % 10);
    let array = make_array(input.array(&ty, first + len)?).slice(first, len);
    assert_eq!(array.len(), len);
    let schema = Arc::new(Schema::new(vec![Field::new("x", ty.clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).expect("a column of its type");
    let mut table = Batches::from_source(Kept::new(schema, [batch])).expect("types of columns");
    let part = table.next_part(&mut Scratch::new(&mut [])).expect("a part").expect("a part");
    assert_eq!(part.rows(), len as u64);
    let column = part.column(0).expect("a column");
    if walk(&column, 0..len as u64, DEPTH, [0xa5, 0x5a]).is_some() {
        column.dictionary(0).expect("a dictionary or none");
    }
    Some(ty)
}

/// Reads rows at once and one by one, in memory with other contents. Returns `None` where decimals have too many digits,
/// which Arrow does not check.
fn walk<C: Column>(column: &C, rows: Range<u64>, depth: u32, dirt: [u8; 2]) -> Option<()> {
    let rows = rows.start..rows.end.min(rows.start.saturating_add(ROWS));
    let need = usize::try_from(column.need(rows.clone()).expect("rows that exist")).expect("memory");
    let mut memory = vec![dirt[0]; need];
    let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory)).ok()?;
    assert_eq!((batch.first, batch.len as u64), (rows.start, rows.end - rows.start));
    assert!(column.nullable() || batch.validity.nulls(batch.len) == 0);
    for (i, row) in rows.clone().enumerate() {
        let need = usize::try_from(column.need(row..row + 1).expect("a row")).expect("memory");
        let mut memory = vec![dirt[1]; need];
        let one = column.read(row..row + 1, &mut Scratch::new(&mut memory)).expect("a row of a batch");
        same(&batch, i, &one);
        if let (Value::Nested(children), true) = (batch.value(i).expect("a value"), depth > 0) {
            for k in 0..batch.of.ty().children() {
                let child = batch.of.child(k).expect("a child");
                assert!(children.end <= child.rows());
                walk(&child, children.clone(), depth - 1, dirt)?;
            }
        }
    }
    Some(())
}

/// Compares row `i` of a batch with the same row read alone. NaN is compared by its bits.
fn same<C: Column>(batch: &Batch<'_, C>, i: usize, one: &Batch<'_, C>) {
    let bits = |value: Value<'_>| match value {
        Value::F32(value) => format!("{:08x}", value.to_bits()),
        Value::F64(value) => format!("{:016x}", value.to_bits()),
        value => format!("{value:?}"),
    };
    assert_eq!(bits(batch.value(i).expect("a value")), bits(one.value(0).expect("a value")));
}
