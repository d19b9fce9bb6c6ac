"""Random tables, written by pyarrow as Parquet, Arrow files and streams, converted by pilaster to another format and back to
Parquet, and compared with the first values, bit by bit. Columns that a format cannot store are left out, as the error says, and
counted. Text is read back with the types of its columns (--schema); columns whose type this cannot name are left out. The Python needs vortex-data, too, whose generator of tables this uses. The seed of table i is SEED + i."""

import collections
import pathlib
import random
import re
import shutil
import struct
import sys

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent), str(here.parent / 'vortex')]
import gen  # noqa: E402
import goldens  # noqa: E402
import peer  # noqa: E402

FORMATS = ('vortex', 'jay', 'ds', 'bcolz', 'arrow', 'arrows', 'parquet', 'csv', 'jsonl')
TEXT = ('csv', 'jsonl')
REFUSED = re.compile(r'column "?([^ ":.]+)')


def table(r, rows):
    n = r.choice([0, 1, 2, 7, 100, 1000, 1025, rows])
    columns = {f'c{k}': gen.col(r, n)[1] for k in range(r.randrange(1, 7))}
    return pa.table(columns)


def source(r, t, place):
    """Writes a table as pyarrow does."""
    kind = r.choice(['parquet', 'parquet', 'arrow', 'arrows'])
    path = place / f'source.{kind}'
    if kind == 'parquet':
        try:
            pa.parquet.write_table(
                t,
                path,
                compression=r.choice(['snappy', 'zstd', 'none', 'gzip', 'lz4']),
                row_group_size=r.choice([50, 333, 100_000]),
                data_page_version=r.choice(['1.0', '2.0']),
                use_dictionary=r.random() < 0.7,
            )
            return path
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
            path = place / 'source.arrow'
    with pa.OSFile(str(path), 'wb') as sink:
        new = pa.ipc.new_stream if path.suffix == '.arrows' else pa.ipc.new_file
        # Dictionaries are decoded, as one file cannot replace them.
        with new(sink, t.schema) as writer:
            writer.write_table(t, max_chunksize=r.choice([50, 333, 100_000]))
    return path


def convert(a, *args):
    status, _, error = peer.run(a.pilaster, 'convert', '--force', *args)
    return None if status == 0 else error.decode().strip()


# A date may become a timestamp.
KINDS = (lambda t: pa.types.is_date(t) or pa.types.is_timestamp(t), pa.types.is_time, pa.types.is_duration)
NANOS = {'s': 10**9, 'ms': 10**6, 'us': 1000, 'ns': 1}
WIDTHS = {4: '<e', 8: '<f', 16: '<d'}


def is_text(t):
    return re.fullmatch(r'(large_|fixed_size_)?(string|binary)(_view)?(\[\d+\])?', str(t)) is not None


def is_list(t):
    return pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t) or re.match('(large_)?list_view', str(t))


def nanos(t):
    """The nanoseconds of a unit of a type."""
    if pa.types.is_date(t):
        return 86_400 * 10**9 if t.bit_width == 32 else 10**6
    return NANOS[t.unit]


def number(text):
    digits = text.removeprefix('bits:')
    value = struct.unpack(WIDTHS[len(digits)], bytes.fromhex(digits)[::-1])[0]
    return 'NaN' if value != value else value.hex()


def each(values, of):
    return [None if v is None else of(v) for v in values]


def children(got, expected, new, old):
    """The values of structs, field by field."""
    got, expected = [each(rows, dict) for rows in (got, expected)]
    for k in range(min(new.num_fields, old.num_fields)):
        name, other = old.field(k).name, new.field(k).name
        if name != other:
            continue
        present = [[row for row in rows if row is not None and name in row] for rows in (got, expected)]
        for rows, values in zip(present, alike(*([row[name] for row in rows] for rows in present), new.field(k), old.field(k))):
            for row, value in zip(rows, values):
                row[name] = value
    return got, expected


def alike(got, expected, new, old):
    """The values of two fields, so that equal values of different types are equal: times in nanoseconds, floats as numbers, texts
    as bytes, lists of any kind item by item."""
    types = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in (new, old)]
    both = lambda kind: all(kind(t) for t in types)
    if any(both(kind) for kind in KINDS):
        return [each(v, lambda x, t=t: str(int(x) * nanos(t))) for v, t in zip((got, expected), types)]
    in_days = b'pilaster.unit' in (new.metadata or {})
    if pa.types.is_date32(types[1]) and pa.types.is_integer(types[0]) and types[0].bit_width == 64 and not in_days:
        # A date of 64 bits, as the Arrow schema in the Parquet file says, which pyarrow reads as one of 32 bits.
        return got, each(expected, lambda x: str(int(x) * 86_400_000))
    if both(pa.types.is_floating) and types[0] != types[1]:
        return [each(v, number) for v in (got, expected)]
    if both(is_text):
        return [each(v, goldens.as_bytes) for v in (got, expected)]
    if both(is_list):
        items = [t.value_field for t in types]
        rows = [alike(g, e, *items) if g is not None and e is not None else (g, e) for g, e in zip(got, expected)]
        return [g for g, _ in rows] + got[len(rows) :], [e for _, e in rows] + expected[len(rows) :]
    if both(pa.types.is_struct):
        return children(got, expected, *types)
    return got, expected


