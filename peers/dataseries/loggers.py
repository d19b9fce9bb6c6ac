"""Loggers made with pilaster's `record!`: 25 fields with every option of a field, by sets of options for the type, modes
and byte orders, read by the original (dsraw) and held against what was logged.

  loggers.py SCRATCH --programs BIN --ds PROGRAM       (PROGRAM: ds, built by cargo, see README.md)

Scaled doubles may differ by 0.005, all else not at all. No seed: the rows are fixed."""

import collections
import glob
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--programs', required=True)
p.add_argument('--ds', required=True)
a = peer.parse(p)
status, _, err = peer.run(os.path.abspath(a.ds), 'log', a.scratch)
if status:
    peer.finish('loggers', 1, f'the logger itself fails: {err[-300:]}')
truth = [l.split('\t') for l in open(os.path.join(a.scratch, 'log_truth.txt')).read().split('\n')[:-1]]
double = lambda x: struct.unpack('>d', bytes.fromhex(x[1:]))[0]
count, bad = collections.Counter(), 0
for f in sorted(glob.glob(os.path.join(a.scratch, 'log_*.ds'))):
    status, out, err = peer.run(os.path.join(a.programs, 'dsraw'), f)
    if status:
        bad += 1
        print(os.path.basename(f), 'the original refuses it:', err[-200:])
        continue
    rows = [l.split('\t') for l in out.decode().split('\n')[:-1] if l[0] != '#']
    wrong = collections.Counter()
    if len(rows) != len(truth):
        wrong['rows'] = len(rows)
    for have, want in zip(rows, truth):
        for k, (x, y) in enumerate(zip(have, want)):
            if abs(double(x) - float(y[1:])) > 5e-3 if y[0] == '~' else x != y:
                wrong[k] += 1
    count['differs' if wrong else 'equal'] += 1
    if wrong:
        bad += 1
        print(os.path.basename(f), dict(wrong))
peer.finish('loggers', bad, f'{dict(count)}, {len(truth)} rows each')
