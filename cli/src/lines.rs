//! Rows as JSON lines.

use std::io::Write;

use pilaster::Result;
use pilaster::column::{Batch, Column};

use crate::cells;
use crate::extents::LEAVE_OUT;
use crate::failure::Failure;
use crate::json::{self, Ahead, Json, Style};
use crate::json_text::string;
use crate::walk::{Head, Lot, Rows};

/// Prints one object per row, each on its own line.
pub struct Lines<W> {
    pub out: W,
    /// The row so far.
    pub line: String,
    ahead: Vec<Ahead>,
    /// What precedes the value of each column that was printed: a brace or a comma, and the name.
    names: Vec<String>,
    /// True if bytes that are UTF-8 are shown as text.
    pub texts: bool,
    /// Rows that are not written yet.
    page: Vec<u8>,
}

impl<W: Write> Lines<W> {
    pub fn new(out: W) -> Self {
        Lines::rows(out, false)
    }

    /// Prints the rows of columns that are known.
    pub fn rows(out: W, texts: bool) -> Self {
        Lines { out, line: String::new(), ahead: Vec::new(), names: Vec::new(), texts, page: Vec::new() }
    }

    /// Makes what precedes the value of column `k`, called `name`, if it is the next one.
    fn name(&mut self, k: usize, name: &str) {
        if k == self.names.len() {
            let mut start = String::from(if k > 0 { "," } else { "{" });
            string(&mut start, name);
            start.push(':');
            self.names.push(start);
        }
    }
}

impl<W: Write> Rows for Lines<W> {
    fn batches(&mut self, columns: usize) -> std::result::Result<(), Failure> {
        self.ahead = json::ahead(columns);
        Ok(())
    }

    fn names_differ(&self) -> bool {
        true
    }

    fn head(&mut self, head: &Head) -> std::result::Result<(), Failure> {
        if let Some(double) = &head.double {
            return Err(Failure::Input(format!("{double}: JSON lines cannot store the same name twice{LEAVE_OUT}")));
        }
        self.texts = head.texts;
        self.names.clear();
        Ok(())
    }