TEXTS, BYTES = ({f'{kind}{more}' for kind in kinds for more in ('', '_view')} for kinds in (('string', 'large_string'), ('binary', 'large_binary')))
TIMES = {f'timestamp[{unit}]' for unit in NANOS}
# What the values of a type are in a file of each format, if not of the same type. Parquet, which is written last, is below.
BECOMES = {
    'vortex': dict.fromkeys(TEXTS, 'string') | dict.fromkeys(BYTES, 'binary'),
    'jay': dict.fromkeys(TEXTS, 'string')
    | {'uint8': 'int16', 'uint16': 'int32', 'uint32': 'int64', 'uint64': 'int64', 'halffloat': 'float'},
    # Byte strings are read back as texts.
    'ds': dict.fromkeys(TEXTS | BYTES, 'string')
    | dict.fromkeys(TIMES | {'uint32', 'uint64', 'date64[ms]', 'time64[us]', 'time64[ns]'}, 'int64')
    | dict.fromkeys(('int8', 'int16', 'uint16', 'date32[day]', 'time32[s]', 'time32[ms]'), 'int32')
    | {'float': 'double', 'halffloat': 'double'},
    'bcolz': dict.fromkeys(TEXTS | BYTES, 'string') | {'date64[ms]': 'timestamp[ms]'},
} | dict.fromkeys(TEXT, dict.fromkeys(TEXTS, 'string'))
IN_PARQUET = {'timestamp[s]': 'timestamp[ms]', 'time32[s]': 'time32[ms]', 'date64[ms]': 'date32[day]'}
# The formats that keep the kind of a list.
EXACT = ('arrow', 'arrows', 'parquet')


def in_schema(t):
    """The type as --schema names it, or None."""
    t = t.value_type if pa.types.is_dictionary(t) else t
    if pa.types.is_decimal(t):
        return f'decimal({t.precision}, {t.scale})'
    if pa.types.is_timestamp(t) and t.tz is not None:
        # Text has the time of UTC and no name of a zone.
        return f'timestamp[{t.unit}, {t.tz}]' if re.fullmatch(r'UTC|[+-]\d\d:\d\d', t.tz) else None
    if str(t) in TEXTS:
        return 'utf8'
    names = {'halffloat': 'float16', 'float': 'float32', 'double': 'float64'}
    flat = pa.types.is_primitive(t) or pa.types.is_null(t)
    return names.get(str(t), str(t)) if flat and not pa.types.is_duration(t) else None


def leaf(t):
    """The text of a type without its zone."""
    return f'timestamp[{t.unit}]' if pa.types.is_timestamp(t) else str(t)


def narrow(t):
    """The narrowest decimal. Parquet has a wider one for one digit."""
    bits = next(bits for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76)) if t.precision <= digits)
    return f'decimal{max(bits, 64) if t.precision == 1 else bits}({t.precision}, {t.scale})'


def stored(t, form, coded):
    """The text of the type of values after a format and Parquet."""
    text = BECOMES.get(form, {}).get(leaf(t), leaf(t))
    if form in ('vortex', *TEXT) and pa.types.is_decimal(t):
        text = narrow(t)
    if coded and form in EXACT:
        # A dictionary of views is stored as one of texts.
        text = text.removesuffix('_view')
    return IN_PARQUET.get(text, text)


def allowed(new, old, form, place):
    """Whether values of type `old` may have type `new` after a format and Parquet. `place`: the file that they came from."""
    coded = pa.types.is_dictionary(old)
    new, old = (t.value_type if pa.types.is_dictionary(t) else t for t in (new, old))
    inner = lambda n, o: allowed(n, o, form, place)
    if is_list(old):
        sizes = [t.list_size if pa.types.is_fixed_size_list(t) else None for t in (new, old)] if is_list(new) else [0, 1]
        kinds = [re.match('[a-z_]*', str(t)).group() for t in (new, old)]
        same = kinds[0] == kinds[1] if form in EXACT else sizes[0] == sizes[1] or (form == 'jay' and sizes[0] is None)
        return same and sizes[0] in (None, sizes[1]) and inner(new.value_type, old.value_type)
    if pa.types.is_map(old):
        return pa.types.is_map(new) and inner(new.key_type, old.key_type) and inner(new.item_type, old.item_type)
    if pa.types.is_struct(old):
        names = [[t.field(k).name for k in range(t.num_fields)] for t in (new, old) if pa.types.is_struct(t)]
        return len(names) == 2 and names[0] == names[1] and all(inner(new.field(k).type, old.field(k).type) for k in range(old.num_fields))
    expected = {stored(old, form, coded)}
    if place.suffix == '.parquet' and pa.types.is_date32(old):
        # It may be a date of 64 bits, which pyarrow does not tell.
        expected.add(stored(pa.date64(), form, coded))
    if coded and form in EXACT:
        # pyarrow reads the dictionaries of Parquet within other types with small offsets.
        expected |= {text.removeprefix('large_') for text in expected}
    # UTC has two names.
    zones = [(t.tz or '').replace('+00:00', 'UTC') or None if pa.types.is_timestamp(t) else None for t in (new, old)]
    # If the Arrow schema in the file has another unit, one of the readers takes UTC for the zone.
    zoned = zones[0] == zones[1] or not pa.types.is_timestamp(new) or (None not in zones and (place.suffix == '.parquet' or coded))
    return leaf(new) in expected and zoned


