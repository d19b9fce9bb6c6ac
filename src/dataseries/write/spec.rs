//! Computes a declared row type at compile time.

use super::pack::Cells;
use crate::bytes::len32;
use crate::dataseries::layout::{Counts, FieldType, Layout, Options, Ordering, Pad};
use crate::dataseries::raw::MAX_NAME;
use crate::dataseries::types::{Field, FieldRecord, NameAt, Relative};

/// The declaration of a field.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    name: &'static str,
    base_name: &'static str,
    field: Field<'static>,
}

#[allow(clippy::panic, reason = "runs in the compiler only: what cannot be declared does not compile")]
impl Spec {
    /// A field without options.
    #[must_use]
    pub const fn new(name: &'static str, ty: FieldType) -> Self {
        assert!(name.len() <= MAX_NAME, "a field's name has at most 255 bytes");
        assert!(!has_any(name, b"#"), "a field's name cannot be a raw identifier");
        assert!(!matches!(ty, FieldType::FixedWidth(0)), "a fixedwidth has at least one byte");
        let field = Field::new(name, ty);
        Spec { name, base_name: "", field }
    }

    /// Adds the option `nullable`.
    #[must_use]
    pub const fn nullable(mut self) -> Self {
        self.field.nullable = true;
        self
    }

    /// Adds the option `unique`.
    #[must_use]
    pub const fn unique(mut self) -> Self {
        assert!(matches!(self.field.ty, FieldType::Variable32), "only a variable32 can be unique");
        self.field.unique = true;
        self
    }

    /// Adds the option `relative`.
    #[must_use]
    pub const fn relative_to_itself(self) -> Self {
        self.relative(self.name)
    }

    /// Adds the option `relative to base`.
    #[must_use]
    pub const fn relative(mut self, base: &'static str) -> Self {
        assert!(
            matches!(self.field.ty, FieldType::Int32 | FieldType::Int64 | FieldType::Double),
            "only an int32, int64 or double can be relative"
        );
        self.base_name = base;
        self
    }

    /// Adds the option `scaled scale`; `text` is the scale as it was declared.
    #[must_use]
    pub const fn scaled(mut self, scale: f64, text: &str) -> Self {
        assert!(matches!(self.field.ty, FieldType::Double), "only a double can be scaled");
        assert!(scale != 0.0, "a scale is not zero");
        assert!(!has_any(text, b"_fx \""), "the scale must be a number as C writes it");
        self.field.scale = Some(scale);
        self
    }

    /// Adds the option `based base`; `text` is the base as it was declared.
    #[must_use]
    pub const fn based(mut self, base: f64, text: &str) -> Self {
        assert!(matches!(self.field.ty, FieldType::Double), "only a double can have a base");
        assert!(!has_any(text, b"_fx \""), "the base must be a number as C writes it");
        self.field.base = base;
        self
    }
}

/// The options of a type, from the words after `pack`.
#[must_use]
pub const fn options(mut words: &[&str]) -> Options {
    let mut options = Options::DEFAULT;
    while let [word, rest @ ..] = words {
        if same(word, "compact") {
            options.compact = true;
        } else if same(word, "big_to_small") {
            options.ordering = Ordering::BigToSmall;
        } else {
            options.pad = Pad::MaxColumnSize;
        }
        words = rest;
    }
    options
}

/// The layout of a record with these fields.
#[must_use]
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn layout(mut specs: &[Spec], options: Options) -> Layout {
    let mut counts = Counts::new();
    while let [spec, rest @ ..] = specs {
        counts = counts.with(spec.field.ty, spec.field.nullable);
        specs = rest;
    }
    match counts.layout(options) {
        Some(layout) => layout,
        None => panic!("a record has less than 2 GiB"),
    }
}

