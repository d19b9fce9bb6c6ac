//! The awaiting writer leaves the bytes of the other one, whatever its window and its sink.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use embedded_io_async_07::{ErrorKind, ErrorType, Write};
use pilaster::bytes::{Endian, LittleEndian, Scratch, WriteError};
use pilaster::codec::HashTable;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{AsyncWriter, Descriptions, ExtentBuffer, IndexSlot, Lzf, Memory, Writer};
use pilaster::error::Kind;

record! {
    /// What the sensor says.
    struct Reading<'a> = "Reading" namespace "example.org" version 1.0 {
        time: int64 relative,
        value: double scaled 0.01,
        note: variable32,
    }
}
record! {
    /// A type that the file does not list.
    struct Stranger = "Stranger" { n: int32 }
}

const TYPES: Descriptions<'static> = Descriptions::of::<Reading<'_>>();

fn reading(n: i64) -> Reading<'static> {
    Reading { time: n * 1000, value: (n % 9) as f64 / 100.0, note: if n % 5 == 0 { b"a note" } else { b"" } }
}

/// A UART that takes a few bytes at a time, is busy before each time, and can fail.
#[derive(Debug, Default)]
struct Uart {
    bytes: Vec<u8>,
    busy: bool,
    /// Writing fails once there are this many bytes.
    end: Option<usize>,
}

impl ErrorType for Uart {
    type Error = ErrorKind;
}

impl Write for Uart {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        std::future::poll_fn(|_| {
            self.busy = !self.busy;
            if self.busy { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        if self.end.is_some_and(|end| self.bytes.len() >= end) {
            return Err(ErrorKind::Other);
        }
        let len = bytes.len().min(7);
        self.bytes.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// Polls until it is ready; also returns how often it was pending.
fn block_on<T>(future: impl Future<Output = T>) -> (T, u32) {
    let (mut future, mut waits) = (pin!(future), 0);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => return (value, waits),
            Poll::Pending => waits += 1,
        }
    }
}

struct Lent {
    slots: [IndexSlot; 8],
    rows: [u8; 256],
    pool: [u8; 256],
    table: [u8; 256],
    out: [u8; 512],
}

impl Lent {
    const NEW: Lent =
        Lent { slots: [IndexSlot::EMPTY; 8], rows: [0; 256], pool: [0; 256], table: [0; 256], out: [0; 512] };
}

fn written<E: Endian>(count: i64) -> Vec<u8> {
    let Lent { slots, rows, pool, table, out } = &mut { Lent::NEW };
    let lzf = Lzf::<64>::new(HashTable::take(&mut Scratch::new(table)).unwrap(), out);
    let mut log = Writer::<E, _, _>::with(Vec::new(), TYPES, slots, lzf);
    let mut extent = ExtentBuffer::of::<Reading<'_>>(Memory { rows, pool, ..Memory::default() }).unwrap();
    for n in 0..count {
        log.push(&mut extent, &reading(n)).unwrap();
    }
    log.flush(&mut extent).unwrap();
    log.finish().unwrap()
}

async fn awaited(uart: Uart, count: i64, window: &mut [u8]) -> Result<Uart, WriteError<ErrorKind>> {
    let Lent { slots, rows, pool, table, out } = &mut { Lent::NEW };
    let lzf = Lzf::<64>::new(HashTable::take(&mut Scratch::new(table))?, out);
    let mut log = AsyncWriter::<LittleEndian, _, _>::with(uart, TYPES, slots, lzf, window);
    let mut extent = ExtentBuffer::of::<Reading<'_>>(Memory { rows, pool, ..Memory::default() })?;
    for n in 0..count {
        log.push(&mut extent, &reading(n)).await?;
    }
    log.flush(&mut extent).await?;
    log.finish().await
}

#[test]
fn the_bytes_are_the_same() {
    for count in [0, 1, 60] {
        let expected = written::<LittleEndian>(count);
        for window in [1, 3, 28, 64, 100, 4096] {
            let (uart, waits) = block_on(awaited(Uart::default(), count, &mut vec![0; window]));
            assert_eq!(uart.unwrap().bytes, expected, "{count} rows through {window} bytes");
            assert!(waits as usize >= expected.len() / 7, "it waits for the sink");
        }
    }
}

#[test]
fn a_sink_that_fails_ends_it() {
    let len = written::<LittleEndian>(60).len();
    for end in [0, 8, 40, 500, 700, len - 8] {
        let uart = Uart { end: Some(end), ..Uart::default() };
        let (done, _) = block_on(awaited(uart, 60, &mut [0; 64]));
        assert_eq!(done.unwrap_err(), WriteError::Sink(ErrorKind::Other), "at {end} of {len}");
    }
}

#[test]
fn a_future_that_was_dropped_is_no_gap() {
    let Lent { slots, rows, pool, .. } = &mut { Lent::NEW };
    let mut window = [0; 64];
    let mut log = AsyncWriter::<LittleEndian, _>::new(Uart::default(), TYPES, slots, &mut window);
    let mut extent = ExtentBuffer::of::<Reading<'_>>(Memory { rows, pool, ..Memory::default() }).unwrap();
    extent.push(&reading(0)).unwrap();
    {
        let flush = pin!(log.flush(&mut extent));
        assert!(flush.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let (again, _) = block_on(log.flush(&mut extent));
    assert!(matches!(again, Err(WriteError::Format(e)) if e.kind() == Kind::Misuse), "{again:?}");
    assert_eq!(extent.len(), 1, "the row is still there");
}

#[test]
fn mistakes_of_the_caller_are_named() {
    let kind = |done: Result<(), WriteError<ErrorKind>>| match done {
        Err(WriteError::Format(e)) => Some(e.kind()),
        _ => None,
    };
    let mut log = AsyncWriter::<LittleEndian, _>::new(Uart::default(), TYPES, &mut [], &mut []);
    assert_eq!(kind(block_on(log.begin()).0), Some(Kind::NoRoom), "no window");

    let (mut window, mut rows) = ([0; 64], [0; 64]);
    let mut log = AsyncWriter::<LittleEndian, _>::new(Uart::default(), TYPES, &mut [], &mut window);
    let mut extent = ExtentBuffer::of::<Stranger>(Memory::rows(&mut rows)).unwrap();
    extent.push(&Stranger { n: 1 }).unwrap();
    assert_eq!(kind(block_on(log.flush(&mut extent)).0), Some(Kind::Misuse), "a type that is not listed");

    let done = block_on(async {
        let (mut window, mut rows, mut pool) = ([0; 64], [0; 64], [0; 64]);
        let mut log = AsyncWriter::<LittleEndian, _>::new(Uart::default(), TYPES, &mut [], &mut window);
        let memory = Memory { rows: &mut rows, pool: &mut pool, ..Memory::default() };
        let mut extent = ExtentBuffer::of::<Reading<'_>>(memory)?;
        log.push(&mut extent, &reading(1)).await?;
        log.flush(&mut extent).await?;
        log.finish().await.map(|_| ())
    });
    assert_eq!(kind(done.0), Some(Kind::NoRoom), "no slots");
}
