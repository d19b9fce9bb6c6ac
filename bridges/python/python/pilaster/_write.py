"""Writing tables to files."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypedDict, Unpack

from . import _pilaster
from ._error import Error


class _Options(TypedDict, total=False):
    """The options of all formats; the text of `write` tells which format has which."""

    any_time: bool
    keys: int
    layout: Literal["new", "old"]
    sentinels: Literal["error", "missing", "widen"]
    statistics: bool
    bytes_as_text: bool
    encodings: Literal["default", "compact"]
    profile: Literal["2026", "wide"]
    chunk_size: int
    zone_rows: int
    dictionaries: bool
    compress: str | Iterable[str]
    level: int
    table: str
    extent_rows: int
    append: bool
    codec: Literal["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
    shuffle: Literal["none", "bytes", "bits"]
    chunklen: int
    fill_missing: bool


def write(
    path: "str | os.PathLike[str]",
    data: Any,
    *,
    format: str | None = None,
    progress: "bool | Callable[[int], object]" = False,
    **options: Unpack[_Options],
) -> int:
    """Writes a table to a file, and returns the number of rows.

    ``data`` is anything that is a stream of Arrow record batches (a frame of polars or pandas 3, a table or reader of pyarrow, a
    relation of duckdb, a :class:`pilaster.File`), or a dict of lists and arrays of numpy:

    >>> import pilaster, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pilaster.write(folder + "/years.jay", {"year": [1870, 1848, None], "name": ["Jay", "Filo", "?"]})
    3
    >>> pilaster.open(folder + "/years.jay").to_pydict()
    {'year': [1870, 1848, None], 'name': ['Jay', 'Filo', '?']}

    The format is that of the extension (``.jay``, ``.vortex``, ``.ds``, ``.bcolz``, ``.filo``), or ``format``. A file gets its name
    when it is complete, and replaces one of the same name; a bcolz dataset is a directory, which must not exist, unless
    ``append=True`` appends rows to it. Columns whose type the format lacks are an error that names the column.

    ``progress`` is called with the number of rows after each batch; ``True`` shows a bar of tqdm if that is installed.

    ============ ==============================================================================================
    all          ``any_time=True``: durations as integers; time zones are dropped, except of Vortex; Jay: timestamps of any
                 unit as nanoseconds; DataSeries: dates and times as integers
    Jay          ``keys``, ``layout`` ("new", "old"), ``sentinels`` ("error", "missing", "widen"), ``statistics``,
                 ``bytes_as_text``
    Vortex       ``encodings`` ("default", "compact"), ``profile`` ("2026", "wide"), ``chunk_size``, ``zone_rows``,
                 ``dictionaries``, ``statistics``
    DataSeries   ``compress`` ("lz4", "smallest", ... or a list), ``level``, ``table``, ``extent_rows``
    bcolz        ``append``, ``codec`` ("lz4", "zstd", ...), ``level``, ``shuffle`` ("none", "bytes", "bits"), ``chunklen``,
                 ``fill_missing``
    ============ ==============================================================================================
    """
    if type(data).__module__.partition(".")[0] == "polars":
        _check_polars(data)
    given: dict[str, Any] = {**options}
    if progress is not True:
        return _pilaster._write(path, data, format, progress or None, given)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _pilaster._write(path, data, format, None, given)
    with tqdm(desc=os.path.basename(os.fspath(path)), unit=" rows", unit_scale=True) as bar:
        return _pilaster._write(path, data, format, lambda rows: bar.update(rows - bar.n), given)


def _check_polars(data: Any) -> None:
    """Refuses what polars exports in a form that others do not read."""
    import polars as pl

    if isinstance(data, pl.Series):
        raise TypeError("write takes a table, not a Series; series.to_frame() is one")
    if isinstance(data, pl.LazyFrame):
        raise TypeError("write takes a table, not a LazyFrame; lazy.collect() is one")
    if isinstance(data, pl.DataFrame):
        for name, dtype in data.schema.items():
            for own, why in _OWN.items():
                if _has(own, dtype):
                    raise Error(f'column "{name}": polars passes on values of type {own} {why}', "Unsupported")


_WIDE = "in a form that no other library reads; cast it to a type of 64 bits, or to Decimal(38, 0)"

# Types of polars whose values no other library reads, and what helps.
_OWN = {
    "Null": "in a form that no other library reads; cast it",
    "Object": "as addresses in memory; make it a column of texts or numbers, or leave it out",
    "Int128": _WIDE,
    "UInt128": _WIDE,
}


def _has(own: str, dtype: Any) -> bool:
    """Whether a type of polars is one that has this name, or has it inside: in a list, a struct, a map."""
    if str(dtype) == own:
        return True
    inner = [getattr(dtype, name, None) for name in ("inner", "key", "value")]
    inner += [field.dtype for field in getattr(dtype, "fields", [])]
    return any(_has(own, one) for one in inner if one is not None)