/// Checks that extents of the type can be written, as `Steps::check` does at run time: null compaction needs a bit that says
/// what is null, and the original cannot read two kinds of it (section 8.6).
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_compact(mut fields: &[FieldRecord], layout: Layout, options: Options) {
    if !options.compact {
        return;
    }
    assert!(layout.compact_prefix() > 0, "`compact` needs a bool or a nullable field");
    let in_front = !matches!(options.ordering, Ordering::BigToSmall);
    assert!(in_front, "the original cannot read `compact` with `big_to_small`");
    while let [field, rest @ ..] = fields {
        let wide = matches!(field.ty(), FieldType::FixedWidth(size) if size > 1);
        assert!(!wide, "the original cannot read `compact` with a fixedwidth of more than one byte");
        fields = rest;
    }
}

/// The fields of a type. Their names are spans of the concatenated names.
#[must_use]
#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn fields<const N: usize>(specs: &[Spec; N], layout: Layout) -> [FieldRecord; N] {
    let mut fields = [FieldRecord::EMPTY; N];
    let (mut places, mut name_at, mut k) = (layout.places(), 0u32, 0u32);
    while (k as usize) < N {
        let Spec { name, base_name, mut field } = specs[k as usize];
        field.slot = places.next(field.ty, field.nullable);
        if !base_name.is_empty() {
            field.relative = relative(specs, k, base_name);
        }
        let len = len32(name.len());
        fields[k as usize] = FieldRecord::new(&field, k, NameAt { at: name_at, len, decoded: true });
        name_at = name_at.saturating_add(len);
        k = k.saturating_add(1);
    }
    fields
}

/// Field `k`.
#[must_use]
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn field<const N: usize>(fields: &[FieldRecord; N], k: usize) -> FieldRecord {
    fields[k]
}

/// The cells of field `k`.
#[must_use]
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn cells<const N: usize>(fields: &[FieldRecord; N], k: usize, options: Options) -> Cells<'_> {
    Cells::of(&fields[k], options.compact)
}

/// The other field that field `k` is relative to, if any.
#[must_use]
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn base<const N: usize>(fields: &[FieldRecord; N], k: usize) -> Option<FieldRecord> {
    match fields[k].relative(k) {
        Relative::To(base) => Some(fields[base as usize]),
        _ => None,
    }
}

/// Returns whether field `k` is relative to itself.
#[must_use]
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn is_own<const N: usize>(fields: &[FieldRecord; N], k: usize) -> bool {
    matches!(fields[k].relative(k), Relative::Own)
}

#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn relative<const N: usize>(specs: &[Spec; N], own: u32, base: &str) -> Relative {
    let field = &specs[own as usize].field;
    if same(specs[own as usize].name, base) {
        let scaled = field.scale.is_some() || !matches!(field.ty, FieldType::Double);
        assert!(scaled, "a double that is relative to itself must be scaled");
        return Relative::Own;
    }
    let mut k = 0u32;
    while k < own {
        let spec = &specs[k as usize];
        if same(spec.name, base) {
            assert!(spec.field.ty.same(field.ty), "a field is relative to one of the same type");
            return Relative::To(k);
        }
        k = k.saturating_add(1);
    }
    panic!("a field is relative to itself or to one that is declared above")
}

/// Checks the texts of attributes. They must not need escaping, because none is done at compile time.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_texts(name: &str, namespace: &str, xml: &str) {
    assert!(!name.is_empty() && name.len() <= MAX_NAME, "a type's name has 1 to 255 bytes");
    assert!(!has_any(name, b"&<\"\t\r\n") && !has_any(namespace, b"&<\"\t\r\n"), "no character that XML escapes");
    assert!(!same(name, crate::dataseries::raw::XML_TYPE), "the name of a built-in type");
    assert!(!same(name, crate::dataseries::raw::INDEX_TYPE), "the name of a built-in type");
    assert!(xml.len() < u16::MAX as usize, "a description of less than 64 KiB");
}

/// Checks the value of an attribute that readers show.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_text(text: &str) {
    assert!(!has_any(text, b"&<\"\t\r\n"), "no character that XML escapes");
}

