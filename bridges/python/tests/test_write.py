"""Writing, and what comes back."""

import contextlib
import datetime as dt
import decimal
import errno
import os
import pathlib
import stat
import sys
import tempfile
import types

import conftest
import duckdb
import numpy as np
import pandas as pd
import pilaster
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_series_equal

FORMATS = ("vortex", "jay", "ds", "bcolz", "filo")

TIME = dt.datetime(2024, 2, 29, 12, 30, 1, 500000)

# One column for every type of polars.
POLARS = {
    "Int8": pl.Series([1, None, -127], dtype=pl.Int8),
    "Int16": pl.Series([1, None, 300], dtype=pl.Int16),
    "Int32": pl.Series([1, None, 70000], dtype=pl.Int32),
    "Int64": pl.Series([1, None, 2**40], dtype=pl.Int64),
    "UInt8": pl.Series([1, None, 255], dtype=pl.UInt8),
    "UInt16": pl.Series([1, None, 65535], dtype=pl.UInt16),
    "UInt32": pl.Series([1, None, 2**32 - 1], dtype=pl.UInt32),
    "UInt64": pl.Series([1, None, 2**63 - 1], dtype=pl.UInt64),
    "Float32": pl.Series([1.5, None, -0.0], dtype=pl.Float32),
    "Float64": pl.Series([1.5, None, 1e300], dtype=pl.Float64),
    "Boolean": pl.Series([True, None, False]),
    "String": pl.Series(["a", None, "a longer text than twelve bytes, é"]),
    "Binary": pl.Series([b"a", None, b"\xff\0 a longer one than twelve"]),
    "Categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "Enum": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
    "Date": pl.Series([dt.date(2024, 2, 29), None, dt.date(1969, 12, 31)]),
    "Time": pl.Series([dt.time(1, 2, 3), None, dt.time(0)]),
    "Datetime(ms)": pl.Series([TIME, None, TIME], dtype=pl.Datetime("ms")),
    "Datetime(us)": pl.Series([TIME, None, TIME], dtype=pl.Datetime("us")),
    "Datetime(ns)": pl.Series([TIME, None, TIME], dtype=pl.Datetime("ns")),
    "Datetime(us, zone)": pl.Series([TIME, None, TIME], dtype=pl.Datetime("us", "Europe/Zurich")),
    "Duration": pl.Series([dt.timedelta(seconds=3), None, dt.timedelta(0)]),
    "Decimal": pl.Series([decimal.Decimal("1.50"), None, decimal.Decimal("-3.25")], dtype=pl.Decimal(10, 2)),
    "Decimal(38)": pl.Series([decimal.Decimal("1.50"), None, decimal.Decimal("-3.25")], dtype=pl.Decimal(38, 2)),
    "List": pl.Series([[1, None], None, []], dtype=pl.List(pl.Int64)),
    "List of String": pl.Series([["a", None], None, []], dtype=pl.List(pl.String)),
    "Array": pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int32, 2)),
    "Struct": pl.Series([{"a": 1, "b": "x"}, {"a": None, "b": "y"}, {"a": 3, "b": None}]),
    "Map": pl.Series([{"a": 1}, None, {}], dtype=pl.Map(pl.String, pl.Int64)),
    "Null": pl.Series([None, None, None], dtype=pl.Null),
}

