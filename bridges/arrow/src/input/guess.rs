//! The types of the values in JSON lines.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::exact;
use super::floats::lost;
use super::forms::Front;
use super::infer::{EXACT, Texts};
use super::{FIELDS, shown};

/// Maximum depth of nested values. Values are parsed by recursion.
const DEPTH: u32 = 64;

/// The texts that stand for floats that JSON lacks.
const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The name under which serde_json passes the digits of a number that no integer of 64 bits is.
const NUMBER: &str = "$serde_json::private::Number";

/// The type that all values so far have.
#[derive(Debug, Default)]
pub(super) enum Guess {
    #[default]
    Null,
    /// The type is given, whatever the values are.
    Given(DataType),
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
    /// The types that are given.
    given: HashMap<String, DataType>,
}

impl Named {
    /// Creates the fields of the rows. `given`: the types of those whose types are known.
    pub fn with(given: HashMap<String, DataType>) -> Self {
        Named { given, ..Named::default() }
    }

    pub fn fields(&self) -> &[(String, Guess)] {
        &self.fields
    }

    /// Returns the number of a field that is known, which is usually number `k`.
    fn find(&self, k: usize, name: &str) -> Option<usize> {
        match self.fields.get(k) {
            Some((known, _)) if known == name => Some(k),
            _ => self.places.get(name).copied(),
        }
    }

    /// Adds a field. Returns its number.
    fn add(&mut self, name: String) -> Result<usize, String> {
        let at = self.fields.len();
        if at >= FIELDS {
            return Err(format!("more than {FIELDS} different fields"));
        }
        let guess = self.given.get(&name).map_or(Guess::Null, |ty| Guess::Given(ty.clone()));
        self.places.insert(name.clone(), at);
        self.fields.push((name, guess));
        Ok(at)
    }
}

impl Guess {
    const fn name(&self) -> &'static str {
        match self {
            Guess::Null | Guess::Given(_) => "null",
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
            (Guess::Given(_), _) | (_, Guess::Null) | (Guess::Bool, Guess::Bool) => {}
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
        format!("a value is {}, and one before is {}; {GIVE}", other.name(), self.name())
    }

    /// Adds a text.
    fn text(&mut self, text: &str) -> Result<(), String> {
        match self {
            Guess::Given(ty) => {
                // Only numbers are counts. Later both are texts.
                let is_count = exact::counts(ty) && text.parse::<i64>().is_ok();
                let why = "a time is written as 2024-02-29T13:59:59.5, and a count of units without quotes";
                return if is_count { Err(format!("{:?} is not read as {ty}: {why}", shown(text))) } else { Ok(()) };
            }
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
                texts.add(Front::new(b"NaN", 3));
                *self = Guess::Text(texts);
            }
            _ => {}
        }
        if let Guess::Text(texts) = self.of(Guess::Text(Texts::default()))? {
            texts.add(Front::new(text.as_bytes(), text.len()));
        }
        Ok(())
    }

    /// Adds a number by its digits: one that is no integer of 64 bits.
    fn number(&mut self, text: &str) -> Result<(), String> {
        if matches!(self, Guess::Given(_)) {
            return Ok(());
        }
        let negative = text.starts_with('-');
        if !text.contains(['.', 'e', 'E']) && text != "-0" {
            // More digits than integers of 64 bits have, which a float would round.
            return self.merge(Guess::Number { float: true, negative, large: true, inexact: true });
        }
        if let Some(why) = lost(text, text.parse().unwrap_or(f64::INFINITY)) {
            return Err(format!("the number {}: {why}; give its column a type that has it, or text", shown(text)));
        }
        self.merge(Guess::Number { float: true, negative, large: false, inexact: false })
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
            Guess::Null | Guess::Given(_) => DataType::Null,
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

/// Returns the error of a field, with its name if its type is in doubt. The place at the end of the text is kept.
#[cold]
fn in_field<E: serde::de::Error>(name: &str, e: E) -> E {
    let why = e.to_string();
    if why.contains(GIVE) { E::custom(format!("field {name:?}: {why}")) } else { e }
}

/// What helps against types that differ.
const GIVE: &str = "give the type";

/// Parses a value, and adds its type to a guess.
struct Seed<'g> {
    guess: &'g mut Guess,
    depth: u32,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Seed<'_> {
    /// Returns the depth of the values within this one.
    fn inner<E: serde::de::Error>(&self) -> Result<u32, E> {
        self.depth.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))
    }

    /// Parses the fields of an object whose type is given. The reader would take the last of two fields with the same name, and leave
    /// out fields that the type does not have.
    fn unique<'de, A: MapAccess<'de>>(
        mut entries: A,
        first: Option<Name>,
        given: &DataType,
        depth: u32,
    ) -> Result<(), A::Error> {
        let (mut names, mut next) = (HashSet::new(), first);
        while let Some(name) = next {
            let ty = match (&name, given) {
                (Name::New(name), DataType::Struct(fields)) => match fields.find(name) {
                    Some((_, field)) => field.data_type().clone(),
                    None => {
                        let why = format!("an object has the field {:?}, and the given type has not", shown(name));
                        return Err(A::Error::custom(why));
                    }
                },
                _ => DataType::Null,
            };
            if let Name::New(name) = name
                && !names.insert(name)
            {
                return Err(A::Error::custom(TWICE));
            }
            entries.next_value_seed(Seed { guess: &mut Guess::Given(ty), depth })?;
            next = entries.next_key_seed(Key { fields: None, k: 0 })?;
        }
        Ok(())
    }
}

