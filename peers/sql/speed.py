"""SQL over Vortex, DataSeries and Jay beside the originals: CPU seconds, alternating rounds, medians.

  speed.py SCRATCH --pilaster TOOL --programs FOLDER [--rows 100000000] [--rounds 3] [--keep] [NAME...]

FOLDER has the programs sql_speed and pilaster-sql (docs in peers/README.md). The Python needs vortex-data, pyarrow and duckdb. Of one table
of --rows rows, SCRATCH receives: the file that vortex-data writes, and with `pilaster convert` the ones of DataSeries and
Jay; Parquet with Zstandard by DuckDB. They are removed at the end, unless --keep. The names, all by default:

  vortex      five queries over the Vortex file by vortex-datafusion and by pilaster-datafusion: at least 1.0 is asked
  parquet     the same over Parquet by DataFusion, and over Vortex, DataSeries and Jay by pilaster-datafusion: at least 1.5 for
              scans; a range of 1 % of the Vortex file reads at most 2 % of its bytes
  workers     one DataSeries file, and a directory of 64, by 1, 2 and 4 workers: the same rows, the plan is distributed, and no
              worker reads over 1.2 times the bytes of another
  memory      a directory of 10 GB, of hard links to the DataSeries file: the peak of memory of one process

Let nothing else run meanwhile."""

import os
import re
import statistics as st
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

# A row every 100 to 900 milliseconds, of one of 1,000 hosts; a text that repeats, a float of two digits, an integer without order.
TABLE = """SELECT range * 500 + (range * 7919) % 400 AS time, 'host-' || (range * 31 // 16) % 1000 AS host,
  ((range * 48271) % 1000003) / 1000.0::DOUBLE AS level, ((range * 7919) % 65537)::INTEGER AS code FROM range({})"""
DUCKDB = """
import duckdb, sys
duckdb.sql(f"COPY ({sys.argv[1]}) TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1000000)")
"""
VORTEX = """
import sys, vortex, pyarrow.dataset
vortex.io.write(pyarrow.dataset.dataset(sys.argv[1]).scanner(batch_size=65536).to_reader(), sys.argv[2])
"""
NAMES = ('vortex', 'parquet', 'workers', 'memory')


def queries(rows):
    first, last = rows // 2 * 500, (rows // 2 + rows // 100) * 500
    return {
        'count': 'SELECT count(*) FROM t WHERE level > 500.0',
        'sum': 'SELECT sum(level), sum(code) FROM t',
        'group by': 'SELECT host, count(*), sum(code) FROM t GROUP BY host ORDER BY host LIMIT 3',
        'top-k': 'SELECT level, time FROM t ORDER BY level DESC, time LIMIT 3',
        'range': f'SELECT count(*), sum(code) FROM t WHERE time >= {first} AND time < {last}',
    }


def check(*command, **options):
    p = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if p.returncode:
        peer.finish('sql speed', 1, f'{command[0]}: {p.stderr[-500:].decode(errors="replace")}')
    return p.stdout.decode()


def make(a):
    """The files of the table."""
    path = lambda end: os.path.join(a.scratch, 't.' + end)
    if not os.path.exists(path('parquet')):
        check(sys.executable, '-c', DUCKDB, TABLE.format(a.rows), path('parquet'))
    if not os.path.exists(path('vortex')):
        check(sys.executable, '-c', VORTEX, path('parquet'), path('vortex'))
    for end, options in ('ds', ('--compress', 'lz4')), ('jay', ()):
        if not os.path.exists(path(end)):
            check(a.pilaster, 'convert', '--force', *options, path('vortex'), path(end))
    for end in 'parquet', 'vortex', 'ds', 'jay':
        print(f'{os.path.basename(path(end))}: {os.path.getsize(path(end))} bytes', flush=True)


def measured(a, reader, end):
    """For each query: CPU milliseconds, bytes, answer."""
    out = check(a.programs + '/sql_speed', reader, os.path.join(a.scratch, 't.' + end), *queries(a.rows).values())
    lines = [line.split(' ', 3) for line in out.splitlines()]
    return {name: (float(cpu), int(read), text) for name, (cpu, _, read, text) in zip(queries(a.rows), lines)}


def compared(a, theirs, ours, asked):
    """Alternating rounds. `asked`: the least ratio for each query, or None."""
    pairs = [(measured(a, *theirs), measured(a, *ours)) for _ in range(a.rounds)]
    for name in queries(a.rows):
        them, us = (st.median(pair[k][name][0] for pair in pairs) for k in (0, 1))
        answers = {pair[k][name][2] for pair in pairs for k in (0, 1)}
        ratio, least = them / us, asked.get(name)
        peer.record('sql', name, f'{theirs[1]} by {theirs[0]}, {ours[1]} by ours', them, us, 'ms')
        behind = least is not None and ratio < least
        print(
            f'{"/".join(theirs)} {"/".join(ours)} {name}: {them:.0f} ms, ours {us:.0f}; ratio {ratio:.2f}, '
            f'{pairs[0][1][name][1]} bytes' + ('  BEHIND' if behind else '') + ('' if alike(answers) else f'  DIFFERENT {answers}'),
            flush=True,
        )
        yield not behind and alike(answers)