# What each format does with each type: what comes back has the same type and values (=), the same values in another type (as), or the
# column is refused by name (no), or only `any_time=True` stores it, as integers or without its time zone (any). Columns without
# missing values; a second word stands for columns with some, if it differs.
EXPECTED = {
    #                     vortex jay    ds      bcolz   filo
    "Int8":               ("=", "=", "as", "= no", "as"),
    "Int16":              ("=", "=", "as", "= no", "as"),
    "Int32":              ("=", "=", "=", "= no", "="),
    "Int64":              ("=", "=", "=", "= no", "="),
    "UInt8":              ("=", "as", "=", "= no", "as"),
    "UInt16":             ("=", "as", "as", "= no", "as"),
    "UInt32":             ("=", "as", "as", "= no", "as"),
    "UInt64":             ("=", "as", "as", "= no", "no"),
    "Float32":            ("=", "=", "as", "= no", "="),
    "Float64":            ("=", "=", "=", "= no", "="),
    "Boolean":            ("=", "=", "=", "= no", "="),
    "String":             ("=", "=", "bytes", "= no", "="),
    "Binary":             ("=", "no", "=", "= no", "="),
    "Categorical":        ("as", "as", "bytes", "as no", "as"),
    "Enum":               ("as", "as", "bytes", "as no", "as"),
    "Date":               ("=", "=", "any", "as", "no"),
    "Time":               ("=", "no", "any", "no", "no"),
    "Datetime(ms)":       ("=", "any", "as", "=", "="),
    "Datetime(us)":       ("=", "any", "as", "=", "no"),
    "Datetime(ns)":       ("=", "=", "as", "=", "no"),
    "Datetime(us, zone)": ("=", "any", "any", "any", "no"),
    "Duration":           ("any", "any", "any", "any no", "any"),
    "Decimal":            ("=", "no", "no", "no", "no"),
    "Decimal(38)":        ("=", "no", "no", "no", "no"),
    "List":               ("=", "=", "no", "no", "no"),
    "List of String":     ("=", "=", "no", "no", "no"),
    "Array":              ("=", "as", "no", "=", "no"),
    "Struct":             ("=", "no", "no", "no", "no"),
    "Null":               ("no", "no", "no", "no", "no"),
    "Map":                ("as", "no", "no", "no", "no"),
}  # fmt: skip


def test_every_type_is_listed():
    kinds = {name.split("(")[0].split(" ")[0] for name in POLARS}
    # Int128, UInt128 and Float16 have no type of Arrow, or one that few know; Object and Unknown are not columns of values.
    skipped = {"Int128", "UInt128", "Float16", "Object", "Unknown", "Utf8", "Field"}
    classes = {name for name in dir(pl) if isinstance(getattr(pl, name), type) and issubclass(getattr(pl, name), pl.DataType)}
    classes -= {"DataType", "BaseExtension", "Extension"}
    assert classes - skipped <= kinds, classes - skipped - kinds
    assert POLARS.keys() == EXPECTED.keys()


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", POLARS)
@pytest.mark.parametrize("missing", [False, True])
def test_polars(name, to, missing, tmp_path):
    values = POLARS[name].rename("v")
    if not missing:
        values = values.drop_nulls() if values.dtype != pl.Null else values
    what = EXPECTED[name][FORMATS.index(to)].split(" ")
    what = what[-1] if missing else what[0]
    path = tmp_path / ("x." + to)
    if what in ("no", "any"):
        with pytest.raises(pilaster.Error, match='"v"') as caught:
            pilaster.write(path, values.to_frame())
        assert not path.exists() and caught.value.kind and not list(tmp_path.iterdir())
        assert ("any_time=True" in str(caught.value)) == (what == "any" or name == "Duration"), caught.value
        if what == "no":
            return
    if name == "Duration":
        assert pilaster.write(path, values.to_frame(), any_time=True) == len(values)
        back = pilaster.open(path, type="long" if to == "filo" else None).to_polars().to_series()
        assert back.to_list() == values.to_physical().to_list()
        return
    assert pilaster.write(path, values.to_frame(), any_time=what == "any") == len(values)
    element = {"Int8": "int", "Int16": "int", "Int32": "int", "UInt8": "int", "UInt16": "int", "Int64": "long", "UInt32": "long",
               "Float32": "float", "Float64": "double", "Boolean": "boolean", "Binary": "blob", "Datetime(ms)": "timestamp"}  # fmt: skip
    back = pilaster.open(path, type=element.get(name, "utf8") if to == "filo" else None).to_polars().to_series()
    if what == "=":
        assert_series_equal(back, values)
    elif what == "bytes":
        assert back.cast(pl.String).to_list() == values.cast(pl.String).to_list()
    elif name.startswith(("Datetime", "Date")) and back.dtype.is_integer():
        assert back.to_list() == values.to_physical().to_list()
    elif name.startswith("Datetime") and to == "jay":
        assert back.to_list() == values.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_list() if "zone" in name else values.to_list()
    elif name == "Datetime(us, zone)":
        assert back.to_list() == values.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_list()
    elif name in ("Date", "Time"):
        got = back.cast(pl.Date).to_list() if name == "Date" else back.cast(pl.Int64).to_list()
        assert got == (values.to_list() if name == "Date" else values.to_physical().to_list())
    else:
        wanted = values.cast(pl.String) if name in ("Categorical", "Enum") else values
        assert back.to_list() == wanted.to_list()


