"""Writes Jay files whose columns share one buffer or are many, and asks pilaster `info`, `verify` and `verify --tolerant`.
A run over --limit CPU seconds, over --memory MiB or killed is a finding. Needs the Python package flatbuffers."""

import os
import resource
import struct
import subprocess
import sys

import flatbuffers

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

P = peer.arguments(__doc__, seed=False)
P.add_argument('--limit', type=float, default=5.0, help='CPU seconds (default 5)')
P.add_argument('--memory', type=int, default=1024, help='MiB of resident memory (default 1024)')
A = peer.parse(P)


def make(path, ncols, nrows, stype, width, uniq=True, samecol=False):
    b = flatbuffers.Builder(1 << 20)
    data = b'\0' * (nrows * width)
    data += b'\0' * (-len(data) % 8)
    cols = []

    def buf(off, ln):
        b.Prep(8, 16)
        b.PrependUint64(ln)
        b.PrependUint64(off)
        return b.Offset()

    one = None
    for k in range(ncols):
        if samecol and one is not None:
            cols.append(one)
            continue
        nm = b.CreateString('c%d' % k if uniq else 'x')
        b.StartObject(11)
        b.PrependStructSlot(1, buf(0, nrows * width), 0)
        b.PrependUOffsetTRelativeSlot(3, nm, 0)
        b.PrependUint8Slot(0, stype, 0)
        one = b.EndObject()
        cols.append(one)
    b.StartVector(4, len(cols), 4)
    for c in reversed(cols):
        b.PrependUOffsetTRelative(c)
    v = b.EndVector()
    b.StartObject(4)
    b.PrependUint64Slot(0, nrows, 0)
    b.PrependUint64Slot(1, ncols, 0)
    b.PrependUOffsetTRelativeSlot(3, v, 0)
    r = b.EndObject()
    b.Finish(r)
    m = bytes(b.Output())
    m += b'\0' * (-len(m) % 8)
    open(path, 'wb').write(b'JAY1\0\0\0\0' + data + m + struct.pack('<Q', len(m)) + b'\0\0\0\x001JAY')


MADE = []
for name, *shape in [
    ('j_share', 8000, 480000, 1, 1),
    ('j_same', 200000, 1000, 4, 8, False, True),
    ('j_manynames', 16000, 1, 1, 1),
    ('j_share2', 8000, 120000, 3, 4),
]:
    path = os.path.join(A.scratch, name + '.jay')
    make(path, *shape)
    MADE.append(path)
bad = 0
for path in MADE:
    for verb in (['info'], ['verify'], ['verify', '--tolerant']):

        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(A.limit) + 1, int(A.limit) + 2))

        p = subprocess.Popen(
            [A.pilaster, *verb, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits
        )
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = status
        seconds, mib = use.ru_utime + use.ru_stime, use.ru_maxrss // 1024
        wrong = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 1, 2) or seconds > A.limit or mib > A.memory
        bad += wrong
        print(
            f'{os.path.basename(path):16} {" ".join(verb):18} {os.path.getsize(path):9} bytes {seconds:7.2f} s {mib:5} MiB{"  <--" if wrong else ""}',
            flush=True,
        )
peer.finish('craft_jay', bad, f'{len(MADE)} files made, {bad} runs out of proportion')
