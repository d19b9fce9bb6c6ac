//! Budgets of calls that measure or verify all rows of variants.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{DType, Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{blob, count, dtype, node, why, with};
use crate::vortex_costs::{apart, blocks, limited, scalars};
use crate::vortex_shredded::{names, object, packed, with_lengths};
use crate::vortex_variant::{I64, NO_NAMES, constant, scalar, variant};

#[test]
fn verifying_variants_has_one_budget() {
    // Numbers that all differ and take no bytes.
    let bytes = blob(apart(I64, count(1)), &[&scalar(NO_NAMES), &[8, 0]]);
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let limits = Limits { max_nodes: 1000, ..Limits::DEFAULT };
    let dtype = variant(false);
    let verify = |rows| {
        let file = File::of_array(&bytes, DType::parse(&dtype).unwrap(), rows, &ids, &limits).unwrap();
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 18]))
    };
    assert_eq!(verify(20_000), Ok(()));
    let e = verify(1 << 35).unwrap_err();
    assert_eq!(why(e), (Kind::Limit, What::MAX_NODES));
    // All of the budget, whatever is left of it.
    assert_eq!(e.need() as usize, (1000 * 256).max(bytes.len() * 2048));
}

#[test]
fn a_length_that_fits_the_memory_is_tried_first_for_the_next_batch() {
    let bytes = blob(apart(I64, count(1)), &[&scalar(NO_NAMES), &[8, 0]]);
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let limits = Limits { max_nodes: 4000, ..Limits::DEFAULT };
    let dtype = variant(false);
    let file = File::of_array(&bytes, DType::parse(&dtype).unwrap(), 10_000, &ids, &limits).unwrap();
    let need = file.part().unwrap().column(0).unwrap().child(1).unwrap().need(0..64).unwrap();
    // Measuring as many rows as a call may visit, for each batch of 64, exceeds the budget.
    assert_eq!(file.verify(&mut Scratch::new(&mut vec![0; need as usize])), Ok(()));
}

#[test]
fn long_rows_are_verified_in_the_memory_that_one_row_needs() {
    // Texts of 1.6 MB in one frame, which is kept for the next rows if there is memory.
    let texts: Vec<Vec<u8>> = (0..4u32).map(|i| i.to_le_bytes().repeat(400_000)).collect();
    let data = with_lengths(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let binary: &[u8] = &[0x32, 2, 8, 1];
    let root = apart(binary, packed(2, data.len(), 4, None));
    with(&blob(root, &[&scalar(NO_NAMES), &[8, 0], &blocks(&data)]), &variant(false), 4, |file, column| {
        let child = column.child(1).unwrap();
        let [one, all] = [1, 4].map(|rows| child.need(0..rows).unwrap());
        assert!(one < all, "{one} {all}");
        let verify = |len: u64| file.verify(&mut Scratch::new(&mut vec![0; len as usize])).map_err(why);
        assert_eq!(verify(one), Ok(()));
        assert_eq!(verify(one / 2), Err((Kind::NoRoom, What::SCRATCH)));
    });
}

#[test]
fn rows_that_cannot_be_measured_are_read() {
    // A frame that claims 1 GiB, for which there is no memory.
    let root = apart(I64, packed(2, 1 << 30, 1 << 27, None));
    let bytes = blob(root, &[&scalar(NO_NAMES), &[8, 0], &vec![0; 1 << 16]]);
    with(&bytes, &variant(false), 3, |file, column| {
        let e = column.child(1).unwrap().need(0..1).unwrap_err();
        assert_eq!(why(e), (Kind::Limit, What::VORTEX_MEASURING));
        assert!(e.at() > 0);
        assert!(file.need().is_ok());
        let e = file.verify(&mut Scratch::new(&mut vec![0; 1 << 16])).unwrap_err();
        assert_eq!(why(e), (Kind::NoRoom, What::SCRATCH));
    });
}

#[test]
fn a_column_that_takes_long_to_measure_leaves_others_measured() {
    // Variants of numbers that all differ, and lists of 60,000 texts.
    let rows = 1 << 35;
    let items = scalars((0..60_000).map(|_| vec![0x3a, 1, b'x']));
    let variants = apart(I64, count(1));
    let utf8 = owned::Type::Utf8(Box::new(owned::Utf8 { nullable: true }));
    let list = owned::List { element_type: Some(Box::new(owned::DType { type_: Some(utf8) })), nullable: false };
    let fields =
        [owned::Type::Variant(Box::new(owned::Variant { nullable: false })), owned::Type::List(Box::new(list))];
    let ty = dtype(owned::Type::Struct(Box::new(owned::Struct {
        names: Some(vec!["v".to_owned(), "l".to_owned()]),
        dtypes: Some(fields.map(|ty| owned::DType { type_: Some(ty) }).to_vec()),
        nullable: false,
    })));
    let root = node(Encoding::Struct, &[], &[], vec![variants, constant(2)]);
    let bytes = blob(root, &[&scalar(NO_NAMES), &[8, 0], &items]);
    with(&bytes, &ty, rows, |file, _| {
        let need = file.need().unwrap();
        assert!(need > 480_000, "{need}");
    });
}

#[test]
fn measuring_what_is_kept_spends_the_budget_of_the_call() {
    // A constant with children, which reading ignores.
    let fields: Vec<String> = (0..100).map(|i| format!("f{i:03}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let least = |children: usize| {
        let last = node(Encoding::Constant, &[], &[2], vec![constant(2); children]);
        let fields = (1..100).map(|_| constant(2)).chain([last]).collect();
        let root = apart(&ty, node(Encoding::Struct, &[], &[], fields));
        let names = scalar(&names(&(0..100).map(|i| format!("f{i:03}")).collect::<Vec<_>>()));
        let bytes = blob(root, &[&names, &[8, 0], &[0x18, 10]]);
        let reads = |max_nodes| {
            limited(&bytes, &variant(false), 1, max_nodes, |column| column.child(1).unwrap().need(0..1).is_ok())
        };
        (0..2000).step_by(5).find(|max_nodes| reads(*max_nodes)).unwrap() as usize + bytes.len() / 256
    };
    // What reading also visits is charged once.
    let [few, many] = [0, 1000].map(least);
    assert!(few < 500 && (1000..1200).contains(&many), "{few} {many}");
}
