//! A type: every child, name and extension of it, and its notation, which ends whatever tree it describes.

use core::fmt::{self, Write};

use pilaster::column::Type;
use pilaster::vortex::DType;

pub fn run(data: &[u8]) {
    let Ok(dtype) = DType::parse(data) else { return };
    let mut budget = 2000;
    walk(dtype, &mut budget, 0);
    let mut notation = Count(0);
    // A text that is too long for the counter ends the writing.
    let _ = write!(notation, "{dtype}");
    let _ = write!(notation, "{dtype:?}");
}

fn walk(dtype: DType<'_>, budget: &mut u32, depth: u32) {
    let children = dtype.children();
    assert_eq!(children, dtype.ty().children());
    assert!(dtype.child(children).is_err());
    if let Ok(Some((id, metadata))) = dtype.extension() {
        assert!(id.len() + metadata.len() < usize::MAX / 2);
    }
    for k in 0..children {
        match budget.checked_sub(1) {
            Some(left) => *budget = left,
            None => return,
        }
        if let Type::Struct(_) = dtype.ty() {
            let _ = dtype.name(k);
        }
        // Deeper than the views allow is an error.
        assert!(depth < 200);
        if let Ok(child) = dtype.child(k) {
            walk(child, budget, depth + 1);
        }
    }
}

/// Counts what is written, up to a size.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        if self.0 < 1 << 16 { Ok(()) } else { Err(fmt::Error) }
    }
}
