"""Patches the row counts of a Vortex file of constants (a golden file: enc_constant_a.vortex) to a large number and asks
pilaster `verify`, `info`, `head -n 1`. A run over --limit CPU seconds or killed is a finding: the work must be bounded by
the bytes of the file, not by its claims."""

import json
import os
import resource
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

P = peer.arguments(__doc__, seed=False)
P.add_argument('--golden', required=True, help='enc_constant_a.vortex; NAME.expected.json lies beside it')
P.add_argument('--rows', type=int, nargs='*', default=[10**8, 4 * 10**9])
P.add_argument('--limit', type=float, default=5.0, help='CPU seconds (default 5)')
A = peer.parse(P)
sound = open(A.golden, 'rb').read()
rows = json.load(open(A.golden.replace('.vortex', '.expected.json')))['nrows']
bad = 0
for claim in A.rows:
    data, at, places = bytearray(sound), 0, 0
    while (at := data.find(struct.pack('<Q', rows), at)) >= 0:
        data[at : at + 8] = struct.pack('<Q', claim)
        at, places = at + 8, places + 1
    path = os.path.join(A.scratch, f'vconst_{claim}.vortex')
    open(path, 'wb').write(data)
    for verb in (['verify'], ['info'], ['head', '-n', '1']):

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(A.limit) + 1, int(A.limit) + 2))

        p = subprocess.Popen(
            [A.pilaster, *verb, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits
        )
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = status
        wrong = os.WIFSIGNALED(status) or use.ru_utime > A.limit
        bad += wrong
        print(
            f'{claim} rows in {places} places, {len(data)} bytes: {" ".join(verb)} {use.ru_utime:.2f} s{"  <--" if wrong else ""}',
            flush=True,
        )
peer.finish('craft_vortex', bad, f'{len(A.rows)} files, {bad} runs out of proportion')
