"""Datasets that bcolz writes (arrays and tables), changed by random runs of `pilaster edit`. The same changes are made to numpy
arrays. After each run, bcolz opens the dataset: rows, types, chunk lengths, default values, order of columns and attributes
must be those of the model, `pilaster verify` must accept it, and `pilaster dump` and `cat` must print these rows. Now and then
bcolz itself appends, resizes, trims or sets an attribute in between, so that each continues what the other left. Some runs
ask for what is impossible: they must fail and change nothing.

  edits.py SCRATCH [--count 100] [--steps 8] [--seed 1]        with a Python that has bcolz and numpy

Dates are of nanoseconds only, because bcolz 1.13.0 cannot store those of units that Python has a type for. A dataset
that differs is kept in SCRATCH; one that bcolz does not read back as it was (seen once, `>U3` in a table) is counted apart."""

import collections
import hashlib
import json
import os
import random
import shutil
import sys
import warnings

warnings.filterwarnings('ignore')
import bcolz
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer
from encode import enc, js

p = peer.arguments(__doc__, count=100)
p.add_argument('--steps', type=int, default=8, help='runs of `pilaster edit` per dataset (default 8)')
args = peer.parse(p)
rnd = random.Random(args.seed)
g = np.random.default_rng(args.seed)
CODECS = bcolz.blosc_compressor_list()
DT = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8']
DT += ['>i2', '>i4', '>i8', '>u2', '>u8', '>f4', '>f8', 'S1', 'S5', 'S17', 'S300', 'U1', 'U4', 'U20', '>U3', 'M8[ns]']
TEXT = 'aZ é漢😀",\n\t'


class Wrong(Exception):
    """A difference between the dataset and the model."""


class Original(Exception):
    """What bcolz cannot write, or does not read back as it was."""


class Column:
    """Rows, and the default value and chunk length, None until they are known."""

    def __init__(self, rows, dflt=None, chunklen=None):
        self.rows, self.dflt, self.chunklen = rows, dflt, chunklen

    def grow(self, n):
        more = np.empty((n, *self.rows.shape[1:]), self.rows.dtype)
        more[...] = np.datetime64('NaT') if self.rows.dtype.kind == 'M' and self.dflt is None else self.dflt
        self.rows = np.concatenate([self.rows, more]).astype(self.rows.dtype)


