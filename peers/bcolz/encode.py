"""Values of a numpy array as `pilaster dump --json` prints them."""

import json


def enc(a):
    d = a.dtype
    f = a.reshape(-1)
    if d.kind == 'b':
        return [bool(x) for x in f]
    if d.kind in 'iu':
        return [str(int(x)) for x in f]
    if d.kind == 'f':
        be = f.astype(d.newbyteorder('>')).tobytes()
        w = d.itemsize
        return ['bits:' + be[i * w : i * w + w].hex() for i in range(len(f))]
    if d.kind == 'S':
        return ['hex:' + bytes(x).hex() for x in f]
    if d.kind == 'V' and d.names is None and d.itemsize:
        raw = f.tobytes()
        return ['hex:' + raw[i * d.itemsize : (i + 1) * d.itemsize].hex() for i in range(len(f))]
    if d.kind == 'U':
        return [str(x) for x in f]
    if d.kind == 'M':
        v = f.view('i8') if d.byteorder != '>' else f.astype(d.newbyteorder('=')).view('i8')
        return [None if x == -(2**63) else str(int(x)) for x in v]


def js(v):
    return json.dumps(v, ensure_ascii=False, separators=(',', ':'))
