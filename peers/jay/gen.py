"""Random datatable frames saved as Jay, each with its values beside it (NAME.jay.exp). For compare.py.

  gen.py SCRATCH [--count 100] [--seed 1]        with a Python that has datatable and numpy

All scalar stypes and void, missing values, views, odd names and texts, up to 2,000 rows."""

import json
import os
import random
import struct
import sys

import datatable as dt
import numpy as np
from datatable import Type, stype

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

a = peer.parse(peer.arguments(__doc__, count=100, pilaster=False))
dt.options.nthreads = 1
rnd = random.Random(a.seed)


def f64bits(x):
    return 'bits:%016x' % struct.unpack('<Q', struct.pack('<d', x))[0]


def f32bits(x):
    return 'bits:%08x' % struct.unpack('<I', struct.pack('<f', x))[0]


ALPH = [
    'a',
    'Z',
    '0',
    ',',
    '"',
    '\n',
    '\\',
    'é',
    'ß',
    '漢',
    '😀',
    '\u0301',
    '\x00',
    '\x01',
    '\t',
    ' ',
    '\r',
    '\x7f',
    '\u2028',
    '\ufeff',
    '\uffff',
]


def rs():
    k = rnd.random()
    if k < 0.15:
        return ''
    if k < 0.95:
        return ''.join(rnd.choice(ALPH) for _ in range(rnd.randint(0, 12)))
    return ''.join(rnd.choice(ALPH) for _ in range(rnd.randint(100, 3000)))


def vals(t, n, pna):
    out = []
    for _ in range(n):
        if rnd.random() < pna:
            out.append(None)
            continue
        if t == 'bool8':
            v = rnd.random() < 0.5
        elif t.startswith('int'):
            b = int(t[3:])
            lo, hi = -(1 << b - 1) + 1, (1 << b - 1) - 1
            k = rnd.random()
            v = (
                rnd.choice([lo, hi, 0, -1, 1])
                if k < 0.2
                else (rnd.randint(lo, hi) if k < 0.7 else rnd.randint(max(lo, -50), min(hi, 50)))
            )
        elif t in ('float32', 'float64'):
            k = rnd.random()
            if k < 0.25:
                v = rnd.choice([0.0, -0.0, float('inf'), float('-inf'), 5e-324, 1.7976931348623157e308, 1e-40])
            elif k < 0.6:
                v = rnd.gauss(0, 1)
            elif k < 0.8:
                v = float(rnd.randint(-1000, 1000))
            else:
                v = rnd.gauss(0, 1) * 10 ** rnd.randint(-300, 300)
            if t == 'float32':
                v = float(np.float32(v))
        elif t in ('str32', 'str64'):
            v = rs()
        elif t == 'date32':
            v = rnd.choice([rnd.randint(-100000, 100000), rnd.randint(-700000, 2900000)])
        elif t == 'time64':
            v = rnd.choice([0, -1, 1, rnd.randint(-(2**62), 2**62), rnd.randint(0, 2 * 10**18)])
        else:
            v = None
        out.append(v)
    return out


ST = {
    'bool8': stype.bool8,
    'int8': stype.int8,
    'int16': stype.int16,
    'int32': stype.int32,
    'int64': stype.int64,
    'float32': stype.float32,
    'float64': stype.float64,
    'str32': stype.str32,
    'str64': stype.str64,
}


def col(t, v):
    if t in ST:
        return dt.Frame([v], stypes=[ST[t]])
    if t == 'date32':
        f = dt.Frame([v], stypes=[stype.int32])
        return dt.Frame(f[:, dt.as_type(dt.f[0], Type.date32)])
    if t == 'time64':
        f = dt.Frame([v], stypes=[stype.int64])
        return dt.Frame(f[:, dt.as_type(dt.f[0], Type.time64)])
    if t == 'void':
        return dt.Frame([v], stypes=[stype.void])


def enc(t, v):
    if v is None:
        return None
    if t == 'bool8':
        return v
    if t.startswith('int') or t in ('date32', 'time64'):
        return str(v)
    if t == 'float64':
        return f64bits(v)
    if t == 'float32':
        return f32bits(v)
    return v


TYPES = list(ST) + ['date32', 'time64', 'void']
lost = 0
for i in range(a.count):
    k = rnd.random()
    nrows = (
        0
        if k < 0.05
        else (
            1
            if k < 0.12
            else rnd.randint(2, 9) if k < 0.3 else rnd.randint(10, 300) if k < 0.95 else rnd.randint(1000, 2000)
        )
    )
    ncols = rnd.choice([0, 1, 1, 2, 3, 3, 5, 8, 20]) if k < 0.99 else 200
    if nrows >= 1000:
        ncols = min(ncols, 8)
    cols = []
    names = []
    exp = []
    for c in range(ncols):
        t = rnd.choice(TYPES)
        pna = rnd.choice([0, 0, 0.1, 0.5, 1.0])
        v = vals(t, nrows, pna)
        if t == 'void':
            v = [None] * nrows
        f = col(t, v)
        cols.append(f)
        nm = rnd.choice(['c%d', 'name %d', 'ü%d', '漢字%d', '"q"%d', 'a,b%d', ' %d', '😀%d']) % c
        names.append(nm)
        exp.append((nm, t, v))
    p = os.path.join(a.scratch, 'r%05d.jay' % i)
    if cols:
        F = dt.cbind(*cols) if len(cols) > 1 else cols[0]
        F.names = tuple(names)
    else:
        F = dt.Frame()
    # check that the frame holds what we think
    if rnd.random() < 0.5 and F.ncols and F.nrows:
        F.min()
        F.max()
    if rnd.random() < 0.2 and F.ncols and F.nrows > 2:
        # view
        idx = [rnd.randrange(F.nrows) for _ in range(rnd.randint(1, F.nrows))]
        F = F[idx, :]
        exp = [(m, t, [v[j] for j in idx]) for m, t, v in exp]
    F.to_jay(p, method=rnd.choice(['write', 'mmap', 'auto']))
    for c, (name, t, v) in enumerate(exp):
        # datatable 1.1.0 loses empty texts when it copies a view whose texts are all empty
        if t in ('str32', 'str64') and '' in v and not any(v):
            read = dt.fread(p)[:, c].to_list()[0]
            lost += read != v
            exp[c] = (name, t, read)
    with open(p + '.exp', 'w') as e:
        json.dump([[m, t, [enc(t, x) for x in v]] for m, t, v in exp], e)
peer.finish('gen', 0, f'{a.count} frames by datatable {dt.__version__}, {lost} columns of empty texts lost by datatable itself')
