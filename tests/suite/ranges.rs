//! Files that are read range by range: the same rows and the same errors as from memory, and only the bytes that the rows
//! take.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilaster::any::{self, File, Format, Hints};
use pilaster::bytes::{Fetch as _, FileRange, Input, LittleEndian, Ranges, Scratch, Sink};
use pilaster::column::{Column, Memory, Part as _, Table as _, Value, fit};
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory as Room, Writer};
use pilaster::dataseries::{self, record};
use pilaster::error::{Error, What};
use pilaster::jay;

use crate::build;
use pilaster_oracle::jay as owned_jay;
use pilaster_oracle::planus::Builder;

/// All files of one format among the goldens, without those that are very large.
pub fn goldens(format: Format) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format.name());
    let extension = if format == Format::DataSeries { "ds" } else { format.name() };
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter(|path| path.metadata().unwrap().len() < 200_000)
        .collect();
    files.sort();
    assert!(files.len() > 20, "{format}");
    files
}

fn ranges_of(bytes: &[u8]) -> Ranges {
    let (len, bytes) = (bytes.len() as u64, Arc::<[u8]>::from(bytes));
    Ranges::new(len, move |at, to| {
        to.copy_from_slice(&bytes[at as usize..][..to.len()]);
        Ok(())
    })
}

/// Calls `look` with the file, opened in memory that suffices.
pub fn opened<R>(
    ranges: Option<&Ranges>,
    bytes: &[u8],
    format: Format,
    tolerant: bool,
    look: impl FnOnce(&File<'_>) -> R,
) -> Result<R, Error> {
    let hints = Hints { tolerant, ..Hints::default() };
    let mut memory = Memory::default();
    let open = |memory: &mut Memory| -> Result<(), Error> {
        let input = ranges.map_or(Input::whole(bytes), Ranges::input);
        File::open_input(input, format, &hints, &mut memory.scratch()).map(|_| ())
    };
    while let Err(e) = open(&mut memory) {
        memory.grow(e)?;
    }
    let input = ranges.map_or(Input::whole(bytes), Ranges::input);
    Ok(look(&File::open_input(input, format, &hints, &mut memory.scratch())?))
}

/// All rows of a column and of its children as text. An error ends the column.
pub fn rows<C: Column>(column: &C, step: u64, to: &mut Vec<String>) {
    let mut memory = vec![0; 1 << 18];
    let mut row = 0;
    while row < column.rows().min(5000) {
        let end = column.rows().min(row + step);
        let range = match fit(column, row..end, memory.len()) {
            Ok(range) => range,
            Err(e) => return to.push(format!("{e:?}")),
        };
        let batch = match column.read(range, &mut Scratch::new(&mut memory)) {
            Ok(batch) => batch,
            Err(e) => return to.push(format!("{e:?}")),
        };
        for i in 0..batch.len {
            to.push(match batch.value(i) {
                Ok(Value::Nested(_)) => "nested".to_owned(),
                value => format!("{value:?}"),
            });
        }
        row += batch.len as u64;
    }
    for k in 0..column.ty().children() {
        match column.child(k) {
            Ok(child) => rows(&child, step, to),
            Err(e) => to.push(format!("{e:?}")),
        }
    }
}

/// Everything that a file says: tables, columns, rows, and whether it verifies.
fn contents(ranges: Option<&Ranges>, bytes: &[u8], format: Format, tolerant: bool) -> Vec<String> {
    let show = |file: &File<'_>| {
        let mut all = Vec::new();
        for name in file.tables() {
            let mut memory = vec![0; 1 << 21];
            let mut table = match file.table(Some(name)) {
                Ok(table) => table,
                Err(e) => {
                    all.push(format!("{e:?}"));
                    continue;
                }
            };
            loop {
                match table.next_part(&mut Scratch::new(&mut memory)) {
                    Ok(None) => break,
                    Ok(Some(part)) => {
                        for k in 0..part.width() {
                            all.push(format!("{:?}", part.name(k)));
                            match part.column(k) {
                                Ok(column) => {
                                    all.push(format!("{} {}", column.ty(), column.nullable()));
                                    rows(&column, 700, &mut all);
                                }
                                Err(e) => all.push(format!("{e:?}")),
                            }
                        }
                    }
                    Err(e) => {
                        all.push(format!("{e:?}"));
                        break;
                    }
                }
            }
        }
        let mut memory = vec![0; 1 << 22];
        all.push(format!("{:?}", file.verify(&mut Scratch::new(&mut memory))));
        all
    };
    opened(ranges, bytes, format, tolerant, show).unwrap_or_else(|e| vec![format!("{e:?}")])
}

