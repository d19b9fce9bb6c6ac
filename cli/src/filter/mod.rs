//! Rows by a condition: `--where`, and the time range of `--from` and `--until`.
//!
//! A condition on a missing value is unknown, as in SQL, and so is its negation. A row is kept if its condition is true.
//! NaN is equal to NaN alone, and neither less nor greater than anything.

mod constant;
mod parse;

use std::cmp::Ordering;

use pilaster::Result;
use pilaster::column::{Column, Fact, Type, Value, Zone};

pub use constant::{Constant, is_time};
pub use parse::{Expression, Literal, Operator, Test, parse};

use crate::failure::Failure;

/// A condition, bound to the columns of a table.
#[derive(Clone, Debug)]
pub struct Filter {
    expression: Expression<Bound>,
    /// The numbers of the columns that it reads.
    pub columns: Vec<usize>,
}

/// A condition on one column.
#[derive(Clone, Debug)]
struct Bound {
    /// The place of the column in [`Filter::columns`].
    place: usize,
    condition: Condition,
    floats: bool,
}

/// The column of a name.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub number: usize,
    /// It has floats, which may be NaN.
    pub floats: bool,
}

#[derive(Clone, Debug)]
enum Condition {
    Missing,
    Compare(Operator, Constant),
    In(Vec<Constant>),
}

/// Returns the literal as values of the column `name` are compared with it. `zone`: the time zone of the column.
pub fn constant(literal: &Literal, name: &str, ty: Type, zone: Option<&str>) -> std::result::Result<Constant, String> {
    let why = if !literal.quoted && literal.text.eq_ignore_ascii_case("null") {
        let help = format!("{name} is missing finds missing values, and 'null' in quotes is a text");
        format!("no value is equal to null; {help}")
    } else {
        match Constant::new(literal, ty, zone) {
            Ok(constant) => return Ok(constant),
            Err(why) => why,
        }
    };
    Err(format!("column {name}: {why}"))
}

/// Whether some rows of a zone may meet a condition, and whether some may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Possible {
    yes: bool,
    no: bool,
}

impl Filter {
    /// Binds `expression`. `find` returns the number of the column with a name, `column` the column with a number.
    pub fn bind<C: Column>(
        expression: &Expression<Test>,
        find: &dyn Fn(&str) -> std::result::Result<usize, Failure>,
        column: &dyn Fn(usize) -> Result<C>,
    ) -> std::result::Result<Self, Failure> {
        let found = |name: &str| {
            let number = find(name)?;
            let floats = matches!(column(number)?.ty(), Type::Prim(prim) if prim.name().starts_with("float"));
            Ok(Found { number, floats })
        };
        Self::bound(expression, &found, &|literal: &Literal, name, number| {
            let column = column(number)?;
            constant(literal, name, column.ty(), column.zone()?).map_err(Failure::Usage)
        })
    }

    /// Binds `expression`, whose literals are of any kind. `constant` converts one for the column of a name and number.
    pub fn bound<L, E>(
        expression: &Expression<Test<L>>,
        find: &dyn Fn(&str) -> std::result::Result<Found, E>,
        constant: &dyn Fn(&L, &str, usize) -> std::result::Result<Constant, E>,
    ) -> std::result::Result<Self, E> {
        let mut columns = Vec::new();
        let expression = expression.map(&mut |test: &Test<L>| {
            let name = test.column();
            let Found { number, floats } = find(name)?;
            let place = columns.iter().position(|known| *known == number).unwrap_or_else(|| {
                columns.push(number);
                columns.len().saturating_sub(1)
            });
            let condition = match test {
                Test::Missing { .. } => Condition::Missing,
                Test::Compare { operator, literal, .. } => {
                    Condition::Compare(*operator, constant(literal, name, number)?)
                }
                Test::In { literals, .. } => Condition::In(
                    literals
                        .iter()
                        .map(|literal| constant(literal, name, number))
                        .collect::<std::result::Result<_, E>>()?,
                ),
            };
            Ok::<_, E>(Bound { place, condition, floats })
        })?;
        Ok(Filter { expression, columns })
    }

