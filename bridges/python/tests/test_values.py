"""Values of Python and numpy as columns, and columns as values of Python."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pilaster
import polars as pl
import pyarrow as pa
import pytest

TIME = dt.datetime(2024, 2, 29, 12, 30, 1, 500000)
UTC = dt.timezone.utc


def back(tmp_path, values, to="vortex"):
    path = tmp_path / f"x.{to}"
    path.unlink(missing_ok=True)
    pilaster.write(path, {"v": values})
    return pilaster.open(path).to_pydict()["v"]


MASKED = [
    (np.ma.MaskedArray(np.arange(4), mask=[0, 1, 0, 0]), [0, None, 2, 3]),
    # A mask does not replace values that are missing anyway.
    (np.ma.MaskedArray(np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[us]"), mask=[0, 0, 1]), [dt.datetime(2020, 1, 1), None, None]),
    (np.ma.MaskedArray(np.array(["2020-01-01", "NaT"], "M8[D]"), mask=[0, 0]), [dt.date(2020, 1, 1), None]),
    (np.ma.MaskedArray(np.arange(6).reshape(3, 2), mask=[[0, 1], [0, 0], [1, 1]]), [[0, None], [2, 3], [None, None]]),
    (np.ma.MaskedArray(np.arange(6).reshape(3, 2), mask=np.ma.nomask), [[0, 1], [2, 3], [4, 5]]),
    (np.ma.MaskedArray(np.arange(6.0).reshape(2, 3).T, mask=[[0, 1], [0, 0], [0, 0]]), [[0, None], [1, 4], [2, 5]]),
    (np.ma.MaskedArray(np.array(["a", "b", "c"]), mask=[0, 1, 0]), ["a", None, "c"]),
    (np.ma.MaskedArray(np.array(["a", None, object()], dtype=object), mask=[0, 0, 1]), ["a", None, None]),
    (np.ma.MaskedArray(np.array([True, False]), mask=[1, 0]), [None, False]),
    (np.ma.MaskedArray(np.arange(3, dtype=">i4"), mask=[0, 0, 1]), [0, 1, None]),
    (np.ma.MaskedArray(np.arange(8)[::2], mask=[0, 0, 1, 0]), [0, 2, None, 6]),
]


@pytest.mark.parametrize("k", range(len(MASKED)))
def test_masked_arrays(k, tmp_path):
    array, wanted = MASKED[k]
    assert back(tmp_path, array) == wanted


LISTS = [
    ([np.int64(1), None, np.uint8(3)], [1, None, 3]),
    ([np.float32(0.5), 1], [0.5, 1.0]),
    ([np.bool_(True), None], [True, None]),
    ([np.datetime64("2024-02-29"), None], [dt.date(2024, 2, 29), None]),
    ([np.datetime64("2024-02-29T12:30:01.5", "ms"), TIME], [TIME, TIME]),
    ([np.str_("a"), "b"], ["a", "b"]),
    ([decimal.Decimal("1.50"), None, decimal.Decimal("-3")], [decimal.Decimal("1.50"), None, decimal.Decimal("-3.00")]),
    ([decimal.Decimal("1E+3"), decimal.Decimal("12345678901234567890123456789012345")], [1000, decimal.Decimal("12345678901234567890123456789012345")]),
    ([dt.time(1, 2, 3, 4), None], [dt.time(1, 2, 3, 4), None]),
    ([2**53, 0.5], [float(2**53), 0.5]),
    ([[np.int64(1)], [None, 2]], [[1], [None, 2]]),
    ([TIME.replace(tzinfo=UTC), TIME.replace(tzinfo=dt.timezone(dt.timedelta(hours=1)))], [TIME.replace(tzinfo=UTC), TIME.replace(tzinfo=UTC) - dt.timedelta(hours=1)]),
]


@pytest.mark.parametrize("k", range(len(LISTS)))
def test_lists(k, tmp_path):
    values, wanted = LISTS[k]
    assert back(tmp_path, values) == wanted


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        # Rounded or moved without a word otherwise.
        ([2**60 + 1, 0.5], ValueError, "row 0 is 1152921504606846977"),
        ([TIME, TIME.replace(tzinfo=UTC)], TypeError, "row 1 is ZonedDatetime"),
        ([TIME.replace(tzinfo=UTC), None, TIME], TypeError, "row 2 is Datetime"),
        ([[TIME], [TIME.replace(tzinfo=UTC)]], TypeError, "row 1 is ZonedDatetime"),
        ([pd.Timestamp(1, unit="ns")], ValueError, "nanoseconds"),
        ([np.datetime64(1, "ns")], ValueError, "nanoseconds"),
        ([pd.NaT], ValueError, "None is a missing one"),
        ([np.datetime64("NaT", "s")], ValueError, "None is a missing one"),
        ([np.timedelta64(1, "s")], pilaster.Error, "Duration.*any_time=True"),
        ([decimal.Decimal("NaN")], ValueError, "row 0 is NaN"),
        ([decimal.Decimal(10**30), decimal.Decimal("1e-30")], ValueError, "at most 38"),
        ([decimal.Decimal(1), 1.5], TypeError, "row 1 is Float"),
        ([dt.time(1, tzinfo=UTC)], TypeError, "time zone"),
    ],
)
def test_wrong_lists(values, error, text, tmp_path):
    with pytest.raises(error, match=text):
        back(tmp_path, values)


def written(tmp_path, array, name="x"):
    path = tmp_path / f"{name}.vortex"
    pilaster.write(path, pa.table({"v": array}))
    return pilaster.open(path)


TIMES = [
    # One of them has nanoseconds, so all are counts.
    (pa.array([0, None, 1_000, 1_001], pa.timestamp("ns")), [0, None, 1_000, 1_001]),
    (pa.array([0, None, 1_000], pa.timestamp("ns")), [dt.datetime(1970, 1, 1), None, dt.datetime(1970, 1, 1, microsecond=1)]),
    (pa.array([0, 253_402_300_800], pa.timestamp("s")), [0, 253_402_300_800]),
    (pa.array([-62_135_596_800, 253_402_300_799], pa.timestamp("s")), [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)]),
    (pa.array([-62_135_596_800], pa.timestamp("s", "+01:00")), [-62_135_596_800]),
    (pa.array([0], pa.timestamp("s", "+01:00")), [dt.datetime(1970, 1, 1, tzinfo=UTC)]),
    (pa.array([0, 3_000_000], pa.date32()), [0, 3_000_000]),
    (pa.array([1, 1_000], pa.time64("ns")), [1, 1_000]),
    (pa.array([1_000], pa.time64("ns")), [dt.time(microsecond=1)]),
    (pa.array([[0, 1], [1_000]], pa.list_(pa.timestamp("ns"))), [[0, 1], [1_000]]),
    (pa.array([[0], [1_000]], pa.list_(pa.timestamp("ns"))), [[dt.datetime(1970, 1, 1)], [dt.datetime(1970, 1, 1, microsecond=1)]]),
]


@pytest.mark.parametrize("k", range(len(TIMES)))
def test_times_of_a_column_have_one_type(k, tmp_path):
    array, wanted = TIMES[k]
    file = written(tmp_path, array)
    assert file.to_pydict() == {"v": wanted}
    assert next(iter(file)).to_pydict() == {"v": wanted}
    assert list(file.to_numpy("v")) == wanted or file.to_numpy("v").dtype.kind == "M"


def test_times_of_several_batches_have_one_type(tmp_path):
    path = tmp_path / "x.vortex"
    pilaster.write(path, pa.table({"v": pa.array([0, 1_000, 1], pa.timestamp("ns"))}))
    file = pilaster.open(path, batch_rows=1)
    assert len(list(file)) == 3 and file.to_pydict() == {"v": [0, 1_000, 1]}


def test_unknown_zones(tmp_path):
    file = written(tmp_path, pa.array([0], pa.timestamp("s", "Mars/Olympus")))
    with pytest.raises(pilaster.Error, match="Mars/Olympus") as caught:
        file.to_pydict()
    assert caught.value.kind == "Unsupported"


def test_an_empty_dictionary(tmp_path):
    """All values are missing."""
    dictionary = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.array([], pa.string()))
    pilaster.write(tmp_path / "x.vortex", pa.table({"v": dictionary}))
    for dictionaries in (False, True):
        assert pilaster.open(tmp_path / "x.vortex", dictionaries=dictionaries).to_pydict() == {"v": [None, None]}


def test_columns_of_the_same_name(tmp_path):
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([3, 4])], names=["a", "b", "a"])
    pilaster.write(tmp_path / "x.vortex", table)
    file = pilaster.open(tmp_path / "x.vortex")
    assert file.columns == ["a", "b", "a"] and pa.table(file).num_columns == 3
    for attempt in (
        file.to_pydict,
        next(iter(file)).to_pydict,
        lambda: file.select("a"),
        lambda: file.select(["b", "a"]),
        lambda: file.select("b", where=("a", ">", 1)),
        lambda: file.select(where=("a", ">", 1)),
        lambda: file.to_numpy("a"),
        lambda: pilaster.open(tmp_path / "x.vortex", columns=["a"]),
    ):
        with pytest.raises(pilaster.Error, match='column "a"'):
            attempt()
    assert file.select("b", where=("b", "==", "x")).to_pydict() == {"b": ["x"]}
    assert file.select(where=("b", "==", "x")).to_arrow().num_rows == 1
    with pytest.raises(pilaster.Error, match='column "b"'):
        file.select(["b", "b"]).to_pydict()


def test_what_is_no_table(tmp_path):
    for data, text in [
        (pl.Series("v", [1]), "to_frame"),
        (pl.LazyFrame({"v": [1]}), "collect"),
        (pd.Series([1], name="v"), "table"),
        (pa.chunked_array([[1]]), "table"),
    ]:
        with pytest.raises(TypeError, match=text):
            pilaster.write(tmp_path / "x.vortex", data)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "dtype", [pl.Null, pl.List(pl.Null), pl.Struct({"a": pl.Int64, "b": pl.Null}), pl.List(pl.Struct({"a": pl.List(pl.Null)})), pl.Array(pl.Null, 2)]
)
def test_null_inside_of_types_of_polars(dtype, tmp_path):
    frame = pl.DataFrame({"a": [1], "v": pl.Series([None], dtype=dtype)})
    with pytest.raises(pilaster.Error, match='column "v"') as caught:
        pilaster.write(tmp_path / "x.vortex", frame)
    assert caught.value.kind == "Unsupported" and not list(tmp_path.iterdir())
