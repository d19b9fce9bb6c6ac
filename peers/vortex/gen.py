"""Random tables written by the original (vortex-data) and read by pilaster: `dump --json`, the digest of every column over
all values and the values up to 2,000 rows, against pyarrow's table.

  gen.py SCRATCH [--count 100] [--seed 1] [--rows 4000]        with a Python that has vortex-data, pyarrow and numpy

The seed of table i is SEED + i. All types that the Python writer offers, nested to depth 3; 40 % by the compact compressor,
20 % from several batches. Files that differ stay in SCRATCH. Works with vortex-data 0.50 and later."""

import datetime
import decimal
import hashlib
import importlib.metadata
import json
import os
import random
import struct
import subprocess
import sys
import traceback

import numpy as np
import pyarrow as pa
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

try:
    import vortex.io
except Exception:
    pass
VER = importlib.metadata.version('vortex-data')

WORDS = "the quick brown fox jumps over lazy dog GET POST /api/v1/items user session error warn info été ßtraße 日本語 emoji😀 null NaN true".split()


def rstr(r, kind, n):
    if kind == 'low':
        pool = [f"cat-{r.randrange(10**6)}" + "x" * r.choice([0, 3, 20]) for _ in range(r.choice([1, 2, 5, 30, 200]))]
        return [r.choice(pool) for _ in range(n)]
    if kind == 'words':
        return [' '.join(r.choice(WORDS) for _ in range(r.randrange(0, 8))) for _ in range(n)]
    if kind == 'long':
        return [r.choice("abcdef") * r.randrange(0, 3000) for _ in range(n)]
    if kind == 'log':
        return [
            f"2026-01-{r.randrange(1,29):02} {r.randrange(24):02}:{r.randrange(60):02} {r.choice(['INFO','WARN','ERROR'])} GET /api/v1/items/{r.randrange(10**6)}/detail?user={r.randrange(10**5)} {r.choice([200,200,404,500])}"
            for _ in range(n)
        ]
    if kind == 'rand':
        return [
            ''.join(
                chr(r.choice([r.randrange(32, 127), r.randrange(0xA0, 0x2000), r.randrange(0x1F300, 0x1F600)]))
                for _ in range(r.randrange(0, 20))
            )
            for _ in range(n)
        ]
    if kind == 'uuid':
        return [
            '%08x-%04x-%04x-%012x' % (r.getrandbits(32), r.getrandbits(16), r.getrandbits(16), r.getrandbits(48))
            for _ in range(n)
        ]
    if kind == 'empty':
        return [""] * n
    if kind == 'runs':
        out = []
        while len(out) < n:
            out += [r.choice(WORDS) * r.randrange(1, 9)] * r.randrange(1, 400)
        return out[:n]
    if kind == 'const':
        return [r.choice(WORDS) * r.choice([1, 9])] * n
    if kind == 'nums':
        return [str(r.randrange(10 ** r.randrange(1, 18))) for _ in range(n)]
    if kind == 'nul':
        return [r.choice(["\0", "a\0b", "\n\t\"\\", "\u2028", "\x7f", ""]) for _ in range(n)]


SK = ['low', 'words', 'long', 'log', 'rand', 'uuid', 'empty', 'runs', 'const', 'nums', 'nul']


def nrng(r):
    return np.random.default_rng(r.getrandbits(32))