fn same(format: Format, tolerant: bool, changes: usize) {
    for path in goldens(format) {
        let mut bytes = fs::read(&path).unwrap();
        let mut seed = bytes.len();
        for change in 0..=changes {
            let ranges = ranges_of(&bytes);
            let (whole, parts) =
                (contents(None, &bytes, format, tolerant), contents(Some(&ranges), &bytes, format, tolerant));
            if whole != parts {
                let differ = whole.iter().zip(&parts).find(|(whole, part)| whole != part);
                panic!("{} change {change}: {differ:?}", path.display());
            }
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let at = (seed >> 20) % bytes.len();
            bytes[at] ^= 1 << (seed >> 9 & 7);
        }
    }
}

#[test]
fn jay_by_ranges_is_as_in_memory() {
    same(Format::Jay, false, 3);
    same(Format::Jay, true, 3);
}

#[test]
fn dataseries_by_ranges_is_as_in_memory() {
    same(Format::DataSeries, false, 3);
}

#[test]
fn vortex_by_ranges_is_as_in_memory() {
    same(Format::Vortex, false, 2);
}

/// A file of zeros but for some pieces.
fn sparse(len: u64, pieces: Vec<(u64, Vec<u8>)>) -> Ranges {
    Ranges::new(len, move |at, to| {
        to.fill(0);
        for (start, bytes) in &pieces {
            let (from, end) = (at.max(*start), (at + to.len() as u64).min(start + bytes.len() as u64));
            if from < end {
                let piece = &bytes[(from - start) as usize..(end - start) as usize];
                to[(from - at) as usize..(end - at) as usize].copy_from_slice(piece);
            }
        }
        Ok(())
    })
}

const GIB: u64 = 1 << 30;

/// Numbers of 64 bits, and strings that are empty but for the last one, of 40 bytes.
fn large_jay(rows: u64) -> Ranges {
    let (numbers, offsets, text) = (rows * 8, (rows + 1) * 4, 1 << 12);
    let buffer = |offset, length| owned_jay::Buffer { offset, length };
    let column = |stype, name: &str, buffers: Vec<owned_jay::Buffer>| owned_jay::Column {
        type_: Some(Box::new(owned_jay::Type { stype, extra: None })),
        name: Some(name.into()),
        nrows: rows,
        nullcount: 0,
        buffers: Some(buffers),
        ..Default::default()
    };
    let padded = offsets.next_multiple_of(8);
    let columns = vec![
        column(owned_jay::SType::Int64, "a", vec![buffer(0, 0), buffer(0, numbers)]),
        column(
            owned_jay::SType::Str32,
            "s",
            vec![buffer(0, 0), buffer(numbers, offsets), buffer(numbers + padded, text)],
        ),
    ];
    let frame = owned_jay::Frame { nrows: rows, ncols: 2, nkeys: 0, columns: Some(columns) };
    let mut builder = Builder::new();
    let mut end = builder.finish(frame, None).to_vec();
    end.resize(end.len().next_multiple_of(8), 0);
    let meta = 8 + numbers + padded + text;
    let size = end.len() as u64;
    end.extend_from_slice(&size.to_le_bytes());
    end.extend_from_slice(b"\0\0\0\x001JAY");
    let len = meta + end.len() as u64;
    let (at, half) = (8 + numbers + 4 * (rows - 1), 4096u32);
    let last = [half - 40, half].map(u32::to_le_bytes).concat();
    let pieces = vec![
        (0, jay::HEAD.to_vec()),
        (8 + 8 * (rows / 2), 77i64.to_le_bytes().to_vec()),
        (at, last),
        (8 + numbers + padded, vec![b'x'; text as usize]),
        (meta, end),
    ];
    sparse(len, pieces)
}

