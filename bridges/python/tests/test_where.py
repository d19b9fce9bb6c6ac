"""Conditions that are texts, in the language of the tool."""

import datetime as dt
import io
import json
import subprocess
import sys

import numpy as np
import pilaster
import polars as pl
import pytest

C = pl.col

TEXTS = [
    ("k > 900", C("k") > 900),
    ("k > 900 or k < -900", (C("k") > 900) | (C("k") < -900)),
    ("not k > 0 and v is not missing", (C("k") <= 0) & C("v").is_not_null()),
    ("v is missing or not (k >= -10 and k <= 400)", C("v").is_null() | ~C("k").is_between(-10, 400)),
    ("not v < 0.5", C("v") >= 0.5),
    ("k in (923, -982, 7)", C("k").is_in([923, -982, 7])),
    ("k not in (923, -982, 7) and k > 900.5", ~C("k").is_in([923, -982, 7]) & (C("k") > 900)),
    ("s >= 'd' or s is missing", (C("s") >= "d") | C("s").is_null()),
    ('"k"==935', C("k") == 935),
]


@pytest.mark.parametrize(("where", "expr"), TEXTS)
def test_conditions_as_text(keyed, where, expr):
    """The language is that of the tool, whose rows are the same."""
    whole = pilaster.open(keyed).to_polars()
    wanted = whole.filter(expr)
    for trust in (False, True):
        file = pilaster.open(keyed, where=where, trust_statistics=trust)
        assert file.to_polars().equals(wanted) and file.select("s").to_polars().equals(wanted.select("s"))
    assert pilaster.open(keyed, where=[where, ("k", ">", 0), "k < 930"]).to_polars().equals(wanted.filter(C("k") > 0, C("k") < 930))
    call = [sys.executable, "-m", "pilaster", "cat", keyed, "--where", where, "--columns", "k", "--format-out", "jsonl"]
    rows = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [json.loads(row)["k"] for row in rows] == wanted["k"].to_list()


def test_texts_on_every_type(tmp_path):
    frame = pl.DataFrame({
        "i": [1, None, -3],
        "f": [1.5, float("nan"), None],
        "s": pl.Series([1.5, 0.1, None], dtype=pl.Float32),
        "t": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12), None],
        "z": pl.Series([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12), None]).dt.replace_time_zone("Europe/Zurich"),
        "d": [dt.date(2024, 1, 1), dt.date(1969, 12, 31), None],
        "h": [dt.time(1, 2, 3), dt.time(4, 5, 6, 7), None],
        "n": pl.Series(["1.25", "-0.5", None]).cast(pl.Decimal(10, 2)),
        "b": [True, False, None],
        "x": [b"\x00\xff", b"a", None],
        "l": [[1], [], None],
        "c": pl.Series(["u", "v", None], dtype=pl.Categorical),
    }).with_row_index("row")
    pilaster.write(tmp_path / "x.vortex", frame)
    for where, rows in [
        ("i > 0.5", [0]), ("f = NaN", [1]), ("f != 1.5", [1]), ("s = 0.1", [1]), ("t > 2024-01-01T11:59:59.999999", [1]),
        ("t = 2024-01-01", [0]), ("z = 2024-01-01T11:00:00Z", [1]), ("z < 2024-01-01T12:00", [0]), ("d < 1970-01-01", [1]),
        ("h >= 04:05:06.000007", [1]), ("n = 1.25", [0]), ("n < -0.499", [1]), ("b = true", [0]), ("x = 0x00ff", [0]), ("x = 'a'", [1]),
        ("l is missing", [2]), ("l is not missing", [0, 1]), ("c in (u, w)", [0]), ("not c = u", [1]),
    ]:  # fmt: skip
        for dictionaries in (False, True):
            assert pilaster.open(tmp_path / "x.vortex", where=where, dictionaries=dictionaries).to_pydict()["row"] == rows, where


def test_conditions_of_two_columns_leave_out_zones(tmp_path):
    n = 300_000
    pilaster.write(tmp_path / "x.vortex", {"a": np.arange(n), "b": np.arange(n)[::-1].copy(), "c": np.arange(n) % 7})
    for where in ("a >= 299990 and c = 3", "not (a < 299990 or c != 3)", "(a > 299989 and a != 5) and c = 3"):
        counts = {}
        for trust in (False, True):

            class Counted(io.BytesIO):
                count = 0

                def read(self, size=-1):
                    data = super().read(size)
                    Counted.count += len(data)
                    return data

            file = pilaster.open(Counted((tmp_path / "x.vortex").read_bytes()), where=where, columns=["b"], trust_statistics=trust)
            assert file.to_pydict()["b"] == [n - 1 - a for a in range(299_990, n) if a % 7 == 3]
            counts[trust] = Counted.count
        assert counts[True] < counts[False] / 3, where


