"""A column as an array of numpy."""

import re
from typing import Any

import numpy as np

from ._pilaster import File

_UNITS = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns", "s": "s", "ms": "ms", "µs": "us", "us": "us", "ns": "ns"}
_PLAIN = {
    "Boolean": "?", "Int8": "i1", "Int16": "i2", "Int32": "i4", "Int64": "i8", "UInt8": "u1", "UInt16": "u2", "UInt32": "u4",
    "UInt64": "u8", "Float16": "f2", "Float32": "f4", "Float64": "f8", "Date32": "M8[D]", "Date64": "M8[ms]",
}  # fmt: skip


def _dtype(name: str) -> str | None:
    if name in _PLAIN:
        return _PLAIN[name]
    stamp = re.match(r"Timestamp\((\w+)", name)
    return f"M8[{_UNITS[stamp[1]]}]" if stamp else None


def column(file: File) -> Any:
    """Returns the only column of a file."""
    dtype = _dtype(file.schema.types[0])
    if dtype is None:
        (rows,) = file.to_pydict().values()
        objects = np.empty(len(rows), dtype=object)
        objects[:] = rows
        return objects
    parts, masks, missing = [], [], 0
    # The numbers that are copied: dates and times are integers, a half float its bits, and a boolean a byte.
    stored = {"M8[D]": "i4", "f2": "u2", "?": "u1"}.get(dtype, "i8" if dtype.startswith("M8") else dtype)
    for batch in file.batches():
        values, present = np.empty(len(batch), dtype=stored), np.ones(len(batch), dtype="u1")
        missing += batch._numbers(0, values, present)
        parts.append(values.astype("i8") if dtype == "M8[D]" else values)
        masks.append(present)
    if not parts:
        return np.empty(0, dtype=dtype)
    values = (parts[0] if len(parts) == 1 else np.concatenate(parts)).view(dtype)
    if not missing:
        return values
    mask = np.concatenate(masks) == 0
    if dtype[0] in "fM":
        values[mask] = np.array(None, dtype=dtype)
        return values
    return np.ma.MaskedArray(values, mask=mask)
