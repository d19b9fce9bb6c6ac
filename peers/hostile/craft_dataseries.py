"""Writes small DataSeries files that claim much, nest much or hold odd characters, and asks pilaster of each:
`info`, `info --no-index`, `verify`, `recover`. A run that is killed by a signal, ends with another status than 0, 1 or 2,
takes longer than --limit CPU seconds or more than --memory MiB is a finding.

The files are made byte by byte here; nothing of the original is needed."""

import bz2
import os
import resource
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

P = peer.arguments(__doc__, seed=False)
P.add_argument('--limit', type=float, default=5.0, help='CPU seconds (default 5)')
P.add_argument('--memory', type=int, default=1024, help='MiB of resident memory (default 1024)')
P.add_argument('--only-make', action='store_true', help='make the files, run nothing')
A = peer.parse(P)
MADE = []
# lookup2
M = 0xFFFFFFFF


def mix(a, b, c):
    a = (a - b - c) & M
    a ^= c >> 13
    b = (b - c - a) & M
    b ^= (a << 8) & M
    c = (c - a - b) & M
    c ^= b >> 13
    a = (a - b - c) & M
    a ^= c >> 12
    b = (b - c - a) & M
    b ^= (a << 16) & M
    c = (c - a - b) & M
    c ^= b >> 5
    a = (a - b - c) & M
    a ^= c >> 3
    b = (b - c - a) & M
    b ^= (a << 10) & M
    c = (c - a - b) & M
    c ^= b >> 15
    return a, b, c


def lookup2(init, k):
    a = b = 0x9E3779B9
    c = init
    n = len(k)
    i = 0
    while n - i >= 12:
        x, y, z = struct.unpack_from('<III', k, i)
        a = (a + x) & M
        b = (b + y) & M
        c = (c + z) & M
        a, b, c = mix(a, b, c)
        i += 12
    c = (c + n) & M
    t = k[i:]
    sh = [
        ('a', 0),
        ('a', 8),
        ('a', 16),
        ('a', 24),
        ('b', 0),
        ('b', 8),
        ('b', 16),
        ('b', 24),
        ('c', 8),
        ('c', 16),
        ('c', 24),
    ]
    v = {'a': a, 'b': b, 'c': c}
    for j, x in enumerate(t):
        r, s = sh[j]
        v[r] = (v[r] + (x << s)) & M
    return mix(v['a'], v['b'], v['c'])[2]


assert lookup2(0, b'0123456789a') == 0x90D7829E, hex(lookup2(0, b'0123456789a'))


def a4(n):
    return n + (-n % 4)


def extent(name, fixed, pool, rows, words, fm=0, vm=0, fs=None, vs=None, hashv=None):
    if hashv is None:
        h = lookup2(1972, fixed)
        h = lookup2(h, pool)
        ws = list(words)
        while len(ws) >= 1024:
            h = lookup2(h, struct.pack('<1024I', *ws[:1024]))
            ws = ws[1024:]
        h = lookup2(h, struct.pack('<%dI' % len(ws), *ws))
    else:
        h = hashv
    fs = fixed if fs is None else fs
    vs = pool[4:] if vs is None else vs
    nm = name.encode()
    body = nm + b'\0' * (-(28 + len(nm)) % 4) + fs + b'\0' * (-len(fs) % 4) + vs + b'\0' * (-len(vs) % 4)
    hd = struct.pack('<4i', len(fs), len(vs), rows, len(pool))
    tl = struct.pack('<I4B', h, fm, vm, len(nm), 0)
    ad = zlib.adler32(hd + tl + body)
    return hd + struct.pack('<I', ad) + tl + body


HDR = b'DSv1' + struct.pack(
    '<iqQQQ', 0x12345678, 0x123456789ABCDEF0, 0x400921FB54442D18, 0x7FF0000000000000, 0x7FF8000000000000
)


def types(xmls):
    pool = b'\0' * 4
    fixed = b''
    ws = []
    for x in xmls:
        fixed += struct.pack('<i4x', len(pool))
        e = struct.pack('<i', len(x)) + x + b'\0' * ((12 - len(x) % 8) % 8)
        pool += e
        ws.append(len(x))
    return extent('DataSeries: XmlType', fixed, pool, len(xmls), ws)


def save(n, xmls, ext=b''):
    d = HDR + types(xmls) + ext
    open(os.path.join(A.scratch, n), 'wb').write(d)
    MADE.append(n)
    print(n, len(d), 'bytes')


T = '<ExtentType name="%s" namespace="x" version="1.0">%s</ExtentType>'

