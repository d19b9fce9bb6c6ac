//! Pointers, lengths and functions of C: all `unsafe` code of the package.
//!
//! These are checked: null pointers, alignment, lengths beyond the address space, and states that are not initialised, finished, or used by
//! a call that has not returned. The caller guarantees the rest, as the header states: memory has the stated length, and is neither freed
//! nor accessed while the library uses it. Only C and `unsafe` code create the pointer types of this file, so they give the guarantee.

#![allow(unsafe_code)]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::{fmt, ptr, slice, str};

use pilaster::bytes::Sink;

use crate::error::{ARGUMENT, Done, Failure, Report, STATE};
use crate::place::{Bounds, is_place, separate};

/// Checks that `len` items can lie at `at`. `argument`: the number of the argument that it came with.
fn check<T>(at: *const T, len: usize, argument: u32) -> Done {
    if Bounds::of(at, len).are_possible() { Ok(()) } else { Err(Failure::argument(argument)) }
}

/// A pointer to what is read.
#[repr(transparent)]
pub struct In<T>(*const T);

/// A pointer to memory that is written.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// A pointer to the state of something.
#[repr(transparent)]
pub struct At<T>(*mut State<T>);

/// State in memory of the caller: a mark, and what it marks.
#[repr(C)]
pub struct State<T> {
    mark: u32,
    value: MaybeUninit<T>,
}

/// A value in the memory of the caller.
pub trait Marked {
    /// The mark of an initialised value.
    const MARK: u32;
}

/// The mark of a state while a call uses it.
const BUSY: u32 = 0x7a6c_0b55;

macro_rules! pointers {
    ($($name:ident: $pointer:ty;)*) => {$(
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl<T> $name<T> {
            /// Wraps a pointer.
            ///
            /// # Safety
            /// What the header says of the argument that it is passed as.
            pub const unsafe fn new(pointer: $pointer) -> Self {
                $name(pointer)
            }
        }
    )*};
}

pointers! {
    In: *const T;
    Out: *mut T;
    At: *mut State<T>;
}

impl<T> In<T> {
    /// The bounds of `len` items.
    pub fn bounds(self, len: usize) -> Bounds {
        Bounds::of(self.0, len)
    }

    /// Returns the items at the pointer.
    pub fn items<'a>(self, len: usize, argument: u32) -> Result<&'a [T], Failure> {
        check(self.0, len, argument)?;
        // SAFETY: checked; the caller guarantees the rest.
        Ok(if len == 0 { &[] } else { unsafe { slice::from_raw_parts(self.0, len) } })
    }

    /// Returns the items at the pointer, which lie outside of memory that is written. That memory is checked before.
    pub fn apart<'a>(self, len: usize, written: &[Bounds], argument: u32) -> Result<&'a [T], Failure> {
        check(self.0, len, argument)?;
        self.bounds(len).outside(written, argument)?;
        self.items(len, argument)
    }
}

impl<T: Copy> In<T> {
    /// Returns a copy of the structure at the pointer.
    pub fn load(self, argument: u32) -> Result<T, Failure> {
        self.items(1, argument)?.first().copied().ok_or(Failure::argument(argument))
    }
}

impl<T> Out<T> {
    /// Returns the items at the pointer, which the library may use until their state is finished.
    pub fn lend(self, len: usize, argument: u32) -> Result<&'static mut [T], Failure> {
        check(self.0, len, argument)?;
        // SAFETY: checked; the caller guarantees the rest.
        Ok(unsafe { self.checked(len) })
    }

    /// Returns the items at the pointer, which lie outside of other memory of the call. That memory is checked before.
    #[cfg(any(feature = "blosc", feature = "filo", feature = "ring", feature = "verify"))]
    pub fn apart(self, len: usize, others: &[Bounds], argument: u32) -> Result<&'static mut [T], Failure> {
        check(self.0, len, argument)?;
        self.bounds(len).outside(others, argument)?;
        self.lend(len, argument)
    }

    /// Returns the items at a pointer.
    ///
    /// # Safety
    /// `check` has passed.
    unsafe fn checked(self, len: usize) -> &'static mut [T] {
        // SAFETY: the caller of this function guarantees it.
        if len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(self.0, len) } }
    }

    /// Stores a result.
    pub fn tell(self, value: T, argument: u32) -> Done {
        check(self.0, 1, argument)?;
        // SAFETY: checked; the caller guarantees the rest.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// The bounds of `len` items.
    pub fn bounds(self, len: usize) -> Bounds {
        Bounds::of(self.0, len)
    }
}