    /// Returns whether a row is kept. `value` returns the row's value of a column, by its place in
    /// [`columns`](Self::columns).
    pub fn keeps<'v>(&self, value: &mut dyn FnMut(usize) -> Result<Value<'v>>) -> Result<bool> {
        Ok(self.expression.holds(&mut |bound| Ok(bound.holds(&value(bound.place)?)))? == Some(true))
    }

    /// Returns whether each of `rows` rows meets the condition, `None` if that is unknown. `columns` return the value of a row, each of the
    /// column at its place in [`columns`](Self::columns).
    pub fn truths<'v, F: Fn(usize) -> Value<'v> + ?Sized>(&self, rows: usize, columns: &[Box<F>]) -> Vec<Option<bool>> {
        self.expression.truths(rows, columns)
    }

    /// Returns whether some row may be kept. `zone` returns what is known of the rows, by the place of the column in
    /// [`columns`](Self::columns). `trust`: claims that nothing checks are taken as facts.
    pub fn may_keep<'z>(&self, trust: bool, zone: &mut dyn FnMut(usize) -> Result<Option<Zone<'z>>>) -> Result<bool> {
        Ok(self.expression.possible(&mut |bound| Ok(bound.possible(trust, zone(bound.place)?.as_ref())))?.yes)
    }
}

impl<T> Expression<T> {
    /// Returns the expression with every test changed. The parser bounds the depth.
    pub fn map<U, E>(
        &self,
        each: &mut dyn FnMut(&T) -> std::result::Result<U, E>,
    ) -> std::result::Result<Expression<U>, E> {
        Ok(match self {
            Expression::Test(test) => Expression::Test(each(test)?),
            Expression::Not(inner) => Expression::Not(Box::new(inner.map(each)?)),
            Expression::And(all) => {
                Expression::And(all.iter().map(|one| one.map(each)).collect::<std::result::Result<_, E>>()?)
            }
            Expression::Or(all) => {
                Expression::Or(all.iter().map(|one| one.map(each)).collect::<std::result::Result<_, E>>()?)
            }
        })
    }

    /// Evaluates the expression in three-valued logic; `None` is unknown.
    fn holds(&self, test: &mut dyn FnMut(&T) -> Result<Option<bool>>) -> Result<Option<bool>> {
        let (all, decided) = match self {
            Expression::Test(one) => return test(one),
            Expression::Not(inner) => return Ok(inner.holds(test)?.map(|holds| !holds)),
            Expression::And(all) => (all, false),
            Expression::Or(all) => (all, true),
        };
        let mut outcome = Some(!decided);
        for one in all {
            match one.holds(test)? {
                Some(holds) if holds == decided => return Ok(Some(decided)),
                Some(_) => {}
                None => outcome = None,
            }
        }
        Ok(outcome)
    }

    fn possible(&self, test: &mut dyn FnMut(&T) -> Result<Possible>) -> Result<Possible> {
        let (all, and) = match self {
            Expression::Test(one) => return test(one),
            Expression::Not(inner) => {
                let Possible { yes, no } = inner.possible(test)?;
                return Ok(Possible { yes: no, no: yes });
            }
            Expression::And(all) => (all, true),
            Expression::Or(all) => (all, false),
        };
        let mut outcome = Possible { yes: and, no: !and };
        for one in all {
            let Possible { yes, no } = one.possible(test)?;
            outcome = match and {
                true => Possible { yes: outcome.yes && yes, no: outcome.no || no },
                false => Possible { yes: outcome.yes || yes, no: outcome.no && no },
            };
        }
        Ok(outcome)
    }
}

impl Expression<Bound> {
    /// Evaluates the expression as [`holds`](Self::holds) does, test by test instead of row by row, which is faster where values are at hand.
    fn truths<'v, F: Fn(usize) -> Value<'v> + ?Sized>(&self, rows: usize, columns: &[Box<F>]) -> Vec<Option<bool>> {
        let (all, decided) = match self {
            Expression::Test(bound) => {
                let Some(value) = columns.get(bound.place) else { return vec![None; rows] };
                return (0..rows).map(|row| bound.holds(&value(row))).collect();
            }
            Expression::Not(inner) => {
                return inner.truths(rows, columns).into_iter().map(|holds| holds.map(|holds| !holds)).collect();
            }
            Expression::And(all) => (all, false),
            Expression::Or(all) => (all, true),
        };
        let mut outcome = vec![Some(!decided); rows];
        for one in all {
            for (outcome, holds) in outcome.iter_mut().zip(one.truths(rows, columns)) {
                let is_decided = *outcome == Some(decided) || holds == Some(decided);
                *outcome = if is_decided { Some(decided) } else { outcome.and(holds) };
            }
        }
        outcome
    }
}

impl Bound {
    // Inline, for the callers of `truths` in crates that are optimised for speed.
    #[inline]
    fn holds(&self, value: &Value<'_>) -> Option<bool> {
        let missing = matches!(value, Value::Null);
        match &self.condition {
            Condition::Missing => Some(missing),
            _ if missing => None,
            Condition::Compare(operator, constant) => Some(operator.accepts(constant.beside(value))),
            Condition::In(constants) => {
                Some(constants.iter().any(|constant| constant.beside(value) == Some(Ordering::Equal)))
            }
        }
    }

