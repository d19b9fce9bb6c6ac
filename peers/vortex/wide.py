"""Random tables written by `convert --profile wide`, and read by releases that gen.py cannot run in: 0.36 and 0.40.

  wide.py SCRATCH make [--count 40] [--seed 1]    with a Python that has a current vortex-data, pyarrow and numpy
  wide.py SCRATCH check [--no-structs]            with a Python that has any vortex-data, pyarrow and numpy

`make` writes the tables to SCRATCH, as Vortex and as Arrow; `check` compares the former with the latter. Each table has a few
columns of gen.py and one for each form that old releases do not have. --no-structs skips tables with structs, which 0.36 cannot
read if rows are missing, not even its own."""

import glob
import importlib.metadata
import math
import os
import random
import subprocess
import sys

import pyarrow as pa
import pyarrow.ipc as ipc
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

# Types of Arrow that 0.36 does not have, or not in Python.
NEWER = ('fixed_size', 'tz=', 'map', 'dictionary', 'list_view', 'decimal256')


def columns(r, n):
    """Labels and arrays."""
    import gen

    some = lambda value: [value if i % 3 else None for i in range(n)]
    yield from ((label, c) for label, c in (gen.col(r, n, 0, ('map', 'listview')) for _ in range(4)) if not any(t in str(c.type) for t in NEWER))
    yield 'halves', pa.array([float(r.randrange(9)) if r.random() < 0.8 else None for _ in range(n)], pa.float16())
    yield 'same half', pa.array([1.5] * n, pa.float16())
    for value, ty in ((1.5, pa.float16()), (77, pa.int64()), (7.25, pa.float64()), (True, pa.bool_()), ('hello', pa.string())):
        yield f'{ty} or none', pa.array(some(value), ty)
    yield 'sequence', pa.array([5 + 3 * i for i in range(n)], pa.uint32())
    texts = [f'user {r.randrange(10**5)} visits /items/{r.randrange(999)}' for _ in range(n)]
    yield 'texts', pa.array([text if i % 5 else None for i, text in enumerate(texts)])
    yield 'few', pa.array([r.choice(['ab', 'cde', 'x', 'long enough text']) for _ in range(n)])
    yield 'before 1970', pa.array([-(10**12) - i * 13 * 10**6 - 7 for i in range(n)], pa.timestamp('us'))


def make(a):
    made = wrong = 0
    for seed in range(a.seed, a.seed + a.count):
        r = random.Random(seed)
        n = r.choice([1, 2, 7, 100, 1000, 1024, 1025, 2049, 4000, 20000])
        found = list(columns(r, n))
        table = pa.table([c for _, c in found], names=[f'{i} {label}' for i, (label, _) in enumerate(found)])
        path = f'{a.scratch}/{seed}'
        try:
            vx.io.write(table, f'{path}.source.vortex')
        except BaseException:
            continue
        done = subprocess.run([a.pilaster, 'convert', '--force', '--profile', 'wide', f'{path}.source.vortex', f'{path}.wide.vortex'], capture_output=True)
        if done.returncode:
            wrong += 1
            print('FAIL', seed, done.stderr.decode(errors='replace').strip()[:300], flush=True)
            continue
        with ipc.new_file(f'{path}.arrow', table.schema) as to:
            to.write_table(table)
        made += 1
    peer.finish('vortex wide', wrong or not made, f'{made} files, {wrong} wrong')


def plain(value):
    """The value, with one NaN that equals itself."""
    if isinstance(value, float) and math.isnan(value):
        return 'NaN'
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def check(a):
    equal = wrong = skipped = 0
    for path in sorted(glob.glob(f'{a.scratch}/*.wide.vortex')):
        want = ipc.open_file(path.replace('.wide.vortex', '.arrow')).read_all()
        if a.no_structs and any('struct' in str(field.type) for field in want.schema):
            skipped += 1
            continue
        try:
            got = vx.open(path).to_arrow().read_all()
            why = [name for name in want.column_names if plain(got[name].to_pylist()) != plain(want[name].to_pylist())]
        except BaseException as e:
            why = f'{type(e).__name__} {str(e)[:300]}'
        equal, wrong = equal + (not why), wrong + bool(why)
        if why:
            print('FAIL', os.path.basename(path), why, flush=True)
    version = importlib.metadata.version('vortex-data')
    peer.finish('vortex wide', wrong or not equal, f'vortex-data {version}: equal {equal}, wrong {wrong}, skipped {skipped}')


if __name__ == '__main__':
    p = peer.arguments(__doc__, count=40)
    p.add_argument('what', choices=['make', 'check'])
    p.add_argument('--no-structs', action='store_true', help='skip tables with structs')
    a = peer.parse(p)
    make(a) if a.what == 'make' else check(a)
