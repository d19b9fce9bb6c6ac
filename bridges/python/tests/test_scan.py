"""Lazy frames of polars, and queries of duckdb."""

import datetime as dt

import duckdb
import numpy as np
import pilaster
import polars as pl
import pytest


@pytest.fixture(scope="module")
def frame():
    n = 200_000
    start = dt.datetime(2020, 1, 1)
    return pl.DataFrame(
        {
            "a": np.arange(n),
            "u": np.arange(n, dtype="u4"),
            "f": [float("nan") if i % 1000 == 0 else i / 3 for i in range(n)],
            "s": [f"{i:06}" if i % 5 else None for i in range(n)],
            "t": [start + dt.timedelta(seconds=i) for i in range(n)],
            "d": [(start + dt.timedelta(days=i // 1000)).date() for i in range(n)],
            "b": np.arange(n) > n // 2,
        }
    )


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "x.vortex"
    pilaster.write(path, frame)
    return path


C = pl.col
PREDICATES = [
    C("a") > 199_000,
    (C("a") >= 5) & (C("a") < 10),
    C("a").is_between(5, 7),
    C("a").is_between(5, 7, closed="none"),
    5 > C("a"),
    C("u") == 77,
    C("a").is_in([3, 199_999]),
    (C("a") < 3) | (C("a") > 199_998),
    C("f") > 66_000,
    C("f").is_nan() & (C("a") < 5000),
    C("s") == "000007",
    C("s") > "199990",
    C("s").is_null() & (C("a") > 199_990),
    C("t") > dt.datetime(2020, 1, 3, 7, 33),
    C("d") == dt.date(2020, 7, 1),
    C("b") & (C("a") < 100_010),
    ~C("b") & (C("a") > 99_990),
    C("a") * 2 == 8,
    C("a").cast(pl.String) == "12",
    C("s").str.starts_with("19999"),
]


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("k", range(len(PREDICATES)))
def test_predicates(k, trust, path, frame):
    lazy = pilaster.scan(path, trust_statistics=trust)
    assert lazy.filter(PREDICATES[k]).collect().equals(frame.filter(PREDICATES[k]))
    assert lazy.filter(PREDICATES[k]).select("u", "a").collect().equals(frame.filter(PREDICATES[k]).select("u", "a"))
    assert lazy.filter(PREDICATES[k]).head(3).collect().equals(frame.filter(PREDICATES[k]).head(3))


def test_limits_and_sums(path, frame):
    lazy = pilaster.scan(path)
    assert lazy.head(5).collect().equals(frame.head(5))
    assert lazy.select("s").collect().equals(frame.select("s"))
    assert lazy.select(pl.len()).collect().item() == len(frame)
    assert lazy.collect_schema() == frame.schema
    assert lazy.group_by("b").agg(C("a").sum()).sort("b").collect().equals(frame.group_by("b").agg(C("a").sum()).sort("b"))
    assert lazy.collect(engine="streaming").equals(frame)


def test_zones_are_not_read(path):
    """With statistics, conditions on one value read few rows."""
    from pilaster import _scan

    schema = pilaster.open(path).select(rows=0).to_polars().schema
    for predicate, count in [(PREDICATES[1], 2), (PREDICATES[2], 2), (PREDICATES[4], 1), (PREDICATES[13], 1), (PREDICATES[14], 1), (PREDICATES[8], 0)]:
        found = _scan._conditions(predicate, schema)
        assert len(found) == count, predicate
    conditions = _scan._conditions((C("a") > 100_000) & (C("a") < 100_005), schema)
    batches = list(pilaster.open(path, trust_statistics=True, where=conditions).batches())
    assert sum(len(batch) for batch in batches) == 4


def test_empty_and_damaged(tmp_path):
    pilaster.write(tmp_path / "x.jay", {"a": np.arange(0)})
    assert pilaster.scan(tmp_path / "x.jay").filter(C("a") > 3).collect().height == 0
    with pytest.raises(pilaster.Error):
        pilaster.scan(b"JAY1\0\0\0\0")


def test_duckdb(path, frame):
    file = pilaster.open(path, columns=["a", "s"])
    found = duckdb.sql("select count(*), sum(a), min(s) from file where a % 2 = 0").fetchall()
    assert found == [(100_000, int(frame["a"].filter(frame["a"] % 2 == 0).sum()), frame.filter(C("a") % 2 == 0)["s"].min())]
