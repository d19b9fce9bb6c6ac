//! FlatBuffers: the heapless views against planus, field by field.
//!
//! For any bytes, read as any root of any schema, both walk the same tree, and whatever both accept is
//! equal. Where only one accepts, the reason must be one of these; anything else fails:
//!
//! | only the view accepts | because |
//! |---|---|
//! | an enum number or union tag that the schema does not name | the views keep it as `Unknown` |
//! | a string that is not UTF-8 | the views check that when asked for text |
//! | a union whose vtable ends between tag and value | the views treat the value as absent |
//! | a vtable that lies before the table or vector which leads to its table | planus has forgotten those bytes by then |
//!
//! | only planus accepts | because |
//! |---|---|
//! | a table that is shorter than its fields, or than 4 bytes, or leaves the buffer | planus does not look at its length |
//! | a field inside the vtable distance | planus does not look at that either |
//! | an offset of zero | planus lets a table point at itself |
//! | a string without a zero byte behind it | planus checks that only on request |
//! | nesting beyond the limit | planus has none |

mod filo;
mod jay;
mod vortex;

use std::fmt::Debug;

use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::unstable::generated;
use pilaster::unstable::limits::Fuel;
use pilaster::unstable::meta::flat::{Fixed, Flat, Inline, Linked, Str, Target};
use pilaster_oracle::planus::{
    self, ReadAsRoot, Vector, VectorRead,
    errors::{ErrorKind, UnknownEnumTag},
};

/// The fuzz body: `data` as every root of every schema.
pub fn run(data: &[u8]) {
    for (_, root) in ROOTS {
        root(&mut Walk::new(data, 1000));
    }
}

/// What a schema calls a buffer, and the function that compares the two readings of one.
type Root = (&'static str, fn(&mut Walk<'_>));

macro_rules! roots {
    ($($schema:ident: $($root:ident $reference:ident),*;)*) => {
        &[$($((
            concat!(stringify!($schema), " ", stringify!($root)),
            |walk| {
                let view = Flat::new(walk.data).root::<generated::$schema::$root>();
                view.same(pilaster_oracle::$schema::$reference::read_as_root(walk.data), walk);
            },
        ),)*)*]
    };
}

/// Every table that is the root of a buffer in one of the formats.
pub const ROOTS: &[Root] = roots! {
    filo: SimplePrimitiveVector SimplePrimitiveVectorRef, SimpleStringVector SimpleStringVectorRef,
        ConstStringVector ConstStringVectorRef, DictStringVector DictStringVectorRef,
        DiffPrimitiveVector DiffPrimitiveVectorRef, DiffDateTimeVector DiffDateTimeVectorRef;
    jay: Frame FrameRef;
    vortex: Postscript PostscriptRef, Footer FooterRef, FileStatistics FileStatisticsRef,
        Layout LayoutRef, Array ArrayRef, DType DTypeRef;
};

/// A walk through the two readings of one buffer, and what it met.
#[derive(Debug)]
pub struct Walk<'d> {
    data: &'d [u8],
    fuel: Fuel,
    /// Values that are equal.
    pub equal: usize,
    /// Values that both refuse, only the view, only planus.
    pub refused: [usize; 3],
    /// Whether the budget ended before the tree did.
    pub cut: bool,
}

impl<'d> Walk<'d> {
    /// A walk through `data` that visits at most so many tables and elements: a small buffer can describe a
    /// huge tree.
    pub fn new(data: &'d [u8], max_nodes: u32) -> Self {
        Walk { data, fuel: Fuel::new(&Limits { max_nodes, ..Limits::DEFAULT }), equal: 0, refused: [0; 3], cut: false }
    }

    /// Whether one more table or element may be visited.
    fn go_on(&mut self) -> bool {
        let on = self.fuel.spend(0).is_ok();
        self.cut |= !on;
        on
    }

    /// Compares the elements of two vectors.
    fn all<V: Same<P>, P>(&mut self, pairs: impl Iterator<Item = (V, P)>) {
        for (view, planus) in pairs {
            if !self.go_on() {
                return;
            }
            view.same(planus, self);
        }
    }

    fn equal<T: PartialEq + Debug>(&mut self, view: T, planus: T) {
        assert_eq!(view, planus);
        self.equal += 1;
    }
}

