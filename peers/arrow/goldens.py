"""Every golden file, converted to Arrow, Parquet and CSV by pilaster, and read by pyarrow, DuckDB and Polars.

The values that pyarrow reads from the Arrow file, the Arrow stream and the Parquet file are compared with `pilaster dump`, bit by
bit; those of long columns, of which `dump` prints few values, by its digest. DuckDB and Polars answer the queries of queries.py. The
CSV file is compared with the Arrow file for the columns that pyarrow's reader of CSV can read exactly. --count chooses that many
files by the seed (0: all)."""

import collections
import decimal
import hashlib
import json
import os
import pathlib
import random
import re
import struct
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent)]
import peer  # noqa: E402
import queries  # noqa: E402

# Types that Parquet does not have.
LACKS = re.compile(r'Parquet has no (Decimal\d+\(\d+, -\d+\)|Struct\(\))')

CONTEXT = decimal.Context(prec=100)
UNITS = {'s': 1, 'ms': 10**3, 'us': 10**6, 'ns': 10**9}
# By the length of the text of `dump`.
WIDTHS = {9: '>e', 13: '>f', 21: '>d'}
FLOATS = {pa.float16(): np.uint16, pa.float32(): np.uint32, pa.float64(): np.uint64}


def storage(a):
    """The integers of dates, times, timestamps and durations."""
    width = pa.int32() if a.type.bit_width == 32 else pa.int64()
    return a.view(width)


