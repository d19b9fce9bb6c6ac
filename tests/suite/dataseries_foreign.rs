//! Types whose records another compiler lays out: the same bytes as the record of `record!`, and no other layout.

use pilaster::bytes::LittleEndian;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{
    Description, Descriptions, ExtentBuffer, Foreign, ForeignField, IndexSlot, Memory, Record, Stored, Writer,
};
use pilaster::error::{Kind, What};

record! {
    struct Probe<'a> = "Probe" namespace "example.org" version 1.0 {
        on: bool nullable,
        n: int32 relative,
        time: int64 relative,
        sent: int64 nullable relative to time,
        temp: double relative scaled 0.01,
        id: fixedwidth 3,
        note: variable32 nullable,
        place: variable32 unique,
    }
}

/// The fields of [`Probe`], as a C compiler would compute them: one byte of bits, 3 bytes, an int32, two strings, 24 bytes.
const FIELDS: [ForeignField; 8] = {
    const fn field(kind: u8, at: u32, size: u32) -> ForeignField {
        let (multiplier, null_at, relative, mask, null_mask, flags) = (0.0, 0, 0, 0, 0, 0);
        ForeignField { multiplier, at, size, null_at, relative, kind, mask, null_mask, flags }
    }
    [
        ForeignField { mask: 1, null_mask: 2, ..field(0, 0, 0) },
        ForeignField { relative: 2, ..field(2, 4, 4) },
        ForeignField { relative: 3, ..field(3, 16, 8) },
        ForeignField { relative: 3, null_mask: 4, ..field(3, 24, 8) },
        ForeignField { relative: 5, multiplier: 1.0 / 0.01, flags: ForeignField::SCALED, ..field(4, 32, 8) },
        field(6, 1, 3),
        ForeignField { null_mask: 8, ..field(5, 8, 4) },
        ForeignField { flags: ForeignField::UNIQUE, ..field(5, 12, 4) },
    ]
};

fn probe(n: i32) -> Probe<'static> {
    let time = 1_700_000_000_000 + i64::from(n);
    Probe {
        on: (n % 3 != 0).then_some(n % 2 == 0),
        n: n * n,
        time,
        sent: (n % 4 != 0).then_some(time + 5),
        temp: 21.5 + f64::from(n) * 0.01,
        id: [1, 2, n as u8],
        note: (n % 5 != 0).then_some(&b"a note"[..(n % 6) as usize]),
        place: [&b"attic"[..], b"cellar"][(n % 2) as usize],
    }
}

/// The record without its strings, as C stores it.
fn record(row: &Probe<'_>) -> [u8; 40] {
    let bits = u8::from(row.on == Some(true))
        | u8::from(row.on.is_none()) << 1
        | u8::from(row.sent.is_none()) << 2
        | u8::from(row.note.is_none()) << 3;
    let mut record = [0; 40];
    record[0] = bits;
    record[1..4].copy_from_slice(&row.id);
    record[4..8].copy_from_slice(&row.n.to_le_bytes());
    record[16..24].copy_from_slice(&row.time.to_le_bytes());
    record[24..32].copy_from_slice(&row.sent.unwrap_or(0).to_le_bytes());
    record[32..40].copy_from_slice(&row.temp.to_le_bytes());
    record
}

#[test]
fn the_bytes_are_those_of_a_record() {
    let (mut slots, mut rows, mut pool, mut unique) = ([IndexSlot::EMPTY; 20], [0; 400], [0; 400], [0; 8]);
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Probe<'_>>(), &mut slots);
    let memory = Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique };
    let mut extent = ExtentBuffer::of::<Probe<'_>>(memory).unwrap();
    (0..95).for_each(|n| log.push(&mut extent, &probe(n)).unwrap());
    log.flush(&mut extent).unwrap();
    let expected = log.finish().unwrap();

    let (mut slots, mut rows, mut pool, mut unique) = ([IndexSlot::EMPTY; 20], [0; 400], [0; 400], [0; 8]);
    let types = [Description { name: Probe::NAME, xml: Probe::XML.as_bytes() }];
    let types = Descriptions::new(&types).unwrap();
    let mut log = Writer::<LittleEndian, _, _>::with(Vec::new(), types, &mut slots, Stored);
    let memory = Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique };
    let mut extent = ExtentBuffer::new(Foreign::<true, true>::new("Probe", &FIELDS).unwrap(), memory).unwrap();
    for n in 0..95 {
        let row = probe(n);
        log.push_foreign(&mut extent, &record(&row), [row.note.unwrap_or_default(), row.place].into_iter()).unwrap();
    }
    let kept = (extent.len(), extent.used());
    let short = extent.push_foreign(&[0; 39], core::iter::empty()).unwrap_err();
    assert_eq!((short.kind(), short.need()), (Kind::Misuse, 40));
    let three = [&b"note"[..], b"attic", b"cellar"];
    let many = extent.push_foreign(&record(&probe(1)), three.into_iter()).unwrap_err();
    assert_eq!((many.kind(), many.what(), many.at()), (Kind::Misuse, What::DATASERIES_FIELD, FIELDS.len() as u64));
    let few = extent.push_foreign(&record(&probe(1)), [&b"note"[..]].into_iter()).unwrap_err();
    assert_eq!((few.kind(), few.what(), few.at()), (Kind::Misuse, What::DATASERIES_FIELD, 7));
    let long = [&[b'x'; 500][..], b""];
    assert_eq!(extent.push_foreign(&record(&probe(1)), long.into_iter()).unwrap_err().kind(), Kind::NoRoom);
    assert_eq!((extent.len(), extent.used()), kept, "a refused row changes nothing");
    log.flush(&mut extent).unwrap();
    assert!(log.finish().unwrap() == expected);
}