impl Out<Report> {
    /// Stores the outcome if the pointer is valid, and returns its code.
    pub fn answer(self, done: Done) -> i32 {
        let report = Report::of(done);
        let code = report.code;
        // Without a valid pointer, only the code is returned.
        let _stored = self.tell(report, 0);
        code
    }
}

/// Writes all items, and returns them.
pub fn written<T: Copy>(
    items: &'static mut [MaybeUninit<T>],
    mut value: impl FnMut(usize) -> Result<T, Failure>,
) -> Result<&'static [T], Failure> {
    for (k, item) in items.iter_mut().enumerate() {
        item.write(value(k)?);
    }
    // SAFETY: the loop has written each.
    Ok(unsafe { slice::from_raw_parts(items.as_ptr().cast::<T>(), items.len()) })
}

/// Returns the bytes as a text if they are ASCII. A check of UTF-8 would take half a kilobyte of flash, and `<[u8]>::is_ascii` has a loop
/// over words.
pub fn ascii(bytes: &[u8]) -> Option<&str> {
    // SAFETY: ASCII is UTF-8.
    bytes.iter().all(u8::is_ascii).then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

impl<T: Marked> At<T> {
    /// Places the state that `make` returns. The memory is in use meanwhile: functions of C that `make` calls cannot use it. If `make` fails,
    /// no state remains, as it may have used the memory of a former one.
    pub fn place(self, argument: u32, make: impl FnOnce() -> Result<T, Failure>) -> Done {
        let mark = self.enter(0, argument)?;
        let made = make();
        // SAFETY: `enter` has checked the pointer; the caller guarantees the rest.
        unsafe {
            let (after, done) = match made {
                Ok(value) => {
                    ptr::addr_of_mut!((*self.0).value).write(MaybeUninit::new(value));
                    (T::MARK, Ok(()))
                }
                Err(e) => (0, Err(e)),
            };
            mark.write_volatile(after);
            done
        }
    }

    /// Calls `f` with the state, which is in use meanwhile.
    pub fn with<R>(self, argument: u32, f: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        self.with_then(T::MARK, argument, f)
    }

    /// Calls `f` with the state, which is not initialised any more then.
    pub fn take<R>(self, argument: u32, f: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        self.with_then(0, argument, f)
    }

    /// Calls `f` with what the state was; it is not initialised any more then.
    pub fn end<R>(self, argument: u32, f: impl FnOnce(T) -> Result<R, Failure>) -> Result<R, Failure> {
        // SAFETY: initialised, and never used again, as it is not marked any more when `f` is called.
        let value = self.take(argument, |value| Ok(unsafe { ptr::read(value) }))?;
        f(value)
    }

    fn with_then<R>(
        self,
        after: u32,
        argument: u32,
        f: impl FnOnce(&mut T) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mark = self.enter(T::MARK, argument)?;
        // SAFETY: checked; the caller guarantees the rest. Only a marked value is initialised. No other reference to it exists, because the
        // mark differs while this one exists.
        unsafe {
            let result = f((*ptr::addr_of_mut!((*self.0).value)).assume_init_mut());
            mark.write_volatile(after);
            result
        }
    }

    /// Marks the state as in use. `is`: its mark, or 0 for any that no call uses. Returns the place of the mark.
    fn enter(self, is: u32, argument: u32) -> Result<*mut u32, Failure> {
        let (bytes, align, mark) = (size_of::<State<T>>(), align_of::<State<T>>(), self.0.cast::<u32>());
        // SAFETY: the mark comes first in a state.
        match unsafe { enter(mark, bytes, align, is) } {
            0 => Ok(mark),
            code => Err(Failure::refused(code, argument)),
        }
    }

    /// The bounds of the state.
    pub fn bounds(self) -> Bounds {
        Bounds::of(self.0, 1)
    }
}

/// Checks the state of `bytes` bytes that begins with the mark, and marks it as in use. `is`: what the mark must be, or 0 for any that no call
/// uses. Returns 0, [`ARGUMENT`] or [`STATE`]. One function for all types.
///
/// # Safety
/// A valid pointer is one to a state.
#[inline(never)]
unsafe fn enter(mark: *mut u32, bytes: usize, align: usize, is: u32) -> i32 {
    if !is_place(mark.addr(), bytes, align) {
        return ARGUMENT;
    }
    // SAFETY: checked; the caller guarantees the rest.
    unsafe {
        let now = mark.read_volatile();
        if now == BUSY || (is != 0 && now != is) {
            return STATE;
        }
        mark.write_volatile(BUSY);
    }
    0
}

/// A buffer of the caller: its items and their number.
pub type Items<T> = (Out<T>, usize);

/// Returns what is at four pointers, which the library may use until the state at `own` is finished. It overlaps neither the state nor the
/// bytes at `read`, which the call reads.
pub fn lend<A, B, C, D>(
    own: Bounds,
    read: Bounds,
    a: Items<A>,
    b: Items<B>,
    c: Items<C>,
    d: Items<D>,
    argument: u32,
) -> Result<Lent<A, B, C, D>, Failure> {
    let places = [own, read, a.0.bounds(a.1), b.0.bounds(b.1), c.0.bounds(c.1), d.0.bounds(d.1)];
    separate(&places, argument)?;
    // SAFETY: checked; the caller guarantees the rest.
    Ok(unsafe { (a.0.checked(a.1), b.0.checked(b.1), c.0.checked(c.1), d.0.checked(d.1)) })
}

/// The slices that [`lend`] returns.
pub type Lent<A, B, C, D> = (&'static mut [A], &'static mut [B], &'static mut [C], &'static mut [D]);

/// `pilaster_memory`: caller-provided memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Region {
    /// Its first byte.
    pub at: Out<u8>,
    /// Its length in bytes.
    pub len: usize,
}

