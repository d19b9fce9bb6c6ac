"""Reading the sets that make.py wrote, beside the original: CPU milliseconds, alternating rounds, medians. Above 1: pilaster
is faster. "kept": all batches stay in memory, as the original's do.

  speed.py SCRATCH --programs FOLDER [--rounds 5] [--limits] [NAME...]        (run with the Python that has vortex-data)

FOLDER: the folder of the built programs, see README.md. NAME: five, taxi.c (compact) ... Ours has the file in memory, the original
in the page cache; ours gives i64 decimals and views, the original Arrow arrays. Let nothing else run meanwhile. With --limits, a set
that pilaster reads more slowly is BEHIND, and fails if original/ours is below 0.8, since other programs disturb times."""

import glob
import os
import statistics as st
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--programs', required=True)
p.add_argument('--rounds', type=int, default=5)
p.add_argument('--limits', action='store_true')
p.add_argument('names', nargs='*')
a = peer.parse(p)
here = os.path.dirname(os.path.abspath(__file__))
names = a.names or sorted(
    os.path.basename(f)[:-7] for f in glob.glob(a.scratch + '/*.vortex') if not f.endswith('big.vortex')
)
ratios, failed = [], []
for k in names:
    f, t = os.path.join(a.scratch, k + '.vortex'), {'original': [], 'ours': [], 'kept': []}
    for _ in range(a.rounds):
        for what, command in (
            ('original', [sys.executable, here + '/original_speed.py', f]),
            ('ours', [a.programs + '/vortex_speed', f]),
            ('kept', [a.programs + '/vortex_speed', f, 'keep']),
        ):
            status, out, err = peer.run(*command)
            if status:
                peer.finish('speed', 1, f'{k} {what}: {err[-200:]}')
            t[what].append(float(out))
    m = {w: st.median(v) for w, v in t.items()}
    ratios.append(m['original'] / m['ours'])
    name, how = (k[:-2], 'compact') if k.endswith('.c') else (k, 'default')
    peer.record('vortex_read', name, how, m['original'], m['ours'], 'ms')
    print(
        f'{k}: original {m["original"]:.1f} ms, ours {m["ours"]:.1f}, kept {m["kept"]:.1f}; original/ours {ratios[-1]:.2f}, original/kept {m["original"] / m["kept"]:.2f}',
        flush=True,
    )
    if a.limits and ratios[-1] < 1:
        print(f'{"FAIL" if ratios[-1] < 0.8 else "BEHIND"} {k}: original/ours {ratios[-1]:.2f}', flush=True)
        if ratios[-1] < 0.8:
            failed.append(k)
peer.finish(
    'speed',
    failed or not ratios,
    f'{len(ratios)} sets, original/ours ' + (f'{min(ratios):.2f} to {max(ratios):.2f}' if ratios else 'none')
    + (f'; behind the limit: {", ".join(failed) or "none"}' if a.limits else ''),
)
