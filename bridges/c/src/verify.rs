//! Checks of a whole DataSeries file.

use pilaster::bytes::Scratch;
use pilaster::dataseries::{AnyFile, End, ReadOptions};

use crate::raw::{In, Out, apart, exports};

exports! {
    /// Checks every byte of a file. `finished`: receives 1 if it has its index, and 0 if its writer was interrupted.
    fn pilaster_ds_verify(file: In<u8>, len: usize, memory: Out<u8>, size: usize, finished: Out<u32>) {
        apart(&[file.bounds(len), memory.bounds(size)], 3)?;
        finished.tell(0, 5)?;
        let (bytes, options) = (file.items(len, 1)?, ReadOptions::DEFAULT);
        let mut scratch = Scratch::new(memory.lend(size, 3)?);
        let end = AnyFile::open_sequential(bytes, &options, &mut scratch)?.verify(&mut scratch.scope())?;
        if !matches!(end, End::Trailer { .. }) {
            return Ok(());
        }
        // Compares the index with the extents.
        AnyFile::open(bytes, &options, &mut scratch)?.verify(&mut scratch)?;
        finished.tell(1, 5)
    }
}