def show(a, unit=1):
    """The values of an array as `dump` prints them."""
    t = a.type
    if pa.types.is_dictionary(t):
        # pyarrow does not decode dictionaries of views.
        values = show(a.dictionary)
        return [None if i is None else values[i] for i in a.indices.to_pylist()]
    if pa.types.is_null(t):
        return [None] * len(a)
    if pa.types.is_boolean(t):
        return a.to_pylist()
    if pa.types.is_integer(t):
        return [None if v is None else str(v) for v in a.to_pylist()]
    if pa.types.is_floating(t):
        bits = np.frombuffer(a.buffers()[1], FLOATS[t])[a.offset : a.offset + len(a)]
        width = t.bit_width // 4
        return [f'bits:{b:0{width}x}' if ok else None for b, ok in zip(bits.tolist(), a.is_valid().to_pylist())]
    if pa.types.is_decimal(t):
        scale = t.scale
        return [None if v is None else str(int(v.scaleb(scale, CONTEXT))) for v in a.to_pylist()]
    if pa.types.is_temporal(t):
        return [None if v is None else str(v // unit) for v in storage(a).to_pylist()]
    if pa.types.is_map(t):
        return map_rows(a)
    if pa.types.is_struct(t):
        children = {t.field(k).name: show(child) for k, child in enumerate(a.flatten())}
        return [
            {name: values[i] for name, values in children.items()} if ok else None
            for i, ok in enumerate(a.is_valid().to_pylist())
        ]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t) or 'list_view' in str(t):
        rows = []
        for i, ok in enumerate(a.is_valid().to_pylist()):
            rows.append(show(a[i].values) if ok else None)
        return rows
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return a.to_pylist()
    return [None if v is None else 'hex:' + v.hex() for v in a.to_pylist()]


def as_bytes(value):
    """Bytes that are UTF-8 are texts in `dump`, of formats that do not tell the two apart."""
    return value if value is None or value.startswith('hex:') else 'hex:' + value.encode().hex()


def with_bytes(value, t):
    """The value of `dump` with the texts of binary columns as bytes, also of nested ones."""
    if value is None:
        return None
    if pa.types.is_dictionary(t):
        return with_bytes(value, t.value_type)
    if pa.types.is_struct(t):
        return {name: with_bytes(v, t.field(name).type) for name, v in value.items()}
    if isinstance(value, list) and not pa.types.is_map(t):
        # The items of an array of several dimensions.
        return [with_bytes(v, getattr(t, 'value_type', t)) for v in value]
    return as_bytes(value) if 'binary' in str(t) and isinstance(value, str) else value


def as_texts(value):
    """Bytes that are UTF-8 as `dump` prints them, of formats that do not tell texts from bytes."""
    if isinstance(value, list):
        return [as_texts(v) for v in value]
    if isinstance(value, dict):
        return {name: as_texts(v) for name, v in value.items()}
    if not isinstance(value, str) or not value.startswith('hex:'):
        return value
    try:
        return bytes.fromhex(value[4:]).decode()
    except ValueError:
        return value


def digest(values):
    """The digest that `dump` prints of a column."""
    lines = (json.dumps(v, ensure_ascii=False, separators=(',', ':')) for v in values)
    return hashlib.sha256('\n'.join(lines).encode()).hexdigest()


def map_rows(a):
    rows = []
    for row in a:
        if not row.is_valid:
            rows.append(None)
            continue
        keys, values = row.values.flatten()
        rows.append([{'key': k, 'value': v} for k, v in zip(show(keys), show(values))])
    return rows


def column(table, name, unit=1):
    whole = table.column(name)
    return [v for chunk in whole.chunks for v in show(chunk, unit)]


def coarse(table, of):
    """What seconds and days were multiplied by for Parquet, by column."""
    units = {}
    for field in of.schema:
        if field.type != table.schema.field(field.name).type:
            if pa.types.is_date64(field.type):
                units[field.name] = 0
            elif pa.types.is_timestamp(field.type) or pa.types.is_time(field.type):
                # Zones may be written in another form.
                units[field.name] = 1 if field.type.unit == getattr(table.schema.field(field.name).type, 'unit', '') else 1000
    return units


def tables(path, hints, a):
    """The tables of a file: name (None if it is the only one), columns of `dump`."""
    status, out, error = peer.run(a.pilaster, 'dump', *hints, path)
    if status:
        # Some goldens are damaged on purpose, and no row of them is read.
        a.unread.append(f'{path.name}: {error.decode().strip()}')
        return []
    found = json.loads(out)
    if 'tables' not in found:
        return [(None, found.get('columns', []))]
    return [(t['type_name'] if len(found['tables']) > 1 else None, t['columns']) for t in found['tables']]


def hints_of(path, a):
    if path.suffix == '.blosc':
        # Some chunks end within an item; their bytes can be read.
        plain, _, _ = peer.run(a.pilaster, 'verify', path)
        head = peer.run(a.pilaster, 'head', '-n', '0', path)[0]
        return ['--dtype', 'uint8'] if plain == 0 and head else []
    if path.suffix != '.filo':
        return []
    facts = json.loads(path.with_suffix('.expected.json').read_text())['facts']
    return ['--type', facts['element_type']]


def check(path, place, a, counts):
    bad = []
    hints = hints_of(path, a)
    for table, columns in tables(path, hints, a):
        which = ['--table', table] if table is not None else []
        made = {}
        for kind in ('arrow', 'arrows', 'parquet', 'csv'):
            target = place / f'golden.{kind}'
            status, _, error = peer.run(a.pilaster, 'convert', '--force', *hints, *which, path, target)
            if status and LACKS.search(error.decode()):
                counts['refused, as documented'] += 1
            elif status:
                bad.append(f'{kind}: {error.decode().strip()}')
            else:
                made[kind] = target
        open_file = {
            'arrow': lambda path: pa.ipc.open_file(path).read_all(),
            'arrows': lambda path: pa.ipc.open_stream(pa.memory_map(str(path))).read_all(),
            'parquet': pa.parquet.read_table,
        }
        read = {kind: open_file[kind](made[kind]) for kind in open_file if kind in made}
        if 'arrow' not in read:
            continue
        for kind, found in read.items():
            found.validate(full=True)
            if found.num_columns == 0:
                counts['without columns'] += 1
                continue
            units = coarse(found, read['arrow'])
            for expected in columns:
                why = differs(found, expected, units, path.is_dir())
                if why:
                    bad.append(f'{kind}: {expected["name"]}, {why}')
                counts['columns'] += 1
        if 'csv' in made:
            bad += text(made['csv'], read['arrow'], counts, columns)
        if 'parquet' in made:
            bad += queries.engines(made, read['parquet'], counts)
    return bad


def printed(expected):
    """The values that `dump` prints of a column, or their first ones. Structs of bcolz are printed field by field."""
    if 'fields' not in expected:
        return expected.get('values', expected.get('head'))
    fields = {field['name']: printed(field) for field in expected['fields']}
    return [dict(zip(fields, row)) for row in zip(*fields.values())]


def differs(found, expected, units, flat):
    """How a column of a table differs from that of `dump`, or None. `flat`: whether `dump` prints the items of arrays one by one."""
    # A column without a name is called v by other formats.
    name = expected['name'] or 'v'
    unit, t = units.get(name, 1), found.schema.field(name).type
    got = column(found, name, unit or 1)
    values = printed(expected)
    # The items of an array of several dimensions.
    while flat and got and isinstance(got[0], list) and not isinstance(values[0], list):
        got = [item for row in got for item in row]
    if unit == 0:
        got = [None if v is None else str(int(v) * 86_400_000) for v in got]
    whole = 'values' in expected or 'fields' in expected
    if not whole and expected['sha256'] in (digest(got), digest(as_texts(got))):
        return None
    values = [with_bytes(v, t) for v in values]
    first = next((i for i, (g, e) in enumerate(zip(got, values)) if g != e), min(len(got), len(values)))
    if not whole and first == len(values):
        return 'the digest of all rows'
    if got[: len(values)] != values:
        return f'row {first}: {got[first : first + 1]}, not {values[first : first + 1]}'
    return None


def in_csv(t):
    """The type as which the reader of CSV reads values of type `t` exactly, or None."""
    t = t.value_type if pa.types.is_dictionary(t) else t
    if str(t) in ('string', 'large_string', 'string_view'):
        return pa.string()
    if pa.types.is_float16(t):
        return pa.float32()
    if pa.types.is_duration(t):
        return pa.int64()
    if pa.types.is_decimal(t):
        # Others are texts to the reader, which Python parses.
        return pa.string() if t.precision > 38 or t.scale < 0 else pa.decimal128(t.precision, t.scale)
    return t if pa.types.is_primitive(t) else None


def reach(t, values):
    """Whether the reader of CSV takes all times: years of more than four digits are no ISO 8601, and it refuses the first second of
    nanoseconds."""
    if not pa.types.is_date(t) and not pa.types.is_timestamp(t):
        return True
    if 'ns' in str(t) and any(v is not None and int(v) < -9223372036 * 10**9 for v in values):
        return False
    per_day = 1 if pa.types.is_date32(t) else 86_400_000 if pa.types.is_date64(t) else 86_400 * UNITS[t.unit]
    return all(v is None or abs(int(v)) < 500_000 * per_day for v in values)


def as_text(values, t):
    """The values of a column without what CSV does not tell: floats as numbers with one NaN."""
    if not pa.types.is_floating(t):
        return values
    numbers = [None if v is None else struct.unpack(WIDTHS[len(v)], bytes.fromhex(v[5:])) for v in values]
    return [None if v is None else 'NaN' if v[0] != v[0] else v[0].hex() for v in numbers]


def text(path, arrow, counts, columns):
    """Compares the columns of CSV that its reader reads exactly."""
    names = arrow.schema.names
    # A single column without a name is called v in the Arrow file.
    named = all(c['name'] for c in columns)
    if len(set(names)) < len(names) or arrow.num_rows == 0 or not columns or (not named and names != ['v']):
        counts['csv columns not compared'] += len(names)
        return []
    expected, types = {}, {}
    for field in arrow.schema:
        ty = in_csv(field.type)
        values = column(arrow, field.name) if ty is not None else []
        if ty is None or not reach(ty, values):
            counts['csv columns not compared'] += 1
            continue
        expected[field.name], types[field.name] = as_text(values, field.type), ty
    if not types:
        return []
    found = pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions() if named else pa.csv.ReadOptions(column_names=names, skip_rows=1),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pa.csv.ConvertOptions(
            column_types=types, include_columns=list(types), strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=['']
        ),
    )
    counts['csv'] += len(types)
    bad = []
    for name, ty in types.items():
        got, t = as_text(column(found, name), ty), arrow.schema.field(name).type
        if pa.types.is_decimal(t) and pa.types.is_string(ty):
            got = [None if v is None else str(int(decimal.Decimal(v).scaleb(t.scale, CONTEXT))) for v in got]
        first = next((i for i, (g, e) in enumerate(zip(got, expected[name])) if g != e), None)
        if first is not None or len(got) != len(expected[name]):
            bad.append(f'csv: {name} ({ty}), row {first}: {got[first or 0]}, not {expected[name][first or 0]}')
    return bad


