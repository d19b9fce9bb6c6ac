"""Results of benches and peers: one file per machine and date in benches/results/, and the tables that are made of them.

  results.py                    fails if docs/performance.md or README.md differs from what the results give
  results.py write              writes the tables into both
  results.py measure MACHINE    measures what can be measured here, and writes benches/results/DATE-MACHINE.tsv, and the tables
             [--sets DIR --modules DIR --pilaster TOOL --programs DIR --lib FILE --native FILE --dataseries BIN --ds PROGRAM --classpath FILE --only WORD...]

`measure` runs `cargo bench`, `.ci/blosc` and the scripts of speed, whose last lines it prints. A script whose original or
argument is absent is left out, and is listed at the end. --sets: the folder of vortex/make.py; --modules: one with two builds of
pilaster.wasm, plain.wasm and simd128.wasm; the others as in README.md. --only: the commands whose name contains one of the words. Let nothing else run meanwhile.

A result file has comment lines, `# machine: …`, `# compiler: …`, `# rival: …`, and a line per figure: table, row, column, theirs,
ours, unit, ratio, separated by tabs. The ratio is theirs by ours in time, ours by theirs in bytes and in speeds (a unit with `/s`). Of several files with the same row
and column, the latest counts. benches/results/asked.tsv has what a ratio should be, by patterns of table, row and column, of
which the first that matches counts: `1.5` for at least, `<1.02` for at most, `-` for a ratio that is not held to anything.
"""

import argparse
import datetime
import fnmatch
import os
import platform
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, 'benches/results')
PAGES = ('docs/performance.md', 'README.md')
MARKS = re.compile(r'(<!-- results: (\w+) -->\n).*?(<!-- end of results -->)', re.DOTALL)
# What the README quotes: the text, and table, row and column.
QUOTED = (
    ('A Vortex table of 4,000,000 rows read, beside vortex-data', 'vortex_read', 'five', 'default'),
    ('The same table written', 'vortex_written', 'five', 'written'),
    ('DataSeries (LZ4) printed as text, beside ds2txt', 'dataseries_tool', 'cat, ds2txt --skip-all A lz4 (user)', 'time'),
    ('Vortex to JSON lines by the tool, beside DuckDB from Parquet', 'arrow', 'five', 'to jsonl'),
    ('Blosc chunks of timestamps decoded (LZ4, byte shuffle, AVX2), beside c-blosc', 'blosc_avx2', 'lz4, decode from memory', 'i64, byte'),
)


class Figure:
    """A line of a result file."""

    def __init__(self, line, origin):
        self.table, self.row, self.column, self.theirs, self.ours, self.unit, ratio = line.rstrip('\n').split('\t')
        self.ratio, self.origin = float(ratio), origin
        self.key = self.table, self.row, self.column

    def absolute(self):
        """Both figures, or nothing if only the ratio was recorded."""
        if not self.theirs:
            return ''
        text = lambda number: f'{float(number):,.0f}' if abs(float(number)) >= 1000 else f'{float(number):.4g}'
        return f'{text(self.theirs)}, {text(self.ours)} {self.unit}'


def load(folder):
    """The header lines of each file, by its name, and the latest figure of each key, in the order of the files."""
    heads, figures = {}, {}
    for name in sorted(os.listdir(folder)):
        if not re.fullmatch(r'\d{4}-\d\d-\d\d-[\w-]+\.tsv', name):
            continue
        origin, heads[name[:-4]] = name[:-4], []
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            for line in file:
                if line.startswith('# '):
                    heads[origin].append(line[2:].strip())
                else:
                    figure = Figure(line, origin)
                    figures[figure.key] = figure
    return heads, figures


def bars(folder):
    with open(os.path.join(folder, 'asked.tsv'), encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file if line.strip() and not line.startswith('#')]


def asked(rules, figure):
    """What the ratio should be, as it is written in asked.tsv."""
    for *patterns, bar in rules:
        if all(fnmatch.fnmatchcase(part, pattern) for part, pattern in zip(figure.key, patterns)):
            return bar
    raise SystemExit(f'benches/results/asked.tsv has no line for {figure.key}')


def reach(figure, bar):
    """The ratio as a share of what is asked: below 1 is behind."""
    return float(bar[1:]) / figure.ratio if bar.startswith('<') else figure.ratio / float(bar)


def is_size(bar):
    return bar.startswith('<')


def lines_of(rows):
    """A table of Markdown; the first row is the header."""
    head, *rest = [[str(cell) for cell in row] for row in rows]
    return ''.join('| ' + ' | '.join(row) + ' |\n' for row in [head, ['---'] * len(head), *rest]).replace('| --- ', '|---').replace('|--- |', '|---|')


