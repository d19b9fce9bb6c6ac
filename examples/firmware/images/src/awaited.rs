//! An executor for one future, and a file for which it has to wait.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use embedded_io::ErrorType;
use embedded_io::Write as _;

use crate::{Failed, File};

/// Polls `future` until it is ready. Returns its output, and how often it was pending.
pub fn block_on<T>(future: impl Future<Output = T>) -> (T, u32) {
    let (mut future, mut waited) = (pin!(future), 0u32);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        // A real board would sleep here until an interrupt.
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return (done, waited),
            Poll::Pending => waited = waited.wrapping_add(1),
        }
    }
}

/// A file that is busy once per write, like a UART with DMA.
pub struct Slow(pub File);

impl ErrorType for Slow {
    type Error = Failed;
}

impl embedded_io_async::Write for Slow {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Failed> {
        let mut busy = true;
        poll_fn(|_| if core::mem::take(&mut busy) { Poll::Pending } else { Poll::Ready(()) }).await;
        self.0.write(bytes)
    }

    async fn flush(&mut self) -> Result<(), Failed> {
        Ok(())
    }

    /// Like the method of the trait, but without its panic.
    async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Failed> {
        while !bytes.is_empty() {
            let done = self.write(bytes).await?;
            bytes = bytes.get(done..).filter(|_| done > 0).ok_or(Failed)?;
        }
        Ok(())
    }
}
