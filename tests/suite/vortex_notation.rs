//! Types in the notation in which they are displayed: parsed, and given to files and arrays that store none.

use pilaster::any::{Hints, Owned};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _, Type};
use pilaster::error::{Kind, What};
use pilaster::vortex::{Array, DType, DTypeBuf, File};

use crate::build::why;
use crate::common;
use crate::harness::cell::Cell;

/// The type, displayed, parsed and displayed again, and so are its children.
fn round_trip(dtype: DType<'_>, count: &mut usize) {
    let shown = dtype.to_string();
    let parsed: DTypeBuf = shown.parse().unwrap_or_else(|e| panic!("{shown}: {e}"));
    assert_eq!(parsed.to_string(), shown);
    let found = parsed.as_dtype();
    assert_eq!((found.ty(), found.nullable(), found.children()), (dtype.ty(), dtype.nullable(), dtype.children()));
    *count += 1;
    for k in 0..dtype.children() {
        if let Type::Struct(_) = dtype.ty() {
            assert_eq!(found.name(k), dtype.name(k), "{shown}");
        }
        round_trip(dtype.child(k).unwrap(), count);
    }
}

#[test]
fn types_of_every_golden_read_back() {
    let (mut count, mut files) = (0, 0);
    for golden in common::of("vortex").iter().filter(|golden| golden.is("vortex")) {
        let bytes = golden.bytes();
        let Ok(file) = File::open(&bytes) else { continue };
        round_trip(file.dtype(), &mut count);
        files += 1;
        if let Some(shown) = golden.expected["facts"]["dtype"].as_str() {
            assert_eq!(shown.parse::<DTypeBuf>().unwrap().to_string(), shown, "{}", golden.name);
        }
    }
    assert!(files > 90 && count > 500, "{count} types of {files} files");
}

#[test]
fn what_the_text_may_leave_out() {
    for (text, shown) in [
        ("{a=i64,b=utf8?}?", "{a=i64, b=utf8?}?"),
        ("map(i8,{}?)", "map(i8, {}?, keys_sorted=false)"),
        ("map(i8, null, keys_sorted=true)?", "map(i8, null, keys_sorted=true)?"),
        ("decimal(76, -128)", "decimal(76,-128)"),
        ("{=bool, a b.c=binary}", "{=bool, a b.c=binary}"),
        ("vortex.uuid(fixed_size_list(u8)[16]?)", "vortex.uuid(fixed_size_list(u8)[16]?)"),
        ("x.y(vortex.time[µs](i64))", "x.y(i64)"),
    ] {
        assert_eq!(text.parse::<DTypeBuf>().unwrap().to_string(), shown);
    }
    let timestamp: DTypeBuf = "vortex.timestamp[ns, tz=Europe/Berlin](i64?)".parse().unwrap();
    assert_eq!(timestamp.as_dtype().extension().unwrap().unwrap().1, b"\x00\x0d\x00Europe/Berlin");
    assert!(timestamp.as_dtype().nullable());
}