PANDAS = {
    "int64": pd.Series([1, 2, 3]),
    "Int32": pd.Series([1, None, 3], dtype="Int32"),
    "uint8": pd.Series([1, 2, 3], dtype="uint8"),
    "float64": pd.Series([1.5, np.nan, 3]),
    "Float32": pd.Series([1.5, None, 3], dtype="Float32"),
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, None, True], dtype="boolean"),
    "str": pd.Series(["a", None, "c"], dtype="str"),
    "string": pd.Series(["a", None, "c"], dtype="string[pyarrow]"),
    "category": pd.Series(["a", "b", "a"], dtype="category"),
    "datetime64[ns]": pd.Series(pd.to_datetime(["2024-02-29", None, "2000-01-01"])).astype("M8[ns]"),
    "datetime64[us]": pd.Series(pd.to_datetime(["2024-02-29", None, "2000-01-01"])).astype("M8[us]"),
    "datetime64[ns, zone]": pd.Series(pd.to_datetime(["2024-02-29", "2000-01-01"])).dt.tz_localize("Europe/Zurich"),
    "timedelta64[ns]": pd.Series(pd.to_timedelta([1, 2], "s")),
    "arrow list": pd.Series([[1], [2, 3]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "arrow date": pd.Series([dt.date(2024, 2, 29), None], dtype=pd.ArrowDtype(pa.date32())),
    "arrow decimal": pd.Series([decimal.Decimal("1.5")], dtype=pd.ArrowDtype(pa.decimal128(5, 1))),
    "arrow binary": pd.Series([b"a", None], dtype=pd.ArrowDtype(pa.binary())),
}


# What comes back from each format: the same frame (=), the same values in another type (as), texts as bytes, times and dates as
# integers (counts), times of a zone in UTC without it (utc), or nothing (no). bcolz has missing times only. What takes
# `any_time=True` has a plus.
PANDAS_EXPECTED = {
    #                        vortex jay   ds       bcolz
    "int64":                ("=",  "=",  "=",      "="),
    "Int32":                ("as", "as", "as",     "no"),
    "uint8":                ("=",  "as", "=",      "="),
    "float64":              ("=",  "=",  "=",      "no"),
    "Float32":              ("as", "as", "as",     "no"),
    "bool":                 ("=",  "=",  "=",      "="),
    "boolean":              ("as", "as", "as",     "no"),
    "str":                  ("=",  "=",  "bytes",  "no"),
    "string":               ("as", "as", "bytes",  "no"),
    "category":             ("as", "as", "bytes",  "as"),
    "datetime64[ns]":       ("=",  "=",  "counts", "="),
    "datetime64[us]":       ("=",  "+as", "counts", "="),
    "datetime64[ns, zone]": ("=",  "+utc", "+counts", "+utc"),
    "timedelta64[ns]":      ("+counts", "+counts", "+counts", "+counts"),
    "arrow list":           ("as", "as", "no",     "no"),
    "arrow date":           ("as", "as", "+counts", "counts"),
    "arrow decimal":        ("as", "no", "no",     "no"),
    "arrow binary":         ("as", "no", "as",     "no"),
}  # fmt: skip


@pytest.mark.parametrize("to", FORMATS[:4])
@pytest.mark.parametrize("name", PANDAS)
def test_pandas(name, to, tmp_path):
    frame, what = PANDAS[name].to_frame("v"), PANDAS_EXPECTED[name][FORMATS.index(to)]
    path = tmp_path / ("x." + to)
    any_time, what = what.startswith("+"), what.removeprefix("+")
    if what == "no" or any_time:
        with pytest.raises(pilaster.Error, match='"v".*any_time=True' if any_time else '"v"'):
            pilaster.write(path, frame)
        assert not list(tmp_path.iterdir())
        if what == "no":
            return
    assert pilaster.write(path, frame, any_time=any_time) == len(frame)
    back, expected = pilaster.open(path), pa.table(frame)["v"].combine_chunks()
    if what == "=":
        pd.testing.assert_frame_equal(back.to_pandas(), frame)
    if what == "counts":
        expected = expected.cast(pa.int32() if pa.types.is_date(expected.type) else pa.int64())
    values = (expected.dictionary_decode() if name == "category" else expected).to_pylist()
    if what == "bytes":
        values = [value and value.encode() for value in values]
    elif what == "utc":
        values = [value.astimezone(dt.timezone.utc).replace(tzinfo=None) for value in values]
    assert pa.table(back)["v"].to_pylist() == values
    assert back.to_pandas()["v"].isna().tolist() == frame["v"].isna().tolist()


def test_streams(tmp_path):
    columns = {"a": [1, 2], "s": ["x", "y"]}
    table = pa.table(columns)
    sources = [
        table,
        table.to_reader(),
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        duckdb.sql("select unnest([1, 2]) as a, unnest(['x', 'y']) as s"),
        columns,
        {"a": np.array([1, 2]), "s": np.array(["x", "y"], dtype=object)},
    ]
    for k, source in enumerate(sources):
        path = tmp_path / f"{k}.vortex"
        assert pilaster.write(path, source) == 2
        assert pilaster.open(path).to_pydict() == columns
    assert pilaster.write(tmp_path / "again.jay", pilaster.open(tmp_path / "0.vortex")) == 2


def test_lists(tmp_path):
    rows = {
        "int": [1, None, -3],
        "large": [1, None, 2**63],
        "float": [1, 2.5, None],
        "text": ["a", None, ""],
        "bytes": [b"a", None, b""],
        "bool": [True, None, False],
        "date": [dt.date(2024, 2, 29), None, dt.date(1, 1, 1)],
        "time": [TIME, None, dt.datetime(1, 1, 1)],
        "zone": [TIME.replace(tzinfo=dt.timezone.utc), None, None],
        "list": [[1, None], None, []],
        "dict": [{"a": 1, "b": ["x"]}, None, {"b": []}],
        "none": [None, None, None],
    }
    pilaster.write(tmp_path / "x.vortex", rows)
    rows["dict"][2] = {"a": None, "b": []}
    assert pilaster.open(tmp_path / "x.vortex").to_pydict() == rows


@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        ({"a": [1, "x"]}, TypeError, "row 1 is Text"),
        ({"a": [1], "b": [1, 2]}, ValueError, "2 rows"),
        ({"a": "text"}, TypeError, "pass a list"),
        ({"a": 3}, TypeError, "neither"),
        ({"a": [object()]}, TypeError, "row 0 is a object"),
        ({"a": [2**70]}, ValueError, "64 bits"),
        ({1: [1]}, TypeError, "no text"),
        ({"a": np.array([1], "m8[s]")}, pilaster.Error, r'"a".*Duration.*any_time=True'),
        ({"a": np.array([1], "m8[D]")}, TypeError, "cast to s, ms"),
        ({"a": [dt.timedelta(1)]}, pilaster.Error, r'"a".*Duration.*any_time=True'),
        ({"a": [pd.Timedelta(1, "ns")]}, ValueError, "nanoseconds"),
        ({"a": np.zeros((1, 1, 1))}, ValueError, "3 dimensions"),
        ({"a": np.array([1j])}, TypeError, "complex"),
        (7, TypeError, "not int"),
    ],
)
def test_wrong_data(columns, error, text, tmp_path):
    with pytest.raises(error, match=text):
        pilaster.write(tmp_path / "x.vortex", columns)
    assert not list(tmp_path.iterdir())