def test_nan_and_zones(tmp_path):
    """NaN has no place among the bounds of a zone, and is in none of them."""
    n = 100_000
    f = np.repeat([1.0, 3.0, 9.0], n)
    f[n // 2] = f[-1] = float("nan")
    pilaster.write(tmp_path / "x.vortex", {"f": f, "row": np.arange(len(f))})
    nan = np.isnan(f)
    for where, wanted in [
        ("not f < 5", ~(f < 5)),
        ("not f >= 5", ~(f >= 5)),
        ("f != 1", f != 1),
        ("not f != 1", f == 1),
        ("f = NaN", nan),
        ("f > NaN", f > 10),
        ("f in (1, 9)", np.isin(f, [1, 9])),
        ("f in (2, NaN)", nan),
        ("f not in (1, 9)", ~np.isin(f, [1, 9])),
        ([("f", "==", float("nan"))], nan),
        ([("f", "in", [2.0, float("nan")])], nan),
        ([("f", "!=", 3.0)], f != 3),
    ]:
        for trust in (False, True):
            found = pilaster.open(tmp_path / "x.vortex", where=where, trust_statistics=trust, columns=["row"]).to_pydict()["row"]
            assert found == np.flatnonzero(wanted).tolist(), (where, trust)


WIDE = "tests/golden/vortex/def_decimals_a.vortex"


@pytest.mark.parametrize("trust", [False, True])
def test_decimals_of_more_than_38_digits(trust):
    """They are compared with numbers of 38 digits, whatever the form of the condition."""
    values = pilaster.open(WIDE).to_pydict()["n_d76_20"]
    negative, others = [v for v in values if v < 5], [v for v in values if v >= 5]
    assert negative and others
    for where, wanted in [
        ("n_d76_20 is missing", []),
        (("n_d76_20", "is", None), []),
        (("n_d76_20", "is not", None), values),
        ("n_d76_20 < 5", negative),
        (("n_d76_20", "<", 5), negative),
        ("not n_d76_20 < 5 or n_d76_20 is missing", others),
        (("n_d76_20", ">=", 5), others),
        (("n_d76_20", "in", [5, 7]), []),
    ]:
        assert pilaster.open(WIDE, where=where, trust_statistics=trust).to_pydict()["n_d76_20"] == wanted, where


def test_tuples_are_stricter_than_texts(tmp_path):
    """What the page says of both forms."""
    time = dt.datetime(2024, 1, 1)
    pilaster.write(tmp_path / "x.vortex", pl.DataFrame({"k": [900, 901], "t": [time, time + dt.timedelta(seconds=1)]}))
    for text, value, error in [
        ("k > 900.5", ("k", ">", 900.5), TypeError),
        ("t > 2024-01-01T00:00:00Z", ("t", ">", time.replace(tzinfo=dt.timezone.utc)), TypeError),
        ("t > 2024-01-01T00:00:00.000000001", ("t", ">", np.datetime64(time, "ns") + np.timedelta64(1, "ns")), ValueError),
    ]:
        assert pilaster.open(tmp_path / "x.vortex", where=text).to_pydict()["k"] == [901], text
        with pytest.raises(error):
            pilaster.open(tmp_path / "x.vortex", where=value)
    pilaster.write(tmp_path / "s.vortex", {"s": np.array([0.1, 1], "f4")})
    count = lambda where: len(pilaster.open(tmp_path / "s.vortex", where=where).to_pydict()["s"])
    assert (count("s = 0.1"), count(("s", "==", 0.1)), count(("s", "==", float(np.float32(0.1))))) == (1, 0, 1)


def test_wrong_texts(keyed):
    for where, text in [
        ("k >", "where=\"k >\": expected a value at the end"),
        ("k > 1 s = 2", "unexpected \"s\"; conditions are joined by and, or, at character 7"),
        ("k = 'x", "a ' is not closed, at character 5"),
        ("k is 3", "at character 6"),
        ("k = x", "where=\"k = x\": column k: 'x' is no number, and the column has int32"),
        ("k = '1'", "column k: '1' is a text"),
        ("k = null", "no value is equal to null; k is missing"),
        ("", "the name of a column at the end"),
    ]:
        with pytest.raises(ValueError) as raised:
            pilaster.open(keyed, where=where)
        assert text in str(raised.value)
    with pytest.raises(pilaster.Error, match="nope"):
        pilaster.open(keyed, where="nope = 1 or k > 3")
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        pilaster.open(keyed, where="(" * 100_000)
