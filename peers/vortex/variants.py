"""Random variants written by the original (vortex-data 0.93 or later), with and without shredding, by its default and its
compact encodings, converted by pilaster to Vortex, and read by the original: against the values that were written, and
against what the original reads of its own file. Shredded are all types that the original can, lists of them, and objects in part.

  variants.py SCRATCH [--count 50] [--seed 1]        with a Python that has vortex-data and pyarrow

The seed of table i is SEED + i. Files that differ stay in SCRATCH. The original crashes when it reads more than 8,192 variants
that it wrote, so that such a file is compared with the values only."""

import collections
import decimal
import json
import os
import random
import struct
import sys

import pyarrow as pa
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

EXTENSION = {'ARROW:extension:name': 'arrow.parquet.variant', 'ARROW:extension:metadata': ''}
NULL, MISSING = object(), object()

# A primitive that Python has no type for: the number of its type in the variant encoding, and its data.
Other = collections.namedtuple('Other', 'tag data')
DATE, MICROS_UTC, MICROS, FLOAT, TIME, NANOS_UTC, NANOS, UUID = 11, 12, 13, 14, 17, 18, 19, 20
SIZES = {DATE: 4, MICROS_UTC: 8, MICROS: 8, FLOAT: 4, TIME: 8, NANOS_UTC: 8, NANOS: 8, UUID: 16}
# The sizes of the integers of decimals, after a byte with the scale.
DECIMALS = {8: 4, 9: 8, 10: 16}
SIZES |= {tag: size + 1 for tag, size in DECIMALS.items()}
SIMPLE = {pa.bool_(): bool, pa.float64(): float, pa.string(): str, pa.binary(): bytes}
TAGS = {pa.date32(): DATE, pa.time64('us'): TIME, pa.float32(): FLOAT, pa.timestamp('us', 'UTC'): MICROS_UTC, pa.timestamp('us'): MICROS}
TAGS |= {pa.timestamp('ns', 'Europe/Rome'): NANOS_UTC, pa.timestamp('ns'): NANOS}


def signed(data):
    return int.from_bytes(data, 'little', signed=True)


def plain(value):
    """The value as Arrow takes it."""
    if not isinstance(value, Other):
        return value
    if value.tag in DECIMALS:
        return decimal.Decimal(signed(value.data[1:])).scaleb(-value.data[0], decimal.Context(prec=40))
    return struct.unpack('<f', value.data)[0] if value.tag == FLOAT else signed(value.data)


def primitives(values, ty):
    values = [None if v is MISSING else plain(v) for v in values]
    if pa.types.is_date(ty):
        return pa.array(values, pa.int32()).cast(ty)
    return pa.array(values, pa.int64()).cast(ty) if pa.types.is_temporal(ty) else pa.array(values, ty)