def behind(figures, rules):
    held = [(figure, bar) for figure in figures.values() if (bar := asked(rules, figure)) != '-']
    late = sorted((reach(figure, bar), figure.key, figure, bar) for figure, bar in held if reach(figure, bar) < 1)
    rows = [['table', 'row', 'column', 'ratio', 'asked', 'of it', 'measured']]
    for share, _, figure, bar in late:
        limit = f'at most {bar[1:]}' if is_size(bar) else bar
        digits = 3 if is_size(bar) else 2
        rows.append([figure.table, figure.row, figure.column, f'{figure.ratio:.{digits}f}', limit, f'{share:.2f}', figure.origin])
    return f'{len(late)} of {len(held)} figures are behind what is asked, the furthest first:\n\n' + lines_of(rows)


def machines(heads, figures):
    used = {figure.origin for figure in figures.values()}
    text = 'The result files, of which the latest figure of each row counts:\n\n'
    for origin in sorted(used):
        count = sum(figure.origin == origin for figure in figures.values())
        text += f'* `{origin}`, {count} figures. ' + '. '.join(line[:1].upper() + line[1:] for line in heads[origin]) + '.\n'
    return text


def pivot(table, figures, rules):
    """The figures of a table: a line for each row, a column for each column, behind it both figures if they are known."""
    mine = [figure for figure in figures.values() if figure.table == table]
    if not mine:
        raise SystemExit(f'no results for the table {table}')
    columns = list(dict.fromkeys(figure.column for figure in mine))
    known = {column for column in columns if any(f.theirs for f in mine if f.column == column)}
    head = ['']
    for column in columns:
        head += [f'{column}: theirs, ours', 'ratio'] if column in known else [column]
    rows = [head]
    for row in dict.fromkeys(figure.row for figure in mine):
        cells = [row]
        for column in columns:
            figure = figures.get((table, row, column))
            cells += [figure.absolute() if figure else ''] * (column in known) + [ratio(figure, rules)]
        rows.append(cells)
    dates = ', '.join(sorted({f'`{figure.origin}`' for figure in mine}))
    return lines_of(rows) + f'\nMeasured in {dates}.\n'


def ratio(figure, rules):
    if figure is None:
        return ''
    bar = asked(rules, figure)
    text = f'{figure.ratio:.3f}' if is_size(bar) else f'{figure.ratio:.2f}'
    return text if bar == '-' or reach(figure, bar) >= 1 else f'{text} BEHIND'


def quoted(figures):
    rows = [['', 'theirs, ours', 'times as fast']]
    for text, *key in QUOTED:
        figure = figures[tuple(key)]
        rows.append([text, figure.absolute(), f'{figure.ratio:.1f}'])
    return lines_of(rows)


def page(text, folder=RESULTS):
    """The text with what the results give between its marks."""
    (heads, figures), rules = load(folder), bars(folder)
    special = {
        'behind': lambda: behind(figures, rules),
        'machines': lambda: machines(heads, figures),
        'quoted': lambda: quoted(figures),
    }

    def part(found):
        name = found[2]
        made = special[name]() if name in special else pivot(name, figures, rules)
        return f'{found[1]}\n{made}\n{found[3]}'

    return MARKS.sub(part, text)


def tables(write):
    """Writes the pages, or returns those that differ."""
    different = []
    for name in PAGES:
        path = os.path.join(ROOT, name)
        with open(path, encoding='utf-8') as file:
            old = file.read()
        new = page(old)
        if '<!-- results: ' not in old:
            raise SystemExit(f'{name} has no mark of results')
        if new == old:
            continue
        different.append(name)
        if write:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(new)
    return different


