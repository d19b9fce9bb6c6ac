//! Tables that continue at a bookmark in a file that was opened again, and what is known of a table without its rows.

use std::fs;

use pilaster::any::{File, Format, Hints, Table};
use pilaster::bcolz::Dataset;
use pilaster::bcolz::write::{FileSystem, Spec, Writer as Bcolz};
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::{Bookmark, Column, Part, Table as _, Type};
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Writer};
use pilaster::error::{Error, What};

use crate::ranges::{goldens, opened, rows};

/// The rows of the next part as text, or the error; `None` after the last one.
fn next(table: &mut impl pilaster::column::Table) -> Option<Vec<String>> {
    let mut memory = vec![0; 1 << 21];
    let part = match table.next_part(&mut Scratch::new(&mut memory)) {
        Ok(part) => part?,
        Err(e) => return Some(vec![format!("{e:?}")]),
    };
    let mut all = vec![part.rows().to_string()];
    for k in 0..part.width() {
        match part.column(k) {
            Ok(column) => rows(&column, 700, &mut all),
            Err(e) => all.push(format!("{e:?}")),
        }
    }
    Some(all)
}

#[test]
fn a_file_that_is_opened_for_each_part_has_the_same_parts() {
    let mut several = 0;
    for format in [Format::Jay, Format::DataSeries, Format::Vortex] {
        for path in goldens(format) {
            let bytes = fs::read(&path).unwrap();
            let with = |name: &str, look: &mut dyn FnMut(&mut Table<'_>)| {
                opened(None, &bytes, format, false, |file| look(&mut file.table(Some(name)).unwrap())).unwrap();
            };
            let names = opened(None, &bytes, format, false, |file| {
                file.tables().filter(|name| file.table(Some(name)).is_ok()).map(str::to_owned).collect::<Vec<_>>()
            });
            for name in names.unwrap_or_default() {
                let (mut expected, mut marks) = (Vec::new(), vec![Bookmark::START]);
                with(&name, &mut |table| {
                    assert_eq!(table.bookmark(), Bookmark::START);
                    while let Some(part) = next(table) {
                        expected.push(part);
                        marks.push(table.bookmark());
                        if expected.len() > 50 {
                            return;
                        }
                    }
                });
                several += usize::from(expected.len() > 1);
                for (k, at) in marks.into_iter().enumerate().take(50) {
                    let at = Bookmark::new(at.numbers().0, at.numbers().1);
                    with(&name, &mut |table| {
                        table.seek(at).unwrap();
                        assert_eq!(table.bookmark(), at, "{} {name}", path.display());
                        assert_eq!(next(table), expected.get(k).cloned(), "{} {name}: part {k}", path.display());
                    });
                }
            }
        }
    }
    assert!(several > 20, "{several} tables of several parts");
}

#[test]
fn any_bookmark_gives_rows_or_an_error() {
    for path in goldens(Format::DataSeries).iter().take(40) {
        let bytes = fs::read(path).unwrap();
        let look = |file: &File<'_>| {
            for name in file.tables() {
                let Ok(mut table) = file.table(Some(name)) else { continue };
                for at in [0, 1, 40, bytes.len() as u64, u64::MAX] {
                    for passed in [1, 2, 1000, u64::MAX - 1, u64::MAX] {
                        table.seek(Bookmark::new(at, passed)).unwrap();
                        (0..3).for_each(|_| drop(next(&mut table)));
                    }
                }
            }
        };
        opened(None, &bytes, Format::DataSeries, false, look).unwrap_or_default();
        // From the front, without the index, where a bookmark is an offset.
        let mut memory = vec![0; 1 << 16];
        let hints = Hints { sequential: true, ..Hints::default() };
        if let Ok(file) = File::open(&bytes, Format::DataSeries, &hints, &mut Scratch::new(&mut memory)) {
            look(&file);
        }
    }
}

/// A header that is damaged ends the table; the rest is not read as a table without rows.
#[test]
fn a_skip_that_fails_is_passed() {
    let bytes = ticks();
    let mut memory = vec![0; 1 << 16];
    let hints = Hints { sequential: true, ..Hints::default() };
    let file = File::open(&bytes, Format::DataSeries, &hints, &mut Scratch::new(&mut memory)).unwrap();
    let mut table = file.table(None).unwrap();
    next(&mut table).unwrap();
    let (second, mut compared) = (table.bookmark().numbers().0 as usize, 0);
    for at in [0, 2, 3, 6, 28] {
        let mut bytes = bytes.clone();
        bytes[second + at] ^= 0x80;
        let mut memory = vec![0; 1 << 16];
        let file = File::open(&bytes, Format::DataSeries, &hints, &mut Scratch::new(&mut memory)).unwrap();
        let (mut skipped, mut read) = (file.table(None).unwrap(), file.table(None).unwrap());
        next(&mut read).unwrap();
        let skip = skipped.skip(1500).err();
        let mut memory = [0; 1 << 12];
        // A skip compares no checksum.
        if read.next_part(&mut Scratch::new(&mut memory)).err() != skip {
            continue;
        }
        compared += 1;
        assert_eq!(skipped.bookmark(), read.bookmark(), "{at}");
        assert_eq!(next(&mut skipped), next(&mut read), "{at}");
    }
    assert!(compared > 1, "{compared} headers that are no headers");
}

