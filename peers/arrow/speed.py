"""The speed of the bridge to Arrow and of the tool's conversions beside others: CPU milliseconds, alternating rounds, medians.

  speed.py SCRATCH --pilaster TOOL --programs FOLDER [--rounds 5] [NAME...]

SCRATCH has the sets of vortex/make.py. The Python needs vortex-data, pyarrow and duckdb, and datatable for the line of Jay. The lines:

  NAME to batches    vortex-data's `to_arrow`, and `read` of pilaster-arrow: at least 1.3 is asked
  NAME to CSV, JSON  DuckDB from Parquet with one thread, and `convert` from Vortex: at least 1.5 and 1.2
  NAME from CSV      pyarrow's reader with one thread, and `convert` to Vortex: at least 1 / 1.5
  jay to batches     a copy of the columns, and `read`: at least 1 / 3; datatable's `to_arrow` is printed beside it
  ds to batches      reading all columns without Arrow, and `read`: at least 0.9; the file has LZ4, its checks are on

Let nothing else run meanwhile."""

import os
import statistics as st
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

SETS = ('five', 'taxi', 'lineitem', 'orders', 'logs', 'clicks', 'sensors')
DUCKDB = """
import duckdb, sys
duckdb.sql('SET threads = 1')
duckdb.sql(f"COPY (SELECT * FROM '{sys.argv[1]}') TO '{sys.argv[2]}' (FORMAT {sys.argv[3]})")
"""
PYARROW = """
import sys
import pyarrow as pa, pyarrow.csv
pa.set_cpu_count(1)
rows = sum(batch.num_rows for batch in pyarrow.csv.open_csv(sys.argv[1], read_options=pyarrow.csv.ReadOptions(use_threads=False)))
"""
IMPORT = {DUCKDB: 'import duckdb, sys', PYARROW: 'import sys, pyarrow.csv'}
DATATABLE = """
import resource, sys
import datatable as dt
cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
dt.options.nthreads = 1
best = 1e9
for _ in range(5):
    start = cpu()
    dt.fread(sys.argv[1]).to_arrow()
    best = min(best, cpu() - start)
print('%.2f' % (best * 1e3))
"""


def number(*command):
    status, out, err = peer.run(*command)
    if status:
        peer.finish('speed', 1, f'{command[0]}: {err[-300:].decode(errors="replace")}')
    return [float(word) for word in out.split()]


def cpu(*command):
    seconds = sum(peer.cpu(*command))
    if seconds != seconds:
        peer.finish('speed', 1, f'failed: {command}')
    return seconds * 1e3


def python(script, *arguments):
    """CPU time of a script without that of its imports."""
    return cpu(sys.executable, '-c', script, *arguments) - cpu(sys.executable, '-c', IMPORT[script])


def rounds(a, name, asked, theirs, ours):
    them, us = [], []
    for _ in range(a.rounds):
        them.append(theirs())
        us.append(ours())
    ratio = st.median(them) / st.median(us)
    work, _, column = name.partition(' ')
    peer.record('arrow', work, column, st.median(them), st.median(us), 'ms')
    print(
        f'{name}: {st.median(them):.1f} ms, ours {st.median(us):.1f}; ratio {ratio:.2f}, asked {asked:.2f}'
        + ('' if ratio >= asked else '  BEHIND'),
        flush=True,
    )
    return ratio >= asked


def vortex(a, name):
    file, parquet, table = (os.path.join(a.scratch, f'{name}.{end}') for end in ('vortex', 'parquet', 'csv'))
    out = os.path.join(a.scratch, 'out.')
    convert = lambda source, target: cpu(a.pilaster, 'convert', '--force', source, out + target)
    original = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'vortex', 'original_speed.py')
    ours = lambda: number(a.programs + '/arrow_speed', file)[0]
    yield rounds(a, f'{name} to batches', 1.3, lambda: number(sys.executable, original, file)[0], ours)
    for target, asked in ('csv', 1.5), ('jsonl', 1.2):
        if name == 'clicks' and target == 'csv':
            continue  # It has lists.
        kind = target[:4].rstrip('l') if target == 'jsonl' else target
        theirs = lambda: python(DUCKDB, parquet, out + 'duckdb', kind)
        yield rounds(a, f'{name} to {target}', asked, theirs, lambda: convert(file, target))
    if name == 'clicks':
        return
    cpu(a.pilaster, 'convert', '--force', file, table)
    yield rounds(a, f'{name} from csv', 1 / 1.5, lambda: python(PYARROW, table), lambda: convert(table, 'vortex'))
    os.remove(table)


def others(a):
    """Jay and DataSeries, made of the set `taxi`, which has no types that they lack."""
    source = os.path.join(a.scratch, 'taxi.vortex')
    for target, options in ('jay', ('--any-time',)), ('ds', ('--compress', 'lz4')):
        file = os.path.join(a.scratch, 'out.' + target)
        cpu(a.pilaster, 'convert', '--force', *options, source, file)
        figures = []

        def ours():
            figures.append(number(a.programs + '/arrow_speed', file))
            return figures[-1][0]

        if target == 'jay':
            yield rounds(a, 'jay to batches', 1 / 3, lambda: number(a.programs + '/arrow_speed', file)[2], ours)
            status, out, _ = peer.run(sys.executable, '-c', DATATABLE, file)
            print(f'  datatable {out.decode().strip() if not status else "is not installed"} ms; copied {figures[-1][3]:.0f} of {figures[-1][4]:.0f} bytes')
        else:
            yield rounds(a, 'ds to batches', 0.9, lambda: number(a.programs + '/arrow_speed', file)[1], ours)


if __name__ == '__main__':
    p = peer.arguments(__doc__, seed=False)
    p.add_argument('--programs', required=True)
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('names', nargs='*')
    a = peer.parse(p)
    reached = [ok for name in a.names or SETS for ok in vortex(a, name)] + list(others(a))
    peer.finish('arrow speed', False, f'{sum(reached)} of {len(reached)} ratios are reached')
