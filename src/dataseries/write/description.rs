//! The types of a file, as its type extent lists them (section 5).

use super::Record;
use crate::dataseries::raw::{INDEX_TYPE, MAX_NAME, MAX_STORED, XML_TYPE};
use crate::dataseries::types::ExtentType;
use crate::error::{Error, Kind, Result, What};

/// A type that a file lists: its name and its stored description.
#[derive(Clone, Copy, Debug)]
pub struct Description<'t> {
    /// The name, with entities resolved, as in the extents of the type.
    pub name: &'t str,
    /// The XML text, stored byte for byte.
    pub xml: &'t [u8],
}

impl Description<'static> {
    /// Describes a type known at compile time.
    #[must_use]
    pub const fn of<R: Record>() -> Self {
        Description { name: R::NAME, xml: R::XML.as_bytes() }
    }
}

impl<'t> From<&ExtentType<'t>> for Description<'t> {
    fn from(ty: &ExtentType<'t>) -> Self {
        Description { name: ty.name(), xml: ty.xml() }
    }
}

/// All types of a file, in the ascending order of the bytes of their names, as the original stores them.
///
/// ```
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Description, Descriptions};
///
/// record! {
///     /// A reading.
///     struct Reading = "Reading" { value: double }
/// }
/// record! {
///     /// An alarm.
///     struct Alarm = "Alarm" { code: int32 }
/// }
///
/// const TYPES: Descriptions<'static> = Descriptions::of::<(Alarm, Reading)>(); // (Reading, Alarm) does not compile
///
/// let wrong = [Description::of::<Reading>(), Description::of::<Alarm>()];
/// assert_eq!(Descriptions::new(&wrong).unwrap_err().at(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Descriptions<'t>(&'t [Description<'t>]);

impl Descriptions<'static> {
    /// Lists types known at compile time: one, or a tuple of up to four. A list that is not valid in a file
    /// does not compile.
    #[must_use]
    pub const fn of<R: Records>() -> Self {
        const { assert!(wrong(R::LIST).is_none(), "list the types in ascending order of their names, each once") }
        Descriptions(R::LIST)
    }
}

impl<'t> Descriptions<'t> {
    /// Lists types known at run time.
    ///
    /// # Errors
    /// [`Kind::Misuse`] with the number of a type that is out of order or listed twice, whose name is empty,
    /// longer than 255 bytes or the name of a built-in type, or whose description is empty or has 512 MiB or
    /// more; [`Kind::Limit`] for more than 65,536 types.
    pub fn new(types: &'t [Description<'t>]) -> Result<Self> {
        if types.len() > 1 << 16 {
            return Err(Error::needing(Kind::Limit, What::DATASERIES_TYPE_NAME, 1 << 16, 1 << 16));
        }
        match wrong(types) {
            Some(k) => Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE_NAME, k.into())),
            None => Ok(Descriptions(types)),
        }
    }

    /// The types.
    #[must_use]
    pub(crate) const fn list(&self) -> &'t [Description<'t>] {
        self.0
    }
}

/// Returns the number of the first type that is not valid at its position in a file.
const fn wrong(mut types: &[Description<'_>]) -> Option<u32> {
    let (mut before, mut k): (&[u8], u32) = (&[], 0);
    while let [ty, rest @ ..] = types {
        let name = ty.name.as_bytes();
        let built_in = same(name, XML_TYPE.as_bytes()) || same(name, INDEX_TYPE.as_bytes());
        let large = ty.xml.len() as u64 >= MAX_STORED;
        if !less(before, name) || name.len() > MAX_NAME || ty.xml.is_empty() || large || built_in {
            return Some(k);
        }
        (before, types, k) = (name, rest, k.saturating_add(1));
    }
    None
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    !less(a, b) && !less(b, a)
}

// Not inlined: a list is checked once, and a microcontroller that lists its types at run time has the loop once.
#[inline(never)]
const fn less(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return *x < *y;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.len() < b.len()
}

/// One row type known at compile time, or a tuple of them.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Sink, SliceSink};
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Descriptions, IndexSlot, Records, Writer};
///
/// record! {
///     struct Alarm = "Alarm" { code: int32 }
/// }
/// record! {
///     struct Tick = "Tick" { time: int64 }
/// }
///
/// fn create<R: Records, S: Sink>(sink: S, slots: &mut [IndexSlot]) -> Writer<'_, LittleEndian, S> {
///     Writer::new(sink, Descriptions::of::<R>(), slots)
/// }
///
/// let (mut memory, mut slots) = ([0; 1024], [IndexSlot::EMPTY; 8]);
/// let mut file = create::<(Alarm, Tick), _>(SliceSink::new(&mut memory), &mut slots);
/// file.begin()?;
/// assert_eq!((Tick::LIST.len(), <(Alarm, Tick)>::LIST.len()), (1, 2));
/// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
/// ```
pub trait Records {
    /// The descriptions of the types.
    const LIST: &'static [Description<'static>];
}

impl<R: Record> Records for R {
    const LIST: &'static [Description<'static>] = &[Description::of::<R>()];
}

macro_rules! tuples {
    ($($($record:ident)+;)*) => {$(
        impl<$($record: Record),+> Records for ($($record,)+) {
            const LIST: &'static [Description<'static>] = &[$(Description::of::<$record>()),+];
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn only_what_a_file_can_list() {
        let check = |names: &[&'static str], xml: &'static [u8]| {
            let types: Vec<_> = names.iter().map(|name| Description { name, xml }).collect();
            Descriptions::new(&types).err().map(|e| (e.kind(), e.at()))
        };
        let long = std::string::String::from_utf8(std::vec![b'n'; 256]).unwrap().leak();
        assert_eq!(check(&[], b"x"), None);
        assert_eq!(check(&["A", "AB", "B", &long[1..]], b"x"), None);
        assert_eq!(check(&["A", "B", "AB"], b"x"), Some((Kind::Misuse, 2)));
        assert_eq!(check(&["A", "A"], b"x"), Some((Kind::Misuse, 1)));
        assert_eq!(check(&[""], b"x"), Some((Kind::Misuse, 0)));
        assert_eq!(check(&["A", long], b"x"), Some((Kind::Misuse, 1)));
        assert_eq!(check(&[INDEX_TYPE, "E"], b"x"), Some((Kind::Misuse, 0)));
        assert_eq!(check(&["A", XML_TYPE], b"x"), Some((Kind::Misuse, 1)));
        assert_eq!(check(&["A"], b""), Some((Kind::Misuse, 0)));
    }
}
