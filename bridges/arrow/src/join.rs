//! Arrays from several, or from chosen rows of one. Arrow's own functions panic over more items than offsets of 32 bits reach, which
//! items without bytes can be, and rows that are taken often can take any amount of memory.

use arrow_array::{Array, ArrayRef, UInt64Array, make_array};
use arrow_data::ArrayData;
use arrow_data::transform::{Capacities, MutableArrayData};
use arrow_schema::DataType;

use crate::Error;
use crate::array::wrong_type;
use crate::held::too_large;

/// Joins arrays of one type.
///
/// # Errors
/// [`Error::Offsets`] for too many items.
pub(crate) fn concat(arrays: &[ArrayRef]) -> Result<ArrayRef, Error> {
    let all: Vec<ArrayData> = arrays.iter().map(Array::to_data).collect();
    reached(&all)?;
    let Some(first) = all.first() else { return Err(wrong_type()) };
    let rows = all.iter().map(ArrayData::len).fold(0, usize::saturating_add);
    let bytes = || all.iter().filter_map(|array| array.buffers().get(1)).map(|bytes| bytes.len());
    let room = match first.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            // A slice of an array may be a small part of its bytes.
            let most = all.iter().filter_map(|array| array.get_slice_memory_size().ok());
            Capacities::Binary(rows, Some(bytes().sum::<usize>().min(most.fold(0, usize::saturating_add))))
        }
        _ => Capacities::Array(rows),
    };
    // Not `arrow_select::concat`, with which dictionaries of all types are merged: it is a tenth of the package for Python.
    let mut joined = MutableArrayData::with_capacities(all.iter().collect(), false, room);
    for (k, array) in all.iter().enumerate() {
        joined.try_extend(k, 0, array.len())?;
    }
    Ok(make_array(joined.freeze()))
}

/// Checks that offsets reach the items of all arrays together, also within those items. Types have few levels.
fn reached(arrays: &[ArrayData]) -> Result<(), Error> {
    let Some(first) = arrays.first() else { return Ok(()) };
    let items = |array: &ArrayData| match first.data_type() {
        // The items that no row has are joined, too.
        DataType::ListView(_) => array.child_data().first().map_or(0, |items| items.len() as u64),
        _ => Offsets::of(array).map_or(0, |offsets| offsets.end().saturating_sub(offsets.start())),
    };
    let sum = arrays.iter().map(items).fold(0, u64::saturating_add);
    if sum > i32::MAX.unsigned_abs().into() {
        return Err(Error::Offsets(sum));
    }
    (0..first.child_data().len()).try_for_each(|k| {
        let children = arrays.iter().filter_map(|array| array.child_data().get(k).cloned());
        reached(&children.collect::<Vec<_>>())
    })
}

/// The offsets of 32 bits of an array.
struct Offsets<'a>(&'a [i32]);

impl<'a> Offsets<'a> {
    fn of(array: &'a ArrayData) -> Option<Self> {
        match array.data_type() {
            DataType::Utf8 | DataType::Binary | DataType::List(_) | DataType::Map(..) => {
                let all = array.buffers().first()?.typed_data::<i32>();
                all.get(array.offset()..=array.offset().checked_add(array.len())?).map(Offsets)
            }
            _ => None,
        }
    }

    fn at(&self, row: usize) -> u64 {
        self.0.get(row).and_then(|at| u64::try_from(*at).ok()).unwrap_or(0)
    }

    fn start(&self) -> u64 {
        self.at(0)
    }

    fn end(&self) -> u64 {
        self.at(self.0.len().saturating_sub(1))
    }

    /// The number of items of a row, or of its bytes.
    fn count(&self, row: usize) -> u64 {
        self.at(row.saturating_add(1)).saturating_sub(self.at(row))
    }
}

/// Returns chosen rows of an array.
///
/// # Errors
/// [`Error::Offsets`] for too many items, a limit for more than `room` bytes.
pub(crate) fn take(array: &ArrayRef, rows: &UInt64Array, room: u64) -> Result<ArrayRef, Error> {
    let data = array.to_data();
    let rows_of = rows.iter().flatten().filter_map(|row| usize::try_from(row).ok());
    let size = match Offsets::of(&data) {
        Some(offsets) => {
            let items = rows_of.map(|row| offsets.count(row)).fold(0, u64::saturating_add);
            // Arrow makes room for as many items as the rows have on average.
            let average = offsets.end().checked_div(data.len() as u64).unwrap_or(0).saturating_mul(rows.len() as u64);
            if items > i32::MAX.unsigned_abs().into() {
                return Err(Error::Offsets(items));
            }
            items.max(average).saturating_mul(item(&data)?)
        }
        None => most(&data)?.saturating_mul(rows.len() as u64),
    };
    if size > room {
        return Err(too_large(0, size));
    }
    Ok(arrow_select::take::take(array, rows, None)?)
}

