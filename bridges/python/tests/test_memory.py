"""Nothing stays in memory."""

import os
import pathlib
import subprocess
import sys
import time

import pilaster
import pytest


def resident():
    status = pathlib.Path("/proc/self/status")
    if not status.exists():
        pytest.skip("no /proc")
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small file of each format."""
    folder = tmp_path_factory.mktemp("files")
    found = {"jay": "examples/data/keyed_1.jay", "ds": "examples/data/tiny.ds", "vortex": "examples/data/def_one_row_a.vortex"}
    for to in ("bcolz", "filo"):
        found[to] = folder / f"x.{to}"
        pilaster.write(found[to], {"a": list(range(100))})
    return found


MANY = """
import io, pathlib, sys
import pilaster
from test_memory import resident

source, path, vortex = sys.argv[1:]
data = pathlib.Path(vortex).read_bytes()
make = {"bytes": lambda: data, "object": lambda: io.BytesIO(data), "damaged": lambda: data[:-1], "not open": lambda: "no/such/file"}
make = make.get(source, lambda: path)
element = "long" if source == "filo" else None

def some(count):
    for k in range(count):
        try:
            file = pilaster.open(make(), type=element)
        except (pilaster.Error, FileNotFoundError):
            assert source in ("damaged", "not open")
            continue
        # Of the small ones, the rows are read at once.
        stream = file.__arrow_c_stream__()
        if k % 2:
            assert list(file.batches())
        del stream

some(1000)
before = resident()
some(9000)
print(resident() - before)
"""


@pytest.mark.parametrize("source", ["jay", "ds", "vortex", "bcolz", "filo", "bytes", "object", "damaged", "not open"])
def test_many_opens(source, files):
    """10,000 files, half of whose streams are not read, in a process whose memory no other test has used."""
    resident()
    path = str(files.get(source, ""))
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", MANY, source, path, str(files["vortex"])], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2000, "kilobytes"


def test_streams_that_are_dropped(tmp_path):
    """Threads end when nobody reads their rows any more."""
    path = tmp_path / "x.vortex"
    pilaster.write(path, {"a": list(range(500_000))})
    count = lambda: len(list(pathlib.Path("/proc/self/task").iterdir()))
    before = count()
    for _ in range(50):
        batches = iter(pilaster.open(path, threads=4))
        next(batches)
        del batches
    for _ in range(100):
        if count() <= before + 1:
            return
        time.sleep(0.1)
    assert count() <= before + 1


def test_import_is_fast():
    """The package imports nothing that is slow."""
    code = "import resource as r; a = r.getrusage(0); import pilaster; b = r.getrusage(0); print(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime)"
    # The best of many, as other programs take the processor meanwhile.
    best = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(20))
    assert best < 0.005, best
    modules = "import sys, pilaster; print(sorted({'numpy', 'polars', 'pandas', 'pyarrow', 'asyncio'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", modules], capture_output=True, text=True, check=True).stdout == "[]\n"