def ints(r, n, bits, signed):
    g = nrng(r)
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    k = r.choice(
        [
            'full',
            'small',
            'offset',
            'sorted',
            'runs',
            'const',
            'low',
            'seq',
            'sparse',
            'outlier',
            'delta',
            'neg',
            'extreme',
            'zero',
            'zipf',
        ]
    )
    if k == 'full':
        a = [r.randrange(lo, hi + 1) for _ in range(n)]
    elif k == 'small':
        w = r.randrange(0, bits)
        a = [r.randrange(0, min(hi, (1 << w)) + 1) for _ in range(n)]
    elif k == 'offset':
        b = r.randrange(lo, hi + 1)
        a = [min(hi, b + r.randrange(0, 100)) for _ in range(n)]
    elif k == 'sorted':
        a = sorted(r.randrange(lo, hi + 1) for _ in range(n))
    elif k == 'runs':
        a = []
        while len(a) < n:
            a += [r.randrange(lo, hi + 1)] * r.randrange(1, r.choice([4, 50, 2000]))
        a = a[:n]
    elif k == 'const':
        a = [r.randrange(lo, hi + 1)] * n
    elif k == 'low':
        p = [r.randrange(lo, hi + 1) for _ in range(r.randrange(1, 50))]
        a = [r.choice(p) for _ in range(n)]
    elif k == 'seq':
        s = r.randrange(-3, 4)
        b = r.randrange(lo, hi + 1)
        a = [min(hi, max(lo, b + s * i)) for i in range(n)]
    elif k == 'sparse':
        f = r.randrange(lo, hi + 1)
        a = [f if r.random() < 0.97 else r.randrange(lo, hi + 1) for _ in range(n)]
    elif k == 'outlier':
        a = [r.randrange(0, 10) if r.random() < 0.99 else r.randrange(lo, hi + 1) for _ in range(n)]
    elif k == 'delta':
        a = []
        x = r.randrange(0, hi // 2 + 1)
        for _ in range(n):
            x = min(hi, x + r.randrange(0, 30))
            a.append(x)
    elif k == 'neg':
        a = [max(lo, min(hi, r.randrange(-5, 6))) for _ in range(n)]
    elif k == 'extreme':
        a = [r.choice([lo, hi, 0, lo + 1, hi - 1]) for _ in range(n)]
    elif k == 'zipf':
        a = [min(hi, int(r.paretovariate(0.7))) for _ in range(n)]
    else:
        a = [0] * n
    return k, a


def floats(r, n):
    g = nrng(r)
    k = r.choice(
        ['rand', 'price', 'temp', 'const', 'special', 'runs', 'low', 'int', 'bits', 'sensor', 'zero', 'lat', 'sparse']
    )
    if k == 'rand':
        a = g.normal(0, 10.0 ** r.randrange(-5, 6), n)
    elif k == 'price':
        a = g.integers(0, 10 ** r.randrange(1, 9), n) / 100
    elif k == 'temp':
        a = np.round(g.normal(20, 5, n), 1)
    elif k == 'const':
        a = np.full(n, g.normal())
    elif k == 'special':
        a = g.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, 5e-324, 1.7e308, 1e-40], n)
    elif k == 'runs':
        a = np.repeat(g.normal(size=n // 7 + 1), 7)[:n]
    elif k == 'low':
        a = g.choice(g.normal(size=r.randrange(1, 30)), n)
    elif k == 'int':
        a = g.integers(-1000, 1000, n).astype(float)
    elif k == 'bits':
        a = g.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    elif k == 'sensor':
        a = np.round(20 + np.cumsum(g.normal(0, 0.01, n)), r.randrange(1, 8))
    elif k == 'lat':
        a = np.round(40.7 + g.normal(0, 0.05, n), 6)
    elif k == 'sparse':
        a = np.where(g.random(n) < 0.97, 0.0, g.normal(size=n))
    else:
        a = np.zeros(n)
    return k, a


def nullmask(r, n):
    k = r.choice(['none', 'none', 'few', 'half', 'most', 'all', 'runs', 'tail'])
    if k == 'none':
        return None
    if k == 'few':
        return np.array([r.random() < 0.02 for _ in range(n)], bool)
    if k == 'half':
        return np.array([r.random() < 0.5 for _ in range(n)], bool)
    if k == 'most':
        return np.array([r.random() < 0.98 for _ in range(n)], bool)
    if k == 'all':
        return np.ones(n, bool)
    if k == 'tail':
        m = np.zeros(n, bool)
        m[n // 2 :] = True
        return m
    m = np.zeros(n, bool)
    i = 0
    while i < n:
        j = i + r.randrange(1, 500)
        m[i:j] = r.random() < 0.5
        i = j
    return m


def apply(vals, m):
    return list(vals) if m is None else [None if x else v for v, x in zip(vals, m)]


def col(r, n, depth=0, skip=()):
    """returns (label, pa.Array)"""
    T = [
        'i8',
        'i16',
        'i32',
        'i64',
        'u8',
        'u16',
        'u32',
        'u64',
        'f16',
        'f32',
        'f64',
        'bool',
        'utf8',
        'utf8',
        'large_utf8',
        'view',
        'binary',
        'binary',
        'dec',
        'dec',
        'date32',
        'date64',
        'time',
        'ts',
        'ts',
        'dict',
        'null',
    ]
    if depth < 3:
        T += ['list', 'large_list', 'fsl', 'struct', 'struct', 'map', 'listview']
    T = [t for t in T if t not in skip]
    t = r.choice(T)
    m = nullmask(r, n)
    if t[0] in 'iu' and t[1:].isdigit():
        k, a = ints(r, n, int(t[1:]), t[0] == 'i')
        ty = getattr(pa, ('int' if t[0] == 'i' else 'uint') + t[1:])()
        return f'{t}/{k}', pa.array(apply(a, m), ty)
    if t in ('f16', 'f32', 'f64'):
        k, a = floats(r, n)
        with np.errstate(all='ignore'):
            a = a.astype({'f16': np.float16, 'f32': np.float32, 'f64': np.float64}[t])
        return f'{t}/{k}', pa.array(a, mask=m)
    if t == 'bool':
        k = r.choice(['rand', 'const', 'runs', 'sparse'])
        a = {
            'rand': lambda: [r.random() < 0.5 for _ in range(n)],
            'const': lambda: [True] * n,
            'runs': lambda: [(i // 97) % 2 == 0 for i in range(n)],
            'sparse': lambda: [r.random() < 0.01 for _ in range(n)],
        }[k]()
        return f'bool/{k}', pa.array(apply(a, m), pa.bool_())
    if t in ('utf8', 'large_utf8', 'view'):
        k = r.choice(SK)
        a = rstr(r, k, n)
        ty = {'utf8': pa.string(), 'large_utf8': pa.large_string(), 'view': pa.string_view()}[t]
        return f'{t}/{k}', pa.array(apply(a, m), ty)
    if t == 'binary':
        k = r.choice(['rand', 'low', 'text', 'zero', 'long'])
        if k == 'rand':
            a = [r.randbytes(r.randrange(0, 40)) for _ in range(n)]
        elif k == 'low':
            p = [r.randbytes(r.randrange(0, 40)) for _ in range(9)]
            a = [r.choice(p) for _ in range(n)]
        elif k == 'text':
            a = [s.encode() for s in rstr(r, 'log', n)]
        elif k == 'zero':
            a = [bytes(r.randrange(0, 20)) for _ in range(n)]
        else:
            a = [b'ab' * r.randrange(0, 1000) for _ in range(n)]
        return f'binary/{k}', pa.array(apply(a, m), r.choice([pa.binary(), pa.large_binary(), pa.binary_view()]))
    if t == 'dec':
        p = r.choice([1, 2, 3, 4, 5, 9, 10, 15, 18, 19, 28, 38, 39, 50, 76])
        s = r.randrange(0, p + 1)
        w = r.randrange(1, p + 1)
        k = r.choice(['rand', 'small', 'const', 'runs', 'neg'])
        if k == 'const':
            v = [r.randrange(0, 10**w)] * n
        elif k == 'runs':
            v = [int(x) for x in np.repeat(np.arange(n // 5 + 1), 5)[:n] % (10 ** min(w, 9))]
        elif k == 'small':
            v = [r.randrange(0, min(10**w, 1000)) for _ in range(n)]
        else:
            v = [r.randrange(-(10**w) + 1, 10**w) for _ in range(n)]
        ctx = decimal.Context(prec=100)
        a = [decimal.Decimal(x).scaleb(-s, context=ctx) for x in v]
        ty = pa.decimal128(p, s) if p <= 38 and r.random() < 0.8 else pa.decimal256(p, s)
        return f'{ty}/{k}', pa.array(apply(a, m), ty)
    if t in ('date32', 'date64'):
        k, a = ints(r, n, 16, True)
        ty = pa.date32() if t == 'date32' else pa.date64()
        if t == 'date32':
            return f'date32/{k}', pa.array(apply(a, m), pa.int32()).cast(ty)
        return f'date64/{k}', pa.array(apply([x * 86400000 for x in a], m), pa.int64()).cast(ty)
    if t == 'time':
        u = r.choice(['s', 'ms', 'us', 'ns'])
        f = {'s': 1, 'ms': 1000, 'us': 10**6, 'ns': 10**9}[u]
        st = r.choice([1, f])
        a = [r.randrange(0, 86400) * f + r.randrange(0, f) * (st == 1) for _ in range(n)]
        if r.random() < 0.3:
            a.sort()
        ty = pa.time32(u) if u in ('s', 'ms') else pa.time64(u)
        return f'time/{u}', pa.array(apply(a, m), pa.int32() if u in ('s', 'ms') else pa.int64()).cast(ty)
    if t == 'ts':
        u = r.choice(['s', 'ms', 'us', 'ns'])
        f = {'s': 1, 'ms': 1000, 'us': 10**6, 'ns': 10**9}[u]
        z = r.choice([None, None, 'UTC', 'America/New_York', '+05:30'])
        b = r.choice([0, 1_700_000_000, -5_000_000_000 if u != 'ns' else -5_000_000_000])
        st = r.choice([1, f, f * 60])
        k = r.choice(['rand', 'sorted', 'const', 'days', 'steps'])
        a = [
            b * f + r.randrange(-(10**6), 10**8) * st if st != f * 60 else b * f + r.randrange(0, 10**6) * st
            for _ in range(n)
        ]
        if k == 'sorted':
            a.sort()
        if k == 'const':
            a = a[:1] * n
        if k == 'days':
            a = [x // (86400 * f) * (86400 * f) for x in a]
        if k == 'steps':
            a = [b * f + i * st for i in range(n)]
        return f'ts/{u}/{z}/{k}', pa.array(apply(a, m), pa.int64()).cast(pa.timestamp(u, z))
    if t == 'dict':
        l, v = col(r, r.randrange(1, 20), 9, skip=('dict', 'null', 'f16'))
        idx = [r.randrange(len(v)) for _ in range(n)]
        return f'dict<{l}>', pa.DictionaryArray.from_arrays(
            pa.array(apply(idx, m), r.choice([pa.int8(), pa.int16(), pa.int32(), pa.uint8()])), v
        )
    if t == 'null':
        return 'null', pa.nulls(n)
    if t in ('list', 'large_list', 'listview'):
        mx = r.choice([1, 3, 10])
        lens = [r.randrange(0, mx + 1) for _ in range(n)]
        if r.random() < 0.2:
            lens = [mx] * n
        l, e = col(r, sum(lens), depth + 1, skip)
        offs = np.concatenate([[0], np.cumsum(lens)]).astype(np.int64)
        ma = None if m is None else pa.array(m)
        if t == 'large_list':
            a = pa.LargeListArray.from_arrays(pa.array(offs), e, mask=ma)
        else:
            a = pa.ListArray.from_arrays(pa.array(offs.astype(np.int32)), e, mask=ma)
            if t == 'listview' and n:
                perm = list(range(n))
                r.shuffle(perm)
                a = pa.ListViewArray.from_arrays(
                    pa.array([int(offs[p]) for p in perm], pa.int32()),
                    pa.array([lens[p] for p in perm], pa.int32()),
                    e,
                    mask=ma,
                )
        return f'{t}<{l}>', a
    if t == 'fsl':
        k = r.choice([1, 2, 3, 8])
        l, e = col(r, n * k, depth + 1, skip)
        return f'fsl{k}<{l}>', pa.FixedSizeListArray.from_arrays(e, k, mask=None if m is None else pa.array(m))
    if t == 'struct':
        fs = [col(r, n, depth + 1, skip) for _ in range(r.randrange(1, 4))]
        return 'struct<' + ','.join(l for l, _ in fs) + '>', pa.StructArray.from_arrays(
            [a for _, a in fs], [f'f{i}' for i in range(len(fs))], mask=None if m is None else pa.array(m)
        )
    if t == 'map':
        lens = [r.randrange(0, 4) for _ in range(n)]
        tot = sum(lens)
        lk, kk = r.choice(
            [
                lambda: ('str', pa.array(rstr(r, 'low', tot), pa.string())),
                lambda: ('i32', pa.array(list(range(tot)), pa.int32())),
            ]
        )()
        lv, vv = col(r, tot, depth + 1, skip)
        offs = np.concatenate([[0], np.cumsum(lens)]).astype(np.int32)
        return f'map<{lk},{lv}>', pa.MapArray.from_arrays(pa.array(offs), kk, vv)


def f16hex(v):
    return struct.pack('>e', v).hex()


def enc(a):
    """list of JSON values for a pyarrow array in golden form"""
    t = a.type
    if pa.types.is_dictionary(t) and 'view' in str(t.value_type):
        d = enc(a.dictionary)
        return [None if i is None else d[i] for i in a.indices.to_pylist()]
    if pa.types.is_dictionary(t):
        return enc(a.dictionary_decode() if not nested(t.value_type) else a.dictionary.take(a.indices))
    if pa.types.is_null(t):
        return [None] * len(a)
    if pa.types.is_boolean(t):
        return a.to_pylist()
    if pa.types.is_integer(t):
        return [None if v is None else str(v) for v in a.to_pylist()]
    if pa.types.is_floating(t):
        w = {16: 2, 32: 4, 64: 8}[t.bit_width]
        it = {2: np.uint16, 4: np.uint32, 8: np.uint64}[w]
        buf = a.buffers()[1]
        raw = (
            np.frombuffer(buf, dtype=it, count=a.offset + len(a))[a.offset :]
            if buf is not None
            else np.zeros(len(a), it)
        )
        ok = np.array(a.is_valid())
        return ['bits:%0*x' % (2 * w, int(x)) if o else None for x, o in zip(raw, ok)]
    if pa.types.is_string(t) or pa.types.is_large_string(t) or t == pa.string_view():
        return a.to_pylist()
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or t == pa.binary_view():
        return [None if v is None else 'hex:' + v.hex() for v in a.to_pylist()]
    if pa.types.is_decimal(t):
        ctx = decimal.Context(prec=100)
        return [None if v is None else str(int(v.scaleb(t.scale, context=ctx))) for v in a.to_pylist()]
    if pa.types.is_date32(t) or pa.types.is_time32(t):
        return enc(a.cast(pa.int32()))
    if pa.types.is_date64(t) or pa.types.is_time64(t) or pa.types.is_timestamp(t):
        return enc(a.cast(pa.int64()))
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_list_view(t) or pa.types.is_large_list_view(t):
        if pa.types.is_list_view(t) or pa.types.is_large_list_view(t):
            ev = enc(a.values)
            o = a.offsets.to_pylist()
            s = a.sizes.to_pylist()
            return [ev[x : x + y] if ok else None for x, y, ok in zip(o, s, a.is_valid().to_pylist())]
        ev = enc(a.values)
        o = a.offsets.to_pylist()
        return [ev[o[i] : o[i + 1]] if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_fixed_size_list(t):
        k = t.list_size
        ev = enc(a.values)[a.offset * k :]
        return [ev[i * k : i * k + k] if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_struct(t):
        fs = [(t.field(i).name, enc(a.field(i))) for i in range(t.num_fields)]
        return [{k: v[i] for k, v in fs} if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_map(t):
        kk = enc(a.keys)
        vv = enc(a.items)
        o = a.offsets.to_pylist()
        return [
            [{"key": kk[j], "value": vv[j]} for j in range(o[i], o[i + 1])] if ok else None
            for i, ok in enumerate(a.is_valid().to_pylist())
        ]
    raise Exception('enc ' + str(t))


def nested(t):
    return pa.types.is_nested(t)


def shas(vals):
    h = hashlib.sha256()
    h.update('\n'.join(json.dumps(v, ensure_ascii=False, separators=(',', ':')) for v in vals).encode())
    return h.hexdigest()


def encc(c):
    out = []
    for ch in c.chunks:
        out += enc(ch)
    return out


def compare(table, path, label):
    p = subprocess.run([A.pilaster, 'dump', '--json', path], capture_output=True)
    if p.returncode != 0:
        return f'EXIT {p.returncode}: ' + p.stderr.decode(errors='replace').strip()[:300]
    d = json.loads(p.stdout)
    if d['nrows'] != table.num_rows:
        return f"NROWS {d['nrows']}"
    if [c['name'] for c in d['columns']] != table.column_names:
        return 'NAMES'
    for c, pc, l in zip(d['columns'], table.columns, label):
        ev = encc(pc)
        bad = None
        if c['sha256'] != shas(ev):
            got = c.get('values')
            if got is not None:
                i = [j for j in range(max(len(got), len(ev))) if j >= len(got) or j >= len(ev) or got[j] != ev[j]][:1]
                bad = f'row {i}: got {got[i[0]]!r:.200} want {ev[i[0]]!r:.200}' if i else 'sha only'
            else:
                bad = 'sha (long) head/tail ' + str(
                    [(j, g, e) for j, (g, e) in enumerate(zip(c['head'], ev)) if g != e][:2]
                )
        elif 'values' in c and c['values'] != ev:
            bad = 'values differ though sha same'
        if bad:
            return f'MISMATCH col {c["name"]} ({l}, {c["type"]}): {bad}'
    return None


A = None


def main():
    global A
    p = peer.arguments(__doc__, count=100)
    p.add_argument('--rows', type=int, default=4000, help='most rows of a table (default 4000)')
    p.add_argument('--skip', default='', help='kinds of column to leave out, separated by commas (map, listview, ...)')
    A = peer.parse(p)
    out, mx, skip = A.scratch, A.rows, tuple(x for x in A.skip.split(',') if x)
    ok = bad = refused = 0
    refus = {}
    ncols = 0
    nvals = 0
    for seed in range(A.seed, A.seed + A.count):
        r = random.Random(seed)
        n = r.choice(
            [0, 1, 2, 3, 7, 100, 1000, 1023, 1024, 1025, 2000, 2049, r.randrange(0, mx), r.randrange(0, mx), mx]
        )
        cols = [col(r, n, 0, skip) for _ in range(r.randrange(1, 6))]
        label = [l for l, _ in cols]
        try:
            table = pa.table([a for _, a in cols], names=[f'c{i}' for i in range(len(cols))])
        except Exception as e:
            print('gen', seed, e)
            continue
        if r.random() < 0.2 and n > 4:  # several record batches
            table = pa.Table.from_batches(table.to_batches(max_chunksize=max(1, n // 3)), schema=table.schema)
            table = pa.concat_tables([table.slice(0, n // 2).combine_chunks(), table.slice(n // 2).combine_chunks()])
        compact = r.random() < 0.4
        path = f'{out}/{VER}_{seed}{"c" if compact else ""}.vortex'
        try:
            if compact and hasattr(vx.io, 'VortexWriteOptions'):
                vx.io.VortexWriteOptions.compact().write(table, path)
            else:
                vx.io.write(table, path)
        except BaseException as e:
            refused += 1
            k = (type(e).__name__ + ': ' + str(e).split('\n')[0])[:110]
            refus.setdefault(k, []).append((seed, label))
            continue
        try:
            b = compare(table, path, label)
        except Exception as e:
            b = 'HARNESS ' + repr(e) + traceback.format_exc()[-300:]
        if b:
            # is the original itself the same?
            bad += 1
            try:
                t2 = vx.open(path).to_arrow()
                t2 = t2.read_all() if hasattr(t2, 'read_all') else t2
                orig = all(encc(x) == encc(y) for x, y in zip(t2.columns, table.columns))
            except BaseException as e:
                orig = repr(e)[:150]
            print('FAIL', seed, path, b, '| original reads same:', orig, flush=True)
        else:
            ok += 1
            ncols += len(cols)
            nvals += n * len(cols)
            os.remove(path)
    for k, v in refus.items():
        print('  refused', len(v), k, 'e.g.', v[0])
    peer.finish(
        'vortex gen',
        bad or not ok,
        f'vortex-data {VER}: equal {ok}, wrong {bad}, refused by the writer itself {refused}; {ncols} columns, {nvals} top-level values',
    )


if __name__ == '__main__':
    main()
