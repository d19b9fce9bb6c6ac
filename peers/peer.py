"""What the scripts of these folders share: arguments, the binary under test, the summary line, the status."""

import argparse
import os
import resource
import subprocess
import sys


def arguments(text, *, scratch=True, seed=True, count=None, pilaster=True):
    """A parser with the arguments common to all. `count`: default of --count, or None for no such argument."""
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    if scratch:
        p.add_argument('scratch', help='folder to work in; made if absent')
    if seed:
        p.add_argument('--seed', type=int, default=1, help='base of the random seeds (default 1)')
    if count is not None:
        p.add_argument('--count', type=int, default=count, help=f'how many (default {count})')
    if pilaster:
        p.add_argument(
            '--pilaster', default=os.environ.get('PILASTER'), help='the binary (default: environment PILASTER)'
        )
    return p


def parse(p):
    a = p.parse_intermixed_args()
    if getattr(a, 'pilaster', '') is None:
        p.error('say which binary: --pilaster PATH, or PILASTER in the environment')
    for name in ('pilaster', 'scratch', 'programs', 'golden'):
        value = getattr(a, name, None)
        if value:
            setattr(a, name, os.path.abspath(value))
    if getattr(a, 'pilaster', None) and not os.access(a.pilaster, os.X_OK):
        p.error(f'{a.pilaster} is no program')
    if getattr(a, 'scratch', None):
        os.makedirs(a.scratch, exist_ok=True)
    return a


def run(*command, timeout=600):
    """Status, output, errors."""
    p = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    return p.returncode, p.stdout, p.stderr


def cpu(*command, to=None):
    """CPU seconds (user, system) of a command; not a number if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(to or os.devnull, 'wb') as out:
        p = subprocess.run([str(c) for c in command], stdout=out, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        return float('nan'), float('nan')
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def record(table, row, column, theirs, ours, unit=''):
    """Appends a measured pair to the file of results, PILASTER_RESULTS in the environment, if that is set. The ratio is theirs by
    ours, of bytes and speeds ours by theirs."""
    path = os.environ.get('PILASTER_RESULTS')
    if path:
        ratio = ours / theirs if unit == 'bytes' or unit.endswith('/s') else theirs / ours
        with open(path, 'a') as out:
            print(table, row, column, f'{theirs:.10g}', f'{ours:.10g}', unit, f'{ratio:.3f}', sep='\t', file=out)


def finish(name, bad, text):
    """The summary line, last, and the status: 1 if anything differed."""
    print(f'{name}: {"FAIL" if bad else "ok"}: {text}', flush=True)
    sys.exit(1 if bad else 0)
