"""Datasets and chunks between pilaster, python-blosc and bcolz itself, for `.ci/bcolz`."""

import hashlib
import json
import math
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import bcolz_itself
import blosc

# Wheels come without Snappy, which `.ci/blosc` has.
CODECS = [name for name in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd") if name in blosc.compressor_list()]
SHUFFLES = {"none": 0, "bytes": 1, "bits": 2}
SIZES = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 128, 255, 300]
HEADER = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0"


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr.decode()}")
    return done.stdout.decode()


def item_size(dtype):
    """Bytes of an item, and the letter of its kind, as numpy has them."""
    names = {"bool": ("?", 1), "float16": ("f", 2), "float32": ("f", 4), "float64": ("f", 8)}
    for bits in (8, 16, 32, 64):
        names[f"int{bits}"] = ("i", bits // 8)
        names[f"uint{bits}"] = ("u", bits // 8)
    if dtype in names:
        return names[dtype]
    if dtype.startswith("datetime64["):
        return "M", 8
    kind, size = re.fullmatch(r"[<>|=]?([SUVMfiu])(\d+)(?:\[\w+\])?", dtype).groups()
    return kind, int(size) * (4 if kind == "U" else 1)


def rows_of(directory):
    """Type, shape and bytes of an array, by the rules that the original reads by."""
    sizes = json.loads((directory / "meta/sizes").read_text())
    storage = json.loads((directory / "meta/storage").read_text())
    for key in ("shape", "nbytes", "cbytes"):
        sizes[key]
    for key in ("dtype", "cparams", "chunklen", "expectedlen", "dflt"):
        storage[key]
    storage["cparams"]["clevel"], storage["cparams"]["shuffle"]
    json.loads((directory / "__attrs__").read_text())
    count, length = sizes["shape"][0], storage["chunklen"]

    def chunk(number):
        return blosc.decompress((directory / f"data/__{number}.blp").read_bytes()[16:])

    if storage["dtype"] == "object":
        return storage["dtype"], sizes["shape"], [chunk(k) for k in range(count)]
    row = item_size(storage["dtype"])[1] * math.prod(sizes["shape"][1:])
    data = b"".join(chunk(k) for k in range(count // length))
    if count % length:
        data += chunk(count // length)[: count % length * row]
    assert len(data) == count * row, directory
    assert sizes["nbytes"] == count * row, directory
    return storage["dtype"], sizes["shape"], data


def texts(dtype, data):
    """Values in the form of the expectations."""
    if dtype == "object":
        return [json.dumps("hex:" + item.hex()) for item in data]
    kind, size = item_size(dtype)
    order = "big" if dtype.startswith(">") else "little"
    out = []
    for at in range(0, len(data), size):
        item = data[at : at + size]
        if kind == "?":
            out.append("true" if item[0] else "false")
        elif kind == "f":
            out.append('"bits:%s"' % (item if order == "big" else item[::-1]).hex())
        elif kind == "S":
            item = item.rstrip(b"\0")
            out.append(json.dumps("hex:" + item.hex()))
        elif kind == "V":
            out.append(json.dumps("hex:" + item.hex()))
        elif kind == "U":
            text = item.decode("utf-32-be" if order == "big" else "utf-32-le").rstrip("\0")
            out.append(json.dumps(text, ensure_ascii=False))
        else:
            number = int.from_bytes(item, order, signed=kind != "u")
            out.append("null" if kind == "M" and number == -(2**63) else f'"{number}"')
    return out


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check(directory, expected):
    columns = expected["columns"]
    if expected["facts"]["kind"] == "ctable":
        names = json.loads((directory / "__rootdirs__").read_text())["names"]
        assert names == [column["name"] for column in columns], names
        json.loads((directory / "__attrs__").read_text())
        places = [directory / name for name in names]
    else:
        places = [directory]
    for place, column in zip(places, columns, strict=True):
        dtype, shape, data = rows_of(place)
        assert shape == column["shape"], (directory, shape)
        got = texts(dtype, data)
        if "values" in column:
            want = [compact(value) for value in column["values"]]
            bad = [k for k, pair in enumerate(zip(got, want, strict=True)) if pair[0] != pair[1]]
            assert not bad, (place, bad[0], got[bad[0]], want[bad[0]])
        else:
            digest = hashlib.sha256("\n".join(got).encode()).hexdigest()
            assert digest == column["sha256"], place


def all_rows(directory, expected):
    return [rows_of(directory / column["name"])[2] for column in expected["columns"]]


def datasets(pilaster, goldens, out):
    """Every golden, converted: in one piece, and in two, appended."""
    count = 0
    for path in sorted(goldens.glob("*.expected.json")):
        name = path.name.removesuffix(".expected.json")
        expected = json.loads(path.read_text())
        if any("fields" in column for column in expected["columns"]):
            continue
        # The reader itself, on what the original wrote.
        if "snappy" not in name or "snappy" in CODECS:
            check(goldens / name, expected)
        codec, shuffle = CODECS[count % len(CODECS)], list(SHUFFLES)[count // len(CODECS) % 3]
        options = ["--codec", codec, "--shuffle", shuffle, "--clevel", count % 10]
        for chunklen in (["--chunklen", 1 + expected["nrows"] // 3], []):
            target = out / f"{name}.{len(chunklen)}.bcolz"
            run(pilaster, "convert", *options, *chunklen, goldens / name, target)
            check(target, expected)
            bcolz_itself.read(target, rows_of)
        run(pilaster, "convert", "--append", goldens / name, target)
        bcolz_itself.read(target, rows_of)
        once, twice = all_rows(out / f"{name}.2.bcolz", expected), all_rows(target, expected)
        assert [data * 2 for data in once] == twice, name
        # And the other way round: what it appended to ours.
        if expected["columns"][0]["type"] != "object":
            bcolz_itself.append(target)
            run(pilaster, "verify", target)
            anew = out / f"{name}.anew.bcolz"
            run(pilaster, "convert", target, anew)
            assert [data * 4 for data in once] == all_rows(anew, expected), name
        edited(pilaster, goldens / name, expected, out)
        count += 1
    return count


def edited(pilaster, golden, expected, out):
    """A dataset changed in place, by each edit, is read by bcolz itself, and it goes on with it."""
    target = out / f"{golden.name}.edited.bcolz"
    chunklen = 1 + expected["nrows"] // 3
    if golden.name.startswith("dflt"):
        # With its default value, which is not zero.
        shutil.copytree(golden, target)
    else:
        run(pilaster, "convert", "--chunklen", chunklen, golden, target)
    rows, objects = expected["nrows"], expected["columns"][0]["type"] == "object"
    table = expected["facts"]["kind"] == "ctable"
    if rows > 1:
        run(pilaster, "edit", "--trim", rows // 2, target)
        bcolz_itself.read(target, rows_of)
    if not objects:
        run(pilaster, "edit", "--resize", rows + 7, target)
        bcolz_itself.read(target, rows_of)
        bcolz_itself.defaults(target, 7)
        # From a row inside of a chunk, over all that follow.
        if rows > 1:
            run(pilaster, "edit", "--overwrite", f"6={golden}", target)
            bcolz_itself.read(target, rows_of)
    run(pilaster, "edit", "--set-attr", 'name={"é": [1, null]}', "--set-attr", "x=1", target)
    run(pilaster, "edit", "--remove-attr", "x", target)
    assert bcolz_itself.attributes(target)["name"] == {"é": [1, None]}, target
    if table:
        first = expected["columns"][0]["name"]
        run(pilaster, "edit", "--drop-column", first, target)
        bcolz_itself.read(target, rows_of)
        other = out / f"{golden.name}.column.bcolz"
        run(pilaster, "convert", golden, other)
        run(pilaster, "edit", "--resize", rows + 7, other)
        run(pilaster, "edit", "--add-column", f"{first}={other}", target)
        bcolz_itself.read(target, rows_of)
    if not objects:
        bcolz_itself.append(target)
        run(pilaster, "verify", target)


def chunks(pilaster, out):
    """Every compressor, shuffle and item size, both ways."""
    count = 0
    for codec in CODECS:
        for shuffle, number in SHUFFLES.items():
            for size in SIZES:
                items = 40_000 // size
                data = b"".join(bytes((k * 7 >> 8 * min(j, 3)) & 255 for j in range(size)) for k in range(items))
                level = 1 + count % 9
                theirs = blosc.compress(data, typesize=min(size, 255), clevel=level, shuffle=number, cname=codec)
                bare = out / "chunk.blosc"
                bare.write_bytes(theirs)
                dump = json.loads(run(pilaster, "dump", bare))
                assert dump["sha256"] == hashlib.sha256(data).hexdigest(), (codec, shuffle, size)
                # The same as a dataset of ours to read, and to write anew.
                source, target = out / f"raw{count}", out / f"ours{count}.bcolz"
                (source / "meta").mkdir(parents=True)
                (source / "data").mkdir()
                (source / "data/__0.blp").write_bytes(HEADER + theirs)
                sizes = {"shape": [items], "nbytes": len(data), "cbytes": len(theirs)}
                (source / "meta/sizes").write_text(json.dumps(sizes))
                storage = {"dtype": f"|V{size}", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": items}
                (source / "meta/storage").write_text(json.dumps(storage | {"expectedlen": items, "dflt": ""}))
                options = ["--codec", codec, "--shuffle", shuffle, "--clevel", level, "--chunklen", items // 3 or 1]
                run(pilaster, "convert", *options, source, target)
                assert rows_of(target)[2] == data, (codec, shuffle, size)
                count += 1
    return count


def main(pilaster, goldens, out):
    count = datasets(pilaster, Path(goldens), Path(out))
    both = chunks(pilaster, Path(out))
    missing = "" if "snappy" in CODECS else ", no Snappy"
    print(
        f"bcolz {bcolz_itself.bcolz.__version__}, python-blosc {blosc.__version__}, "
        f"c-blosc {blosc.blosclib_version.split()[0]}: {count} datasets written, appended to and edited, "
        f"{both} kinds of chunks both ways{missing}"
    )
    return 1 if count < 75 or both != len(CODECS) * len(SHUFFLES) * len(SIZES) else 0


sys.exit(main(*sys.argv[1:]))