const TWICE: &str = "two fields of an object have the same name";

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.guess.merge(Guess::Bool).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        // What has a sign and is zero is a negative zero, which only floats have.
        let (float, inexact) = (value == 0, value.unsigned_abs() > EXACT);
        self.guess.merge(Guess::Number { float, negative: true, large: false, inexact }).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        let large = i64::try_from(value).is_err();
        let guess = Guess::Number { float: false, negative: false, large, inexact: value > EXACT };
        self.guess.merge(guess).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.guess.text(value).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let depth = self.inner()?;
        let mut given;
        let item = match self.guess {
            Guess::Given(ty) => {
                let item = if let DataType::List(item) = ty { item.data_type().clone() } else { DataType::Null };
                given = Guess::Given(item);
                &mut given
            }
            guess => match guess.of(Guess::List(Box::default())).map_err(A::Error::custom)? {
                Guess::List(item) => item,
                _ => return Ok(()),
            },
        };
        while items.next_element_seed(Seed { guess: &mut *item, depth })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let depth = self.inner()?;
        let known = if let Guess::Struct(fields) = &*self.guess { Some(fields) } else { None };
        let first = entries.next_key_seed(Key { fields: known, k: 0 })?;
        if matches!(first, Some(Name::Number)) {
            let text = entries.next_value::<String>()?;
            if self.depth == DEPTH {
                return Row::wrong("a line is a number");
            }
            return self.guess.number(&text).map_err(A::Error::custom);
        }
        if let Guess::Given(ty) = &*self.guess {
            return Self::unique(entries, first, ty, depth);
        }
        let guess = self.guess.of(Guess::Struct(Named::default())).map_err(A::Error::custom)?;
        let Guess::Struct(fields) = guess else { return Ok(()) };
        // The fields in the order of the struct, from its first one on, and others.
        let (mut ordered, mut others) = (0usize, HashSet::new());
        let (mut k, mut next) = (0usize, first);
        while let Some(name) = next {
            let at = match name {
                Name::Known(at) => at,
                Name::New(name) => fields.add(name).map_err(A::Error::custom)?,
                Name::Number => return Err(A::Error::custom("a field has the name of a number")),
            };
            if at == ordered && others.is_empty() {
                ordered = ordered.saturating_add(1);
            } else if at < ordered || !others.insert(at) {
                return Err(A::Error::custom(TWICE));
            }
            if let Some((name, guess)) = fields.fields.get_mut(at) {
                entries.next_value_seed(Seed { guess, depth }).map_err(|e| in_field(name, e))?;
            }
            k = k.saturating_add(1);
            next = entries.next_key_seed(Key { fields: Some(&*fields), k })?;
        }
        Ok(())
    }
}

/// The name of a field.
enum Name {
    /// There is no name: a number follows.
    Number,
    /// The number of a field that is known.
    Known(usize),
    New(String),
}

/// Parses the name of field `k` of an object.
struct Key<'n> {
    fields: Option<&'n Named>,
    k: usize,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Name, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        if name == NUMBER {
            return Ok(Name::Number);
        }
        let known = self.fields.and_then(|fields| fields.find(self.k, name));
        Ok(known.map_or_else(|| Name::New(name.to_owned()), Name::Known))
    }
}

/// Parses a line.
pub(super) struct Row<'g>(pub &'g mut Guess);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Row<'_> {
    fn wrong<E: serde::de::Error>(what: &str) -> Result<(), E> {
        Err(E::custom(format!("{what}; JSON lines have one object in each line")))
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Self::wrong("a line is null")
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        Self::wrong("a line is a boolean")
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        Self::wrong("a line is a string")
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        Self::wrong("a line is a number")
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        Self::wrong("a line is a number")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Self::wrong("the file has an array around its objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<(), A::Error> {
        Seed { guess: self.0, depth: DEPTH }.visit_map(entries)
    }
}
