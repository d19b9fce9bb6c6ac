"""Filo, Jay and bcolz files converted to DataSeries by pilaster: the original's exact values (dsraw) against
`pilaster dump` of the copy, and each column's digest against that of the source.

  others.py SCRATCH --programs BIN --golden ROOT [--count N per format]       (ROOT: the folder with filo/, jay/, bcolz/)

Counted, no mismatch: a digest that differs from the source's because float32 became float64 or bytes became text; what
convert refuses with a message (lists, structs, float16: DataSeries has no such types)."""

import collections
import glob
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer
import values

p = peer.arguments(__doc__, count=60)
p.add_argument('--programs', required=True)
p.add_argument('--golden', required=True)
a = peer.parse(p)
rnd = random.Random(a.seed)
ALLOWED = {('float32', 'float64'), ('bytes', 'string')}
found = {
    'jay': glob.glob(a.golden + '/jay/*.jay'),
    'filo': glob.glob(a.golden + '/filo/*.filo'),
    'bcolz': [
        x
        for x in glob.glob(a.golden + '/bcolz/*')
        if os.path.isdir(x) and os.path.basename(x) not in ('chunks', 'damaged')
    ],
}
count, why, bad = collections.Counter(), collections.Counter(), 0
for kind, files in found.items():
    for f in rnd.sample(sorted(files), min(a.count, len(files))):
        copy, extra = os.path.join(a.scratch, 'converted.ds'), []
        if os.path.exists(copy):
            os.remove(copy)
        if kind == 'filo':
            extra = ['--type', json.load(open(f[:-5] + '.expected.json'))['facts']['element_type'].lower()]
        status, _, err = peer.run(a.pilaster, 'convert', '--force', *extra, f, copy)
        if status:
            count[kind + ' refused'] += 1
            why[kind + ' ' + err.decode(errors='replace').split(':')[-1][:90].strip()] += 1
            continue
        outcome, more = values.compare(a.pilaster, a.programs, copy)
        count[f'{kind} {outcome}'] += 1
        if outcome != 'equal':
            bad += 1
            print(f, outcome, more)
        source = json.loads(peer.run(a.pilaster, 'dump', *extra, f)[1]).get('columns', [])
        tables = json.loads(peer.run(a.pilaster, 'dump', copy)[1])['tables']
        for x, y in zip(source, tables[0]['columns'] if tables else []):
            if x.get('sha256') != y.get('sha256'):
                change = (x.get('type'), y.get('type'))
                count[f'{kind} {change[0]} to {change[1]}'] += 1
                if change not in ALLOWED:
                    bad += 1
                    print(f, x.get('name'), change, 'digest differs from the source')
for k in why.most_common(25):
    print(*k)
peer.finish('others', bad, dict(count))
