//! NOR flash emulated in RAM, with a power cut at a chosen byte.
//!
//! It is as strict as the strictest flash: every word is written at most once between two erasures, and offsets and
//! lengths must be aligned. A violation is an error, so that tests find it.

#![no_std]

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// The time of the power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cut {
    /// The operation during which power is cut. Counts writes and erasures from 0.
    pub operation: u32,
    /// Number of complete bytes of the operation. The next byte is left half done.
    pub byte: u32,
}

/// The reason for a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Failed {
    /// Power was cut during this operation or before it.
    Power,
    /// Not aligned to words or erase units, or out of bounds.
    Range(NorFlashErrorKind),
    /// A byte that was not erased.
    Rewritten,
}

impl NorFlashError for Failed {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Failed::Range(kind) => *kind,
            Failed::Power | Failed::Rewritten => NorFlashErrorKind::Other,
        }
    }
}

/// A flash in caller-provided memory, with words of `WRITE` and erase units of `ERASE` bytes.
#[derive(Debug)]
pub struct Nor<'m, const WRITE: usize, const ERASE: usize> {
    memory: &'m mut [u8],
    /// How often each unit was erased.
    wear: &'m mut [u32],
    cut: Option<Cut>,
    /// Number of operations that changed the flash.
    operations: u32,
    dead: bool,
}

impl<'m, const WRITE: usize, const ERASE: usize> Nor<'m, WRITE, ERASE> {
    /// Creates a flash with the contents `memory`, whose power is cut at `cut`. `wear` has an element for each erase
    /// unit.
    pub const fn new(memory: &'m mut [u8], wear: &'m mut [u32], cut: Option<Cut>) -> Self {
        Nor { memory, wear, cut, operations: 0, dead: false }
    }

    /// Returns the number of operations so far that changed the flash.
    pub const fn operations(&self) -> u32 {
        self.operations
    }

    /// How often each unit was erased.
    pub const fn wear(&self) -> &[u32] {
        self.wear
    }

    /// Counts an operation of `len` bytes. If power is cut during it, returns the number of complete bytes.
    fn begin(&mut self, len: usize) -> Option<usize> {
        let operation = self.operations;
        self.operations = operation.wrapping_add(1);
        let cut = self.cut.filter(|cut| cut.operation == operation && (cut.byte as usize) < len);
        self.dead |= cut.is_some();
        cut.map(|cut| cut.byte as usize)
    }

    /// Returns `len` bytes at `offset`. The range was compared with the capacity before.
    fn part(&mut self, offset: u32, len: usize) -> &mut [u8] {
        self.memory.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..len)).unwrap_or_default()
    }

    fn alive(&self) -> Result<(), Failed> {
        if self.dead { Err(Failed::Power) } else { Ok(()) }
    }
}

impl<const WRITE: usize, const ERASE: usize> ErrorType for Nor<'_, WRITE, ERASE> {
    type Error = Failed;
}

impl<const WRITE: usize, const ERASE: usize> ReadNorFlash for Nor<'_, WRITE, ERASE> {
    const READ_SIZE: usize = if WRITE < 4 { WRITE } else { 4 };

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        self.alive()?;
        check_read(self, offset, bytes.len()).map_err(Failed::Range)?;
        let len = bytes.len();
        bytes.iter_mut().zip(self.part(offset, len)).for_each(|(to, byte)| *to = *byte);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.memory.len()
    }
}

impl<const WRITE: usize, const ERASE: usize> NorFlash for Nor<'_, WRITE, ERASE> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = ERASE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        self.alive()?;
        check_erase(self, from, to).map_err(Failed::Range)?;
        let (len, first) = (to.wrapping_sub(from) as usize, from as usize / ERASE);
        let cut = self.begin(len);
        self.wear.iter_mut().skip(first).take(len / ERASE).for_each(|unit| *unit = unit.wrapping_add(1));
        let memory = self.part(from, len);
        let Some(done) = cut else {
            memory.fill(0xff);
            return Ok(());
        };
        // Previous units are erased; the interrupted one has arbitrary bits.
        let unit = done / ERASE * ERASE;
        for (at, byte) in memory.iter_mut().take(done).enumerate() {
            *byte |= if at < unit { 0xff } else { (at as u8).wrapping_mul(0x9d) ^ 0x5a };
        }
        Err(Failed::Power)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failed> {
        self.alive()?;
        check_write(self, offset, bytes.len()).map_err(Failed::Range)?;
        if self.part(offset, bytes.len()).iter().any(|byte| *byte != 0xff) {
            return Err(Failed::Rewritten);
        }
        let cut = self.begin(bytes.len());
        let mut words = self.part(offset, bytes.len()).iter_mut().zip(bytes);
        let Some(done) = cut else {
            words.for_each(|(to, byte)| *to = *byte);
            return Ok(());
        };
        words.by_ref().take(done).for_each(|(to, byte)| *to = *byte);
        // Clears only some of the bits of the next byte.
        words.take(1).for_each(|(to, byte)| *to = *byte | 0xa5);
        Err(Failed::Power)
    }
}
