"""The examples of the documentation, and the types."""

import doctest
import importlib
import pathlib
import pkgutil
import re
import subprocess
import sys

import conftest
import pilaster
import pytest

MODULES = ["pilaster"] + ["pilaster." + m.name for m in pkgutil.iter_modules(pilaster.__path__) if m.name != "__main__"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    failed = 0
    for example in finder.find(module, name):
        failed += doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed
    assert failed == 0


def test_these_have_examples():
    """An example that the finder does not see is not run."""
    found = {
        example.name
        for name in MODULES
        for example in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name)
        if example.examples
    }
    wanted = {"File.select", "dataseries.Logger", "filo.encode", "filo.decode", "write", "scan"}
    wanted |= {"blosc.compress", "blosc.decompress", "blosc.decompress_into", "blosc.info"}
    names = {name.replace("._pilaster", "").replace("._write", "").replace("._scan", "") for name in found}
    assert {f"pilaster.{name}" for name in wanted | {"recover"}} <= names, names


def test_every_public_item_has_a_text():
    for name in pilaster.__all__:
        item = getattr(pilaster, name)
        assert item.__doc__, name
        for member in (m for m in dir(item) if isinstance(item, type) and not m.startswith("_")):
            if member in ("add_note", "with_traceback", "args", "kind", "field", "offset", "need"):
                continue
            assert getattr(item, member).__doc__, f"{name}.{member}"


@pytest.mark.parametrize("page", ["docs/python.md", "bridges/python/README.md"])
def test_pages(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other."""
    text = (conftest.ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(conftest.ROOT / folder)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=conftest.ROOT / "bridges" / "python")


CHECKS = [["mypy"], ["mypy", "tests/typed.py"], ["pyright", "--pythonpath", sys.executable]]
if sys.version_info < (3, 12):
    mypy, pyright = ["--python-version", "3.11"], ["--pythonversion", "3.11"]
    CHECKS += [["mypy", *mypy], ["mypy", *mypy, "tests/typed.py"], [*CHECKS[2], *pyright]]


@pytest.mark.parametrize("command", CHECKS, ids=" ".join)
def test_types(command):
    tool = pathlib.Path(sys.executable).with_name(command[0])
    if not tool.exists():
        pytest.skip(f"{command[0]} is not installed")
    done = run(tool, *command[1:])
    assert done.returncode == 0, done.stdout + done.stderr
