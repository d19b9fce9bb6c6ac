//! Any type, any rows: what a writer stores, a reader finds, in both byte orders and compressed or not.

use pilaster::bytes::{Endian, Scratch, SliceSink, WriteError};
use pilaster::codec::HashTable as Codes;
use pilaster::column::{Column as _, Part as _, Table as _};
use pilaster::dataseries::Relative;
use pilaster::dataseries::write::{
    Cell as Value, Compress, Description, Descriptions, ExtentBuffer, IndexSlot, Lz4, Lzf, Memory, Snappy, Stored,
    Writer,
};
use pilaster::dataseries::{ExtentType, Field, FieldType, File, Options, ReadOptions};
use pilaster::dataseries::{Ordering, Pad};
use pilaster::error::Kind;
use pilaster::limits::Limits;
use pilaster::unstable::dataseries::xml::{Attributes, TypeXml};

use super::cell::Cell;
use super::dataseries::in_order;

/// Takes a type, then the rows, out of `data`.
pub fn run(data: &[u8]) {
    let Some((&[flags, how, extents, seed], data)) = data.split_first_chunk() else { return };
    in_order!(flags & 1 == 1, order(flags, Plan { how, extents, seed }, data));
}

/// How compressed and how long extents are written, how many, and of which numbers.
#[derive(Clone, Copy)]
struct Plan {
    how: u8,
    extents: u8,
    seed: u8,
}

const NAMES: [&str; 6] = ["a", "b & c", "<d>", "e\n", "\u{e9}", "f\"'"];

