//! The types of the values in JSON lines.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::infer::{EXACT, Texts};

/// Maximum depth of nested values. Values are parsed by recursion.
pub(super) const DEPTH: u32 = 64;

/// Maximum number of different fields of an object, in all lines together.
const FIELDS: usize = 100_000;

/// The texts that stand for floats that JSON lacks.
const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The name under which serde_json passes the digits of a number, if any package in the build asks it for all digits.
const NUMBER: &str = "$serde_json::private::Number";

/// The type that all values so far have.
#[derive(Debug, Default)]
pub(super) enum Guess {
    #[default]
    Null,
    /// The type is given, whatever the values are.
    Given,
    Bool,
    Number {
        /// Whether there is a fraction or an exponent.
        float: bool,
        negative: bool,
        /// Whether a number is larger than a signed integer of 64 bits.
        large: bool,
        /// Whether a whole number is not exact as a float.
        inexact: bool,
    },
    /// Only `"NaN"`, `"Infinity"` and `"-Infinity"`: floats that JSON lacks, or texts.
    Special,
    Text(Texts),
    List(Box<Guess>),
    Struct(Named),
}

/// The fields of objects, in the order of their first values.
#[derive(Debug, Default)]
pub(super) struct Named {
    fields: Vec<(String, Guess)>,
    places: HashMap<String, usize>,
    /// The names of fields whose types are given.
    given: HashSet<String>,
}

impl Named {
    /// Creates the fields of the rows. `given`: the names of those whose types are known.
    pub fn with(given: HashSet<String>) -> Self {
        Named { given, ..Named::default() }
    }

    pub fn fields(&self) -> &[(String, Guess)] {
        &self.fields
    }

    /// Returns number and guess of a field, which is usually number `k`.
    fn at(&mut self, k: usize, name: String) -> Result<(usize, &mut Guess), String> {
        let at = match self.fields.get(k) {
            Some((known, _)) if *known == name => k,
            _ => self.places.get(&name).copied().unwrap_or(self.fields.len()),
        };
        if at == self.fields.len() {
            if at >= FIELDS {
                return Err(format!("more than {FIELDS} different fields"));
            }
            let guess = if self.given.contains(&name) { Guess::Given } else { Guess::Null };
            self.places.insert(name.clone(), at);
            self.fields.push((name, guess));
        }
        self.fields.get_mut(at).map(|(_, guess)| (at, guess)).ok_or_else(String::new)
    }
}

