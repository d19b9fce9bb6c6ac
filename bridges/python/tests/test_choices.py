"""Rows, conditions and hints: what is chosen, and what is refused."""

import datetime as dt
import io
import mmap

import conftest
import numpy as np
import pandas as pd
import pilaster
import polars as pl
import pyarrow as pa
import pytest

UTC = dt.timezone.utc
NANOS = 1_709_210_000_123_456_789


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("choices") / "x.vortex"
    n = 200_000
    pilaster.write(path, {"a": np.arange(n), "b": np.arange(n) % 7})
    return path


@pytest.mark.parametrize(
    ("before", "then", "wanted"),
    [
        ((100, 200), 3, (100, 103)),
        ((100, 200), (10, 20), (110, 120)),
        ((100, 200), (50, None), (150, 200)),
        ((100, 200), (50, 500), (150, 200)),
        ((100, 200), (150, 170), (200, 200)),
        ((100, None), (5, 6), (105, 106)),
        (None, (5, 6), (5, 6)),
        ((199_990, 300_000), (5, 100), (199_995, 200_000)),
    ],
)
def test_rows_of_rows(before, then, wanted, path):
    file = pilaster.open(path, columns="a", rows=before).select(rows=then)
    assert file.to_pydict()["a"] == list(range(*wanted)) and file.num_rows == wanted[1] - wanted[0]


def test_limits_of_scans(path):
    """A limit counts what the options of the scan have left."""
    heads = [({"rows": (100, 200)}, [100, 101, 102]), ({"where": [("a", ">", 1000)]}, [1001, 1002, 1003])]
    heads += [({"where": ("a", ">", 1000)}, [1001, 1002, 1003]), ({"rows": (100, 102)}, [100, 101])]
    heads += [({"rows": (990, 1003), "where": [("a", ">", 1000)]}, [1001, 1002])]
    for options, wanted in heads:
        for trust in (False, True):
            lazy = pilaster.scan(path, trust_statistics=trust, **options)
            assert lazy.head(3).collect()["a"].to_list() == wanted
            assert lazy.slice(1, 2).collect()["a"].to_list() == wanted[1:3]
            assert lazy.filter(pl.col("a") >= 0).head(3).collect()["a"].to_list() == wanted
            assert lazy.select("b").head(3).collect().height == len(wanted)
            assert lazy.collect().equals(pilaster.open(path, **options).to_polars())


def times(tmp_path, unit, zone=None, counts=(NANOS - 1, NANOS, NANOS + 1, None)):
    path = tmp_path / "times.vortex"
    pilaster.write(path, pa.table({"t": pa.array(counts, pa.timestamp(unit, zone)), "k": range(len(counts))}))
    return path


LITERALS = [
    np.datetime64(NANOS, "ns"),
    pd.Timestamp(NANOS, unit="ns"),
    NANOS,
]


@pytest.mark.parametrize("k", range(len(LITERALS)))
def test_nanoseconds(k, tmp_path):
    path = times(tmp_path, "ns")
    found = {op: pilaster.open(path, where=("t", op, LITERALS[k])).to_pydict()["k"] for op in ("==", "<", "<=", ">", ">=", "!=")}
    assert found == {"==": [1], "<": [0], "<=": [0, 1], ">": [2], ">=": [1, 2], "!=": [0, 2]}
    assert pilaster.open(path, where=("t", "in", [LITERALS[k]])).to_pydict()["k"] == [1]
    if k < 2:
        # A column of microseconds has no such time.
        with pytest.raises(ValueError, match="more digits"):
            pilaster.open(times(tmp_path, "us", counts=[1]), where=("t", "==", LITERALS[k]))


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "25s", "10ns"])
@pytest.mark.parametrize("of", ["s", "ms", "us", "ns"])
def test_units_of_numpy(unit, of, tmp_path):
    literal = np.datetime64({"10ns": 3_000_000_000, "ps": 3_000, "as": 3_000_000}.get(unit, 30), unit)
    count = int(literal.astype(f"M8[{of}]").astype("i8"))
    if literal != literal.astype(f"M8[{of}]"):
        with pytest.raises(ValueError, match="more digits"):
            pilaster.open(times(tmp_path, of, counts=[count]), where=("t", "==", literal))
        return
    file = pilaster.open(times(tmp_path, of, counts=[count - 1, count, count + 1]), where=("t", "==", literal))
    assert file.to_pydict()["k"] == [1]


