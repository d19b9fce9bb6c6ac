//! The end of the interpreter, after which no thread of this module may call it: the process would end by a fault.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

struct State {
    /// The number of calls that run.
    calls: usize,
    ended: bool,
}

static STATE: Mutex<State> = Mutex::new(State { calls: 0, ended: false });

static RETURNED: Condvar = Condvar::new();

/// How long the interpreter waits for calls, which may hang.
const WAIT: Duration = Duration::from_secs(10);

/// Calls Python from a thread that is not attached. `None` if the interpreter ends.
pub fn call<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    /// Leaves also after a panic.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
            state.calls = state.calls.saturating_sub(1);
            RETURNED.notify_all();
        }
    }
    let _leave = {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return None;
        }
        state.calls = state.calls.saturating_add(1);
        Leave
    };
    Some(Python::attach(work))
}

/// Lets no further call begin, and waits for those that run. `atexit` calls it.
#[pyfunction]
pub fn _end(py: Python<'_>) {
    py.detach(|| {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended = true;
        drop(RETURNED.wait_timeout_while(state, WAIT, |state| state.calls > 0));
    });
}
