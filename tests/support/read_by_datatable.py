"""Reads what `.ci/datatable` wrote with the original, and compares every value with the expectations."""

import hashlib
import json
import struct
import sys
from pathlib import Path

import datatable as dt


def text(value, stype):
    """A value in the form of the expectations."""
    if value is None:
        return "null"
    if isinstance(value, list):
        inner = stype[stype.index("(") + 1 : -1]
        return "[" + ",".join(text(item, inner) for item in value) + "]"
    if stype == "bool8":
        return "true" if value else "false"
    if stype == "float32":
        return '"bits:%08x"' % struct.unpack("<I", struct.pack("<f", value))[0]
    if stype == "float64":
        return '"bits:%016x"' % struct.unpack("<Q", struct.pack("<d", value))[0]
    if stype.startswith("str"):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return '"%d"' % value


def storage(column, stype):
    """Dates and times as the integers that are stored."""
    if stype == "date32":
        return column[:, dt.as_type(dt.f[0], dt.Type.int32)]
    if stype == "time64":
        return column[:, dt.as_type(dt.f[0], dt.Type.int64)]
    return column


def check(path, expected):
    frame = dt.fread(str(path))
    columns = expected["columns"]
    if columns and frame.nrows != expected["nrows"]:
        return f"{frame.nrows} rows and not {expected['nrows']}"
    if list(frame.names) != [column["name"] for column in columns]:
        return f"names {frame.names}"
    if list(frame.key) != expected["facts"].get("key", []):
        return f"key {frame.key}"
    for k, column in enumerate(columns):
        stype = column["stype"]
        one = storage(frame[:, k].copy(), stype)
        got = [text(value, stype) for value in one.to_list()[0]]
        if stype == "void":
            got = ["null"] * frame.nrows
        if "values" in column:
            want = [json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in column["values"]]
            if got != want:
                row = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), len(want))
                return f"{column['name']}, row {row}: {got[row:row + 1]} and not {want[row:row + 1]}"
        elif hashlib.sha256("\n".join(got).encode()).hexdigest() != column["sha256"]:
            return f"{column['name']}: values differ"
        # What is stored of it must be what it is: minima are taken from the file.
        if stype in ("int8", "int16", "int32", "int64") and any(v != "null" for v in got):
            numbers = [int(v.strip('"')) for v in got if v != "null"]
            if (one.min1(), one.max1()) != (min(numbers), max(numbers)):
                return f"{column['name']}: minimum or maximum differ"
        if not stype.startswith("arr") and stype != "void" and one.countna1() != got.count("null"):
            return f"{column['name']}: count of missing values differs"
    return None


def main(goldens, written):
    wrong, stypes = 0, set()
    files = sorted(Path(written).glob("*.jay"))
    for path in files:
        name = path.name.rsplit(".", 2)[0]
        expected = json.loads((Path(goldens) / f"{name}.expected.json").read_text())
        stypes |= {column["stype"] for column in expected["columns"]}
        problem = check(path, expected)
        if problem:
            wrong += 1
            print(f"{path.name}: {problem}", file=sys.stderr)
    print(f"datatable {dt.__version__}: {len(files)} files, {wrong} wrong; types {', '.join(sorted(stypes))}")
    return 1 if wrong or len(files) < 80 else 0


sys.exit(main(*sys.argv[1:]))
