"""How well two threads of the tool share the work: readers and writers of DataSeries, bcolz and Vortex, by `cat` and `convert`.

  cores.py SCRATCH --sets DIR --pilaster TOOL [--rounds 3] [--set taxi] [WORD...]       (WORD: only the works whose name contains one)

DIR has the sets of vortex/make.py. *Efficiency* is the CPU time with one thread divided by twice that of the busiest of two: what two
idle cores could reach at most, as the busiest thread cannot end before it has done its part, and two cannot take less than half of the
CPU time of all. It needs no idle machine. *CPU* is the
CPU time with one thread divided by that of all threads with two: what the second thread costs. *Clock* is the time by the clock with
one thread divided by twice that with two, which counts only on an idle machine; the load of the system is printed for each work.
Medians of alternating rounds. Never fails: it measures."""

import os
import resource
import shutil
import statistics as st
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer


# What DataSeries and bcolz do not have: times, and missing values.
HOW = ['--any-time', '--fill-missing']


def removed(path):
    """Removes a file or a directory, if there is one."""
    if path and os.path.isdir(path):
        shutil.rmtree(path)
    elif path and os.path.exists(path):
        os.remove(path)


def used(pid):
    """Nanoseconds of CPU of each thread that lives."""
    found = {}
    try:
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/schedstat') as file:
                found[task] = int(file.read().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def measured(command):
    """Seconds by the clock, of all threads, and of the busiest thread, of which the last millisecond is not seen."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    threads = {}
    while process.poll() is None:
        threads.update(used(process.pid))
        time.sleep(0.001)
    clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f'status {process.returncode}: {command}')
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return clock, cpu, max(threads.values(), default=0) / 1e9


def works(a):
    """The name of each work, its command, and what it writes."""
    source = os.path.join(a.sets, a.set + '.vortex')
    files = {'Vortex': source}
    for format, name in ('DataSeries', 'cores.ds'), ('bcolz', 'cores.bcolz'):
        files[format] = os.path.join(a.scratch, name)
        removed(files[format])
        status, _, errors = peer.run(a.pilaster, 'convert', *HOW, source, files[format])
        if status:
            raise SystemExit(errors.decode(errors='replace'))
    for format, path in files.items():
        yield f'cat of {format}', [a.pilaster, 'cat', path], None
        for to, ending in ('Vortex', 'vortex'), ('DataSeries', 'ds'), ('bcolz', 'bcolz'):
            out = os.path.join(a.scratch, 'cores_out.' + ending)
            yield f'{format} to {to}', [a.pilaster, 'convert', *HOW, path, out], out


def main():
    p = peer.arguments(__doc__, seed=False)
    p.add_argument('--sets', required=True)
    p.add_argument('--set', default='taxi')
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('words', nargs='*')
    a = peer.parse(p)
    shares = []
    for name, command, out in works(a):
        if a.words and not any(word in name for word in a.words):
            continue
        one, two = [], []
        for _ in range(a.rounds):
            for threads, found in (1, one), (2, two):
                removed(out)
                found.append(measured([*command, '--threads', threads]))
        (clock, cpu, _), (clock2, cpu2, busiest) = (tuple(map(st.median, zip(*found))) for found in (one, two))
        # Of threads that come and go, none is busy for long.
        busiest = max(busiest, cpu2 / 2)
        removed(out)
        shares.append(cpu / busiest / 2)
        peer.record('cores', name, 'efficiency', cpu, 2 * busiest, 's')
        peer.record('cores', name, 'CPU', cpu, cpu2, 's')
        print(
            f'{name}: {cpu:.3f} s of CPU with one thread, {cpu2:.3f} with two, the busiest {busiest:.3f}: efficiency {shares[-1]:.2f}; '
            f'by the clock {clock:.3f} and {clock2:.3f}: {clock / clock2 / 2:.2f}; load {os.getloadavg()[0]:.1f}',
            flush=True,
        )
    peer.finish('cores', 0, f'{len(shares)} works, efficiency {min(shares, default=0):.2f} to {max(shares, default=0):.2f}')


if __name__ == '__main__':
    main()
