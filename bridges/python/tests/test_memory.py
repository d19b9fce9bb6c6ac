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


SHORT = """
import resource, sys
import numpy as np, pilaster
from pilaster import blosc, filo
from test_memory import size

what, path = sys.argv[1:]
n, rows = 64 << 20, 8 << 20
data = bytearray(n)
chunk = blosc.compress(data)
array = np.zeros(rows, {"write f2": "f2", "write days": "M8[D]"}.get(what, "i8"))
mask = np.ma.masked_equal(np.zeros(n, "u1"), 1) if what == "write mask" else None
log = pilaster.dataseries.Logger(path + ".log", "T") if what == "log" else None
act = {
    "compress": lambda: blosc.compress(data),
    "decompress": lambda: blosc.decompress(chunk),
    "decompress into": lambda: blosc.decompress_into(chunk, data),
    "info of a copy": lambda: blosc.info(data),
    "open": lambda: pilaster.open(data),
    "open with gaps": lambda: pilaster.open(memoryview(data)[::2]),
    "filo": lambda: filo.encode(array),
    "write": lambda: pilaster.write(path, {"a": array}),
    "write f2": lambda: pilaster.write(path, {"a": array}),
    "write days": lambda: pilaster.write(path, {"a": array}),
    "write mask": lambda: pilaster.write(path, {"a": mask}),
    "log": lambda: log.append(a=data),
}[what]
# Less than a copy.
resource.setrlimit(resource.RLIMIT_AS, (size() + 12_000_000,) * 2)
try:
    act()
except MemoryError:
    print("MemoryError")
"""


def size():
    """Bytes of addresses."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmSize")).split()[1]) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bounds the memory on Linux alone")
@pytest.mark.parametrize(
    "what",
    ["compress", "decompress", "decompress into", "info of a copy", "open", "open with gaps", "filo", "write", "write f2", "write days", "write mask", "log"],
)
def test_memory_that_is_short(what, tmp_path):
    """What copies an argument, or makes bytes of a size that a chunk states, raises MemoryError, and does not end the process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    call = [sys.executable, "-c", SHORT, what, str(tmp_path / "x.vortex")]
    done = subprocess.run(call, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "MemoryError\n"), done.stderr


STATED = """
import pathlib, struct
import pilaster
from pilaster import blosc
from test_memory import resident

# A chunk of LZ4 with shuffle that states one block of 715 MB, and is cut.
stated = 715_000_000
chunk = struct.pack("<BBBBIII", 2, 1, 0x21, 8, stated, stated, 24) + struct.pack("<II", 20, 0)
before = resident()
try:
    blosc.decompress(chunk)
except pilaster.Error as e:
    print(type(e).__name__)
status = pathlib.Path("/proc/self/status").read_text()
print(int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) - before)
"""


def test_a_chunk_that_states_a_large_block():
    """Memory of a size that a damaged chunk states is not used before there is something to write."""
    resident()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", STATED], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    error, grown = done.stdout.split()
    assert error == "Error" and int(grown) < 50_000, done.stdout


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
