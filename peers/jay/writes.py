"""Golden files of every format converted to Jay by pilaster and opened by datatable: every scalar column against
`pilaster dump` of the copy, and against the expectation of the source.

  writes.py SCRATCH --golden ROOT [--count N] [--seed 1]        with a Python that has datatable

ROOT: the folder with filo/, dataseries/, jay/, bcolz/, vortex/ and their NAME.expected.json. What convert refuses is tried
again with --any-time --bytes-as-text --sentinels widen; the messages are counted. Array columns are skipped; of columns
over 2,000 rows the first and last 20 values are compared."""

import collections
import glob
import json
import os
import random
import struct
import subprocess
import sys

import datatable as dt

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, count=0)
p.add_argument('--golden', required=True)
a = peer.parse(p)
dt.options.nthreads = 1
res = collections.Counter()
msgs = collections.Counter()
bad = []
changed = []


def fval(s):
    return (
        struct.unpack('>d', bytes.fromhex(s[5:]))[0]
        if len(s) == 21
        else (
            struct.unpack('>f', bytes.fromhex(s[5:]))[0]
            if len(s) == 13
            else struct.unpack('>e', bytes.fromhex(s[5:]))[0]
        )
    )


def norm(x, t):
    if x is None:
        return None
    if isinstance(x, str) and x.startswith('bits:'):
        v = fval(x)
        return None if v != v else v
    if t.startswith(('int', 'uint', 'date', 'time', 'datetime')) and isinstance(x, str):
        return int(x)
    return x


items = []
for fmt in ['filo', 'dataseries', 'jay', 'bcolz', 'vortex']:
    for e in sorted(glob.glob(f'{a.golden}/{fmt}/*.expected.json') + glob.glob(f'{a.golden}/{fmt}/*/*.expected.json')):
        items.append((fmt, e[: -len('.expected.json')], e))
if a.count:
    items = random.Random(a.seed).sample(items, min(a.count, len(items)))
for fmt, b, e in items:
    if 'damaged' in b or not os.path.exists(b):
        c = [x for x in glob.glob(b + '.*') if not x.endswith('.json')]
        if 'damaged' in b or not c:
            res[fmt, 'skip'] += 1
            continue
        b = c[0]
    ex = json.load(open(e))
    if ex.get('expect') == 'error' or b.endswith('.varr'):  # .varr: an array of Vortex without its file
        res[fmt, 'skip'] += 1
        continue
    o = os.path.join(a.scratch, 'x.jay')
    if os.path.exists(o):
        os.remove(o)
    args = []
    if fmt == 'filo':
        args = ['--type', ex['facts']['element_type'].lower()]
    r = subprocess.run([a.pilaster, 'convert', *args, b, o], capture_output=True, text=True)
    if r.returncode:
        args2 = args + ['--any-time', '--bytes-as-text', '--sentinels', 'widen']
        r2 = subprocess.run([a.pilaster, 'convert', *args2, b, o], capture_output=True, text=True)
        if r2.returncode:
            res[fmt, 'refused'] += 1
            msgs[fmt, r2.stderr.strip().split(': ', 1)[-1][-110:]] += 1
            continue
        args = args2
        res[fmt, 'ok with options'] += 1
    s = json.loads(subprocess.run([a.pilaster, 'dump', '--json', o], capture_output=True, text=True).stdout)
    try:
        F = dt.open(o) if hasattr(dt, 'open') else dt.fread(o)
    except Exception as x:
        bad.append((b, 'datatable open', str(x)[:100]))
        continue
    if F.nrows != s['nrows'] and F.ncols:
        bad.append((b, 'nrows', F.nrows, s['nrows']))
        continue
    # values against our own dump of the jay (exact), and against expected of the source where simple
    src = ex
    if 'tables' in ex:
        src = ex['tables'][0] if ex['tables'] else {'columns': []}
    for k, c in enumerate(s['columns']):
        t = c['type']
        if t.startswith(('array',)):
            res[fmt, 'arraycol'] += 1
            continue
        G = F[:, k]
        if t in ('date32', 'time64'):
            G = G[:, dt.as_type(dt.f[0], dt.Type.int32 if t == 'date32' else dt.Type.int64)]
        L = G.to_list()[0]
        if 'values' in c:
            W = [norm(x, t) for x in c['values']]
        else:
            W = None
            H = [norm(x, t) for x in c['head']]
            T = [norm(x, t) for x in c['tail']]
            if L[:20] != H or L[-20:] != T:
                bad.append((b, k, t, 'head/tail'))
                continue
        if W is not None and L != W:
            j = [i for i in range(min(len(L), len(W))) if L[i] != W[i]][:1]
            bad.append((b, k, c['name'], t, len(L), len(W), j and (L[j[0]], W[j[0]])))
            continue
        sc = (src.get('columns') or [])[k] if k < len(src.get('columns') or []) else None
        if sc and 'values' in sc and 'values' in c:
            V = [norm(x, sc['type']) for x in sc['values']]
            if V != L and not (sc['type'].startswith(('timestamp', 'datetime', 'time', 'date'))):
                j = [i for i in range(min(len(L), len(V))) if L[i] != V[i]][:1]
                asked = (
                    '--any-time' in args
                    and t in ('time64', 'date32')
                    or '--bytes-as-text' in args
                    and sc['type'] == 'bytes'
                )
                (changed if asked else bad).append(
                    (
                        b,
                        k,
                        c['name'],
                        t,
                        sc['type'],
                        'SRC',
                        len(L),
                        len(V),
                        j and (repr(L[j[0]])[:40], repr(V[j[0]])[:40]),
                    )
                )
                continue
            elif V == L:
                res[fmt, 'col vs source'] += 1
            else:
                res[fmt, 'timecols'] += 1
        res[fmt, 'cols'] += 1
    res[fmt, 'files'] += 1
for k, v in sorted(res.items()):
    print(k, v)
for k, v in msgs.most_common(60):
    print(v, k)
for x in bad[:60]:
    print('BAD', *x)
files = sum(v for k, v in res.items() if k[1] == 'files')
peer.finish(
    'jay writes',
    len(bad),
    f'{files} files opened by datatable, {sum(v for k,v in res.items() if k[1]=="refused")} refused by convert, {len(bad)} columns or files wrong, {len(changed)} changed as the options ask',
)
