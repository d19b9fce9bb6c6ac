"""Every file of the original programs: through pyarrow, polars and pandas, and damaged ones."""

import collections

import conftest
import goldens
import pandas as pd
import pilaster
import polars as pl
import pyarrow as pa
import pytest

ALL = [(conftest.golden(stem, expected), expected) for stem, expected in conftest.expectations()]

# Whether a file is damaged, or is only for the reader of its format.
DAMAGED = {"error", "either"}


def kind(path, expected):
    if path is None:
        return "missing"
    if expected.get("expect") in DAMAGED or "reference_verdict" in expected:
        return "damaged"
    if path.suffix == ".varr" or "open_without_dtype" in expected.get("facts", {}):
        return "apart"
    return "chunk" if expected.get("kind") == "chunk" or path.suffix == ".blosc" else "table"


KINDS = collections.defaultdict(list)
for one, about in ALL:
    KINDS[kind(one, about)].append((one, about))


def named(kinds):
    return [pytest.param(path, expected, id=f"{path.parent.name}/{path.name}") for path, expected in kinds]


def test_all_are_found():
    counts = {kind: len(some) for kind, some in KINDS.items()}
    assert counts.get("missing", 0) == 0 and counts["table"] > 550 and counts["damaged"] > 100, counts


def opened(path, expected):
    element = expected["facts"]["element_type"] if path.suffix == ".filo" else None
    return pilaster.open(path, type=element)


def tables(path, expected):
    file = opened(path, expected)
    if "tables" not in expected:
        return [(file, expected["columns"], expected["nrows"])]
    return [(file.select(table=t["type_name"]), t["columns"], t["nrows"]) for t in expected["tables"]]


def values(array):
    return [value for chunk in array.chunks for value in goldens.show(chunk)]


def differs(array, expected, flat):
    """How a column differs from its expectation, or None."""
    got, wanted = values(array), goldens.printed(expected)
    while flat and got and isinstance(got[0], list) and not isinstance(wanted[0], list):
        got = [item for row in got for item in row]
    if "values" not in expected and "fields" not in expected:
        digests = goldens.digest(got), goldens.digest(goldens.as_texts(got))
        return None if expected["sha256"] in digests else "the digest"
    wanted = [goldens.with_bytes(value, array.type) for value in wanted]
    return None if got == wanted else f"{got[:3]}, not {wanted[:3]}"


@pytest.mark.parametrize(("path", "expected"), named(KINDS["table"]))
def test_values(path, expected):
    for file, columns, rows in tables(path, expected):
        table = pa.table(file)
        table.validate(full=True)
        assert table.num_rows == rows == file.num_rows
        assert table.schema == pa.schema(file)
        # A table without parts has no columns that are known.
        assert table.num_columns == len(columns) or rows == 0
        for array, column in zip(table.columns, columns):
            assert differs(array, column, path.is_dir()) is None, column["name"]
        unnamed = [name for name in table.column_names if table.column_names.count(name) > 1]
        if unnamed or table.num_columns == 0:
            continue
        through_polars(file, table)
        through_pandas(file, table)
        lists = {name: len(some) for name, some in file.to_pydict().items()}
        assert lists == dict.fromkeys(table.column_names, rows)


# Files with types for which polars panics, whoever passes them on: decimals of 256 bits, lists of no items.
FATAL = ("def_decimals_a.vortex", "enc_decimal_a.vortex", "enc_list_a.vortex", "enc_list_b.vortex")

# Files with dates or times that pandas refuses, whoever passes them on: after year 9999, or of odd nanoseconds.
REFUSED = ("alltypes_n5.jay", "date32_n9.jay", "stats_n7.jay", "def_temporal_a.vortex")


def is_fatal(ty):
    return "decimal256" in str(ty) or "[0]" in str(ty)


def through_polars(file, table):
    if any(is_fatal(field.type) for field in table.schema):
        assert file.name.endswith(FATAL)
        return
    expected = pl.DataFrame(table)
    # Polars names columns of pyarrow that have no name.
    expected.columns = table.column_names
    frame = pl.DataFrame(file)
    assert frame.equals(expected)
    assert file.to_polars().equals(expected)
    for name in frame.columns:
        ty = table.schema.field(name).type
        if pa.types.is_integer(ty) or pa.types.is_boolean(ty) or "string" in str(ty) and "<" not in str(ty):
            assert frame[name].to_list() == table[name].to_pylist()


def through_pandas(file, table):
    try:
        expected = pd.DataFrame.from_arrow(table)
    except (ValueError, NotImplementedError, pa.ArrowException, TypeError):
        assert file.name.endswith(REFUSED)
        with pytest.raises((ValueError, pa.ArrowException)):
            file.to_pandas()
        return
    pd.testing.assert_frame_equal(pd.DataFrame.from_arrow(file), expected)
    pd.testing.assert_frame_equal(file.to_pandas(), expected)


@pytest.mark.parametrize(("path", "expected"), named(KINDS["chunk"]))
def test_chunks(path, expected):
    import hashlib

    data = pilaster.blosc.decompress(path.read_bytes())
    assert len(data) == expected["nbytes"] and hashlib.sha256(data).hexdigest() == expected["sha256"]
    assert pilaster.blosc.info(path.read_bytes())["nbytes"] == expected["nbytes"]


@pytest.mark.parametrize(("path", "expected"), named(KINDS["damaged"]))
def test_damaged(path, expected):
    """A damaged file raises, or is read; nothing else happens."""
    if path.suffix == ".blosc":
        attempt = lambda: pilaster.blosc.decompress(path.read_bytes())
    else:

        def attempt():
            file = pilaster.open(path)
            file.verify()
            for table in file.tables:
                file.select(table=table).to_pydict()

    try:
        attempt()
        # What the reference refuses as well must not pass.
        assert expected.get("expect") != "error"
    except (pilaster.Error, ValueError) as e:
        assert str(e)
    if path.suffix != ".blosc":
        # Whatever a consumer does with it, the error is one of Python.
        try:
            pa.table(pilaster.open(path, tolerant=path.suffix == ".jay" or path.is_dir()))
        except (pilaster.Error, ValueError, pa.ArrowException) as e:
            assert str(e)


def test_bytes_of_damaged_files_have_a_place():
    with pytest.raises(pilaster.Error) as caught:
        pilaster.open(b"JAY1\0\0\0\0 is too short")
    e = caught.value
    assert (e.kind, e.field, e.offset, e.need) == ("Truncated", "jay end signature", 0, 24)


@pytest.mark.parametrize("name", ["jay/alltypes_n5.jay", "vortex/def_one_row_a.vortex"])
def test_every_byte_damaged(name):
    """No byte that is changed ends the process."""
    data = bytearray((conftest.GOLDEN / name).read_bytes())
    step = max(1, len(data) // 400)
    for at in range(0, len(data), step):
        for bit in (1, 0x80):
            data[at] ^= bit
            try:
                file = pilaster.open(bytes(data))
                pa.table(file)
                file.to_pydict()
            except (pilaster.Error, ValueError, pa.ArrowException, OverflowError):
                pass
            data[at] ^= bit
