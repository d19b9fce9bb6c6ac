"""CPU milliseconds (best of RUNS, 5) of the original to write the rows of FILE to OUT with one worker, and its size in bytes. The
rows are in memory as Arrow before: original_write.py FILE OUT [RUNS] [compact]"""

import os
import resource
import sys

import vortex as vx


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


arguments = sys.argv[1:]
compact = arguments[-1:] == ['compact']
if compact:
    arguments.pop()
if len(arguments) not in (2, 3):
    print(__doc__)
    sys.exit(0 if arguments == ['--help'] else 2)
try:
    vx.set_worker_threads(1)
except Exception:
    pass
source, out = arguments[:2]
write = vx.io.VortexWriteOptions.compact().write if compact else vx.io.write
table, best = vx.open(source).to_arrow().read_all(), 1e9
for _ in range(int(arguments[2]) if len(arguments) == 3 else 5):
    t = cpu()
    write(table, out)
    best = min(best, cpu() - t)
print('%.2f %d' % (best * 1e3, os.path.getsize(out)))
