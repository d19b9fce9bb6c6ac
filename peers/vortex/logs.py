"""Logs that the program vortex_log wrote row by row, cut at their first and later checkpoints, and opened by the original, of
any release from 0.36 on: every value has to be equal.

  logs.py SCRATCH --programs FOLDER [--count 40] [--seed 1]"""

import glob
import importlib.metadata
import json
import os
import struct
import sys

import pyarrow as pa
import vortex as vx

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peer


def values(column, bits, is_float):
    """The values of an Arrow column as in the JSON file: bits of numbers, texts."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if not bits:
        found = column.to_pylist()
        as_text = lambda v: v.decode() if isinstance(v, bytes) else int(v) if isinstance(v, bool) else v
        return [as_text(v) for v in found]
    if is_float:
        form, bits_form = ('<f', '<I') if bits == 32 else ('<d', '<Q')
        # By the buffer, so that the bits of a NaN stay.
        data, valid = column.buffers()[1], column.is_valid().to_pylist()
        size, at = bits // 8, column.offset
        return [
            struct.unpack_from(bits_form, data, (at + i) * size)[0] if there else None for i, there in enumerate(valid)
        ]
    signed = not pa.types.is_unsigned_integer(column.type)
    stored = column.view({8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]) if signed else column
    return [None if v is None else v & (1 << bits) - 1 for v in stored.to_pylist()]


def main(a):
    for old in glob.glob(f'{a.scratch}/*.vortex') + glob.glob(f'{a.scratch}/*.json'):
        os.remove(old)
    status, _, errors = peer.run(f'{a.programs}/vortex_log', a.scratch, a.seed, a.count)
    if status:
        peer.finish('vortex logs', True, errors.decode(errors='replace')[-300:])
    version = importlib.metadata.version('vortex-data')
    has_zones = int(version.split('.')[1]) >= 50
    files = wrong = skipped = 0
    for seed in range(a.seed, a.seed + a.count):
        with open(f'{a.scratch}/{seed}.json') as f:
            told = json.load(f)
        with open(f'{a.scratch}/{seed}.vortex', 'rb') as f:
            log = f.read()
        # 0.36 does not convert them to Arrow.
        if not has_zones and any(ty.startswith('Timestamp') and ty[-3:] != '"")' for _, _, ty in told['types']):
            skipped += 1
            continue
        for end, rows in told['ends']:
            path = f'{a.scratch}/cut.vortex'
            with open(path, 'wb') as f:
                f.write(log[:end])
            files += 1
            try:
                got = vx.open(path).to_arrow().read_all()
                why = [] if got.num_rows == rows else [f'{got.num_rows} rows of {rows}']
                for name, (bits, is_float, ty), want in zip(told['names'], told['types'], told['columns']):
                    have = values(got[name], bits, is_float)
                    if have != want[:rows]:
                        at = next((i for i, (x, y) in enumerate(zip(have, want)) if x != y), 0)
                        why.append(f'{name} {ty} row {at}: {have[at : at + 3]}, not {want[at : at + 3]}')
            except BaseException as e:
                why = f'{type(e).__name__} {str(e)[:300]} types {[ty for _, _, ty in told["types"]]}'
            if why:
                wrong += 1
                print('FAIL', seed, 'cut at', end, why, flush=True)
    peer.finish('vortex logs', wrong or not files, f'vortex-data {version}: {files} files of {a.count} logs, {wrong} wrong, {skipped} logs with time zones skipped')


if __name__ == '__main__':
    p = peer.arguments(__doc__, count=40, pilaster=False)
    p.add_argument('--programs', required=True, help='folder of the programs of peers/Cargo.toml')
    main(peer.parse(p))
