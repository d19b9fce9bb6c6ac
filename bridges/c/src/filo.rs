//! Filo vectors, row by row: four functions for each element type, so that an image has the code of those that it uses.

use core::str;

use pilaster::error::{Error, Kind, What};
use pilaster::filo::Packing;
use pilaster::filo::write::Line;
use pilaster::filo::write::append::{
    Append, Booleans, DateTimes, Doubles, FixedMax, Floats, Ints, Lines, Longs, SimpleStrings, Timestamps, Utf8s,
};

use crate::error::Failure;
use crate::raw::{At, In, Marked, Out, exports};

/// The width with number `packing`: bits, plus 128 if it is signed.
fn packing(packing: u32) -> Result<Packing, Failure> {
    Ok(match packing {
        2 => Packing::U2,
        4 => Packing::U4,
        8 => Packing::U8,
        136 => Packing::I8,
        16 => Packing::U16,
        144 => Packing::I16,
        32 => Packing::U32,
        160 => Packing::I32,
        64 => Packing::W64,
        other => return Err(Error::needing(Kind::Unsupported, What::FILO_INFO, 0, other.into()).into()),
    })
}

/// Bytes as text.
fn text(bytes: &[u8]) -> Result<&str, Failure> {
    let wrong = |e: str::Utf8Error| Error::new(Kind::Utf8, What::FILO_STRING, e.valid_up_to() as u64);
    str::from_utf8(bytes).map_err(|e| wrong(e).into())
}

/// Ends a vector: the length of the chunk, which is at the start of the page.
fn finish(vector: impl Append<'static>) -> Result<usize, Failure> {
    Ok(vector.finish()?.len())
}

/// Defines the functions that a type of vectors has beside the one that begins it.
macro_rules! appenders {
    ($($mark:literal $writer:ident: $push:ident($($argument:ident: $ty:ty),+) $value:expr, $missing:ident, $finish:ident;)*) => {
        $(
            impl Marked for $writer<'static> {
                const MARK: u32 = 0x7a6c_0100 + $mark;
            }

            const _: () = assert!(crate::fits::<crate::raw::State<$writer<'static>>>(crate::FILO_WORDS), "PILASTER_FILO_WORDS");
        )*

        exports! {$(
            /// Appends a row.
            fn $push(vector: At<$writer<'static>>, $($argument: $ty),+) {
                let value = $value;
                vector.with(1, |vector| Ok(vector.push(value)?))
            }

            /// Appends a missing row.
            fn $missing(vector: At<$writer<'static>>) {
                vector.with(1, |vector| Ok(vector.push_na()?))
            }

            /// Ends the vector.
            fn $finish(vector: At<$writer<'static>>, len: Out<usize>) {
                len.tell(0, 2)?;
                len.tell(vector.end(1, finish)?, 2)
            }
        )*}
    };
}

appenders! {
    1 Ints: pilaster_filo_ints_push(value: i32) value, pilaster_filo_ints_missing, pilaster_filo_ints_finish;
    2 Longs: pilaster_filo_longs_push(value: i64) value, pilaster_filo_longs_missing, pilaster_filo_longs_finish;
    3 Doubles: pilaster_filo_doubles_push(value: f64) value, pilaster_filo_doubles_missing, pilaster_filo_doubles_finish;
    4 Lines: pilaster_filo_lines_push(value: i64) value, pilaster_filo_lines_missing, pilaster_filo_lines_finish;
    5 Floats: pilaster_filo_floats_push(value: f32) value, pilaster_filo_floats_missing, pilaster_filo_floats_finish;
    6 Booleans: pilaster_filo_booleans_push(value: u8) value != 0, pilaster_filo_booleans_missing, pilaster_filo_booleans_finish;
    7 Timestamps: pilaster_filo_timestamps_push(value: i64) value, pilaster_filo_timestamps_missing, pilaster_filo_timestamps_finish;
    8 DateTimes: pilaster_filo_date_times_push(value: i64) value, pilaster_filo_date_times_missing, pilaster_filo_date_times_finish;
    9 SimpleStrings: pilaster_filo_strings_push(at: In<u8>, len: usize) text(at.items(len, 2)?)?, pilaster_filo_strings_missing, pilaster_filo_strings_finish;
    10 Utf8s: pilaster_filo_utf8s_push(at: In<u8>, len: usize) at.items(len, 2)?, pilaster_filo_utf8s_missing, pilaster_filo_utf8s_finish;
    11 FixedMax: pilaster_filo_fixed_push(at: In<u8>, len: usize) at.items(len, 2)?, pilaster_filo_fixed_missing, pilaster_filo_fixed_finish;
}

