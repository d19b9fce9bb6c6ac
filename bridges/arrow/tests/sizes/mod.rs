//! The memory of batches.

use std::collections::HashMap;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// The sizes of the allocations that batches keep alive, each once, of the values in them, and the number of allocations.
pub fn of(batches: &[RecordBatch]) -> (usize, usize, usize) {
    let (mut kept, mut values) = (HashMap::new(), 0);
    for array in batches.iter().flat_map(|batch| batch.columns()) {
        let mut left = vec![array.to_data()];
        values += array.to_data().get_slice_memory_size().unwrap();
        while let Some(data) = left.pop() {
            if matches!(data.data_type(), DataType::Utf8View | DataType::BinaryView) {
                // Longer texts than 12 bytes are outside of the views.
                let lens = data.buffers()[0].typed_data::<u128>().iter().map(|view| *view as u32 as usize);
                values += lens.filter(|len| *len > 12).sum::<usize>();
            }
            let nulls = data.nulls().map(|nulls| nulls.buffer());
            for buffer in data.buffers().iter().chain(nulls) {
                kept.insert(buffer.data_ptr(), buffer.capacity());
            }
            left.extend(data.child_data().iter().cloned());
        }
    }
    (kept.values().sum(), values, kept.len())
}
