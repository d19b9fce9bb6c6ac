//! The texts of errors. Each module declares the names of its fields; this one depends on all modules and looks them
//! up.

use core::fmt;

use crate::error::{Error, Fields, Kind, RANGE, What};

/// The fields of every module, in the order of their numbers.
const ALL: &[Fields] = &[
    crate::error::FIELDS,
    crate::any::FIELDS,
    crate::codec::FIELDS,
    crate::meta::FIELDS,
    crate::encoding::FIELDS,
    #[cfg(feature = "filo")]
    crate::filo::FIELDS,
    #[cfg(feature = "dataseries")]
    crate::dataseries::FIELDS,
    #[cfg(feature = "bcolz")]
    crate::bcolz::FIELDS,
    #[cfg(feature = "jay")]
    crate::jay::FIELDS,
    #[cfg(feature = "vortex")]
    crate::vortex::FIELDS,
    crate::column::FIELDS,
];

// No two modules have the same range.
const _: () = {
    let mut rest = ALL;
    while let [one, tail @ ..] = rest {
        if let [next, ..] = tail {
            assert!(one.first < next.first, "ranges are in order, and differ");
        }
        rest = tail;
    }
};

/// Returns the fields of the module that has number `id`, and the index of the number among them.
fn find(id: u16) -> Option<(&'static Fields, u16)> {
    let first = id & !RANGE.wrapping_sub(1);
    let fields = ALL.iter().find(|fields| fields.first == first)?;
    Some((fields, id.wrapping_sub(first)))
}

/// Returns the name of the field with number `id`.
fn name(id: u16) -> Option<&'static str> {
    let (fields, place) = find(id)?;
    fields.names.get(usize::from(place)).copied()
}