    fn value<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()> {
        self.name(k, name);
        self.line.push_str(self.names.get(k).map_or("", String::as_str));
        match self.ahead.get_mut(k) {
            Some(ahead) => json::value(&mut self.line, column, batch, i, (Style::Plain, self.texts), ahead),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        if self.names.is_empty() {
            self.line.push('{');
        }
        self.line.push_str("}\n");
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn rows<C: Column>(
        &mut self,
        lot: &Lot<'_, '_, C>,
        rows: &mut dyn Iterator<Item = usize>,
    ) -> std::result::Result<(), Failure> {
        lot.names.iter().enumerate().for_each(|(k, name)| self.name(k, name));
        let objects = Json { names: &self.names, texts: self.texts };
        cells::print(&objects, lot, rows, &mut self.page, &mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use pilaster::bytes::{Bits, Scratch};
    use pilaster::column::{Borrowed, Prim, Spans, Type, Unit, Validity, Values, VarBytes};

    use super::*;
    use crate::csv::Csv;

    const ROWS: usize = 400;

    /// Numbers of every size, the same in each run.
    fn words() -> impl Iterator<Item = u64> {
        let mut word = 1u64;
        std::iter::from_fn(move || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some(word >> (word >> 58))
        })
    }

    /// Compares all rows of a column, printed by [`cells`] and value by value, as CSV and as JSON lines.
    fn compare(column: &Borrowed<'_>, missing: &str) {
        let bits: Vec<u8> = words().map(|word| word as u8 | 0x55).take(ROWS / 8).collect();
        let nullable = column.with_validity(Validity::Bits(Bits::new(&bits, 0, ROWS).unwrap()));
        for column in [*column, nullable] {
            let (names, columns) = (["a\"b".to_owned(), "c".to_owned()], [column, column]);
            let batch = column.read(0..ROWS as u64, &mut Scratch::new(&mut [])).unwrap();
            let lot = Lot { names: &names, columns: &columns, batches: &[batch, batch], first: 0 };
            let [mut fast, mut slow] = [(); 2].map(|()| Csv::rows(Vec::new(), missing, true));
            fast.rows(&lot, &mut (0..ROWS)).unwrap();
            lot.one_by_one(&mut (0..ROWS), &mut slow).unwrap();
            assert_eq!(String::from_utf8(fast.out).unwrap(), String::from_utf8(slow.out).unwrap());
            let [mut fast, mut slow] = [(); 2].map(|()| Lines::rows(Vec::new(), true));
            fast.rows(&lot, &mut (0..ROWS)).unwrap();
            lot.one_by_one(&mut (0..ROWS), &mut slow).unwrap();
            assert_eq!(String::from_utf8(fast.out).unwrap(), String::from_utf8(slow.out).unwrap());
        }
    }

    #[test]
    fn integers_of_every_type_are_those_of_single_values() {
        macro_rules! compare {
            ($($values:ident $number:ty),*) => { $(
                let values: Vec<$number> = words().map(|word| word as $number).take(ROWS).collect();
                let values = Values::$values(&values);
                for ty in [
                    Type::Prim(Prim::I64),
                    Type::Decimal { precision: 9, scale: 2 },
                    Type::Decimal { precision: 9, scale: 0 },
                    Type::Decimal { precision: 9, scale: -3 },
                    Type::Decimal { precision: 38, scale: 20 },
                    Type::Date(Unit::Day),
                    Type::Date(Unit::Milli),
                    Type::Time(Unit::Micro),
                    Type::Timestamp(Unit::Second),
                    Type::Timestamp(Unit::Nano),
                ] {
                    for missing in ["", "0", "-3", "1970-01-01"] {
                        compare(&Borrowed::new(ty, values), missing);
                    }
                }
                compare(&Borrowed::new(Type::Timestamp(Unit::Milli), values).with_zone("UTC"), "");
                compare(&Borrowed::new(Type::Timestamp(Unit::Milli), values).with_zone("Europe/Rome"), "");
            )* };
        }
        compare!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
        let values: Vec<i128> = words().map(|word| i128::from(word.cast_signed()) << (word % 70)).take(ROWS).collect();
        for scale in [-1, 0, 8, 9] {
            compare(&Borrowed::new(Type::Decimal { precision: 38, scale }, Values::I128(&values)), "0");
        }
    }

    #[test]
    fn floats_and_booleans_are_those_of_single_values() {
        let numbers = || words().map(|word| word as f64 / [1.0, 8.0, 1e3, 1e20][word as usize % 4]);
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e-5, 1e12, 1.5];
        let values: Vec<f64> = special.into_iter().chain(numbers()).take(ROWS).collect();
        let singles: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        let halves: Vec<u16> = words().map(|word| word as u16).take(ROWS).collect();
        let bits: Vec<u8> = words().map(|word| word as u8).take(ROWS / 8).collect();
        for missing in ["", "NaN", "1.5", "true"] {
            compare(&Borrowed::new(Type::Prim(Prim::F64), Values::F64(&values)), missing);
            compare(&Borrowed::new(Type::Prim(Prim::F32), Values::F32(&singles)), missing);
            compare(&Borrowed::new(Type::Prim(Prim::F16), Values::F16(&halves)), missing);
            compare(&Borrowed::new(Type::Bool, Values::Bool(Bits::new(&bits, 0, ROWS).unwrap())), missing);
        }
    }

    /// Texts of plain characters, and at most one that is not, at each place.
    #[test]
    fn texts_are_those_of_single_values() {
        let others = [
            "", "a", ",", "\"", "\\", "\n", "\r", "\t", "\u{7f}", " ", "!", "#", "+", "-", "[", "]", "ä", "€", "\u{0}",
        ];
        for other in others {
            let (mut data, mut ends) = (String::new(), vec![0]);
            for k in 0..ROWS {
                let (len, place) = (k / 20, k % 20);
                (0..len).for_each(|at| data.push_str(if at == place { other } else { "x" }));
                ends.push(u32::try_from(data.len()).unwrap());
            }
            let texts = VarBytes { data: data.as_bytes(), spans: Spans::Off32(&ends) };
            // Bytes of no row, and of all rows.
            let same = VarBytes { data: &texts.data[..ends[30] as usize], spans: Spans::Same { count: ROWS } };
            for missing in ["", "x", "xxxxxxxxxx", "NA"] {
                for texts in [texts, same] {
                    compare(&Borrowed::new(Type::Utf8, Values::Utf8(texts)), missing);
                    compare(&Borrowed::new(Type::Bytes, Values::Bytes(texts)), missing);
                }
            }
        }
    }

    /// The rows before an error are printed, and the error is the same as for a single value.
    #[test]
    fn errors_end_the_rows_before_them() {
        let names = ["a".to_owned(), "b".to_owned()];
        let good = Borrowed::new(Type::Prim(Prim::U8), Values::U8(&[1, 2, 3]));
        for (data, ends) in [(&b"ab\xff"[..], [0, 1, 2, 3]), (b"ab", [0, 1, 2, 3])] {
            let texts = VarBytes { data, spans: Spans::Off32(&ends) };
            let columns = [good, Borrowed::new(Type::Utf8, Values::Utf8(texts))];
            let batches = columns.map(|column| column.read(0..3, &mut Scratch::new(&mut [])).unwrap());
            let lot = Lot { names: &names, columns: &columns, batches: &batches, first: 10 };
            let [mut fast, mut slow] = [(); 2].map(|()| Csv::rows(Vec::new(), "", true));
            let failure = fast.rows(&lot, &mut (0..3)).unwrap_err().text();
            assert_eq!(fast.out, b"1,a\n2,b\n");
            assert_eq!(failure, lot.one_by_one(&mut (0..3), &mut slow).unwrap_err().text());
            assert!(failure.unwrap().starts_with("column b, row 12: "));
        }
    }
}
