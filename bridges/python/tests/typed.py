"""A caller whose types are checked, and which is not run."""

import pathlib
from typing import Any, assert_type

import numpy as np
import pilaster
import polars as pl

file = pilaster.open(pathlib.Path("x.jay"), columns=["k"], rows=10, where=[("k", ">", 3)])
assert_type(file, pilaster.File)
assert_type(file.tables, list[str])
assert_type(file.schema, pilaster.Schema)
assert_type(file.to_pydict(), dict[str, list[Any]])
assert_type(file.to_polars(), pl.DataFrame)
assert_type([len(batch) for batch in file], list[int])
assert_type(file.num_rows, int)
assert_type(pilaster.write("x.vortex", file, progress=True, encodings="compact", zone_rows=1024), int)
assert_type(pilaster.write(pathlib.Path("x.ds"), file, compress=("lz4", "lzf")), int)
assert_type(pilaster.scan("x.vortex", columns=["k"], rows=(0, 10), where=("k", ">", 3)).collect(), pl.DataFrame)
assert_type(pilaster.recover(b"", "x.ds", types=pathlib.Path("y.ds"), order="big"), dict[str, Any])
pilaster.scan("x.vortex", colums=["k"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
# Arrays of numpy are buffers.
array = np.arange(10)
assert_type(pilaster.open(array), pilaster.File)
assert_type(pilaster.blosc.compress(array), bytes)
assert_type(pilaster.blosc.decompress_into(array, array), int)
assert_type(pilaster.blosc.decompress(array), bytes)
assert_type(pilaster.blosc.decompress(pilaster.blosc.compress(b"abc")), bytes)
try:
    file.verify()
except pilaster.Error as e:
    assert_type(e.kind, str)
    assert_type(e.offset, int | None)
with pilaster.dataseries.Logger("x.ds", "Reading", kinds={"time": "int"}) as log:
    log.append(time=1)
