"""Opening: sources, choices, errors."""

import http.server
import importlib.metadata
import io
import itertools
import mmap
import os
import pickle
import sys
import threading
import time

import conftest
import duckdb
import numpy as np
import pilaster
import polars as pl
import pyarrow as pa
import pytest
from packaging import tags


@pytest.fixture(scope="module")
def frame():
    n = 300_000
    return pl.DataFrame(
        {"a": np.arange(n), "b": [str(i % 7) for i in range(n)], "f": np.arange(n) / 3, "l": [[i, i + 1] for i in range(n)]}
    )


@pytest.fixture(scope="module")
def large(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.vortex"
    assert pilaster.write(path, frame) == len(frame)
    return path


SOURCES = {
    "path": lambda p: p,
    "text": str,
    "bytes": lambda p: p.read_bytes(),
    "bytearray": lambda p: bytearray(p.read_bytes()),
    "memoryview": lambda p: memoryview(p.read_bytes()),
    "numpy": lambda p: np.fromfile(p, "u1"),
    "file": lambda p: open(p, "rb"),
    "BytesIO": lambda p: io.BytesIO(p.read_bytes()),
    "mmap": lambda p: mmap.mmap(os.open(p, os.O_RDONLY), 0, access=mmap.ACCESS_READ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(kind, large, frame):
    file = pilaster.open(SOURCES[kind](large))
    assert file.to_polars().equals(frame)
    # The consumer may hold the interpreter or not, and a file of Python needs it.
    assert pa.table(file).num_rows == len(frame)
    assert duckdb.sql("select count(*), sum(a) from file").fetchall() == [(len(frame), sum(range(len(frame))))]
    assert pl.DataFrame(file).equals(frame)
    assert sum(len(batch) for batch in file) == len(frame)


def test_without_a_map(large, frame):
    assert pilaster.open(large, mmap=False).to_polars().equals(frame)
    assert pilaster.open(large, threads=1).to_polars().equals(frame)
    assert pilaster.open(large, threads=3, batch_rows=1000).to_polars().equals(frame)


class Ranges(http.server.BaseHTTPRequestHandler):
    files = {}
    asked = 0

    def log_message(self, *_):
        pass

    def do_GET(self):
        data, span = self.files[self.path], self.headers["Range"]
        first, last = (int(part) for part in span.removeprefix("bytes=").split("-"))
        part = data[first : last + 1]
        Ranges.asked += len(part)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


def test_urls(large, frame):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Ranges.files["/large.vortex"] = large.read_bytes()
        file = pilaster.open(f"http://127.0.0.1:{server.server_port}/large.vortex")
        assert file.select("a", rows=(5, 8)).to_pydict() == {"a": [5, 6, 7]}
        assert Ranges.asked < large.stat().st_size / 4
        assert file.to_polars().equals(frame)
        server.shutdown()


def test_choices(keyed):
    file = pilaster.open(keyed)
    assert file.format == "jay" and file.name == keyed and file.tables == [""] and bool(file)
    assert file.select(["v", "k"], rows=1).to_pydict() == {"v": [file.to_pydict()["v"][0]], "k": [-996]}
    for rows in (3, (0, 3), slice(3), slice(0, 3), range(3), (None, 3)):
        assert file.select("k", rows=rows).to_pydict() == {"k": [-996, -982, -955]}
    assert file.select(rows=(48, None)).num_rows == 2 and file.select(rows=(60, 70)).num_rows == 0
    for rows in (-1, (3, 1), slice(0, 9, 2), "x"):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            file.select(rows=rows)
    with pytest.raises(pilaster.Error, match='column "nope": the table has "k", "s", "v"') as caught:
        file.select("nope")
    assert (caught.value.kind, caught.value.field, caught.value.offset) == ("Unknown", "column", None)
    for options in ({"threads": -1}, {"threads": 0}, {"batch_rows": -5}):
        ((name, value),) = options.items()
        with pytest.raises(ValueError, match=f"{name}={value}; at least 1"):
            pilaster.open(keyed, **options)
    with pytest.raises(ValueError, match="no table"):
        file.select(table="nope")
    with pytest.raises(ValueError, match="Filo vectors"):
        pilaster.open(keyed, type="int")
    with pytest.raises(TypeError, match="not int"):
        pilaster.open(3)
    with pytest.raises(FileNotFoundError):
        pilaster.open("no/such/file.jay")


CONDITIONS = [
    ([("k", ">", 900)], pl.col("k") > 900),
    (("k", "<=", -955), pl.col("k") <= -955),
    ([("k", "!=", -996), ("k", "<", 0)], (pl.col("k") != -996) & (pl.col("k") < 0)),
    ([("s", "==", "ab")], pl.col("s") == "ab"),
    ([("s", "in", ["ab", ""])], pl.col("s").is_in(["ab", ""])),
    ([("v", ">=", 0.5)], pl.col("v") >= 0.5),
    ([("v", "is", None)], pl.col("v").is_null()),
    ([("v", "is not", None), ("k", ">", 0)], pl.col("v").is_not_null() & (pl.col("k") > 0)),
]


@pytest.mark.parametrize(("where", "expr"), CONDITIONS)
def test_conditions(keyed, where, expr):
    whole = pilaster.open(keyed).to_polars()
    for trust in (False, True):
        file = pilaster.open(keyed, where=where, trust_statistics=trust)
        assert file.to_polars().equals(whole.filter(expr))
        assert file.select("k").to_polars().equals(whole.filter(expr).select("k"))
        assert file.select("s").columns == ["s"]


def test_conditions_leave_out_zones(large, frame):
    class Counted(io.BytesIO):
        read_bytes = 0

        def read(self, size=-1):
            data = super().read(size)
            Counted.read_bytes += len(data)
            return data

    data = large.read_bytes()
    file = pilaster.open(Counted(data), trust_statistics=True, where=[("a", ">", 299_990)], columns=["a", "f"])
    assert file.to_polars().equals(frame.select("a", "f").filter(pl.col("a") > 299_990))
    assert Counted.read_bytes < len(data) / 4


def test_wrong_conditions(keyed):
    for where in ([("k", "~", 1)], [("k", "==", "text")], [("k",)], [("k", "==", object())], 7, ["k", ">", 900]):
        with pytest.raises((ValueError, TypeError)):
            pilaster.open(keyed, where=where)
    with pytest.raises(pilaster.Error):
        pilaster.open(keyed, where=[("nope", "==", 1)])


def test_close(keyed):
    with pilaster.open(keyed) as file:
        table = pa.table(file)
    with pytest.raises(ValueError, match="closed"):
        file.to_pydict()
    assert table.num_rows == 50 and "closed" in repr(file)


def test_numpy(tmp_path):
    columns = {
        "i": np.arange(5, dtype="i2"),
        "m": np.ma.MaskedArray(np.arange(5), mask=[0, 1, 0, 0, 1]),
        "f": np.array([1, np.nan, 3, 4, 5]),
        "h": np.arange(5, dtype="f2"),
        "b": np.array([True, False, True, True, False]),
        "t": np.array(["2020-01-01", "NaT", "2021-01-01", "1969-12-31", "2000-02-29"], "M8[us]"),
        "d": np.array(["2020-01-01", "NaT", "2021-01-01", "1969-12-31", "2000-02-29"], "M8[D]"),
        "s": np.array(["a", "b", "", "d", "é"]),
        "two": np.arange(10.0).reshape(5, 2),
        ">": np.arange(5, dtype=">i4"),
    }
    path = tmp_path / "x.vortex"
    pilaster.write(path, columns)
    file = pilaster.open(path)
    for name, values in columns.items():
        got = file.to_numpy(name)
        if name == "two":
            assert [list(row) for row in got] == values.tolist()
        else:
            np.testing.assert_array_equal(got, values.astype(values.dtype.newbyteorder("=")) if name != "s" else values)
    assert isinstance(file.to_numpy("m"), np.ma.MaskedArray) and file.to_numpy("d").dtype == "M8[D]"


def test_info_and_verify(keyed):
    info = pilaster.open(keyed).info()
    assert info["format"] == "jay" and info["size"] == 1472 and info["tables"][0]["rows"] == 50
    assert info["tables"][0]["columns"][0] == {"name": "k", "type": "Int32", "nullable": False}
    assert pilaster.open(keyed).verify()["rows"] == 50
    data = bytearray((conftest.ROOT / "examples/data/tiny.ds").read_bytes())
    data[450] ^= 1
    with pytest.raises(pilaster.Error) as caught:
        pilaster.open(data).verify()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.kind, copy.offset, str(copy)) == (caught.value.kind, caught.value.offset, str(caught.value))


def test_recover(tmp_path):
    data = bytearray((conftest.ROOT / "examples/data/tiny.ds").read_bytes())
    (tmp_path / "cut.ds").write_bytes(data[:-30])
    report = pilaster.recover(tmp_path / "cut.ds", tmp_path / "new.ds")
    assert report["rows"] == 2 and report["lost"]
    assert pilaster.open(tmp_path / "new.ds").verify()["rows"] == 2
    report = pilaster.open("examples/data/keyed_1.jay").recover(tmp_path / "new.jay")
    assert report == {"rows": 50, "lost": []}
    pilaster.write(tmp_path / "x.bcolz", {"a": np.arange(10), "b": np.arange(10)})
    assert pilaster.recover(tmp_path / "x.bcolz", tmp_path / "same.bcolz") == {"rows": 10, "lost": []}
    for chunk in (tmp_path / "x.bcolz").glob("b/data/*.blp"):
        chunk.write_bytes(b"no chunk")
    with pytest.raises(pilaster.Error, match="no row can be saved"):
        pilaster.recover(tmp_path / "x.bcolz", tmp_path / "none.bcolz")
    assert not (tmp_path / "none.bcolz").exists()
    report = pilaster.recover("examples/data/def_one_row_a.vortex", tmp_path / "new.vortex")
    assert report == {"rows": 1, "lost": []}


def test_errors_of_files_of_python():
    class Broken(io.BytesIO):
        def read(self, *_):
            raise RuntimeError("the tape is torn")

    with pytest.raises(RuntimeError, match="the tape is torn"):
        pilaster.open(Broken(b"JAY1" * 100))


def test_streams_of_damaged_files(tmp_path, frame):
    """An error in the middle of the rows is an error of the consumer, and ours where we are the caller."""
    pilaster.write(tmp_path / "x.ds", frame.select("a", "b", "f"))
    data = bytearray((tmp_path / "x.ds").read_bytes())
    data[len(data) // 2] ^= 1
    file = pilaster.open(bytes(data))
    with pytest.raises((pa.ArrowException, ValueError)):
        pa.table(file)
    with pytest.raises(pilaster.Error):
        file.to_polars()
    with pytest.raises(pilaster.Error):
        list(file.batches())


def test_threads_of_python(large, frame):
    file = pilaster.open(large)
    sums = []
    work = lambda: sums.append(file.to_polars()["a"].sum())
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [frame["a"].sum()] * 8


def test_the_lock_is_released(large, tmp_path):
    """Another thread of Python runs while a file is read, checked or written, and while chunks are packed."""
    file, done, turns, numbers = pilaster.open(large), threading.Event(), 0, itertools.count()
    table, data = pa.table(file), bytes(range(256)) * 40_000
    chunk = pilaster.blosc.compress(data, typesize=8)

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            # Gives the lock back, so that only the other thread can keep it.
            time.sleep(0)

    calls = {
        "verify": file.verify,
        "batches": lambda: sum(len(batch) for batch in file.batches()),
        "write": lambda: pilaster.write(tmp_path / f"{next(numbers)}.vortex", table),
        "compress": lambda: pilaster.blosc.compress(data, typesize=8),
        "decompress": lambda: pilaster.blosc.decompress(chunk),
    }
    before, other = sys.getswitchinterval(), threading.Thread(target=count)
    other.start()
    try:
        # A thread that asks for the lock does not get it within this time, unless it is released.
        sys.setswitchinterval(100)
        for name, call in calls.items():
            # A busy machine may not run the other thread within one call.
            start, calls_left = turns, 200
            while turns == start and calls_left:
                call()
                calls_left -= 1
            assert turns > start, name
    finally:
        sys.setswitchinterval(before)
        done.set()
        other.join()


def test_free_threaded_pythons_find_no_wheel():
    """`pip` of a free-threaded Python refuses this wheel, as README.md says: the module is made for the interpreter lock."""
    text = importlib.metadata.distribution("pilaster").read_text("WHEEL")
    of_wheel = {tag for line in text.splitlines() if line.startswith("Tag: ") for tag in tags.parse_tag(line[5:])}
    platforms = sorted({tag.platform for tag in of_wheel})
    for version in [(3, 13), (3, 14)]:
        name = "cp%d%d" % version
        assert of_wheel & set(tags.cpython_tags(version, [name], platforms)), "with the lock"
        assert not of_wheel & set(tags.cpython_tags(version, [name + "t"], platforms)), "without"


FOREIGN = {"csv": (b"a,b\n1,2\n", "text, such as CSV"), "parquet": (b"PAR1" * 8, "a Parquet file"), "dat": (b"", "empty")}


@pytest.mark.parametrize("extension", FOREIGN)
def test_files_of_others(extension, tmp_path):
    content, what = FOREIGN[extension]
    path = tmp_path / ("x." + extension)
    path.write_bytes(content)
    with pytest.raises(pilaster.Error, match=f"the file is {what}"):
        pilaster.open(path)


@pytest.mark.parametrize("to", ["jay", "vortex"])
def test_files_that_are_cut_off(to, frame, tmp_path):
    pilaster.write(tmp_path / ("x." + to), frame)
    data = (tmp_path / ("x." + to)).read_bytes()
    with pytest.raises(pilaster.Error, match="may be cut off.*pilaster.recover"):
        pilaster.open(data[: len(data) // 2])


def test_files_of_texts(keyed):
    with open(keyed) as file, pytest.raises(TypeError, match='mode "rb"'):
        pilaster.open(file)


def test_urls_that_are_not_http(keyed):
    with pytest.raises(ValueError, match="fsspec"):
        pilaster.open("s3://bucket/x.jay")
    url = (conftest.ROOT / keyed).as_uri()
    assert pilaster.open(url).num_rows == 50
    with pytest.raises(ValueError, match="another machine"):
        pilaster.open("file://elsewhere/x.jay")
    with pytest.raises(FileNotFoundError):
        pilaster.open(url + "x")


class Nothing(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_error(404 if "none" in self.path else 403)


def test_answers_of_servers_have_the_url():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nothing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        with pytest.raises(FileNotFoundError) as caught:
            pilaster.open(url + "none.jay")
        assert caught.value.filename == url + "none.jay"
        with pytest.raises(OSError, match=f"{url}x.jay: the server answered 403"):
            pilaster.open(url + "x.jay")
        server.shutdown()
