//! Types without dictionaries.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};

use crate::schema::with_fields;

/// Returns the field with the values of dictionaries instead of these, on every level.
pub(crate) fn plain(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(plain_type(field.data_type())))
}

/// Returns the type with the values of dictionaries instead of these, on every level.
pub(crate) fn plain_type(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, values) => plain_type(values),
        other => with_fields(other, &plain),
    }
}