impl Region {
    /// No bytes.
    pub const EMPTY: Region = Region { at: Out(ptr::null_mut()), len: 0 };

    /// Returns the buffer, as [`lend`] takes it.
    pub fn items(self) -> Items<u8> {
        (self.at, self.len)
    }

    /// The bytes.
    pub fn lend(self, argument: u32) -> Result<&'static mut [u8], Failure> {
        self.at.lend(self.len, argument)
    }

    /// Their bounds.
    pub fn bounds(self) -> Bounds {
        self.at.bounds(self.len)
    }
}

/// `pilaster_text`: bytes that are read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// The first byte.
    pub at: In<u8>,
    /// Number of bytes.
    pub len: usize,
}

impl Text {
    /// No bytes.
    #[cfg(feature = "verify")]
    pub const EMPTY: Text = Text { at: In(ptr::null()), len: 0 };

    /// Their bounds.
    #[cfg(feature = "verify")]
    pub fn bounds(self) -> Bounds {
        self.at.bounds(self.len)
    }

    /// A text that lives as long as the program.
    #[cfg(feature = "verify")]
    pub const fn of(text: &'static str) -> Text {
        Text { at: In(text.as_ptr()), len: text.len() }
    }

    /// The bytes.
    pub fn bytes<'a>(self, argument: u32) -> Result<&'a [u8], Failure> {
        self.at.items(self.len, argument)
    }
}

/// `pilaster_put`: stores bytes; 0 is success.
pub type Put = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32;

/// `pilaster_sync`: makes bytes survive a power cut; 0 is success.
pub type Sync = unsafe extern "C" fn(*mut c_void) -> i32;

/// A sink that is a function of C, and perhaps another one that makes its bytes durable.
#[derive(Clone, Copy, Debug)]
pub struct CSink {
    put: Put,
    sync: Option<Sync>,
    context: *mut c_void,
}

impl CSink {
    /// Wraps the function, if there is one, and its first argument.
    pub fn new(put: Option<Put>, context: Out<c_void>, argument: u32) -> Result<Self, Failure> {
        Ok(CSink { put: put.ok_or(Failure::argument(argument))?, sync: None, context: context.0 })
    }

