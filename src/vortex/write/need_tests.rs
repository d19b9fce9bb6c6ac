//! `Column::need` of arrays that the writer does not make.

use alloc::vec;
use alloc::vec::Vec;

use super::array::Array;
use super::dtype::{Logical, Shape};
use super::file::{Container, Layout};
use super::rows::Numbers;
use crate::bytes::Scratch;
use crate::column::{Column as _, Part as _, Prim, Type};
use crate::vortex::File;
use crate::vortex::encodings::{decimal_byte_parts, plain, rle, run_end};
use crate::vortex::raw::LayoutId;

/// Writes a file of one column, `v`, that is one array.
fn file(array: &Array, rows: u64, prim: Prim) -> Vec<u8> {
    let mut to = Container::new(Vec::new()).unwrap();
    let layout = Layout::flat(to.segment(array).unwrap(), rows);
    let dtype = Logical::new(Shape::Struct(vec![("v".into(), Logical::new(Shape::Prim(prim), false))]), false).bytes();
    let layout = Layout { children: vec![layout], ..Layout::new(LayoutId::Struct, rows) };
    to.finish(&dtype, &layout, None).unwrap()
}

fn primitive(numbers: Numbers) -> Array {
    plain::write::primitive(&numbers, None)
}

#[test]
fn a_few_rows_may_read_values_that_are_far_apart_in_a_block() {
    // 64 values in as many runs, and codes that alternate between the first and the last one.
    let ends = (primitive(Numbers::U8((1..=64).collect())), Prim::U8);
    let values = run_end::write::runs(64, ends, primitive(Numbers::I32((0..64).collect())));
    let codes = primitive(Numbers::U8((0..1024).map(|i| if i % 2 == 0 { 0 } else { 63 }).collect()));
    let starts = (primitive(Numbers::U8(vec![0])), Prim::U8);
    let array = rle::write::runs((values, 64), ((codes, Prim::U8), 1024), (starts, 1));
    let bytes = file(&array, 1024, Prim::I32);
    let file = File::open(&bytes).unwrap();
    let column = file.part().unwrap().named("v").unwrap();
    assert_eq!(column.ty(), Type::Prim(Prim::I32));
    for len in [1, 2, 7, 63, 64, 65, 900] {
        let need = column.need(5..5 + len).unwrap();
        let mut memory = vec![0; need as usize];
        let batch = column.read(5..5 + len, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.len as u64, len);
    }
}

#[test]
fn decimal_parts_are_refused_as_the_numbers_of_another_type() {
    let ends = decimal_byte_parts::write::parts((primitive(Numbers::I32((1..=8).collect())), Prim::I32));
    let array = run_end::write::runs(8, (ends, Prim::I16), primitive(Numbers::I32((0..8).collect())));
    let bytes = file(&array, 8, Prim::I32);
    let file = File::open(&bytes).unwrap();
    let column = file.part().unwrap().named("v").unwrap();
    let mut memory = vec![0; 4096];
    let e = column.read(0..8, &mut Scratch::new(&mut memory)).unwrap_err();
    assert_eq!(e.what(), crate::error::What::VORTEX_DTYPE);
}
