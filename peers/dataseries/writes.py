"""`pilaster convert` of every .ds file of a folder, by every compression mode and both byte orders, read by the original
(ds2txt, checks on, types included): its text of the copy must be its text of the source. Every eighth copy also goes
through the original's dsrepack, and `pilaster verify` must accept the result.

  writes.py SCRATCH --programs BIN --golden FOLDER [--count N]

Not a mismatch: the original refuses fields of type fixedwidth in foreign byte order ("unknown field type 7 for
fix_endianness"), be the file ours or its own; counted apart."""

import collections
import glob
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, count=0)
p.add_argument('--programs', required=True)
p.add_argument('--golden', required=True, help='folder of .ds files')
p.add_argument('--jobs', type=int, default=2)
a = peer.parse(p)
MODES = 'none lzo zlib bz2 lzf snappy lz4 lz4hc'.split()
FIXED = b'unknown field type 7 for fix_endianness'
files = sorted(glob.glob(os.path.join(a.golden, '*.ds')))
if a.count:
    files = random.Random(a.seed).sample(files, min(a.count, len(files)))
tool = lambda name: os.path.join(a.programs, name)
text = lambda f: peer.run(tool('ds2txt'), '--skip-index', f, timeout=60)
count, bad = collections.Counter(), []


def one(i):
    f = files[i]
    s0, o0, e0 = text(f)
    for n, (mode, order) in enumerate(((m, o) for m in MODES for o in ('little', 'big')), 1):
        copy = os.path.join(a.scratch, f'{i}_{mode}_{order}.ds')
        s, _, e = peer.run(a.pilaster, 'convert', '--force', '--compress', mode, '--order', order, f, copy, timeout=60)
        count['convert'] += 1
        if s:
            bad.append((os.path.basename(f), mode, order, 'convert fails', e[-200:]))
            continue
        s1, o1, e1 = text(copy)
        if s0 and s1:
            count['original refuses both'] += 1
        elif s1 and FIXED in e1:
            count['original refuses fixedwidth in foreign order'] += 1
        elif s1:
            bad.append((os.path.basename(f), mode, order, 'original refuses the copy', e1[-200:]))
        elif s0:
            count['original refuses the source alone'] += 1
        elif o0 != o1:
            bad.append((os.path.basename(f), mode, order, 'text differs', len(o0), len(o1)))
        else:
            count['equal'] += 1
        if (n + i) % 8 == 0 and not s1:
            again = copy + '.rep'
            s2, _, e2 = peer.run(tool('dsrepack'), '--compress', MODES[(i + n) % 4 + 4], copy, again, timeout=60)
            count['repacked'] += 1
            if s2:
                bad.append((os.path.basename(f), mode, order, 'dsrepack fails', e2[-200:]))
            else:
                s3, _, e3 = peer.run(a.pilaster, 'verify', again)
                if s3:
                    bad.append((os.path.basename(f), mode, order, 'verify refuses the repacked', e3))
            if os.path.exists(again):
                os.remove(again)
        os.remove(copy)


with ThreadPoolExecutor(a.jobs) as pool:
    list(pool.map(one, range(len(files))))
for b in bad:
    print(*b)
peer.finish('writes', len(bad), f'{len(files)} files, {dict(count)}, {len(bad)} wrong')