/// The fields that `data` asks for, one for each byte.
fn fields(data: &[u8]) -> ([Field<'static>; 6], usize) {
    let mut fields = NAMES.map(|name| Field::new(name, FieldType::Bool));
    let mut len = 0;
    for (k, byte) in data.iter().take(6).enumerate() {
        let ty = match byte & 7 {
            0 => FieldType::Bool,
            1 => FieldType::Byte,
            2 => FieldType::Int32,
            3 => FieldType::Int64,
            4 | 7 => FieldType::Double,
            5 => FieldType::Variable32,
            _ => FieldType::FixedWidth(1 + u32::from(byte >> 6)),
        };
        let mut field = Field { nullable: byte & 8 != 0, ..Field::new(NAMES[k], ty) };
        match ty {
            FieldType::Variable32 => field.unique = byte & 16 != 0,
            FieldType::Int32 | FieldType::Int64 | FieldType::Double if byte & 16 != 0 => {
                // Powers of two: exact whatever is added and rounded.
                if ty == FieldType::Double {
                    field.scale = Some([0.5, -0.25, 2.0, 1.0][usize::from(byte >> 6)]);
                }
                let base = (0..k).rev().find(|base| fields[*base].ty == ty && byte & 32 != 0);
                field.relative = base.map_or(Relative::Own, |base| Relative::To(base as u32));
            }
            _ => {}
        }
        fields[k] = field;
        len = k + 1;
    }
    (fields, len)
}

/// A number for each cell, so that rows need not be kept.
fn mixed(seed: u8, row: u32, k: usize) -> u64 {
    let n = (u64::from(seed) << 40 | u64::from(row) << 8 | k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (n ^ n >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ n >> 32
}

const TEXT: &[u8] = b"the quick brown fox jumps over the lazy dog \xff\0";

/// What row `row` has in field `k`; the flag is whether it is null.
fn value(field: &Field<'_>, seed: u8, row: u32, k: usize) -> (Value<'static>, bool) {
    let n = mixed(seed, row, k);
    let value = match field.ty {
        FieldType::Bool => Value::Bool(n & 1 == 1),
        FieldType::Byte => Value::Byte(n as u8),
        FieldType::Int32 => Value::Int32(n as i32),
        FieldType::Int64 => Value::Int64(n as i64),
        // Multiples of every scale.
        FieldType::Double => Value::Double(f64::from(n as i16) * 4.0),
        FieldType::Variable32 => {
            let (from, to) = (n as usize % TEXT.len(), (n >> 20) as usize % (TEXT.len() + 1));
            Value::Bytes(&TEXT[from.min(to)..to.max(from)])
        }
        FieldType::FixedWidth(size) => Value::Bytes(&TEXT[n as usize % 40..][..size as usize]),
    };
    (value, field.nullable && n >> 60 < 5)
}

fn order<E: Endian>(flags: u8, plan: Plan, data: &[u8]) {
    let (fields, len) = fields(data);
    let fields = &fields[..len];
    let options = Options {
        ordering: if flags & 2 == 0 { Ordering::SmallToBig } else { Ordering::BigToSmall },
        pad: if flags & 4 == 0 { Pad::Original } else { Pad::MaxColumnSize },
        compact: flags & 8 != 0,
    };
    let mut text = [0; 2048];
    let mut xml = TypeXml::begin(SliceSink::new(&mut text), "T & <t>", "n\"'s", (1, 2), options).expect("room");
    for field in fields {
        let base = match field.relative {
            Relative::To(base) => fields[base as usize].name,
            _ => "",
        };
        xml.field(field, &Attributes { base, more: &[("comment", "\t'&'\r")] }).expect("room");
    }
    let sink = xml.end().expect("room");
    let mut memory = [0; 2048];
    let ty = match ExtentType::parse(sink.written(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)) {
        Ok(ty) => ty,
        // Null compaction requires a bool field, and the type has no such field.
        Err(e) => {
            return assert!(options.compact && fields.iter().all(|f| !f.nullable && f.ty != FieldType::Bool), "{e:?}");
        }
    };
    assert_eq!((ty.name(), ty.namespace(), ty.version(), ty.options()), ("T & <t>", "n\"'s", (1, 2), options));
    for (k, field) in fields.iter().enumerate() {
        assert_eq!(ty.field(k), Some(Field { slot: ty.field(k).expect("a field").slot, ..*field }));
    }

    let (mut codes, mut out) = ([0; 1024], [0; 2048]);
    let codes = &mut Scratch::new(&mut codes);
    match plan.how & 3 {
        0 => write::<E, _>(&ty, fields, Stored, plan),
        1 => write::<E, _>(&ty, fields, Lz4::<256>::new(Codes::take(codes).expect("room"), &mut out), plan),
        2 => write::<E, _>(&ty, fields, Lzf::<256>::new(Codes::take(codes).expect("room"), &mut out), plan),
        _ => write::<E, _>(&ty, fields, Snappy::<256>::new(Codes::take(codes).expect("room"), &mut out), plan),
    }
}

fn write<E: Endian, C: Compress>(ty: &ExtentType<'_>, fields: &[Field<'_>], compress: C, plan: Plan) {
    let Plan { how, extents, seed } = plan;
    let mut bytes = [0; 1 << 15];
    let (types, mut slots) = ([Description::from(ty)], [IndexSlot::EMPTY; 4]);
    let mut writer = Writer::<E, _, _>::with(
        SliceSink::new(&mut bytes),
        Descriptions::new(&types).expect("one type"),
        &mut slots,
        compress,
    );
    let (mut rows, mut pool, mut unique) = ([0x77; 1200], [0x77; 1500], [0x77; 16]);
    let memory = Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique };
    let mut extent = match ExtentBuffer::<E, _>::new(*ty, memory) {
        Ok(extent) => extent,
        Err(e) => {
            let wide = fields.iter().any(|field| field.ty.size() > 1);
            let refused = ty.options().compact && (wide || ty.options().ordering == Ordering::BigToSmall);
            return assert!(fields.is_empty() || refused, "{e:?}");
        }
    };
    let mut written = [0u32; 4];
    let mut row = 0;
    for (k, written) in written.iter_mut().enumerate().take(usize::from(extents % 5)) {
        let most = (u32::from(how) >> 2) * (k as u32 + 1);
        while *written < most {
            if !push(&mut extent, fields, seed, row) {
                break;
            }
            (row, *written) = (row + 1, *written + 1);
        }
        assert_eq!(extent.len(), *written);
        match writer.flush_any(&mut extent) {
            Ok(()) => assert!(extent.is_empty()),
            Err(WriteError::Sink(e)) => return assert_eq!(e.kind(), Kind::NoRoom),
            Err(e) => panic!("{e:?}"),
        }
    }
    let Ok(sink) = writer.finish() else { return };
    read::<E>(sink.written(), fields, &written[..usize::from(extents % 5)], seed);
}

/// Adds a row and returns whether it fits. One that does not changes nothing.
fn push<E: Endian>(extent: &mut ExtentBuffer<'_, E, ExtentType<'_>>, fields: &[Field<'_>], seed: u8, row: u32) -> bool {
    let (len, used) = (extent.len(), extent.used());
    let mut stored = || {
        let mut to = extent.row()?;
        for (k, field) in fields.iter().enumerate() {
            let (value, null) = value(field, seed, row, k);
            if null {
                to.null(k)?;
                // The stored value of a null row is arbitrary.
                if mixed(seed, row, k) & 1 == 1 {
                    to.set(k, value)?;
                }
            } else {
                to.set(k, value)?;
            }
        }
        to.end()
    };
    match stored() {
        Ok(()) => true,
        Err(e) => {
            assert_eq!((e.kind(), extent.len(), extent.used()), (Kind::NoRoom, len, used));
            false
        }
    }
}

fn read<E: Endian>(bytes: &[u8], fields: &[Field<'_>], extents: &[u32], seed: u8) {
    let mut memory = [0xa5; 1 << 14];
    let (types, part) = memory.split_at_mut(1 << 12);
    let file = File::<E>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(types)).expect("our own file");
    assert_eq!(file.index().expect("an index").0.len(), extents.len() as u64 + 2);
    let mut table = file.table("T & <t>").expect("our own type");
    let mut row = 0;
    for written in extents {
        let mut scratch = Scratch::new(part);
        let part = table.next_part(&mut scratch).expect("our own extent").expect("as many as were written");
        assert_eq!(part.rows(), u64::from(*written));
        for at in 0..part.rows() {
            for (k, field) in fields.iter().enumerate() {
                let mut memory = [0; 64];
                let column = part.column(k).expect("a column");
                let batch = column.read(at..at + 1, &mut Scratch::new(&mut memory)).expect("a row");
                let expected = match value(field, seed, row, k) {
                    (_, true) => Cell::Missing,
                    (Value::Bool(v), _) => Cell::Bool(v),
                    (Value::Byte(v), _) => Cell::Int(v.into()),
                    (Value::Int32(v), _) => Cell::Int(v.into()),
                    (Value::Int64(v), _) => Cell::Int(v.into()),
                    (Value::Double(v), _) => Cell::F64(v.to_bits()),
                    (Value::Bytes(v), _) => Cell::Bytes(v),
                };
                let got = Cell::of_batch(&batch, 0).expect("a value");
                // A negative scale has a zero of its own sign.
                let zeros = |cell| matches!(cell, Cell::F64(bits) if f64::from_bits(bits) == 0.0);
                assert!(got == expected || (zeros(got) && zeros(expected)), "{got:?} for {expected:?} in {field:?}");
            }
            row += 1;
        }
    }
    if extents.is_empty() {
        let part = table.next_part(&mut Scratch::new(part)).expect("our own type").expect("its columns");
        assert_eq!((part.rows(), part.width()), (0, fields.len()));
    }
    assert!(table.next_part(&mut Scratch::new(part)).expect("the end").is_none());
}