/// Comparison of a view's value with planus's.
pub trait Same<P>: Framed {
    /// Fails unless the two agree, and walks on below them.
    fn same(self, planus: P, walk: &mut Walk<'_>);
}

/// What only tables have, and unions of tables.
pub trait Framed {
    /// Whether the frame is sound.
    fn frame(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Where the vtable is.
    fn vtable(&self, _data: &[u8]) -> Option<i64> {
        None
    }
}

impl<T: Fixed> Framed for Inline<'_, T> {}
impl<'a, T: Target<'a>> Framed for Linked<'a, T> {}
impl Framed for Str<'_> {}
impl<V> Framed for Result<V, Error> {}

impl<V: Framed> Framed for Option<V> {
    fn frame(&self) -> Result<(), Error> {
        self.as_ref().map_or(Ok(()), V::frame)
    }

    fn vtable(&self, data: &[u8]) -> Option<i64> {
        self.as_ref()?.vtable(data)
    }
}

impl<V: Same<P>, P> Same<planus::Result<P>> for Result<V, Error> {
    fn same(self, planus: planus::Result<P>, walk: &mut Walk<'_>) {
        let [both, view_alone, planus_alone] = &mut walk.refused;
        // planus checks the frame of a table when it comes to it, the view when a field is asked for.
        let view = self.and_then(|view| view.frame().map(|()| view));
        match (view, planus) {
            (Ok(view), Ok(planus)) => view.same(planus, walk),
            (Err(_), Err(_)) => *both += 1,
            (Err(e), Ok(_)) if only_planus_accepts(&e) => *view_alone += 1,
            (Ok(view), Err(e)) if only_the_view_accepts(&e, view.vtable(walk.data)) => *planus_alone += 1,
            (Err(e), Ok(_)) => panic!("only the view refuses: {e}"),
            (Ok(_), Err(e)) => panic!("only planus refuses: {e}"),
        }
    }
}

fn only_planus_accepts(e: &Error) -> bool {
    match (e.kind(), e.what()) {
        // A table that ends within its first four bytes is refused by both.
        (Kind::Truncated, What::FLAT_TABLE) => e.need() != 4,
        (Kind::Invalid, What::FLAT_TABLE | What::FLAT_FIELD | What::FLAT_STRING) => true,
        (Kind::Invalid, What::FLAT_ROOT | What::FLAT_OFFSET) => e.need() == 0,
        (Kind::Truncated, What::FLAT_STRING) => e.need() == 1,
        (Kind::Limit, What::MAX_DEPTH) => true,
        _ => false,
    }
}

fn only_the_view_accepts(e: &planus::Error, vtable: Option<i64>) -> bool {
    match e.error_kind {
        // planus reports the offset of the table or vector that it came from.
        ErrorKind::InvalidOffset => vtable.is_some_and(|at| at < e.source_location.byte_offset as i64),
        ErrorKind::UnknownEnumTag { .. } | ErrorKind::UnknownUnionTag { .. } | ErrorKind::InvalidUtf8 { .. } => true,
        // Of a vtable that is sound in itself: it ends between the two halves of a union.
        ErrorKind::InvalidVtableLength { length } => length >= 4 && length % 2 == 0,
        _ => false,
    }
}

impl<V: Same<P>, P> Same<Option<P>> for Option<V> {
    fn same(self, planus: Option<P>, walk: &mut Walk<'_>) {
        match (self, planus) {
            (Some(view), Some(planus)) => view.same(planus, walk),
            (None, None) => walk.equal += 1,
            (view, _) => panic!("only {} has a value", if view.is_some() { "the view" } else { "planus" }),
        }
    }
}

macro_rules! same_scalars {
    ($($scalar:ty),* => $bits:expr) => {$(
        impl Framed for $scalar {}

        impl Same<$scalar> for $scalar {
            fn same(self, planus: $scalar, walk: &mut Walk<'_>) {
                let bits: fn($scalar) -> _ = $bits;
                walk.equal(bits(self), bits(planus));
            }
        }
    )*};
}

same_scalars!(bool, u8, u16, u32, u64, i8, i16, i32, i64 => |scalar| scalar);
same_scalars!(f32, f64 => |float| float.to_bits());

impl Same<&str> for Str<'_> {
    fn same(self, planus: &str, walk: &mut Walk<'_>) {
        walk.equal(self.text(), Ok(planus));
    }
}

impl Same<&[u8]> for Inline<'_, u8> {
    fn same(self, planus: &[u8], walk: &mut Walk<'_>) {
        walk.equal(self.bytes(), planus);
    }
}

