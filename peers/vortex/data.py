"""Data sets for sizes and speed, always the same: five (4 M rows), taxi, lineitem, orders, logs, clicks, sensors. For make.py."""

import numpy as np
import pyarrow as pa


def dec(a, p, s):
    # unscaled int64 -> decimal128(p,s)
    a = a.astype(np.int64)
    b = np.empty((len(a), 2), np.int64)
    b[:, 0] = a
    b[:, 1] = a >> 63
    return pa.Array.from_buffers(pa.decimal128(p, s), len(a), [None, pa.py_buffer(b)])


def strs(u, idx):
    return pa.array(np.array(u, dtype=object)).cast(pa.string()).take(pa.array(idx))


def five(N=4_000_000, seed=42):
    rng = np.random.default_rng(seed)
    names = np.array([f"sensor-{i:04}-building" for i in range(1000)])
    return pa.table(
        {
            "ts": 1_700_000_000_000 + np.cumsum(rng.integers(200, 300, N)),
            "price": rng.integers(0, 1_000_000, N) / 100,
            "temp": np.round(rng.normal(20, 5, N), 1),
            "sensor": pa.array(names[rng.integers(0, 1000, N)]),
            "path": pa.array(
                [
                    f"GET /api/v1/items/{a}/detail?user={b}"
                    for a, b in zip(rng.integers(0, 1_000_000, N), rng.integers(0, 100_000, N))
                ]
            ),
        }
    )


def taxi(N=1_000_000, seed=1):
    g = np.random.default_rng(seed)
    start = (
        np.sort(1_704_067_200_000_000 + g.integers(0, 31 * 86400, N) * 1_000_000)
        + g.integers(-3000, 3000, N) * 1_000_000
    )
    dur = (g.gamma(2, 450, N)).astype(np.int64) * 1_000_000
    dist = np.round(g.gamma(1.5, 2, N), 2)
    fare = np.round((3 + 2.5 * dist + g.normal(0, 1, N)) * 10) / 10
    zone = np.minimum(265, g.zipf(1.3, N) % 265 + 1).astype(np.int32)
    tip = np.where(g.random(N) < 0.7, np.round(fare * g.choice([0.15, 0.2, 0.25, 0.3], N), 2), 0.0)
    nul = g.random(N) < 0.05
    return pa.table(
        {
            "VendorID": pa.array(g.choice([1, 2, 6], N, p=[0.25, 0.74, 0.01]).astype(np.int32)),
            "tpep_pickup_datetime": pa.array(start).cast(pa.timestamp('us')),
            "tpep_dropoff_datetime": pa.array(start + dur).cast(pa.timestamp('us')),
            "passenger_count": pa.array(g.choice([1, 1, 1, 2, 3, 4, 5, 6, 0], N).astype(np.int64), mask=nul),
            "trip_distance": dist,
            "RatecodeID": pa.array(g.choice([1, 1, 1, 1, 1, 1, 2, 3, 5, 99], N).astype(np.int64), mask=nul),
            "store_and_fwd_flag": pa.array(np.where(g.random(N) < 0.004, "Y", "N"), mask=nul),
            "PULocationID": zone,
            "DOLocationID": g.permutation(zone),
            "payment_type": g.choice([1, 1, 1, 1, 2, 3, 4, 0], N).astype(np.int64),
            "fare_amount": fare,
            "extra": g.choice([0, 0.5, 1, 2.5, 3.5, 5.0], N),
            "mta_tax": np.where(g.random(N) < 0.99, 0.5, 0),
            "tip_amount": tip,
            "tolls_amount": np.where(g.random(N) < 0.06, 6.94, 0.0),
            "improvement_surcharge": np.where(g.random(N) < 0.995, 1.0, -1.0),
            "total_amount": np.round(fare + tip + 1.5 + 2.5, 2),
            "congestion_surcharge": pa.array(np.where(g.random(N) < 0.9, 2.5, 0.0), mask=nul),
            "Airport_fee": pa.array(np.where(g.random(N) < 0.08, 1.75, 0.0), mask=nul),
        }
    )