impl Guess {
    const fn name(&self) -> &'static str {
        match self {
            Guess::Null | Guess::Given => "null",
            Guess::Bool => "boolean",
            Guess::Number { .. } => "number",
            Guess::Special | Guess::Text(_) => "string",
            Guess::List(_) => "array",
            Guess::Struct(_) => "object",
        }
    }

    /// Adds the type of a null, boolean or number.
    fn merge(&mut self, other: Guess) -> Result<(), String> {
        match (&mut *self, other) {
            (_, Guess::Null) | (Guess::Bool, Guess::Bool) => {}
            (Guess::Null, other) => *self = other,
            (Guess::Special, Guess::Number { negative, large, inexact, .. }) => {
                *self = Guess::Number { float: true, negative, large, inexact };
            }
            (
                Guess::Number { float, negative, large, inexact },
                Guess::Number { float: f, negative: n, large: l, inexact: i },
            ) => {
                (*float, *negative, *large, *inexact) = (*float | f, *negative | n, *large | l, *inexact | i);
            }
            (known, other) => return Err(known.conflict(&other)),
        }
        Ok(())
    }

    #[cold]
    fn conflict(&self, other: &Guess) -> String {
        format!("a value is {}, and one before is {}; give the type", other.name(), self.name())
    }

    /// Adds a text.
    fn text(&mut self, text: &str) -> Result<(), String> {
        match self {
            Guess::Null | Guess::Special if SPECIAL.contains(&text) => {
                *self = Guess::Special;
                return Ok(());
            }
            Guess::Number { float, .. } if SPECIAL.contains(&text) => {
                *float = true;
                return Ok(());
            }
            // A text that is no date, hence all are texts.
            Guess::Special => {
                let mut texts = Texts::default();
                texts.add("NaN");
                *self = Guess::Text(texts);
            }
            _ => {}
        }
        if let Guess::Text(texts) = self.of(Guess::Text(Texts::default()))? {
            texts.add(text);
        }
        Ok(())
    }

    /// Adds a number by its digits.
    fn number(&mut self, text: &str) -> Result<(), String> {
        let (negative, float) = (text.starts_with('-'), text.contains(['.', 'e', 'E']));
        let whole = text.parse::<i128>().ok();
        let large = whole.is_none_or(|whole| i64::try_from(whole).is_err());
        let fits = whole.is_some_and(|whole| i64::try_from(whole).is_ok() || u64::try_from(whole).is_ok());
        if !float && fits {
            let inexact = whole.is_some_and(|whole| whole.unsigned_abs() > EXACT.into());
            return self.merge(Guess::Number { float: false, negative, large, inexact });
        }
        // A float would round a whole number of more digits.
        self.merge(Guess::Number { float: true, negative, large: !float, inexact: !float })
    }

    /// Returns the guess if it is of the kind of `kind`, which it becomes if it is null.
    fn of(&mut self, kind: Guess) -> Result<&mut Guess, String> {
        if matches!(self, Guess::Null) {
            *self = kind;
        } else if self.name() != kind.name() {
            return Err(self.conflict(&kind));
        }
        Ok(self)
    }

    pub fn field(&self, name: &str) -> Result<Arc<Field>, String> {
        Ok(Arc::new(Field::new(name, self.ty().map_err(|e| format!("{name:?}: {e}"))?, true)))
    }

    fn ty(&self) -> Result<DataType, String> {
        Ok(match self {
            Guess::Null | Guess::Given => DataType::Null,
            Guess::Bool => DataType::Boolean,
            Guess::Number { float: true, inexact: false, .. } => DataType::Float64,
            Guess::Number { float: false, large: false, .. } => DataType::Int64,
            Guess::Number { float: false, negative: false, .. } => DataType::UInt64,
            Guess::Number { .. } => return Err("no type of 64 bits holds all numbers; give the type".to_owned()),
            Guess::Special => DataType::Float64,
            // Numbers in quotes were meant as texts.
            Guess::Text(texts) if texts.has_empty() => DataType::Utf8,
            Guess::Text(texts) => match texts.ty() {
                time @ (DataType::Date32 | DataType::Timestamp(..)) => time,
                _ => DataType::Utf8,
            },
            Guess::List(item) => DataType::List(item.field("item")?),
            Guess::Struct(fields) => {
                let fields = fields.fields.iter().map(|(name, guess)| guess.field(name));
                DataType::Struct(fields.collect::<Result<Fields, _>>()?)
            }
        })
    }
}

/// Parses a value, and adds its type to a guess.
pub(super) struct Seed<'g> {
    pub guess: &'g mut Guess,
    pub depth: u32,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        match self.guess {
            Guess::Given => IgnoredAny::deserialize(from).map(|_| ()),
            _ => from.deserialize_any(self),
        }
    }
}

impl Seed<'_> {
    fn add<E: serde::de::Error>(self, guess: Guess) -> Result<(), E> {
        self.guess.merge(guess).map_err(E::custom)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.add(Guess::Bool)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        let inexact = value.unsigned_abs() > EXACT;
        self.add(Guess::Number { float: false, negative: value < 0, large: false, inexact })
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        let large = i64::try_from(value).is_err();
        self.add(Guess::Number { float: false, negative: false, large, inexact: value > EXACT })
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.add(Guess::Number { float: true, negative: value < 0.0, large: false, inexact: false })
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.guess.text(value).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| A::Error::custom("nested too deeply"))?;
        let guess = self.guess.of(Guess::List(Box::default())).map_err(A::Error::custom)?;
        let Guess::List(item) = guess else { return Ok(()) };
        while items.next_element_seed(Seed { guess: &mut *item, depth })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| A::Error::custom("nested too deeply"))?;
        let first = entries.next_key::<String>()?;
        if first.as_deref() == Some(NUMBER) {
            let text = entries.next_value::<String>()?;
            return self.guess.number(&text).map_err(A::Error::custom);
        }
        let guess = self.guess.of(Guess::Struct(Named::default())).map_err(A::Error::custom)?;
        let Guess::Struct(fields) = guess else { return Ok(()) };
        // The fields in the order of the struct, from its first one on, and others.
        let (mut ordered, mut others) = (0usize, HashSet::new());
        let (mut k, mut next) = (0usize, first);
        while let Some(name) = next {
            let (at, guess) = fields.at(k, name).map_err(A::Error::custom)?;
            if at == ordered && others.is_empty() {
                ordered = ordered.saturating_add(1);
            } else if at < ordered || !others.insert(at) {
                return Err(A::Error::custom("two fields of an object have the same name"));
            }
            entries.next_value_seed(Seed { guess, depth })?;
            k = k.saturating_add(1);
            next = entries.next_key::<String>()?;
        }
        Ok(())
    }
}
