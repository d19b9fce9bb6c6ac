"""Writing the sets that make.py wrote, beside the original: CPU milliseconds of one thread, alternating rounds, medians, and sizes;
then the original's scan of both files. Below 1: pilaster's writer is faster, its file smaller or scanned faster.

  write_speed.py SCRATCH --programs FOLDER [--rounds 3] [--runs 3] [--compact] [--limits] [NAME...]

Run it with the Python that has vortex-data. FOLDER: the folder of the built programs, see README.md. NAME: five, taxi ... A round is
the best of RUNS writes by each. Both have the rows in memory, the original as Arrow, and write a file. The files stay in
SCRATCH/written. Let nothing else run meanwhile.

--limits compares the ratios with the limits below. A size above its limit fails. A time above its limit is BEHIND, and fails if it
is 1.25 times the limit, since other programs disturb times."""

import os
import statistics as st
import sys

import data

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--programs', required=True)
p.add_argument('--rounds', type=int, default=3)
p.add_argument('--runs', type=int, default=3)
p.add_argument('--compact', action='store_true')
p.add_argument('--limits', action='store_true')
p.add_argument('names', nargs='*')
a = peer.parse(p)
here = os.path.dirname(os.path.abspath(__file__))
written = os.path.join(a.scratch, 'written')
os.makedirs(written, exist_ok=True)
SIDES = {
    'original': [sys.executable, here + '/original_write.py'],
    'ours': [a.programs + '/vortex_write'],
}
# Maximum ratios of each set and of the sum: milliseconds of writing, bytes, milliseconds of scanning. The time to write compact
# files has no limit.
NONE = float('inf')
LIMITS = {
    'set': (NONE, 1.15, 1.10) if a.compact else (2 / 3, 1.05, 1.10),
    'sum': (NONE, NONE, 1.10) if a.compact else (2 / 3, 1.00, 1.10),
}
failed = []


def numbers(name, side, *command):
    """The numbers that a command prints."""
    status, out, err = peer.run(*command)
    if status:
        peer.finish('write_speed', 1, f'{name} {side}: {err[-200:]}')
    return [float(word) for word in out.split()]


def measure(name):
    """Milliseconds of writing, bytes, and milliseconds of scanning: for each a pair, the original's and ours."""
    source = os.path.join(a.scratch, name + '.vortex')
    out = {side: os.path.join(written, f'{name}.{side}.vortex') for side in SIDES}
    write, size, scan = ({side: [] for side in SIDES} for _ in range(3))
    for _ in range(a.rounds):
        for side, command in SIDES.items():
            how = ['compact'] if a.compact else []
            ms, length = numbers(name, side, *command, source, out[side], a.runs, *how)
            write[side].append(ms)
            size[side].append(length)
    for _ in range(a.rounds):
        for side in SIDES:
            scan[side] += numbers(name, side, sys.executable, here + '/original_speed.py', out[side])
    return [[st.median(values) for values in each.values()] for each in (write, size, scan)]


def row(name, figures):
    (w, our_w), (s, our_s), (r, our_r) = figures
    print(
        f'{name}: write original {w:.0f} ms, ours {our_w:.0f}, ratio {our_w / w:.2f}; '
        f'bytes {s:.0f}, {our_s:.0f}, ratio {our_s / s:.3f}; scan {r:.1f} ms, {our_r:.1f}, ratio {our_r / r:.2f}',
        flush=True,
    )
    how = ', compact' if a.compact else ''
    for what, (original, ours), unit in zip(('written', 'size', 'scanned by the original'), figures, ('ms', 'bytes', 'ms')):
        peer.record('vortex_written', name, what + how, original, ours, unit)
    if a.limits:
        hold(name, figures)


def hold(name, figures):
    """Prints the ratios that are above their limits, and remembers those that fail."""
    limits = LIMITS['sum' if name == 'sum' else 'set']
    for what, (original, ours), limit in zip(('write', 'bytes', 'scan'), figures, limits):
        ratio = ours / original
        if ratio <= limit:
            continue
        fails = what == 'bytes' or ratio > 1.25 * limit
        print(f'{"FAIL" if fails else "BEHIND"} {name}: {what} {ratio:.3f}, above {limit:.3f}', flush=True)
        if fails:
            failed.append(f'{name} {what}')


names = a.names or list(data.SETS)
sets = []
for name in names:
    sets.append(measure(name))
    row(name, sets[-1])
total = [[sum(figures[k][side] for figures in sets) for side in range(2)] for k in range(3)]
row('sum', total)
share = [[ours / original for original, ours in (figures[k] for figures in sets)] for k in range(3)]
peer.finish(
    'write_speed',
    failed,
    f'{len(sets)} sets, ours/original: '
    + ', '.join(
        f'{what} {ours / original:.2f} ({min(each):.2f} to {max(each):.2f})'
        for what, (original, ours), each in zip(('write', 'bytes', 'scan'), total, share)
    )
    + (f'; above the limits: {", ".join(failed) or "none"}' if a.limits else ''),
)
