//! The file of a chunk (section B): a header of 16 bytes, followed by the chunk.

use super::chunk::Chunk;
use crate::bytes::{LittleEndian, Reader};
use crate::error::{Error, Kind, Result, What};

/// The header of every file: magic number, version 1, three zeros, and the number of chunks, 1.
pub(crate) const HEADER: [u8; 16] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";

/// Opens the chunk of a file.
///
/// # Errors
/// [`Kind::Invalid`] for another magic number or number of chunks; [`Kind::Unsupported`] for another version; errors of
/// [`Chunk::open`].
pub fn open_file(bytes: &[u8]) -> Result<Chunk<'_>> {
    let mut r = Reader::<LittleEndian>::new(bytes);
    let magic = *r.array::<4>(What::BCOLZ_FILE)?;
    let version = r.u32(What::BCOLZ_FILE)?;
    let chunks = r.u64(What::BCOLZ_FILE)?;
    if !HEADER.starts_with(&magic) {
        return Err(Error::needing(Kind::Invalid, What::MAGIC, 0, u32::from_le_bytes(magic).into()));
    }
    // The three bytes after the version are reserved.
    if version & 0xff != 1 {
        return Err(Error::needing(Kind::Unsupported, What::BCOLZ_FILE, 4, (version & 0xff).into()));
    }
    if chunks != 1 {
        return Err(Error::needing(Kind::Invalid, What::BCOLZ_FILE, 8, chunks));
    }
    let chunk = Chunk::split_from(&mut r)?;
    r.end(What::BCOLZ_FILE)?;
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn one_chunk_and_nothing_else() {
        let chunk = b"\x02\x01\x13\x01\x03\0\0\0\x03\0\0\0\x13\0\0\0abc";
        let file = [&HEADER[..], chunk].concat();
        assert_eq!(open_file(&file).map(|chunk| chunk.nbytes()), Ok(3));
        let changed = |at: usize, byte: u8| {
            let mut file: Vec<u8> = file.clone();
            file[at] = byte;
            open_file(&file).map(|_| ()).unwrap_err()
        };
        assert_eq!((changed(0, b'c').kind(), changed(0, b'c').what()), (Kind::Invalid, What::MAGIC));
        assert_eq!((changed(4, 2).kind(), changed(4, 2).need()), (Kind::Unsupported, 2));
        assert_eq!((changed(8, 0).kind(), changed(8, 0).at()), (Kind::Invalid, 8));
        assert_eq!((changed(16, 3).kind(), changed(16, 3).at()), (Kind::Unsupported, 16));
        let longer = [&file[..], &[0]].concat();
        assert_eq!(open_file(&longer).map(|_| ()).unwrap_err().kind(), Kind::Trailing);
        for cut in 0..file.len() {
            assert_eq!(open_file(&file[..cut]).map(|_| ()).unwrap_err().kind(), Kind::Truncated);
        }
    }
}
