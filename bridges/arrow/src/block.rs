//! Numbers that are decoded into the buffer in which they stay.

use std::ops::Range;

use arrow_buffer::Buffer;
use bytemuck::cast_slice_mut;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Values};

use crate::Error;
use crate::held::{Held, Home, Rows, contains, rows_of, span, tight};

/// What bytes are decoded in. Its alignment serves values of any type.
type Word = i128;

/// Reads rows of a column that takes little memory beside its numbers of `width` bytes: their block becomes the buffer, and they are
/// not copied, unless the block is larger by more than an eighth. `None`, before anything is read, if the rows take more memory, or more
/// than is allowed.
pub(crate) fn read<C: Column>(
    column: &C,
    rows: Range<u64>,
    width: usize,
    home: &mut Home,
) -> Result<Option<Rows<C>>, Error> {
    let Ok(need) = usize::try_from(column.need(rows.clone())?) else { return Ok(None) };
    let len = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
    let most = home.limit.min(home.room);
    if need == 0 || need > tight(len.saturating_mul(width)) || need as u64 > most {
        return Ok(None);
    }
    let count = need.div_ceil(size_of::<Word>());
    let mut words: Vec<Word> = home.pool.take(count);
    words.resize(count, 0);
    let size = words.capacity().saturating_mul(size_of::<Word>());
    let block: &mut [u8] = cast_slice_mut(&mut words);
    let at = span(block);
    let batch = column.read(rows, &mut Scratch::new(block))?;
    let numbers = batch.values.number_bytes().map(|(bytes, width)| (span(bytes), bytes.len(), width));
    let stay = |(place, bytes, _): &(Range<usize>, usize, usize)| contains(&at, place) && size <= tight(*bytes);
    let Some((place, bytes, width)) = numbers.filter(stay) else {
        let rows = rows_of(&batch, &at, home)?;
        home.pool.buffer(words);
        return Ok(Some(rows));
    };
    // Bits of missing rows would keep the block, and are few.
    let missing = rows_of(&Batch { values: Values::Null, ..batch }, &at, home)?;
    let buffer: Buffer = home.pool.buffer(words);
    let bytes = buffer.slice_with_length(place.start.saturating_sub(at.start), bytes);
    Ok(Some(Rows { values: Held::Numbers { bytes, size: width }, ..missing }))
}