W = "furiously quickly carefully slyly blithely final ironic regular special express bold pending silent even accounts deposits packages requests theodolites instructions foxes pinto beans sleep wake haggle nag are boost cajole use above the along according to".split()


def text(g, n, lo, hi):
    k = g.integers(lo, hi, n)
    w = np.array(W)[g.integers(0, len(W), int(k.sum()))]
    o = np.concatenate([[0], np.cumsum(k)])
    return pa.array([' '.join(w[o[i] : o[i + 1]]) for i in range(n)])


def lineitem(N=1_000_000, seed=2):
    g = np.random.default_rng(seed)
    ok = np.repeat(np.arange(1, N), g.integers(1, 8, N - 1))[:N]
    ok = (ok // 8) * 32 + ok % 8
    first = np.concatenate([[True], ok[1:] != ok[:-1]])
    st = np.maximum.accumulate(np.where(first, np.arange(N), 0))
    ship = 8036 + g.integers(0, 2526, N).astype(np.int32)
    q = g.integers(1, 51, N)
    pk = g.integers(1, 200001, N)
    pick = lambda u: strs(u, g.integers(0, len(u), N))
    return pa.table(
        {
            "l_orderkey": ok.astype(np.int64),
            "l_partkey": pk.astype(np.int64),
            "l_suppkey": g.integers(1, 10001, N).astype(np.int64),
            "l_linenumber": (np.arange(N) - st + 1).astype(np.int32),
            "l_quantity": dec(q * 100, 15, 2),
            "l_extendedprice": dec(q * (90000 + (pk // 10) % 20001 + 100 * (pk % 1000)), 15, 2),
            "l_discount": dec(g.integers(0, 11, N), 15, 2),
            "l_tax": dec(g.integers(0, 9, N), 15, 2),
            "l_returnflag": pick(["A", "N", "R"]),
            "l_linestatus": pick(["O", "F"]),
            "l_shipdate": pa.array(ship).cast(pa.date32()),
            "l_commitdate": pa.array(ship + g.integers(-60, 60, N).astype(np.int32)).cast(pa.date32()),
            "l_receiptdate": pa.array(ship + g.integers(1, 31, N).astype(np.int32)).cast(pa.date32()),
            "l_shipinstruct": pick(["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]),
            "l_shipmode": pick(["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]),
            "l_comment": text(g, N, 2, 8),
        }
    )


def orders(N=400_000, seed=3):
    g = np.random.default_rng(seed)
    pick = lambda u, p=None: strs(u, g.integers(0, len(u), N))
    return pa.table(
        {
            "o_orderkey": ((np.arange(1, N + 1) // 8) * 32 + np.arange(1, N + 1) % 8).astype(np.int64),
            "o_custkey": g.integers(1, 150001, N).astype(np.int64),
            "o_orderstatus": pick(["O", "F", "P"]),
            "o_totalprice": dec(g.integers(85700, 55000000, N), 15, 2),
            "o_orderdate": pa.array((8036 + g.integers(0, 2406, N)).astype(np.int32)).cast(pa.date32()),
            "o_orderpriority": pick(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]),
            "o_clerk": pa.array([f"Clerk#{i:09}" for i in g.integers(1, 1001, N)]),
            "o_shippriority": np.zeros(N, np.int32),
            "o_comment": text(g, N, 4, 14),
        }
    )


def logs(N=500_000, seed=4):
    g = np.random.default_rng(seed)
    t = 1_700_000_000_000_000 + np.cumsum(g.integers(10, 20000, N))
    lv = ["INFO"] * 90 + ["WARN"] * 7 + ["ERROR"] * 3
    sv = [f"svc-{x}" for x in "auth cart pay search feed img".split()]
    ips = [f"10.{a}.{b}.{c}" for a, b, c in g.integers(0, 256, (5000, 3))]
    z = np.minimum(4999, g.zipf(1.2, N) % 5000)
    i1 = g.integers(0, 100, N)
    i2 = g.integers(0, 6, N)
    return pa.table(
        {
            "time": pa.array(t).cast(pa.timestamp('us', 'UTC')),
            "level": strs(lv, i1),
            "service": strs(sv, i2),
            "ip": strs(ips, z),
            "latency_us": pa.array((g.lognormal(8, 1, N)).astype(np.int64)),
            "status": g.choice([200, 200, 200, 200, 304, 404, 500], N).astype(np.uint16),
            "trace": pa.array([g.bytes(16).hex() for _ in range(N)]),
            "line": pa.array(
                [
                    f"{lv[a]} {sv[b]}: request id={r} path=/v1/{p}/items took {l}us"
                    for a, b, r, p, l in zip(
                        i1,
                        i2,
                        g.integers(0, 10**9, N),
                        g.choice(["user", "order", "cart"], N),
                        g.integers(10, 99999, N),
                    )
                ]
            ),
        }
    )


def clicks(N=500_000, seed=5):
    g = np.random.default_rng(seed)
    u = np.minimum(g.zipf(1.1, N), 10**6).astype(np.uint64)
    urls = [
        f"https://example.com/{a}/{b}?ref={c}"
        for a, b, c in zip(
            g.choice(["shop", "blog", "help"], 30000), g.integers(0, 10**6, 30000), g.integers(0, 50, 30000)
        )
    ]
    zi = g.zipf(1.15, N) % 30000
    sess = np.repeat(g.integers(0, 2**63, N // 5 + 1), 5)[:N]
    nt = g.integers(0, 4, N)
    tags = strs([f"tag{i}" for i in range(50)], g.integers(0, 50, int(nt.sum())))
    return pa.table(
        {
            "user_id": u * 2654435761 % (2**40),
            "session": sess,
            "event_time": pa.array(1_700_000_000 + np.sort(g.integers(0, 86400 * 7, N))).cast(pa.timestamp('s')),
            "url": strs(urls, zi),
            "referer": pa.array([None if x < 0.6 else urls[int(x * 29999)] for x in g.random(N)], pa.string()),
            "is_mobile": g.random(N) < 0.6,
            "country": strs("US DE FR JP BR IN GB CA".split(), np.minimum(7, g.zipf(1.5, N) % 8)),
            "tags": pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(nt)]).astype(np.int32)), tags),
            "geo": pa.StructArray.from_arrays(
                [pa.array(np.round(g.normal(48, 5, N), 5)), pa.array(np.round(g.normal(8, 9, N), 5))], ["lat", "lon"]
            ),
        }
    )


def sensors(N=1_000_000, seed=6):
    g = np.random.default_rng(seed)
    dev = np.arange(N) % 200
    return pa.table(
        {
            "ts": pa.array(1_700_000_000_000 + (np.arange(N) // 200) * 1000 + g.integers(0, 5, N)).cast(
                pa.timestamp('ms')
            ),
            "device": dev.astype(np.uint16),
            "temp": (20 + np.cumsum(g.normal(0, 0.01, N))).astype(np.float32),
            "temp_r": np.round(20 + np.cumsum(g.normal(0, 0.01, N)), 2),
            "accel_x": g.normal(0, 9.81, N),
            "accel_y": g.normal(0, 1, N).astype(np.float32),
            "pressure": np.round(1013 + g.normal(0, 2, N), 2),
            "battery": np.round(100 - np.arange(N) / N * 30, 0),
            "counter": np.arange(N, dtype=np.int64),
            "half": g.normal(0, 1, N).astype(np.float16),
            "err": pa.array(np.where(g.random(N) < 0.001, g.integers(1, 9, N), 0).astype(np.int16)),
            "humid": pa.array(np.round(g.uniform(20, 90, N), 1), mask=g.random(N) < 0.1),
        }
    )


SETS = dict(five=five, taxi=taxi, lineitem=lineitem, orders=orders, logs=logs, clicks=clicks, sensors=sensors)
