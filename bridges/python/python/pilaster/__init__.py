"""Columnar files: Jay, bcolz and Blosc, Vortex, DataSeries and Filo.

Files are streams of Arrow record batches, which polars, pandas, pyarrow and duckdb take as they are:

>>> import pilaster
>>> file = pilaster.open("examples/data/keyed_1.jay")
>>> file
<pilaster.File "examples/data/keyed_1.jay", jay>
>>> file.columns, file.num_rows
(['k', 's', 'v'], 50)
>>> file.select("k", rows=3).to_pydict()
{'k': [-996, -982, -955]}

``polars.DataFrame(file)``, ``pandas.DataFrame.from_arrow(file)``, ``pyarrow.table(file)`` and
``duckdb.sql("select * from file")`` read it; :func:`write` writes anything that is such a stream. Nothing else has to be
installed for the package itself.
"""

import atexit as _atexit

from ._error import Error
from ._pilaster import Batch, Batches, File, Schema, _end, open, recover

# Threads that read files of Python must not outlive the interpreter.
_atexit.register(_end)

__all__ = ["Batch", "Batches", "Error", "File", "Schema", "blosc", "dataseries", "filo", "open", "recover", "scan", "write"]
__version__ = "0.1.0"

# The module typing takes longer to import than all others.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import blosc, dataseries, filo
    from ._scan import scan
    from ._write import write

_MODULES = ("blosc", "dataseries", "filo", "numcodecs", "zarr")
_FUNCTIONS = {"scan": "_scan", "write": "_write"}


def __getattr__(name: str) -> "Any":
    # What is rarely used is imported when it is used.
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module("." + _FUNCTIONS[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
