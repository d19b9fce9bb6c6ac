"""Golden files of every format converted to bcolz by pilaster, with random codec, shuffle, level and chunk length, opened by
bcolz: every column against `pilaster dump` of the copy. Then bcolz appends all rows again, pilaster a third time, and the
three parts must be equal.

  writes.py SCRATCH --golden ROOT [--count N] [--seed 1]        with a Python that has bcolz and numpy

ROOT: the folder with filo/, dataseries/, jay/, bcolz/, vortex/ and their NAME.expected.json. The codecs are those of the
installed bcolz (bcolz-zipline has no Snappy). Columns of Snappy that bcolz reads otherwise are counted apart (bcolz 1.2.1
fails on its own, too); --strict-snappy counts them as wrong.
What convert refuses is tried again with --any-time --fill-missing; the messages are counted."""

import collections
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import warnings

warnings.filterwarnings('ignore')
import bcolz

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer
from encode import enc, js

p = peer.arguments(__doc__, count=0)
p.add_argument('--golden', required=True)
p.add_argument('--strict-snappy', action='store_true')
args = peer.parse(p)
CODECS = bcolz.blosc_compressor_list()
res = collections.Counter()
msgs = collections.Counter()
bad = []
own = []
rnd = random.Random(args.seed)
items = []
for fmt in ['filo', 'dataseries', 'jay', 'bcolz', 'vortex']:
    for e in sorted(glob.glob(f'{args.golden}/{fmt}/*.expected.json')):
        items.append((fmt, e[: -len('.expected.json')], e))
if args.count:
    items = rnd.sample(items, min(args.count, len(items)))
for fmt, b, e in items:
    if not os.path.exists(b):
        c = [x for x in glob.glob(b + '.*') if not x.endswith('.json')]
        if not c:
            continue
        b = c[0]
    ex = json.load(open(e))
    if ex.get('expect') == 'error' or b.endswith('.varr'):  # .varr: an array of Vortex without its file
        res[fmt, 'skip'] += 1
        continue
    o = os.path.join(args.scratch, 'y.bcolz')
    shutil.rmtree(o, ignore_errors=True)
    with_ = [
        '--codec',
        rnd.choice(CODECS),
        '--shuffle',
        rnd.choice(['none', 'bytes', 'bits']),
        '--clevel',
        str(rnd.randrange(10)),
    ]
    if rnd.random() < 0.3:
        # One file per chunk and column: small chunks of a large table take minutes.
        large = max([ex.get('nrows', 0), *(t['nrows'] for t in ex.get('tables', []))]) > 5000
        with_ += ['--chunklen', str(rnd.choice([10_000] if large else [1, 7, 64, 1000]))]
    if fmt == 'filo':
        with_ += ['--type', ex['facts']['element_type'].lower()]
    r = subprocess.run([args.pilaster, 'convert', '--force', *with_, b, o], capture_output=True, text=True)
    if r.returncode:
        r2 = subprocess.run(
            [args.pilaster, 'convert', '--force', *with_, '--any-time', '--fill-missing', b, o], capture_output=True, text=True
        )
        if r2.returncode:
            res[fmt, 'refused'] += 1
            msgs[fmt, r2.stderr.strip()[-130:]] += 1
            continue
        res[fmt, 'with options'] += 1
    try:
        t = bcolz.open(o, 'a')
    except Exception as x:
        bad.append((b, 'open', repr(x)[:120]))
        continue
    s = json.loads(subprocess.run([args.pilaster, 'dump', '--json', o], capture_output=True, text=True).stdout)
    names = t.names if isinstance(t, bcolz.ctable) else [None]
    for k, nm in enumerate(names):
        a = t[nm] if nm is not None else t
        c = s['columns'][k]
        try:
            v = a[:]
            en = None if v.dtype == object else enc(v)
        except Exception as x:
            # bcolz 1.2.1 reads some short chunks of Snappy after a shuffle wrongly, also its own
            (own if ('snappy' in with_ and not args.strict_snappy) else bad).append(
                (b, nm, 'bcolz cannot read it', repr(x)[:120])
            )
            continue
        if v.dtype == object:
            res[fmt, 'objcols'] += 1
            continue
        if en is None:
            res[fmt, 'dtype?' + str(v.dtype)] += 1
            continue
        h = hashlib.sha256('\n'.join(js(x) for x in en).encode()).hexdigest()
        if h != c['sha256']:
            (own if ('snappy' in with_ and not args.strict_snappy) else bad).append(
                (b, nm, str(v.dtype), c['type'], *with_)
            )
            continue
        if not r.returncode and 'columns' in ex and k < len(ex['columns']) and ex['columns'][k].get('sha256') == h:
            res[fmt, 'cols = source sha'] += 1
        elif 'columns' in ex and k < len(ex['columns']) and ex['columns'][k].get('values') == en:
            res[fmt, 'cols = source'] += 1
        res[fmt, 'cols'] += 1
    # append by bcolz to ours, then by pilaster again
    if any((t[nm] if nm is not None else t).dtype == object for nm in names):
        res[fmt, 'not appended: bcolz 1.13.0 cannot append to objects that it opened'] += 1
    elif len(s['columns']) and s['nrows'] and rnd.random() < 0.6:
        try:
            n0 = len(t)
            if isinstance(t, bcolz.ctable):
                t.append([t[n][:] for n in t.names])
            else:
                t.append(t[:])
            t.flush()
            del t
            r = subprocess.run(
                [
                    args.pilaster,
                    'convert',
                    '--force',
                    '--append',
                    '--any-time',
                    '--fill-missing',
                    *(['--type', ex['facts']['element_type'].lower()] if fmt == 'filo' else []),
                    b,
                    o,
                ],
                capture_output=True,
                text=True,
            )
            if r.returncode:
                bad.append((b, 'pilaster append', r.stderr[-150:]))
                continue
            t = bcolz.open(o, 'r')
            if len(t) != 3 * n0:
                bad.append((b, 'len', len(t), n0))
                continue
            for nm in (t.names if isinstance(t, bcolz.ctable) else [None]):
                v = (t[nm] if nm is not None else t)[:]
                p = [v[:n0], v[n0 : 2 * n0], v[2 * n0 :]]
                if v.dtype == object:
                    continue
                if not (p[0].tobytes() == p[1].tobytes() == p[2].tobytes()):
                    (own if ('snappy' in with_ and not args.strict_snappy) else bad).append(
                        (b, nm, 'append differs', str(v.dtype), *with_)
                    )
            if subprocess.run([args.pilaster, 'verify', o], capture_output=True).returncode:
                bad.append((b, 'verify after append'))
            res[fmt, 'appended 3x'] += 1
        except Exception as x:
            bad.append((b, 'append', repr(x)[:150]))
    res[fmt, 'files'] += 1
for k, v in sorted(res.items()):
    print(k, v)
for k, v in msgs.most_common(40):
    print(v, k)
for x in own:
    print('bcolz itself:', *x)
for x in bad[:60]:
    print('BAD', *x)
files = sum(v for k, v in res.items() if k[1] == 'files')
peer.finish(
    'bcolz writes',
    len(bad),
    f'{files} files opened by bcolz {bcolz.__version__}, {sum(v for k,v in res.items() if k[1]=="refused")} refused by convert, {sum(v for k,v in res.items() if k[1]=="appended 3x")} appended by both, {len(bad)} wrong, {len(own)} columns of Snappy that bcolz reads otherwise',
)