def canonical(value):
    """The value without what may change: the size of a decimal, and nanoseconds that are whole microseconds."""
    if isinstance(value, dict):
        return {k: canonical(v) for k, v in value.items()}
    if isinstance(value, list):
        return [canonical(v) for v in value]
    if isinstance(value, Other) and value.tag in DECIMALS:
        return ['decimal', value.data[0], signed(value.data[1:])]
    if isinstance(value, Other) and value.tag in (NANOS, NANOS_UTC) and signed(value.data) % 1000 == 0:
        return ['other', value.tag - NANOS_UTC + MICROS_UTC, (signed(value.data) // 1000).to_bytes(8, 'little', signed=True).hex()]
    return ['other', value.tag, value.data.hex()] if isinstance(value, Other) else value


def little(n, size):
    return n.to_bytes(size, 'little')


def size_of(n):
    return 1 if n < 1 << 8 else 2 if n < 1 << 16 else 3 if n < 1 << 24 else 4


def names_in(value, found):
    if isinstance(value, dict):
        found.update(value)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            names_in(item, found)
    return found


def metadata(value, r):
    """The dictionary of names, sorted or not, and the number of each."""
    names = sorted(names_in(value, set()), key=str.encode)
    is_sorted = r.random() < 0.7
    if not is_sorted:
        r.shuffle(names)
    texts = [name.encode() for name in names]
    size = max(size_of(sum(map(len, texts))), size_of(len(texts)))
    offsets = [sum(map(len, texts[:k])) for k in range(len(texts) + 1)]
    head = bytes([1 | is_sorted << 4 | (size - 1) << 6]) + little(len(texts), size)
    return head + b''.join(little(o, size) for o in offsets) + b''.join(texts), {n: k for k, n in enumerate(names)}


def encode(value, ids):
    if value is None or isinstance(value, bool):
        return bytes([{None: 0, True: 4, False: 8}[value]])
    if isinstance(value, int):
        tag, size = next((t, s) for t, s in ((3, 1), (4, 2), (5, 4), (6, 8)) if -(1 << 8 * s - 1) <= value < 1 << 8 * s - 1)
        return bytes([tag << 2]) + value.to_bytes(size, 'little', signed=True)
    if isinstance(value, float):
        return bytes([7 << 2]) + struct.pack('<d', value)
    if isinstance(value, str):
        text = value.encode()
        return (bytes([len(text) << 2 | 1]) if len(text) < 64 else bytes([16 << 2]) + little(len(text), 4)) + text
    if isinstance(value, bytes):
        return bytes([15 << 2]) + little(len(value), 4) + value
    if isinstance(value, Other):
        return bytes([value.tag << 2]) + value.data
    keys = sorted(value, key=str.encode) if isinstance(value, dict) else []
    items = [encode(value[k], ids) for k in keys] if isinstance(value, dict) else [encode(v, ids) for v in value]
    size, large = size_of(sum(map(len, items))), len(items) > 255
    id_size = size_of(max([ids[k] for k in keys], default=0))
    first = 2 | (size - 1) << 2 | (id_size - 1) << 4 | large << 6 if isinstance(value, dict) else 3 | (size - 1) << 2 | large << 4
    out = bytes([first]) + little(len(items), 4 if large else 1) + b''.join(little(ids[k], id_size) for k in keys)
    return out + b''.join(little(sum(map(len, items[:k])), size) for k in range(len(items) + 1)) + b''.join(items)


def decode(meta, value):
    size, count = (meta[0] >> 6) + 1, 0
    count = int.from_bytes(meta[1 : 1 + size], 'little')
    ends = [int.from_bytes(meta[1 + size * (k + 1) : 1 + size * (k + 2)], 'little') for k in range(count + 1)]
    text = meta[1 + size * (count + 2) :]
    return tree([text[a:b].decode() for a, b in zip(ends, ends[1:])], value)


def tree(names, v):
    kind, head = v[0] & 3, v[0] >> 2
    number = lambda at, size: int.from_bytes(v[at : at + size], 'little')
    if kind == 1:
        return v[1 : 1 + head].decode()
    if kind == 0:
        if head < 3:
            return [None, True, False][head]
        if head <= 6:
            return int.from_bytes(v[1 : 1 + (1 << head - 3)], 'little', signed=True)
        if head == 7:
            return struct.unpack_from('<d', v, 1)[0]
        if head in SIZES:
            return Other(head, v[1 : 1 + SIZES[head]])
        data = v[5 : 5 + number(1, 4)]
        return data.decode() if head == 16 else data
    size = (head & 3) + 1
    id_size, large = ((head >> 2 & 3) + 1, head >> 4 & 1) if kind == 2 else (0, head >> 2 & 1)
    count, at = number(1, 4 if large else 1), 1 + (4 if large else 1)
    ids = [number(at + k * id_size, id_size) for k in range(count)]
    at += count * id_size
    start = at + (count + 1) * size
    items = [tree(names, v[start + number(at + k * size, size) :]) for k in range(count)]
    return {names[i]: item for i, item in zip(ids, items)} if kind == 2 else items


def fits(value, shape):
    if shape[0] == 'prim':
        ty = shape[1]
        if pa.types.is_integer(ty):
            return type(value) is int and -(1 << ty.bit_width - 1) <= value < 1 << ty.bit_width - 1
        if ty in SIMPLE:
            return type(value) is SIMPLE[ty]
        if not pa.types.is_decimal(ty):
            return isinstance(value, Other) and value.tag == TAGS[ty]
        return isinstance(value, Other) and value.tag in DECIMALS and value.data[0] == ty.scale and abs(signed(value.data[1:])) < 10**ty.precision
    return isinstance(value, list if shape[0] == 'list' else dict)


def shred(values, shape, ids, in_list=False):
    """Bytes and typed values of rows, in the form of Apache Parquet."""
    rest, typed = [], []
    for value, names in zip(values, ids):
        apart = value is not MISSING and shape is not None and fits(value, shape)
        typed.append(value if apart else MISSING)
        if apart and shape[0] == 'object':
            value = {k: v for k, v in value.items() if k not in shape[1]} or MISSING
        elif apart:
            value = MISSING
        rest.append(None if value is MISSING else encode(value, names))
    if shape is None:
        return rest, None
    mask = pa.array([v is MISSING for v in typed], pa.bool_())
    if shape[0] == 'prim':
        return rest, primitives(typed, shape[1])
    if shape[0] == 'list':
        items = [(item, names) for value, names in zip(typed, ids) if value is not MISSING for item in value]
        ends, end = [0], 0
        for value in typed:
            end += 0 if value is MISSING else len(value)
            ends.append(end)
        # The original fails on items that may have bytes, unless there are as many items as rows.
        inner = shell([item for item, _ in items], shape[1], [names for _, names in items], False)
        ty = pa.list_(pa.field('element', inner.type, nullable=False))
        return rest, pa.ListArray.from_arrays(pa.array(ends, pa.int32()), inner, type=ty, mask=mask)
    fields = [(k, shell([MISSING if v is MISSING else v.get(k, MISSING) for v in typed], s, ids, not in_list)) for k, s in shape[1].items()]
    types = [pa.field(k, a.type, nullable=False) for k, a in fields]
    return rest, pa.StructArray.from_arrays([a for _, a in fields], fields=types, mask=mask)


def shell(values, shape, ids, has_bytes):
    rest, typed = shred(values, shape, ids, not has_bytes)
    parts = [('value', pa.array(rest, pa.binary_view()))] if has_bytes else []
    parts += [('typed_value', typed)] if typed is not None else []
    fields = [pa.field(name, array.type, nullable=True) for name, array in parts]
    return pa.StructArray.from_arrays([array for _, array in parts], fields=fields)


def any_decimal(r, tag, scale, digits):
    digits = r.randrange(1, digits + 1)
    return Other(tag, bytes([scale]) + r.randrange(1 - 10**digits, 10**digits).to_bytes(DECIMALS[tag], 'little', signed=True))


def any_other(r, tag=None):
    tag = tag or r.choice(sorted(SIZES))
    if tag in DECIMALS:
        return any_decimal(r, tag, r.randrange(5), {8: 9, 9: 18, 10: 38}[tag])
    if tag == TIME:
        return Other(tag, little(r.randrange(86_400_000_000), 8))
    if tag in (NANOS, NANOS_UTC):
        return Other(tag, (r.randrange(-(1 << 50), 1 << 50) * r.choice([1, 1000])).to_bytes(8, 'little', signed=True))
    if tag == FLOAT:
        return Other(tag, struct.pack('<f', r.gauss(0, 9)))
    return Other(tag, r.randbytes(16) if tag == UUID else r.randrange(-(1 << 25), 1 << 25).to_bytes(SIZES[tag], 'little', signed=True))


def any_value(r, depth=0):
    k = r.randrange(12 if depth < 3 else 8)
    if k < 7:
        text = 'é' * r.randrange(0, 50) if r.random() < 0.3 else f'w{r.randrange(9)}'
        bits = r.choice([3, 12, 30, 62])
        return [None, r.random() < 0.5, r.randrange(-(1 << bits), 1 << bits), r.gauss(0, 9), text, r.randbytes(r.randrange(4)), r.randrange(9)][k]
    if k == 7:
        return any_other(r)
    if k < 10:
        return [any_value(r, depth + 1) for _ in range(r.choice([0, 1, 2, 3, 3, 300 if depth == 0 else 2]))]
    return {r.choice('abcdefgh') * r.choice([1, 1, 9]): any_value(r, depth + 1) for _ in range(r.randrange(5))}


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
DECIMAL_TYPES = [pa.decimal32(7, 2), pa.decimal64(15, 3), pa.decimal128(30, 4), pa.decimal128(38, 0), pa.decimal128(7, 2), pa.decimal128(15, 1)]
PRIMITIVES = [*INTEGERS, *SIMPLE, *TAGS, *DECIMAL_TYPES]


def any_shape(r, depth=0):
    k = r.randrange(10 if depth < 3 else 5)
    if k < 5:
        return 'prim', r.choice(PRIMITIVES)
    if k < 7:
        return 'list', any_shape(r, depth + 1)
    # The original loses the values of fields that are never stored apart.
    return 'object', {k: any_shape(r, depth + 1) for k in r.sample('abcdefgh', r.randrange(1, 4))}


def exact(r, shape):
    """A value that is stored apart in full."""
    if shape[0] == 'list':
        return [exact(r, shape[1]) for _ in range(r.randrange(3))]
    if shape[0] == 'object':
        return {k: exact(r, s) for k, s in shape[1].items() if r.random() < 0.8}
    ty = shape[1]
    if ty in INTEGERS:
        return r.randrange(-(1 << ty.bit_width - 1), 1 << ty.bit_width - 1)
    if pa.types.is_decimal(ty):
        return any_decimal(r, 8 if ty.precision <= 9 else 9 if ty.precision <= 18 else 10, ty.scale, ty.precision)
    if ty in TAGS:
        return any_other(r, TAGS[ty])
    makes = {pa.string(): lambda: r.choice(['a', 'b' * 70]), pa.float64(): lambda: r.gauss(0, 1), pa.bool_(): lambda: r.random() < 0.5, pa.binary(): lambda: r.randbytes(3)}
    return makes[ty]()


def like(r, shape, depth=0):
    """A value that often has the shape; the items of lists always."""
    if shape is None or r.random() < 0.25:
        return any_value(r, min(depth, 3))
    if shape[0] != 'object':
        return exact(r, shape)
    out = {k: like(r, s, depth + 1) for k, s in shape[1].items() if r.random() < 0.8}
    return out | ({r.choice('zA'): any_value(r, 1)} if r.random() < 0.4 else {})


def fits_exactly(value, shape):
    """Whether a value needs no bytes."""
    if not fits(value, shape) or shape[0] == 'prim':
        return fits(value, shape)
    if shape[0] == 'list':
        return all(fits_exactly(item, shape[1]) for item in value)
    return all(k in shape[1] and fits_exactly(v, shape[1][k]) for k, v in value.items())


def fits_lists(value, shape):
    """Whether no item of a shredded list needs bytes."""
    if shape is None or not fits(value, shape) or shape[0] == 'prim':
        return True
    if shape[0] == 'list':
        return fits_exactly(value, shape)
    return all(k not in value or fits_lists(value[k], s) for k, s in shape[1].items())


def column(r, values, shape):
    nullable = any(v is NULL for v in values)
    meta = [metadata(None if v is NULL else v, r) for v in values]
    rest, typed = shred([None if v is NULL else v for v in values], shape, [ids for _, ids in meta])
    parts = [('metadata', pa.array([m for m, _ in meta], pa.binary_view()), False), ('value', pa.array(rest, pa.binary_view()), typed is not None)]
    parts += [('typed_value', typed, True)] if typed is not None else []
    fields = [pa.field(name, array.type, nullable=null) for name, array, null in parts]
    mask = pa.array([v is NULL for v in values]) if nullable else None
    array = pa.StructArray.from_arrays([array for _, array, _ in parts], fields=fields, mask=mask)
    return pa.field('v', array.type, nullable=nullable, metadata=EXTENSION), array


def read(path):
    rows = vx.open(path).to_arrow().read_all().column('v').to_pylist()
    return [None if row is None else (row['metadata'], row['value']) for row in rows]


def same(a, b):
    a, b = (json.dumps(canonical(value), sort_keys=True, default=bytes.hex) for value in (a, b))
    return a == b


def one(r, pilaster, source, target):
    """Returns what is wrong, or None."""
    rows = r.choice([1, 5, 20, 20, 100, 100, 100, 300] * 3 + [1025, 9000])
    shape = any_shape(r) if r.random() < 0.8 else None
    some_null = r.random() < 0.4
    values = []
    while len(values) < rows:
        value = NULL if some_null and r.random() < 0.3 else like(r, shape)
        if value is NULL or fits_lists(value, shape):
            values.append(value)
    field, array = column(r, values, shape)
    options = vx.io.VortexWriteOptions
    options = options.compact() if r.random() < 0.5 else options.default()
    options.write(pa.Table.from_arrays([array], schema=pa.schema([field])), source)
    for command in (['verify', source], ['convert', '--force', source, target, *r.choice([[], ['--encodings', 'compact'], ['--chunk-size', '20000', '--zone-rows', '1024']])], ['verify', target]):
        status, _, errors = peer.run(pilaster, *command)
        if status:
            return f'{command[0]}: {errors.decode()[-200:]}'
    found = read(target)
    for k, (row, value) in enumerate(zip(found, values)):
        if (row is None) != (value is NULL) or row is not None and not same(decode(*row), value):
            return f'row {k} of {rows}: {row} for {value}'
    if rows <= 8192 and read(source) != found:
        return 'the original reads other bytes of its own file'
    return None if len(found) == rows else f'{len(found)} rows for {rows}'


def main():
    a = peer.parse(peer.arguments(__doc__, count=50))
    bad = 0
    for i in range(a.count):
        seed = a.seed + i
        source, target = (os.path.join(a.scratch, f'variant_{seed}_{name}.vortex') for name in ('original', 'pilaster'))
        why = one(random.Random(seed), a.pilaster, source, target)
        if why:
            bad += 1
            print('FAIL', seed, why, flush=True)
        else:
            os.remove(source)
            os.remove(target)
    peer.finish('vortex variants', bad, f'{a.count} tables, {bad} wrong')


if __name__ == '__main__':
    main()
