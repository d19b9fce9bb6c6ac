//! Byte codecs, shuffles and digests, on 64 KiB of text of a log and of records.

use std::hint::black_box;

use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::unstable::codec::{Codec, bitshuffle, shuffle};
use pilaster::unstable::hash::{adler32, bzip_crc, lookup2, xxh64};
use pilaster_counts::Run;
use pilaster_counts::data::{log, noise, records};

const LEN: usize = 64 << 10;

pub fn all(run: &Run) {
    for (name, bytes) in [("log", log(LEN)), ("records", records(LEN))] {
        for codec in Codec::ALL {
            streams(run, codec, name, &bytes);
        }
    }
    filters(run);
    digests(run);
    chunks(run);
}

fn streams(run: &Run, codec: Codec, name: &str, bytes: &[u8]) {
    let mut stream = vec![0; codec.max_len(bytes.len())];
    let levels: &[u8] = match codec {
        Codec::Zstd => &[1, 5, 9],
        Codec::Lz4Hc | Codec::Zlib => &[3, 9],
        _ => &[9],
    };
    let mut len = 0;
    for level in levels {
        run.case(&format!("{codec:?} encode {level} {name}"), || {
            len = codec.encode(black_box(bytes), &mut stream, *level).expect("enough space");
        });
        // The case may not be chosen.
        len = codec.encode(bytes, &mut stream, *level).expect("enough space");
    }
    stream.truncate(len);
    let (mut out, mut memory) = (vec![0; bytes.len()], vec![0; codec.workspace_len(bytes.len())]);
    run.case(&format!("{codec:?} decode {name}"), || {
        let len = codec.decode(black_box(&stream), &mut out, &mut Scratch::new(&mut memory));
        assert_eq!(black_box(len), Ok(out.len()));
    });
}

/// Both shuffles and their inverses.
fn filters(run: &Run) {
    let (bytes, mut out) = (noise(LEN), vec![0; LEN]);
    type Filter = fn(usize, &[u8], &mut [u8]) -> pilaster::Result<()>;
    let all: [(&str, Filter); 4] = [
        ("bytes, unshuffle", shuffle::unshuffle),
        ("bytes, shuffle", shuffle::shuffle),
        ("bits, unshuffle", bitshuffle::unshuffle),
        ("bits, shuffle", bitshuffle::shuffle),
    ];
    for size in [1, 2, 4, 8, 16, 12] {
        for (name, filter) in all {
            run.case(&format!("{name}, items of {size}"), || {
                filter(size, black_box(&bytes), black_box(&mut out)).expect("equal lengths");
            });
        }
    }
}

fn digests(run: &Run) {
    let bytes = noise(LEN);
    run.case("Adler-32", || _ = black_box(adler32(black_box(&bytes))));
    run.case("lookup2", || _ = black_box(lookup2(1972, black_box(&bytes))));
    run.case("CRC-32 of bzip2", || _ = black_box(bzip_crc(black_box(&bytes))));
    run.case("XXH64", || _ = black_box(xxh64(0, black_box(&bytes))));
}

/// Chunks of Blosc with numbers of 8 bytes.
fn chunks(run: &Run) {
    let bytes: Vec<u8> = records(3 * LEN).chunks_exact(24).flat_map(|record| record[16..].to_vec()).collect();
    let all = [Compressor::Blosclz, Compressor::Lz4, Compressor::Snappy, Compressor::Zstd];
    let shuffles = [Shuffle::None, Shuffle::Byte, Shuffle::Bit];
    for (compressor, shuffle) in all.into_iter().flat_map(|one| shuffles.map(|shuffle| (one, shuffle))) {
        let params = Params { compressor, shuffle, typesize: 8, ..Params::DEFAULT };
        let mut memory = vec![0; encode_scratch_len(&params, bytes.len())];
        let mut chunk = vec![0; max_len(bytes.len())];
        let len = encode(&bytes, &params, &mut chunk, &mut Scratch::new(&mut memory)).expect("enough space");
        run.case(&format!("Blosc, {compressor:?}, {shuffle:?}, encode"), || {
            encode(black_box(&bytes), &params, &mut chunk, &mut Scratch::new(&mut memory)).expect("enough space");
        });
        chunk.truncate(len);
        let mut out = vec![0; bytes.len()];
        memory.resize(Chunk::open(&chunk).expect("a valid chunk").scratch_len(), 0);
        run.case(&format!("Blosc, {compressor:?}, {shuffle:?}, decode"), || {
            let chunk = Chunk::open(black_box(&chunk)).expect("a valid chunk");
            chunk.decode(&mut out, &mut Scratch::new(&mut memory)).expect("an intact chunk");
        });
    }
}
