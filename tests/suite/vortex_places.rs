//! `Column::place`: where a walk continues changes no row, whichever column the place is of.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Place};
use pilaster::vortex::{Column, File};

use crate::common;

/// The values of some rows, as text.
fn shown(column: &Column<'_>, row: u64) -> String {
    let end = column.rows().min(row + 70);
    let mut memory = vec![0; column.need(row..end).unwrap() as usize];
    let batch = column.read(row..end, &mut Scratch::new(&mut memory)).unwrap();
    format!("{} {:?} {:?}", batch.len, batch.values, batch.validity)
}

#[test]
fn rows_are_the_same_from_any_place() {
    let (mut moved, mut places) = (0, vec![Place::default()]);
    for golden in common::of("vortex").into_iter().filter(|golden| golden.is("vortex") && golden.by_any()) {
        let bytes = golden.bytes();
        let Ok(file) = File::open(&bytes) else { continue };
        let part = file.part().unwrap();
        for k in 0..part.width().min(8) {
            let column = part.column(k).unwrap();
            for row in (0..column.rows()).step_by((column.rows() as usize / 9).max(1)) {
                let Ok(place) = column.place(row) else { continue };
                moved += u32::from(place != column.place(0).unwrap());
                let expected = shown(&column, row);
                // Places: this row, a later one, other columns, other files.
                let later = column.place(column.rows() - 1).unwrap();
                for place in [place, later].into_iter().chain(places.iter().rev().take(9).copied()) {
                    assert_eq!(shown(&column.at_place(place), row), expected, "{} {k} {row}", golden.name);
                }
                places.push(place);
            }
        }
    }
    assert!(moved > 50, "{moved}");
}
