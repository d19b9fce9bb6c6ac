"""Writes and reads beside the original. Writes: filo_gen makes vectors by every encoding and writer of pilaster, the original
(Check) opens them and compares every row. Reads: the original (Gen) writes by all its builders and hints, filo_check
reads them by rows and by batches.

  run.py SCRATCH --classpath FILE --programs FOLDER [--longest 10000]

--classpath: the file `classpath` that build.sh made; --programs: the folder of the built programs, see README.md. The full run makes
some 430,000 and 79,000 vectors, 5 GB, half an hour; --longest 17 takes a minute. Vectors that differ stay in SCRATCH.
--strict also counts DeltaDelta vectors of encode_auto and encode_like_original that the original's reader gets wrong.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, pilaster=False)
p.add_argument('--classpath', required=True)
p.add_argument('--programs', required=True)
p.add_argument('--longest', type=int, default=10000)
p.add_argument('--strict', action='store_true')
a = peer.parse(p)
java = [
    'java',
    '-Xmx2g',
    '-XX:+UseSerialGC',
    '--add-opens',
    'java.base/java.nio=ALL-UNNAMED',
    '-cp',
    open(a.classpath).read().strip(),
]
ours, theirs = os.path.join(a.scratch, 'ours.bin'), os.path.join(a.scratch, 'theirs.bin')
bad, last = 0, []
for name, command in [
    ('filo_gen', [a.programs + '/filo_gen', ours, a.seed, a.longest]),
    ('Check', java + ['Check', ours, a.scratch]),
    ('Gen', java + ['Gen', theirs, a.seed, a.longest]),
    ('filo_check', [a.programs + '/filo_check', theirs, a.scratch]),
]:
    log = os.path.join(a.scratch, name + '.log')
    with open(log, 'wb') as out:
        status = subprocess.run([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT).returncode
    lines = open(log, errors='replace').read().strip().split('\n')
    line = next((l for l in reversed(lines) if l.startswith((name, 'total'))), lines[-1])
    print(line, flush=True)
    if status or a.strict and name == 'Check' and ('encode_auto' in line or 'encode_like' in line):
        bad += 1
    last.append(line.split(':')[-1].strip() if name == 'Gen' else line.split(': ', 2)[-1])
peer.finish('filo', bad, '; '.join(last))
