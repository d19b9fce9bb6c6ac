//! Panics of Arrow's readers as errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::AnyReader;

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Whether a panic is one of the caller's code.
    static FOREIGN: Cell<bool> = const { Cell::new(false) };
}

/// Calls `run`, and returns a panic as an error: Arrow's readers panic over some damaged files. Such a panic is not passed to
/// the hook of the process, which would print it; panics of other threads are, and so are panics of [`outside`], which go on.
pub(super) fn contained<R>(run: impl FnOnce() -> R) -> Result<R, ArrowError> {
    static HOOK: Once = Once::new();
    // Where panics end the process, they are printed.
    if cfg!(panic = "unwind") {
        HOOK.call_once(|| {
            let known = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !QUIET.get() {
                    known(panic);
                }
            }));
        });
    }
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(before);
    done.map_err(|panic| {
        if FOREIGN.replace(false) {
            resume_unwind(panic);
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        ArrowError::ParseError(format!("the reader of Arrow panicked: {text}"))
    })
}

/// Calls code of the caller within [`contained`], which passes on its panics.
pub(super) fn outside<R>(run: impl FnOnce() -> R) -> R {
    struct Guard {
        quiet: bool,
        done: bool,
    }
    impl Drop for Guard {
        fn drop(&mut self) {
            QUIET.set(self.quiet);
            if !self.done {
                FOREIGN.set(self.quiet);
            }
        }
    }
    let mut guard = Guard { quiet: QUIET.replace(false), done: false };
    let result = run();
    guard.done = true;
    result
}

/// A reader of the caller.
#[cfg(feature = "ipc")]
pub(super) struct Outside<R>(pub R);

#[cfg(feature = "ipc")]
impl<R: std::io::Read> std::io::Read for Outside<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        outside(|| self.0.read(buf))
    }
}

/// A reader whose panics are errors. After an error there are no more batches.
pub(super) struct Contained {
    pub reader: AnyReader,
    pub failed: bool,
}

impl Iterator for Contained {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        // After a panic that is passed on to the caller, the reader returns no more batches.
        self.failed = true;
        let next = contained(|| self.reader.next()).unwrap_or_else(|e| Some(Err(e)));
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

impl RecordBatchReader for Contained {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
