//! Records in numpy's notation (section A.3): consecutive fields, or a dict with the offset of each.

use super::dtype::{self, Dtype, MAX_ITEM};
use crate::error::{Error, Kind, Result, What};
use crate::limits::{Depth, Limits};

/// Maximum length in bytes of the text of a record. It bounds the work of an access, which searches from the front.
const MAX_TEXT: usize = 1 << 16;

/// The fields of a record. Their text has been checked.
///
/// ```
/// use pilaster::bcolz::{Dtype, Field, Fields};
///
/// /// Names, offsets and sizes of the fields, in bytes.
/// fn layout<'a>(fields: &Fields<'a>) -> Vec<(&'a str, u32, u32)> {
///     fields.iter().map(|Field { name, dtype, at }| (name, at, dtype.size())).collect()
/// }
///
/// let packed = Dtype::parse("[('id', '<i4'), ('price', '>f8')]")?;
/// let text = "{'names': ['id', 'price'], 'formats': ['<i4', '>f8'], 'offsets': [0, 8], 'itemsize': 16}";
/// let aligned = Dtype::parse(text)?;
/// let (Dtype::Struct(a), Dtype::Struct(b)) = (packed, aligned) else { panic!("two records") };
/// assert_eq!((layout(&a), packed.size()), (vec![("id", 0, 4), ("price", 4, 8)], 12));
/// assert_eq!((layout(&b), aligned.size()), (vec![("id", 0, 4), ("price", 8, 8)], 16));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fields<'a> {
    text: &'a str,
    count: u32,
    size: u32,
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The name.
    pub name: &'a str,
    /// The type, never an object.
    pub dtype: Dtype<'a>,
    /// Offset in bytes in the record.
    pub at: u32,
}

impl Field<'_> {
    /// Returns the offset after the last byte.
    const fn end(&self) -> u32 {
        self.at.saturating_add(self.dtype.size())
    }
}

impl<'a> Fields<'a> {
    /// Parses the text of a record.
    pub(super) fn parse(text: &'a str) -> Result<Self> {
        if text.len() > MAX_TEXT {
            return Err(Error::needing(Kind::Limit, What::BCOLZ_DTYPE, 0, MAX_TEXT as u64));
        }
        let mut cursor = Cursor { rest: text, end: text.len(), fresh: true };
        let fields = cursor.record(Depth::new(&Limits::DEFAULT))?;
        if cursor.rest.is_empty() { Ok(fields) } else { Err(cursor.unknown()) }
    }

    /// Returns the text that was parsed.
    pub(super) const fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the size in bytes of a record, padding included.
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// Returns the number of fields.
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Iterates over the fields, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let mut walk = Walk::new(Cursor { rest: self.text, end: self.text.len(), fresh: true });
        // Errors cannot occur: the text was checked when the type was parsed.
        let begun = walk.begin().is_ok();
        let depth = Depth::new(&Limits::DEFAULT);
        core::iter::from_fn(move || (begun && matches!(walk.next(depth), Ok(true))).then_some(walk.field))
    }
}

/// A walk over the fields of a record, in order.
struct Walk<'a> {
    /// For a list: the position before the next tuple. For a dict: the position after the dict.
    cursor: Cursor<'a>,
    /// True for a dict.
    dict: bool,
    /// For a dict: the lists of names, types and offsets.
    lists: [Cursor<'a>; 3],
    /// Size in bytes of a record: for a dict, as stated; for a list, the sum of the fields so far.
    size: u32,
    /// The current field.
    field: Field<'a>,
}

impl<'a> Walk<'a> {
    const fn new(cursor: Cursor<'a>) -> Self {
        let field = Field { name: "", dtype: Dtype::Bool, at: 0 };
        Walk { cursor, dict: false, lists: [cursor; 3], size: 0, field }
    }

