//! Panics of Arrow's readers, in a process of their own, as the test sets the hook of panics.
#![cfg(all(feature = "ipc", feature = "parquet"))]

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{RecordBatch, StringArray};
use pilaster_arrow::input::{FileKind, Input, InputOptions, open, pipe};
use pilaster_arrow::write::{Compression, Kind, Writer};

fn file() -> Vec<u8> {
    let texts = StringArray::from_iter_values((0..5000).map(|k| format!("text {}", k % 7)));
    let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).unwrap();
    let mut writer = Writer::new(Vec::new(), &batch.schema(), Kind::IpcFile, Compression::None).unwrap();
    writer.put(&batch).unwrap();
    writer.finish().unwrap()
}

/// The first error of a file, when it is opened or read.
fn error(bytes: Vec<u8>) -> String {
    let read = || {
        open(bytes.into(), InputOptions::default())?.reader()?.find_map(Result::err).map_or(Ok(()), |e| Err(e.into()))
    };
    let read: Result<(), pilaster_arrow::Error> = read();
    read.map_or_else(|e| e.to_string(), |()| String::new())
}

/// The number of panics that were passed to the hook.
static SAID: AtomicUsize = AtomicUsize::new(0);

#[test]
fn panics_of_readers_are_errors_and_not_printed() {
    std::panic::set_hook(Box::new(|_| {
        SAID.fetch_add(1, Ordering::Relaxed);
    }));
    let mut seed = 1u64;
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % most
    };
    let (mut panics, whole) = (0, file());
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..2 {
            let at = bytes.len() - 1 - next(700);
            bytes[at] = next(256) as u8;
        }
        panics += usize::from(error(bytes).contains("panicked"));
    }
    assert!(panics > 0);
    assert_eq!(SAID.load(Ordering::Relaxed), 0, "of {panics}");
    // Other panics are printed.
    assert!(std::panic::catch_unwind(|| panic!("of the test")).is_err());
    assert_eq!(SAID.load(Ordering::Relaxed), 1);
    panics_of_the_caller_go_on();
    assert_eq!(SAID.load(Ordering::Relaxed), 4);
}

/// A reader that panics when it is asked for bytes.
struct Panics(std::io::Cursor<Vec<u8>>);

impl Read for Panics {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        panic!("of the reader")
    }
}

impl Seek for Panics {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

fn panics_of_the_caller_go_on() {
    let caught = |run: &mut dyn FnMut()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        *panic.downcast_ref::<&str>().unwrap()
    };
    let panics = || Panics(std::io::Cursor::new(file()));
    let options = || InputOptions { kind: Some(FileKind::IpcFile), ..InputOptions::default() };
    let text = caught(&mut || drop(open(Input::seekable(panics()).unwrap(), options())));
    assert_eq!(text, "of the reader");
    assert_eq!(caught(&mut || drop(pipe(panics()))), "of the reader");
    {
        let numbers = arrow_array::Int64Array::from(vec![1, 2]);
        let batch = RecordBatch::try_from_iter([("n", Arc::new(numbers) as _)]).unwrap();
        let mut writer = Writer::new(Vec::new(), &batch.schema(), Kind::Parquet, Compression::None).unwrap();
        writer.put(&batch).unwrap();
        let mut file = open(writer.finish().unwrap().into(), InputOptions::default()).unwrap();
        let text = caught(&mut || drop(file.retain(&[0], &mut |_| panic!("of the condition"))));
        assert_eq!(text, "of the condition");
    }
    // Panics of Arrow's readers are errors as before.
    assert!(open(file()[..100].to_vec().into(), options()).is_err());
}
