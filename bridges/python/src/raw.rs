//! The only file with `unsafe`: memory that belongs to others (a mapped file, buffers and bytes of Python, a stream of Arrow in a capsule),
//! and the interpreter lock of a caller that is not known.

#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::alloc::{Layout, alloc_zeroed};
use std::fs::File;
use std::ptr::NonNull;

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use bytes::Bytes;
use memmap2::Mmap;
use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyMemoryView};

/// Maps a file into memory.
///
/// No program may write to the file or shorten it meanwhile, as the documentation of `pilaster.open` says: a shorter file ends the
/// process with SIGBUS, and other bytes give other values. All writers of this package replace files instead of changing them.
pub fn mapped(file: &File) -> std::io::Result<Bytes> {
    // SAFETY: the map is only read. The caller of `pilaster.open` promises that the file stays as it is, or chooses `mmap=False`.
    let map = unsafe { Mmap::map(file)? };
    Ok(Bytes::from_owner(map))
}

/// A buffer of Python whose bytes stay as they are.
struct Constant {
    /// Released last.
    _buffer: PyUntypedBuffer,
    memory: NonNull<[u8]>,
}

// SAFETY: the memory stays where it is until the buffer is released, and is only read. Releasing attaches to the interpreter.
unsafe impl Send for Constant {}

impl AsRef<[u8]> for Constant {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the memory belongs to the buffer, which has this length, is contiguous, and lives as long as `self`.
        unsafe { self.memory.as_ref() }
    }
}

/// Returns whether the bytes of an object with the buffer protocol stay as they are. Exact `bytes` do, and with `maps` a file that is mapped
/// read-only, as the caller promises. That a buffer is read-only does not suffice, since the owner of its memory may write.
fn is_constant(object: &Bound<'_, PyAny>, maps: bool) -> PyResult<bool> {
    let owner = match object.cast::<PyMemoryView>() {
        Ok(view) => view.getattr("obj")?,
        Err(_) => object.clone(),
    };
    Ok(owner.is_exact_instance_of::<PyBytes>()
        || maps && owner.get_type().is(object.py().import("mmap")?.getattr("mmap")?) && {
            // One that can be written to is changed by this program itself.
            PyUntypedBuffer::get(&owner)?.readonly()
        })
}

/// Returns the bytes of an object with the buffer protocol, whatever its items are: without a copy if they stay as they are, and as a
/// copy otherwise. `maps`: files that are mapped stay as they are.
pub fn buffered(object: &Bound<'_, PyAny>, maps: bool) -> PyResult<Bytes> {
    let buffer = PyUntypedBuffer::get(object)?;
    if !buffer.is_c_contiguous() {
        let copy = object.py().import("builtins")?.call_method1("memoryview", (object,))?.call_method0("tobytes")?;
        return buffered(&copy, false);
    }
    let Some(start) = NonNull::new(buffer.buf_ptr().cast::<u8>()) else { return Ok(Bytes::new()) };
    let memory = NonNull::slice_from_raw_parts(start, buffer.len_bytes());
    if is_constant(object, maps)? {
        return Ok(Bytes::from_owner(Constant { _buffer: buffer, memory }));
    }
    // SAFETY: the memory belongs to the buffer and has this length. The interpreter is attached while it is copied; a thread that
    // writes to it without the interpreter would do so in the copy of any other library, too.
    Ok(copied(unsafe { memory.as_ref() })?.into())
}

/// Returns an empty vector with capacity for `count` items, or `MemoryError`: a program that imports this may do without them.
pub fn room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| short(count.saturating_mul(size_of::<T>())))?;
    Ok(room)
}

fn short(bytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("no memory for {bytes} bytes"))
}

/// Returns bytes that are zero, or `MemoryError`. The system makes large ones zero when they are first used: a damaged chunk states any size.
pub fn zeros(len: usize) -> PyResult<Vec<u8>> {
    let layout = Layout::array::<u8>(len).map_err(|_| short(len))?;
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout has a size. The vector owns the memory, which is of its allocator and layout; all `len` bytes are zero.
    unsafe {
        let start = NonNull::new(alloc_zeroed(layout)).ok_or_else(|| short(len))?;
        Ok(Vec::from_raw_parts(start.as_ptr(), len, len))
    }
}

