"""Writing tables to files."""

import os
from collections.abc import Callable
from typing import Any

from . import _pilaster
from ._error import Error


def write(
    path: "str | os.PathLike[str]",
    data: Any,
    *,
    format: str | None = None,
    progress: "bool | Callable[[int], object]" = False,
    **options: Any,
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
    all          ``any_time=True``: durations as integers; Jay: timestamps of any unit and zone as nanoseconds
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
        for name, dtype in data.schema.items():
            if str(dtype) == "Null":
                text = f'column "{name}": polars passes on columns of type Null in a form that no other library reads; cast it'
                raise Error(text, "Unsupported")
    if progress is not True:
        return _pilaster._write(os.fspath(path), data, format, progress or None, options)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _pilaster._write(os.fspath(path), data, format, None, options)
    with tqdm(desc=os.path.basename(os.fspath(path)), unit=" rows", unit_scale=True) as bar:
        return _pilaster._write(os.fspath(path), data, format, lambda rows: bar.update(rows - bar.n), options)