#[test]
fn ten_gigabytes_of_jay() {
    let rows = 10 * GIB / 8;
    let ranges = large_jay(rows);
    opened(Some(&ranges), &[], Format::Jay, false, |file| {
        assert!(ranges.bytes_read() < 4096, "opening: {}", ranges.bytes_read());
        let mut memory = vec![0; 1 << 16];
        let File::Jay(file) = file else { unreachable!() };
        let a = file.named("a").unwrap();
        let batch = a.read(rows / 2..rows / 2 + 10, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.value(0).unwrap(), Value::Int(77));
        let s = file.named("s").unwrap();
        let batch = s.read(rows - 1..rows, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.value(0).unwrap(), Value::Text(&[b'x'; 40]));
        assert!(ranges.bytes_read() < 8192, "reading: {}", ranges.bytes_read());
    })
    .unwrap();
}

record! {
    struct Tick = "Tick" { time: int64, n: int32 }
}

/// A sink that notes where slices went, and keeps those that differ.
#[derive(Default)]
struct Notes {
    len: u64,
    at: Vec<(u64, Arc<[u8]>)>,
    last: Option<(usize, Arc<[u8]>)>,
}

impl Sink for Notes {
    type Error = std::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        // One slice is written many times.
        let kept = match &self.last {
            Some((place, kept)) if *place == bytes.as_ptr() as usize && kept.len() == bytes.len() => kept.clone(),
            _ => bytes.into(),
        };
        if bytes.len() > 1000 {
            self.last = Some((bytes.as_ptr() as usize, kept.clone()));
        }
        self.at.push((self.len, kept));
        self.len += bytes.len() as u64;
        Ok(())
    }
}

