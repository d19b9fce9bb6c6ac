//! What opens a file that was refused.

#[cfg(feature = "filo")]
use alloc::vec::Vec;

#[cfg(any(feature = "dataseries", feature = "jay", feature = "vortex"))]
use super::File;
use super::{Format, Hints};
#[cfg(feature = "filo")]
use crate::bytes::FileRange;
use crate::bytes::Input;
#[cfg(any(feature = "dataseries", feature = "jay", feature = "vortex"))]
use crate::column::Memory;
use crate::error::Error;
#[cfg(feature = "filo")]
use crate::error::Kind;
#[cfg(any(feature = "filo", feature = "dataseries", feature = "vortex"))]
use crate::error::What;
#[cfg(feature = "filo")]
use crate::filo;

/// What opens a file that was refused, by [`Hints::help`]. Applications name their own option for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Help {
    /// [`Hints::tolerant`] reads the rest of the file.
    Tolerant,
    /// `Hints::sequential` opens the file, which may be cut within an extent.
    Sequential,
    /// [`Hints::dtype`] is required, as the file does not store the type of its rows.
    Dtype,
    /// [`Hints::element`] is another one: those that fit, which may be none.
    #[cfg(feature = "filo")]
    Element(Vec<filo::Element>),
    /// No hint: the end of a Vortex file is lost, or bytes follow it. What is before it may be intact.
    Recover,
}

impl Hints<'_> {
    /// Returns what opens a file of `format` that these hints do not, with `e` as the error. Hints are tried, so that a hint is
    /// named only if it helps. Allocates memory.
    ///
    #[cfg_attr(feature = "filo", doc = "```")]
    #[cfg_attr(not(feature = "filo"), doc = "```ignore")]
    /// use pilaster::any::{File, Format, Help, Hints};
    /// use pilaster::bytes::{Input, Scratch};
    /// use pilaster::filo::Element;
    ///
    /// // The Int 7, three times, without the element type.
    /// let (vector, hints) = ([6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0], Hints::default());
    /// let e = File::open(&vector, Format::Filo, &hints, &mut Scratch::new(&mut [])).unwrap_err();
    /// let fitting = vec![Element::Int, Element::Utf8, Element::Blob];
    /// assert_eq!(hints.help(Input::whole(&vector), Format::Filo, e), Some(Help::Element(fitting)));
    /// ```
    #[must_use]
    pub fn help(&self, input: Input<'_>, format: Format, e: Error) -> Option<Help> {
        let _ = (&input, &e);
        match format {
            #[cfg(feature = "filo")]
            Format::Filo if e.kind() == Kind::WrongType || e.what() == What::FILO_ELEMENT => {
                let bytes = input.get(FileRange { at: 0, len: input.len() }, What::FILO_VECTOR).ok()?;
                let fits = |element: &filo::Element| filo::Vector::open(bytes, *element).is_ok();
                Some(Help::Element(filo::Element::ALL.into_iter().filter(fits).collect()))
            }
            #[cfg(feature = "jay")]
            Format::Jay => {
                let hints = Hints { tolerant: true, ..*self };
                (!self.tolerant && hints.opens(input, format)).then_some(Help::Tolerant)
            }
            #[cfg(feature = "dataseries")]
            Format::DataSeries if matches!(e.what(), What::DATASERIES_TRAILER | What::DATASERIES_INDEX) => {
                let hints = Hints { sequential: true, ..*self };
                (!self.sequential && hints.opens(input, format)).then_some(Help::Sequential)
            }
            #[cfg(feature = "vortex")]
            Format::Vortex => match e.what() {
                // Any type shows whether the rest of the metadata is valid.
                What::VORTEX_DTYPE if self.dtype.is_none() => {
                    Hints { dtype: Some("null"), ..*self }.opens(input, format).then_some(Help::Dtype)
                }
                What::VORTEX_END | What::VORTEX_VERSION | What::VORTEX_POSTSCRIPT => Some(Help::Recover),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether these hints open a file.
    #[cfg(any(feature = "dataseries", feature = "jay", feature = "vortex"))]
    fn opens(&self, input: Input<'_>, format: Format) -> bool {
        let mut memory = Memory::default();
        loop {
            let Err(e) = File::open_input(input, format, self, &mut memory.scratch()) else { return true };
            if memory.grow(e).is_err() {
                return false;
            }
        }
    }
}
