//! defmt messages of everything that is not derived where it is declared: handles on memory that somebody
//! lent, and whatever has parameters.
//!
//! They look as they do in Rust's own debug messages. That formatting goes into the image, but only into one
//! that prints such a handle: errors, summaries and places, which firmware does print, derive their
//! messages and need none of it. `.ci/docs` fails while a public type has neither.

use core::fmt::Debug;

macro_rules! as_in_debug {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*> defmt::Format for $ty {
            fn format(&self, f: defmt::Formatter<'_>) {
                defmt::write!(f, "{}", defmt::Debug2Format(self));
            }
        }
    )*};
}

as_in_debug! {
    [] crate::any::Hints;
    [] crate::bytes::BitReader<'_>;
    [] crate::bytes::Bits<'_>;
    [E: Debug] crate::bytes::Reader<'_, E>;
    [] crate::bytes::Scratch<'_>;
    [] crate::bytes::SliceSink<'_>;
    [const N: usize] crate::codec::Table<N>;
    [] crate::column::Ranges<'_>;
    [] crate::column::Spans<'_>;
    [] crate::column::Validity<'_>;
    [] crate::column::Values<'_>;
    [C: Debug] crate::column::Batch<'_, C>;
    [C: Debug] crate::column::Dictionary<C>;
    [] crate::column::VarBytes<'_>;
    [] crate::encoding::cells::Cells<'_>;
    [] crate::encoding::Out<'_>;
    [] crate::encoding::fsst::Table<'_>;
    [] crate::encoding::line::Line;
    [] crate::encoding::onpair::Room;
    [] crate::encoding::onpair::Rows<'_>;
    [] crate::encoding::onpair::Tokens<'_>;
    [T: Debug] crate::encoding::range::Extent<T>;
    [T: Debug] crate::encoding::range::Range<T>;
    [] crate::hash::BzipCrc;
    [] crate::hash::Crc32c;
    [] crate::hash::Lookup2;
    [] crate::meta::flat::Flat<'_>;
    [T: Debug] crate::meta::flat::Inline<'_, T>;
    [T: Debug] crate::meta::flat::Linked<'_, T>;
    [] crate::meta::flat::Pos;
    [] crate::meta::flat::Str<'_>;
    [] crate::meta::flat::Table<'_>;
    [] crate::meta::json::Event<'_>;
    [] crate::meta::json::Chars<'_>;
    [] crate::meta::json::Json<'_>;
    [] crate::meta::json::Text<'_>;
    [] crate::meta::proto::Value<'_>;
    [] crate::meta::proto::Fields<'_>;
    [] crate::meta::proto::Message<'_>;
    [] crate::meta::xml::Event<'_>;
    [] crate::meta::xml::Attribute<'_>;
    [] crate::meta::xml::Attributes<'_>;
    [] crate::meta::xml::Chars<'_>;
    [] crate::meta::xml::Tag<'_>;
    [] crate::meta::xml::Text<'_>;
    [] crate::meta::xml::Xml<'_>;
}

#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
as_in_debug! {
    [] crate::any::File<'_>;
}

#[cfg(feature = "bcolz")]
as_in_debug! {
    [] crate::bcolz::chunk::Chunk<'_>;
    [] crate::bcolz::Dtype<'_>;
    [] crate::bcolz::meta::Shape;
    [] crate::bcolz::meta::Sizes;
    [] crate::bcolz::meta::Storage<'_>;
    [] crate::bcolz::Column<'_>;
    [] crate::bcolz::Field<'_>;
    [] crate::bcolz::Fields<'_>;
    [] crate::bcolz::Items<'_>;
    [] crate::bcolz::ItemsPart<'_>;
}

