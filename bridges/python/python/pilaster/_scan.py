"""Files as lazy frames of polars."""

import datetime as dt
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ._pilaster import open

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ._pilaster import _Rows, _Source, _Where


class _Options(TypedDict, total=False):
    """The options of `open`, without those that a scan has itself."""

    table: "str | None"
    columns: "str | Sequence[str] | None"
    rows: "_Rows | None"
    where: "_Where | None"
    type: "str | None"
    format: "str | None"
    tolerant: bool
    sequential: bool
    mmap: bool
    dictionaries: bool
    batch_rows: "int | None"
    threads: "int | None"


_OPERATORS = {"Eq": "==", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_TURNED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TICKS = {"Milliseconds": 1_000, "Microseconds": 1, "Nanoseconds": 0}


def scan(source: "_Source", *, trust_statistics: bool = False, **options: Unpack[_Options]) -> "pl.LazyFrame":
    """Returns a polars ``LazyFrame`` that reads only the columns and rows that the query takes.

    Columns, limits and conditions of the query reach the file. Of Vortex and Jay files, zones of rows that cannot meet a condition
    are not read, if ``trust_statistics``: they are found by the minima and maxima that the file states, which nothing checks.
    Without it the result is the same for every file, and all zones are read. Other options are those of :func:`pilaster.open`.

    >>> import pilaster, polars as pl
    >>> lazy = pilaster.scan("examples/data/keyed_1.jay")
    >>> lazy.filter(pl.col("k") > 900).select(pl.len()).collect().item()
    3
    """
    from polars.io.plugins import register_io_source

    file = open(source, **options)
    trusting = open(source, trust_statistics=True, **options) if trust_statistics else None
    schema = file.select(rows=0).to_polars().schema

    def frames(
        with_columns: "list[str] | None", predicate: "pl.Expr | None", n_rows: int | None, _batch_size: int | None
    ) -> "Iterator[pl.DataFrame]":
        import polars as pl

        chosen, needed = file, with_columns
        if predicate is not None:
            if with_columns is not None:
                # The columns of the condition are read as well, and dropped after it.
                needed = list(dict.fromkeys([*with_columns, *predicate.meta.root_names()]))
            if trusting is not None:
                chosen = trusting.select(where=_conditions(predicate, schema))
        elif n_rows is not None and not options.get("where"):
            chosen = chosen.select(rows=n_rows)
        if needed is not None:
            chosen = chosen.select(needed)
        left = n_rows
        for batch in chosen.batches():
            frame = pl.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
                if with_columns is not None:
                    frame = frame.select(with_columns)
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            yield frame
            if left == 0:
                return

    try:
        return register_io_source(frames, schema=schema, explain_name="pilaster")
    except TypeError:
        # Before polars 2.
        return register_io_source(frames, schema=schema)


def _conditions(predicate: "pl.Expr", schema: Any) -> "list[tuple[str, str, Any]]":
    """Returns conditions that all rows of the result meet. Parts of the predicate that are not understood are left out."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except Exception:  # The notation is that of one release of polars.
        return []
    found: list[tuple[str, str, Any]] = []
    _collect(tree, schema, found)
    return found


def _collect(tree: Any, schema: Any, found: "list[tuple[str, str, Any]]") -> None:
    match tree:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            _collect(left, schema, found)
            _collect(right, schema, found)
        case {"BinaryExpr": {"left": {"Column": str(name)}, "op": str(op), "right": {"Literal": literal}}}:
            _compare(name, _OPERATORS.get(op), literal, schema, found)
        case {"BinaryExpr": {"left": {"Literal": literal}, "op": str(op), "right": {"Column": str(name)}}}:
            _compare(name, _TURNED.get(_OPERATORS.get(op, "")), literal, schema, found)
        case {
            "Function": {
                "input": [{"Column": str(name)}, {"Literal": low}, {"Literal": high}],
                "function": {"Boolean": {"IsBetween": {"closed": str(closed)}}},
            }
        }:
            _compare(name, ">=" if closed in ("Both", "Left") else ">", low, schema, found)
            _compare(name, "<=" if closed in ("Both", "Right") else "<", high, schema, found)
        case {"Function": {"input": [{"Column": str(name)}], "function": {"Boolean": "IsNull"}}}:
            found.append((name, "is", None))
        case _:
            pass


def _compare(name: str, op: str | None, literal: Any, schema: Any, found: "list[tuple[str, str, Any]]") -> None:
    value = _value(literal)
    dtype = schema.get(name)
    if op is None or value is None or dtype is None or dtype.is_float():
        # NaN, which zones leave out, is the largest float of polars.
        return
    if isinstance(value, bool):
        fits = dtype == "Boolean" or str(dtype) == "Boolean"
    elif isinstance(value, int):
        fits = dtype.is_integer()
    elif isinstance(value, str):
        fits = str(dtype) == "String"
    elif isinstance(value, dt.datetime):
        # Zones of time are left to polars.
        fits = str(dtype).startswith("Datetime") and getattr(dtype, "time_zone", None) is None
    else:
        fits = str(dtype) == "Date"
    if fits:
        found.append((name, op, value))


def _value(literal: Any) -> Any:
    match literal:
        case {"Dyn": {"Int": int(value)}}:
            return value
        case {"Scalar": {"String": str(value)}} | {"Dyn": {"Str": str(value)}}:
            return value
        case {"Scalar": {"Boolean": bool(value)}}:
            return value
        case {"Scalar": {"Date": int(days)}}:
            return dt.date(1970, 1, 1) + dt.timedelta(days=days) if abs(days) < 700_000 else None
        case {"Scalar": {"Datetime": [int(count), str(unit), None]}}:
            ticks = _TICKS.get(unit)
            micros, rest = divmod(count, 1000) if ticks == 0 else (count * (ticks or 0), 0)
            small = ticks is not None and rest == 0 and abs(micros) < 60_000_000_000_000_000
            return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros) if small else None
        case {"Scalar": dict()}:
            ((kind, number),) = literal["Scalar"].items()
            return number if str(kind).removeprefix("U").startswith("Int") and isinstance(number, int) else None
        case _:
            return None
