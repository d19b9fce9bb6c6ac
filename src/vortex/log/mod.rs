//! Logs: Vortex files that are written row by row without a heap, and are readable after a power cut.

mod frames;
mod source;

pub use frames::{Frame, Frames, last_checkpoint};
pub use source::Source;
