"""Queries of DuckDB and Polars over the files that pilaster wrote, compared with answers that Python computes from the values that
pyarrow reads: rows and missing values, sums, minimum and maximum, distinct values, groups with their counts, rows within a range,
the first and the last values in order. Each kind of query runs on up to PER_KIND columns that it fits."""

import collections
import math
import re

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.ipc

PER_KIND = 3
TOP = 5
# The types that Polars refuses in both files: an error is wrong if a table has none of them.
POLARS_LACKS = re.compile(r'decimal256\(|fixed_size_(list|binary).*\[0\]')
# DuckDB takes none of these types from Arrow in memory.
DUCKDB_LACKS = re.compile('view|decimal256|halffloat|map')
MICROS = {'s': 10**6, 'ms': 1000, 'us': 1}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def kind_of(t):
    """The kind of queries that fit a type, or None."""
    if pa.types.is_integer(t):
        return 'integer'
    if pa.types.is_floating(t):
        return 'float'
    if str(t) in ('string', 'large_string', 'string_view'):
        return 'text'
    if pa.types.is_boolean(t):
        return 'boolean'
    return 'time' if pa.types.is_date32(t) or pa.types.is_timestamp(t) else None


def ordered(values, kind):
    """Values that are present, ascending. Both engines compare texts by their bytes."""
    return sorted((v for v in values if v is not None), key=(lambda v: v.encode()) if kind == 'text' else None)


def answers(values, kind, t):
    """The expected answers of all queries of a kind. Those of time are integers of the unit."""
    present = ordered(values, kind) if kind != 'float' else [v for v in values if v is not None]
    found = {'missing': len(values) - len(present)}
    if kind == 'float':
        return found | {'sum': total(present)}
    if kind in ('integer', 'text', 'boolean'):
        found |= {'groups': dict(collections.Counter(values)), 'distinct': len(set(present))}
    if kind in ('integer', 'text'):
        found |= {'first': present[:TOP], 'last': present[::-1][:TOP]}
    if kind == 'integer':
        found |= {'sum': sum(present) if present else None}
    if kind in ('integer', 'time') and bounds(present, t):
        low, high = bounds(present, t)
        found['within'] = sum(low <= v < high for v in present)
    return found