/// Checks an attribute of a type that says what wrote it.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_about(name: &str, text: &str) {
    check_text(text);
    assert!(!same(name, "name") && !same(name, "namespace") && !same(name, "version"), "an attribute of its own");
    assert!(!same(name, "type") && !same(name, "size"), "a name that the format does not use");
    assert!(
        !begins(name.as_bytes(), b"pack_") && !begins(name.as_bytes(), b"opt_"),
        "a name that the format does not use"
    );
}

/// Checks that no attribute of a type is given twice, which is not XML.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_names(mut names: &[&str]) {
    while let [first, rest @ ..] = names {
        let mut others = rest;
        while let [other, next @ ..] = others {
            assert!(!same(first, other), "each attribute once");
            others = next;
        }
        names = rest;
    }
}

/// Checks that neither text of a field is given twice. `xml`: its options.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_field(xml: &str) {
    assert!(count(xml, b" units=\"") <= 1 && count(xml, b" comment=\"") <= 1, "each attribute once");
}

const fn count(text: &str, part: &[u8]) -> usize {
    let (mut text, mut found) = (text.as_bytes(), 0usize);
    while let [_, rest @ ..] = text {
        if begins(text, part) {
            found = found.saturating_add(1);
        }
        text = rest;
    }
    found
}

const fn begins(mut text: &[u8], mut start: &[u8]) -> bool {
    while let ([a, text_rest @ ..], [b, start_rest @ ..]) = (text, start) {
        if *a != *b {
            return false;
        }
        (text, start) = (text_rest, start_rest);
    }
    start.is_empty()
}

/// The two numbers of a version, which the macro receives as a literal such as `1.0`.
#[must_use]
#[allow(clippy::panic, reason = "runs in the compiler only: what cannot be declared does not compile")]
pub const fn version(text: &str) -> (i32, i32) {
    let (mut bytes, mut major, mut number) = (text.as_bytes(), None, 0i32);
    while let [byte, rest @ ..] = bytes {
        match *byte {
            b'.' => (major, number) = (Some(number), 0),
            digit @ b'0'..=b'9' => number = number.saturating_mul(10).saturating_add(digit.wrapping_sub(b'0') as i32),
            _ => panic!("a version is two numbers"),
        }
        bytes = rest;
    }
    match major {
        Some(major) => (major, number),
        None => (number, 0),
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

const fn has_any(text: &str, any: &[u8]) -> bool {
    let mut text = text.as_bytes();
    while let [byte, rest @ ..] = text {
        let mut any = any;
        while let [one, more @ ..] = any {
            if *byte == *one {
                return true;
            }
            any = more;
        }
        text = rest;
    }
    false
}

/// The compiler prints the texts of these panics, and no test on a stable compiler compares them: here they are called.
#[cfg(test)]
mod tests {
    use super::*;

    fn declared(spec: Spec, words: &[&str]) {
        let options = options(words);
        let specs = [spec.nullable()];
        let layout = layout(&specs, options);
        check_compact(&fields(&specs, layout), layout, options);
    }

    #[test]
    #[should_panic(expected = "the original cannot read `compact` with a fixedwidth of more than one byte")]
    fn compact_with_a_wide_fixedwidth_is_refused() {
        declared(Spec::new("id", FieldType::FixedWidth(6)), &["compact"]);
    }

    #[test]
    #[should_panic(expected = "the original cannot read `compact` with `big_to_small`")]
    fn compact_with_big_to_small_is_refused() {
        declared(Spec::new("temp", FieldType::Double), &["compact", "big_to_small"]);
    }

    #[test]
    fn each_alone_is_declared() {
        declared(Spec::new("id", FieldType::FixedWidth(6)), &["big_to_small"]);
        declared(Spec::new("id", FieldType::FixedWidth(1)), &["compact"]);
        declared(Spec::new("temp", FieldType::Double), &["compact", "max_column_size"]);
    }
}