/// Returns a copy, or `MemoryError`.
pub fn copied<T: Copy>(items: &[T]) -> PyResult<Vec<T>> {
    let mut copy = room(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// Returns the items of an array of Python that has no gaps, or `MemoryError`.
pub fn items<T: Element>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let buffer = PyBuffer::<T>::get(array)?;
    let memory = buffer.as_slice_ptr().ok_or_else(|| PyValueError::new_err("an array whose items have gaps"))?;
    // SAFETY: the memory belongs to the buffer, whose items `get` has found to be of this type and aligned. The interpreter is
    // attached while they are copied, as in `buffered`.
    copied(unsafe { memory.as_ref() })
}

/// Returns bytes of Python that are a copy, or `MemoryError`.
pub fn new_bytes<'py>(py: Python<'py>, from: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    bytes(py, from.len(), |to| {
        to.copy_from_slice(from);
        Ok(())
    })
}

/// Copies bytes into a buffer of Python of the same size, whatever its items are.
pub fn copy_to(bytes: &[u8], buffer: &PyUntypedBuffer) -> PyResult<()> {
    if buffer.readonly() || !buffer.is_c_contiguous() || buffer.len_bytes() != bytes.len() {
        return Err(PyValueError::new_err("the buffer is read-only, has gaps or another size"));
    }
    if let Some(start) = NonNull::new(buffer.buf_ptr().cast::<u8>()) {
        // SAFETY: the memory belongs to the buffer, is contiguous, may be written to and has this length; any bits are a `u8`. The
        // interpreter is attached, as a buffer can only be made with it and is not sent to another thread; `bytes` are no memory of Python.
        unsafe { std::ptr::copy(bytes.as_ptr(), start.as_ptr(), bytes.len()) };
    }
    Ok(())
}

/// Returns new bytes of Python that `fill` has written, all of them unless it fails. They are not cleared first, which would take as long
/// as decoding.
pub fn bytes<'py, E: From<PyErr>>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<Bound<'py, PyBytes>, E> {
    let size = ffi::Py_ssize_t::try_from(len).map_err(|_| E::from(PyValueError::new_err("too many bytes")))?;
    // SAFETY: Python allocates memory for `len` bytes, which no other code knows before this function returns them; after an error they
    // are released unread. `fill` writes them before it reads them: decoders copy from what they have decoded. Any bits are a `u8`.
    let (made, memory) = unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))?;
        let start = ffi::PyBytes_AsString(made.as_ptr()).cast::<u8>();
        (made, std::slice::from_raw_parts_mut(start, len))
    };
    fill(memory)?;
    made.cast_into::<PyBytes>().map_err(|e| E::from(e.into()))
}

/// Takes the stream out of a capsule that `__arrow_c_stream__` returned.
pub fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrowArrayStreamReader> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name has such a struct, by the protocol. It is moved out of the capsule, which then finds that
    // it is released; the interpreter is attached, so no other code moves it.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream).map_err(|e| {
        let help =
            "the rows of a stream that is written are a table: of a single column, pass a frame or table that has it";
        PyTypeError::new_err(format!("{e} ({help})"))
    })
}

/// Calls `work` with the interpreter, which the calling thread may hold or not: a consumer of a stream has called from any place, and the
/// count of attached calls, which `Python::attach` trusts, does not tell whether it has released the interpreter meanwhile.
pub fn attached<R>(work: impl FnOnce() -> R) -> R {
    /// Restores the state at the end, also after a panic.
    struct Back(ffi::PyGILState_STATE);
    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: the state that `Ensure` of this thread returned.
            unsafe { ffi::PyGILState_Release(self.0) };
        }
    }
    // SAFETY: the interpreter runs, as an object of this module exists. `Ensure` may be called with and without the interpreter.
    let _back = Back(unsafe { ffi::PyGILState_Ensure() });
    work()
}

/// Waits without the interpreter, which `wait` needs on another thread. The calling thread may hold it or not: a consumer of a
/// stream, perhaps another extension module, has called from any place.
///
/// `Python::attach` and `detach` count the calls of this module alone. If this module calls another one that releases the interpreter
/// and then calls back, they would take the interpreter for attached.
pub fn unattached<R>(wait: impl FnOnce() -> R) -> R {
    /// Attaches again at the end, also after a panic.
    struct Again(ffi::PyGILState_STATE, *mut ffi::PyThreadState);
    impl Drop for Again {
        fn drop(&mut self) {
            // SAFETY: the state of this thread, as it was when the wait began; in the reverse order.
            unsafe {
                ffi::PyEval_RestoreThread(self.1);
                ffi::PyGILState_Release(self.0);
            }
        }
    }
    // SAFETY: the interpreter runs, as an object of this module exists. `Ensure` may be called with and without the interpreter, and
    // `SaveThread` with it, which it is after `Ensure`.
    let _again = unsafe {
        let state = ffi::PyGILState_Ensure();
        Again(state, ffi::PyEval_SaveThread())
    };
    wait()
}
