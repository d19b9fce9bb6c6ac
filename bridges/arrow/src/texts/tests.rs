use super::*;

const DATA: &[u8] = "shortlonger than twelve bytesßmedium of 16 bytes".as_bytes();

fn spans(places: &[(u32, u32)]) -> Vec<[u32; 2]> {
    places.iter().map(|(at, len)| [*at, *len]).collect()
}

fn texts(ty: &DataType, spans: &[[u32; 2]], nulls: Option<&[bool]>) -> Result<Vec<Option<String>>, Error> {
    let copied = read(ty, (DATA, Spans::Each(spans)), nulls, None);
    // As a part of a file.
    let file = Buffer::from(DATA);
    let stayed = read(ty, (&file, Spans::Each(spans)), nulls, Some(&file));
    assert_eq!(copied.as_ref().ok(), stayed.as_ref().ok(), "{ty} {spans:?}");
    stayed
}

fn read(
    ty: &DataType,
    (data, spans): (&[u8], Spans<'_>),
    nulls: Option<&[bool]>,
    file: Option<&Buffer>,
) -> Result<Vec<Option<String>>, Error> {
    let texts = VarBytes { data, spans };
    let len = texts.len();
    let nulls = nulls.map(NullBuffer::from);
    let mut home = Home { file: file.cloned(), limit: 1 << 20, room: 1 << 20, ..Home::default() };
    let array = match has_views(ty) {
        true => decoded(ty, &texts, nulls, (&(0..0), &mut home))?,
        false => copied(ty, &texts, nulls, &mut home)?,
    };
    assert_eq!((array.data_type(), array.len()), (ty, len));
    let array = arrow_cast::cast(&array, &DataType::LargeUtf8)?;
    Ok(array.as_string::<i64>().iter().map(|text| text.map(str::to_owned)).collect())
}

/// Texts with offsets that lie outside of a file are checked at once.
#[test]
fn texts_with_offsets_become_views() {
    let data = DATA.get(..34).unwrap_or_default();
    let read = |offsets: &[u32], nulls: Option<&[bool]>| {
        let held = HeldTexts { data: Buffer::from(data), spans: HeldSpans::Off32(Buffer::from_vec(offsets.to_vec())) };
        let mut home = Home { limit: 1 << 20, room: 1 << 20, ..Home::default() };
        array(&DataType::Utf8View, &held, nulls.map(NullBuffer::from), &mut home).map(|array| {
            let texts = array.as_string_view();
            texts.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
        })
    };
    let text = |text: &str| Some(text.to_owned());
    let all = [text("short"), text("longer than twelve bytes"), text("ß"), text("med")];
    assert_eq!(read(&[0, 5, 29, 31, 34], None).ok().as_deref(), Some(&all[..]));
    // A missing text is not checked: its place may be within a character.
    let some = read(&[0, 5, 29, 30, 34], Some(&[true, true, false, false]));
    assert_eq!(some.ok(), Some(vec![text("short"), text("longer than twelve bytes"), None, None]));
    // Within a character, out of order, outside of the bytes.
    for offsets in [&[0, 5, 29, 30, 34][..], &[0, 29, 5, 31, 34], &[0, 5, 29, 31, 35], &[0, 5, 29, u32::MAX, 34]] {
        assert!(read(offsets, None).is_err(), "{offsets:?}");
    }
}

#[test]
fn texts_are_the_same_in_every_form() -> Result<(), Error> {
    let places = [(0, 5), (5, 24), (29, 2), (0, 0), (31, 18), (33, 16), (48, 1), (5, 24)];
    let shown = |(at, len): &(u32, u32)| {
        DATA.get(*at as usize..(at + len) as usize).map(|text| String::from_utf8_lossy(text).into_owned())
    };
    // A text of its own in each row, and one that all rows repeat: it is gathered, or stays where it is.
    for places in [places.to_vec(), vec![(5, 24); 100]] {
        let expected: Vec<_> = places.iter().map(shown).collect();
        for ty in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            assert_eq!(texts(&ty, &spans(&places), None)?, expected, "{ty}");
            let present: Vec<bool> = (0..places.len()).map(|i| i % 3 != 1).collect();
            let some = expected.iter().zip(&present).map(|(text, present)| text.clone().filter(|_| *present));
            assert_eq!(texts(&ty, &spans(&places), Some(&present))?, some.collect::<Vec<_>>(), "{ty}");
        }
    }
    Ok(())
}

#[test]
fn spans_outside_of_the_bytes_are_errors() {
    let end = u32::try_from(DATA.len()).unwrap_or(0);
    for place in [(end, 1), (end - 3, 4), (end + 1, 0), (0, end + 1), (u32::MAX, u32::MAX), (0, u32::MAX)] {
        for ty in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            let found = texts(&ty, &spans(&[(0, 5), place]), None);
            assert!(found.is_err() || place == (end + 1, 0), "{place:?} {ty} {found:?}");
        }
    }
    // Half of a character, although all bytes are text.
    assert!(texts(&DataType::Utf8, &spans(&[(29, 1), (30, 1)]), None).is_err());
    assert!(texts(&DataType::Utf8View, &spans(&[(29, 1), (30, 1), (5, 20)]), None).is_err());
}