def test_options(tmp_path):
    columns = {"time": [TIME, TIME], "a": np.arange(2, dtype="i4")}
    with pytest.raises(pilaster.Error, match='"time"'):
        pilaster.write(tmp_path / "x.jay", columns)
    pilaster.write(tmp_path / "x.jay", columns, any_time=True, keys=0, layout="old", statistics=False)
    assert pilaster.open(tmp_path / "x.jay").to_pydict()["time"] == [TIME, TIME]
    pilaster.write(tmp_path / "x.vortex", columns, encodings="compact", profile="wide", zone_rows=1024)
    pilaster.write(tmp_path / "x.ds", {"a": [1]}, compress=["lzf", "snappy"], table="Tick")
    pilaster.write(tmp_path / "x.ds", {"a": [1]}, compress=("lz4", "lzf"), table="Tick")
    assert pilaster.open(tmp_path / "x.ds").tables == ["Tick"]
    for options, error in [({"layout": "odd"}, ValueError), ({"clevel": 3}, TypeError), ({"keys": "x"}, TypeError)]:
        with pytest.raises(error):
            pilaster.write(tmp_path / "y.jay", columns, **options)
    with pytest.raises(ValueError, match="format= names it"):
        pilaster.write(tmp_path / "y.parquet", columns)
    with pytest.raises(ValueError, match="no format"):
        pilaster.write(tmp_path / "y", columns, format="parquet")


