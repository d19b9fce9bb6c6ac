"""Filo vectors: one column of values in a few bytes.

>>> from pilaster import filo
>>> vector = filo.encode([1, 2, None, 3])
>>> filo.decode(vector, "long")
[1, 2, None, 3]
"""

from typing import Any

from ._pilaster import _filo_encode as encode, open

__all__ = ["decode", "encode", "elements"]

#: The names of the element types, which a vector does not store.
elements = ("boolean", "int", "long", "float", "double", "timestamp", "utf8", "blob")


def decode(vector: Any, element: str) -> "list[Any]":
    """Returns the values of a vector, whose element type the caller must know."""
    (values,) = open(vector, format="filo", type=element).to_pydict().values()
    return list(values)
