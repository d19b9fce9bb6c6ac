"""Damaged DataSeries files: `pilaster recover`, then the original opens what came out and must find exactly the rows of
every intact extent.

  recover.py SCRATCH --programs BIN [--count N per kind of damage] FILE...

Kinds: cut; one byte changed; 100 bytes zeroed; one byte deleted; one inserted (all after the type extent); one byte
changed in the header or the type extent with `--types FILE --order ORDER`. Failing inputs stay in SCRATCH. Without FILE,
three are made by gen (in BIN)."""

import collections
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, count=20)
p.add_argument('--programs', required=True)
p.add_argument('files', nargs='*')
a = peer.parse(p)
gen = os.path.join(a.programs, 'gen')
if not a.files:
    for name, workload, modes in (('A', 'A', 32), ('Anone', 'A', 0), ('C', 'C', 32)):
        f = os.path.join(a.scratch, f'sound_{name}.ds')
        assert peer.run(gen, f, workload, modes, 1, 16384, 20000)[0] == 0
        a.files.append(f)


def raw(f):
    status, out, _ = peer.run(os.path.join(a.programs, 'dsraw'), f)
    if status:
        return None
    tables, current = {}, None
    for line in out.split(b'\n')[:-1]:
        if line.startswith(b'#TYPE\t'):
            current = tables.setdefault(line[6:].decode(), [])
        elif not line.startswith(b'#COL\t'):
            current.append(line)
    return tables


rng, total, bad = random.Random(a.seed), collections.Counter(), 0
out, hurt = os.path.join(a.scratch, 'recovered.ds'), os.path.join(a.scratch, 'hurt.ds')
for f in a.files:
    name = os.path.basename(f)
    sound = open(f, 'rb').read()
    facts = json.loads(peer.run(a.pilaster, 'dump', f)[1])['facts']
    order = 'little' if sound[4] == 0x78 else 'big'
    rows, at, pieces = raw(f), collections.Counter(), []
    for e in facts['extents']:
        if e['type'].startswith('DataSeries: '):
            pieces.append((e['offset'], e['offset'] + e['size'], None, None))
            continue
        k = at[e['type']]
        pieces.append((e['offset'], e['offset'] + e['size'], e['type'], rows[e['type']][k : k + e['nrecords']]))
        at[e['type']] += e['nrecords']
    assert all(at[k] == len(v) for k, v in rows.items())
    first = pieces[0][1]

    def check(kind, data, whole, where, types=False):
        global bad
        total[kind] += 1
        open(hurt, 'wb').write(data)
        if os.path.exists(out):
            os.remove(out)
        status, _, err = peer.run(
            a.pilaster, 'recover', '--force', *(['--types', f, '--order', order] if types else []), hurt, out
        )
        wrong = None
        if status:
            # It refuses a file of which no row can be saved.
            if any(x[3] for x in whole):
                wrong = f'recover fails though {len(whole)} extents are whole: {err[-150:]}'
        else:
            got = raw(out)
            want = collections.defaultdict(list)
            for x in whole:
                want[x[2]] += x[3]
            if got is None:
                wrong = 'the original refuses what was recovered'
            elif {k: v for k, v in got.items() if v} != {k: v for k, v in want.items() if v}:
                wrong = f'rows { {k: len(v) for k, v in got.items()} }, wanted { {k: len(v) for k, v in want.items()} }'
        if wrong:
            bad += 1
            open(os.path.join(a.scratch, f'fail_{name}_{kind}_{where}.ds'), 'wb').write(data)
            print(name, kind, where, wrong, flush=True)

    def without(lo, hi):
        return [x for x in pieces if x[2] and not (x[0] < hi and lo < x[1])]

    for _ in range(a.count):
        c = rng.randrange(first, len(sound))
        check('cut', sound[:c], [x for x in pieces if x[2] and x[1] <= c], c)
        q = rng.randrange(first, len(sound))
        v = bytearray(sound)
        v[q] ^= rng.randrange(1, 256)
        check('changed', bytes(v), without(q, q + 1), q)
        q = rng.randrange(first, len(sound) - 100)
        v = bytearray(sound)
        v[q : q + 100] = bytes(100)
        check(
            'zeroed',
            bytes(v),
            [
                x
                for x in pieces
                if x[2] and not (x[0] < q + 100 and q < x[1] and sound[max(q, x[0]) : min(q + 100, x[1])].strip(b'\0'))
            ],
            q,
        )
        q = rng.randrange(first, len(sound))
        check('deleted', sound[:q] + sound[q + 1 :], without(q, q + 1), q)
        q = rng.randrange(first, len(sound))
        check('inserted', sound[:q] + b'\x55' + sound[q:], [x for x in pieces if x[2] and not (x[0] < q < x[1])], q)
        q = rng.randrange(first)
        v = bytearray(sound)
        v[q] ^= rng.randrange(1, 256)
        check('head', bytes(v), [x for x in pieces if x[2]], q, True)
    print(name, len(pieces), 'extents', flush=True)
peer.finish('recover', bad, f'{dict(total)}, {bad} wrong')