    fn possible(&self, trust: bool, zone: Option<&Zone<'_>>) -> Possible {
        let Some(zone) = zone else { return Possible { yes: true, no: true } };
        let (min, max) = (known(&zone.min, trust), known(&zone.max, trust));
        // Which orders of a value beside the constant occur in the zone.
        let orders = |constant: &Constant| {
            let min = min.and_then(|min| constant.beside(min));
            let max = max.and_then(|max| constant.beside(max));
            let less = min.is_none_or(Ordering::is_lt);
            let greater = max.is_none_or(Ordering::is_gt);
            let equal = min.is_none_or(Ordering::is_le) && max.is_none_or(Ordering::is_ge);
            [
                (less, Some(Ordering::Less)),
                (equal, Some(Ordering::Equal)),
                (greater, Some(Ordering::Greater)),
                (self.floats, None),
            ]
        };
        match &self.condition {
            Condition::Missing => {
                let nulls = known(&zone.nulls, trust);
                let rows = zone.rows.end.saturating_sub(zone.rows.start);
                Possible { yes: nulls.is_none_or(|nulls| *nulls > 0), no: nulls.is_none_or(|nulls| *nulls < rows) }
            }
            Condition::Compare(operator, constant) => {
                let mut outcome = Possible { yes: false, no: false };
                for (_, order) in orders(constant).into_iter().filter(|(occurs, _)| *occurs) {
                    let accepts = operator.accepts(order);
                    outcome = Possible { yes: outcome.yes || accepts, no: outcome.no || !accepts };
                }
                outcome
            }
            Condition::In(constants) => {
                // NaN has no order beside a bound, so that a zone may always have one that is equal.
                let equal = |constant| {
                    orders(constant).iter().any(|(occurs, order)| *occurs && *order == Some(Ordering::Equal))
                };
                Possible { yes: constants.iter().any(equal), no: true }
            }
        }
    }
}

/// Returns a fact that can be relied on.
fn known<T>(fact: &Fact<T>, trust: bool) -> Option<&T> {
    match fact {
        Fact::Exact(fact) => Some(fact),
        Fact::Claimed(fact) if trust => Some(fact),
        _ => None,
    }
}

