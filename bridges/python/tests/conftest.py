"""What the tests share: the root of the repository, and the files of the original programs."""

import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"
sys.path.insert(0, str(ROOT / "peers" / "arrow"))
# Examples name files of the repository.
os.chdir(ROOT)


def expectations():
    """Every expectation with the file beside it."""
    for path in sorted(GOLDEN.rglob("*.expected.json")):
        yield path.with_name(path.name.removesuffix(".expected.json")), json.loads(path.read_text())


def golden(stem, expected):
    """The file of an expectation, which has any extension, or is a directory."""
    found = [p for p in stem.parent.glob(stem.name + "*") if p.name == expected["file"] or p == stem]
    return next((p for p in found if not p.name.endswith(".json")), None)


@pytest.fixture
def keyed():
    """A small Jay file."""
    return "examples/data/keyed_1.jay"
