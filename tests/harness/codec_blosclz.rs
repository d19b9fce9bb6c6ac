//! Any bytes as a blosclz stream: see [`codec::decode`](super::codec::decode).

use pilaster::codec::Codec;

/// The bytes are the stream.
pub fn run(data: &[u8]) {
    super::codec::decode(Codec::Blosclz, data);
}