#[cfg(all(feature = "bcolz", feature = "std"))]
as_in_debug! {
    [] crate::bcolz::Cause;
    [] crate::bcolz::Array;
    [] crate::bcolz::Dataset;
    [] crate::bcolz::Failure;
    [] crate::bcolz::Part<'_>;
    [] crate::bcolz::Table<'_>;
    [D: crate::bcolz::write::Disk + Debug] crate::bcolz::write::Builder<D>;
    [] crate::bcolz::write::FileSystem;
    [] crate::bcolz::write::Missing;
    [] crate::bcolz::write::Spec<'_>;
    [] crate::bcolz::write::WriteOptions;
    [D: crate::bcolz::write::Disk + Debug] crate::bcolz::write::Writer<D>;
}

#[cfg(feature = "dataseries")]
as_in_debug! {
    [] crate::dataseries::chunks::Chunk<'_>;
    [] crate::dataseries::chunks::Chunks<'_>;
    [] crate::dataseries::AnyFile<'_>;
    [] crate::dataseries::AnyTable<'_>;
    [] crate::dataseries::layout::Counts;
    [] crate::dataseries::layout::Places;
    [E: Debug] crate::dataseries::recover::Piece<'_, E>;
    [E: Debug] crate::dataseries::recover::Salvage<'_, '_, E>;
    [] crate::dataseries::Column<'_>;
    [] crate::dataseries::AnyExtent<'_>;
    [E: Debug] crate::dataseries::Extent<'_, E>;
    [E: Debug] crate::dataseries::Extents<'_, E>;
    [E: Debug] crate::dataseries::File<'_, E>;
    [] crate::dataseries::Index<'_>;
    [] crate::dataseries::IndexRow<'_>;
    [] crate::dataseries::Part<'_>;
    [E: Debug] crate::dataseries::Table<'_, E>;
    [] crate::dataseries::Types<'_>;
    [] crate::dataseries::types::ExtentType<'_>;
    [] crate::dataseries::types::Field<'_>;
    [] crate::dataseries::types::FieldRecord;
    [] crate::dataseries::types::NameAt;
    [] crate::dataseries::write::Attributes<'_>;
    [E: Debug, S: crate::bytes::Sink + Debug, C: Debug] crate::dataseries::write::Builder<'_, '_, '_, E, S, C>;
    [] crate::dataseries::write::Compressed<'_>;
    [] crate::dataseries::write::Description<'_>;
    [] crate::dataseries::write::Descriptions<'_>;
    [E: Debug, T: Debug] crate::dataseries::write::Extent<'_, E, T>;
    [const N: usize] crate::dataseries::write::Lz4<'_, N>;
    [const N: usize] crate::dataseries::write::Lzf<'_, N>;
    [] crate::dataseries::write::Memory<'_>;
    [R: Debug] crate::dataseries::write::Of<R>;
    [] crate::dataseries::write::Pool<'_>;
    [E: Debug, T: Debug] crate::dataseries::write::Row<'_, '_, E, T>;
    [const N: usize] crate::dataseries::write::Snappy<'_, N>;
    [] crate::dataseries::write::Stored;
    [S: Debug] crate::dataseries::write::TypeXml<S>;
    [] crate::dataseries::write::Uses;
    [E: Debug, S: crate::bytes::Sink + Debug, C: Debug] crate::dataseries::write::Writer<'_, E, S, C>;
}

#[cfg(all(feature = "dataseries", feature = "alloc"))]
as_in_debug! {
    [] crate::dataseries::write::Repack;
    [] crate::dataseries::write::Smallest;
}

#[cfg(all(feature = "dataseries", feature = "embedded-io-async-07"))]
as_in_debug! {
    [E: Debug, W: Debug, C: Debug] crate::dataseries::write::AsyncWriter<'_, E, W, C>;
}

#[cfg(all(feature = "dataseries", feature = "embedded-storage-03"))]
as_in_debug! {
    [E: Debug, F: embedded_storage_03::nor_flash::NorFlash + Debug, C: Debug] crate::dataseries::flash::Log<'_, E, F, C>;
}

