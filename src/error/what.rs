//! The field that an [`Error`](super::Error) is about: a number. Each module declares its own fields, and their names
//! are looked up in [`names`](crate::names), which depends on all modules.

/// The field, structure or resource that an error is about, in the terms of its format.
///
/// Each format declares its fields as constants of this type: `What::FILO_HEADER`, `What::JAY_ROWS`. It is two bytes;
/// the name is looked up only when it is printed, so an image that never prints carries none of the texts.
///
/// ```
/// use pilaster::error::What;
///
/// assert_eq!(What::SCRATCH.name(), "scratch memory");
/// assert_eq!(What::from_id(What::SCRATCH.id()), Some(What::SCRATCH));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct What(u16);

impl What {
    /// Returns the field with number `id`. Only [`fields!`] assigns numbers.
    pub(crate) const fn new(id: u16) -> Self {
        What(id)
    }

    /// Returns the number of the field, which is constant within one version of the crate.
    #[must_use]
    pub const fn id(self) -> u16 {
        self.0
    }
}

/// The fields that one module declares: consecutive numbers, starting at `first`.
pub(crate) struct Fields {
    /// Number of the first one, a multiple of [`RANGE`].
    pub first: u16,
    /// Their names, as a message shows them.
    pub names: &'static [&'static str],
    /// Returns the interned name of the field with this index in `names`.
    #[cfg(feature = "defmt")]
    pub interned: fn(u16) -> defmt::Str,
}

/// Number of field numbers that are reserved for one module.
pub(crate) const RANGE: u16 = 0x40;

/// Declares the fields of a module: the first number of its range, then a line for each field with its name in the
/// terms of the format. Defines a constant of [`What`] for each, and the list [`Fields`], in which
/// [`names`](crate::names) finds the texts.
macro_rules! fields {
    ($first:literal; $($id:ident = $name:literal,)*) => {
        pub(crate) const FIELDS: $crate::error::Fields = $crate::error::Fields {
            first: $first,
            names: &[$($name,)*],
            #[cfg(feature = "defmt")]
            interned,
        };

        #[cfg(feature = "defmt")]
        fn interned(place: u16) -> defmt::Str {
            match place {
                $(place if place == Id::$id as u16 => defmt::intern!($name),)*
                _ => defmt::intern!("unknown field"),
            }
        }

        const _: () = {
            assert!($first % $crate::error::RANGE == 0, "a range begins at a multiple of its length");
            assert!(FIELDS.names.len() <= $crate::error::RANGE as usize, "the fields go beyond their range");
        };

        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the variants are the names of constants")]
        #[repr(u16)]
        enum Id { $($id,)* }

        impl $crate::error::What {
            $(
                #[doc = concat!("The ", $name, ".")]
                pub const $id: Self = Self::new($first + Id::$id as u16);
            )*
        }
    };
}
pub(crate) use fields;
