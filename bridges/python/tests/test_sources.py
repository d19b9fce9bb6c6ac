"""What a file is read from: memory, objects of Python, servers."""

import gc
import http.server
import io
import mmap
import os
import subprocess
import sys
import threading
import weakref

import duckdb
import numpy as np
import pilaster
import polars as pl
import pyarrow as pa
import pytest


@pytest.fixture(scope="module")
def frame():
    n = 300_000
    return pl.DataFrame({"a": np.arange(n), "b": [str(i % 7) for i in range(n)], "f": np.arange(n) / 3})


@pytest.fixture(scope="module", params=["vortex", "jay"])
def large(request, frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / f"large.{request.param}"
    assert pilaster.write(path, frame) == len(frame)
    return path


@pytest.mark.parametrize("n", [300_000, 1_500_000])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_ranges_are_read_once(n, threads, tmp_path):
    """A chunk is fetched for one piece of the rows, of those that have one thread each."""
    columns = {"a": np.arange(n), "f": np.arange(n) / 3, "b": np.arange(n) % 251}
    pilaster.write(tmp_path / "x.vortex", columns)

    class Counted(io.BytesIO):
        count = 0

        def read(self, size=-1):
            data = super().read(size)
            self.count += len(data)
            return data

    file = Counted((tmp_path / "x.vortex").read_bytes())
    rows = sum(len(batch) for batch in pilaster.open(file, threads=threads).batches())
    assert rows == n and file.count < 1.2 * len(file.getvalue()), file.count / len(file.getvalue())


class Server(http.server.BaseHTTPRequestHandler):
    """Ranges of one file, or answers that are wrong in one way."""

    data = b""
    wrong = None
    tag = '"1"'
    time = "Thu, 26 Nov 2026 20:00:00 GMT"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file")
            self.end_headers()
            return
        first, last = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
        data, wrong = self.data, self.wrong if last > 0 or self.wrong == "never" else None
        if first >= len(data):
            self.send_error(416)
            return
        part = data[first : last + 1]
        span = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
        condition = self.headers["If-Range"]
        whole = wrong in ("whole", "never") or condition is not None and condition not in (self.tag, self.time)
        if wrong == "size":
            span = span.replace(f"/{len(data)}", f"/{len(data) + 1}")
        elif wrong == "range":
            span = f"bytes {first + 8}-{last + 8}/{len(data)}"
        elif wrong == "long":
            part += b"more"
        elif wrong == "short":
            part = part[:-1]
        self.send_response(200 if whole else 206)
        if not whole:
            self.send_header("Content-Range", span)
        if wrong == "time":
            self.send_header("Last-Modified", self.time.replace("20:", "21:"))
        elif self.tag:
            self.send_header("ETag", self.tag)
        elif self.tag is None:
            self.send_header("Last-Modified", self.time)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


@pytest.fixture
def server(large):
    Server.data, Server.wrong, Server.tag = large.read_bytes(), None, '"1"'
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()


@pytest.mark.parametrize("threads", [1, None])
@pytest.mark.parametrize("kind", ["BytesIO", "file", "ranges", "url"])
def test_objects_of_python(kind, threads, large, frame, server):
    """One thread reads as many do: never that of the consumer, which may hold the interpreter."""

    class Ranges:
        def __init__(self):
            self.data = large.read_bytes()
            self.size = len(self.data)

        def read_at(self, offset, count):
            return self.data[offset : offset + count]

    makes = {"BytesIO": lambda: io.BytesIO(large.read_bytes()), "file": lambda: open(large, "rb"), "ranges": Ranges, "url": lambda: server + "/file"}
    file = pilaster.open(makes[kind](), threads=threads)
    assert file.to_polars().equals(frame)
    assert file.to_arrow().num_rows == len(frame)
    assert len(file.to_pandas()) == len(frame)
    assert pl.DataFrame(file).equals(frame) and pa.table(file).num_rows == len(frame)
    assert duckdb.sql("select sum(a) from file").fetchall() == [(sum(range(len(frame))),)]
    assert sum(len(batch) for batch in file) == len(frame) == file.num_rows
    # Few rows over the bound of a piece.
    assert file.select("a", rows=(65_530, 65_540)).to_polars()["a"].to_list() == list(range(65_530, 65_540))
    assert file.select("a", rows=(65_530, 65_540)).to_arrow().num_rows == 10


def test_one_cpu(large):
    """Without a choice of threads, and with one processor."""
    code = f"""
import os, io, pilaster
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
file = pilaster.open(io.BytesIO(open({str(large)!r}, "rb").read()))
print(file.to_polars().height, file.to_arrow().num_rows)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "300000 300000\n"), done.stderr


@pytest.mark.parametrize("delay", [0, 0.01])
@pytest.mark.parametrize("rows", [10, 400_000])
def test_the_end_of_the_interpreter(rows, delay, tmp_path):
    """Threads that read for streams that nobody takes do not outlive it."""
    pilaster.write(tmp_path / "x.vortex", {"a": np.arange(rows)})
    code = f"""
import io, time, pilaster
class Slow(io.BytesIO):
    def read(self, *args):
        time.sleep({delay})
        return super().read(*args)
data = open({str(tmp_path / "x.vortex")!r}, "rb").read()
streams = [iter(pilaster.open(Slow(data))) for _ in range(5)]
"""
    for _ in range(10):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_redirects(server, frame):
    assert pilaster.open(server + "/moved").to_polars().equals(frame)


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"', None, ""])
@pytest.mark.parametrize("wrong", ["whole", "size", "range", "long", "short", "time", "tag"])
def test_servers_that_send_something_else(wrong, tag, server):
    if wrong == "time" and tag == "" or wrong == "tag" and not tag or wrong == "long":
        pytest.skip("this server has no version, or its library ends the answer")
    Server.tag = tag
    file = pilaster.open(server + "/file", columns="a")
    if wrong == "tag":
        Server.tag = tag.replace("1", "2")
    else:
        Server.wrong = wrong
    with pytest.raises(OSError, match="changed|instead of|short|more|IncompleteRead|bytes came"):
        file.to_arrow()


def test_a_server_without_ranges(server):
    Server.wrong = "never"
    with pytest.raises(OSError, match="does not send ranges"):
        pilaster.open(server + "/file")
    Server.wrong, Server.data = None, b""
    with pytest.raises(OSError):
        pilaster.open(server + "/file")


def test_buffers_that_change(large, frame):
    """A read-only view of memory that its owner writes to is copied."""
    data = large.read_bytes()
    for make in (lambda b: memoryview(b).toreadonly(), lambda b: np.frombuffer(b, "u1"), bytearray):
        memory = bytearray(data)
        view = make(memory)
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
        file = pilaster.open(view)
        memory[:] = bytes(len(memory))
        if view is not memory and not isinstance(view, bytearray):
            assert bytes(view[:4]) == bytes(4)
        assert file.to_polars().equals(frame)


def test_bytes_and_maps_are_not_copied(large, frame):
    class Kept(bytes):
        pass

    data = large.read_bytes()
    with open(large, "rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    for source, kept in [(data, True), (memoryview(data), True), (mapped, True), (memoryview(mapped), True), (Kept(data), False)]:
        before = sys.getrefcount(data) if source is data else None
        file = pilaster.open(source)
        if source is data:
            assert sys.getrefcount(data) > before
        assert file.to_polars().equals(frame)
    # A map is in use while the file is open, unless it was copied.
    file = pilaster.open(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    del file
    file = pilaster.open(mapped, mmap=False)
    gc.collect()


class Named(io.BytesIO):
    name = "tape.jay"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, PermissionError, KeyError])
def test_errors_of_objects(error, large):
    """An error of a file of Python is the one that is raised, also if the file has a name."""

    class Broken(Named):
        broken = False

        def read(self, size=-1):
            if self.broken:
                raise error("torn")
            return super().read(size)

    source = Broken(large.read_bytes())
    source.broken = True
    with pytest.raises(error, match="torn"):
        pilaster.open(source)
    source.broken = False
    for read in (lambda f: f.to_polars(), lambda f: f.to_arrow(), lambda f: f.to_pydict(), lambda f: list(f)):
        source.broken = False
        file = pilaster.open(source, columns=["a"])
        source.broken = True
        with pytest.raises(error, match="torn"):
            read(file)


def test_garbage_is_collected(large):
    """A file object that refers to the file that reads it."""

    class Knows(io.BytesIO):
        pass

    source = Knows(large.read_bytes())
    source.file = pilaster.open(source)
    gone = weakref.ref(source)
    del source
    gc.collect()
    assert gone() is None


def test_two_files_of_one_object(large, frame):
    """Their threads take turns to move its position."""

    class Slow(io.BytesIO):
        busy = False

        def seek(self, *args):
            if threading.current_thread() is not threading.main_thread():
                assert not self.busy
                self.busy = True
                os.sched_yield()
            return super().seek(*args)

        def read(self, *args):
            data = super().read(*args)
            self.busy = False
            return data

    source = Slow(large.read_bytes())
    files = [pilaster.open(source, threads=2) for _ in range(2)]
    source.busy = False
    found = []
    threads = [threading.Thread(target=lambda file=file: found.append(file.to_polars())) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.equals(frame) for one in found] == [True, True]
