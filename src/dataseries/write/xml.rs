//! Descriptions of types as XML text (section 5.1).

use core::fmt::{self, Write as _};

use crate::bytes::{Sink, WriteError};
use crate::dataseries::layout::{FieldType, Options, Ordering, Pad};
use crate::dataseries::types::{Field, Relative};
use crate::error::{Error, Kind, Result, What};

/// Writes the description of a type, field by field, and escapes the text.
///
/// It does not check the type: [`ExtentType::parse`](crate::dataseries::ExtentType::parse) does, and computes
/// the layout.
///
/// ```
/// use pilaster::bytes::{Scratch, SliceSink};
/// use pilaster::dataseries::{ExtentType, Field, FieldType, Options};
/// use pilaster::unstable::dataseries::xml::{Attributes, TypeXml};
///
/// let mut buffer = [0; 256];
/// let mut xml = TypeXml::begin(SliceSink::new(&mut buffer), "R&D", "example.org", (1, 0), Options::DEFAULT)?;
/// xml.field(&Field { scale: Some(0.01), ..Field::new("temp <C>", FieldType::Double) }, &Attributes::default())?;
/// let text = xml.end()?;
/// assert_eq!(
///     str::from_utf8(text.written()),
///     Ok("<ExtentType name=\"R&amp;D\" namespace=\"example.org\" version=\"1.0\">\n\
///         \x20 <field type=\"double\" name=\"temp &lt;C&gt;\" pack_scale=\"0.01\" />\n</ExtentType>\n")
/// );
///
/// let mut memory = [0; 256];
/// let ty = ExtentType::parse(text.written(), &Default::default(), &mut Scratch::new(&mut memory))?;
/// assert_eq!((ty.name(), ty.field(0).unwrap().name), ("R&D", "temp <C>"));
/// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
/// ```
#[derive(Debug)]
pub struct TypeXml<S> {
    sink: S,
}

/// The attributes of a field besides its options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes<'a> {
    /// The name of the field that a [`Relative::To`] refers to.
    pub base: &'a str,
    /// Further attributes, for display: `units`, `epoch`, `comment`. None may begin with `pack_` or `opt_`.
    pub more: &'a [(&'a str, &'a str)],
}

impl<S: Sink> TypeXml<S> {
    /// Writes the start of a description. An empty namespace and version 0.0 are left out.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a character that XML does not allow; errors of the sink.
    pub fn begin(
        sink: S,
        name: &str,
        namespace: &str,
        version: (i32, i32),
        options: Options,
    ) -> Result<Self, WriteError<S::Error>> {
        let mut xml = TypeXml { sink };
        xml.raw("<ExtentType")?;
        xml.attribute("name", name)?;
        if !namespace.is_empty() {
            xml.attribute("namespace", namespace)?;
        }
        if version != (0, 0) {
            let (major, minor) = version;
            xml.attribute("version", Short::of(format_args!("{major}.{minor}")).text())?;
        }
        if options.compact {
            xml.attribute("pack_null_compact", "non_bool")?;
        }
        if options.pad == Pad::MaxColumnSize {
            xml.attribute("pack_pad_record", "max_column_size")?;
        }
        if options.ordering == Ordering::BigToSmall {
            xml.attribute("pack_field_ordering", "big_to_small_sep_var32")?;
        }
        xml.raw(">\n")?;
        Ok(xml)
    }

    /// Writes the next field. Its position in the record is not part of the description.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for a character that XML does not allow; errors of the sink.
    pub fn field(&mut self, field: &Field<'_>, attributes: &Attributes<'_>) -> Result<(), WriteError<S::Error>> {
        self.raw("  <field")?;
        self.attribute("type", field.ty.name())?;
        self.attribute("name", field.name)?;
        if let FieldType::FixedWidth(size) = field.ty {
            self.attribute("size", Short::of(format_args!("{size}")).text())?;
        }
        if field.nullable {
            self.attribute("opt_nullable", "yes")?;
        }
        if field.unique {
            self.attribute("pack_unique", "yes")?;
        }
        if let Some(scale) = field.scale {
            self.attribute("pack_scale", Short::of(format_args!("{scale:?}")).text())?;
        }
        match field.relative {
            Relative::No => {}
            Relative::Own => self.attribute("pack_relative", field.name)?,
            Relative::To(_) => self.attribute("pack_relative", attributes.base)?,
        }
        if field.base != 0.0 {
            self.attribute("opt_doublebase", Short::of(format_args!("{:?}", field.base)).text())?;
        }
        for (name, value) in attributes.more {
            self.attribute(name, value)?;
        }
        self.raw(" />\n")
    }

    /// Writes the end of the description, and returns the sink.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn end(mut self) -> Result<S, WriteError<S::Error>> {
        self.raw("</ExtentType>\n")?;
        Ok(self.sink)
    }

    fn raw(&mut self, text: &str) -> Result<(), WriteError<S::Error>> {
        self.sink.put(text.as_bytes()).map_err(WriteError::Sink)
    }

    fn attribute(&mut self, name: &str, value: &str) -> Result<(), WriteError<S::Error>> {
        self.raw(" ")?;
        self.raw(name)?;
        self.raw("=\"")?;
        put_escaped(&mut self.sink, value)?;
        self.raw("\"")
    }
}

/// Puts a text, escaped for use between double quotes. Unescaped line ends and tabs would be read as spaces;
/// some characters are not allowed in XML.
pub(super) fn put_escaped<S: Sink>(sink: &mut S, text: &str) -> Result<(), WriteError<S::Error>> {
    for (at, c) in text.char_indices() {
        let mut plain = [0; 4];
        let escaped = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\t' => "&#9;",
            '\n' => "&#10;",
            '\r' => "&#13;",
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                return Err(Error::needing(Kind::Misuse, What::XML_TEXT, at as u64, u32::from(c).into()).into());
            }
            c => c.encode_utf8(&mut plain),
        };
        sink.put(escaped.as_bytes()).map_err(WriteError::Sink)?;
    }
    Ok(())
}

/// A number as text. The shortest exact form of a double has at most 24 bytes.
struct Short {
    bytes: [u8; 32],
    len: usize,
}

impl Short {
    fn of(number: fmt::Arguments<'_>) -> Self {
        let mut short = Short { bytes: [0; 32], len: 0 };
        // A number fits into 32 bytes.
        let _ = short.write_fmt(number);
        short
    }

    fn text(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len.saturating_add(text.len());
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