#[test]
fn offsets_of_a_file_are_checked() {
    let file = Buffer::from([DATA, b"\xff\xff"].concat());
    let len = u32::try_from(file.len()).unwrap_or(0);
    let check = |offsets: &[u32], nulls: Option<&[bool]>, expected: Option<&[Option<&str>]>| {
        let wide: Vec<u64> = offsets.iter().map(|offset| u64::from(*offset)).collect();
        for spans in [Spans::Off32(offsets), Spans::Off64(&wide)] {
            for ty in [DataType::Utf8, DataType::LargeUtf8] {
                let found = read(&ty, (&file, spans), nulls, Some(&file)).ok();
                let found: Option<Vec<_>> = found.as_ref().map(|all| all.iter().map(|text| text.as_deref()).collect());
                assert_eq!(found.as_deref(), expected, "{ty} {offsets:?}");
            }
        }
    };
    check(&[1, 5, 5, 8], None, Some(&[Some("hort"), Some(""), Some("lon")]));
    check(&[5, 5], None, Some(&[Some("")]));
    // A missing row need not be UTF-8, and others must be.
    check(&[len - 4, len - 2, len], Some(&[true, false]), Some(&[Some("es"), None]));
    check(&[len - 4, len - 2, len], None, None);
    // Half of a character; descending offsets; an end outside of the bytes.
    for wrong in
        [&[28, 30, 31][..], &[5, 9, 7], &[9, 5], &[5, 2, 9], &[5, len + 1], &[len + 1, len + 1], &[u32::MAX, 5]]
    {
        check(wrong, None, None);
    }
}

#[test]
fn texts_that_are_copied_at_once_are_those_of_a_copy_row_by_row() -> Result<(), Error> {
    let long = "a text of more than twelve bytes ß".repeat(40);
    let rows: Vec<&str> = long.split_inclusive("te").collect();
    let ends = rows.iter().scan(0u32, |end, row| {
        *end = end.saturating_add(u32::try_from(row.len()).unwrap_or(0));
        Some(*end)
    });
    let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let each: Vec<[u32; 2]> = offsets.iter().zip(offsets.iter().skip(1)).map(|(at, end)| [*at, end - at]).collect();
    for skipped in [0, 3] {
        let (expected, offsets) = (rows.get(skipped..).unwrap_or_default(), offsets.get(skipped..).unwrap_or_default());
        let wide: Vec<u64> = offsets.iter().map(|offset| u64::from(*offset)).collect();
        let each = Spans::Each(each.get(skipped..).unwrap_or_default());
        for spans in [Spans::Off32(offsets), Spans::Off64(&wide), each] {
            for ty in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
                let all = read(&ty, (long.as_bytes(), spans), None, None)?;
                assert_eq!(
                    all.iter().map(|text| text.as_deref().unwrap_or("none")).collect::<Vec<_>>(),
                    expected,
                    "{ty}"
                );
                let present: Vec<bool> = (0..expected.len()).map(|i| i % 5 != 4).collect();
                let some = read(&ty, (long.as_bytes(), spans), Some(&present), None)?;
                let kept = all.into_iter().zip(&present).map(|(text, present)| text.filter(|_| *present));
                assert_eq!(some, kept.collect::<Vec<_>>(), "{ty}");
            }
        }
    }
    // One character is cut in two.
    let cut = u32::try_from(long.find('ß').unwrap_or(0)).unwrap_or(0) + 1;
    for ty in [DataType::Utf8, DataType::Utf8View] {
        let spans = [[0, cut], [cut, 40]];
        assert!(read(&ty, (long.as_bytes(), Spans::Each(&spans)), None, None).is_err(), "{ty}");
        assert!(read(&DataType::Utf8, (long.as_bytes(), Spans::Off32(&[0, cut, cut + 40])), None, None).is_err());
    }
    Ok(())
}

#[test]
fn texts_that_stay_take_their_offsets_only() -> Result<(), Error> {
    let file = Buffer::from(DATA);
    let texts = VarBytes { data: &file, spans: Spans::Off32(&[1, 5, 8]) };
    let mut home = Home { file: Some(file.clone()), limit: 1 << 20, room: 1 << 20, ..Home::default() };
    let array = copied(&DataType::Utf8, &texts, None, &mut home)?;
    assert_eq!((home.copied, home.compacted), (0, 12));
    assert_eq!(array.as_string::<i32>().values().as_ptr(), file.as_slice().get(1..).unwrap_or_default().as_ptr());
    // Offsets that exceed the limit are not made: the texts are copied.
    home.limit = 11;
    let copy = copied(&DataType::Utf8, &texts, None, &mut home)?;
    assert_eq!((home.copied, copy.len()), (7, 2));
    Ok(())
}