#[test]
fn errors_have_the_position_and_what_is_expected() {
    for (text, kind, what, at) in [
        ("", Kind::Truncated, What::NOTATION_TYPE, 0),
        ("i65", Kind::Invalid, What::NOTATION_TYPE, 0),
        ("i64??", Kind::Invalid, What::NOTATION_END, 4),
        ("null?", Kind::Invalid, What::NOTATION_END, 4),
        ("list", Kind::Truncated, What::NOTATION_OPEN, 4),
        ("list[i64]", Kind::Invalid, What::NOTATION_OPEN, 4),
        ("list(i64", Kind::Truncated, What::NOTATION_CLOSE, 8),
        ("list(i64]", Kind::Invalid, What::NOTATION_CLOSE, 8),
        ("fixed_size_list(u8)(4)", Kind::Invalid, What::NOTATION_BRACKET, 19),
        ("fixed_size_list(u8)[x]", Kind::Invalid, What::NOTATION_NUMBER, 20),
        ("fixed_size_list(u8)[4294967296]", Kind::Overflow, What::NOTATION_NUMBER, 20),
        ("fixed_size_list(u8)[1", Kind::Truncated, What::NOTATION_BRACKET_END, 21),
        ("decimal(77,0)", Kind::Overflow, What::NOTATION_NUMBER, 8),
        ("decimal(5)", Kind::Invalid, What::NOTATION_COMMA, 9),
        ("decimal(5,-)", Kind::Overflow, What::NOTATION_NUMBER, 10),
        ("map(i8)", Kind::Invalid, What::NOTATION_COMMA, 6),
        ("map(i8, i8, sorted)", Kind::Invalid, What::NOTATION_SORTED, 12),
        ("{a}", Kind::Truncated, What::NOTATION_EQUALS, 3),
        ("{a=i8 b=i8}", Kind::Invalid, What::NOTATION_NEXT, 5),
        ("{a=i8, b=}", Kind::Invalid, What::NOTATION_TYPE, 9),
        ("vortex.date(i32)", Kind::Invalid, What::NOTATION_BRACKET, 11),
        ("vortex.date[weeks](i32)", Kind::Invalid, What::NOTATION_UNIT, 12),
        ("vortex.date[days, tz=UTC](i32)", Kind::Invalid, What::NOTATION_BRACKET_END, 16),
        ("(i64)", Kind::Invalid, What::NOTATION_TYPE, 0),
    ] {
        let e = text.parse::<DTypeBuf>().expect_err(text);
        assert_eq!((why(e), e.at()), ((kind, what), at), "{text}");
    }
    let e = "list[i64]".parse::<DTypeBuf>().unwrap_err();
    assert_eq!(e.to_string(), "( in a vortex type at offset 4: invalid value 91 (0x5b)");
}

/// The depth of a type and the number of its nodes are limited, as is what the error costs.
#[test]
fn long_texts_end() {
    let nested = |depth: usize| format!("{}i8{}", "list(".repeat(depth), ")".repeat(depth)).parse::<DTypeBuf>();
    assert!(nested(30).is_ok());
    for depth in [33, 64, 100, 100_000] {
        assert_eq!(why(nested(depth).unwrap_err()), (Kind::Limit, What::MAX_DEPTH), "{depth}");
    }
    let wide = |fields: usize| format!("{{{}a=i8}}", "a=i8,".repeat(fields)).parse::<DTypeBuf>();
    assert_eq!(wide(60_000).unwrap().as_dtype().children(), 60_001);
    assert_eq!(why(wide(70_000).unwrap_err()), (Kind::Limit, What::MAX_NODES));
}