/// `count` extents of 2^16 rows, 1 MiB each.
fn large_dataseries(count: usize) -> Ranges {
    let types = Descriptions::of::<Tick>();
    let mut slots = vec![IndexSlot::EMPTY; count + 2];
    let mut one = Writer::<LittleEndian, _>::new(Vec::new(), types, &mut slots);
    let mut memory = vec![0; 1 << 21];
    let mut extent = ExtentBuffer::of::<Tick>(Room::rows(&mut memory)).unwrap();
    for n in 0..1 << 16 {
        extent.push(&Tick { time: 1000 * i64::from(n), n }).unwrap();
    }
    one.flush(&mut extent).unwrap();
    let bytes = one.finish().unwrap();
    let mut kept = [0; 4096];
    let options = dataseries::ReadOptions::DEFAULT;
    let file = dataseries::File::<LittleEndian>::open(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
    let extent = file.extents().nth(1).unwrap().unwrap();
    let mut many = Writer::<LittleEndian, _>::new(Notes::default(), types, &mut slots);
    for _ in 0..count {
        many.put_stored(&extent).unwrap();
    }
    let notes = many.finish().unwrap();
    Ranges::new(notes.len, move |at, to| {
        let first = notes.at.partition_point(|(start, bytes)| start + bytes.len() as u64 <= at);
        let mut done = 0;
        for (start, bytes) in &notes.at[first..] {
            if done == to.len() {
                break;
            }
            let from = (at + done as u64 - start) as usize;
            let n = (bytes.len() - from).min(to.len() - done);
            to[done..done + n].copy_from_slice(&bytes[from..from + n]);
            done += n;
        }
        Ok(())
    })
}

#[test]
fn ten_gigabytes_of_dataseries() {
    let ranges = large_dataseries(10_000);
    assert!(ranges.input().len() > 9 * GIB);
    opened(Some(&ranges), &[], Format::DataSeries, false, |file| {
        let opening = ranges.bytes_read();
        assert!(opening < 1 << 20, "opening: {opening}");
        let File::DataSeries(file) = file else { unreachable!() };
        let mut memory = vec![0; 1 << 21];
        let mut table = file.table("Tick").unwrap();
        let passed = table.skip(9_000 << 16).unwrap();
        assert_eq!(passed, 9_000 << 16);
        let skipping = ranges.bytes_read() - opening;
        assert!(skipping < 9_002 * 256, "skipping: {skipping}");
        let part = table.next_part(&mut Scratch::new(&mut memory)).unwrap().unwrap();
        assert_eq!(part.named("n").unwrap().to_vec::<i32>(5..7).unwrap(), [5, 6]);
        let part = ranges.bytes_read() - skipping - opening;
        assert!(part < (1 << 20) + (1 << 16), "one extent: {part}");
    })
    .unwrap();
}

#[test]
fn windows_release_what_they_read() {
    let ranges = large_dataseries(200);
    let held = opened(Some(&ranges), &[], Format::DataSeries, false, |file| {
        let mut memory = vec![0; 1 << 22];
        file.verify(&mut Scratch::new(&mut memory)).unwrap();
        pilaster::bytes::Fetch::held(&ranges)
    })
    .unwrap();
    assert!(held < 1 << 20, "{held}");
    assert!(ranges.bytes_read() > 200 << 19, "{}", ranges.bytes_read());
}

/// A file of `chunks` chunks of `rows` numbers each, all zero.
fn large_vortex(chunks: u64, rows: u64) -> Ranges {
    let (len, pieces) = build::chunked(chunks, rows, 0);
    sparse(len, pieces)
}

#[test]
fn ten_gigabytes_of_vortex() {
    let (chunks, rows) = (10_000, 1 << 17);
    let ranges = large_vortex(chunks, rows);
    assert!(ranges.input().len() > 9 * GIB);
    opened(Some(&ranges), &[], Format::Vortex, false, |file| {
        let opening = ranges.bytes_read();
        assert!(opening < 1 << 21, "opening: {opening}");
        let mut memory = vec![0; 1 << 16];
        let any::Table::Vortex(mut table) = file.table(None).unwrap() else { unreachable!() };
        let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().unwrap();
        let column = part.named("a").unwrap();
        let range = chunks / 2 * rows + 3..chunks / 2 * rows + 13;
        let batch = column.read(range, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!((batch.len, batch.value(0).unwrap()), (10, Value::Int(0)));
        let reading = ranges.bytes_read() - opening;
        assert!(reading < (1 << 20) + 4096, "one segment: {reading}");
    })
    .unwrap();
}

#[test]
fn verifying_releases_what_was_read() {
    let ranges = large_jay(1 << 22);
    opened(Some(&ranges), &[], Format::Jay, false, |file| {
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 21])).unwrap();
    })
    .unwrap();
    assert!(ranges.bytes_read() > 48 << 20);
    assert!(pilaster::bytes::Fetch::held(&ranges) < 1 << 12);

    let ranges = large_vortex(100, 1 << 17);
    opened(Some(&ranges), &[], Format::Vortex, false, |file| {
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 21])).unwrap();
    })
    .unwrap();
    assert!(ranges.bytes_read() > 100 << 20);
    assert!(pilaster::bytes::Fetch::held(&ranges) < 1 << 20);
}

