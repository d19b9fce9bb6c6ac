//! The description of an encoding or a layout for the decoder. The module of each encoding defines its own.

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
    /// The location of the validity.
    pub(super) validity: Validity,
    /// The kind of the rows.
    pub(super) holds: Holds,
    /// Returns an upper bound of the scratch memory, in bytes, that `cells` takes for the rows, including all nodes
    /// below.
    pub(super) need: fn(&Node<'_>, Amount, &mut Context<'_, '_>) -> Result<u64>,
    /// Fills the cells with the answer for the rows starting at the given one.
    pub(super) cells: fn(&Node<'_>, Ask, u64, &mut Cells<'_>, &mut Context<'_, '_>) -> Result<()>,
}

/// The location of the validity of a nullable node.
#[derive(Clone, Copy)]
pub(super) enum Validity<D = fn(&Node<'_>) -> Result<Answer>> {
    /// None: every row has a value.
    All,
    /// This child of booleans; every row has a value if the child is absent.
    Child(usize),
    /// A row has a value if the row of this child has one.
    As(usize),
    /// `cells` decodes the validity.
    Decoded,
    /// The function returns the location for a node.
    Depends(D),
}

/// The location of the validity of one node, never [`Depends`](Validity::Depends).
pub(super) type Answer = Validity<Infallible>;

/// Returns a number of bytes for the texts of a given number of rows starting at a row.
pub(super) type TextLen = fn(&Node<'_>, u64, usize, &mut Context<'_, '_>) -> Result<u64>;

/// Returns a node below another one.
pub(super) type Inner = for<'f> fn(&Node<'f>) -> Result<Node<'f>>;

/// The kind of the rows of a node.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    /// Null rows of any type.
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
    /// Rows of the node that the first function returns, each any number of times. If rows have codes, the second
    /// function returns the node with the codes.
    Picked(Inner, Option<Inner>),
    /// One scalar, except for rows with a patch.
    Patched,
    /// The rows of several children; the function returns the rows in the child that stores the first of them.
    Chunks(for<'f> fn(&Rows<'f>, &mut Context<'_, '_>) -> Result<Rows<'f>>),
    /// One scalar.
    Constant,
    /// Not decoded.
    Unknown,
}

/// Rows that are ranges of child rows.
#[derive(Clone, Copy)]
pub(super) struct Nested {
    /// Returns the child for child `k` of the type, which has type `ty`.
    pub(super) child: for<'f> fn(&Node<'f>, usize, &Ty) -> Result<Node<'f>>,
    /// Returns the number of child rows per row if it is constant and the child rows are in order, otherwise `None`.
    pub(super) each: fn(&Node<'_>) -> Result<Option<u64>>,
}

impl Holds {
    /// Returns whether `cells` can answer `ask`.
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