fn path(name: &str) -> String {
    format!("{}/tests/golden/vortex/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn longs(name: &str, hints: &Hints<'_>) -> Result<Vec<i64>, Box<dyn std::error::Error>> {
    Ok(Owned::open(path(name), hints)?.file()?.table(None)?.to_vec("a")?)
}

#[test]
fn a_file_without_a_type_is_read_with_one() {
    let hints = Hints { dtype: Some("{a=i64, b=f64?, s=utf8?}"), ..Hints::default() };
    let typed = longs("lay_no_file_stats_a.vortex", &Hints::default()).unwrap();
    assert_eq!(longs("lay_no_dtype_a.vortex", &hints).unwrap(), typed);
    assert!(longs("lay_no_dtype_a.vortex", &Hints::default()).is_err());
    let bad = Hints { dtype: Some("{a=i64"), ..hints };
    let e = longs("lay_no_dtype_a.vortex", &bad).unwrap_err().to_string();
    assert!(e.contains(", or } in a vortex type at offset 6"), "{e}");
    // The hint is not looked at if the file stores its type.
    assert_eq!(longs("lay_no_file_stats_a.vortex", &bad).unwrap(), typed);
}

#[test]
fn every_single_array_is_read() {
    let mut count = 0;
    for golden in common::of("vortex").iter().filter(|golden| golden.is("varr")) {
        let bytes = golden.bytes();
        let shown = golden.fact("dtype");
        let dtype: DTypeBuf = shown.parse().unwrap();
        let rows = golden.expected["nrows"].as_u64().unwrap();
        let ids = golden.expected["facts"]["encoding_ids"].as_array().unwrap();
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
        let array = Array::parse_with(&bytes, dtype.as_dtype(), rows, &ids, &Default::default()).unwrap();
        if ids == Array::IDS {
            Array::parse(&bytes, dtype.as_dtype(), rows).unwrap();
            count += 1;
        }
        let mut memory = vec![0; array.need().unwrap() as usize];
        array.verify(&mut Scratch::new(&mut memory)).unwrap();
        let column = array.column().unwrap();
        assert_eq!((column.rows(), column.dtype().to_string()), (rows, shown.to_owned()));
        let (mut memory, mut single) = (vec![0; column.need(0..rows).unwrap() as usize], [0; 1 << 16]);
        let batch = column.read(0..rows, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.len as u64, rows);
        for row in 0..rows {
            let one = column.scalar_at(row, &mut Scratch::new(&mut single)).unwrap();
            let (one, all) = (Cell::of_batch(&one, 0), Cell::of_batch(&batch, row as usize));
            assert!(one == all && one.is_ok(), "{} row {row}", golden.name);
        }
        // By any format, with the same hints.
        let hints = Hints { dtype: Some(shown), array_rows: Some(rows), array_ids: Some(&ids), ..Hints::default() };
        let mut owned = Owned::from_bytes(bytes.clone(), pilaster::any::Format::Vortex, &hints).unwrap();
        assert_eq!(
            owned.file().unwrap().table(None).unwrap().next_part(&mut Scratch::new(&mut [])).unwrap().unwrap().rows(),
            rows
        );
    }
    assert!(count > 15, "{count}");
}

#[test]
fn a_damaged_array_is_an_error() {
    let bytes = std::fs::read(path("blob_enc_bool_b_sliced.varr")).unwrap();
    let dtype: DTypeBuf = "bool".parse().unwrap();
    for len in 0..bytes.len() {
        if let Ok(array) = Array::parse(&bytes[..len], dtype.as_dtype(), 260) {
            assert!(array.verify(&mut Scratch::new(&mut [0; 4096])).is_err(), "{len} bytes");
        }
    }
    // Other rows and another type than the array has.
    let verify = |dtype: &str, rows| {
        let dtype: DTypeBuf = dtype.parse().unwrap();
        Array::parse(&bytes, dtype.as_dtype(), rows)?.verify(&mut Scratch::new(&mut vec![0; 1 << 16]))
    };
    assert_eq!(verify("bool", 260), Ok(()));
    assert_eq!(verify("bool", 1 << 20).map_err(why), Err((Kind::Truncated, What::VORTEX_BUFFER)));
    assert_eq!(verify("i64", 260).map_err(why), Err((Kind::Invalid, What::VORTEX_DTYPE)));
}

/// Values of missing rows would be read as if they were there.
#[test]
fn verify_refuses_a_type_without_missing_rows_where_some_are() {
    let mut refused = 0;
    for golden in common::of("vortex").iter().filter(|golden| golden.is("varr")) {
        let (bytes, shown) = (golden.bytes(), golden.fact("dtype"));
        let Some(required) = shown.strip_suffix('?') else { continue };
        let rows = golden.expected["nrows"].as_u64().unwrap();
        let ids = golden.expected["facts"]["encoding_ids"].as_array().unwrap();
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
        let of = |dtype: &str| {
            let dtype: DTypeBuf = dtype.parse().unwrap();
            let array = Array::parse_with(&bytes, dtype.as_dtype(), rows, &ids, &Default::default()).unwrap();
            array.verify(&mut Scratch::new(&mut vec![0; 1 << 20]))
        };
        assert_eq!(of(shown), Ok(()), "{}", golden.name);
        assert_eq!(of(required).map_err(why), Err((Kind::Invalid, What::VORTEX_DTYPE)), "{}", golden.name);
        refused += 1;
    }
    assert!(refused > 4, "{refused}");

    let verify = |dtype| {
        let hints = Hints { dtype: Some(dtype), ..Hints::default() };
        let mut owned = Owned::open(path("lay_no_dtype_a.vortex"), &hints).unwrap();
        let pilaster::any::File::Vortex(file) = owned.file().unwrap() else { panic!("a Vortex file") };
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 20]))
    };
    assert_eq!(verify("{a=i64, b=f64?, s=utf8?}"), Ok(()));
    for dtype in ["{a=i64, b=f64, s=utf8?}", "{a=i64, b=f64?, s=utf8}"] {
        assert!(verify(dtype).is_err(), "{dtype}");
    }
}
