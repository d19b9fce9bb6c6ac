"""The speed of the package for Python beside others: CPU milliseconds, each in a process of its own, alternating rounds, medians.

  speed.py SCRATCH [--rounds 5] [NAME...]

SCRATCH has the sets of vortex/make.py. The Python has the wheel of bridges/python and polars, pyarrow, vortex-data, datatable and
blosc; lines whose rival is not installed are left out. The lines:

  import             the package: at most 5 ms
  NAME to batches    vortex-data's `to_arrow`, and a stream of ours to pyarrow, with one thread: at least 1.3 is asked
  jay to polars      datatable's `fread` and `to_arrow`, and `polars.DataFrame(pilaster.open(path))`: at least 10
  blosc CODEC        python-blosc's `decompress` and ours, 24 chunks of 1 MiB, with the calls: at least 0.95

Let nothing else run meanwhile."""

import os
import statistics as st
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

SETS = ('five', 'taxi', 'lineitem', 'orders', 'logs', 'clicks', 'sensors')

# Prints the least CPU time of five runs of `work`, in milliseconds.
TIMED = """
import resource, sys
def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime
def best(work, rounds=5):
    found = []
    for _ in range(rounds):
        start = cpu()
        work()
        found.append(cpu() - start)
    print('%.3f' % (min(found) * 1e3))
"""
IMPORT = 'import resource\ndef cpu():\n    r = resource.getrusage(resource.RUSAGE_SELF)\n    return r.ru_utime + r.ru_stime\na = cpu()\nimport pilaster\nprint("%.3f" % ((cpu() - a) * 1e3))'
VORTEX = TIMED + """
import vortex
try:
    vortex.set_worker_threads(1)
except Exception:
    pass
best(lambda: sum(b.num_rows for b in vortex.open(sys.argv[1]).to_arrow()))
"""
OURS = TIMED + """
import pyarrow, pilaster
best(lambda: sum(b.num_rows for b in pyarrow.RecordBatchReader.from_stream(pilaster.open(sys.argv[1], threads=1))))
"""
DATATABLE = TIMED + """
import datatable
datatable.options.nthreads = 1
best(lambda: datatable.fread(sys.argv[1]).to_arrow())
"""
POLARS = TIMED + """
import polars, pilaster
best(lambda: polars.DataFrame(pilaster.open(sys.argv[1])))
"""
CHUNKS = TIMED + """
import numpy, blosc
blosc.set_nthreads(1)
rows = numpy.random.default_rng(1).integers(0, 1000, 24 << 17).cumsum()
chunks = [blosc.compress(rows[k << 17 : k + 1 << 17].tobytes(), 8, 5, int(sys.argv[2]), sys.argv[1]) for k in range(24)]
"""
BLOSC = CHUNKS + 'best(lambda: [blosc.decompress(chunk) for chunk in chunks], 20)'
OUR_BLOSC = CHUNKS + 'from pilaster import blosc as ours\nbest(lambda: [ours.decompress(chunk) for chunk in chunks], 20)'


def number(script, *arguments):
    status, out, err = peer.run(sys.executable, '-c', script, *arguments)
    if status:
        raise LookupError(err[-300:].decode(errors='replace'))
    return float(out)


def rounds(a, name, asked, theirs, ours):
    them, us = [], []
    try:
        for _ in range(a.rounds):
            them.append(theirs())
            us.append(ours())
    except LookupError as e:
        if 'ModuleNotFoundError' not in str(e):
            raise
        print(f'{name}: not compared, {str(e).strip().splitlines()[-1]}')
        return None
    ratio = st.median(them) / st.median(us)
    peer.record('python', name, 'time', st.median(them), st.median(us), 'ms')
    print(
        f'{name}: {st.median(them):.1f} ms, ours {st.median(us):.1f}; ratio {ratio:.2f}, asked {asked:.2f}'
        + ('' if ratio >= asked else '  BEHIND'),
        flush=True,
    )
    return ratio >= asked


def lines(a):
    if not a.names:
        found = st.median(number(IMPORT) for _ in range(a.rounds))
        print(f'import: {found:.1f} ms, asked 5' + ('' if found <= 5 else '  BEHIND'))
        yield found <= 5
    for name in a.names or SETS:
        file = os.path.join(a.scratch, name + '.vortex')
        yield rounds(a, f'{name} to batches', 1.3, lambda: number(VORTEX, file), lambda: number(OURS, file))
    if a.names:
        return
    # Made of the set taxi, which has no types that Jay lacks.
    jay = os.path.join(a.scratch, 'out.python.jay')
    number(f'import pilaster\npilaster.write({jay!r}, pilaster.open({os.path.join(a.scratch, "taxi.vortex")!r}), any_time=True)\nprint(0)')
    yield rounds(a, 'jay to polars', 10, lambda: number(DATATABLE, jay), lambda: number(POLARS, jay))
    os.remove(jay)
    for codec in ('blosclz', 'lz4', 'zlib', 'zstd'):
        for shuffle in ('0', '1', '2'):
            what = f'blosc {codec}, shuffle {shuffle}'
            yield rounds(a, what, 0.95, lambda: number(BLOSC, codec, shuffle), lambda: number(OUR_BLOSC, codec, shuffle))


if __name__ == '__main__':
    p = peer.arguments(__doc__, seed=False, pilaster=False)
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('names', nargs='*')
    a = peer.parse(p)
    reached = [ok for ok in lines(a) if ok is not None]
    peer.finish('python speed', False, f'{sum(reached)} of {len(reached)} figures are reached')
