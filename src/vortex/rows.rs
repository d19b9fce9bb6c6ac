//! A row range of a node, and the descent to the node that stores it.

use super::context::Context;
use super::encodings::{constant, sparse};
use super::node::Node;
use super::scheme::Holds;
use crate::error::Result;

/// Some rows of a node.
#[derive(Clone, Copy)]
pub(super) struct Rows<'f> {
    pub(super) node: Node<'f>,
    /// The first row.
    pub(super) at: u64,
    /// The number of rows starting at `at` that are consecutive in the node.
    pub(super) left: u64,
}

impl<'f> Rows<'f> {
    /// Returns these rows in chunk `k`, which stores rows `first..end` of the node.
    pub(super) fn in_chunk(&self, k: usize, first: u64, end: u64) -> Result<Self> {
        let node = self.node.child(k, &self.node.dtype, end.saturating_sub(first))?;
        let at = self.at.saturating_sub(first);
        Ok(Rows { node, at, left: self.left.min(node.rows.saturating_sub(at)) })
    }

    /// Returns the rows in the node that stores the first of them; in structs, in the field at the end of `path`.
    pub(super) fn located(self, mut path: &[u16], cx: &mut Context<'_, '_>) -> Result<Self> {
        let mut rows = self;
        loop {
            let node = &rows.node;
            cx.spend(node.at())?;
            let down = node.layout().is_some() || !path.is_empty() && rows.left > 0;
            match node.holds() {
                Some(Holds::Wrapped(inner)) if down => rows.node = inner(node)?,
                _ if rows.left == 0 => return Ok(rows),
                Some(Holds::Chunks(chunk)) => rows = chunk(&rows, cx)?,
                Some(Holds::Constant) if !path.is_empty() => rows.node = constant::value(node)?,
                Some(Holds::Patched) if !path.is_empty() => rows = sparse::part(&rows, cx)?,
                _ => {
                    let Some((k, rest)) = path.split_first() else { return Ok(rows) };
                    path = rest;
                    rows.node = node.nested((*k).into())?.ok_or_else(|| node.undecoded())?;
                }
            }
        }
    }

    /// Returns the node whose child rows the ranges of the rows refer to. It is below dictionaries, runs and other
    /// encodings that repeat nested rows.
    pub(super) fn concrete(self, cx: &mut Context<'_, '_>) -> Result<Node<'f>> {
        let (mut rows, mut repeated) = (self, false);
        loop {
            let node = &rows.node;
            cx.spend(node.at())?;
            let (parts, may_repeat) = match node.holds() {
                None | Some(Holds::Nested(_)) => return Ok(rows.node),
                Some(Holds::Constant) => return constant::value(node),
                Some(Holds::Wrapped(inner)) => {
                    rows.node = inner(node)?;
                    continue;
                }
                Some(Holds::Picked(values, _)) => {
                    (rows.node, rows.at, repeated) = (values(node)?, 0, true);
                    continue;
                }
                Some(Holds::Patched) if constant::scalar(node)?.is_null()? => {
                    (rows.node, rows.at, repeated) = (sparse::values(node)?, 0, true);
                    continue;
                }
                Some(Holds::Patched) => (sparse::part(&rows, cx)?, false),
                Some(Holds::Chunks(chunk)) => (chunk(&rows, cx)?, true),
                Some(
                    Holds::Nulls
                    | Holds::Values
                    | Holds::Texts(_)
                    | Holds::PackedTexts(_)
                    | Holds::Packed(_)
                    | Holds::Unknown,
                ) => return Err(node.undecoded()),
            };
            // Rows of several parts refer to different children. Below an encoding that repeats rows, they can be in
            // any part.
            let whole = parts.left == self.left && !repeated || may_repeat && parts.node.rows == node.rows;
            if !whole {
                return Err(node.undecoded());
            }
            rows = parts;
        }
    }

    /// Returns the number of rows that are in one chunk, or in one part of a sparse array, at any depth.
    pub(super) fn unbroken(self, cx: &mut Context<'_, '_>) -> Result<u64> {
        let mut rows = self;
        while rows.left > 0 {
            cx.spend(rows.node.at())?;
            match rows.node.holds() {
                Some(Holds::Wrapped(inner)) => rows.node = inner(&rows.node)?,
                Some(Holds::Chunks(chunk)) => rows = chunk(&rows, cx)?,
                Some(Holds::Patched) => rows = sparse::part(&rows, cx)?,
                Some(
                    Holds::Nulls
                    | Holds::Values
                    | Holds::Texts(_)
                    | Holds::PackedTexts(_)
                    | Holds::Packed(_)
                    | Holds::Nested(_)
                    | Holds::Picked(..)
                    | Holds::Constant
                    | Holds::Unknown,
                )
                | None => break,
            }
        }
        Ok(rows.left)
    }
}
