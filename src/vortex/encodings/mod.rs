//! The array encodings (format description, section 10), one module each: its metadata, children, buffers and scheme.

pub(super) mod alp;
pub(super) mod alp_rd;
pub(super) mod bit_packed;
#[cfg(feature = "vortex-preview")]
pub(super) mod bit_packed_v2;
pub(super) mod chunked;
pub(super) mod constant;
pub(super) mod date_time_parts;
pub(super) mod decimal;
pub(super) mod decimal_byte_parts;
#[cfg(feature = "vortex-preview")]
mod decimal_byte_parts_v2;
mod delta;
#[cfg(any(feature = "pco", feature = "zstd"))]
mod dense;
pub(super) mod dict;
pub(super) mod frame_of_reference;
#[cfg(feature = "vortex-preview")]
pub(super) mod frame_of_reference_v2;
pub(super) mod fsst;
pub(super) mod list;
mod lookup;
pub(super) mod onpair;
pub(super) mod patches;
#[cfg(feature = "pco")]
pub(super) mod pco;
pub(super) mod plain;
pub(super) mod rle;
pub(super) mod run_end;
pub(super) mod sequence;
pub(super) mod sparse;
pub(super) mod structure;
pub(super) mod var_bin;
pub(super) mod var_bin_view;
#[cfg(feature = "vortex-variant")]
pub(super) mod variant;
pub(super) mod wrapped;
pub(super) mod zigzag;
#[cfg(feature = "zstd")]
pub(super) mod zstd;

use super::check::Checks;
use super::context::Context;
use super::dtype::{Ty, signed};
use super::need::{self, Amount};
use super::node::Node;
use super::raw::Encoding;
use super::rows::Rows;
use super::scheme::{Holds, Nested, Scheme, Validity};
use super::tree::{Ask, ONE, span, span_cell, span_of};
use crate::encoding::cells::Cells;
use crate::error::{Kind, Result, What};

impl Encoding {
    /// Returns the description of the encoding. A new encoding must be listed here, and nowhere else.
    pub(super) const fn scheme(self) -> &'static Scheme {
        match self {
            Encoding::Null => &plain::NULL,
            Encoding::Primitive => &plain::PRIMITIVE,
            Encoding::Bool => &plain::BOOL,
            Encoding::ByteBool => &plain::BYTE_BOOL,
            Encoding::Constant => &constant::SCHEME,
            Encoding::VarBinView => &var_bin_view::SCHEME,
            Encoding::VarBin => &var_bin::SCHEME,
            Encoding::List => &list::LIST,
            Encoding::ListView => &list::LIST_VIEW,
            Encoding::FixedSizeList => &list::FIXED_SIZE_LIST,
            Encoding::Struct => &structure::SCHEME,
            Encoding::Map => &wrapped::MAP,
            Encoding::Ext => &wrapped::EXT,
            Encoding::Masked => &wrapped::MASKED,
            Encoding::Chunked => &chunked::SCHEME,
            Encoding::Dict => &dict::SCHEME,
            Encoding::RunEnd => &run_end::SCHEME,
            Encoding::Sparse => &sparse::SCHEME,
            Encoding::Sequence => &sequence::SCHEME,
            Encoding::ZigZag => &zigzag::SCHEME,
            Encoding::BitPacked => &bit_packed::SCHEME,
            Encoding::For => &frame_of_reference::SCHEME,
            Encoding::Rle => &rle::SCHEME,
            Encoding::Delta => &delta::SCHEME,
            Encoding::Alp => &alp::SCHEME,
            Encoding::AlpRd => &alp_rd::SCHEME,
            Encoding::Fsst => &fsst::SCHEME,
            Encoding::OnPair => &onpair::SCHEME,
            Encoding::DateTimeParts => &date_time_parts::SCHEME,
            Encoding::Decimal => &decimal::SCHEME,
            Encoding::DecimalByteParts => &decimal_byte_parts::SCHEME,
            #[cfg(feature = "zstd")]
            Encoding::Zstd => &zstd::SCHEME,
            #[cfg(feature = "pco")]
            Encoding::Pco => &pco::SCHEME,
            #[cfg(feature = "vortex-variant")]
            Encoding::Variant => &variant::VARIANT,
            #[cfg(feature = "vortex-variant")]
            Encoding::ParquetVariant => &variant::PARQUET_VARIANT,
            // Known, but not enabled in this build.
            #[cfg(not(feature = "vortex-variant"))]
            Encoding::Variant | Encoding::ParquetVariant => &UNKNOWN,
            #[cfg(not(feature = "zstd"))]
            Encoding::Zstd => &UNKNOWN,
            #[cfg(not(feature = "pco"))]
            Encoding::Pco => &UNKNOWN,
            #[cfg(feature = "vortex-preview")]
            Encoding::BitPackedV2 => &bit_packed_v2::SCHEME,
            #[cfg(feature = "vortex-preview")]
            Encoding::ForV2 => &frame_of_reference_v2::SCHEME,
            #[cfg(feature = "vortex-preview")]
            Encoding::DecimalBytePartsV2 => &decimal_byte_parts_v2::SCHEME,
            Encoding::Unknown => &UNKNOWN,
        }
    }
}