def versions():
    """Header lines: the machine, the compiler, and the versions of the originals that are installed here."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        model = re.search(r'model name\s*: (.*)', file.read())
    yield f'machine: {model[1] if model else platform.machine()}, {os.cpu_count()} processors, {platform.system()}'
    yield 'compiler: ' + subprocess.run(['rustc', '--version'], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    commit = subprocess.run(['git', '-C', ROOT, 'describe', '--always', '--dirty'], capture_output=True, text=True).stdout.strip()
    yield f'pilaster: {commit}'
    rivals = []
    for lock, names in (
        ('benches/blosc/Cargo.lock', ('blosc-src', 'zstd-sys', 'lz4-sys', 'libz-sys')),
        ('Cargo.lock', ('alp', 'fastlanes', 'fsst-rs', 'onpair', 'lz4_flex', 'snap', 'lzf')),
        ('peers/sql/Cargo.lock', ('datafusion', 'vortex-datafusion')),
    ):
        with open(os.path.join(ROOT, lock), encoding='utf-8') as file:
            found = re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', file.read())
        rivals += [f'{name} {version}' for name, version in found if name in names]
    from importlib import metadata

    for name in ('vortex-data', 'pyarrow', 'duckdb', 'polars', 'datatable', 'blosc'):
        try:
            rivals.append(f'{name} {metadata.version(name)} of Python')
        except metadata.PackageNotFoundError:
            pass
    yield 'rivals: ' + ', '.join(rivals)


def commands(a):
    """The name of each command, its words, and the arguments of this script that it requires."""
    script = lambda name: [sys.executable, os.path.join(ROOT, 'peers', name)]
    for bench in 'filo', 'dataseries', 'dataseries_write', 'jay', 'vortex', 'codec':
        yield f'bench {bench}', ['cargo', 'bench', '--all-features', '--bench', bench], ()
    for what in 'bench', 'streams', 'zstd':
        yield f'c-blosc {what}', [os.path.join(ROOT, '.ci/blosc'), what], ()
    native = ['--native', a.native] if a.native else []
    yield 'avx2', [*script('blosc/bench.py'), '--lib', a.lib, '--codecs', 'blosclz,lz4,zstd', *native], (a.lib,)
    yield 'datatable', [*script('jay/bench.py'), a.scratch, '--lib', a.lib], (a.lib,)
    yield 'vortex read', [*script('vortex/speed.py'), a.sets, '--programs', a.programs], (a.sets, a.programs)
    write = [*script('vortex/write_speed.py'), a.sets, '--programs', a.programs]
    yield 'vortex write', write, (a.sets, a.programs)
    yield 'vortex write compact', [*write, '--compact'], (a.sets, a.programs)
    tool = ['--pilaster', a.pilaster]
    yield 'arrow', [*script('arrow/speed.py'), a.sets, *tool, '--programs', a.programs], (a.sets, a.pilaster, a.programs)
    yield 'python', [*script('python/speed.py'), a.sets], (a.sets,)
    series = ['--programs', a.dataseries, '--ds', a.ds]
    yield 'dataseries tool', [*script('dataseries/speed.py'), a.scratch, *tool, *series], (a.pilaster, a.dataseries, a.ds)
    yield 'cores', [*script('cores.py'), a.scratch, *tool, '--sets', a.sets], (a.pilaster, a.sets)
    modules = [f'{a.modules}/{name}.wasm' for name in ('plain', 'simd128')]
    files = [f'{a.sets}/{name}.vortex' for name in ('taxi', 'taxi.c')]
    yield 'wasm', ['node', os.path.join(ROOT, 'examples/web/test/speed.js'), *modules, *files], (a.modules, a.sets)
    yield 'filo jvm', [*script('filo/speed.py'), a.scratch, '--classpath', a.classpath, '--programs', a.programs], (a.classpath, a.programs)
    yield 'sql', [*script('sql/speed.py'), a.scratch, *tool, '--programs', a.programs], (a.pilaster, a.programs)


def figures_in(path):
    """The header lines of a result file, and its figures, of which the last counts for each key."""
    with open(path, encoding='utf-8') as file:
        lines = file.readlines()
    last = {tuple(line.split('\t')[:3]): line for line in lines if not line.startswith('#')}
    return [line for line in lines if line.startswith('#')], last


def tidy(path):
    """Keeps the last figure of each key, so that a command may be repeated; removes a file without figures."""
    head, figures = figures_in(path)
    if not figures:
        os.remove(path)
        return
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines([*head, *figures.values()])


def measure(a):
    path = os.path.join(RESULTS, f'{datetime.date.today()}-{a.machine}.tsv')
    new = not os.path.exists(path)
    with open(path, 'a', encoding='utf-8') as file:
        if new:
            file.writelines(f'# {line}\n' for line in versions())
    try:
        left = run_all(a, path)
    finally:
        # What was measured before an interrupt counts.
        tidy(path)
    print(f'{path}; written: {", ".join(tables(True)) or "nothing"}')
    for line in left:
        print(f'LEFT OUT {line}')
    return bool(left)


def run_all(a, path):
    """Runs the commands, which append to the result file. Returns what was left out, and why."""
    left = []
    for name, command, required in commands(a):
        if a.only and not any(word in name for word in a.only):
            continue
        if not all(required):
            left.append(f'{name}: without its arguments')
            continue
        print(f'== {name}', flush=True)
        before = os.path.getsize(path)
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, 'PILASTER_RESULTS': path}, stdout=subprocess.PIPE, text=True)
        print('\n'.join(done.stdout.splitlines()[-3:]), flush=True)
        if done.returncode:
            left.append(f'{name}: status {done.returncode}')
        elif os.path.getsize(path) == before:
            left.append(f'{name}: it recorded no figure')
    return left


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('what', nargs='?', choices=('check', 'write', 'measure'), default='check')
    p.add_argument('machine', nargs='?')
    p.add_argument('--scratch', default='/tmp/pilaster-results')
    for name in 'sets', 'modules', 'pilaster', 'programs', 'lib', 'native', 'dataseries', 'ds', 'classpath':
        p.add_argument('--' + name)
    p.add_argument('--only', nargs='+')
    a = p.parse_intermixed_args()
    if a.what == 'measure':
        if not re.fullmatch(r'[\w-]+', a.machine or ''):
            p.error('name the machine, by letters, digits and hyphens: it becomes a part of the name of the file')
        os.makedirs(a.scratch, exist_ok=True)
        sys.exit(measure(a))
    different = tables(a.what == 'write')
    if a.what == 'check' and different:
        raise SystemExit(f'{", ".join(different)}: not what benches/results gives; run peers/results.py write')


if __name__ == '__main__':
    main()
