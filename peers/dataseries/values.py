"""Exact values of DataSeries files: the original's fields (dsraw) against `pilaster dump`, column by column.

  values.py SCRATCH --programs BIN FILE...        (BIN: the folder bin that build.sh made)

Status 1 if a value differs, or if the original reads a file that pilaster refuses."""

import collections
import hashlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer


def truth(programs, f):
    status, out, err = peer.run(os.path.join(programs, 'dsraw'), f)
    if status:
        return None, err[-200:]
    tables, current = {}, None
    for line in out.decode().split('\n')[:-1]:
        if line.startswith('#TYPE\t'):
            current = tables.setdefault(line[6:], ([], []))
        elif line.startswith('#COL\t'):
            _, name, kind = line.split('\t')
            current[0].append((name, kind))
            current[1].append([])
        else:
            for k, x in enumerate(line.split('\t')):
                current[1][k].append(x)
    return tables, None


def digest(values, kind):
    out = []
    for x in values:
        if x == '\\N':
            out.append('null')
        elif kind[:4] == 'bool':
            out.append(x)
        elif x[0] == 'b':
            out.append('"bits:' + x[1:] + '"')
        elif x[0] == 'x':
            b = bytes.fromhex(x[1:])
            out.append(json.dumps(b.decode(), ensure_ascii=False) if kind == 'string' else '"hex:' + x[1:] + '"')
        else:
            out.append('"' + x + '"')
    return hashlib.sha256('\n'.join(out).encode()).hexdigest()


def compare(pilaster, programs, f, args=()):
    """What came of it, and the first differences or the message."""
    want, err = truth(programs, f)
    if want is None:
        return 'original refuses', err
    status, out, err = peer.run(pilaster, 'dump', *args, f)
    if status:
        return 'pilaster refuses', err[-200:]
    have = {t['type_name']: t for t in json.loads(out)['tables']}
    bad, columns, rows = [], 0, 0
    for name, (heads, values) in want.items():
        rows += len(values[0]) if values else 0
        if name not in have:
            if values and values[0]:
                bad.append(('missing table', name))
            continue
        for (cn, ct), cv, oc in zip(heads, values, have[name]['columns']):
            columns += 1
            if oc['name'] != cn or oc['ds_type'] != ct or digest(cv, oc['type']) != oc['sha256']:
                bad.append((name, cn, oc['type']))
        if len(heads) != len(have[name]['columns']):
            bad.append(('columns', name))
    return ('differs' if bad else 'equal'), (rows, columns, bad[:3])


if __name__ == '__main__':
    p = peer.arguments(__doc__, seed=False)
    p.add_argument('--programs', required=True)
    p.add_argument('files', nargs='+')
    a = peer.parse(p)
    count = collections.Counter()
    for f in a.files:
        outcome, more = compare(a.pilaster, a.programs, f)
        count[outcome] += 1
        if outcome != 'equal':
            print(os.path.basename(f), outcome, more)
    peer.finish('values', count['differs'] + count['pilaster refuses'], dict(count))