#[cfg(feature = "embedded-io-07")]
as_in_debug! {
    [W: Debug] crate::bytes::EmbeddedIoSink<W>;
}

#[cfg(feature = "embedded-storage-03")]
as_in_debug! {
    [F: Debug] crate::bytes::FlashSink<'_, F>;
}

#[cfg(feature = "filo")]
as_in_debug! {
    [] crate::filo::Value<'_>;
    [] crate::filo::Column<'_>;
    [] crate::filo::Iter<'_>;
    [] crate::filo::Table<'_>;
    [] crate::filo::Vector<'_>;
    [] crate::filo::write::append::Booleans<'_>;
    [] crate::filo::write::append::DateTimes<'_>;
    [] crate::filo::write::append::Doubles<'_>;
    [] crate::filo::write::append::FixedMax<'_>;
    [] crate::filo::write::append::Floats<'_>;
    [] crate::filo::write::append::Ints<'_>;
    [] crate::filo::write::append::Lines<'_>;
    [] crate::filo::write::append::Longs<'_>;
    [] crate::filo::write::append::SimpleStrings<'_>;
    [] crate::filo::write::append::Timestamps<'_>;
    [] crate::filo::write::append::Utf8s<'_>;
    [] crate::filo::write::Plain<'_>;
    [] crate::filo::write::Strings<'_>;
    [] crate::filo::write::Dictionary<'_>;
    [] crate::filo::write::Rows<'_>;
}

#[cfg(all(feature = "filo", feature = "alloc"))]
as_in_debug! {
    [F: Debug] crate::filo::Builder<F>;
}

#[cfg(feature = "pco")]
as_in_debug! {
    [] crate::encoding::pco::Chunk<'_>;
    [] crate::encoding::pco::Number;
    [] crate::encoding::pco::Page<'_, '_>;
    [] crate::encoding::pco::Tables<'_>;
    [] crate::encoding::pco::Version;
}

#[cfg(feature = "jay")]
as_in_debug! {
    [] crate::jay::Value<'_>;
    [] crate::jay::Column<'_>;
    [] crate::jay::Field<'_>;
    [] crate::jay::File<'_>;
    [] crate::jay::Meta<'_>;
    [] crate::jay::Table<'_>;
    [] crate::jay::Window<'_>;
}

#[cfg(all(feature = "jay", feature = "alloc"))]
as_in_debug! {
    [S: Debug] crate::jay::write::Builder<S>;
    [S: Debug] crate::jay::write::Writer<S>;
}

#[cfg(feature = "std")]
as_in_debug! {
    [W: Debug] crate::bytes::IoSink<W>;
}

#[cfg(feature = "vortex")]
as_in_debug! {
    [] crate::vortex::Role<'_>;
    [] crate::vortex::Bound<'_>;
    [] crate::vortex::Column<'_>;
    [] crate::vortex::DType<'_>;
    [] crate::vortex::End;
    [] crate::vortex::File<'_>;
    [] crate::vortex::Part<'_>;
    [] crate::vortex::Piece<'_>;
    [] crate::vortex::Scalar<'_>;
    [] crate::vortex::Source<'_>;
    [] crate::vortex::Statistics<'_>;
    [] crate::vortex::Table<'_>;
    [] crate::vortex::Visit<'_>;
    [] crate::vortex::Zones<'_>;
}

/// The structures of the wire, by their bytes.
#[cfg(feature = "dataseries")]
macro_rules! as_bytes {
    ($($name:ident)*) => {$(
        impl<E: crate::bytes::Endian> defmt::Format for crate::dataseries::raw::$name<E> {
            fn format(&self, f: defmt::Formatter<'_>) {
                defmt::write!(f, "{=[u8]:02x}", zerocopy::IntoBytes::as_bytes(self));
            }
        }
    )*};
}

#[cfg(feature = "dataseries")]
as_bytes! { ExtentHeader FileHeader ListRecord Trailer }
