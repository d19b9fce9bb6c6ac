"""Filo vectors: one column of values in a few bytes.

>>> from pilaster import filo
>>> vector = filo.encode([1, 2, None, 3])
>>> filo.decode(vector, "long")
[1, 2, None, 3]
"""

from typing import Any

from ._pilaster import _filo_encode, open

__all__ = ["decode", "encode", "elements"]

#: The names of the element types, which a vector does not store.
elements = ("boolean", "int", "long", "float", "double", "timestamp", "utf8", "blob")


def encode(values: Any) -> bytes:
    """Returns values, a list or an array of numpy, as a vector in the smallest encoding.

    >>> from pilaster import filo
    >>> len(filo.encode([7] * 1000))
    16
    """
    return _filo_encode(values)


def decode(vector: Any, element: str) -> "list[Any]":
    """Returns the values of a vector, whose element type the caller must know: one of ``elements``.

    >>> from pilaster import filo
    >>> filo.decode(filo.encode(["a", None, "a"]), "utf8")
    ['a', None, 'a']
    """
    (values,) = open(vector, format="filo", type=element).to_pydict().values()
    return list(values)
