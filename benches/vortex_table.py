"""Writes the table that `cargo bench --bench vortex` scans, with the original (pip install vortex-data==0.90.0 pyarrow numpy), as it was for the original's own figure:

    python3 benches/vortex_table.py /tmp/table.vortex
    PILASTER_VORTEX_TABLE=/tmp/table.vortex cargo bench --bench vortex -- table
"""

import sys

import numpy as np
import pyarrow as pa
import vortex as vx

ROWS = 4_000_000
rng = np.random.default_rng(42)
names = np.array([f"sensor-{i:04}-building" for i in range(1000)])
table = pa.table({
    "ts": 1_700_000_000_000 + np.cumsum(rng.integers(200, 300, ROWS)),
    "price": rng.integers(0, 1_000_000, ROWS) / 100,
    "temp": np.round(rng.normal(20, 5, ROWS), 1),
    "sensor": pa.array(names[rng.integers(0, 1000, ROWS)]),
    "path": pa.array([
        f"GET /api/v1/items/{a}/detail?user={b}"
        for a, b in zip(rng.integers(0, 1_000_000, ROWS), rng.integers(0, 100_000, ROWS))
    ]),
})
vx.io.write(table, sys.argv[1])
