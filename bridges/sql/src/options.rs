//! Options of a table: what its files do not say about themselves, and what may be trusted.

use std::collections::HashMap;

use datafusion_common::{DataFusionError, Result, plan_err};
use pilaster::any::{Format, Hints};
use pilaster::filo::Element;
use pilaster::vortex::DTypeBuf;

/// How the files of a table are read.
///
/// ```
/// use std::collections::HashMap;
///
/// use pilaster::any::Format;
/// use pilaster_datafusion::Options;
///
/// // As DataFusion passes on: CREATE EXTERNAL TABLE … STORED AS DATASERIES … OPTIONS (table 'Trace')
/// let given = HashMap::from([("format.table".to_owned(), "Trace".to_owned())]);
/// let options = Options::new(Format::DataSeries).with(&given)?;
/// assert_eq!(options.table.as_deref(), Some("Trace"));
/// # Ok::<(), datafusion_common::DataFusionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// The table of a file that has several: the type of a DataSeries file.
    pub table: Option<String>,
    /// The element type of Filo vectors, which do not store it.
    pub element: Option<Element>,
    /// The type of the rows of a Vortex file that does not store it.
    pub dtype: Option<String>,
    /// Whether DataSeries files are read from the front, without trailer and index. Each reader of a split file then reads the
    /// headers of all extents.
    pub sequential: bool,
    /// Whether the readable part of a damaged Jay file or bcolz dataset is read.
    pub tolerant: bool,
    /// Whether columns of bytes are texts, as they mostly are in DataSeries and bcolz. A value that is not UTF-8 is an error.
    pub binary_as_string: bool,
    /// Whether rows are left out by statistics that the format does not check. If a file lies, rows are missing.
    pub trust_statistics: bool,
    /// Whether a damaged file is left out from the damage on, with a warning in the log and a count in the metrics, instead of
    /// an error.
    pub skip_damaged: bool,
}

/// Returns the names of the options in SQL that a format has.
const fn names(format: Format) -> &'static [&'static str] {
    match format {
        Format::DataSeries => &["table", "sequential", "binary_as_string", "skip_damaged"],
        Format::Jay => &["tolerant", "trust_statistics", "skip_damaged"],
        Format::Vortex => &["dtype", "binary_as_string", "trust_statistics", "skip_damaged"],
        Format::Filo => &["element", "binary_as_string", "skip_damaged"],
        Format::Bcolz => &["tolerant", "binary_as_string", "skip_damaged"],
    }
}

/// The beginnings of options of object stores and of writing, which DataFusion passes on, too.
const OTHERS: [&str; 7] = ["aws.", "azure.", "cos.", "execution.", "gcp.", "http.", "oss."];

impl Options {
    /// Creates the strict options of a format.
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Options {
            format,
            table: None,
            element: None,
            dtype: None,
            sequential: false,
            tolerant: false,
            binary_as_string: false,
            trust_statistics: false,
            skip_damaged: false,
        }
    }

    /// Returns the options changed by an SQL statement. Names may begin with `format.`, as DataFusion adds it.
    ///
    /// # Errors
    /// An option that the format does not have, or a value that it cannot have.
    pub fn with(mut self, given: &HashMap<String, String>) -> Result<Self> {
        for (key, value) in given {
            let name = key.strip_prefix("format.").unwrap_or(key);
            if OTHERS.iter().any(|other| name.starts_with(other)) {
                continue;
            }
            let known = names(self.format);
            if !known.contains(&name) {
                return plan_err!("unknown option {name:?} of {}; the options are: {}", self.format, known.join(", "));
            }
            match name {
                "table" => self.table = Some(value.clone()),
                "element" => self.element = Some(element(value)?),
                "dtype" => self.dtype = Some(dtype(value)?),
                "sequential" => self.sequential = flag(name, value)?,
                "tolerant" => self.tolerant = flag(name, value)?,
                "binary_as_string" => self.binary_as_string = flag(name, value)?,
                "trust_statistics" => self.trust_statistics = flag(name, value)?,
                _ => self.skip_damaged = flag(name, value)?,
            }
        }
        Ok(self)
    }

    /// Returns what the library takes to open a file.
    pub(crate) fn hints(&self) -> Hints<'_> {
        Hints {
            element: self.element,
            sequential: self.sequential,
            dtype: self.dtype.as_deref(),
            tolerant: self.tolerant,
            ..Hints::default()
        }
    }

    /// Returns the extension of files of the format, without the dot.
    #[must_use]
    pub const fn extension(&self) -> &'static str {
        match self.format {
            Format::DataSeries => "ds",
            format => format.name(),
        }
    }
}

fn element(name: &str) -> Result<Element> {
    name.parse().map_err(|_| {
        let known: Vec<_> = Element::ALL.iter().map(ToString::to_string).collect();
        DataFusionError::Plan(format!("no element type of Filo is called {name:?}; they are: {}", known.join(", ")))
    })
}

/// Returns the type of rows in the notation of Vortex, if it is one.
///
/// # Errors
/// Another text.
fn dtype(text: &str) -> Result<String> {
    match text.parse::<DTypeBuf>() {
        Ok(_) => Ok(text.to_owned()),
        Err(e) => plan_err!("{text:?} is no type of rows in Vortex's notation, such as '{{a=i64, b=utf8?}}': {e}"),
    }
}

fn flag(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => plan_err!("option {name:?} is {value:?}; it can be true or false"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(format: Format, pairs: &[(&str, &str)]) -> Result<Options> {
        let given = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Options::new(format).with(&given)
    }

    #[test]
    fn options_of_sql() -> Result<()> {
        let given = [("format.element", "INT"), ("format.skip_damaged", "TRUE"), ("aws.region", "eu")];
        let options = with(Format::Filo, &given)?;
        assert_eq!((options.element, options.skip_damaged), (Some(Element::Int), true));
        Ok(())
    }

    /// Every name of the list of a format changes an option.
    #[test]
    fn every_format_has_its_options() -> Result<()> {
        for format in Format::ALL {
            for name in names(format) {
                let value = match *name {
                    "element" => "int",
                    "dtype" => "{a=i64}",
                    _ => "true",
                };
                assert_ne!(with(format, &[(name, value)])?, Options::new(format), "{format} {name}");
            }
        }
        Ok(())
    }

    #[test]
    fn errors_name_what_is_possible() {
        for (format, pair, part) in [
            (Format::Filo, ("format.elment", "int"), "the options are: element, binary_as_string"),
            (Format::Filo, ("element", "i32"), "they are: boolean, int"),
            (
                Format::Vortex,
                ("dtype", "foo"),
                "\"foo\" is no type of rows in Vortex's notation, such as '{a=i64, b=utf8?}': ",
            ),
            (Format::Jay, ("format.tolerant", "1"), "it can be true or false"),
            (
                Format::Vortex,
                ("vortex.trust_statistics", "true"),
                "unknown option \"vortex.trust_statistics\" of vortex",
            ),
            (Format::Vortex, ("element", "int"), "the options are: dtype"),
            (Format::Jay, ("sequential", "true"), "the options are: tolerant"),
            (Format::DataSeries, ("trust_statistics", "true"), "the options are: table"),
            (Format::Bcolz, ("table", "x"), "the options are: tolerant, binary_as_string, skip_damaged"),
        ] {
            let error = with(format, &[pair]).map_err(|e| e.to_string()).expect_err("an error");
            assert!(error.contains(part), "{error}");
        }
    }
}
