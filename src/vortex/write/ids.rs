//! The ids of encodings and layouts that a file uses, in the order of their first use.

use alloc::vec::Vec;

use crate::bytes::low16;
use crate::vortex::raw::{Encoding, LayoutId};

/// The ids in use.
#[derive(Clone, Debug, Default)]
pub(in crate::vortex) struct Ids {
    pub arrays: Vec<Encoding>,
    pub layouts: Vec<LayoutId>,
}

impl Ids {
    /// Returns the number of an encoding.
    pub fn array(&mut self, id: Encoding) -> u16 {
        number(&mut self.arrays, id)
    }

    /// Returns the number of a layout.
    pub fn layout(&mut self, id: LayoutId) -> u16 {
        number(&mut self.layouts, id)
    }
}

fn number<T: PartialEq>(known: &mut Vec<T>, id: T) -> u16 {
    let place = known.iter().position(|other| *other == id).unwrap_or_else(|| {
        known.push(id);
        known.len().saturating_sub(1)
    });
    low16(place)
}
