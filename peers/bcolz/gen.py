"""Random bcolz datasets (carrays and ctables), each with its values beside it (NAME.npz) and man.json. For compare.py.

  gen.py SCRATCH [--count 100] [--seed 1]        with a Python that has bcolz and numpy

All compressors of the installed bcolz: 1.2.1 built from its repository has Snappy, bcolz-zipline has not. SCRATCH is
emptied. A dataset that bcolz itself does not read back as it was is left out and counted: Snappy after a shuffle in some
lengths, dates as default values that are no JSON."""

import json
import os
import random
import shutil
import sys
import warnings

warnings.filterwarnings('ignore')
import bcolz
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, count=100, pilaster=False)
args = peer.parse(p)
OUT = args.scratch
CODECS = bcolz.blosc_compressor_list()
rnd = random.Random(args.seed)
g = np.random.default_rng(args.seed)
shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
DT = [
    'bool',
    'i1',
    'i2',
    'i4',
    'i8',
    'u1',
    'u2',
    'u4',
    'u8',
    'f2',
    'f4',
    'f8',
    '>i2',
    '>i4',
    '>i8',
    '>f4',
    '>f8',
    '>u2',
    '>u8',
    'S1',
    'S5',
    'S17',
    'S300',
    'U1',
    'U4',
    'U20',
    'M8[ns]',
    'M8[D]',
    'M8[s]',
    'M8[us]',
    'M8[ms]',
    'M8[Y]',
    'M8[M]',
    'M8[h]',
]


def arr(dt, n):
    d = np.dtype(dt)
    k = rnd.random()
    if d.kind == 'b':
        return g.integers(0, 2, n).astype(bool)
    if d.kind in 'iu':
        ii = np.iinfo(d)
        if k < 0.4:
            a = g.integers(max(ii.min, -100), min(ii.max, 100), n)
        elif k < 0.7:
            a = g.integers(ii.min, ii.max, n, dtype=d.newbyteorder('='), endpoint=True)
        else:
            a = np.arange(n) % (min(ii.max, 10**6))
        return a.astype(d)
    if d.kind == 'f':
        a = g.normal(size=n) * 10 ** rnd.randint(-2, 3) if k < 0.6 else np.round(g.normal(size=n), 2)
        a = a.astype(d)
        if n and rnd.random() < 0.5:
            for v in (np.nan, np.inf, -np.inf, -0.0, 0.0):
                a[rnd.randrange(n)] = v
        return a
    if d.kind == 'S':
        return np.array(
            [
                bytes(
                    g.integers(
                        0 if rnd.random() < 0.2 else 32,
                        256 if rnd.random() < 0.2 else 127,
                        rnd.randint(0, d.itemsize),
                        dtype='u1',
                    )
                )
                for _ in range(n)
            ],
            dtype=d,
        )
    if d.kind == 'U':
        return np.array(
            [''.join(rnd.choice('aZ é漢😀",\n\t') for _ in range(rnd.randint(0, d.itemsize // 4))) for _ in range(n)],
            dtype=d,
        )
    if d.kind == 'M':
        a = g.integers(-(10**4), 10**4, n) if k < 0.5 else g.integers(0, 10**9, n)
        a = a.astype('i8').view(d)
        if n and rnd.random() < 0.5:
            a = a.copy()
            a[rnd.randrange(n)] = np.datetime64('NaT')
        return a


def cp():
    return bcolz.cparams(
        clevel=rnd.randrange(10),
        shuffle=rnd.randrange(3),
        cname=rnd.choice(CODECS),
        quantize=0,
    )


man = []
for i in range(args.count):
    n = rnd.choice(
        [0, 1, 2, rnd.randint(3, 300), rnd.randint(3, 300), rnd.randint(300, 3000), rnd.randint(3000, 40000)]
    )
    p = os.path.join(OUT, 'd%04d' % i)
    cl = rnd.choice(
        [None, 1 if n < 100 else None, rnd.randint(2, max(3, n + 5)) if n < 3000 else rnd.randint(500, n), None]
    )
    try:
        if rnd.random() < 0.6:
            dt = rnd.choice(DT)
            sh = (
                (n,) if rnd.random() < 0.85 or n > 3000 else (n, rnd.randint(1, 4)) if rnd.random() < 0.6 else (n, 2, 3)
            )
            tot = int(np.prod(sh))
            a = arr(dt, tot).reshape(sh)
            kw = dict(rootdir=p, mode='w', cparams=cp())
            if cl:
                kw['chunklen'] = cl
            k = rnd.random()
            if k < 0.6 or n < 4:
                c = bcolz.carray(a, **kw)
            else:
                s = rnd.randint(1, n - 1)
                c = bcolz.carray(a[:s], expectedlen=n * rnd.choice([1, 1, 10]), **kw)
                c.append(a[s:])
                if rnd.random() < 0.3:
                    t = rnd.randint(1, min(50, n))
                    c.trim(t)
                    a = a[: n - t]
            if rnd.random() < 0.2:
                c.attrs['x'] = [1, 'é', {'a': None}]
            c.flush()
            c2 = bcolz.open(p, 'r')
            b = c2[:]
            assert (
                np.array_equal(b.view('u1') if b.size else b, a.view('u1') if a.size else a)
                or a.dtype.kind in 'SU'
                and (a == b).all()
            ), (dt, n)
            np.savez(p + '.npz', **{'c0': a})
            man.append((os.path.basename(p), 'carray', [''], [a.dtype.str]))
        else:
            nc = rnd.randint(1, 6)
            dts = [rnd.choice(DT) for _ in range(nc)]
            cols = [arr(d, n) for d in dts]
            names = [rnd.choice(['a', 'price_', 'é', 'x']) + str(j) for j in range(nc)]
            kw = dict(rootdir=p, mode='w', cparams=cp())
            if cl:
                kw['chunklen'] = cl
            t = bcolz.ctable(cols, names=names, **kw)
            if rnd.random() < 0.3 and n > 3:
                t.append([c[:3] for c in cols])
                cols = [np.concatenate([c, c[:3]]) for c in cols]
            t.flush()
            np.savez(p + '.npz', **{'c%d' % j: c for j, c in enumerate(cols)})
            man.append((os.path.basename(p), 'ctable', names, dts))
    except Exception as x:
        print('gen', i, repr(x)[:150])
        shutil.rmtree(p, ignore_errors=True)
with open(OUT + '/man.json', 'w') as f:
    json.dump(man, f)
peer.finish('gen', not man, f'{len(man)} of {args.count} datasets by bcolz {bcolz.__version__}')
