"""The files of the firmware image log_vortex, opened by the original; DuckDB and Polars query them through Arrow. Every row has
to be equal to what `pilaster cat` prints.

  firmware.py SCRATCH --logger PROGRAM [--pilaster PATH]

PROGRAM is the example log_vortex of examples/firmware/logger, which writes the same files as the image."""

import glob
import importlib.metadata
import json
import os
import sys

import duckdb
import polars
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

# Rows of each file, and a query whose answer is known from the sensors: see examples/firmware/logger/src/sensors.rs.
FILES = {
    'air': (30, 'SELECT count(*) FROM t WHERE humidity IS NULL', 1),
    'battery': (6, 'SELECT count(*) FROM t WHERE charging', 1),
    'motion': (750, 'SELECT min(x) + max(x) FROM t', 0),
    'pressure': (150, 'SELECT count(*) FROM t WHERE pascal > 101325', 149),
    'samples': (2048, 'SELECT count(DISTINCT z) FROM t', 4),
}


def stored(rows):
    """Rows with times as stored: milliseconds."""
    times = lambda v: round(v.timestamp() * 1000) if hasattr(v, 'timestamp') else v
    return [tuple(times(v) for v in row) for row in rows]


def wrong(a, name, path):
    """What differs, as text."""
    count, query, answer = FILES[name]
    status, out, errors = peer.run(a.pilaster, 'cat', '--stored-times', '--format-out', 'jsonl', path)
    if status:
        return errors.decode(errors='replace')
    want = [tuple(json.loads(line).values()) for line in out.decode().splitlines()]
    if len(want) != count:
        return f'{len(want)} rows, not {count}'
    t = vx.open(path).to_arrow().read_all()
    frame = polars.from_arrow(t)
    found = {
        'vortex': stored(zip(*(column.to_pylist() for column in t.columns))),
        'duckdb': stored(duckdb.sql('SELECT * FROM t').fetchall()),
        'polars': stored(frame.rows()),
    }
    for reader, rows in found.items():
        if rows != want:
            at = next((i for i, (x, y) in enumerate(zip(rows, want)) if x != y), min(len(rows), len(want)))
            return f'{reader}: {len(rows)} rows, row {at} is {rows[at : at + 1]}, not {want[at : at + 1]}'
    answers = duckdb.sql(query).fetchall()[0][0], polars.SQLContext(t=frame).execute(query, eager=True).item()
    return '' if answers == (answer, answer) else f'{query}: {answers}, not {answer}'


def main(a):
    for old in glob.glob(f'{a.scratch}/*.vortex'):
        os.remove(old)
    status, _, errors = peer.run(a.logger, a.scratch)
    if status:
        peer.finish('vortex firmware', True, errors.decode(errors='replace')[-300:])
    bad = 0
    for name in FILES:
        why = wrong(a, name, f'{a.scratch}/{name}.vortex')
        if why:
            bad += 1
            print('FAIL', name, why, flush=True)
    versions = ', '.join(f'{p} {importlib.metadata.version(p)}' for p in ('vortex-data', 'duckdb', 'polars', 'pyarrow'))
    peer.finish('vortex firmware', bad, f'{versions}: {len(FILES)} files, {bad} wrong')


if __name__ == '__main__':
    p = peer.arguments(__doc__, seed=False)
    p.add_argument('--logger', required=True, help='the example log_vortex of examples/firmware/logger')
    main(peer.parse(p))
