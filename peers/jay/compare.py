"""`pilaster dump --json` of the files that gen.py made against what went into them: names, stypes, nullability, every value.

compare.py SCRATCH        (gen.py's folder)"""

import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

a = peer.parse(peer.arguments(__doc__, seed=False))
tm = {'bool8': 'bool', 'str32': 'string', 'str64': 'string', 'void': 'void'}
bad = 0
n = 0
vals = 0
for p in sorted(glob.glob(a.scratch + '/*.jay')):
    n += 1
    exp = json.load(open(p + '.exp'))
    r = subprocess.run([a.pilaster, 'dump', '--json', p], capture_output=True)
    if r.returncode:
        print('ERR', p, r.stderr.decode()[:300])
        bad += 1
        continue
    try:
        d = json.loads(r.stdout)
    except Exception as e:
        print('JSON', p, e)
        bad += 1
        continue
    if len(d['columns']) != len(exp):
        print('NCOL', p, len(d['columns']), len(exp))
        bad += 1
        continue
    ok = True
    for c, (nm, t, v) in zip(d['columns'], exp):
        if c['name'] != nm:
            print('NAME', p, repr(c['name']), repr(nm))
            ok = False
        if c['type'] != tm.get(t, t) or c.get('stype') != t:
            print('TYPE', p, c['type'], c.get('stype'), t)
            ok = False
        if c.get('values') != v:
            ok = False
            w = c.get('values')
            if w is None:
                print('NOVAL', p, nm)
                continue
            for i, (x, y) in enumerate(zip(w, v)):
                if x != y:
                    print('VAL', p, nm, t, i, repr(x)[:80], repr(y)[:80])
                    break
            else:
                print('LEN', p, nm, t, len(w), len(v))
        if c['nullable'] != any(x is None for x in v):
            print('NULLABLE', p, nm, t, c['nullable'])
            ok = False
        vals += len(v)
    if d['nrows'] != (len(exp[0][2]) if exp else 0):
        print('NROWS', p, d['nrows'])
        ok = False
    bad += not ok
peer.finish('jay compare', bad or not n, f'{n} files, {bad} wrong, {vals} values')