/// Few bytes claim any number of rows.
#[test]
fn an_empty_choice_compares_the_number_of_rows() {
    let mut bytes = ticks();
    let hints = Hints { sequential: true, ..Hints::default() };
    let first = {
        let mut memory = vec![0; 1 << 16];
        let file = File::open(&bytes, Format::DataSeries, &hints, &mut Scratch::new(&mut memory)).unwrap();
        let mut table = file.table(None).unwrap();
        next(&mut table).unwrap();
        let end = table.bookmark().numbers().0 as usize;
        // The number of records is the third word of the header of the first extent.
        bytes[..end].windows(4).rposition(|word| *word == 1000u32.to_le_bytes()).unwrap()
    };
    bytes[first..first + 4].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    let mut memory = vec![0; 1 << 16];
    let file = File::open(&bytes, Format::DataSeries, &hints, &mut Scratch::new(&mut memory)).unwrap();
    let mut table = file.table(None).unwrap();
    table.choose(Some(&[]));
    let e = table.next_part(&mut Scratch::new(&mut [])).map(|part| part.map(|part| part.rows())).unwrap_err();
    assert_eq!(e.what(), What::DATASERIES_ROWS);
}

record! {
    struct Tick<'a> = "Tick" { time: int64, note: variable32 nullable }
}

#[test]
fn a_table_without_rows_has_a_part_with_its_columns() {
    let file = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick<'_>>(), &mut []);
    let bytes = file.finish().unwrap();
    let columns = |file: &File<'_>| -> Result<(), Error> {
        let mut table = file.table(Some("Tick"))?;
        for choice in [None, Some(&[][..]), Some(&[0][..])] {
            table.choose(choice);
            table.restart()?;
            assert_eq!(table.skip(7)?, 0);
            let mut memory = [0; 64];
            let part = table.next_part(&mut Scratch::new(&mut memory))?.expect("one part");
            let types = (0..part.width()).map(|k| part.column(k).map(|column| (column.ty(), column.rows())));
            assert_eq!((part.rows(), part.find("note")?), (0, Some(1)));
            assert!(types.eq([Ok((Type::Prim(pilaster::column::Prim::I64), 0)), Ok((Type::Bytes, 0))]));
            let end = table.bookmark();
            assert!(table.next_part(&mut Scratch::new(&mut []))?.is_none());
            table.seek(end)?;
            assert!(table.next_part(&mut Scratch::new(&mut []))?.is_none());
        }
        Ok(())
    };
    opened(None, &bytes, Format::DataSeries, false, columns).unwrap().unwrap();
}

/// Three extents.
fn ticks() -> Vec<u8> {
    let mut slots = [IndexSlot::EMPTY; 3];
    let mut file = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick<'_>>(), &mut slots);
    let mut extent = ExtentBuffer::growing(pilaster::dataseries::write::Of::<Tick<'_>>::default()).unwrap();
    for count in [1000, 1, 500] {
        (0..count).for_each(|time| extent.push(&Tick { time, note: None }).unwrap());
        file.flush(&mut extent).unwrap();
    }
    file.finish().unwrap()
}

/// No memory is needed for rows that are not unpacked.
#[test]
fn an_empty_choice_unpacks_nothing() {
    let parts = |file: &File<'_>| {
        let mut table = file.table(None).unwrap();
        assert!(table.choose(Some(&[])));
        let mut rows = Vec::new();
        while let Some(part) = table.next_part(&mut Scratch::new(&mut [])).unwrap() {
            assert_eq!(part.column(0).unwrap().rows(), 0);
            rows.push(part.rows());
        }
        assert_eq!(rows, [1000, 1, 500]);
    };
    opened(None, &ticks(), Format::DataSeries, false, parts).unwrap();
}

#[test]
fn a_dataset_continues_at_a_bookmark() {
    let dir = std::env::temp_dir().join(format!("pilaster-bookmark-{}", std::process::id()));
    let spec = Spec { chunklen: Some(2), ..Spec::new("uint8") };
    let mut writer = Bcolz::create_array(FileSystem::default(), &dir, &spec).unwrap();
    writer.put(0, &[1, 2, 3, 4, 5]).unwrap();
    writer.finish().unwrap();
    let (mut at, mut rows) = (Bookmark::START, Vec::new());
    loop {
        let dataset = Dataset::open(&dir).unwrap();
        let mut table = dataset.table();
        table.seek(at).unwrap();
        let mut memory = vec![0; 4096];
        let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() else { break };
        rows.extend(part.column(0).unwrap().to_vec::<u8>(0..part.rows()).unwrap());
        at = table.bookmark();
    }
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(rows, [1, 2, 3, 4, 5]);
}
