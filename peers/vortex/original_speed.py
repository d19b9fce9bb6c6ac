"""CPU milliseconds (best of 5) of the original to read FILE to Arrow with one worker: original_speed.py FILE"""

import resource
import sys

import vortex as vx


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


if len(sys.argv) != 2 or sys.argv[1] == '--help':
    print(__doc__)
    sys.exit(0 if sys.argv[1:] == ['--help'] else 2)
try:
    vx.set_worker_threads(1)
except Exception:
    pass
best = 1e9
for _ in range(5):
    t = cpu()
    n = sum(b.num_rows for b in vx.open(sys.argv[1]).to_arrow())
    best = min(best, cpu() - t)
print('%.2f' % (best * 1e3))