def test_dates(tmp_path):
    pilaster.write(tmp_path / "x.vortex", {"d": np.array(["2024-02-28", "2024-02-29"], "M8[D]"), "k": np.arange(2)})
    for literal in (np.datetime64("2024-02-29"), dt.date(2024, 2, 29)):
        assert pilaster.open(tmp_path / "x.vortex", where=("d", "==", literal)).to_pydict()["k"] == [1]


@pytest.mark.parametrize("literal", [np.datetime64("NaT", "s"), pd.NaT, np.timedelta64(1, "ns"), dt.timedelta(1), object()])
def test_literals_that_are_no_values(literal, tmp_path):
    with pytest.raises((TypeError, ValueError)):
        pilaster.open(times(tmp_path, "ns"), where=("t", "==", literal))


def test_zones(tmp_path):
    """A time with an offset is compared with a column that has a zone, and with no other one."""
    naive, zoned = dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 2, 29, 13, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    counts = [int(zoned.timestamp()) - 1, int(zoned.timestamp())]
    with_zone, without = times(tmp_path, "s", "Europe/Zurich", counts), tmp_path / "naive.vortex"
    without = times(tmp_path, "s", None, counts).rename(without)
    with_zone = times(tmp_path, "s", "Europe/Zurich", counts)
    for path, right, wrong in [(with_zone, zoned, naive), (without, naive, zoned)]:
        for literal in (right, pd.Timestamp(right)):
            assert pilaster.open(path, where=("t", "==", literal)).to_pydict()["k"] == [1]
        for literal in (wrong, pd.Timestamp(wrong)):
            with pytest.raises(TypeError, match="time zone"):
                pilaster.open(path, where=("t", "==", literal))
    for literal in (dt.date(2024, 2, 29), np.datetime64("2024-02-29T12:00:00")):
        with pytest.raises(TypeError, match="time zone"):
            pilaster.open(with_zone, where=("t", "==", literal))


def test_errors_of_one_condition(path):
    """The error is about the condition, not about lists of conditions."""
    with pytest.raises(ValueError, match="no operator '~'|no operator \"~\""):
        pilaster.open(path, where=("a", "~", 1))
    with pytest.raises(TypeError, match="cannot compare with object"):
        pilaster.open(path, where=("a", "==", object()))
    with pytest.raises(TypeError, match="column, operator, value"):
        pilaster.open(path, where=("a", "=="))
    assert pilaster.open(path, where=(("a", "<", 2), ("b", "<", 1))).to_pydict() == {"a": [0], "b": [0]}


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("examples/data/keyed_1.jay", {"sequential": True}, "DataSeries files; this is jay"),
        ("examples/data/tiny.ds", {"tolerant": True}, "Jay files"),
        ("examples/data/tiny.ds", {"type": "int"}, "Filo vectors"),
        ("examples/data/def_one_row_a.vortex", {"tolerant": True}, "Jay files"),
        ("examples/data/def_one_row_a.vortex", {"sequential": True}, "DataSeries files"),
        ("examples/data/keyed_1.jay", {"batch_rows": 0}, "batch_rows=0"),
        ("examples/data/keyed_1.jay", {"threads": 0}, "threads=0"),
    ],
)
def test_hints_that_a_format_lacks(name, options, text):
    for source in (name, (conftest.ROOT / name).read_bytes(), io.BytesIO((conftest.ROOT / name).read_bytes())):
        with pytest.raises(ValueError, match=text) as caught:
            pilaster.open(source, **options)
        assert not isinstance(caught.value, pilaster.Error)
    pilaster.open("examples/data/keyed_1.jay", tolerant=True, batch_rows=1, threads=1)
    pilaster.open("examples/data/tiny.ds", sequential=True)


def test_hints_of_datasets(tmp_path):
    pilaster.write(tmp_path / "x.bcolz", {"a": np.arange(3)})
    for options, text in [({"format": "jay"}, "format="), ({"type": "<i4"}, "Filo vectors"), ({"sequential": True}, "DataSeries")]:
        with pytest.raises(ValueError, match=text + ".*bcolz dataset"):
            pilaster.open(tmp_path / "x.bcolz", **options)
    for options in ({"tolerant": True}, {"format": "bcolz"}):
        assert pilaster.open(tmp_path / "x.bcolz", **options).num_rows == 3


def test_a_file_has_no_length(path):
    """Iteration gives batches, so a length in rows would be that of something else."""
    file = pilaster.open(path)
    with pytest.raises(TypeError):
        len(file)
    assert bool(file) and file.num_rows == 200_000 == sum(len(batch) for batch in file)
    assert pilaster.open(path, where=("a", "<", 3)).num_rows == 200_000