def bounds(present, t):
    """A range from the first quarter of the values to the third, exclusive, or None. DuckDB takes the extremes of times for infinity."""
    if pa.types.is_date32(t):
        present = [v for v in present if abs(v) < 2**30]
    elif pa.types.is_timestamp(t):
        present = [v for v in present if abs(v) * MICROS.get(t.unit, 1) < 2**62]
    return (present[len(present) // 4], present[len(present) * 3 // 4]) if present else None


def total(present):
    """The sum of floating-point numbers, and how far another order of additions may be from it. None: it depends on the order."""
    if not present:
        return None
    if any(math.isnan(v) for v in present):
        return math.nan, 0.0
    absolute = sum(abs(v) for v in present if math.isfinite(v))
    infinite = {v for v in present if math.isinf(v)}
    if not math.isfinite(absolute):
        return None
    if infinite:
        return (infinite.pop() if len(infinite) == 1 else math.nan), 0.0
    return math.fsum(present), absolute * 1e-12


def same(found, expected):
    """Whether two answers are equal, sums of floats within their tolerance."""
    if not isinstance(expected, tuple):
        return found == expected
    value, tolerance = expected
    return found == value or (math.isnan(value) and math.isnan(found)) or abs(found - value) <= tolerance


def duckdb_literal(value, t):
    if pa.types.is_integer(t):
        return str(value)
    if pa.types.is_date32(t):
        return f"(date '1970-01-01' + ({value})::integer)"
    if t.unit == 'ns' and t.tz is None:
        return f'make_timestamp_ns({value})'
    micros = value // 1000 if t.unit == 'ns' else value * MICROS[t.unit]
    return f'make_timestamp{"" if t.tz is None else "tz"}({micros})'


def ask_duckdb(one, source, name, t, expected, present):
    """The answers of DuckDB to the queries of `expected`."""
    q, kind = quoted(name), kind_of(t)
    found = {}
    for what in expected:
        if what == 'missing':
            found[what] = one(f'select count(*) - count({q}) from {source}')[0][0]
        elif what == 'sum':
            found[what] = one(f'select sum({q}{"::double" if kind == "float" else ""}) from {source}')[0][0]
        elif what == 'distinct':
            found[what] = one(f'select count(distinct {q}) from {source}')[0][0]
        elif what == 'groups':
            found[what] = dict(one(f'select {q}, count(*) from {source} group by {q}'))
        elif what in ('first', 'last'):
            direction = 'asc' if what == 'first' else 'desc'
            rows = one(f'select {q} from {source} where {q} is not null order by {q} {direction} limit {TOP}')
            found[what] = [row[0] for row in rows]
        else:
            low, high = (duckdb_literal(v, t) for v in bounds(present, t))
            found[what] = one(f'select count(*) from {source} where {q} >= {low} and {q} < {high}')[0][0]
    return found


def polars_literal(value, t, dtype):
    """Polars has no seconds, and reads them as milliseconds."""
    if pa.types.is_integer(t):
        return pl.lit(value, dtype)
    if pa.types.is_date32(t):
        return pl.lit(value, pl.Int32).cast(dtype)
    return pl.lit(value * (1000 if t.unit == 's' else 1), pl.Int64).cast(dtype)


def ask_polars(scan, name, t, expected, present):
    """The answers of Polars. It reads the file for each query, so that it uses its statistics."""
    c, kind = pl.col(name), kind_of(t)
    rows = scan.select(c)
    found = {}
    for what in expected:
        if what == 'missing':
            found[what] = rows.select(c.null_count()).collect().item()
        elif what == 'sum':
            wide = c.cast(pl.Float64 if kind == 'float' else pl.Int128)
            found[what] = rows.select(wide.sum()).collect().item() if present else None
        elif what == 'distinct':
            found[what] = rows.select(c.drop_nulls().n_unique()).collect().item()
        elif what == 'groups':
            found[what] = dict(rows.group_by(name).agg(pl.len().alias('number of rows')).collect().rows())
        elif what in ('first', 'last'):
            found[what] = rows.drop_nulls().sort(name, descending=what == 'last').head(TOP).collect()[name].to_list()
        else:
            low, high = (polars_literal(v, t, scan.collect_schema()[name]) for v in bounds(present, t))
            found[what] = rows.filter((c >= low) & (c < high)).select(pl.len()).collect().item()
    return found


def plain(column, kind):
    """The values of a column in Python; times as integers of their unit."""
    if kind != 'time':
        return column.to_pylist()
    return column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64()).to_pylist()


def chosen(table):
    """Up to PER_KIND columns of each kind: name and kind."""
    kinds = collections.defaultdict(list)
    for field in table.schema:
        kinds[kind_of(field.type)].append(field.name)
    return [(name, kind) for kind, names in kinds.items() if kind for name in names[:PER_KIND]]


def sources(made, arrow, counts):
    """For each engine and file: its name, the table that pyarrow reads from that file, and a function that answers."""
    one = lambda query: duckdb.execute(query).fetchall()  # noqa: E731
    parquet = f"""'{str(made["parquet"]).replace("'", "''")}'"""
    yield 'duckdb parquet', 'parquet', lambda *asked: ask_duckdb(one, parquet, *asked)
    if not any(DUCKDB_LACKS.search(str(f.type)) for f in arrow.schema):
        duckdb.register('arrow_table', arrow)
        yield 'duckdb arrow', 'arrow', lambda *asked: ask_duckdb(one, 'arrow_table', *asked)
    else:
        counts['duckdb arrow: has no such type'] += 1
    for kind, read, scan in (('parquet', pl.read_parquet, pl.scan_parquet), ('arrow', pl.read_ipc, pl.scan_ipc)):
        engine, path = f'polars {kind}', made[kind]

        def ask(*asked, path=path, scan=scan):
            return ask_polars(scan(path), *asked)

        yield engine, kind, ask
        # All columns, also those that no query reads.
        yield engine, None, lambda path=path, read=read: read(path).height


def engines(made, table, counts):
    """Runs all queries of both engines over the Parquet and the Arrow file. Yields what differs."""
    lower = [n.lower() for n in table.schema.names]
    # Both engines need rows, and columns with names that differ.
    if table.num_rows == 0 or not lower or len(set(lower)) < len(lower) or '' in lower:
        counts['tables without queries'] += 1
        return
    arrow = pa.ipc.open_file(made['arrow']).read_all()
    tables = {'parquet': table, 'arrow': arrow}
    for engine, kind, ask in sources(made, arrow, counts):
        # A panic of Polars is no Exception.
        try:
            if kind is None:
                height = ask()
                if height != table.num_rows:
                    yield f'{engine}: {height} rows, not {table.num_rows}'
                continue
            yield from compare(engine, tables[kind], ask, counts)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            if engine.startswith('polars') and any(POLARS_LACKS.search(str(f.type)) for f in arrow.schema):
                counts[f'{engine}: has no such type'] += 1
                continue
            yield f'{engine}: {type(e).__name__}: {str(e)[:200]}'


def compare(engine, table, ask, counts):
    for name, kind in chosen(table):
        column = table.column(name)
        values = plain(column, kind)
        expected = answers(values, kind, column.type)
        if kind == 'float' and expected['sum'] is None:
            # It depends on the order of the additions.
            del expected['sum']
        present = ordered(values, kind) if kind != 'float' else [v for v in values if v is not None]
        found = ask(name, column.type, expected, present)
        counts['queries'] += len(expected)
        for what, answer in expected.items():
            if not same(found[what], answer):
                yield f'{engine}: {what} of {name} ({column.type}): {str(found[what])[:100]}, not {str(answer)[:100]}'
