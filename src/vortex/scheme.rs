//! What the tree has to know of an encoding or a layout: one row for each, in the file that has all about it.

use core::convert::Infallible;

use super::context::Context;
use super::dtype::Ty;
use super::need::Amount;
use super::node::Node;
use super::rows::Rows;
use super::tree::Ask;
use crate::encoding::cells::Cells;
use crate::error::Result;

/// The description of an encoding or a layout.
pub(super) struct Scheme {
    /// Where it says which rows have a value.
    pub(super) validity: Validity,
    /// What its rows are.
    pub(super) holds: Holds,
    /// Returns an upper bound of the scratch memory, in bytes, that `cells` takes for the rows, all nodes below
    /// included.
    pub(super) need: fn(&Node<'_>, Amount, &mut Context<'_, '_>) -> Result<u64>,
    /// Fills the cells with what is asked about the rows starting at the given one.
    pub(super) cells: fn(&Node<'_>, Ask, u64, &mut Cells<'_>, &mut Context<'_, '_>) -> Result<()>,
}

/// Where a nullable node says which rows have a value.
#[derive(Clone, Copy)]
pub(super) enum Validity<D = fn(&Node<'_>) -> Result<Answer>> {
    /// Nowhere: every row has one.
    All,
    /// In this child of bools; every row has a value if the child is absent.
    Child(usize),
    /// A row has a value if it has one in this child.
    As(usize),
    /// `cells` decodes it.
    Decoded,
    /// It differs from node to node.
    Depends(D),
}

/// Where one node says it: it depends on nothing more.
pub(super) type Answer = Validity<Infallible>;

/// Returns a number of bytes for the texts of `len` rows starting at a row.
pub(super) type TextLen = fn(&Node<'_>, u64, usize, &mut Context<'_, '_>) -> Result<u64>;

/// Returns a node below another one.
pub(super) type Inner = for<'f> fn(&Node<'f>) -> Result<Node<'f>>;

/// What the rows of a node are.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    /// Whatever is asked for, all null.
    Nulls,
    /// Numbers, booleans or decimals.
    Values,
    /// Texts in the blob; the function returns the sum of their lengths.
    Texts(TextLen),
    /// Texts that must be unpacked; the function returns an upper bound of the bytes that they unpack to.
    PackedTexts(TextLen),
    /// Numbers, or texts like [`PackedTexts`](Self::PackedTexts).
    #[cfg_attr(not(feature = "zstd"), allow(dead_code, reason = "zstd alone stores both"))]
    Packed(TextLen),
    /// Lists or structs.
    Nested(Nested),
    /// The rows of the node that the function returns.
    Wrapped(Inner),
    /// Rows of the node that the first function returns, each any number of times. Where each row has the number of its
    /// value, the second one returns the node with those.
    Picked(Inner, Option<Inner>),
    /// One scalar, but for the rows that have a patch.
    Patched,
    /// The rows of several children; the function finds the one with the first of some rows.
    Chunks(for<'f> fn(&Rows<'f>, &mut Context<'_, '_>) -> Result<Rows<'f>>),
    /// One scalar.
    Constant,
    /// It is not decoded.
    Unknown,
}

/// Rows that are ranges of rows of the children.
#[derive(Clone, Copy)]
pub(super) struct Nested {
    /// Returns the child for child `k` of the type, which has type `ty`.
    pub(super) child: for<'f> fn(&Node<'f>, usize, &Ty) -> Result<Node<'f>>,
    /// Returns the number of rows of the children that each row has, if they are equally many and in order.
    pub(super) each: fn(&Node<'_>) -> Result<Option<u64>>,
}

impl Holds {
    /// Whether cells of this kind can be asked for.
    pub(super) const fn has(&self, ask: Ask) -> bool {
        match self {
            Holds::Values => matches!(ask, Ask::Values | Ask::Valid),
            Holds::Texts(_) | Holds::PackedTexts(_) => matches!(ask, Ask::Spans | Ask::Valid),
            Holds::Packed(_) => !matches!(ask, Ask::Ranges),
            Holds::Nested(_) => matches!(ask, Ask::Ranges | Ask::Valid),
            Holds::Nulls
            | Holds::Wrapped(_)
            | Holds::Picked(..)
            | Holds::Patched
            | Holds::Chunks(_)
            | Holds::Constant
            | Holds::Unknown => true,
        }
    }
}
