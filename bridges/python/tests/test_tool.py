"""`python -m pilaster` is the tool."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pilaster
import pytest

import conftest

TOOL = [sys.executable, "-m", "pilaster"]
KEYED = "examples/data/keyed_1.jay"


def tool(*arguments, **options):
    return subprocess.run([*TOOL, *map(str, arguments)], capture_output=True, cwd=conftest.ROOT, **options)


def test_every_command_is_there():
    page = tool("--help").stdout.decode()
    commands = page.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in commands.splitlines() if line.startswith("  ") and line[2] != " "]
    assert names == ["info", "head", "cat", "dump", "verify", "recover", "receive", "convert", "edit", "sql", "completions", "man", "help"]
    assert tool("--version").stdout == f"pilaster {pilaster.__version__}\n".encode()
    for name in names[:-4]:
        assert b"Usage: pilaster " + name.encode() in tool(name, "--help").stdout
    assert b"_pilaster" in tool("completions", "bash").stdout and b".TH pilaster" in tool("man").stdout


def test_status_and_texts(tmp_path):
    done = tool("cat", "--columns", "k", "--rows", "0..3", "--format-out", "csv", KEYED)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"k\n-996\n-982\n-955\n", b"")
    done = tool("verify", "README.md")
    assert (done.returncode, done.stdout) == (1, b"") and done.stderr.startswith(b"pilaster: README.md: ")
    done = tool("cat", "--no-such-option", KEYED)
    assert (done.returncode, done.stdout) == (2, b"") and done.stderr.startswith(b"pilaster: ")
    assert done.stderr.count(b"\n") == 1
    target = tmp_path / "new.vortex"
    done = tool("convert", KEYED, target)
    assert (done.returncode, done.stderr) == (0, b"") and pilaster.open(target).num_rows == 50
    assert tool("convert", KEYED, target).returncode == 2


def test_the_streams_of_the_process(tmp_path):
    path = conftest.ROOT / KEYED
    assert b"50" in tool("info", "-", input=path.read_bytes()).stdout
    # A reader that has enough is no error.
    shell = f"'{sys.executable}' -m pilaster cat --format-out csv '{path}' | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"k,s,v\n", b"")
    # The target is not written to a stream that was closed.
    target = tmp_path / "x.jay"
    shell = f"'{sys.executable}' -m pilaster convert '{path}' '{target}' >&- 2>&- <&-"
    assert subprocess.run(["bash", "-c", shell]).returncode == 0
    assert pilaster.open(target).verify()["rows"] == 50


def test_what_the_module_lacks_is_named(tmp_path):
    done = tool("convert", KEYED, tmp_path / "x.parquet")
    assert done.returncode == 2 and b"cargo install pilaster-cli" in done.stderr
    done = tool("convert", "--format-out", "arrow", KEYED, tmp_path / "x")
    assert done.returncode == 2 and b"cargo install pilaster-cli" in done.stderr
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no more PAR1")
    done = tool("info", tmp_path / "x.parquet")
    assert done.returncode == 1 and b"Parquet" in done.stderr and b"cargo install pilaster-cli" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_leaves_no_file(tmp_path, number):
    rows = 3_000_000
    pilaster.write(tmp_path / "big.jay", {"a": list(range(rows))})
    (tmp_path / "out").mkdir()
    command = [*TOOL, "convert", "--threads", "1", tmp_path / "big.jay", tmp_path / "out" / "new.vortex"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE)
    while not os.listdir(tmp_path / "out"):
        assert running.poll() is None
        time.sleep(0.001)
    running.send_signal(number)
    assert (running.wait(10), running.communicate()[1]) == (-number, b"")
    assert os.listdir(tmp_path / "out") == []


def test_recover_is_the_same(tmp_path):
    """A file of each format, by the command and by the function."""
    golden = conftest.ROOT / "tests/golden"
    pilaster.write(tmp_path / "a.bcolz", {"a": list(range(10)), "b": list(range(10))}, chunklen=4)
    (tmp_path / "a.bcolz/b/data/__1.blp").write_bytes(b"no chunk")
    pilaster.write(tmp_path / "none.bcolz", {"a": [1, 2]})
    next((tmp_path / "none.bcolz").glob("a/data/*.blp")).write_bytes(b"no chunk")
    series = (conftest.ROOT / "examples/data/tiny.ds").read_bytes()
    (tmp_path / "cut.ds").write_bytes(series[:-30])
    jay = bytearray((conftest.ROOT / KEYED).read_bytes())
    vortex = sorted(golden.glob("vortex/*.vortex"))[0].read_bytes()
    (tmp_path / "a.jay").write_bytes(jay)
    (tmp_path / "cut.vortex").write_bytes(vortex[:-8])
    for name in ["cut.ds", "a.jay", "cut.vortex", "a.bcolz", "none.bcolz"]:
        end = pathlib.Path(name).suffix
        done = tool("recover", tmp_path / name, tmp_path / f"command-{name}")
        if done.returncode != 0:
            with pytest.raises(pilaster.Error) as caught:
                pilaster.recover(tmp_path / name, tmp_path / f"nothing-{name}")
            assert not (tmp_path / f"nothing-{name}").exists()
            assert name == "none.bcolz" and done.stderr.decode().splitlines()[-1] == f"pilaster: {caught.value}"
            continue
        report = pilaster.recover(tmp_path / name, tmp_path / f"function-{name}")
        warnings = done.stderr.decode().replace("pilaster: ", "").splitlines()
        *lost, saved = done.stdout.decode().splitlines()
        assert report["lost"] == warnings + lost
        assert f": {report['rows']} " in saved
        for source in [(tmp_path / name)] if end == ".bcolz" else [open(tmp_path / name, "rb"), (tmp_path / name).read_bytes()]:
            again = pilaster.recover(source, tmp_path / f"again{end}", format=end[1:])
            assert again == report
            (shutil.rmtree if end == ".bcolz" else os.remove)(tmp_path / f"again{end}")
        if end != ".bcolz":
            assert (tmp_path / f"command-{name}").read_bytes() == (tmp_path / f"function-{name}").read_bytes()


def test_recover_with_what_is_lost(tmp_path):
    data = (conftest.ROOT / "examples/data/tiny.ds").read_bytes()
    (tmp_path / "headless.ds").write_bytes(b"\0" * 8 + data[8:])
    report = pilaster.recover(
        tmp_path / "headless.ds", tmp_path / "new.ds", types=conftest.ROOT / "examples/data/tiny.ds", order="little"
    )
    assert report["rows"] == pilaster.open(data).num_rows
    with pytest.raises(ValueError, match="'little' or 'big'"):
        pilaster.recover(tmp_path / "headless.ds", tmp_path / "new.ds", order="middle")
    # A Vortex file is saved in the format of the extension.
    vortex = sorted((conftest.ROOT / "tests/golden/vortex").glob("*.vortex"))[0]
    pilaster.recover(vortex, tmp_path / "new.jay")
    assert pilaster.open(tmp_path / "new.jay").format == "jay"


def test_an_error_of_a_file_of_python_comes_out(tmp_path):
    class Broken:
        size = 4000

        def read_at(self, offset, count):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pilaster.recover(Broken(), tmp_path / "x.ds", format="dataseries")
