"""Random chunks by python-blosc (all its compressors, shuffles, type sizes, levels, block sizes) read by pilaster.

chunks.py SCRATCH [--count 200] [--seed 1]        with a Python that has blosc and numpy"""

import hashlib
import os
import random
import subprocess
import sys

import blosc
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

a = peer.parse(peer.arguments(__doc__, count=200))
rnd = random.Random(a.seed)
g = np.random.default_rng(a.seed)
blosc.set_nthreads(1)
CN = blosc.compressor_list()


def data(n, ts):
    k = rnd.randrange(9)
    if n == 0:
        return b''
    if k == 0:
        return g.integers(0, 256, n, dtype='u1').tobytes()
    if k == 1:
        return bytes(n)
    if k == 2:
        return (np.arange(n // 8 + 1, dtype='i8') * rnd.choice([1, 1000, 10**6]) + 10**15).tobytes()[:n]
    if k == 3:
        return g.integers(0, 100, n // 4 + 1, dtype='i4').tobytes()[:n]
    if k == 4:
        return (20 + np.cumsum(g.integers(-10, 11, n // 8 + 1)) * 0.01).tobytes()[:n]
    if k == 5:
        return (b'sensor-%d,' % rnd.randrange(9999)) * (n // 8 + 1)
    if k == 6:
        return np.repeat(g.integers(0, 256, n // 50 + 1, dtype='u1'), 50).tobytes()[:n]
    if k == 7:
        return g.choice(np.frombuffer(b'etaoin shrdlu', dtype='u1'), n).tobytes()
    return (b'\x01\x02\x03' * (n // 3 + 1))[: n - 1] + b'z' if n > 1 else b'q'


bad = ok = 0
tot = 0
stats = {}
for i in range(a.count):
    cn = rnd.choice(CN)
    sh = rnd.choice([0, 1, 2])
    cl = rnd.randrange(10)
    ts = rnd.choice([1, 2, 3, 4, 5, 7, 8, 8, 4, 12, 16, 17, 24, 32, rnd.randint(1, 32), rnd.choice([255, 100, 64])])
    q = rnd.random()
    n = (
        0
        if q < 0.02
        else rnd.randint(1, 200) if q < 0.2 else rnd.randint(200, 70000) if q < 0.65 else rnd.randint(70000, 1 << 20)
    )
    if rnd.random() < 0.5:
        n -= n % ts
    d = data(n, ts)[:n]
    if rnd.random() < 0.15:
        blosc.set_blocksize(rnd.choice([128, 256, 1000, 4096, 16384, 65536, 1 << 19]))
    else:
        blosc.set_blocksize(0)
    if rnd.random() < 0.2:
        blosc.set_nthreads(2)
    else:
        blosc.set_nthreads(1)
    if rnd.random() < 0.3:
        blosc.set_splitmode(rnd.choice([1, 2, 3, 4])) if hasattr(blosc, 'set_splitmode') else None
    try:
        c = blosc.compress(d, typesize=ts, clevel=cl, shuffle=sh, cname=cn)
    except Exception as e:
        print('cannot', cn, sh, cl, ts, n, e)
        continue
    assert blosc.decompress(c) == d
    p = os.path.join(a.scratch, 'x.blosc')
    open(p, 'wb').write(c)
    r = subprocess.run([a.pilaster, 'dump', '--json', p], capture_output=True)
    good = r.returncode == 0 and hashlib.sha256(d).hexdigest() in r.stdout.decode()
    v = subprocess.run([a.pilaster, 'verify', p], capture_output=True).returncode == 0 if i % 5 == 0 else True
    if not good or not v:
        bad += 1
        q = os.path.join(a.scratch, 'fail_%05d.blosc' % i)
        open(q, 'wb').write(c)
        print('BAD', q, cn, sh, cl, ts, n, r.stderr[:200])
    else:
        ok += 1
        tot += n
        stats[cn] = stats.get(cn, 0) + 1
peer.finish(
    'blosc chunks', bad or not ok, f'{ok+bad} chunks by {blosc.blosclib_version}, {bad} wrong, {tot} bytes, {stats}'
)
