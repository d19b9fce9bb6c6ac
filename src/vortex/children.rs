//! The children of nested rows, one after another.

use super::dtype::Ty;
use super::node::{Form, Node};
use super::scalar::Items;
#[cfg(feature = "vortex-variant")]
use super::stored_type::StoredType;
use crate::error::{Kind, Result, What};

/// The children of nested rows. Finding the children of a scalar takes a time in proportion to its size.
pub(super) struct Children<'f> {
    node: Node<'f>,
    /// The fields of a scalar that are not taken yet.
    scalars: Option<Items<'f>>,
    k: usize,
}

impl<'f> Node<'f> {
    /// Returns the children of nested rows.
    pub(super) fn nested_nodes(&self) -> Result<Children<'f>> {
        let scalars = match &self.form {
            // All fields of a null struct are null.
            Form::Scalar(scalar) if self.dtype.shape.is_struct() && !scalar.is_null()? => Some(scalar.items()?),
            _ => None,
        };
        Ok(Children { node: *self, scalars, k: 0 })
    }

    /// Calls `each` with the type of each child of nested rows.
    pub(super) fn each_child_type(&self, each: &mut dyn FnMut(usize, &Ty) -> Result<()>) -> Result<()> {
        #[cfg(feature = "vortex-variant")]
        if self.dtype.shape.is_struct()
            && let Some(mut fields) = StoredType::fields_of(&self.dtype, &self.blob)
        {
            let mut k = 0usize;
            while let Some((_, ty)) = fields.take()? {
                each(k, &ty.ty)?;
                k = k.saturating_add(1);
            }
            return Ok(());
        }
        (0..self.dtype.children()).try_for_each(|k| each(k, &self.child_type(&self.dtype, k)?))
    }
}

impl<'f> Children<'f> {
    /// Returns the next child, which has type `ty`.
    pub(super) fn take(&mut self, ty: &Ty) -> Result<Node<'f>> {
        let (node, k) = (&self.node, self.k);
        self.k = k.saturating_add(1);
        if let Some(scalars) = &mut self.scalars {
            let scalar = scalars.take()?;
            return node.scalar(&scalar.ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_SCALAR, k as u64))?, ty);
        }
        node.nested_of(k, || Ok(*ty))?.ok_or_else(|| node.undecoded())
    }
}