def values(dtype, shape):
    d, n = np.dtype(dtype), int(np.prod(shape))
    if d.kind == 'b':
        a = g.integers(0, 2, n)
    elif d.kind in 'iu':
        ii = np.iinfo(d)
        low, high = rnd.choice([(ii.min, ii.max), (max(ii.min, -50), 50)])
        a = g.integers(low, high, n, dtype=d.newbyteorder('='), endpoint=True)
    elif d.kind == 'f':
        a = np.round(g.normal(size=n) * 100, rnd.choice([0, 2, 9]))
        if n and rnd.random() < 0.3:
            for v in (np.nan, np.inf, -np.inf, -0.0):
                a[rnd.randrange(n)] = v
    elif d.kind == 'S':
        high = rnd.choice([127, 127, 256])
        a = [bytes(g.integers(32, high, rnd.randint(0, d.itemsize), dtype='u1')) for _ in range(n)]
    elif d.kind == 'U':
        a = [''.join(rnd.choice(TEXT) for _ in range(rnd.randint(0, d.itemsize // 4))) for _ in range(n)]
    else:
        a = g.integers(-(10**18), 10**18, n).astype('M8[ns]')
        if n and rnd.random() < 0.3:
            a[rnd.randrange(n)] = np.datetime64('NaT')
    return np.array(a, d).reshape(shape)


def shape(n):
    return rnd.choice([(n,), (n,), (n,), (n,), (n,), (n, rnd.randint(1, 4)), (n, 2, 3)])


def default(dtype):
    """A value of the type, of ASCII in bytes, because others are no JSON."""
    d = np.dtype(dtype)
    if d.kind == 'S':
        return bytes(g.integers(32, 127, rnd.randint(0, d.itemsize), dtype='u1'))
    return values(dtype, (1,))[0]


def how(n):
    kw = {'cparams': bcolz.cparams(clevel=rnd.randrange(10), shuffle=rnd.randrange(3), cname=rnd.choice(CODECS))}
    if n < 400 and rnd.random() < 0.6:
        kw['chunklen'] = rnd.choice([rnd.randint(1, 9), rnd.randint(5, 50), rnd.randint(20, n + 40)])
    return kw


def fresh(n):
    """A column of `n` rows and of any type."""
    d = rnd.choice(DT)
    return Column(values(d, shape(n)), default(d) if rnd.random() < 0.7 else np.zeros((), d)[()])


def write(path, columns, table):
    """Lets bcolz write columns, as a table or as the only array."""
    shutil.rmtree(path, ignore_errors=True)
    n = len(next(iter(columns.values())).rows)
    try:
        if not table:
            (column,) = columns.values()
            dataset = bcolz.carray(column.rows, rootdir=path, mode='w', dflt=column.dflt, **how(n))
        else:
            parts = [bcolz.carray(c.rows, dflt=c.dflt, **how(n)) for c in columns.values()]
            dataset = bcolz.ctable(parts, names=list(columns), rootdir=path, mode='w')
        dataset.flush()
        found = arrays(bcolz.open(path, 'r'), table)
        wrong = [c.rows.dtype.str for a, c in zip(found.values(), columns.values()) if not same(a[:], c.rows)]
    except Exception as x:
        raise Original(repr(x)) from x
    if wrong:
        raise Original('read back otherwise', *wrong)


def arrays(dataset, table):
    return {name: dataset[name] for name in dataset.names} if table else {'': dataset}


def same(a, b):
    """Whether two arrays have the same type, shape and bytes, and two other values are equal, NaN included."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return a == b or (a != a and b != b)


def text_of(attrs):
    """Attributes as text: NaN is equal to itself, and 1 differs from true and 1.0."""
    return json.dumps(attrs, sort_keys=True)


def require(condition, *what):
    if not condition:
        raise Wrong(*what)


class Model:
    def __init__(self, path):
        self.path, self.table, self.attrs, self.fresh = path, rnd.random() < 0.6, {}, 0
        n = rnd.choice([0, 1, rnd.randint(2, 60), rnd.randint(2, 60), rnd.randint(60, 400), rnd.randint(400, 20000)])
        names = [self.name() for _ in range(rnd.randint(1, 5))] if self.table else ['']
        self.columns = {name: fresh(n) for name in names}
        write(path, self.columns, self.table)
        for name, array in arrays(bcolz.open(path, 'r'), self.table).items():
            column = self.columns[name]
            column.dflt, column.chunklen = array.dflt, array.chunklen

    def name(self):
        self.fresh += 1
        return rnd.choice(['a', 'price_', 'é', 'ü_', '漢']) + str(self.fresh)

    @property
    def n(self):
        return len(next(iter(self.columns.values())).rows)

    def equals(self, mode):
        """bcolz opens the dataset, and all it has must be that of the model."""
        dataset = bcolz.open(self.path, mode)
        require(isinstance(dataset, bcolz.ctable) == self.table, 'kind')
        require(len(dataset) == self.n, 'rows', len(dataset), self.n)
        require(text_of(dict(dataset.attrs)) == text_of(self.attrs), 'attrs', dict(dataset.attrs), self.attrs)
        found = arrays(dataset, self.table)
        require(list(found) == list(self.columns), 'names', list(found), list(self.columns))
        for name, column in self.columns.items():
            array = found[name]
            rows, chunklen = array[:], column.chunklen or array.chunklen
            require(len(array) == self.n, 'rows of', name, len(array), self.n)
            require(array.chunklen == chunklen, 'chunklen', name, array.chunklen, chunklen)
            require(same(array.dflt, column.dflt), 'dflt', name, array.dflt, column.dflt)
            if not same(rows, column.rows):
                raise Wrong('values', name, rows.dtype, column.rows.dtype, differing(rows, column.rows))
            # One row by itself takes another way through bcolz than all.
            if self.n:
                k = rnd.randrange(self.n)
                require(same(np.asarray(array[k : k + 1]), column.rows[k : k + 1]), 'row', name, k)
            column.chunklen = chunklen
        return dataset

    def tool(self):
        """`pilaster verify`, `dump` and `cat` against the model."""
        status, out, err = peer.run(args.pilaster, 'verify', self.path)
        require(status == 0, 'verify', out.decode(), err.decode())
        status, out, err = peer.run(args.pilaster, 'dump', '--json', self.path)
        require(status == 0, 'dump', err.decode())
        dump = json.loads(out)
        require(dump['nrows'] == self.n, 'dump', 'nrows', dump['nrows'], self.n)
        require([c['name'] for c in dump['columns']] == list(self.columns), 'dump', 'names')
        attrs = dump['facts'].get('attrs', {})
        # NaN is not JSON, so dump prints the text of the attributes.
        attrs = json.loads(attrs) if isinstance(attrs, str) else attrs
        require(text_of(attrs) == text_of(self.attrs), 'dump', 'attrs', attrs)
        for c, (name, column) in zip(dump['columns'], self.columns.items()):
            digest = hashlib.sha256('\n'.join(js(x) for x in enc(column.rows)).encode()).hexdigest()
            require(c['sha256'] == digest, 'dump', 'values', name, c['type'])
        status, out, err = peer.run(args.pilaster, 'cat', '--json-lines', self.path)
        require(status == 0, 'cat', err.decode())
        lines = [json.loads(line) for line in out.decode().split('\n')[:-1]]
        require(len(lines) == self.n, 'cat', 'lines', len(lines), self.n)
        for k, (name, column) in enumerate(self.columns.items()):
            # The other types are compared by dump; cat has texts of its own for them.
            if column.rows.dtype.kind in 'biuU':
                printed = [list(line.values())[k] for line in lines]
                require(printed == column.rows.tolist(), 'cat', 'values', name)


def differing(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return a.shape, b.shape
    wrong = (k for k in range(len(a)) if a[k : k + 1].tobytes() != b[k : k + 1].tobytes())
    return next(((k, a[k], b[k]) for k in wrong), None)


# The changes by the tool, in the order in which one run makes them. Each changes the model and returns options, or None
# if the dataset has nothing to change in this way.


def drop(m):
    if len(m.columns) < 2:
        return None
    name = rnd.choice(list(m.columns))
    del m.columns[name]
    return ['--drop-column', name]


def trim(m):
    k = rnd.choice([0, 1, m.n, rnd.randint(0, m.n), rnd.randint(0, m.n // 4)])
    if k > m.n:
        return None
    left = m.n - k
    for c in m.columns.values():
        c.rows = c.rows[:left]
    return ['--trim', k]


def resize(m):
    n = rnd.choice([m.n, rnd.randint(0, m.n), m.n + 1, m.n + rnd.randint(1, 50), m.n + rnd.randint(1, 3000)])
    old = m.n
    for c in m.columns.values():
        if n > old:
            c.grow(n - old)
        else:
            c.rows = c.rows[:n]
    return ['--resize', n]


def add(m):
    if not m.table:
        return None
    name = m.name()
    column = fresh(m.n)
    path = f'{m.path}.add{m.fresh}'
    others = {m.name(): fresh(m.n) for _ in range(rnd.randint(0, 2))}
    columns = list({**others, name: column}.items())
    rnd.shuffle(columns)
    write(path, dict(columns), bool(others) or rnd.random() < 0.5)
    # The tool writes the column with its own byte order, default value and chunk length, and texts of the longest size.
    native = column.rows.dtype.newbyteorder('=')
    if native.kind in 'SU':
        native = np.dtype(f'{native.kind}{max([len(x) for x in column.rows.flat], default=0) or 1}')
    # bcolz has the default value of bytes as text once it opened them, and of dates as number.
    zero = '' if native.kind in 'SU' else 0 if native.kind == 'M' else np.zeros((), native).item()
    m.columns[name] = Column(column.rows.astype(native), zero)
    return ['--add-column', f'{name}={path}']


def overwrite(m):
    if not m.n:
        return None
    m.fresh += 1
    first = rnd.choice([0, rnd.randrange(m.n), m.n - 1])
    n = rnd.choice([1, m.n - first, rnd.randint(1, m.n - first)])
    names = rnd.sample(list(m.columns), rnd.randint(1, len(m.columns)))
    columns = {}
    for name in names:
        old = m.columns[name].rows
        # The source may have the other byte order.
        new = values(old.dtype, (n, *old.shape[1:]))
        columns[name] = Column(new.astype(old.dtype.newbyteorder(rnd.choice('=S'))), np.zeros((), old.dtype)[()])
        rows = old.copy()
        rows[first : first + n] = new
        m.columns[name].rows = rows
    path = f'{m.path}.rows{m.fresh}'
    write(path, columns, m.table)
    return ['--overwrite', f'{first}={path}']


def remove(m):
    if not m.attrs:
        return None
    name = rnd.choice(list(m.attrs))
    del m.attrs[name]
    return ['--remove-attr', name]


def attribute(depth=0):
    many = [lambda: [attribute(depth + 1) for _ in range(rnd.randint(0, 3))]]
    many += [lambda: {rnd.choice(TEXT) * 2: attribute(depth + 1) for _ in range(rnd.randint(0, 3))}]
    one = [lambda: None, lambda: rnd.random() < 0.5, lambda: rnd.randint(-(2**70), 2**70), lambda: rnd.gauss(0, 1e9)]
    one += [lambda: rnd.choice([float('nan'), float('inf'), -0.0, 1e300])]
    one += [lambda: rnd.randint(-9, 9), lambda: ''.join(rnd.choice(TEXT + '\\\x01\x7f') for _ in range(rnd.randint(0, 9)))]
    return rnd.choice(one + (many if depth < 3 else []))()


def set_(m):
    name = rnd.choice(['unit', 'é', 'a "b"', '😀', 'x\ny', *m.attrs])
    m.attrs[name] = attribute()
    # Both spellings of the same JSON.
    text = json.dumps(m.attrs[name], ensure_ascii=rnd.random() < 0.5, indent=rnd.choice([None, 1]))
    return ['--set-attr', f'{name}={text}']


CHANGES = [drop, trim, resize, add, overwrite, remove, set_]


def impossible(m):
    """Options of a run that must fail, or None."""
    path = f'{m.path}.no'
    k = rnd.randrange(8)
    if k == 0:
        return ['--trim', m.n + rnd.randint(1, 9)]
    if k == 1:
        return ['--drop-column', 'no such column']
    if k == 2:
        return ['--drop-column', next(iter(m.columns))] if m.table and len(m.columns) == 1 else None
    if k == 3:
        return ['--remove-attr', 'no such attribute']
    if k == 4:
        return ['--set-attr', 'x={"a": ']
    if k == 5:  # Another number of rows, a name that is taken, or no table.
        write(path, {'a': fresh(m.n + rnd.choice([0, 1]))}, False)
        rows = len(bcolz.open(path, 'r'))
        return ['--add-column', f'{next(iter(m.columns)) if rows == m.n else "other"}={path}']
    columns = {name: Column(c.rows[:1].copy(), np.zeros((), c.rows.dtype)[()]) for name, c in m.columns.items()}
    if k == 6:  # Past the last row.
        if not m.n:
            return None
        write(path, columns, m.table)
        return ['--overwrite', f'{m.n}={path}']
    # Another type, in the last column only: those before it must stay as they are, too.
    name = list(columns)[-1]
    if not m.n:
        return None
    columns[name] = Column(np.array([b'x']) if columns[name].rows.dtype.kind != 'S' else np.array([1.5]), None)
    columns[name].dflt = np.zeros((), columns[name].rows.dtype)[()]
    write(path, columns, m.table)
    return ['--overwrite', f'0={path}']


def original(m):
    """A change by bcolz itself."""
    dataset = m.equals('a')
    k = rnd.random()
    if k < 0.6:
        n = rnd.choice([1, rnd.randint(1, 30), rnd.randint(1, 500)])
        new = {name: values(c.rows.dtype, (n, *c.rows.shape[1:])) for name, c in m.columns.items()}
        dataset.append(list(new.values()) if m.table else new[''])
        for name, c in m.columns.items():
            c.rows = np.concatenate([c.rows, new[name]]).astype(c.rows.dtype)
        kind = 'append'
    elif k < 0.75 and m.n > 1:
        n = rnd.randint(1, m.n - 1)
        dataset.trim(n)
        for c in m.columns.values():
            c.rows = c.rows[: len(c.rows) - n]
        kind = 'trim'
    elif k < 0.85 and m.n:
        n = rnd.randint(1, 100)
        dataset.resize(m.n + n)
        for c in m.columns.values():
            c.grow(n)
        kind = 'resize'
    else:
        name = rnd.choice(['unit', 'by bcolz', *m.attrs])
        m.attrs[name] = attribute()
        dataset.attrs[name] = m.attrs[name]
        kind = 'attr'
    dataset.flush()
    del dataset
    m.equals('r')
    return kind


def step(m, log):
    """A run of the tool, or a change by bcolz."""
    k = rnd.random()
    if k < 0.2:
        kind = original(m)
        log.append(f'bcolz: {kind}')
        done['by bcolz: ' + kind] += 1
        m.tool()
        return
    if k < 0.35:
        options = impossible(m)
        if options is None:
            return
        log.append(options)
        status, out, err = peer.run(args.pilaster, 'edit', m.path, *options)
        require(status not in (0, 101) and status > 0, 'not refused', status, err.decode())
        done['refused'] += 1
    else:
        # Most runs make one change, some several, in the order of the list.
        kinds = sorted(rnd.sample(range(len(CHANGES)), rnd.choice([1, 1, 1, 2, 3])))
        options, kinds = [], [CHANGES[k] for k in kinds]
        for change in kinds:
            some = change(m)
            if some:
                options.append(some)
                done['edit ' + some[0]] += 1
        if not options:
            return
        done['runs'] += 1
        log.append(options)
        # The order on the command line does not matter.
        rnd.shuffle(options)
        status, out, err = peer.run(args.pilaster, 'edit', m.path, *[x for some in options for x in some])
        require(status == 0, 'edit', err.decode())
    m.equals('r')
    m.tool()


done = collections.Counter()
bad = []
for i in range(args.count):
    path = os.path.join(args.scratch, 'e%04d' % i)
    log = []
    try:
        m = Model(path)
        log.append([m.n, [(name, c.rows.dtype.str, c.rows.shape[1:], c.chunklen) for name, c in m.columns.items()]])
        m.equals('r')
        for _ in range(args.steps):
            step(m, log)
        done['datasets'] += 1
        done['values'] += sum(c.rows.size for c in m.columns.values())
    except Original as x:
        print('bcolz itself:', *x.args)
        done['ended by bcolz itself'] += 1
    except Exception as x:
        bad.append(i)
        print('BAD', path, repr(x)[:400])
        for line in log:
            print('   ', line)
        continue
    for name in os.listdir(args.scratch):
        if name.startswith('e%04d' % i):
            shutil.rmtree(os.path.join(args.scratch, name))
for k, v in sorted(done.items()):
    print(k, v)
peer.finish(
    'bcolz edits',
    bad or not done['runs'],
    f'{done["datasets"]} datasets of bcolz {bcolz.__version__}, {done["runs"]} runs of pilaster edit, {done["refused"]} refused,'
    f' {sum(v for k, v in done.items() if k.startswith("by bcolz"))} changes by bcolz in between,'
    f' {len(bad)} wrong, {done["ended by bcolz itself"]} more that bcolz itself cannot write',
)