    /// Moves before the first field of a list, or after a dict.
    fn begin(&mut self) -> Result<()> {
        let cursor = &mut self.cursor;
        if cursor.take("[") {
            cursor.fresh = true;
            return Ok(());
        }
        self.dict = true;
        let mut before = "{";
        for (list, key) in self.lists.iter_mut().zip(["'names'", "'formats'", "'offsets'"]) {
            cursor.expect(&[before, key, ":", "["])?;
            *list = Cursor { fresh: true, ..*cursor };
            cursor.pass()?;
            before = ",";
        }
        cursor.expect(&[","])?;
        if cursor.take("'titles'") {
            cursor.expect(&[":", "["])?;
            cursor.pass()?;
            cursor.expect(&[","])?;
        }
        cursor.expect(&["'itemsize'", ":"])?;
        self.size = cursor.number()?;
        if cursor.take(",") {
            cursor.expect(&["'aligned'", ":", "True"])?;
        }
        cursor.expect(&["}"])
    }

    /// Moves to the next field. Returns false after the last one.
    fn next(&mut self, depth: Depth) -> Result<bool> {
        let (field, [names, formats, offsets]) = (&mut self.field, &mut self.lists);
        if !self.dict {
            let tuples = &mut self.cursor;
            if !tuples.item()? {
                return Ok(false);
            }
            tuples.expect(&["("])?;
            field.name = tuples.name()?;
            tuples.expect(&[","])?;
            field.dtype = tuples.dtype(depth)?;
            tuples.expect(&[")"])?;
            field.at = self.size;
            // Far below `u32::MAX`, because a record has at most `MAX_ITEM` bytes.
            self.size = field.end();
            return Ok(true);
        }
        let there = names.item()?;
        if (formats.item()?, offsets.item()?) != (there, there) {
            return Err(names.unknown());
        }
        if there {
            field.name = names.quoted()?;
            field.dtype = formats.dtype(depth)?;
            field.at = offsets.number()?;
            if field.at.checked_add(field.dtype.size()).is_none_or(|end| end > self.size) {
                return Err(offsets.unknown());
            }
        }
        Ok(there)
    }
}

/// A position in the text of a type.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    rest: &'a str,
    /// Length of the whole text.
    end: usize,
    /// True at the start of a list, before its first item.
    fresh: bool,
}

