//! Types without dictionaries.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};

/// Returns the field with the values of dictionaries instead of these, on every level.
pub(crate) fn plain(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(plain_type(field.data_type())))
}

/// Returns the type with the values of dictionaries instead of these, on every level.
pub(crate) fn plain_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain).collect()),
        DataType::List(item) => DataType::List(plain(item)),
        DataType::LargeList(item) => DataType::LargeList(plain(item)),
        DataType::ListView(item) => DataType::ListView(plain(item)),
        DataType::LargeListView(item) => DataType::LargeListView(plain(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(plain(item), *len),
        DataType::Map(item, sorted) => DataType::Map(plain(item), *sorted),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(Arc::clone(ends), plain(values)),
        other => other.clone(),
    }
}
