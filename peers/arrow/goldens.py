"""Every golden file, converted to Arrow, Parquet and CSV by pilaster, and read by pyarrow, DuckDB and Polars.

The values that pyarrow reads from the Arrow file, the Arrow stream and the Parquet file are compared with `pilaster dump`, bit by
bit. DuckDB and Polars answer five queries over both files as pyarrow does. The CSV file is compared with `dump` for the columns
that pyarrow's reader of CSV can read exactly. --count chooses that many files by the seed (0: all)."""

import json
import os
import pathlib
import random
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import peer  # noqa: E402

# Types that Parquet does not have.
LACKS = re.compile(r'Parquet has no (Decimal\d+\(\d+, -\d+\)|Struct\(\))')

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
                if 'values' not in expected:
                    counts['columns without values in dump'] += 1
                    continue
                # A column without a name is called v by other formats.
                name, values = expected['name'] or 'v', expected['values']
                unit = units.get(name, 1)
                got = column(found, name, unit or 1)
                # The items of an array of several dimensions.
                while path.is_dir() and got and isinstance(got[0], list) and not isinstance(values[0], list):
                    got = [item for row in got for item in row]
                if 'binary' in str(found.schema.field(name).type):
                    values = [as_bytes(v) for v in values]
                if unit == 0:
                    got = [None if v is None else str(int(v) * 86_400_000) for v in got]
                if got[: len(values)] != values:
                    first = next((i for i, (g, e) in enumerate(zip(got, values)) if g != e), len(got))
                    bad.append(f'{kind}: {expected["name"]}, row {first}: {got[first : first + 1]}, not {values[first : first + 1]}')
                counts['columns'] += 1
        if 'csv' in made:
            bad += text(made['csv'], read['arrow'], counts, columns)
        if 'parquet' in made:
            bad += engines(made, read['parquet'], counts)
    return bad


def text(path, arrow, counts, columns):
    """Compares the columns of CSV that its reader reads exactly."""
    named = all(c['name'] for c in columns) and columns
    exact = [
        f
        for f in arrow.schema
        if named
        if pa.types.is_integer(f.type) or pa.types.is_boolean(f.type) or str(f.type) in ('string', 'large_string', 'date32[day]')
    ]
    names = [f.name for f in exact]
    counts['csv columns not compared'] += arrow.num_columns - len(names)
    if not names or len(set(arrow.schema.names)) < len(arrow.schema.names) or arrow.num_rows == 0:
        counts['csv columns not compared'] += len(names)
        return []
    # Years of more than four digits are no ISO 8601 to other readers.
    dates = [f.name for f in exact if pa.types.is_date(f.type)]
    names = [n for n in names if n not in dates or all(v is None or abs(int(v)) < 500_000 for v in column(arrow, n))]
    counts['csv columns not compared'] += len(exact) - len(names)
    if not names:
        return []
    types = {n: pa.string() if 'string' in str(arrow.schema.field(n).type) else arrow.schema.field(n).type for n in names}
    found = pa.csv.read_csv(
        path,
        parse_options=pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pa.csv.ConvertOptions(
            column_types=types, include_columns=names, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=['']
        ),
    )
    counts['csv'] += len(names)
    return [f'csv: {n} differs' for n in names if column(found, n) != column(arrow, n)]


def engines(made, table, counts):
    """Five queries of DuckDB and Polars over the files."""
    import duckdb
    import polars

    numbers = [f.name for f in table.schema if pa.types.is_integer(f.type)]
    texts = [f.name for f in table.schema if str(f.type) in ('string', 'large_string')]
    bad = []
    lower = [n.lower() for n in table.schema.names]
    # Both engines want rows, and columns with names that differ.
    if table.num_rows == 0 or not lower or len(set(lower)) < len(lower) or '' in lower:
        counts['tables without queries'] += 1
        return bad
    ours = {'count': table.num_rows}
    for n in numbers[:1]:
        ours['missing'] = table.column(n).null_count
        ours['min'], ours['max'] = (pc.min(table.column(n)).as_py(), pc.max(table.column(n)).as_py())
    for n in texts[:1]:
        ours['distinct'] = pc.count_distinct(table.column(n)).as_py()
    quoted = lambda n: '"' + n.replace('"', '""') + '"'  # noqa: E731
    source = {'duckdb parquet': f"'{made['parquet']}'"}
    arrow = pa.ipc.open_file(made['arrow']).read_all()
    if not any(word in str(f.type) for word in ('view', 'decimal256', 'halffloat', 'map') for f in arrow.schema):
        source['duckdb arrow'] = 'arrow'
    for engine, name in source.items():
        found = {'count': duckdb.sql(f'select count(*) from {name}').fetchall()[0][0]}
        for n in numbers[:1]:
            q = quoted(n)
            row = duckdb.sql(f'select count(*) - count({q}), min({q}), max({q}) from {name}').fetchall()[0]
            found['missing'], found['min'], found['max'] = row
        for n in texts[:1]:
            found['distinct'] = duckdb.sql(f'select count(distinct {quoted(n)}) from {name}').fetchall()[0][0]
        if found != ours:
            bad.append(f'{engine}: {found}, not {ours}')
        counts['queries'] += len(found)
    for engine, frame in (
        ('polars parquet', lambda: polars.read_parquet(made['parquet'])),
        ('polars arrow', lambda: polars.read_ipc(made['arrow'])),
    ):
        try:
            frame = frame()
        except KeyboardInterrupt:
            raise
        # A panic of Polars is no Exception.
        except BaseException as e:
            # Types that Polars does not have.
            counts[f'{engine}: refused'] += 1
            counts.setdefault('reasons', set()).add(str(e)[:100])
            continue
        found = {'count': frame.height}
        for n in numbers[:1]:
            found['missing'], found['min'], found['max'] = frame[n].null_count(), frame[n].min(), frame[n].max()
        for n in texts[:1]:
            found['distinct'] = frame[n].drop_nulls().n_unique()
        if found != ours:
            bad.append(f'{engine}: {found}, not {ours}')
        counts['queries'] += len(found)
    return bad


def goldens(top):
    files = [p for p in top.rglob('*') if p.suffix in ('.jay', '.vortex', '.ds', '.filo', '.blosc') and p.is_file()]
    marks = [p.parent.parent if p.parent.name == 'meta' else p.parent for p in top.rglob('*') if p.name in ('__rootdirs__', 'sizes')]
    sets = [m for m in marks if not any(other in m.parents for other in marks)]
    return sorted(set(files) | set(sets))


def main():
    import collections
    import decimal

    global CONTEXT
    CONTEXT = decimal.Context(prec=100)
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
    reasons = counts.pop('reasons', ())
    for why in reasons:
        print('polars:', why)
    return peer.finish('arrow/goldens', bad, ', '.join(f'{v} {k}' for k, v in sorted(counts.items())) + f'; {bad} differ')


if __name__ == '__main__':
    sys.exit(main())