def alike(answers):
    """Whether answers are equal but for the last digits of floats."""
    parts = [re.split(r'[| ]+', text.strip('| ')) for text in answers]
    same = lambda x, y: x == y or abs(float(x) - float(y)) <= 1e-9 * abs(float(y))
    try:
        return all(len(part) == len(parts[0]) and all(map(same, part, parts[0])) for part in parts)
    except ValueError:
        return False


def vortex(a):
    yield from compared(a, ('vortex', 'vortex'), ('pilaster', 'vortex'), dict.fromkeys(queries(a.rows), 1.0))


def parquet(a):
    for end in 'vortex', 'ds', 'jay':
        yield from compared(a, ('parquet', 'parquet'), ('pilaster', end), dict.fromkeys(('count', 'sum', 'group by', 'top-k'), 1.5))
    read = measured(a, 'pilaster', 'vortex')['range'][1]
    size = os.path.getsize(os.path.join(a.scratch, 't.vortex'))
    print(f'a range of 1 % reads {100 * read / size:.2f} % of the bytes')
    yield read * 50 <= size


def links(a, count):
    """A directory of hard links to the DataSeries file."""
    folder = os.path.join(a.scratch, f'links-{count}')
    os.makedirs(folder, exist_ok=True)
    for k in range(count):
        if not os.path.exists(f'{folder}/{k:02}.ds'):
            os.link(os.path.join(a.scratch, 't.ds'), f'{folder}/{k:02}.ds')
    return folder


def parts(a):
    """A directory of 64 files, with the rows of the table."""
    folder = os.path.join(a.scratch, 'parts')
    os.makedirs(folder, exist_ok=True)
    each = -(-a.rows // 64)
    for k in range(64):
        file = f'{folder}/{k:02}.ds'
        if not os.path.exists(file):
            # The times of row k begin at 500 k; the statistics of the Vortex file leave the other rows out.
            rows = ('--where', f'time >= {500 * k * each} and time < {500 * (k + 1) * each}', '--trust-statistics')
            check(a.pilaster, 'convert', '--force', '--compress', 'lz4', *rows, os.path.join(a.scratch, 't.vortex'), file)
    return folder


def workers(a):
    sql = "SELECT count(*), sum(time), sum(code), min(host), max(level) FROM '{}'"
    for place in os.path.join(a.scratch, 't.ds'), parts(a):
        answers = set()
        for count in 1, 2, 4:
            started = [
                subprocess.Popen([a.programs + '/pilaster-sql', 'worker', '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE)
                for _ in range(count)
            ]
            try:
                hosts = ','.join(worker.stdout.readline().decode().split()[-1] for worker in started)
                ask = (a.programs + '/pilaster-sql', '--workers', hosts, '--threads', '2')
                answers.add(check(*ask, sql.format(place)))
                read = [bytes_of(worker.pid) for worker in started]
                seconds = [cpu_of(worker.pid) for worker in started]
                plan = check(*ask, 'EXPLAIN ANALYZE ' + sql.format(place))
            finally:
                for worker in started:
                    worker.kill()
                    worker.wait()
            # One worker is no reason to distribute a plan.
            level = (count == 1 or 'DistributedLeafExec' in plan) and max(read) <= 1.2 * min(read) and len(answers) == 1
            print(f'{os.path.basename(place)} by {count}: {read} bytes, {seconds} s of CPU' + ('' if level else f'  WRONG {plan}'), flush=True)
            yield level


def bytes_of(pid):
    """The bytes that a process read by system calls, of files and connections."""
    with open(f'/proc/{pid}/io') as io:
        return int(re.search(r'rchar: (\d+)', io.read())[1])


def cpu_of(pid):
    with open(f'/proc/{pid}/stat') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return round((int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK'), 1)


def memory(a):
    size = os.path.getsize(os.path.join(a.scratch, 't.ds'))
    folder = links(a, -(-10_000_000_000 // size))
    for sql in "SELECT host, count(*), sum(level) FROM '{}' GROUP BY host", "SELECT count(*) FROM '{}'":
        command = [a.programs + '/pilaster-sql', '--format', 'csv', sql.format(folder)]
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(p.pid, 0)
        most = usage.ru_maxrss / 1024
        print(f'{sql.format("10 GB")}: {most:.0f} MB, {usage.ru_utime + usage.ru_stime:.1f} s of CPU', flush=True)
        yield status == 0 and most < 512


if __name__ == '__main__':
    p = peer.arguments(__doc__, seed=False)
    p.add_argument('--programs', required=True)
    p.add_argument('--rows', type=int, default=100_000_000)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--keep', action='store_true')
    p.add_argument('names', nargs='*')
    a = peer.parse(p)
    make(a)
    reached = [ok for name in a.names or NAMES for ok in globals()[name](a)]
    if not a.keep:
        for folder, _, files in os.walk(a.scratch, topdown=False):
            for file in files:
                if re.fullmatch(r't\.(parquet|vortex|ds|jay)|\d\d\.ds', file):
                    os.remove(os.path.join(folder, file))
    peer.finish('sql speed', not all(reached), f'{sum(reached)} of {len(reached)} are as asked')
