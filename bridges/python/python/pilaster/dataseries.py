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
from typing import Any

from ._pilaster import _Log

__all__ = ["Logger"]


class Logger:
    """Appends rows to a new DataSeries file, in extents of ``extent_rows`` rows.

    Each extent has check values. After a crash, the extents that were written are read with
    ``pilaster.open(path, sequential=True)``, or saved by ``pilaster recover``. The first row tells the types of the columns; a value
    may be ``None`` in any row if ``nullable``, which it is by default.
    """

    def __init__(
        self, path: "str | os.PathLike[str]", table: str = "Log", *, extent_rows: int = 1024, compress: str = "lz4"
    ) -> None:
        self._log = _Log(os.fspath(path), {"table": table, "compress": compress, "extent_rows": extent_rows})
        self._rows: dict[str, list[Any]] = {}
        self._waiting, self._most = 0, extent_rows

    def append(self, **row: Any) -> None:
        """Appends a row. All rows have the same columns."""
        if not self._rows:
            self._rows = {name: [] for name in row}
        if row.keys() != self._rows.keys():
            raise TypeError(f"columns {list(row)} after columns {list(self._rows)}")
        for name, values in self._rows.items():
            values.append(row[name])
        self._waiting += 1
        if self._waiting >= self._most:
            self.flush()

    def flush(self) -> None:
        """Writes the rows so far as an extent."""
        if self._waiting:
            self._log.put(self._rows)
            self._rows = {name: [] for name in self._rows}
            self._waiting = 0

    def close(self) -> None:
        """Writes the last rows and the index."""
        self.flush()
        self._log.close()

    def __enter__(self) -> "Logger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