/// Returns the size of the largest item of an array with offsets.
fn item(data: &ArrayData) -> Result<u64, Error> {
    data.child_data().first().map_or(Ok(1), most)
}

/// Returns the size of the largest row of an array.
fn most(data: &ArrayData) -> Result<u64, Error> {
    if let Some(offsets) = Offsets::of(data) {
        let items = (0..data.len()).map(|row| offsets.count(row)).max().unwrap_or(0);
        return Ok(items.saturating_mul(item(data)?).saturating_add(4));
    }
    Ok(match data.data_type() {
        DataType::Struct(_) => {
            let sizes = data.child_data().iter().map(most).collect::<Result<Vec<_>, _>>()?;
            sizes.into_iter().fold(0, u64::saturating_add)
        }
        DataType::FixedSizeList(_, size) => item(data)?.saturating_mul(size.unsigned_abs().into()),
        // The rows of views refer to the same items.
        DataType::Utf8View | DataType::BinaryView => 16,
        _ if data.is_empty() => 0,
        _ => make_array(data.clone()).slice(0, 1).to_data().get_slice_memory_size()? as u64,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{ListArray, ListViewArray, NullArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{Field, Fields};
    use pilaster::error::Kind;

    use super::*;

    /// A list of items without bytes.
    fn nulls(items: i32) -> ArrayRef {
        let field = Arc::new(Field::new("item", DataType::Null, true));
        let values = Arc::new(NullArray::new(usize::try_from(items).unwrap_or(0)));
        Arc::new(ListArray::new(field, OffsetBuffer::new(vec![0, items].into()), values, None))
    }

    /// Items without bytes in a list, in a view, and in a list of structs.
    fn nested(items: i32) -> [ArrayRef; 3] {
        let field = Arc::new(Field::new("item", DataType::Null, true));
        let values = Arc::new(NullArray::new(usize::try_from(items).unwrap_or(0)));
        let view = ListViewArray::new(Arc::clone(&field), vec![0].into(), vec![1].into(), values, None);
        let list = nulls(items);
        let fields = Fields::from(vec![Field::new("l", list.data_type().clone(), true)]);
        let inner = StructArray::new(fields.clone(), vec![Arc::clone(&list)], None);
        let item = Arc::new(Field::new("item", DataType::Struct(fields), true));
        let outer = ListArray::new(item, OffsetBuffer::new(vec![0, 1].into()), Arc::new(inner), None);
        [list, Arc::new(view), Arc::new(outer)]
    }

    #[test]
    fn more_items_than_offsets_reach_are_an_error() {
        for array in nested(1_500_000_000) {
            let e = concat(&[Arc::clone(&array), Arc::clone(&array)]).map(|_| ());
            assert!(matches!(e, Err(Error::Offsets(3_000_000_000))), "{e:?}");
        }
        for array in nested(1_000_000_000) {
            assert!(concat(&[Arc::clone(&array), array]).is_ok_and(|joined| joined.len() == 2));
        }
    }

    #[test]
    fn rows_that_are_taken_often_are_bounded() {
        let rows = |count: usize| UInt64Array::from(vec![0; count]);
        for array in nested(1_500_000_000).into_iter().take(1) {
            assert!(matches!(take(&array, &rows(2), u64::MAX), Err(Error::Offsets(3_000_000_000))));
            assert!(take(&array, &rows(1), u64::MAX).is_ok());
        }
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1000)]));
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1); 250])]));
        for array in [text, list] {
            assert!(take(&array, &rows(1000), 1_000_000).is_ok_and(|taken| taken.len() == 1000));
            let e = take(&array, &rows(1001), 1_000_000).map(|_| ());
            assert!(matches!(e, Err(Error::File(e)) if e.kind() == Kind::Limit), "{e:?}");
        }
    }
}
