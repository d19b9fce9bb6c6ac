//! Names of the fields that an error can be about. Blosc 1 chunks and bcolz datasets.

use crate::error::fields;

fields! { 0x1c0;
    // Blosc 1 chunks.
    BLOSC_CHUNK = "blosc chunk",
    BLOSC_HEADER = "blosc header",
    BLOSC_VERSION = "blosc version",
    BLOSC_FLAGS = "blosc flags",
    BLOSC_CODEC = "blosc compressor",
    BLOSC_TYPESIZE = "blosc type size",
    BLOSC_NBYTES = "blosc decoded size",
    BLOSC_BLOCKSIZE = "blosc block size",
    BLOSC_SIZE = "blosc chunk size",
    BLOSC_STARTS = "blosc block start",
    BLOSC_STREAM = "blosc stream length",

    // bcolz datasets.
    BCOLZ_FILE = "bcolz file",
    BCOLZ_NAME = "bcolz column name",
    BCOLZ_DTYPE = "bcolz dtype",
    BCOLZ_SHAPE = "bcolz shape",
    BCOLZ_CHUNKLEN = "bcolz chunklen",
    BCOLZ_PARAMS = "bcolz cparams",
    BCOLZ_ROWS = "bcolz row count",
    BCOLZ_DFLT = "bcolz dflt",
    BCOLZ_ATTRS = "bcolz attribute",
    BCOLZ_MISSING = "bcolz array without missing values",
}
