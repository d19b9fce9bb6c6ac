//! Decodes arbitrary bytes as a chunk. If pilaster accepts a chunk, c-blosc must accept it with the same result. What
//! only c-blosc accepts is listed on the module page of `bcolz::chunk`.
#![no_main]

#[path = "../../src/original.rs"]
mod original;

use libfuzzer_sys::fuzz_target;
use pilaster::bcolz::chunk::Chunk;
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};

/// Maximum size of the output in bytes. A larger one takes longer and finds no more.
const MOST: usize = 1 << 18;

fuzz_target!(|data: &[u8]| {
    // Both decoders check the size of the chunk first. It is corrected here, so that they do not stop there.
    let mut chunk = data.to_vec();
    let len = chunk.len() as u32;
    if let Some(size) = chunk.get_mut(12..16) {
        size.copy_from_slice(&len.to_le_bytes());
    }
    let Some(nbytes) = original::claims(&chunk) else {
        assert!(Chunk::open(&chunk).is_err(), "taken by us alone");
        return;
    };
    if nbytes > MOST {
        return;
    }
    let mut theirs = vec![0xee; nbytes];
    let theirs = original::decode(&chunk, &mut theirs).map(|len| (len, theirs));
    match (ours(&chunk), theirs) {
        (Ok(ours), Some((len, theirs))) => assert!(ours.len() == len && ours == theirs, "other bytes"),
        (Ok(_), None) => panic!("taken by us alone"),
        (Err(e), Some((len, _))) => assert!(known(&e, len < nbytes), "refused by us alone: {e:?}"),
        (Err(_), None) => {}
    }
});

fn ours(chunk: &[u8]) -> pilaster::Result<Vec<u8>> {
    let chunk = Chunk::open(chunk)?;
    let (mut bytes, mut memory) = (vec![0x55; chunk.nbytes()], vec![0xee; chunk.scratch_len()]);
    chunk.decode(&mut bytes, &mut Scratch::new(&mut memory))?;
    Ok(bytes)
}

/// Returns whether an error is one of the known differences. `short`: the original returned fewer bytes than the header
/// states, without an error.
fn known(e: &Error, short: bool) -> bool {
    match (e.kind(), e.what()) {
        (Kind::Invalid, What::BLOSC_BLOCKSIZE) => short,
        // The original copies earlier contents of the destination.
        (Kind::Invalid, What::LZ4_DISTANCE) => e.need() == 0,
        (Kind::Invalid, What::ZSTD_LITERALS) => true,
        _ => false,
    }
}