exports! {
    /// Begins a vector of ints.
    fn pilaster_filo_ints_init(vector: At<Ints<'static>>, page: Out<u8>, len: usize, width: u32, masked: u32) {
        vector.place(1, || {
            let (page, width) = (page.apart(len, &[vector.bounds()], 2)?, packing(width)?);
            Ok(if masked != 0 { Ints::masked(page, width)? } else { Ints::new(page, width)? })
        })
    }

    /// Begins a vector of longs.
    fn pilaster_filo_longs_init(vector: At<Longs<'static>>, page: Out<u8>, len: usize, width: u32, masked: u32) {
        vector.place(1, || {
            let (page, width) = (page.apart(len, &[vector.bounds()], 2)?, packing(width)?);
            Ok(if masked != 0 { Longs::masked(page, width)? } else { Longs::new(page, width)? })
        })
    }

    /// Begins a vector of doubles.
    fn pilaster_filo_doubles_init(vector: At<Doubles<'static>>, page: Out<u8>, len: usize, width: u32, masked: u32) {
        vector.place(1, || {
            let (page, width) = (page.apart(len, &[vector.bounds()], 2)?, packing(width)?);
            Ok(if masked != 0 { Doubles::masked(page, width)? } else { Doubles::new(page, width)? })
        })
    }

    /// Begins a vector of longs near a line.
    fn pilaster_filo_lines_init(vector: At<Lines<'static>>, page: Out<u8>, len: usize, base: i64, slope: i32, width: u32) {
        vector.place(1, || Ok(Lines::new(page.apart(len, &[vector.bounds()], 2)?, Line { base, slope }, packing(width)?)?))
    }

    /// Begins a vector of floats.
    fn pilaster_filo_floats_init(vector: At<Floats<'static>>, page: Out<u8>, len: usize) {
        vector.place(1, || Ok(Floats::new(page.apart(len, &[vector.bounds()], 2)?)?))
    }

    /// Begins a vector of booleans.
    fn pilaster_filo_booleans_init(vector: At<Booleans<'static>>, page: Out<u8>, len: usize) {
        vector.place(1, || Ok(Booleans::new(page.apart(len, &[vector.bounds()], 2)?)?))
    }

    /// Begins a vector of timestamps near a base.
    fn pilaster_filo_timestamps_init(vector: At<Timestamps<'static>>, page: Out<u8>, len: usize, base: i64, width: u32) {
        vector.place(1, || Ok(Timestamps::new(page.apart(len, &[vector.bounds()], 2)?, base, packing(width)?)?))
    }

    /// Begins a vector of instants near a base, all with one offset from UTC.
    fn pilaster_filo_date_times_init(vector: At<DateTimes<'static>>, page: Out<u8>, len: usize, base: i64, offset: i32, width: u32) {
        vector.place(1, || Ok(DateTimes::new(page.apart(len, &[vector.bounds()], 2)?, base, offset, packing(width)?)?))
    }

    /// Begins a vector of text.
    fn pilaster_filo_strings_init(vector: At<SimpleStrings<'static>>, page: Out<u8>, len: usize, rows: usize) {
        vector.place(1, || Ok(SimpleStrings::new(page.apart(len, &[vector.bounds()], 2)?, rows)?))
    }

    /// Begins a vector of byte strings.
    fn pilaster_filo_utf8s_init(vector: At<Utf8s<'static>>, page: Out<u8>, len: usize, rows: usize) {
        vector.place(1, || Ok(Utf8s::new(page.apart(len, &[vector.bounds()], 2)?, rows)?))
    }

    /// Begins a vector of byte strings in slots of one size.
    fn pilaster_filo_fixed_init(vector: At<FixedMax<'static>>, page: Out<u8>, len: usize, longest: u8) {
        vector.place(1, || Ok(FixedMax::new(page.apart(len, &[vector.bounds()], 2)?, longest)?))
    }
}
