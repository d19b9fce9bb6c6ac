//! Writes the file of a chunk (section B): a header of 16 bytes, followed by the chunk.

use crate::bcolz::chunk::{self, Params};
use crate::bcolz::file::HEADER;
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// Returns the maximum size in bytes of the file of a chunk of `n` bytes.
#[must_use]
pub const fn file_len(n: usize) -> usize {
    chunk::max_len(n).saturating_add(HEADER.len())
}

/// Encodes `rows` as the file of one chunk. Returns the size of the file in bytes. The scratch buffer needs
/// [`encode_scratch_len`](chunk::encode_scratch_len) bytes.
///
/// # Errors
/// Errors of [`encode`](chunk::encode).
pub fn encode_file(rows: &[u8], params: &Params, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let room = || Error::needing(Kind::NoRoom, What::DESTINATION, 0, file_len(rows.len()) as u64);
    let (header, chunk) = dst.split_first_chunk_mut::<{ HEADER.len() }>().ok_or_else(room)?;
    *header = HEADER;
    let len = chunk::encode(rows, params, chunk, scratch)
        .map_err(|e| if e.kind() == Kind::NoRoom && e.what() == What::DESTINATION { room() } else { e })?;
    Ok(len.saturating_add(HEADER.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::open_file;

    #[test]
    fn a_file_in_exactly_its_room() {
        let params = Params { level: 0, ..Params::DEFAULT };
        let (mut dst, mut memory) = ([0xee; 40], std::vec![0; chunk::encode_scratch_len(&Params::DEFAULT, 5)]);
        let mut scratch = Scratch::new(&mut memory);
        assert_eq!((file_len(5), encode_file(b"12345", &params, &mut dst, &mut scratch)), (37, Ok(37)));
        assert_eq!(dst[37..], [0xee; 3]);
        assert_eq!(open_file(&dst[..37]).map(|chunk| chunk.nbytes()), Ok(5));
        for room in 0..37 {
            let e = encode_file(b"12345", &params, &mut dst[..room], &mut scratch).unwrap_err();
            assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 37), "{room}");
        }
    }
}