impl<'a> Cursor<'a> {
    /// Reads a record to its end.
    fn record(&mut self, depth: Depth) -> Result<Fields<'a>> {
        let depth = depth.child(self.at())?;
        self.rest = self.ahead();
        let mut walk = Walk::new(*self);
        walk.begin()?;
        let mut fields = Fields { text: self.rest, count: 0, size: 0 };
        while walk.next(depth)? {
            fields.count = fields.count.saturating_add(1);
            fields.size = walk.field.end();
            if fields.size > MAX_ITEM {
                return Err(Error::needing(Kind::Limit, What::BCOLZ_DTYPE, self.at(), MAX_ITEM.into()));
            }
        }
        if walk.dict {
            fields.size = walk.size;
        }
        if fields.count == 0 || fields.size > MAX_ITEM {
            return Err(self.unknown());
        }
        self.rest = walk.cursor.rest;
        let len = fields.text.len().saturating_sub(self.rest.len());
        fields.text = fields.text.get(..len).unwrap_or_default();
        Ok(fields)
    }

    /// Moves from the start of a list to its end.
    fn pass(&mut self) -> Result<()> {
        let mut open = 1u32;
        while open > 0 {
            match self.rest.as_bytes().first() {
                Some(b'\'' | b'"') => {
                    self.quoted()?;
                    continue;
                }
                Some(b'[' | b'{' | b'(') => open = open.saturating_add(1),
                Some(b']' | b'}' | b')') => open = open.saturating_sub(1),
                _ => {}
            }
            let mut rest = self.rest.chars();
            rest.next().ok_or_else(|| self.unknown())?;
            self.rest = rest.as_str();
        }
        Ok(())
    }

    /// Moves to the next item of a list. Returns false at its end.
    fn item(&mut self) -> Result<bool> {
        let fresh = core::mem::replace(&mut self.fresh, false);
        if self.take("]") {
            return Ok(false);
        }
        if !fresh {
            self.expect(&[","])?;
        }
        Ok(true)
    }

    /// Reads the name of a field, which may follow a title.
    fn name(&mut self) -> Result<&'a str> {
        if !self.take("(") {
            return self.quoted();
        }
        self.quoted()?;
        self.expect(&[","])?;
        let name = self.quoted()?;
        self.expect(&[")"])?;
        Ok(name)
    }

    /// Reads the type of a field.
    fn dtype(&mut self, depth: Depth) -> Result<Dtype<'a>> {
        self.rest = self.ahead();
        if let Some(b'[' | b'{') = self.rest.as_bytes().first() {
            return self.record(depth).map(Dtype::Struct);
        }
        let before = *self;
        match Dtype::scalar(self.quoted()?) {
            Ok(Dtype::Object) => Err(before.unknown()),
            Ok(dtype) => Ok(dtype),
            Err(e) => Err(e.turned(e.kind(), e.what(), before.at())),
        }
    }

    fn number(&mut self) -> Result<u32> {
        self.rest = self.ahead();
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.unknown())?;
        let number = dtype::number(digits).ok_or_else(|| self.unknown())?;
        self.rest = rest;
        Ok(number)
    }

    /// Reads a string without escapes, in single or double quotes.
    fn quoted(&mut self) -> Result<&'a str> {
        let (quote, text) = match self.ahead().split_at_checked(1) {
            Some((quote @ ("'" | "\""), text)) => (quote, text),
            _ => return Err(self.unknown()),
        };
        let end = text.bytes().position(|byte| quote.as_bytes() == [byte]).unwrap_or(text.len());
        match text.split_at_checked(end) {
            Some((inside, rest)) if !rest.is_empty() && !inside.bytes().any(|byte| byte == b'\\') => {
                self.rest = rest.get(1..).unwrap_or_default();
                Ok(inside)
            }
            _ => Err(self.unknown()),
        }
    }

    /// Returns the rest after spaces.
    fn ahead(&self) -> &'a str {
        let spaces = self.rest.bytes().take_while(|byte| *byte == b' ').count();
        self.rest.get(spaces..).unwrap_or_default()
    }

    fn take(&mut self, what: &str) -> bool {
        match self.ahead().strip_prefix(what) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes words that must follow.
    fn expect(&mut self, words: &[&str]) -> Result<()> {
        for word in words {
            if !self.take(word) {
                return Err(self.unknown());
            }
        }
        Ok(())
    }

    fn at(&self) -> u64 {
        self.end.saturating_sub(self.rest.len()) as u64
    }

    #[cold]
    fn unknown(&self) -> Error {
        Error::new(Kind::Unsupported, What::BCOLZ_DTYPE, self.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    /// Returns paths, offsets and types of all fields. The path of a field of a nested record begins with the record.
    fn fields(text: &str) -> Vec<(String, u32, String)> {
        fn walk(dtype: Dtype<'_>, path: &str, at: u32, all: &mut Vec<(String, u32, String)>) {
            let Dtype::Struct(fields) = dtype else {
                all.push((String::from(path), at, format!("{dtype}")));
                return;
            };
            assert_eq!(fields.iter().count(), fields.count() as usize);
            for field in fields.iter() {
                walk(field.dtype, &format!("{path}/{}", field.name), at + field.at, all);
            }
        }
        let (dtype, mut all) = (Dtype::parse(text).unwrap(), Vec::new());
        assert_eq!(format!("{dtype}"), text);
        walk(dtype, "", 0, &mut all);
        all
    }

    fn same(text: &str, want: &[(&str, u32, &str)]) {
        let got = fields(text);
        let got: Vec<_> = got.iter().map(|(path, at, dtype)| (path.as_str(), *at, dtype.as_str())).collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn fields_lie_packed() {
        same("[('a', '|b1'), ('ж', '>f8'), ('', '|S3')]", &[("/a", 0, "bool"), ("/ж", 1, ">f8"), ("/", 9, "|S3")]);
        same("[(('a title', 'a'), '<i4'), ((\"it's\", 'c'), 'u1')]", &[("/a", 0, "int32"), ("/c", 4, "uint8")]);
    }

    #[test]
    fn a_dict_says_where_fields_lie() {
        let text = "{'names': ['late', 'early'], 'formats': ['<i4', '>f4'], 'offsets': [9, 1], 'itemsize': 17}";
        same(text, &[("/late", 9, "int32"), ("/early", 1, ">f4")]);
        assert_eq!(Dtype::parse(text).unwrap().size(), 17);
        // As numpy wrote it before 1.22, with all optional keys.
        let old = "{'names':['a','b'], 'formats':['i1','<f8'], 'offsets':[0,8], 'titles':['x]',None], 'itemsize':16, 'aligned':True}";
        same(old, &[("/a", 0, "int8"), ("/b", 8, "float64")]);
    }

    #[test]
    fn records_in_records() {
        same(
            "[('a', '<i4'), ('b', [('x', '<f8'), ('y', {'names': ['z'], 'formats': ['|V3'], 'offsets': [2], 'itemsize': 6})]), ('c', 'i1')]",
            &[("/a", 0, "int32"), ("/b/x", 4, "float64"), ("/b/y/z", 14, "|V3"), ("/c", 18, "int8")],
        );
        let nested = |levels: usize| {
            let text = format!("{}[('a', 'i1')]{}", "[('a', ".repeat(levels), ")]".repeat(levels));
            Dtype::parse(&text).map(|dtype| dtype.size()).map_err(|e| (e.kind(), e.what()))
        };
        assert_eq!(nested(63), Ok(1));
        assert_eq!(nested(64), Err((Kind::Limit, What::MAX_DEPTH)));
        assert_eq!(nested(4000), Err((Kind::Limit, What::MAX_DEPTH)));
        assert_eq!(nested(10_000), Err((Kind::Limit, What::BCOLZ_DTYPE)));
    }

    #[test]
    fn what_is_not_understood() {
        for text in [
            "[]",
            "[",
            "[('a', '<i4')",
            "[('a', '<i4'),]",
            "[('a', '<i4'), ]",
            "[('m', '<i4', (3,))]",
            "[('a', [])]",
            "[('a', [('b', '<i4')]]",
            "[('a', '|O')]",
            "[('a\\n', '<i4')]",
            "[('a', '<i4')('b', '<i4')]",
            "[('a', '<i4')] ",
            "{'names': ['a']}",
            "{'names': [], 'formats': [], 'offsets': [], 'itemsize': 8}",
            "{'names': ['a'], 'formats': ['<i4'], 'offsets': [5], 'itemsize': 8}",
            "{'names': ['a'], 'formats': ['<i4'], 'offsets': [4294967295], 'itemsize': 8}",
            "{'names': ['a'], 'formats': ['<i4'], 'offsets': [99999999999], 'itemsize': 8}",
            "{'names': ['a', 'b'], 'formats': ['<i4'], 'offsets': [0, 4], 'itemsize': 8}",
            "{'names': ['a'], 'formats': ['<i4', '<i4'], 'offsets': [0], 'itemsize': 8}",
            "{'names': ['a'], 'formats': [('<i4', (2,))], 'offsets': [0], 'itemsize': 8}",
            "{'names': ['a'], 'formats': ['<i4'], 'offsets': [0], 'itemsize': 4294967295}",
            "{'names': ['a'], 'formats': ['<i4'], 'offsets': [0], 'itemsize': 8, 'aligned': False}",
            "{'names': ['a",
        ] {
            let e = Dtype::parse(text).unwrap_err();
            assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::BCOLZ_DTYPE), "{text}");
            assert!(e.at() <= text.len() as u64);
        }
        let e = Dtype::parse(
            "[('a', '|V4000000'), ('b', '|V4000000'), ('c', '|V4000000'), ('d', '|V4000000'), ('e', '|V4000000')]",
        );
        assert_eq!(e.map_err(|e| e.kind()), Err(Kind::Limit));
    }
}
