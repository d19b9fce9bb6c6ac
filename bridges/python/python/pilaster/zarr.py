"""The codec ``blosc`` of Zarr 3, in place of the one that zarr-python has.

>>> import pilaster.zarr
>>> pilaster.zarr.register()
>>> from zarr.registry import get_codec_class
>>> get_codec_class("blosc").__module__
'pilaster.zarr'
"""

from functools import cached_property

import zarr
from zarr.codecs import BloscCodec as _BloscCodec
from zarr.registry import register_codec

from .numcodecs import Blosc, register as _register_v2

__all__ = ["BloscCodec", "register"]

_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


class BloscCodec(_BloscCodec):
    """Blosc chunks that pilaster encodes and decodes, with the configuration of zarr-python."""

    @cached_property
    def _blosc_codec(self) -> Blosc:  # type: ignore[override, unused-ignore]
        name, shuffle = str(getattr(self.cname, "value", self.cname)), str(getattr(self.shuffle, "value", self.shuffle))
        return Blosc(name, self.clevel, _SHUFFLES.index(shuffle), self.blocksize, self.typesize)


def register() -> None:
    """Lets Zarr use this codec for ``blosc``, of both versions of its format."""
    register_codec("blosc", BloscCodec, qualname="pilaster.zarr.BloscCodec")
    zarr.config.set({"codecs.blosc": "pilaster.zarr.BloscCodec"})
    _register_v2()
