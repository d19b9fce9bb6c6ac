"""The compatibility files of c-blosc (compat/*.cdata of a checkout of Blosc/c-blosc) read by pilaster, held against
python-blosc, then numcodecs; where neither can (Snappy), against the 1,000,000 ascending int32 that all these files hold.

  compat.py FOLDER        with a Python that has blosc and numcodecs"""

import glob
import hashlib
import os
import struct
import subprocess
import sys

import blosc
from numcodecs import blosc as nb

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, scratch=False, seed=False)
p.add_argument('folder')
a = peer.parse(p)
WANT = hashlib.sha256(struct.pack('<1000000i', *range(1000000))).hexdigest()
files, bad = sorted(glob.glob(a.folder + '/*.cdata')), 0
for f in files:
    data, decoded = open(f, 'rb').read(), []
    for other in (blosc.decompress, nb.decompress):
        try:
            decoded.append(hashlib.sha256(bytes(other(data))).hexdigest())
        except Exception:
            pass
    want = decoded[0] if decoded else WANT
    status, out, err = peer.run(a.pilaster, 'dump', '--json', f)
    verify, _, _ = peer.run(a.pilaster, 'verify', f)
    if status or verify or want not in out.decode() or any(d != want for d in decoded):
        bad += 1
        print(os.path.basename(f), 'dump', status, 'verify', verify, err.decode()[:200], decoded)
peer.finish('blosc compat', bad or not files, f'{len(files)} files, {bad} wrong')
