"""Random tables written by pilaster and read by both: the original writes a table, pilaster converts the file to Vortex, verifies
it and reads it (`dump --json`), and the original reads it; every value must be that of the table, for both readers.

  writes.py SCRATCH [--count 100] [--seed 1] [--rows 4000]     with a Python that has vortex-data, pyarrow and numpy
  writes.py SCRATCH --compact | --vary

The tables are those of gen.py. --compact adds pco and zstd to the encodings; --vary writes each table with random options.
Files that differ stay in SCRATCH."""

import os
import random
import subprocess
import sys

import pyarrow as pa
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gen
import peer


def call(*args):
    """The line of an error, or None."""
    done = subprocess.run(args, capture_output=True)
    return None if done.returncode == 0 else done.stderr.decode(errors='replace').strip()[:300]


def read(path):
    rows = vx.open(path).to_arrow()
    return rows.read_all() if hasattr(rows, 'read_all') else rows


# The encodings that the writer can do without.
OPTIONAL = ['vortex.' + name for name in (
    'varbinview masked dict runend sparse sequence zigzag alp alprd fsst onpair datetimeparts decimal_byte_parts pco zstd').split()]
OPTIONAL += ['fastlanes.bitpacked', 'fastlanes.for', 'fastlanes.rle']


def options(a, r):
    """Options of convert: those of the command line, and with --vary some random ones."""
    found = ['--encodings', 'compact'] if a.compact else []
    if a.vary:
        few = r.choice([['compact'], ['default'], r.sample(OPTIONAL, r.randrange(1, 4))])
        found = ['--encodings', ','.join(few), '--zone-rows', str(1024 * r.randrange(1, 9))]
        found += ['--chunk-size', str(r.choice([0, 1, 5000, 1 << 20]))]
        if r.randrange(2):
            found += ['--without-encodings', ','.join(r.sample(OPTIONAL, r.randrange(1, 9)))]
        found += [flag for flag in ('--no-dictionaries', '--no-statistics') if not r.randrange(4)]
    return ['--profile', a.profile, *found]


def loses_rows(source, table):
    """Whether the original reads another number of rows of its own file, as 0.70 does with zones such as +05:30."""
    try:
        return read(source).num_rows != table.num_rows
    except BaseException:
        return True


def compare(a, how, source, target, table, labels):
    why = call(a.pilaster, 'convert', '--force', *how, source, target) or call(a.pilaster, 'verify', target)
    if why:
        return why
    # Our own reader.
    why = gen.compare(table, target, labels)
    if why:
        return f'pilaster: {why}'
    try:
        found = read(target)
    except BaseException as e:
        return f'the original: {type(e).__name__} {str(e)[:300]}'
    if found.num_rows != table.num_rows or found.column_names != table.column_names:
        return f'{found.num_rows} rows of {found.column_names}'
    for name, label in zip(table.column_names, labels):
        got, want = gen.encc(found[name]), gen.encc(table[name])
        if got != want:
            row = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), None)
            return f'{name} ({label}), row {row}: {got[row]!r:.200} for {want[row]!r:.200}'
    return None


def main():
    p = peer.arguments(__doc__, count=100)
    p.add_argument('--rows', type=int, default=4000, help='most rows of a table (default 4000)')
    p.add_argument('--skip', default='', help='kinds of column to leave out, separated by commas (map, listview, ...)')
    p.add_argument('--compact', action='store_true', help='the smallest encodings, pco and zstd, too')
    p.add_argument('--vary', action='store_true', help='random options for each table')
    p.add_argument('--profile', default='2026', help='wide for releases before 0.84 (default 2026)')
    a = gen.A = peer.parse(p)
    skip = tuple(x for x in a.skip.split(',') if x)
    equal = wrong = refused = lost = 0
    sizes = [0, 0]
    for seed in range(a.seed, a.seed + a.count):
        r = random.Random(seed)
        n = r.choice([0, 1, 2, 7, 100, 1000, 1023, 1024, 1025, 2049, r.randrange(0, a.rows), a.rows])
        columns = [gen.col(r, n, 0, skip) for _ in range(r.randrange(1, 6))]
        labels = [label for label, _ in columns]
        source, target = (f'{a.scratch}/{gen.VER}_{seed}{end}.vortex' for end in ('', '_written'))
        try:
            table = pa.table([c for _, c in columns], names=[f'c{i}' for i in range(len(columns))])
            vx.io.write(table, source)
        except BaseException:
            refused += 1
            continue
        how = options(a, r)
        why = compare(a, how, source, target, table, labels)
        if why and loses_rows(source, table):
            lost += 1
            continue
        if why:
            wrong += 1
            print('FAIL', seed, *how, why, flush=True)
            continue
        equal += 1
        sizes = [size + os.path.getsize(path) for size, path in zip(sizes, (source, target))]
        os.remove(source)
        os.remove(target)
    peer.finish(
        'vortex writes',
        wrong or not equal,
        f'vortex-data {gen.VER}: verified and equal by both readers {equal}, wrong {wrong}, tables refused by the original {refused},'
        f' read wrongly by it from its own file {lost};'
        f' bytes of the original {sizes[0]}, of pilaster {sizes[1]}',
    )


if __name__ == '__main__':
    main()
