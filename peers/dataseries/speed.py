"""CPU times beside the original, alternating, medians.

  speed.py SCRATCH --programs BIN --ds PROGRAM [--rows 1700000] [--rounds 5] [--what read,write,cli]

1.7 million rows make 110 MB unpacked. "original/ours" above 1 means that pilaster is faster. Let nothing else run
meanwhile. `write` includes the making and formatting of the rows; of the original it counts user time alone, of ours user
and system; so does `convert`, of one thread and of two, while dsrepack compresses with as many threads as there are processors. `cat` and ds2txt print doubles with different digits. Never fails: it measures."""

import os
import re
import statistics as st
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False)
p.add_argument('--programs', required=True)
p.add_argument('--ds', required=True)
p.add_argument('--rows', type=int, default=1700000)
p.add_argument('--rounds', type=int, default=5)
p.add_argument('--what', default='read,write,cli')
a = peer.parse(p)
B = lambda name: os.path.join(a.programs, name)
S = lambda name: os.path.join(a.scratch, name)
DS, what = os.path.abspath(a.ds), a.what.split(',')
MODES = {'none': (0, 1), 'lz4': (32, 1), 'lz4hc': (64, 9), 'lzf': (8, 1), 'snappy': (16, 1), 'zlib': (2, 6)}
ratios = []


def said(*command):
    _, out, err = peer.run(*command)
    return float(re.search(r'cpu ([\d.]+)', (out + err).decode()).group(1))


def pair(name, ours, theirs, rounds=None):
    x, y = [], []
    for _ in range(rounds or a.rounds):
        x.append(ours())
        y.append(theirs())
    ratios.append(st.median(y) / max(st.median(x), 1e-9))
    peer.record('dataseries_tool', name, 'time', st.median(y), max(st.median(x), 1e-9), 's')
    print(
        f'{name}: ours {st.median(x):.4f} original {st.median(y):.4f} original/ours {ratios[-1]:.2f}  '
        f'[ours {min(x):.3f}-{max(x):.3f}, original {min(y):.3f}-{max(y):.3f}]',
        flush=True,
    )


def made(workload, mode, rows):
    f = S(f'{workload}_{mode}.ds')
    if not os.path.exists(f):
        assert peer.run(B('gen'), f, workload, *MODES[mode], 65536, rows)[0] == 0
    return f


few = max(1, a.rounds * 3 // 5)
if 'read' in what:
    for workload, kind, rows, modes in (
        ('A', 'Log::Sensor', a.rows, MODES),
        ('B', 'Log::Numeric', a.rows * 45 // 17, ['lz4']),
    ):
        for mode in modes:
            f = made(workload, mode, rows)
            for checks in '01':
                pair(
                    f'read {workload} {mode} checks={checks}',
                    lambda: said(DS, 'read', f, checks, '0'),
                    lambda: said(B('rd'), f, checks, '0', kind),
                )
            pair(
                f'read and visit {workload} {mode} checks=1',
                lambda: said(DS, 'read', f, '1', '1'),
                lambda: said(B('rd'), f, '1', '1', kind),
                few,
            )
if 'write' in what:
    for mode in ('none', 'lz4', 'lzf', 'snappy', 'zlib'):
        pair(
            f'write A {mode}',
            lambda: said(DS, 'write', S('w.ds'), mode, a.rows),
            lambda: peer.cpu(B('gen'), S('w2.ds'), 'A', *MODES[mode], 65536, a.rows)[0],
            few if mode == 'zlib' else None,
        )
if 'cli' in what:
    for workload, mode, rows in (
        ('A', 'none', a.rows),
        ('A', 'lz4', a.rows),
        ('B', 'lz4', a.rows * 45 // 17),
        ('C', 'lz4', a.rows * 2),
    ):
        f = made(workload, mode, rows)
        pair(
            f'cat, ds2txt --skip-all {workload} {mode} (user)',
            lambda: peer.cpu(a.pilaster, 'cat', f)[0],
            lambda: peer.cpu(B('ds2txt'), '--skip-all', f)[0],
            few,
        )
    f = made('A', 'none', a.rows)
    # Others have no level; the default of zlib is 9.
    for mode, level in ('none', 9), ('lz4', 9), ('lzf', 9), ('snappy', 9), ('zlib', 6), ('zlib', 9):
        shown = f'{mode}, level 9' if (mode, level) == ('zlib', 9) else mode

        def theirs():
            if os.path.exists(S('w2.ds')):
                os.remove(S('w2.ds'))
            options = ['--extent-size=65536', '--compress', mode, f'--compress-level={level}', '--no-info']
            return sum(peer.cpu(B('dsrepack'), *options, f, S('w2.ds')))

        for threads, name in (1, 'one thread'), (2, 'two threads'):
            ours = [a.pilaster, 'convert', '--force', '--threads', threads, '--compress', mode, '--level', level, f, S('w.ds')]
            pair(f'convert, dsrepack to {shown}, {name}', lambda: sum(peer.cpu(*ours)), theirs, few)
        sizes = [os.path.getsize(S(x)) if os.path.exists(S(x)) else 0 for x in ('w.ds', 'w2.ds')]
        print(f'   sizes ours {sizes[0]} original {sizes[1]}', flush=True)
peer.finish('speed', 0, f'{len(ratios)} pairs, original/ours {min(ratios):.2f} to {max(ratios):.2f}')
