//! Dates, times and time zones that a format does not keep.

use arrow_schema::{DataType, Field, Schema};
use pilaster::any::Format;
use pilaster::filo::Element;

use crate::Error;
use crate::schema::{ZONE, column_type};

/// Checks that files of a format say which columns are dates and times, and their zones: [`Format::keeps_time`].
///
/// If the caller agrees to lose these, it is not called. Types that the format does not store at all are errors of its writer.
///
/// ```
/// use pilaster::any::Format;
/// use pilaster_arrow::arrow_schema::{DataType, Field, Schema, TimeUnit};
/// use pilaster_arrow::times;
///
/// let of = |ty| Schema::new(vec![Field::new("at", ty, true)]);
/// let local = of(DataType::Timestamp(TimeUnit::Microsecond, None));
/// let zoned = of(DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into())));
/// assert!(times::check(&local, Format::Bcolz).is_ok());
/// let e = times::check(&zoned, Format::Bcolz).expect_err("the zone");
/// assert_eq!(e.to_string(), "column \"at\": bcolz cannot store the time zone Europe/Berlin");
/// assert!(times::check(&zoned, Format::Vortex).is_ok());
/// assert!(times::check(&of(DataType::Date32), Format::DataSeries).is_err());
/// ```
///
/// # Errors
/// [`Error::Lost`] in the [`Error::Column`] whose values, or values inside, are such dates and times.
pub fn check(schema: &Schema, format: Format) -> Result<(), Error> {
    schema.fields().iter().try_for_each(|column| match lost(column, format) {
        Some(what) => Err(Error::Lost { format, what }.in_column(column.name())),
        None => Ok(()),
    })
}

/// Returns what of a column, or inside of it, the format does not keep.
fn lost(column: &Field, format: Format) -> Option<String> {
    // The column itself is the first of them.
    Schema::new(vec![column.clone()]).flattened_fields().into_iter().find_map(|field| {
        // Filo has no timestamps of other units, with a zone or without.
        let ty = column_type(field).filter(|ty| format != Format::Filo || Element::of_column(*ty).is_some())?;
        if !format.keeps_time(ty, false) {
            return Some(ty.to_string());
        }
        let zone = match values(field.data_type()) {
            DataType::Timestamp(_, zone) => zone.as_deref(),
            _ => field.metadata().get(ZONE).map(String::as_str),
        };
        zone.filter(|_| !format.keeps_time(ty, true)).map(|zone| format!("the time zone {zone}"))
    })
}

/// Returns the type of the values of a dictionary or of runs.
fn values(ty: &DataType) -> &DataType {
    match ty {
        DataType::Dictionary(_, of) => values(of),
        DataType::RunEndEncoded(_, of) => values(of.data_type()),
        ty => ty,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn zones_are_found_at_any_depth() {
        let zoned = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
        let item = |ty| Arc::new(Field::new("item", ty, true));
        let all = [
            DataType::FixedSizeList(item(zoned.clone()), 2),
            DataType::List(item(DataType::Struct(vec![Field::new("at", zoned.clone(), true)].into()))),
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(zoned.clone())),
            DataType::RunEndEncoded(Arc::new(Field::new("ends", DataType::Int32, false)), item(zoned)),
        ];
        for ty in all {
            let schema = Schema::new(vec![Field::new("n", DataType::Int8, true), Field::new("v", ty.clone(), true)]);
            let checked = check(&schema, Format::Bcolz).map_err(|e| e.to_string());
            assert_eq!(checked, Err("column \"v\": bcolz cannot store the time zone UTC".to_owned()));
        }
    }

    #[test]
    fn units_that_arrow_lacks_have_zones_too() {
        let metadata =
            [(crate::schema::UNIT.to_owned(), "timestamp[ps]".to_owned()), (ZONE.to_owned(), "UTC".to_owned())];
        let schema = Schema::new(vec![Field::new("v", DataType::Int64, true).with_metadata(metadata.into())]);
        assert!(matches!(check(&schema, Format::Jay), Err(Error::Column { .. })));
        assert!(check(&schema, Format::Vortex).is_ok());
    }
}
