"""Writes the data sets of data.py by the original, default and compact, and as Parquet with zstd; prints sizes and CPU.

  make.py SCRATCH [--big] [NAME...]        with a Python that has vortex-data, pyarrow and numpy

--big also writes big.vortex: 125 million rows, 2.4 GB (a minute). Needs 2 GB of memory for five and lineitem."""

import importlib.metadata
import os
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import vortex as vx

import data

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False, pilaster=False)
p.add_argument('--big', action='store_true')
p.add_argument('--rows', type=int, help='rows of each set, in place of its own number')
p.add_argument('names', nargs='*')
a = peer.parse(p)
version, n = importlib.metadata.version('vortex-data'), 0
size = lambda f: os.path.getsize(os.path.join(a.scratch, f))
for k, make in data.SETS.items():
    if (a.names or a.big) and k not in a.names:
        continue
    t, n = make(a.rows) if a.rows else make(), n + 1
    t0 = time.process_time()
    vx.io.write(t, os.path.join(a.scratch, f'{k}.vortex'))
    t1 = time.process_time()
    vx.io.VortexWriteOptions.compact().write(t, os.path.join(a.scratch, f'{k}.c.vortex'))
    t2 = time.process_time()
    pq.write_table(t, os.path.join(a.scratch, f'{k}.parquet'), compression='zstd')
    print(
        version,
        k,
        t.num_rows,
        'rows, arrow',
        t.nbytes,
        'default',
        size(f'{k}.vortex'),
        'compact',
        size(f'{k}.c.vortex'),
        'parquet',
        size(f'{k}.parquet'),
        'CPU %.1f %.1f' % (t1 - t0, t2 - t1),
        flush=True,
    )
if a.big:
    schema = pa.schema([('a', pa.int64()), ('b', pa.float64()), ('c', pa.uint64()), ('d', pa.string())])
    names = pa.array([f'device-{i:05}' for i in range(500)])

    def batches():
        g, base, m = np.random.default_rng(7), 0, 1_000_000
        for _ in range(125):
            x = base + np.cumsum(g.integers(1, 20, m))
            base = int(x[-1])
            yield pa.record_batch(
                [
                    pa.array(x),
                    pa.array(g.normal(0, 1, m)),
                    pa.array(g.integers(0, 2**64, m, dtype=np.uint64)),
                    names.take(pa.array(g.integers(0, 500, m))),
                ],
                schema=schema,
            )

    vx.io.write(pa.RecordBatchReader.from_batches(schema, batches()), os.path.join(a.scratch, 'big.vortex'))
    print(version, 'big', size('big.vortex'))
    n += 1
peer.finish('make', 0, f'{n} sets by vortex-data {version}')