def test_append_to_bcolz(tmp_path):
    path = tmp_path / "x.bcolz"
    pilaster.write(path, {"a": [1, 2], "s": ["x", "yy"]})
    with pytest.raises(FileExistsError):
        pilaster.write(path, {"a": [3], "s": ["z"]})
    pilaster.write(path, {"a": [3], "s": ["z"]}, append=True)
    assert pilaster.open(path).to_pydict() == {"a": [1, 2, 3], "s": ["x", "yy", "z"]}
    with pytest.raises(pilaster.Error):
        pilaster.write(path, {"a": [1.5], "s": ["z"]}, append=True)
    assert pilaster.open(path).num_rows == 3


def test_files_are_replaced_whole(tmp_path):
    path = tmp_path / "x.jay"
    pilaster.write(path, {"a": [1, 2]})
    os.chmod(path, 0o640)
    mapped = pilaster.open(path)
    before = path.read_bytes()
    with pytest.raises(pilaster.Error):
        pilaster.write(path, {"a": [TIME]})
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["x.jay"]
    # A file that is open can be replaced by itself.
    pilaster.write(path, pilaster.open(path).select(rows=1))
    assert pilaster.open(path).to_pydict() == {"a": [1]} and mapped.to_pydict() == {"a": [1, 2]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.jay"
    dangling.symlink_to(tmp_path / "nothing.jay")
    with pytest.raises(FileNotFoundError, match="link"):
        pilaster.write(dangling, {"a": [7]})
    assert dangling.is_symlink() and not dangling.exists()
    link = tmp_path / "link.jay"
    link.symlink_to(path)
    pilaster.write(link, {"a": [7]})
    assert link.is_symlink() and pilaster.open(path).to_pydict() == {"a": [7]}


@contextlib.contextmanager
def closed():
    """A folder to which nobody may write: root is another user meanwhile. Not in `tmp_path`, which is for its owner alone."""
    folder = pathlib.Path(tempfile.mkdtemp())
    os.chmod(folder, 0o555)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if was_root:
            os.seteuid(0)
        os.chmod(folder, 0o755)
        folder.rmdir()


CALLS = {
    "recover": lambda data, to: pilaster.recover(data, to),
    "write": lambda data, to: pilaster.write(to, pilaster.open(data)),
    "write a dataset": lambda data, to: pilaster.write(to, pilaster.open(data), format="bcolz"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_errors_of_the_system_are_those_of_python(tmp_path, call):
    data = (conftest.ROOT / "examples/data/keyed_1.jay").read_bytes()
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        call(data, tmp_path / "file" / "x.jay")
    with pytest.raises(FileNotFoundError) as caught:
        call(data, tmp_path / "none" / "x.jay")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(tmp_path / "none" / "x.jay"))
    with closed() as folder, pytest.raises(PermissionError) as caught:
        call(data, folder / "x.jay")
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, str(folder / "x.jay"))
    assert caught.value.strerror == os.strerror(errno.EACCES)


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    path = tmp_path / "x.jay"
    table = pa.Table.from_batches([pa.record_batch({"a": range(10)})] * 3)
    with pytest.raises(FileExistsError):
        pilaster.write(path, table, progress=lambda _: path.write_text("another program"))
    assert path.read_text() == "another program" and [p.name for p in tmp_path.iterdir()] == ["x.jay"]


def test_progress(tmp_path):
    told = []
    table = pa.Table.from_batches([pa.record_batch({"a": range(10)})] * 3)
    pilaster.write(tmp_path / "x.vortex", table, progress=told.append)
    assert told == [10, 20, 30]

    def stop(_):
        raise KeyboardInterrupt

    for name in ("y.vortex", "y.jay", "y.ds"):
        with pytest.raises(KeyboardInterrupt):
            pilaster.write(tmp_path / name, table, progress=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["x.vortex"]
    pilaster.write(tmp_path / "x.vortex", table, progress=True)


def test_a_bar_of_tqdm(tmp_path, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **options):
            self.options, self.n, self.closed = options, 0, False
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def update(self, rows):
            self.n += rows

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    table = pa.Table.from_batches([pa.record_batch({"a": range(10)})] * 3)
    pilaster.write(tmp_path / "x.vortex", table, progress=True)
    assert len(bars) == 1 and bars[0].n == 30 and bars[0].closed and bars[0].options["desc"] == "x.vortex"


def test_a_folder_of_old_files(tmp_path):
    """Old files of Jay and bcolz as Parquet, in five lines."""
    new = tmp_path
    import pathlib

    golden = pathlib.Path(conftest.GOLDEN)
    old = [*golden.glob("jay/alltypes_n*.jay"), *golden.glob("bcolz/bound_*[0-9]")]
    for path in old:
        pilaster.open(path).to_polars().write_parquet(new / f"{path.stem}.parquet")
    assert [path.parent.name for path in old].count("jay") == 3 and len(old) >= 9
    for path in old:
        assert pl.read_parquet(new / f"{path.stem}.parquet").equals(pilaster.open(path).to_polars()), path


def test_logger(tmp_path):
    path = tmp_path / "x.ds"
    with pilaster.dataseries.Logger(path, "Reading", extent_rows=100) as log:
        for k in range(250):
            log.append(time=k, value=k / 2, note=None if k % 2 else "x")
        # Extents are in the file before it is closed.
        size = path.stat().st_size
        assert size > 1000
    file = pilaster.open(path)
    assert file.tables == ["Reading"] and file.num_rows == 250 and file.verify()["rows"] == 250
    assert file.to_pydict()["value"][-1] == 124.5
    with pytest.raises(ValueError, match="the log is closed"):
        log.append(time=1, value=1.0, note=None)
    with pytest.raises(FileExistsError, match="a log is a new file"):
        pilaster.dataseries.Logger(path)
    log = pilaster.dataseries.Logger(tmp_path / "y.ds")
    log.append(a=1)
    with pytest.raises(TypeError, match="after columns"):
        log.append(b=1)


def test_filo():
    from pilaster import filo

    for values, element in [([1, 2, None], "long"), ([1.5, None], "double"), (["a", None], "utf8"), ([b"a"], "blob")]:
        assert filo.decode(filo.encode(values), element) == values
    assert filo.decode(filo.encode(np.arange(1000, dtype="i4")), "int") == list(range(1000))
    with pytest.raises(ValueError, match="no element type"):
        filo.decode(filo.encode([1]), "text")


def test_durations(tmp_path):
    spans = [dt.timedelta(seconds=3), None, dt.timedelta(microseconds=-1)]
    columns = {"list": spans, "numpy": np.array([3, "NaT", -1], "m8[ms]"), "scalars": [np.timedelta64(3, "s"), None, None]}
    pilaster.write(tmp_path / "x.vortex", columns, any_time=True)
    back = pilaster.open(tmp_path / "x.vortex").to_pydict()
    assert back == {"list": [3_000_000, None, -1], "numpy": [3, None, -1], "scalars": [3_000_000, None, None]}


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("dtype", [pl.Object, pl.Int128, pl.UInt128])
def test_types_of_polars_alone(dtype, to, tmp_path):
    """Objects were written as addresses in memory, and integers of 128 bits were an error without the column."""
    values = pl.Series("v", [object()], dtype=dtype) if dtype is pl.Object else pl.Series("v", [1], dtype=dtype)
    with pytest.raises(pilaster.Error, match=f'column "v": polars passes on values of type {dtype}'):
        pilaster.write(tmp_path / ("x." + to), values.to_frame())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", FORMATS[1:])
def test_zones_in_other_types(to, tmp_path):
    """A time zone is lost nowhere without `any_time`: neither in a dictionary nor in milliseconds, which Filo has."""
    zoned = pa.array([1], pa.timestamp("ms", "Europe/Berlin"))
    for values in (zoned, zoned.dictionary_encode()):
        with pytest.raises(pilaster.Error, match='"v": .* cannot store the time zone Europe/Berlin .any_time=True drops it.'):
            pilaster.write(tmp_path / ("x." + to), pa.table({"v": values}))
        assert not list(tmp_path.iterdir())
    pilaster.write(tmp_path / ("x." + to), pa.table({"v": zoned}), any_time=True)


HELP = [
    ("bcolz", {"v": [1, None]}, {"fill_missing": True}),
    ("jay", {"v": [b"a"]}, {"bytes_as_text": True}),
    ("jay", {"v": [dt.datetime(2024, 2, 29)]}, {"any_time": True}),
    ("jay", {"v": np.array([-(2**31)], "i4")}, {"sentinels": "widen"}),
    ("ds", {"v": [dt.date(2024, 2, 29)]}, {"any_time": True}),
]


@pytest.mark.parametrize(("to", "columns", "options"), HELP)
def test_errors_name_the_option_that_helps(to, columns, options, tmp_path):
    ((name, value),) = options.items()
    named = f"{name}=True" if value is True else f'{name}="{value}"'
    with pytest.raises(pilaster.Error) as caught:
        pilaster.write(tmp_path / ("x." + to), columns)
    assert 'column "v"' in str(caught.value) and named in str(caught.value) and caught.value.offset is None
    assert pilaster.write(tmp_path / ("x." + to), columns, **options) == len(columns["v"])


@pytest.mark.parametrize("to", ["jay", "ds", "bcolz"])
def test_columns_of_one_name(to, tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(pilaster.Error, match='column "a": .* several columns of the same name'):
        pilaster.write(tmp_path / ("x." + to), table)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("to", "options", "text"),
    [
        ("ds", {"level": 99}, "level=99; the levels are 1 to 9"),
        ("bcolz", {"level": 99}, "level=99; the levels are 0 to 9"),
        ("vortex", {"chunk_size": -1}, "chunk_size=-1: "),
        ("ds", {"extent_rows": "x"}, "extent_rows='x': "),
    ],
)
def test_values_of_options(to, options, text, tmp_path):
    with pytest.raises((ValueError, TypeError), match=text):
        pilaster.write(tmp_path / ("x." + to), {"a": [1]}, **options)
    assert not list(tmp_path.iterdir())
