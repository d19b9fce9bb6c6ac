//! Tables through the formats that can be written.

use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use pilaster::any::{File, Format, Hints};
use pilaster::bcolz;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::{Once, Table};
use pilaster::dataseries::ExtentType;
use pilaster::dataseries::write::{Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Writer, describe};
use pilaster::filo;
use pilaster::jay;
use pilaster::vortex;
use pilaster_arrow::schema::column_type;
use pilaster_arrow::{Batches, Kept, ReadOptions, convert, read};

use crate::show;

pub const NAMES: [&str; 5] = ["vortex", "jay", "dataseries", "bcolz", "filo"];

/// The batches of a table.
pub type Read = (SchemaRef, Vec<RecordBatch>);

/// The rows that were read from a format, and their type.
#[derive(Debug, Default)]
pub struct Stored {
    pub rows: Vec<String>,
    pub ty: String,
}

/// Writes a table, and returns the rows of its only column that are read from what was written, or the text of the refusal.
pub fn through(format: &str, source: Kept) -> Result<Stored, String> {
    let (schema, batches) = batches(format, source)?;
    let arrays = batches.iter().map(|batch| batch.column(0));
    let rows = arrays.flat_map(|array| (0..array.len()).map(move |i| show::row(array, i))).collect();
    Ok(Stored { rows, ty: type_of(schema.field(0)) })
}

/// Writes a table, and returns the batches that are read from what was written, or the text of the refusal.
pub fn batches(format: &str, source: Kept) -> Result<Read, String> {
    let mut table = Batches::from_source(source).map_err(|e| e.to_string())?;
    match format {
        "vortex" => {
            let mut builder = vortex::write::Builder::new(Vec::new(), &vortex::write::WriteOptions::DEFAULT).unwrap();
            convert(&mut table, &mut builder).map_err(|e| e.to_string())?;
            Ok(opened(&builder.finish().unwrap(), Format::Vortex))
        }
        "jay" => {
            let mut builder = jay::write::Builder::new(Vec::new(), &jay::write::WriteOptions::DEFAULT).unwrap();
            convert(&mut table, &mut builder).map_err(|e| e.to_string())?;
            Ok(opened(&builder.finish().unwrap(), Format::Jay))
        }
        "dataseries" => dataseries(&mut table).map(|bytes| opened(&bytes, Format::DataSeries)),
        "bcolz" => {
            let dir = std::env::temp_dir().join(format!("pilaster-arrow-{}.bcolz", std::process::id()));
            let _ = std::fs::remove_dir_all(&dir);
            let options = bcolz::write::WriteOptions::default();
            let mut builder =
                bcolz::write::Builder::create(bcolz::write::FileSystem { durable: false }, &dir, &options);
            let done = convert(&mut table, &mut builder).map_err(|e| e.to_string());
            let done = done.map(|()| {
                builder.finish().unwrap();
                let dataset = bcolz::Dataset::open(&dir).unwrap();
                all(File::from(&dataset).table(None).unwrap())
            });
            let _ = std::fs::remove_dir_all(&dir);
            done
        }
        _ => {
            let mut found = None;
            let mut builder = filo::Builder::new(|_, _: &str, element, chunk: &[u8]| {
                found = Some(all(Once::new(filo::Vector::open(chunk, element)?)));
                Ok(())
            });
            convert(&mut table, &mut builder).map_err(|e| e.to_string())?;
            drop(builder);
            Ok(found.expect("a column"))
        }
    }
}

fn dataseries(table: &mut Batches<Kept>) -> Result<Vec<u8>, String> {
    let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().expect("a part");
    // The error has the number of the column.
    let refused = |e| format!("column \"x\": {e}; cast it, the type has no field");
    let xml = describe("Table", &part, Vec::new()).map_err(refused)?;
    let mut memory = vec![0; 1 << 16];
    let ty = ExtentType::parse(&xml, &Default::default(), &mut Scratch::new(&mut memory)).unwrap();
    let (types, mut slots) = ([Description::from(&ty)], vec![IndexSlot::EMPTY; 1000]);
    let writer = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::new(&types).unwrap(), &mut slots);
    let mut builder = Builder::new(writer, ExtentBuffer::growing(ty).unwrap(), 1000);
    table.restart().unwrap();
    convert(table, &mut builder).map_err(|e| e.to_string())?;
    Ok(builder.finish().unwrap())
}

fn opened(bytes: &[u8], format: Format) -> Read {
    let mut memory = vec![0; 1 << 20];
    let file = File::open(bytes, format, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    all(file.table(None).unwrap())
}

fn all<T: Table>(table: T) -> Read {
    let reader = read(table, ReadOptions::default()).unwrap();
    (reader.schema(), reader.map(Result::unwrap).collect())
}

/// The column type of a field, with the zone of a timestamp.
pub fn type_of(field: &Field) -> String {
    let ty = column_type(field).expect("a type of a column").to_string();
    match field.data_type() {
        DataType::Timestamp(_, Some(zone)) => format!("{ty} in {zone}"),
        _ => ty,
    }
}

/// The name of a type in the table of the README.
pub fn named(ty: &DataType) -> String {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    match ty {
        DataType::Timestamp(u, zone) => format!("Timestamp({}{})", unit(u), if zone.is_some() { ", zone" } else { "" }),
        DataType::Time32(u) | DataType::Time64(u) => format!("Time({})", unit(u)),
        DataType::FixedSizeBinary(_) => "FixedSizeBinary".to_owned(),
        DataType::Dictionary(_, value) => format!("Dictionary of {}", named(value)),
        DataType::RunEndEncoded(_, value) => format!("RunEndEncoded of {}", named(value.data_type())),
        DataType::List(item) => format!("List of {}", named(item.data_type())),
        DataType::LargeList(item) => format!("LargeList of {}", named(item.data_type())),
        DataType::ListView(item) => format!("ListView of {}", named(item.data_type())),
        DataType::LargeListView(item) => format!("LargeListView of {}", named(item.data_type())),
        DataType::FixedSizeList(item, _) => format!("FixedSizeList of {}", named(item.data_type())),
        DataType::Struct(fields) => {
            format!("Struct({})", fields.iter().map(|field| named(field.data_type())).collect::<Vec<_>>().join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => format!("Map to {}", named(pair[1].data_type())),
            _ => "Map".to_owned(),
        },
        ty => ty.to_string(),
    }
}