impl Encoding {
    /// Checks an array for [`File::verify`](crate::vortex::File::verify): what reading its rows in one way would not
    /// find, and its children, all but the validity.
    pub(in crate::vortex) fn check(self, node: &Node<'_>, top: bool, checks: &mut Checks<'_, '_>) -> Result<()> {
        match self {
            Encoding::Constant => checks.scalar(node),
            Encoding::Primitive => plain::check(node, checks),
            Encoding::Decimal => decimal::check(node, checks),
            Encoding::VarBin => checks.node(&var_bin::offsets(node)?, false),
            Encoding::List => list::check(node, checks),
            Encoding::ListView => list::check_view(node, checks),
            Encoding::FixedSizeList => list::check_items(node, checks),
            Encoding::Struct => checks.fields(node, top),
            Encoding::Map | Encoding::Ext | Encoding::Masked => checks.node(&wrapped::inner(node)?, top),
            Encoding::Chunked => chunked::check(node, top, checks),
            Encoding::Dict => dict::check(node, checks),
            Encoding::RunEnd => run_end::check(node, checks),
            Encoding::Sparse => sparse::check(node, checks),
            Encoding::ZigZag => zigzag::check(node, checks),
            Encoding::BitPacked => bit_packed::check(node, checks),
            Encoding::For => frame_of_reference::check(node, checks),
            Encoding::Rle => rle::check(node, checks),
            Encoding::Delta => delta::check(node, checks),
            Encoding::Alp => alp::check(node, checks),
            Encoding::AlpRd => alp_rd::check(node, checks),
            Encoding::Fsst => fsst::check(node, checks),
            Encoding::OnPair => onpair::check(node, checks),
            Encoding::DateTimeParts => date_time_parts::check(node, checks),
            Encoding::DecimalByteParts => decimal_byte_parts::check(node, checks),
            #[cfg(feature = "vortex-preview")]
            Encoding::BitPackedV2 => bit_packed_v2::check(node, checks),
            #[cfg(feature = "vortex-preview")]
            Encoding::ForV2 => frame_of_reference_v2::check(node, checks),
            #[cfg(feature = "vortex-preview")]
            Encoding::DecimalBytePartsV2 => decimal_byte_parts_v2::check(node, checks),
            #[cfg(feature = "vortex-variant")]
            Encoding::Variant | Encoding::ParquetVariant => variant::check(node, top, checks),
            #[cfg(not(feature = "vortex-variant"))]
            Encoding::Variant | Encoding::ParquetVariant => Ok(()),
            Encoding::Null
            | Encoding::Bool
            | Encoding::ByteBool
            | Encoding::VarBinView
            | Encoding::Sequence
            | Encoding::Zstd
            | Encoding::Pco
            | Encoding::Unknown => Ok(()),
        }
    }
}

/// Returns the bytes that hold any frame or page of an array, or `None` if rows of the array can be read one by one.
#[cfg(feature = "vortex-variant")]
pub(super) fn room_to_keep(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<Option<u64>> {
    match node.encoding() {
        #[cfg(feature = "zstd")]
        Some(Encoding::Zstd) => zstd::largest(node, cx).map(Some),
        #[cfg(feature = "pco")]
        Some(Encoding::Pco) => pco::room_to_keep(node, cx).map(Some),
        _ => {
            let _ = cx;
            Ok(None)
        }
    }
}

/// An encoding or layout that is not decoded.
pub(super) const UNKNOWN: Scheme = Scheme {
    validity: Validity::Decoded,
    holds: Holds::Unknown,
    need: need::nothing,
    cells: |node, _, _, _, _| Err(node.undecoded()),
};

/// Converts a parameter of a kernel, saturating. Every kernel rejects parameters of this size.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns an error if the width of the cells is not the size of the integers or floats of `node`.
fn prim_cells(node: &Node<'_>, out: &Cells<'_>) -> Result<()> {
    if node.prim()?.size() == out.width() { Ok(()) } else { Err(node.mistyped()) }
}