    /// Adds the function that is called when bytes are to survive a power cut.
    pub fn syncing(self, sync: Option<Sync>) -> Self {
        CSink { sync, ..self }
    }
}

impl Sink for CSink {
    type Error = i32;

    fn put(&mut self, bytes: &[u8]) -> Result<(), i32> {
        // SAFETY: the caller has passed the function with its context, and the bytes live as long as the call.
        match unsafe { (self.put)(self.context, bytes.as_ptr(), bytes.len()) } {
            0 => Ok(()),
            code => Err(code),
        }
    }

    fn flush(&mut self) -> Result<(), i32> {
        // SAFETY: as above.
        match self.sync.map_or(0, |sync| unsafe { sync(self.context) }) {
            0 => Ok(()),
            code => Err(code),
        }
    }
}

/// `pilaster_flash`: flash, as functions of C. Each returns 0 for success.
#[cfg(feature = "ring")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Flash {
    /// The first argument of each function.
    pub context: Out<c_void>,
    /// Reads bytes at an offset.
    pub read: Option<unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize) -> i32>,
    /// Writes whole words at an offset; they are erased.
    pub write: Option<unsafe extern "C" fn(*mut c_void, u32, *const u8, usize) -> i32>,
    /// Erases the whole units from an offset up to another.
    pub erase: Option<unsafe extern "C" fn(*mut c_void, u32, u32) -> i32>,
    /// Size of the flash in bytes.
    pub capacity: u32,
    /// Size of a unit that is erased at once, in bytes.
    pub erase_size: u32,
    /// Size of a word in bytes.
    pub word: u32,
    /// Zero.
    pub zero: u32,
}

#[cfg(feature = "ring")]
impl Flash {
    /// Reads bytes. `None` if there is no function.
    pub fn read(&mut self, at: u32, bytes: &mut [u8]) -> Option<i32> {
        // SAFETY: the caller has passed the function with its context, and the bytes live as long as the call.
        self.read.map(|read| unsafe { read(self.context.0, at, bytes.as_mut_ptr(), bytes.len()) })
    }

    /// Writes bytes. `None` if there is no function.
    pub fn write(&mut self, at: u32, bytes: &[u8]) -> Option<i32> {
        // SAFETY: as above.
        self.write.map(|write| unsafe { write(self.context.0, at, bytes.as_ptr(), bytes.len()) })
    }

    /// Erases. `None` if there is no function.
    pub fn erase(&mut self, from: u32, to: u32) -> Option<i32> {
        // SAFETY: as above.
        self.erase.map(|erase| unsafe { erase(self.context.0, from, to) })
    }
}

/// Defines functions for C. Each has one more argument, the place for a report, and returns a code.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$doc])*
        #[allow(unsafe_code, reason = "the name is one of the library")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $ty,)* error: $crate::raw::Out<$crate::error::Report>) -> i32 {
            let call = || -> $crate::error::Done { $body };
            error.answer(call())
        }
    )*};
}
pub(crate) use exports;

/// The size in bytes of structure `k` of the header, or 0 if it does not exist.
#[unsafe(no_mangle)]
pub extern "C" fn pilaster_size_of(k: u32) -> usize {
    usize::try_from(k).ok().and_then(|k| crate::SIZES.get(k)).copied().unwrap_or(0)
}

/// Indexes a slice: the negative control of the check that no function has a path to a panic.
#[cfg(feature = "control")]
#[allow(clippy::indexing_slicing, reason = "planted")]
#[unsafe(no_mangle)]
pub extern "C" fn pilaster_control(k: usize) -> usize {
    crate::SIZES[k]
}

/// Stops at a panic, which cannot occur.
#[cfg(not(any(feature = "std", test)))]
pub(crate) fn stop() -> ! {
    #[cfg(feature = "prove")]
    {
        unsafe extern "C" {
            fn pilaster_a_panic_survived() -> !;
        }
        // SAFETY: nothing with this call links.
        unsafe { pilaster_a_panic_survived() }
    }
    #[cfg(not(feature = "prove"))]
    loop {}
}