def goldens(top):
    files = [p for p in top.rglob('*') if p.suffix in ('.jay', '.vortex', '.ds', '.filo', '.blosc') and p.is_file()]
    marks = [p.parent.parent if p.parent.name == 'meta' else p.parent for p in top.rglob('*') if p.name in ('__rootdirs__', 'sizes')]
    sets = [m for m in marks if not any(other in m.parents for other in marks)]
    return sorted(set(files) | set(sets))


def main():
    p = peer.arguments(__doc__, count=0)
    p.add_argument('--golden', required=True, help='the folder tests/golden')
    a = peer.parse(p)
    a.unread = []
    files = goldens(pathlib.Path(a.golden))
    if a.count:
        files = random.Random(a.seed).sample(files, min(a.count, len(files)))
    place, counts, bad = pathlib.Path(a.scratch), collections.Counter(), 0
    for path in files:
        try:
            wrong = check(path, place, a, counts)
        except Exception as e:
            wrong = [f'{type(e).__name__}: {e}']
        counts['files'] += 1
        for why in wrong:
            bad += 1
            print(f'{os.path.relpath(path, a.golden)}: {why}'[:300])
    for why in a.unread:
        print('not read:', why[:200])
    counts['files not read'] = len(a.unread)
    return peer.finish('arrow/goldens', bad, ', '.join(f'{v} {k}' for k, v in sorted(counts.items())) + f'; {bad} differ')


if __name__ == '__main__':
    sys.exit(main())
