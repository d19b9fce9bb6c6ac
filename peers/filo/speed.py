"""CPU time, nanoseconds per value, ours and the original's alternating, medians of 5 rounds; one warm JVM per workload.

  speed.py SCRATCH --classpath FILE --programs FOLDER [COUNT...]       (COUNT: values per vector, default 500000 10000)

Columns: chunk bytes and header ours/original; decode by batches, decode and sum, get by row, view by row, original's decode; memcpy of
the plain values; encode_like_original, encode_auto, original's encode; then ratios (above 1: pilaster is faster). Garbage
collection is not in the original's time. Let nothing else run meanwhile."""

import os
import statistics as st
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--classpath', required=True)
p.add_argument('--programs', required=True)
p.add_argument('counts', type=int, nargs='*', default=[500000, 10000])
a = peer.parse(p)
CP = open(a.classpath).read().strip()
NAMES = [
    'int32 random',
    'int 4 bits',
    'int 10% NA',
    'long timestamps',
    'double gaussian',
    'double integral',
    'UTF8 variable',
    'dictionary strings',
]
rows = []
out = open(os.path.join(a.scratch, 'speed.tsv'), 'w')
print(
    '\t'.join(
        'n workload B B_orig header header_orig dec dec+sum get view orig_dec memcpy enc_like enc_auto orig_enc orig/dec orig/sum orig/get orig/view orig/enc orig/auto memcpy/dec memcpy/enc memcpy/auto'.split()
    )
)


def go(k, n):
    pipe = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    j = subprocess.Popen(
        [
            'java',
            '-Xmx2g',
            '-Xmn1g',
            '-XX:+UseSerialGC',
            '--add-opens',
            'java.base/java.nio=ALL-UNNAMED',
            '-cp',
            CP,
            'Speed',
            str(k),
            str(n),
        ],
        stderr=subprocess.DEVNULL,
        **pipe,
    )
    r = subprocess.Popen([a.programs + '/filo_speed', str(k), str(n)], **pipe)
    jr, rr = j.stdout.readline().split(), r.stdout.readline().split()

    def ask(p, c):
        p.stdin.write(c + '\n')
        p.stdin.flush()
        return float(p.stdout.readline())

    d = {x: [] for x in ['jd', 'je', 'd', 's', 'g', 'v', 'e', 'a', 'm']}
    for _ in range(5):
        for c in 'dsgv':
            d[c].append(ask(r, c))
        d['jd'].append(ask(j, 'd'))
        d['m'].append(ask(r, 'm'))
        for c in 'ea':
            d[c].append(ask(r, c))
        d['je'].append(ask(j, 'e'))
    for x in (j, r):
        x.stdin.close()
        x.wait()
    m = {c: st.median(v) / n for c, v in d.items()}
    ratio = lambda x, y: st.median([u / v for u, v in zip(d[x], d[y])])
    row = [n, NAMES[k], rr[1], jr[1], rr[2], jr[2]] + [
        '%.3f' % m[c] for c in ['d', 's', 'g', 'v', 'jd', 'm', 'e', 'a', 'je']
    ]
    row += [
        '%.2f' % ratio(x, y)
        for x, y in [
            ('jd', 'd'),
            ('jd', 's'),
            ('jd', 'g'),
            ('jd', 'v'),
            ('je', 'e'),
            ('je', 'a'),
            ('m', 'd'),
            ('m', 'e'),
            ('m', 'a'),
        ]
    ]
    works = ('decode', 'jd', 'd'), ('get', 'jd', 'g'), ('view', 'jd', 'v'), ('encode', 'je', 'e'), ('encode_auto', 'je', 'a')
    for what, theirs, ours in works:
        peer.record('filo_jvm', f'{NAMES[k]}, {n}', what, m[theirs], m[ours], 'ns')
    rows.append(ratio('jd', 'd'))
    for f in (out, sys.stdout):
        print('\t'.join(map(str, row)), file=f, flush=True)


for n in a.counts:
    for k in range(8):
        go(k, n)
peer.finish('speed', 0, f'{len(rows)} workloads, decode original/ours {min(rows):.2f} to {max(rows):.2f}')