/// A damaged header claims a size that the file has: the check value is computed piece by piece.
#[test]
fn a_damaged_size_is_no_reason_to_read_everything() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pilaster::dataseries::recover::{self, Recovered, Salvage};

    let (mut slots, mut memory) = ([IndexSlot::EMPTY; 3], vec![0; 1 << 12]);
    let mut writer = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut slots);
    let mut extent = ExtentBuffer::of::<Tick>(Room::rows(&mut memory)).unwrap();
    let mut places = Vec::new();
    writer.begin().unwrap();
    for n in 0..2 {
        places.push(writer.at() as usize);
        extent.push(&Tick { time: 0, n }).unwrap();
        writer.flush(&mut extent).unwrap();
    }
    let end = writer.at() as usize;
    let mut bytes = writer.finish().unwrap();
    bytes.truncate(end);
    bytes[places[0]..][..4].copy_from_slice(&(60u32 << 20).to_le_bytes());
    let (len, longest) = (1u64 << 27, Arc::new(AtomicUsize::new(0)));
    let noted = longest.clone();
    let ranges = Ranges::new(len, move |at, to| {
        noted.fetch_max(to.len(), Ordering::Relaxed);
        to.fill(0);
        let from = bytes.get(at as usize..).unwrap_or_default();
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        Ok(())
    });
    assert_eq!(recover::order(&ranges.input()), Some(dataseries::Order::Little));
    let types = [dataseries::ExtentType::of::<Tick>()];
    let mut salvage = Salvage::<LittleEndian>::new(ranges.input(), &types);
    let mut found = Vec::new();
    while let Some(next) = salvage.next(&dataseries::ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 256])) {
        found.push(match next.unwrap() {
            Recovered::Extent(header) => (true, header.span()),
            Recovered::Lost(loss) => (false, loss.span),
        });
        assert!(pilaster::bytes::Fetch::held(&ranges) == 0, "everything is read through windows");
    }
    let [first, second] = [places[0] as u64, places[1] as u64];
    let span = |from: u64, to: u64| pilaster::bytes::FileRange { at: from, len: to - from };
    let end = end as u64;
    assert_eq!(found, [(false, span(first, second)), (true, span(second, end)), (false, span(end, len))]);
    assert!(longest.load(Ordering::Relaxed) <= (1 << 20) + 128, "{longest:?}");
}

#[test]
fn overlapping_ranges_take_at_most_three_times_the_file() {
    let len = 1u64 << 20;
    let ranges = Ranges::new(len, |at, to| {
        to.iter_mut().zip(at..).for_each(|(byte, at)| *byte = at as u8);
        Ok(())
    });
    // Half of the file each, none of which contains another one.
    for k in 0..1000 {
        let range = FileRange { at: 64 * k, len: len / 2 };
        let bytes = ranges.input().get(range, What::INPUT).unwrap();
        assert_eq!((bytes[0], bytes[1000], bytes.len()), ((64 * k) as u8, (64 * k + 1000) as u8, 1 << 19));
    }
    assert_eq!(ranges.bytes_read(), 3 * len, "four halves, then the file");
}

#[test]
fn a_long_range_is_not_read_again_for_each_step() {
    let (long, short, file) = (12u64 << 20, 1u64 << 16, 1u64 << 30);
    let ranges = Ranges::new(file, |_, to| {
        to.fill(0);
        Ok(())
    });
    // Each step takes the long range and a short one of its own. A window ends as in the walks of the library.
    let (mut window, mut windows) = (ranges.window(), 1);
    for step in 0..400 {
        if step > 0 && window.held() >= 8 << 20 {
            (window, windows) = (ranges.window(), windows + 1);
        }
        window.input().get(FileRange { at: 0, len: long }, What::INPUT).unwrap();
        window.input().get(FileRange { at: long + short * step, len: short }, What::INPUT).unwrap();
    }
    // 400 short ranges are 25 MiB, and a window lasts for 12 MiB of them.
    assert_eq!(windows, 3);
    assert!(ranges.bytes_read() <= windows * (long + 64) + 400 * (2 * short), "{}", ranges.bytes_read());
}