/// Types without strings take none, also those that a C compiler lays out.
#[test]
fn surplus_strings_are_refused_without_strings_in_the_type() {
    let field = ForeignField { mask: 0, null_mask: 0, relative: 0, ..FIELDS[1] };
    let fields = [ForeignField { at: 0, ..field }];
    let mut rows = [0; 16];
    let ty = Foreign::<false, false>::new("Number", &fields).unwrap();
    let mut extent = ExtentBuffer::<LittleEndian, _>::new(ty, Memory::rows(&mut rows)).unwrap();
    let surplus = extent.push_foreign(&[0; 8], [&b""[..]].into_iter()).unwrap_err();
    assert_eq!((surplus.kind(), surplus.what(), surplus.at()), (Kind::Misuse, What::DATASERIES_FIELD, 1));
    assert!(extent.is_empty());
    extent.push_foreign(&[0; 8], core::iter::empty()).unwrap();
    assert_eq!(extent.len(), 1);
}

/// The library computes the same layout at compile time as a C compiler.
#[test]
fn fields_are_laid_out_at_compile_time() {
    const LAID_OUT: ([ForeignField; 8], Option<u32>) = {
        let (mut fields, mut k) = (FIELDS, 0);
        while k < fields.len() {
            let ForeignField { kind, multiplier, relative, flags, null_mask, .. } = fields[k];
            let (at, null_at, mask, nullable) = (77, 77, 0, if null_mask == 0 { 0 } else { 1 });
            let size = if kind == 6 { 3 } else { 77 };
            fields[k] =
                ForeignField { multiplier, at, size, null_at, relative, kind, mask, null_mask: nullable, flags };
            if nullable == 0 {
                fields[k].null_at = 0;
            }
            k += 1;
        }
        let len = ForeignField::lay_out(&mut fields);
        (fields, len)
    };
    assert_eq!(LAID_OUT, (FIELDS, Some(Probe::RECORD_LEN as u32)));

    let bits =
        |count| ForeignField::lay_out(&mut vec![ForeignField { null_mask: 1, ..ForeignField::default() }; count]);
    assert_eq!(bits(1 << 18), Some(1 << 16));
    assert_eq!(bits((1 << 18) + 1), None, "the offset of the last bit has more than 16 bits");
    assert_eq!(ForeignField::lay_out(&mut [ForeignField { kind: 7, ..ForeignField::default() }]), None);
    assert_eq!(ForeignField::lay_out(&mut [ForeignField { kind: 6, size: 1 << 31, ..ForeignField::default() }]), None);
}

/// A type with one wrong number is refused, unless the number has no meaning there.
#[test]
fn other_layouts_are_refused() {
    let check = |k: usize, change: &dyn Fn(&mut ForeignField)| {
        let mut fields = FIELDS;
        change(&mut fields[k]);
        Foreign::<true, true>::new("Probe", &fields).map(drop).map_err(|e| (e.kind(), e.what(), e.at()))
    };
    let wrong = |at| Err((Kind::Misuse, What::DATASERIES_FIELD, at));
    for k in 0..FIELDS.len() {
        assert_eq!(check(k, &|field| field.at += 1), wrong(k as u64));
        assert_eq!(check(k, &|field| field.at = u32::MAX), wrong(k as u64));
        assert_eq!(check(k, &|field| field.kind = 7), wrong(k as u64));
        assert!(check(k, &|field| field.size = 77).is_err());
        assert_eq!(check(k, &|field| field.mask ^= 0x80), wrong(k as u64));
        assert_eq!(check(k, &|field| field.relative = 9), wrong(k as u64));
    }
    assert_eq!(check(3, &|field| field.null_at = 1), wrong(3));
    assert_eq!(check(3, &|field| field.relative = 5), wrong(3), "a base below it");
    assert_eq!(check(3, &|field| field.relative = 2), wrong(3), "a base of another type");
    assert_eq!(check(4, &|field| field.flags = 0), wrong(4), "a double relative to itself has a scale");
    assert_eq!(check(2, &|field| field.flags = ForeignField::SCALED), wrong(2));
    assert_eq!(check(2, &|field| field.flags = ForeignField::UNIQUE), wrong(2));
    assert_eq!(check(0, &|field| field.relative = 1), wrong(0), "a bool is not relative");
    assert_eq!(
        Foreign::<false, true>::new("Probe", &FIELDS).unwrap_err().at(),
        6,
        "strings, and the code for them is left out"
    );
    assert_eq!(Foreign::<true, false>::new("Probe", &FIELDS).unwrap_err().at(), 4, "a relative double, likewise");
    let mut absolute = FIELDS;
    absolute[4].relative = 0;
    assert!(Foreign::<true, false>::new("Probe", &absolute).is_ok());
    let wide = [ForeignField { kind: 6, size: u32::MAX, ..ForeignField::default() }];
    assert_eq!(Foreign::<false, false>::new("Wide", &wide).unwrap_err().kind(), Kind::Overflow);
}

#[test]
fn memory_without_a_record_is_refused() {
    for len in [0, 39, 40] {
        let mut rows = vec![0; len];
        let made = ExtentBuffer::<LittleEndian, _>::of::<Probe<'_>>(Memory::rows(&mut rows));
        match made {
            Ok(extent) => assert_eq!((len, extent.room()), (40, 1)),
            Err(e) => {
                assert!(len < 40);
                assert_eq!((e.kind(), e.what(), e.need()), (Kind::Misuse, What::DATASERIES_FIXED, 40));
                let text = "the memory for rows of a dataseries extent holds no record: 40 bytes needed";
                assert_eq!(e.to_string(), text);
            }
        }
    }
}