impl Same<&[i8]> for Inline<'_, i8> {
    fn same(self, planus: &[i8], walk: &mut Walk<'_>) {
        assert!(self.iter().eq(planus.iter().copied()));
        walk.equal += 1;
    }
}

impl<'a, T: Fixed + Same<P>, P: VectorRead<'a>> Same<Vector<'a, P>> for Inline<'a, T> {
    fn same(self, planus: Vector<'a, P>, walk: &mut Walk<'_>) {
        walk.equal(self.len(), planus.len());
        walk.all(self.iter().zip(planus.iter()));
    }
}

impl<'a, T: Target<'a> + Same<P>, P> Same<Vector<'a, planus::Result<P>>> for Linked<'a, T>
where
    planus::Result<P>: VectorRead<'a>,
{
    fn same(self, planus: Vector<'a, planus::Result<P>>, walk: &mut Walk<'_>) {
        walk.equal(self.len(), planus.len());
        walk.all(self.iter().zip(planus.iter()));
    }
}

/// Enums by their numbers. In a struct planus gives a `Result`, as it refuses unknown numbers.
macro_rules! same_enum {
    ($name:ident as $number:ident) => {
        impl super::Framed for views::$name {}

        impl Same<owned::$name> for views::$name {
            fn same(self, planus: owned::$name, walk: &mut Walk<'_>) {
                walk.equal($number::from(self), $number::from(planus));
            }
        }

        impl Same<Result<owned::$name, super::UnknownEnumTag>> for views::$name {
            fn same(self, planus: Result<owned::$name, super::UnknownEnumTag>, walk: &mut Walk<'_>) {
                match planus {
                    Ok(planus) => self.same(planus, walk),
                    Err(_) => assert!(matches!(self, views::$name::Unknown(_))),
                }
            }
        }
    };
}

macro_rules! same_struct {
    ($name:ident $reference:ident { $($field:ident),* }) => {
        impl super::Framed for views::$name {}

        impl Same<owned::$reference<'_>> for views::$name {
            fn same(self, planus: owned::$reference<'_>, walk: &mut Walk<'_>) {
                // Not `planus.min()`: that would be `Ord::min`.
                $(self.$field.same(owned::$reference::$field(&planus), walk);)*
            }
        }
    };
}

macro_rules! same_table {
    ($name:ident $reference:ident { $($field:ident),* }) => {
        impl<'a> Same<owned::$reference<'a>> for views::$name<'a> {
            #[allow(unused_variables, reason = "some tables have no fields")]
            fn same(self, planus: owned::$reference<'a>, walk: &mut Walk<'_>) {
                if walk.go_on() {
                    $(self.$field().same(owned::$reference::$field(&planus), walk);)*
                }
            }
        }

        impl super::Framed for views::$name<'_> {
            fn frame(&self) -> Result<(), super::Error> {
                self.check()
            }

            fn vtable(&self, data: &[u8]) -> Option<i64> {
                let at = usize::try_from(self.at()).ok()?;
                let distance = i32::from_le_bytes(*data.get(at..)?.first_chunk()?);
                Some(at as i64 - i64::from(distance))
            }
        }
    };
}

macro_rules! same_union {
    ($name:ident $(<$a:lifetime>)? $reference:ident { $($member:ident),* }) => {
        impl<'a> Same<owned::$reference<'a>> for views::$name$(<$a>)? {
            fn same(self, planus: owned::$reference<'a>, walk: &mut Walk<'_>) {
                match (self, planus) {
                    $((views::$name::$member(view), owned::$reference::$member(planus)) => view.same(planus, walk),)*
                    _ => panic!("two members of a union"),
                }
            }
        }

        impl<'a> super::Framed for views::$name$(<$a>)? {
            fn frame(&self) -> Result<(), super::Error> {
                match self {
                    $(views::$name::$member(view) => view.frame(),)*
                    views::$name::Unknown(_) => Ok(()),
                }
            }

            fn vtable(&self, data: &[u8]) -> Option<i64> {
                match self {
                    $(views::$name::$member(view) => view.vtable(data),)*
                    views::$name::Unknown(_) => None,
                }
            }
        }
    };
}

use {same_enum, same_struct, same_table, same_union};
