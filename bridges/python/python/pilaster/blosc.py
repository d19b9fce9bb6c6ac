"""Blosc 1 chunks, as python-blosc reads and writes them.

>>> from pilaster import blosc
>>> chunk = blosc.compress(bytes(range(100)) * 40, typesize=4, cname="lz4")
>>> len(blosc.decompress(chunk)), blosc.info(chunk)
(4000, {'nbytes': 4000, 'typesize': 4, 'blocksize': 4000, 'cname': 'lz4', 'shuffle': 'bytes'})
"""

from typing import Any

from ._pilaster import _blosc_compress, _blosc_decompress, _blosc_decompress_into, _blosc_info

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

    >>> from pilaster import blosc
    >>> chunk = blosc.compress(b"abcd" * 1000, typesize=4, cname="zstd")
    >>> len(chunk) < 200
    True
    """
    if not isinstance(shuffle, str):
        if shuffle not in (NOSHUFFLE, SHUFFLE, BITSHUFFLE):
            raise ValueError(f"shuffle={shuffle}; there are NOSHUFFLE, SHUFFLE and BITSHUFFLE")
        shuffle = _SHUFFLES[shuffle]
    return _blosc_compress(data, typesize, clevel, shuffle, cname, blocksize)


def decompress(chunk: Any) -> bytes:
    """Returns the bytes of a chunk.

    >>> from pilaster import blosc
    >>> blosc.decompress(blosc.compress(b"abcd" * 2))
    b'abcdabcd'
    """
    return _blosc_decompress(chunk)


def decompress_into(chunk: Any, out: Any) -> int:
    """Decodes a chunk into a buffer of its size, and returns the number of bytes.

    >>> from pilaster import blosc
    >>> out = bytearray(4)
    >>> blosc.decompress_into(blosc.compress(b"abcd"), out), out
    (4, bytearray(b'abcd'))
    """
    return _blosc_decompress_into(chunk, out)


def info(chunk: Any) -> "dict[str, int | str]":
    """Describes a chunk by its header.

    >>> from pilaster import blosc
    >>> blosc.info(blosc.compress(bytes(80), typesize=8, shuffle=blosc.NOSHUFFLE, cname="lz4"))
    {'nbytes': 80, 'typesize': 8, 'blocksize': 80, 'cname': 'lz4', 'shuffle': 'none'}
    """
    return dict(zip(("nbytes", "typesize", "blocksize", "cname", "shuffle"), _blosc_info(chunk)))
