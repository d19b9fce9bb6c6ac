"""Chunks of Blosc 1: encode and decode beside the C library (context call) and python-blosc, thread CPU time, one thread,
alternating, medians. "x" is ours against the faster of the two; above 1 pilaster is faster.

  bench.py --lib libpilaster_peers.so [--native libpilaster_peers.so] [--blosc libblosc.so.1] [--rounds 5] [--codecs blosclz,lz4,zlib,zstd,snappy]

libpilaster_peers.so: the library that cargo builds in `ctypes`; --native: the same built with RUSTFLAGS=-Ctarget-cpu=native. 24 chunks of 1 MiB, level 5, byte and
bit shuffle, three kinds of data. Also checks that python-blosc decodes our chunks (status 1 if not). With a Python that has
blosc and numpy; the C library is Debian's libblosc1. Let nothing else run meanwhile."""

import argparse
import ctypes
import os
import statistics as st
import sys
import time

import blosc
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p_ = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p_.add_argument('--lib', required=True)
p_.add_argument('--native')
p_.add_argument('--blosc', default='libblosc.so.1')
p_.add_argument('--rounds', type=int, default=5)
p_.add_argument('--codecs', default='blosclz,lz4')
p_.add_argument('--chunks', type=int, default=24)
a_ = p_.parse_args()
lib = {'x86-64': ctypes.CDLL(a_.lib)}
if a_.native:
    lib['native'] = ctypes.CDLL(a_.native)
C = ctypes.CDLL(a_.blosc)
vp = ctypes.c_void_p
sz = ctypes.c_size_t
for l in lib.values():
    l.pl_enc.argtypes = [vp, sz, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, sz, vp, sz, vp, sz]
    l.pl_enc.restype = ctypes.c_int64
    l.pl_dec.argtypes = [vp, sz, vp, sz, vp, sz]
    l.pl_dec.restype = ctypes.c_int64
    l.pl_name.restype = ctypes.c_char_p
NAMES = [lib['x86-64'].pl_name(i).decode() for i in range(6)]
C.blosc_compress_ctx.argtypes = [ctypes.c_int, ctypes.c_int, sz, sz, vp, vp, sz, ctypes.c_char_p, sz, ctypes.c_int]
C.blosc_decompress_ctx.argtypes = [vp, vp, sz, ctypes.c_int]
blosc.set_nthreads(1)
M = 1 << 20
NC = a_.chunks
N = NC * M // 8
r = np.random.default_rng(1)
i8 = 1600000000000000000 + np.arange(N) * 1000000 + r.integers(-1000, 1001, N)
f8 = 20 + np.cumsum(r.integers(-10, 11, N)) * 0.01
i4 = r.integers(0, 100, 2 * N).astype('i4')
W = {'i64': (i8, 8), 'f64': (f8, 8), 'i32': (i4, 4)}
dst = np.zeros(NC * (M + 16) + 64, 'u1')
out = np.zeros(NC * M, 'u1')
scr = np.zeros(16 << 20, 'u1')
scr1 = scr.ctypes.data
cpu = time.thread_time
R = a_.rounds
which = a_.codecs.split(',')
ratios = {'mem': [], 'cache': [], 'enc': []}


def addr(a, o=0):
    return a.ctypes.data + o


for wn, (a, ts) in W.items():
    raw = np.ascontiguousarray(a).view('u1')
    for cn in which:
        for sh in (1, 2):
            ours = NAMES.index(cn)
            T = {}
            ch = []
            buf = np.zeros(M + 16, 'u1')
            for k in range(NC):
                n = C.blosc_compress_ctx(5, sh, ts, M, addr(raw, k * M), addr(buf), M + 16, cn.encode(), 0, 1)
                ch.append(buf[:n].copy())
            cb = [c.tobytes() for c in ch]
            csz = sum(map(len, cb))
            osz = None
            # interop: our chunks decoded by python-blosc
            for k in {0, NC - 1}:
                for nm, l in lib.items():
                    n = l.pl_enc(addr(raw, k * M), M, ours, 5, sh, ts, 0, addr(buf), M + 16, scr1, len(scr))
                    assert n > 0, n
                    assert blosc.decompress(buf[:n].tobytes()) == raw[k * M : (k + 1) * M].tobytes()
                    if k == 0:
                        osz = n
            dec = {}

            def d_c(k, o):
                C.blosc_decompress_ctx(addr(ch[k]), addr(out, o), M, 1)

            def d_py(k, o):
                blosc.decompress_ptr(cb[k], addr(out, o))

            dec['c'] = d_c
            dec['py'] = d_py
            for nm, l in lib.items():

                def f(k, o, l=l):
                    if l.pl_dec(addr(ch[k]), len(cb[k]), addr(out, o), M, scr1, len(scr)) != M:
                        raise SystemExit('dec')

                dec[nm] = f
            enc = {
                'c': lambda k: C.blosc_compress_ctx(
                    5, sh, ts, M, addr(raw, k * M), addr(buf), M + 16, cn.encode(), 0, 1
                ),
                'py': lambda k: blosc.compress_ptr(addr(raw, k * M), M // ts, ts, 5, sh, cn),
            }
            for nm, l in lib.items():
                enc[nm] = lambda k, l=l: l.pl_enc(
                    addr(raw, k * M), M, ours, 5, sh, ts, 0, addr(buf), M + 16, scr1, len(scr)
                )
            for _ in range(R):
                for nm, f in dec.items():
                    t = cpu()
                    for k in range(NC):
                        f(k, k * M)
                    T.setdefault(('mem', nm), []).append(cpu() - t)
                for nm, f in dec.items():
                    f(0, 0)
                    t = cpu()
                    for k in range(NC):
                        f(0, 0)
                    T.setdefault(('cache', nm), []).append(cpu() - t)
                if _ % 2 == 0:
                    for nm, f in enc.items():
                        ne = NC if cn in ('blosclz', 'lz4') else 4
                        t = cpu()
                        for k in range(ne):
                            f(k)
                        T.setdefault(('enc', nm), []).append((cpu() - t) * NC / ne)
            m = {k: st.median(v) for k, v in T.items()}
            row = []
            for what in ('mem', 'cache', 'enc'):
                best = min(m[what, 'c'], m[what, 'py'])
                ratios[what] += [best / m[what, nm] for nm in lib]
                for nm in lib:
                    work = {'mem': 'decode from memory', 'cache': 'decode from cache', 'enc': 'encode'}[what]
                    data = f'{wn}, {["", "byte", "bit"][sh]}'
                    # The build for this processor beside the plain one, which chooses at run time.
                    table, beside = ('blosc_avx2', best) if nm == 'x86-64' else ('blosc_native', m[what, 'x86-64'])
                    peer.record(table, f'{cn}, {work}', data, beside * 1e3, m[what, nm] * 1e3, 'ms')
                row.append(
                    f"{what} C {NC*M/1e9/m[what,'c']:.2f} py {NC*M/1e9/m[what,'py']:.2f} "
                    + ' '.join(f"{nm} {NC*M/1e9/m[what,nm]:.2f} (x{best/m[what,nm]:.2f})" for nm in lib)
                )
            print(
                wn,
                cn,
                ['', 'byte', 'bit'][sh],
                '|',
                ' | '.join(row),
                '| size ours/C %.3f' % (osz / len(cb[0])),
                flush=True,
            )
print(
    'bench: ok: ours against the faster of the two: '
    + ', '.join(f'{k} {min(v):.2f} to {max(v):.2f}' for k, v in ratios.items())
)
