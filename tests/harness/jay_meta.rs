//! The metadata of a Jay file, beside what planus reads of it.

use pilaster::bytes::{FileRange, Scratch};
use pilaster::jay::{Field, Layout, Meta, SType, Tail};
use pilaster::unstable::jay::meta;
use pilaster_oracle::jay::{ColumnRef, FrameRef};
use pilaster_oracle::planus::ReadAsRoot;

use super::jay_file::{STRICT, TOLERANT};
use super::walk::{Memory, ROOMS};

/// Bytes before the metadata: the data section, which must contain the buffers.
const AT: u64 = 1 << 20;

/// `data` is the metadata.
pub fn run(data: &[u8]) {
    let len = data.len() as u64;
    let tail = Tail { meta: FileRange { at: AT, len }, file: AT + len + 16 };
    let mut memory = Memory::filled(0x33);
    for options in [STRICT, TOLERANT] {
        let scratch = memory.odd(ROOMS[2]);
        let Ok(meta) = meta(data, &tail, &options, &mut Scratch::new(scratch)) else { continue };
        let end = if options.tolerant { tail.file } else { AT };
        for k in 0..meta.width().min(50) {
            match meta.field(k) {
                Ok(field) => inside(&field, end, 0),
                Err(e) => assert!(options.tolerant, "{e:?}"),
            }
            assert!(options.tolerant || meta.name(k).is_ok_and(|name| !name.is_empty()));
        }
        assert!(meta.keys() <= meta.width() && meta.field(meta.width()).is_err());
        if let Ok(frame) = FrameRef::read_as_root(data) {
            same(&meta, &frame, options.tolerant);
        }
    }
}

/// All buffers are where they may be, and as long as the rows need.
fn inside(field: &Field<'_>, end: u64, depth: usize) {
    for span in field.buffers() {
        assert!(span.end().is_some_and(|e| e <= end), "{span:?}");
    }
    let [_, data, _] = field.buffers();
    let width = field.stype().width();
    if field.stype() != SType::Bool8 && !field.stype().is_text() {
        assert!(field.rows().checked_mul(width).is_some_and(|need| need <= data.len), "{field:?}");
    }
    let _ = field.stats();
    if let Ok(span) = field.span() {
        assert!(span.end().is_some_and(|e| e <= end) && span.at >= 8);
    }
    if depth < 8
        && let Ok(Some(child)) = field.child()
    {
        inside(&child, end, depth + 1);
    }
}

/// Whatever planus reads, too, is the same.
fn same(meta: &Meta<'_>, frame: &FrameRef<'_>, tolerant: bool) {
    if let Ok(rows) = frame.nrows() {
        assert_eq!(rows, meta.rows());
    }
    let Ok(Some(columns)) = frame.columns() else { return };
    assert_eq!(columns.len(), meta.width());
    for (k, column) in columns.iter().enumerate().take(50) {
        let (Ok(column), Ok(field)) = (column, meta.field(k)) else { continue };
        same_column(&field, &column);
        if let (Ok(Some(theirs)), Ok(ours)) = (column.name(), meta.name(k)) {
            // planus accepts a string without a final zero; with tolerance such a name counts as missing.
            assert!(theirs == ours || tolerant && ours.is_empty(), "{theirs:?} {ours:?}");
        }
    }
}

fn same_column(field: &Field<'_>, column: &ColumnRef<'_>) {
    if let Ok(nulls) = column.nullcount() {
        assert_eq!(nulls, field.null_count());
    }
    if let Ok(ty) = column.type_() {
        assert_eq!(ty.is_some(), field.layout() == Layout::New);
        let stype = ty.map_or_else(|| column.stype(), |ty| ty.stype());
        assert!(stype.is_err() || stype.is_ok_and(|stype| stype as u8 == u8::from(field.stype())));
    }
    let Ok(Some(buffers)) = column.buffers() else { return };
    if field.layout() == Layout::New {
        for (theirs, ours) in buffers.iter().zip(field.buffers()).take(field.stype().buffers()) {
            assert_eq!((theirs.offset() + 8, theirs.length()), (ours.at, ours.len));
        }
    }
}