f = ''.join('<field type="bool" name="f%d" />' % i for i in range(25000))
save('d_fields.ds', [(T % ('t', f)).encode()])
f = '<field type="int32" name="f0" />' + ''.join(
    '<field type="int32" name="f%d" pack_relative="f%d"/>' % (i, i - 1) for i in range(1, 14000)
)
save('d_relchain.ds', [(T % ('t', f)).encode()])
attrs = ' '.join('a%d="x"' % i for i in range(80000))
save('d_attrs.ds', [('<ExtentType name="t" %s></ExtentType>' % attrs).encode()])
attrs2 = '<field type="bool" name="a" ' + ' '.join('a%d="x"' % i for i in range(80000)) + '/>'
save('d_attrs2.ds', [(T % ('t', attrs2)).encode()])
save('d_types.ds', [(T % ('t%d' % i, '')).encode() for i in range(12000)])
ts = [(T % ('t%05d' % i, '<field type="bool" name="b"/>')).encode() for i in range(4000)]
ex = b''.join(extent('t%05d' % (i % 4000), b'', b'\0' * 4, 0, [], 0, 0, b'', b'') for i in range(12000))
save('d_typesext.ds', ts, ex)
ent = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + ''.join('<!ENTITY %s "%s">' % (chr(98 + i), ('&%s;' % chr(97 + i)) * 20) for i in range(12))
    + ']>'
)
save('d_laugh.ds', [(ent + '<ExtentType name="t" note="&m;"></ExtentType>').encode()])
save(
    'd_deep.ds',
    [('<ExtentType name="t"><field type="bool" name="b">' + '<a>' * 150000 + '</field></ExtentType>').encode()],
)

# few bytes that unpack to many (the extent hash is wrong on purpose: the work is done before it is known)
X = (T % ('t', '<field type="int64" name="b"/>')).encode()


def bomb(name, rows, mode, comp, copies):
    fx = b'\0' * (rows * 8)
    c = comp(fx)
    e = extent('t', fx[:0], b'\0' * 4, rows, [], mode, 0, c, b'', hashv=0)
    save(name, [X], e * copies)


bomb('d_bz2.ds', (256 << 20) // 8, 3, lambda b: bz2.compress(b, 9), 1)
bomb('d_zlib.ds', (64 << 20) // 8, 2, lambda b: zlib.compress(b, 9), 1)
bomb('d_bz2x200.ds', (64 << 20) // 8, 3, lambda b: bz2.compress(b, 9), 200)
X0 = (T % ('t', '')).encode()
save('d_norec.ds', [X0], extent('t', b'', b'\0' * 4, 2**31 - 1, [], 0, 0, b'', b''))
for n in (250, 500, 1000):
    ts = [(T % ('t%05d' % i, '<field type="bool" name="b"/>')).encode() for i in range(n)]
    e = [extent('t%05d' % i, b'', b'\0' * 4, 0, [], 0, 0, b'', b'') for i in range(n)]
    save('d_te%d.ds' % n, ts, b''.join(e[i % n] for i in range(3 * n)))
save('d_lie.ds', [X], extent('t', b'', b'\0' * 4, 200000000, [], 3, 0, b'BZh91AY', b'', hashv=0))
save('d_lie_lz4.ds', [X], extent('t', b'', b'\0' * 4, 200000000, [], 6, 0, b'abcdefgh', b'', hashv=0))
# control characters and formulas in names and values
X = (T % ('t&#10;rows 99&#x1b;', '<field type="bool" name="=cmd|x&#x9b;"/>')).encode()
save('d_esc.ds', [X], extent('t\nrows 99\x1b', b'\1\0\0\0\0\0\0\0', b'\0' * 4, 1, [], 0, 0, None, None))
X = (T % ('t\u009b31m', '<field type="variable32" name="s"/>')).encode()
s = b'=HYPERLINK("x")\x1b[31m'
pool = b'\0' * 4 + struct.pack('<i', len(s)) + s + b'\0' * ((12 - len(s) % 8) % 8)
save('d_csv.ds', [X], extent('t\u009b31m', struct.pack('<i4x', 4), pool, 1, [len(s)]))

BAD = []


def ask(name, *verb):
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(A.limit) + 1, int(A.limit) + 2))

    out = os.path.join(A.scratch, 'recovered.ds')
    if os.path.exists(out):
        os.remove(out)
    command = [A.pilaster, *verb, os.path.join(A.scratch, name)] + ([out] if verb[0] == 'recover' else [])
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits)
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = status
    seconds, mib = use.ru_utime + use.ru_stime, use.ru_maxrss // 1024
    wrong = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 1, 2) or seconds > A.limit or mib > A.memory
    print(
        f'{name:16} {" ".join(verb):16} status {os.WEXITSTATUS(status) if os.WIFEXITED(status) else "signal"} {seconds:7.2f} s {mib:5} MiB{"  <--" if wrong else ""}',
        flush=True,
    )
    if wrong:
        BAD.append((name, *verb))


if not A.only_make:
    for name in MADE:
        for verb in (['info'], ['info', '--no-index'], ['verify'], ['recover']):
            ask(name, *verb)
peer.finish('craft_dataseries', len(BAD), f'{len(MADE)} files made, {len(BAD)} runs out of proportion')