def without_nan(values):
    """NaN means missing in Jay."""
    if isinstance(values, list):
        return [without_nan(v) for v in values]
    return None if values == 'NaN' else values


def check(a, r, t, place, counts):
    path = source(r, t, place)
    first = pa.parquet.read_table(path) if path.suffix == '.parquet' else None
    if first is None:
        with pa.memory_map(str(path)) as file:
            first = (pa.ipc.open_stream if path.suffix == '.arrows' else pa.ipc.open_file)(file).read_all()
    for form in FORMATS:
        middle, last = place / f'middle.{form}', place / 'last.parquet'
        if form == 'bcolz' and middle.exists():
            shutil.rmtree(middle)
        names = list(first.column_names)
        if form in TEXT:
            schema = {name: in_schema(first.schema.field(name).type) for name in names}
            counts[f'{form} without a name of the type'] += sum(ty is None for ty in schema.values())
            names = [name for name in names if schema[name] is not None]
        while names:
            why = convert(a, '--columns', ','.join(names), path, middle)
            if why is None:
                break
            refused = REFUSED.search(why)
            if not refused or refused.group(1) not in names:
                yield f'{form}: {why}'
                names = []
                break
            counts[f'{form} refused'] += 1
            names.remove(refused.group(1))
        if not names:
            continue
        back = ['--bytes-as-text'] if form in ('ds', 'bcolz') else []
        if form in TEXT:
            back = ['--schema', ', '.join(f'{name}: {schema[name]}' for name in names)]
        why = convert(a, *back, middle, last)
        if why is not None and 'UTF-8' not in why and 'Parquet has no' not in why:
            yield f'{form} to parquet: {why}'
        if why is not None:
            counts['not back'] += 1
            continue
        found = pa.parquet.read_table(last)
        if found.num_rows != first.num_rows:
            yield f'{form}: {found.num_rows} rows, not {first.num_rows}'
            continue
        if form == 'ds' and found.num_columns == 0 == first.num_rows:
            counts['of no rows and columns'] += 1
            continue
        if len(names) == 1:
            # A single array of bcolz has no name.
            found = found.rename_columns(names)
        for name in names:
            new, old = found.schema.field(name), first.schema.field(name)
            types = (old.type, new.type)
            got, expected = goldens.column(found, name), goldens.column(first, name)
            counts['columns'] += 1
            counts['of another type'] += new.type != old.type
            if not allowed(new.type, old.type, form, path):
                yield f'{form}: {name} is {new.type}, and was {old.type}'
            if form == 'jay' and pa.types.is_floating(old.type):
                got, expected = (without_nan(each(v, number)) for v in (got, expected))
            elif form in TEXT and pa.types.is_floating(new.type):
                # Text has one NaN.
                got, expected = (each(v, number) for v in (got, expected))
            else:
                got, expected = alike(got, expected, new, old)
            if got != expected:
                at = next((i for i, (g, e) in enumerate(zip(got, expected)) if g != e), len(got))
                yield f'{form}: {name} {types}, row {at}: {got[at : at + 1]}, not {expected[at : at + 1]}'


def main():
    p = peer.arguments(__doc__, count=100)
    p.add_argument('--rows', type=int, default=4000, help='rows of the largest tables (default 4000)')
    a = peer.parse(p)
    place, counts, bad = pathlib.Path(a.scratch), collections.Counter(), 0
    for i in range(a.count):
        r = random.Random(a.seed + i)
        for why in check(a, r, table(r, a.rows), place, counts):
            bad += 1
            print(f'{a.seed + i}: {why}'[:400])
        counts['tables'] += 1
    text = ', '.join(f'{v} {k}' for k, v in sorted(counts.items()))
    return peer.finish('arrow/tables', bad, f'{text}; {bad} differ')


if __name__ == '__main__':
    sys.exit(main())