impl Operator {
    /// Returns whether a value that compares like this to the constant is accepted; `None`: one of them is NaN.
    #[inline]
    fn accepts(self, order: Option<Ordering>) -> bool {
        match self {
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::AtMost => order.is_some_and(Ordering::is_le),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

#[cfg(test)]
mod tests {
    use pilaster::column::{Memory, Part as _, Table as _};

    use super::*;
    use crate::columns::{Columns, Rules};
    use crate::sample;

    const NAMES: [&str; 9] = ["int", "long", "half", "double", "bool", "text", "bytes", "decimal", "wide"];

    /// The rows of the sample table that a condition keeps.
    fn kept(text: &str) -> std::result::Result<Vec<usize>, Failure> {
        let mut table = sample::table(&NAMES);
        let mut memory = Memory::with_len(1 << 12).unwrap();
        let mut scratch = memory.scratch();
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        let columns = Columns::all(&part, Rules::default())?;
        let filter = Filter::bind(&parse(text).unwrap(), &|name| columns.find(name), &|k| part.column(k))?;
        let mut rows = Vec::new();
        for i in 0..3u64 {
            let value = |place: usize| part.column(filter.columns[place]);
            let mut memories = vec![vec![0; 16 << 20]; filter.columns.len()];
            let mut batches = Vec::new();
            for (place, memory) in memories.iter_mut().enumerate() {
                batches.push(value(place)?.read(i..i + 1, &mut pilaster::bytes::Scratch::new(memory))?);
            }
            let keeps = filter.keeps(&mut |place| batches[place].value(0))?;
            let values: Vec<_> = batches.iter().map(|batch| Box::new(|row| batch.value(row).unwrap())).collect();
            assert_eq!(filter.truths(1, &values) == [Some(true)], keeps, "{text}");
            if keeps {
                rows.push(i as usize);
            }
        }
        Ok(rows)
    }

    #[test]
    fn every_type_is_compared_exactly() {
        // The rows: 1, missing, -3; 1.5, missing, Infinity; 123.45, missing, -0.05; and so on.
        for (text, rows) in [
            ("int > 0.5", vec![0]),
            ("int >= -3", vec![0, 2]),
            ("int = 1", vec![0]),
            ("int != 1", vec![2]),
            ("not int = 1", vec![2]),
            ("int is missing", vec![1]),
            ("int is not missing", vec![0, 2]),
            ("int in (7, -3, 9)", vec![2]),
            ("int not in (7, -3, 9)", vec![0]),
            ("int < 0 or double < 2", vec![0, 2]),
            ("int < 0 and double < 2", vec![]),
            ("double = Infinity", vec![2]),
            ("half = NaN", vec![2]),
            ("half <= NaN", vec![2]),
            ("decimal = 123.45", vec![0]),
            ("decimal < 123.451 and decimal > 123.449", vec![0]),
            ("decimal < -0.04", vec![2]),
            ("wide = 0.01", vec![0]),
            ("wide < 0", vec![2]),
            ("bool = true", vec![0]),
            ("text = ''", vec![2]),
            ("bytes = 0x00ff", vec![0]),
            ("int < 1e60 and int > -99999999999999999999999999999999999999999999", vec![0, 2]),
        ] {
            assert_eq!(kept(text).unwrap(), rows, "{text}");
        }
    }

    #[test]
    fn what_a_column_cannot_be_compared_with_is_an_error() {
        for (text, part) in [
            ("int = x", "column int: 'x' is no number"),
            ("int = '1'", "column int: '1' is a text"),
            ("text = null", "column text: no value is equal to null"),
            ("bool = 1", "column bool: '1' is neither true nor false"),
            ("nothing = 1", "there is no column \"nothing\""),
        ] {
            let Err(Failure::Usage(message)) = kept(text) else { panic!("{text}") };
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn zones_rule_rows_out() {
        let zone = |min: i128, max: i128, nulls| Zone {
            rows: 0..10,
            min: Fact::Claimed(Value::Int(min)),
            max: Fact::Exact(Value::Int(max)),
            nulls: Fact::Exact(nulls),
        };
        let mut table = sample::table(&["int"]);
        let mut memory = Memory::with_len(1 << 12).unwrap();
        let mut scratch = memory.scratch();
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        for (text, trusting, not) in [
            ("int > 7", true, true),
            ("int > 6", true, true),
            ("int >= 8", false, false),
            ("int < 3", false, true),
            ("int <= 3", true, true),
            ("int = 2", false, true),
            ("not int >= 3", false, true),
            ("int in (1, 2)", false, true),
            ("int in (1, 8)", false, true),
            ("int is missing", false, false),
            ("not int is missing", true, true),
            ("int < 3 or int is missing", false, true),
            ("int < 3 and int > 0", false, true),
        ] {
            let (text, wanted) = (text, [trusting, not]);
            let max = if text == "int > 7" { 8 } else { 7 };
            let filter = Filter::bind(&parse(text).unwrap(), &|_| Ok(0), &|k| part.column(k)).unwrap();
            let may = [true, false].map(|trust| filter.may_keep(trust, &mut |_| Ok(Some(zone(3, max, 0)))).unwrap());
            assert_eq!(may, wanted, "{text}");
            assert!(filter.may_keep(true, &mut |_| Ok(None)).unwrap());
        }
    }

    #[test]
    fn zones_of_floats_may_have_nan() {
        let mut table = sample::table(&["double"]);
        let mut memory = Memory::with_len(1 << 12).unwrap();
        let mut scratch = memory.scratch();
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        let zone = |min: f64, max: f64| Zone {
            rows: 0..10,
            min: Fact::Exact(Value::F64(min)),
            max: Fact::Exact(Value::F64(max)),
            nulls: Fact::Exact(0),
        };
        // In a zone of 5 to 7, of 5 alone, and of bounds that are NaN.
        for (text, wanted) in [
            ("double < 5", [false, false, true]),
            ("not double < 5", [true; 3]),
            ("not double >= 5", [true; 3]),
            ("double != 5", [true; 3]),
            ("not double = 5", [true; 3]),
            ("double = NaN", [true; 3]),
            ("double in (1, 2)", [false, false, true]),
            ("double in (1, 5)", [true; 3]),
            ("double in (1, NaN)", [true; 3]),
            ("double not in (5, 6)", [true; 3]),
        ] {
            let filter = Filter::bind(&parse(text).unwrap(), &|_| Ok(0), &|k| part.column(k)).unwrap();
            let zones = [zone(5.0, 7.0), zone(5.0, 5.0), zone(f64::NAN, f64::NAN)];
            let may = zones.map(|zone| filter.may_keep(true, &mut |_| Ok(Some(zone.clone()))).unwrap());
            assert_eq!(may, wanted, "{text}");
        }
    }
}
