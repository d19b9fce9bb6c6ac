"""DataSeries logs.

>>> import pilaster, tempfile
>>> path = tempfile.mkdtemp() + "/log.ds"
>>> with pilaster.dataseries.Logger(path, "Reading") as log:
...     for second in range(5):
...         log.append(time=second, temperature=20.5)
>>> pilaster.open(path).to_pydict()["time"]
[0, 1, 2, 3, 4]
"""

import os
from collections.abc import Mapping
from typing import Any

from ._pilaster import _Log, _log_value

__all__ = ["Logger"]

_KINDS = ("bool", "int", "float", "text", "bytes", "date", "datetime", "zoned datetime")


class Logger:
    """Appends rows to a new DataSeries file, in extents of ``extent_rows`` rows.

    Each extent has check values. After a crash, the extents that were written are read with
    ``pilaster.open(path, sequential=True)``, or saved by :func:`pilaster.recover`.

    >>> import pilaster, tempfile
    >>> path = tempfile.mkdtemp() + "/room.ds"
    >>> with pilaster.dataseries.Logger(path, "Reading", kinds={"note": "text"}) as log:
    ...     log.append(time=1, temperature=20.5, note=None)
    ...     log.append(time=2, temperature=None, note="window")
    >>> pilaster.open(path).to_pydict()
    {'time': [1, 2], 'temperature': [20.5, None], 'note': [None, b'window']}

    A value may be ``None`` in any row. The first other one tells the kind of a column, unless ``kinds`` does: ``"bool"``, ``"int"``
    (of 64 bits), ``"float"``, ``"text"``, ``"bytes"``, ``"date"``, ``"datetime"``, ``"zoned datetime"``. Integers are also values of a
    column of floats. No row is written before all kinds are known, so name the kinds of columns whose first values may be missing;
    a column that has had no value when the log is closed is a text. The file is created when the first extent is written.
    """

    def __init__(
        self,
        path: "str | os.PathLike[str]",
        table: str = "Log",
        *,
        extent_rows: int = 1024,
        compress: str = "lz4",
        kinds: "Mapping[str, str] | None" = None,
    ) -> None:
        if extent_rows < 1:
            raise ValueError(f"extent_rows={extent_rows}; at least 1 is needed")
        self._log = _Log(os.fspath(path), {"table": table, "compress": compress, "extent_rows": extent_rows})
        self._known = dict(kinds or {})
        if wrong := set(self._known.values()).difference(_KINDS):
            raise ValueError(f"no kinds {sorted(wrong)}; there are {', '.join(_KINDS)}")
        self._kinds: dict[str, str | None] = {}
        self._rows: dict[str, list[Any]] = {}
        self._waiting, self._most, self._fixed, self._closed = 0, extent_rows, False, False

    def append(self, **row: Any) -> None:
        """Appends a row. All rows have the same columns. A row that does not fit raises, and is left out."""
        if self._closed:
            raise ValueError("the log is closed; another Logger writes another file")
        kinds = dict(self._kinds) or {name: self._known.get(name) for name in row}
        if row.keys() != kinds.keys():
            raise TypeError(f"columns {list(row)} after columns {list(kinds)}")
        if missing := self._known.keys() - row.keys():
            raise TypeError(f"kinds= names columns that the row does not have: {sorted(missing)}")
        floats: list[tuple[str, list[Any]]] = []
        for name, value in row.items():
            kind, value = _log_value(value)
            known = kinds[name]
            if kind == "int" and known == "float":
                value = _float(value)
            elif kind == "float" and known == "int" and not self._fixed and name not in self._known:
                kinds[name] = kind
                floats.append((name, [_float(old) for old in self._rows.get(name, [])]))
            elif known is None:
                kinds[name] = kind
            elif kind is not None and kind != known:
                raise TypeError(f"column {name!r} is {known}, and {value!r} is {kind}")
            row[name] = value
        self._rows.update(floats)
        self._kinds = kinds
        for name, value in row.items():
            self._rows.setdefault(name, []).append(value)
        self._waiting += 1
        if self._waiting >= self._most and None not in kinds.values():
            self.flush()

    def flush(self) -> None:
        """Writes the rows so far as an extent, if the kinds of all columns are known."""
        if self._waiting and None not in self._kinds.values():
            self._log.put(self._rows, self._kinds)
            self._rows = {name: [] for name in self._rows}
            self._waiting, self._fixed = 0, True

    def close(self) -> None:
        """Writes the last rows and the index."""
        self._closed = True
        try:
            self._kinds = {name: kind or "text" for name, kind in self._kinds.items()}
            self.flush()
        finally:
            self._log.close()

    def __enter__(self) -> "Logger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _float(value: Any) -> Any:
    if value is None:
        return None
    number = float(value)
    if number != value:
        raise ValueError(f"{value} is no float")
    return number
