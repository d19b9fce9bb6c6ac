"""The codec ``blosc`` of numcodecs, in place of the one that numcodecs has. Zarr 2 uses it by its name.

>>> import pilaster.numcodecs
>>> pilaster.numcodecs.register()
>>> import numcodecs
>>> codec = numcodecs.get_codec({"id": "blosc", "cname": "zstd"})
>>> type(codec).__module__, codec.decode(codec.encode(b"abc" * 1000))[:3]
('pilaster.numcodecs', b'abc')
"""

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray
from numcodecs.registry import register_codec

from . import blosc

__all__ = ["Blosc", "register"]


class Blosc(Codec):  # type: ignore[misc, unused-ignore]
    """Encodes and decodes Blosc chunks, with the parameters of ``numcodecs.Blosc``."""

    codec_id = "blosc"
    NOSHUFFLE, SHUFFLE, BITSHUFFLE, AUTOSHUFFLE = 0, 1, 2, -1

    def __init__(
        self, cname: str = "lz4", clevel: int = 5, shuffle: int = 1, blocksize: int = 0, typesize: int | None = None
    ) -> None:
        self.cname, self.clevel, self.shuffle, self.blocksize = cname, clevel, shuffle, blocksize
        self.typesize = typesize
        if cname not in blosc.compressors:
            raise ValueError(f"no compressor {cname!r}; there are {', '.join(blosc.compressors)}")

    def encode(self, buf: Any) -> Any:
        """Returns a chunk."""
        array = ensure_contiguous_ndarray(buf, 0x7FFF_FFFF - 16)
        # As in the original, items of more than 255 bytes are treated as bytes.
        size = self.typesize or (array.itemsize if array.itemsize < 256 else 1)
        shuffle = self.shuffle
        if shuffle == self.AUTOSHUFFLE:
            shuffle = self.BITSHUFFLE if size == 1 else self.SHUFFLE
        return blosc.compress(array.view("u1"), size, self.clevel, shuffle, self.cname, self.blocksize)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Returns the bytes of a chunk, or fills ``out`` with them."""
        chunk = buf if type(buf) is bytes else ensure_contiguous_ndarray(buf).view("u1")
        if out is None:
            return blosc.decompress(chunk)
        blosc.decompress_into(chunk, np.asarray(ensure_contiguous_ndarray(out)).view("u1"))
        return out

    def get_config(self) -> "dict[str, Any]":
        """Returns what an archive stores about the codec."""
        config = {"id": self.codec_id, "cname": self.cname, "clevel": self.clevel, "shuffle": self.shuffle}
        return config | {"blocksize": self.blocksize}


def register() -> None:
    """Lets numcodecs, and so Zarr 2, use this codec for ``blosc``."""
    register_codec(Blosc)
