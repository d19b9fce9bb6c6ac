//! Options of a table: what its files do not say about themselves, and what may be trusted.

use std::collections::HashMap;

use datafusion_common::{DataFusionError, Result, plan_err};
use pilaster::any::{Format, Hints};
use pilaster::filo::Element;

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
    /// Whether columns of bytes are texts, as they mostly are in DataSeries. A value that is not UTF-8 is an error.
    pub binary_as_string: bool,
    /// Whether rows are left out by statistics that the format does not check. If a file lies, rows are missing.
    pub trust_statistics: bool,
    /// Whether a damaged file is left out from the damage on, with a warning in the log and a count in the metrics, instead of
    /// an error.
    pub skip_damaged: bool,
}

/// The names of the options in SQL.
const NAMES: &str = "table, element, dtype, sequential, tolerant, binary_as_string, trust_statistics, skip_damaged";

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
    /// An unknown option, or a value that it cannot have.
    pub fn with(mut self, given: &HashMap<String, String>) -> Result<Self> {
        for (key, value) in given {
            let name = key.strip_prefix("format.").unwrap_or(key);
            match name {
                "table" => self.table = Some(value.clone()),
                "element" => self.element = Some(element(value)?),
                "dtype" => self.dtype = Some(value.clone()),
                "sequential" => self.sequential = flag(name, value)?,
                "tolerant" => self.tolerant = flag(name, value)?,
                "binary_as_string" => self.binary_as_string = flag(name, value)?,
                "trust_statistics" => self.trust_statistics = flag(name, value)?,
                "skip_damaged" => self.skip_damaged = flag(name, value)?,
                // Options of the table as a whole, such as options of the store.
                _ if key.contains('.') && !key.starts_with("format.") => {}
                _ => return plan_err!("unknown option {name:?} of {}; the options are: {NAMES}", self.format),
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

    fn with(pairs: &[(&str, &str)]) -> Result<Options> {
        let given = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Options::new(Format::Filo).with(&given)
    }

    #[test]
    fn options_of_sql() -> Result<()> {
        let options = with(&[("format.element", "INT"), ("format.skip_damaged", "TRUE"), ("aws.region", "eu")])?;
        assert_eq!((options.element, options.skip_damaged), (Some(Element::Int), true));
        Ok(())
    }

    #[test]
    fn errors_name_what_is_possible() {
        for (pair, part) in [
            (("format.elment", "int"), "the options are: table, element"),
            (("element", "i32"), "they are: boolean, int"),
            (("format.tolerant", "1"), "it can be true or false"),
        ] {
            let error = with(&[pair]).map_err(|e| e.to_string()).expect_err("an error");
            assert!(error.contains(part), "{error}");
        }
    }
}
