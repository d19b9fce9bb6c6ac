"""`pilaster dump --json` of the datasets that gen.py made against what went into them.

compare.py SCRATCH        (gen.py's folder; with a Python that has numpy)"""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer
from encode import enc, js

args = peer.parse(peer.arguments(__doc__, seed=False))
man = json.load(open(args.scratch + '/man.json'))
bad = 0
vals = 0
for p, kind, names, dts in man:
    p = os.path.join(args.scratch, p)
    z = np.load(p + '.npz')
    r = subprocess.run([args.pilaster, 'dump', '--json', p], capture_output=True)
    if r.returncode:
        bad += 1
        print('ERR', p, dts, r.stderr.decode()[:200])
        continue
    d = json.loads(r.stdout)
    ok = True
    cols = d['columns']
    if len(cols) != len(names):
        print('NC', p)
        bad += 1
        continue
    for j, c in enumerate(cols):
        e = enc(z['c%d' % j])
        h = hashlib.sha256('\n'.join(js(x) for x in e).encode()).hexdigest()
        vals += len(e)
        if h != c['sha256']:
            ok = False
            v = c.get('values')
            k = None
            if v:
                k = [(i, a, b) for i, (a, b) in enumerate(zip(v, e)) if a != b][:1]
            print('DIFF', p, c['name'], dts[j], c['type'], len(e), k, c.get('shape'))
    bad += not ok
peer.finish('bcolz compare', bad or not man, f'{len(man)} datasets, {bad} wrong, {vals} values')
