//! JSON lines.

use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_json::ReaderBuilder;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::infer::{EXACT, Texts, reader};
use super::{AnyReader, Input, InputOptions};
use crate::Error;

/// Maximum depth of nested values. Values are parsed by recursion.
const DEPTH: u32 = 64;

/// Maximum number of fields of an object: a new name is compared with all known ones.
const FIELDS: usize = 10_000;

/// An open file of JSON lines, whose types are known.
#[derive(Debug)]
pub(super) struct Json {
    input: Input,
    schema: SchemaRef,
    batch_rows: usize,
}

impl Json {
    pub fn open(input: Input, options: &InputOptions) -> Result<Self, Error> {
        let mut rows = Guess::Struct(Vec::new());
        let from = reader(&input).map_err(|e| input.failed(e))?;
        let mut values = serde_json::Deserializer::from_reader(from);
        let mut number = 0u64;
        // An error here says that there is another value, or will come again with it.
        while values.end().is_err() {
            number = number.saturating_add(1);
            let seed = Seed { guess: &mut rows, depth: DEPTH };
            seed.deserialize(&mut values).map_err(|e| input.failed(format!("object {number}: {e}")))?;
        }
        let columns = if let Guess::Struct(columns) = rows { columns } else { Vec::new() };
        let given = |name: &str| options.schema.as_ref().and_then(|given| given.field_with_name(name).ok());
        let mut fields: Vec<Arc<Field>> = Vec::new();
        for (name, guess) in &columns {
            let field = given(name).cloned().map(Arc::new);
            fields.push(match field {
                Some(field) => field,
                None => guess.field(name).map_err(|e| input.failed(e))?,
            });
        }
        // A column that is given may have no value in any row.
        for field in options.schema.iter().flat_map(Schema::fields) {
            if !columns.iter().any(|(name, _)| name == field.name()) {
                fields.push(Arc::clone(field));
            }
        }
        let schema = Schema::new(fields);
        Ok(Json { input, batch_rows: options.rows_of(&schema), schema: Arc::new(schema) })
    }

    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub const fn rows(&self) -> Option<u64> {
        None
    }

    pub fn batches(&self, columns: Option<&[usize]>, _: u64) -> Result<(AnyReader, u64), Error> {
        let schema = match columns {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let from = reader(&self.input).map_err(|e| self.input.failed(e))?;
        let builder = ReaderBuilder::new(Arc::clone(&schema)).with_batch_size(self.batch_rows);
        Ok((Box::new(Rows { reader: builder.build(from)?, schema }), 0))
    }
}

/// The batches of a file.
struct Rows<R> {
    reader: arrow_json::Reader<R>,
    schema: SchemaRef,
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next()
    }
}

impl<R: BufRead> RecordBatchReader for Rows<R> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The texts that stand for floats that JSON lacks.
const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The name under which serde_json passes the digits of a number, if any package in the build asks it for all digits.
const NUMBER: &str = "$serde_json::private::Number";

/// The type that all values so far have.
#[derive(Debug, Default)]
enum Guess {
    #[default]
    Null,
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
    Struct(Vec<(String, Guess)>),
}

impl Guess {
    const fn name(&self) -> &'static str {
        match self {
            Guess::Null => "null",
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

    /// Returns number and guess of a field of a struct, which is usually number `k`.
    fn named(&mut self, k: usize, name: String) -> Result<(usize, &mut Guess), String> {
        let Guess::Struct(fields) = self else { return Err(self.conflict(&Guess::Struct(Vec::new()))) };
        let at = match fields.get(k) {
            Some((known, _)) if *known == name => k,
            _ => fields.iter().position(|(known, _)| *known == name).unwrap_or(fields.len()),
        };
        if at == fields.len() {
            if at >= FIELDS {
                return Err(format!("more than {FIELDS} different fields"));
            }
            fields.push((name, Guess::Null));
        }
        fields.get_mut(at).map(|(_, guess)| (at, guess)).ok_or_else(String::new)
    }

    fn field(&self, name: &str) -> Result<Arc<Field>, String> {
        Ok(Arc::new(Field::new(name, self.ty().map_err(|e| format!("{name:?}: {e}"))?, true)))
    }

    fn ty(&self) -> Result<DataType, String> {
        Ok(match self {
            Guess::Null => DataType::Null,
            Guess::Bool => DataType::Boolean,
            Guess::Number { float: true, inexact: false, .. } => DataType::Float64,
            Guess::Number { float: false, large: false, .. } => DataType::Int64,
            Guess::Number { float: false, negative: false, .. } => DataType::UInt64,
            Guess::Number { .. } => return Err("no type of 64 bits holds all numbers; give the type".to_owned()),
            Guess::Special => DataType::Float64,
            // Numbers in quotes were meant as texts.
            Guess::Text(texts) => match texts.ty() {
                time @ (DataType::Date32 | DataType::Timestamp(..)) => time,
                _ => DataType::Utf8,
            },
            Guess::List(item) => DataType::List(item.field("item")?),
            Guess::Struct(fields) => {
                let fields = fields.iter().map(|(name, guess)| guess.field(name));
                DataType::Struct(fields.collect::<Result<Fields, _>>()?)
            }
        })
    }
}

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
        let fields = self.guess.of(Guess::Struct(Vec::new())).map_err(A::Error::custom)?;
        // The fields in the order of the struct, from its first one on, and others.
        let (mut ordered, mut others) = (0usize, HashSet::new());
        let (mut k, mut next) = (0usize, first);
        while let Some(name) = next {
            let (at, guess) = fields.named(k, name).map_err(A::Error::custom)?;
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