impl What {
    /// Returns the name in messages, for instance `filo header word`.
    #[must_use]
    pub fn name(self) -> &'static str {
        name(self.id()).unwrap_or("unknown field")
    }

    /// Returns the field with this number, or `None` if this build has no such field.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        name(id).map(|_| What::new(id))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for What {
    fn format(&self, f: defmt::Formatter<'_>) {
        match find(self.id()) {
            Some((fields, place)) => defmt::write!(f, "{=istr}", (fields.interned)(place)),
            None => defmt::write!(f, "unknown field"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, at, need) = (self.what().name(), self.at(), self.need());
        match self.kind() {
            // A need of 0 means that the required size is unknown.
            Kind::Truncated if need == 0 => write!(f, "{name} at offset {at}: truncated"),
            Kind::Truncated => write!(f, "{name} at offset {at}: truncated, {need} bytes needed"),
            Kind::Trailing => write!(f, "{name} at offset {at}: {need} bytes too many"),
            #[cfg(feature = "vortex")]
            Kind::Invalid if self.what() == What::VORTEX_FIELD => match (at, need) {
                (0, 1) => f.write_str("a vortex log must have a column"),
                _ if at == u64::from(need) => write!(f, "column {at} of a vortex log: no such type or time zone"),
                _ => write!(f, "columns {need} and {at} of a vortex log have the same name"),
            },
            #[cfg(feature = "vortex")]
            Kind::Invalid if self.what() == What::VORTEX_TIME_ZONE => {
                write!(f, "{name}: not an IANA time zone, and not an offset such as +01:00")
            }
            #[cfg(feature = "vortex")]
            Kind::Invalid if self.what() == What::VORTEX_LOG && at == 0 => {
                write!(f, "no vortex file: it begins with 0x{need:08x}")
            }
            Kind::Invalid => write!(f, "{name} at offset {at}: invalid value {need} (0x{need:x})"),
            #[cfg(feature = "vortex")]
            Kind::Unsupported if self.what() == What::VORTEX_AGGREGATE => {
                write!(f, "{name} at offset {at}: unknown id of {need} bytes")
            }
            Kind::Unsupported => write!(f, "{name} at offset {at}: {need} (0x{need:x}) is not supported"),
            Kind::WrongType if need == 0 => write!(f, "{name} does not fit the requested type"),
            Kind::WrongType => write!(f, "{name} at offset {at}: 0x{need:08x} does not fit the requested type"),
            Kind::Checksum => write!(f, "{name} at offset {at}: checksum differs, 0x{need:08x} is stored"),
            Kind::Overflow => write!(f, "{name} at offset {at}: number out of range"),
            Kind::Limit => write!(f, "{name} at offset {at}: limit of {need} reached"),
            #[cfg(feature = "vortex")]
            Kind::NoRoom if need == 0 && self.what() == What::VORTEX_ROW_MEMORY => {
                f.write_str("a row group of a vortex log must have a row: the number of rows is 0")
            }
            Kind::NoRoom if need == 0 => write!(f, "{name} too small"),
            Kind::NoRoom => write!(f, "{name} too small: {need} bytes needed"),
            Kind::OutOfRange => write!(f, "{name} {at} does not exist, there are {need}"),
            Kind::Utf8 => write!(f, "{name} at offset {at}: not UTF-8"),
            Kind::Lossy if self.what() == What::VALUE_OF_EVERY_ROW => {
                write!(f, "row {at} is missing; collect into `Option`")
            }
            #[cfg(feature = "filo")]
            Kind::Lossy if self.what() == What::FILO_MASK => {
                write!(f, "row {at} is missing, and the filo vector has no NA mask")
            }
            #[cfg(feature = "filo")]
            Kind::Lossy if matches!(self.what(), What::FILO_VALUE_WIDTH | What::FILO_DIFFERENCE) => {
                let sign = if need > 127 { "signed" } else { "unsigned" };
                write!(f, "{name}: {} does not fit {} bits, {sign}", at.cast_signed(), need & 127)
            }
            #[cfg(feature = "filo")]
            Kind::Lossy if self.what() == What::FILO_WHOLE => {
                write!(f, "{name}: no whole number, and {} bits hold no other", need & 127)
            }
            #[cfg(feature = "filo")]
            Kind::Lossy if self.what() == What::FILO_SLOT && need > 0 => {
                write!(f, "{name}: {at} bytes do not fit {need}")
            }
            Kind::Lossy => write!(f, "{name}: the value of row {at} cannot be stored"),
            Kind::Misuse => match self.what() {
                What::TABLE_CHOICE if need == 0 => f.write_str("the file has no tables"),
                What::TABLE_CHOICE => write!(f, "the file has {need} tables: pass a name to `table`"),
                #[cfg(feature = "filo")]
                What::FILO_ELEMENT => {
                    f.write_str("a Filo vector does not store its element type: set `Hints::element`")
                }
                #[cfg(feature = "dataseries")]
                What::DATASERIES_FIXED if need > 0 => {
                    write!(f, "the memory for rows of a dataseries extent holds no record: {need} bytes needed")
                }
                #[cfg(feature = "filo")]
                What::FILO_BUFFER => write!(f, "{name}: row {at} does not fit into an empty one; {need} bytes needed"),
                #[cfg(feature = "vortex")]
                What::VORTEX_WIDTH => write!(f, "{at} columns, and the file has {need}"),
                #[cfg(feature = "vortex")]
                What::VORTEX_COLUMN_NAME => match need.checked_sub(1) {
                    None => write!(f, "column {at}, counted from 0: no column of the file has its name"),
                    Some(place) => {
                        write!(f, "column {at}, counted from 0: its name is that of column {place} of the file")
                    }
                },
                #[cfg(feature = "vortex")]
                What::VORTEX_COLUMN_ROWS => {
                    write!(f, "column {at}, counted from 0: {need} rows, and others have another number of rows")
                }
                #[cfg(feature = "vortex")]
                What::VORTEX_FAILED => f.write_str("an earlier call failed: the file cannot be finished"),
                #[cfg(feature = "vortex")]
                What::VORTEX_CHECKPOINT => {
                    f.write_str("no checkpoint of these columns: it is a log of other columns, or is damaged")
                }
                #[cfg(feature = "vortex")]
                What::VORTEX_LOG => f.write_str("the vortex log is not started, has ended, or its sink has failed"),
                #[cfg(feature = "vortex")]
                What::VORTEX_GROUPS => f.write_str(
                    "memory for row groups of a vortex log: not the records that `Resume::find` left, or other columns",
                ),
                #[cfg(feature = "vortex")]
                What::VORTEX_FIELD => match crate::vortex::log::taken(need) {
                    None => write!(f, "a row of a vortex log of {at} columns has more cells"),
                    Some((ty, nullable)) => {
                        let null = if nullable { " or null" } else { "" };
                        write!(
                            f,
                            "column {at} of a vortex log takes {ty}{null}: the cell is missing, of another type or out of range"
                        )
                    }
                },
                _ => write!(f, "{name} at {at}: invalid call or argument"),
            },
            Kind::Unknown => {
                let mut first = [0; 12];
                let (low, high) = first.split_at_mut(8);
                low.copy_from_slice(&at.to_le_bytes());
                high.copy_from_slice(&need.to_le_bytes());
                // A name without a NUL at its end may be longer, and a character may be cut.
                let more = if first.ends_with(&[0]) { "" } else { "..." };
                let len = first.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
                let name_asked = first.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                write!(f, "no {name} is called {:?}{more}", name_asked.get(..len).unwrap_or(name_asked))
            }
            Kind::Missing => write!(f, "{name}: {need} bytes at offset {at} of the file were not provided"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn names_that_nothing_has() {
        let e = |name| Error::unknown(What::COLUMN, name).to_string();
        assert_eq!(e("price"), "no column is called \"price\"");
        assert_eq!(e("a longer name"), "no column is called \"a longer nam\"...");
        assert_eq!(e("elf Zeichen\u{e4}"), "no column is called \"elf Zeichen\"...");
        assert_eq!(e(""), "no column is called \"\"");
    }

    #[test]
    fn errors_of_a_caller_say_what_to_do() {
        let e = |kind, what, at, need| Error::needing(kind, what, at, need).to_string();
        assert_eq!(e(Kind::Lossy, What::VALUE_OF_EVERY_ROW, 1, 0), "row 1 is missing; collect into `Option`");
        assert_eq!(e(Kind::Misuse, What::TABLE_CHOICE, 0, 0), "the file has no tables");
        assert_eq!(e(Kind::Misuse, What::TABLE_CHOICE, 0, 2), "the file has 2 tables: pass a name to `table`");
        assert_eq!(e(Kind::Misuse, What::COLUMN, 3, 0), "column at 3: invalid call or argument");
        assert_eq!(e(Kind::Limit, What::MAX_DEPTH, 9, 4), "max_depth at offset 9: limit of 4 reached");
    }

    #[test]
    fn an_unknown_need_is_left_out() {
        let e = |kind, need| Error::needing(kind, What::INPUT, 7, need).to_string();
        assert_eq!(e(Kind::Truncated, 0), "input at offset 7: truncated");
        assert_eq!(e(Kind::Truncated, 1), "input at offset 7: truncated, 1 bytes needed");
        assert_eq!(e(Kind::NoRoom, 0), "input too small");
        assert_eq!(e(Kind::NoRoom, 1), "input too small: 1 bytes needed");
    }

    #[test]
    fn every_field_has_its_own_name() {
        let all: std::vec::Vec<What> = (0..=u16::MAX).filter_map(What::from_id).collect();
        assert_eq!(all.len(), ALL.iter().map(|fields| fields.names.len()).sum::<usize>());
        let mut names: std::vec::Vec<&str> = all.iter().map(|what| what.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert_eq!(What::new(u16::MAX).name(), "unknown field");
    }
}
