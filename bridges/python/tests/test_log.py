"""Logs of DataSeries: rows that are missing, of other kinds, or too late."""

import datetime as dt
import os

import numpy as np
import pilaster
import pytest
from pilaster.dataseries import _KINDS, Logger

TIME = dt.datetime(2024, 2, 29, 12, 30, 1, 500000)


def rows(path):
    columns = pilaster.open(path).to_pydict()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


@pytest.mark.parametrize("extent_rows", [1, 2, 3, 100])
def test_missing_values_in_any_row(extent_rows, tmp_path):
    """The first extent has none, or all of a column are missing in it."""
    given = [
        {"a": 1, "late": None, "s": "x"},
        {"a": None, "late": None, "s": None},
        {"a": 3, "late": None, "s": ""},
        {"a": 4, "late": 0.5, "s": None},
        {"a": None, "late": None, "s": "y"},
    ]
    path = tmp_path / "x.ds"
    with Logger(path, extent_rows=extent_rows) as log:
        for row in given:
            log.append(**row)
    wanted = [row | {"s": row["s"] if row["s"] is None else row["s"].encode()} for row in given]
    assert rows(path) == wanted and pilaster.open(path).verify()["rows"] == 5


def test_no_value_at_all(tmp_path):
    with Logger(tmp_path / "x.ds", extent_rows=1) as log:
        log.append(a=None, b=1)
        log.append(a=None, b=2)
    assert rows(tmp_path / "x.ds") == [{"a": None, "b": 1}, {"a": None, "b": 2}]


def test_kinds(tmp_path):
    values = dict(zip(_KINDS, (True, -3, 2.5, "text", b"bytes", TIME.date(), TIME, TIME.replace(tzinfo=dt.timezone.utc))))
    assert len(values) == len(_KINDS)
    for kind, value in values.items():
        path = tmp_path / f"{kind}.ds"
        with Logger(path, extent_rows=2, kinds={"v": kind}) as log:
            log.append(v=None)
            log.append(v=None)
            # The first extent is written, without any value.
            assert path.stat().st_size > 0
            log.append(v=value)
        (*none, got) = pilaster.open(path).to_pydict()["v"]
        assert none == [None, None]
        if kind in ("bool", "int", "float", "bytes"):
            assert got == value
    with pytest.raises(ValueError, match="no kinds"):
        Logger(tmp_path / "y.ds", kinds={"v": "str"})
    with pytest.raises(TypeError, match="does not have"):
        Logger(tmp_path / "y.ds", kinds={"v": "int"}).append(w=1)


def test_integers_in_columns_of_floats(tmp_path):
    with Logger(tmp_path / "x.ds", extent_rows=2) as log:
        log.append(v=1)
        log.append(v=2.5)
        log.append(v=3)
        with pytest.raises(ValueError, match="no float"):
            log.append(v=2**60 + 1)
    assert rows(tmp_path / "x.ds") == [{"v": 1.0}, {"v": 2.5}, {"v": 3.0}]


@pytest.mark.parametrize(
    "wrong", ["text", 2.5, 2**63, True, [1], {"a": 1}, object(), dt.datetime(2020, 1, 1), "\ud800", np.timedelta64(1, "s")]
)
def test_rows_that_do_not_fit_are_left_out(wrong, tmp_path):
    """The error is that of the row; the log goes on, and keeps all others."""
    path = tmp_path / "x.ds"
    with Logger(path, extent_rows=2) as log:
        log.append(v=1, w=1.5)
        log.append(v=2, w=None)
        for _ in range(3):
            with pytest.raises((TypeError, ValueError)):
                log.append(v=wrong, w=0.5)
        with pytest.raises(TypeError, match="after columns"):
            log.append(v=1)
        log.append(v=np.int64(3), w=np.float32(0.5))
    assert rows(path) == [{"v": 1, "w": 1.5}, {"v": 2, "w": None}, {"v": 3, "w": 0.5}]


def test_the_log_is_closed_after_an_error(tmp_path):
    path = tmp_path / "x.ds"
    with pytest.raises(RuntimeError):
        with Logger(path, extent_rows=2) as log:
            log.append(v=1)
            log.append(v=2)
            log.append(v=3)
            raise RuntimeError
    assert pilaster.open(path).to_pydict() == {"v": [1, 2, 3]}


def test_no_file_stays_after_an_error(tmp_path):
    log = Logger(tmp_path / "no" / "x.ds", extent_rows=1)
    with pytest.raises(FileNotFoundError):
        log.append(v=1)
    with pytest.raises(ValueError, match="at least 1"):
        Logger(tmp_path / "x.ds", extent_rows=0)
    with pytest.raises(ValueError, match="compress="):
        Logger(tmp_path / "x.ds", compress="gzip")
    assert not os.listdir(tmp_path)


def test_buffers_that_change(tmp_path):
    value = bytearray(b"abc")
    with Logger(tmp_path / "x.ds") as log:
        log.append(v=value)
        value[:] = b"xyz"
    assert pilaster.open(tmp_path / "x.ds").to_pydict() == {"v": [b"abc"]}
