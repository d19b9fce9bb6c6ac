"""Asks pilaster of every input here what README.md says of it.

  run.py SCRATCH [--mutate PROGRAM] [--golden ROOT] [--limit 3] [ID...]

PROGRAM: the built `mutate` (D02, D06, D08 to D10 are of the library, not of the command line). ROOT: the folder with
the golden files (D08, J01). What cannot be asked is skipped and counted."""

import os
import re
import resource
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer

p = peer.arguments(__doc__, seed=False)
p.add_argument('--mutate')
p.add_argument('--golden')
p.add_argument('--limit', type=float, default=3.0, help='CPU seconds of one run (default 3)')
p.add_argument('ids', nargs='*')
a = peer.parse(p)
HERE = os.path.dirname(os.path.abspath(__file__))
S = lambda name: os.path.join(a.scratch, name)
F = lambda name: os.path.join(HERE, name)


def ask(*verb):
    """Status (None: over the limit), output, errors. Output over 1 MiB is thrown away."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(a.limit) + 1, int(a.limit) + 2))

    with open(S('out'), 'wb') as out, open(S('err'), 'wb') as err:
        q = subprocess.Popen([a.pilaster, *verb], stdout=out, stderr=err, preexec_fn=limits)
        try:
            q.wait(timeout=a.limit * 8)
        except subprocess.TimeoutExpired:
            q.kill()
            q.wait()
            return None, b'', b''
    if q.returncode < 0:
        return None, b'', b''
    return q.returncode, open(S('out'), 'rb').read(1 << 20), open(S('err'), 'rb').read(1 << 20)


def fresh(name):
    f = S(name)
    if os.path.lexists(f):
        os.remove(f)
    return f


def replay(kind, file, to, element=None):
    """The mutation harness on the file as it is."""
    if not a.mutate:
        return None
    folder = S('replay_' + to)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(file, os.path.join(folder, to))
    if element:
        with open(os.path.join(folder, to.rsplit('.', 1)[0] + '.expected.json'), 'w') as f:
            f.write('{"facts": {"element_type": "%s"}}' % element)
    status, out, _ = peer.run(os.path.abspath(a.mutate), kind, 1, 1, folder, S('found'))
    lines = [l for l in out.decode().split('\n') if re.search(r'NOTE|PANIC| x ', l)]
    return 'right' if status == 0 else lines[0][-160:] if lines else f'status {status}'


def bounded(*verbs):
    for verb in verbs:
        if ask(*verb)[0] is None:
            return f'{verb[0]}: over {a.limit} s'
    return 'right'


def d03():
    ok, cat = ask('verify', F('D03_no_code_point.bcolz'))[0], ask('cat', F('D03_no_code_point.bcolz'))[0]
    return 'right' if ok == cat else f'verify {ok}, cat {cat}'


def d04():
    victim, target = fresh('victim'), fresh('p.ds')
    partial = fresh('p.ds.partial')
    with open(victim, 'w') as f:
        f.write('mine')
    os.symlink(victim, partial)
    if ask('convert', F('DS0_sound.ds'), target)[0] or not os.path.isfile(target):
        return 'convert fails beside a link named TARGET.partial'
    if open(victim, 'rb').read(4) != b'mine':
        return 'a link named TARGET.partial is followed, its file overwritten'
    fresh('p.ds.partial')
    target = fresh('q.ds')
    shutil.copy(F('DS0_sound.ds'), target)
    os.chmod(target, 0o600)
    if ask('convert', '--force', '--compress', 'zlib', F('DS0_sound.ds'), target)[0]:
        return 'convert --force does not replace a file'
    if open(target, 'rb').read() == open(F('DS0_sound.ds'), 'rb').read():
        return 'convert --force writes nothing'
    mode = stat.S_IMODE(os.stat(target).st_mode)
    return 'right' if mode == 0o600 else f'mode 600 of the target becomes {mode:o}'


def d13():
    text = ''
    for verb in (
        ['info', '--no-index', F('D13_control_characters.ds')],
        ['info', '-v', F('D13_attributes.bcolz')],
    ):
        status, out, err = ask(*verb)
        if status:
            return f'{verb[0]} fails: {err.decode(errors="replace").strip()[-120:]}'
        text += (out + err).decode(errors='replace')
    if any(x not in text for x in ('t\\u{9b}31m', '\\u{1b}]0;owned')):
        return 'a name or an attribute is not printed, or without its escapes'
    return 'right' if not re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f]', text) else 'info prints control characters'


def reads(name):
    for verb in ('verify', 'dump', 'cat'):
        status, _, err = ask(verb, F(name))
        if status != 0:
            return f'{verb} refuses a valid file, or takes too long: {err.decode(errors="replace").strip()[-120:]}'
    return 'right'


def v06():
    f = F('V06_no_rows_old_statistics.vortex')
    s = {v[0]: ask(*v, f)[0] for v in (['verify'], ['dump'], ['head'], ['cat'])}
    return 'right' if len(set(s.values())) == 1 else f'the verbs disagree: {s}'


def recovers(name, *more):
    status, _, err = ask('recover', *more, F(name), fresh('r.ds'))
    if status:
        return err.decode(errors='replace').strip()[-120:]
    return 'right' if ask('cat', S('r.ds'))[:2] == ask('cat', F('DS0_sound.ds'))[:2] else 'rows are lost'


def f01(name):
    status, _, _ = ask('convert', '--type', 'long', '--format-out', 'filo', F(name), fresh('o.filo'))
    if status:
        return 'convert fails'
    shape = ask('info', '-v', '--type', 'long', S('o.filo'))[1].decode(errors='replace')
    encoding = re.search(r'^encoding +(\w+)', shape, re.M)
    if not encoding:
        return 'info -v names no encoding'
    return 'right' if encoding[1] != 'DeltaDelta' else 'written as DeltaDelta, which the original reads otherwise'


def j01():
    if not a.golden:
        return None
    source = os.path.join(a.golden, 'filo/simple_long_extremes.filo')
    status, _, err = ask('convert', '--type', 'long', source, fresh('x.jay'))
    if status == 0 or b'--sentinels' not in err:
        return f'the message names no option: {err.decode().strip()[-60:]}'
    status, _, err = ask('convert', '--type', 'long', '--sentinels', 'missing', source, fresh('x.jay'))
    return 'right' if status == 0 else f'refused with the option: {err.decode().strip()[-60:]}'


d08 = a.golden and os.path.join(a.golden, 'vortex/def_nested_a.vortex')
TYPES = ('--types', F('DS0_sound.ds'), '--order', 'little')
D1 = S('D01.bcolz')
shutil.rmtree(S('d01.bcolz'), ignore_errors=True)
shutil.copytree(F('D01_endless.bcolz'), D1, dirs_exist_ok=True)
os.makedirs(os.path.join(D1, 'data'), exist_ok=True)
CHECKS = {
    'D01': lambda: bounded(
        ['verify', D1], ['info', D1], ['head', '--tolerant', D1], ['recover', '--tolerant', D1, S('d01.bcolz')]
    ),
    'D02': lambda: replay('vortex', F('D02_row_alone_fails.vortex'), 'x.vortex'),
    'D03': d03,
    'D04': d04,
    'D05': lambda: bounded(['verify', F('D05_rows_claimed.vortex')], ['info', F('D05_rows_claimed.vortex')]),
    'D06': lambda: replay('jay', F('D06_tolerant_batch_dependent.jay'), 'x.jay'),
    'D07': lambda: bounded(['recover', F('D07_unpacks_to_13_GB.ds'), fresh('d07.ds')]),
    'D08': lambda: replay('vortex', d08, 'y.vortex') if d08 else None,
    'D09': lambda: replay('jay', F('D09_get_is_an_error.jay'), 'y.jay'),
    'D10 jay': lambda: replay('jay', F('D10_batch_is_an_error.jay'), 'z.jay'),
    'D10 ds': lambda: replay('ds', F('D10_batch_is_an_error.ds'), 'z.ds'),
    'D10 filo': lambda: replay('filo', F('D10_batch_is_an_error.filo'), 'z.filo', 'string'),
    'D13': d13,
    'V05': lambda: reads('V05_shuffled_views_compact.vortex'),
    'V05 random': lambda: reads('V05_random_1018_compact.vortex'),
    'V06': v06,
    'DS1': lambda: recovers('DS1_magic_changed.ds', *TYPES),
    'DS1 format': lambda: recovers('DS1_magic_changed.ds', '--format', 'dataseries', *TYPES),
    'DS2': lambda: recovers('DS2_header_changed.ds'),
    'F01 us': lambda: f01('F01_microseconds.filo'),
    'F01 ns': lambda: f01('F01_nanoseconds.filo'),
    'J01': j01,
}
wrong = skipped = right = 0
for name, check in CHECKS.items():
    if a.ids and name.split()[0] not in a.ids:
        continue
    outcome = check()
    skipped, right, wrong = (
        skipped + (outcome is None),
        right + (outcome == 'right'),
        wrong + (outcome not in (None, 'right')),
    )
    print(f'{name:10} {"skipped" if outcome is None else outcome}', flush=True)
peer.finish('regressions', wrong, f'{right} right, {wrong} wrong, {skipped} skipped')
