"""Blosc 1 chunks, as python-blosc reads and writes them.

>>> from pilaster import blosc
>>> chunk = blosc.compress(bytes(range(100)) * 40, typesize=4, cname="lz4")
>>> len(blosc.decompress(chunk)), blosc.info(chunk)
(4000, {'nbytes': 4000, 'typesize': 4, 'blocksize': 4000, 'cname': 'lz4', 'shuffle': 'bytes'})
"""

from typing import Any

from ._pilaster import (
    _blosc_compress,
    _blosc_decompress as decompress,
    _blosc_decompress_into as decompress_into,
    _blosc_info,
)

__all__ = ["BITSHUFFLE", "NOSHUFFLE", "SHUFFLE", "compress", "compressors", "decompress", "decompress_into", "info"]

NOSHUFFLE, SHUFFLE, BITSHUFFLE = 0, 1, 2

_SHUFFLES = ("none", "bytes", "bits")

#: The names of the compressors.
compressors = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


def compress(
    data: Any, typesize: int = 8, clevel: int = 9, shuffle: "int | str" = SHUFFLE, cname: str = "blosclz", blocksize: int = 0
) -> bytes:
    """Returns bytes, or any buffer, as a chunk; ``typesize`` is the size of an item, by which bytes are shuffled.

    The defaults are those of python-blosc. ``blocksize=0`` chooses the size of a block.
    """
    if not isinstance(shuffle, str):
        if shuffle not in (NOSHUFFLE, SHUFFLE, BITSHUFFLE):
            raise ValueError(f"shuffle={shuffle}; there are NOSHUFFLE, SHUFFLE and BITSHUFFLE")
        shuffle = _SHUFFLES[shuffle]
    return _blosc_compress(data, typesize, clevel, shuffle, cname, blocksize)


def info(chunk: Any) -> "dict[str, int | str]":
    """Describes a chunk by its header."""
    return dict(zip(("nbytes", "typesize", "blocksize", "cname", "shuffle"), _blosc_info(chunk)))
