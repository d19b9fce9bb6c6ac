//! Batches of Parquet are bounded, whatever the metadata says of their texts.
#![cfg(feature = "parquet")]

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Encoding;
use ::parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
use pilaster_arrow::input::{InputOptions, open};

fn file(array: ArrayRef) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("x", array)]).unwrap();
    // The second version has dictionaries of bytes of a fixed length.
    let properties = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    let properties = properties.set_statistics_enabled(EnabledStatistics::None).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// The number of rows, and the size of the largest batch.
fn sizes(bytes: Vec<u8>) -> (usize, usize, usize) {
    let mut file = open(bytes.into(), InputOptions::default()).unwrap();
    let (mut rows, mut most, mut count) = (0, 0, 0);
    for batch in file.reader().unwrap() {
        let batch = batch.unwrap();
        rows += batch.num_rows();
        most = most.max(batch.get_array_memory_size());
        count += 1;
    }
    (rows, most, count)
}

#[test]
fn values_with_a_dictionary_are_bounded() {
    let value = [7u8; 1024];
    let fixed = FixedSizeBinaryArray::try_from_iter(std::iter::repeat_n(value, 30_000)).unwrap();
    let (rows, most, _) = sizes(file(Arc::new(fixed)));
    assert!(rows == 30_000 && most < 17 << 20, "{rows} rows, {most} bytes");
    let numbers = Int64Array::from(vec![5; 100_000]);
    assert_eq!(sizes(file(Arc::new(numbers))).2, 2);
}

/// The file without the sizes of texts before their encoding, which older writers do not store.
fn without_sizes(bytes: &[u8]) -> Vec<u8> {
    let mut metadata = ParquetMetaDataReader::new();
    metadata.try_parse(&bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let metadata = metadata.finish().unwrap();
    let mut builder = metadata.clone().into_builder();
    let mut groups = builder.take_row_groups();
    for group in &mut groups {
        let columns = group
            .columns()
            .iter()
            .map(|column| column.clone().into_builder().set_unencoded_byte_array_data_bytes(None).build().unwrap());
        let columns = columns.collect();
        *group = group.clone().into_builder().set_column_metadata(columns).build().unwrap();
    }
    let metadata = builder.set_row_groups(groups).build();
    assert!(metadata.row_group(0).column(0).encodings().any(|one| one == Encoding::RLE_DICTIONARY));
    let len = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let mut whole = bytes[..bytes.len() - 8 - len].to_vec();
    ParquetMetaDataWriter::new(&mut whole, &metadata).finish().unwrap();
    whole
}

#[test]
fn texts_of_unknown_length_are_bounded() {
    let text =
        |len: usize| Arc::new(StringArray::from_iter_values(std::iter::repeat_n("x".repeat(len), 30_000))) as ArrayRef;
    for bytes in [file(text(1024)), without_sizes(&file(text(1024)))] {
        let (rows, most, _) = sizes(bytes);
        assert!(rows == 30_000 && most < 20 << 20, "{rows} rows, {most} bytes");
    }
    // Short ones are joined.
    assert_eq!(sizes(without_sizes(&file(text(3)))), sizes(file(text(3))));
}
