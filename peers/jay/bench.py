"""A Jay column opened and summed, and saved, beside datatable (one thread): CPU milliseconds, medians. Ratios above 1:
pilaster is faster.

  bench.py SCRATCH --lib libpilaster_peers.so [--rows 4194304] [--rounds 7]        with a Python that has datatable and numpy

libpilaster_peers.so: the library that cargo builds in `ctypes`. SCRATCH should be a memory file system. Sums and row counts are checked. Let nothing else run.
"""

import ctypes
import mmap
import os
import statistics as st
import sys
import time

import datatable as dt
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--lib', required=True)
p.add_argument('--rows', type=int, default=4 << 20)
p.add_argument('--rounds', type=int, default=7)
a = peer.parse(p)
dt.options.nthreads = 1
L = ctypes.CDLL(a.lib)
vp = ctypes.c_void_p
sz = ctypes.c_size_t
L.pl_jay_sum.argtypes = [vp, sz, ctypes.c_int, vp, vp]
L.pl_jay_save.argtypes = [ctypes.c_int, vp, sz, vp, sz, ctypes.c_char_p]
N = a.rows
r = np.random.default_rng(1)
D = {
    0: 1600000000000000000 + np.arange(N) * 1000000 + r.integers(-1000, 1001, N),
    1: 20 + np.cumsum(r.integers(-10, 11, N)) * 0.01,
    2: r.integers(0, 100, 2 * N).astype('i4'),
}
cpu = time.process_time
strs = ['sensor-%d' % x for x in r.integers(0, 10000, 1000000)]
raw = ''.join(strs).encode()
off = np.zeros(len(strs) + 1, 'u4')
off[1:] = np.cumsum([len(s) for s in strs])
rb = np.frombuffer(raw, 'u1')
for k, nm in enumerate(['int64', 'float64', 'int32', 'str32']):
    p = os.path.join(a.scratch, '%d.jay' % k)
    q = os.path.join(a.scratch, 'o%d.jay' % k)
    F = dt.Frame(a=D[k]) if k < 3 else dt.Frame(a=strs)
    F.to_jay(p, method='write')
    T = {}
    for _ in range(a.rounds):
        t = cpu()
        G = dt.open(p) if hasattr(dt, 'open') else dt.fread(p)
        s = G[:, dt.sum(dt.f[0])][0, 0] if k < 3 else G[:, dt.sum(dt.str.len(dt.f[0]))][0, 0]
        T.setdefault('dt sum', []).append(cpu() - t)
        for c in (0, 1):
            t = cpu()
            f = open(p, 'rb')
            m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
            w = np.frombuffer(m, 'u1')
            i = ctypes.c_int64()
            d = ctypes.c_double()
            assert L.pl_jay_sum(w.ctypes.data, len(w), c, ctypes.addressof(i), ctypes.addressof(d)) == 0
            T.setdefault('our sum' + ' chk' * c, []).append(cpu() - t)
            del w
            m.close()
            f.close()
        if k != 1:
            assert i.value == s, (i.value, s)
        else:
            assert abs(d.value - s) < 1e-3 * abs(s)
        F = dt.Frame(a=D[k]) if k < 3 else dt.Frame(a=strs)
        for meth in ('write', 'mmap'):
            if os.path.exists(q):
                os.remove(q)
            t = cpu()
            F.to_jay(q, method=meth)
            T.setdefault('dt save ' + meth, []).append(cpu() - t)
        os.remove(q)
        t = cpu()
        if k < 3:
            L.pl_jay_save(k, D[k].ctypes.data, len(D[k]), None, 0, q.encode())
        else:
            L.pl_jay_save(3, rb.ctypes.data, len(strs), off.ctypes.data, len(raw), q.encode())
        T.setdefault('our save(stats)', []).append(cpu() - t)
    G = dt.fread(q)
    assert G.nrows == F.nrows
    m = {x: st.median(y) * 1e3 for x, y in T.items()}
    peer.record('jay_datatable', nm, 'open and sum', m['dt sum'], m['our sum'], 'ms')
    peer.record('jay_datatable', nm, 'save with statistics', m['dt save write'], m['our save(stats)'], 'ms')
    print(
        nm,
        {x: round(y, 2) for x, y in m.items()},
        'sum x%.2f chk x%.2f save x%.2f (vs write) x%.2f (vs mmap)'
        % (
            m['dt sum'] / m['our sum'],
            m['dt sum'] / m['our sum chk'],
            m['dt save write'] / m['our save(stats)'],
            m['dt save mmap'] / m['our save(stats)'],
        ),
        flush=True,
    )
peer.finish('jay bench', 0, f'4 columns, {a.rounds} rounds')
