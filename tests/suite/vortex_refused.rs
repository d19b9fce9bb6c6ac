//! What the writer of Vortex files refuses: types and values that the original does not open, and calls that do not fit.

use pilaster::bytes::Bits;
use pilaster::column::{Borrowed, Column as _, Prim, Ranges, Type, Validity, Values};
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::File;
use pilaster::vortex::write::{WriteOptions, Writer, holds};

const OPTIONS: WriteOptions = WriteOptions::DEFAULT;

type Named<'d> = (&'d str, Borrowed<'d>);
type WriteError = pilaster::bytes::WriteError<core::convert::Infallible>;

fn longs(values: &[i64]) -> Borrowed<'_> {
    Borrowed::new(Type::Prim(Prim::I64), Values::I64(values))
}

fn decimal(precision: u8, scale: i8, values: Values<'_>) -> Borrowed<'_> {
    Borrowed::new(Type::Decimal { precision, scale }, values)
}

/// The file with these rows.
fn written(columns: &[Named<'_>]) -> Result<Vec<u8>, WriteError> {
    let mut file = Writer::new(Vec::new(), columns, &OPTIONS)?;
    file.push(columns)?;
    file.finish()
}

/// The error.
fn refusal<T>(done: Result<T, WriteError>) -> Error {
    match done {
        Ok(_) => panic!("no error"),
        Err(WriteError::Sink(never)) => match never {},
        Err(WriteError::Format(e)) => e,
    }
}

/// The first three are decimals of the original, the others are not: "decimal scale 20 is greater than precision 18".
#[test]
fn decimal_types_that_do_not_exist_are_refused() {
    let one = Values::I64(&[1]);
    for (precision, scale) in [(18, 18), (18, 0), (18, -128)] {
        let bytes = written(&[("d", decimal(precision, scale, one))]).unwrap();
        assert_eq!(File::open(&bytes).unwrap().dtype().to_string(), format!("{{d=decimal({precision},{scale})}}"));
        assert!(holds(Type::Decimal { precision, scale }));
    }
    for (precision, scale) in [(18, 20), (18, 127), (0, 0), (77, 2), (255, 2)] {
        let refused = |columns: &[Named<'_>]| {
            let e = refusal(written(columns));
            assert_eq!((e.kind(), e.what()), (Kind::WrongType, What::OF_DECIMAL), "{precision}, {scale}");
        };
        let column = decimal(precision, scale, one);
        refused(&[("n", longs(&[1])), ("d", column)]);
        let fields = [("d", column)];
        let ranges = Ranges::Stride { first: 0, size: 1, count: 1 };
        refused(&[("st", Borrowed::new(Type::Struct(1), Values::Nested(ranges)).with_children(&fields))]);
        assert!(!holds(column.ty()));
    }
}

/// The third row has one digit too many.
#[test]
fn decimals_of_more_digits_than_their_type_are_refused() {
    let cents = decimal(5, 2, Values::I32(&[99_999, -99_999, 100_000]));
    let good = decimal(5, 2, Values::I32(&[0, 1]));
    let lossy = |row| Error::new(Kind::Lossy, What::VORTEX_DIGITS, row);
    let mut file = Writer::new(Vec::new(), &[("d", good)][..], &OPTIONS).unwrap();
    file.push(&[("d", good)][..]).unwrap();
    let e = refusal(file.push(&[("d", cents)][..]));
    assert_eq!(
        (e, e.to_string()),
        (lossy(2), "number of digits of a decimal: the value of row 2 cannot be stored".into())
    );
    // Without statistics, too.
    let options = WriteOptions { statistics: false, ..OPTIONS };
    let mut file = Writer::new(Vec::new(), &[("d", good)][..], &options).unwrap();
    assert_eq!(refusal(file.push(&[("d", cents)][..])), lossy(2));
    // A value that is missing has no digits.
    let valid = Validity::Bits(Bits::new(&[0b011], 0, 3).unwrap());
    assert!(written(&[("d", cents.with_validity(valid))]).is_ok());
    // An item has the row of its list.
    let items = [("item", cents)];
    let lists = Borrowed::new(Type::List, Values::Nested(Ranges::Off32(&[0, 0, 3]))).with_children(&items);
    assert_eq!(refusal(written(&[("l", lists)])), lossy(1));
    // Every width.
    let mut wide = [[0; 4]; 700];
    wide[699] = [0, 0, 0, 1 << 62];
    for (precision, values) in [
        (1, Values::I8(&[9, -10])),
        (3, Values::I16(&[999, -1000])),
        (18, Values::I64(&[1, i64::MIN])),
        (20, Values::I128(&[1, 100_000_000_000_000_000_000])),
    ] {
        assert_eq!(refusal(written(&[("d", decimal(precision, 0, values))])), lossy(1), "{precision}");
    }
    assert_eq!(refusal(written(&[("d", decimal(75, 0, Values::I256(&wide)))])), lossy(699));
    assert!(written(&[("d", decimal(75, 0, Values::I256(&wide[..699])))]).is_ok());
}
