"""Dates and times: numbers of Arrow to and from `datetime`."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ._error import Error

_EPOCH = dt.datetime(1970, 1, 1)
_FIRST_DAY = _EPOCH.toordinal()


def date(days: int, _ticks: int, _zone: None) -> dt.date:
    """Returns a date."""
    return dt.date.fromordinal(days + _FIRST_DAY)


def time(count: int, ticks: int, _zone: None) -> dt.time:
    """Returns a time of day of whole microseconds."""
    return timestamp(count, ticks, None).time()


def timestamp(count: int, ticks: int, zone: dt.tzinfo | None) -> dt.datetime:
    """Returns a time of whole microseconds."""
    naive = _EPOCH + dt.timedelta(microseconds=count * 1_000_000 // ticks)
    return naive if zone is None else naive.replace(tzinfo=dt.timezone.utc).astimezone(zone)


def zone(name: str) -> dt.tzinfo:
    """Returns a zone of time with a name of the IANA, or an offset such as ``+01:00``."""
    try:
        if name[:1] in ("+", "-"):
            sign = -1 if name[0] == "-" else 1
            hours, _, minutes = name[1:].partition(":")
            return dt.timezone(sign * dt.timedelta(hours=int(hours), minutes=int(minutes or 0)))
        import zoneinfo

        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        text = f"Python knows no time zone {name!r}; to_polars and to_arrow need none, and the package tzdata has the usual ones"
        raise Error(text, "Unsupported") from None


def micros(value: dt.datetime) -> int:
    """Returns microseconds since 1970; with an offset, in UTC."""
    count = _micros(value)
    if getattr(value, "nanosecond", 0):
        raise ValueError(f"{value} has nanoseconds, for which an array of datetime64[ns] has room")
    return count


def nanos(value: dt.datetime) -> int:
    """Returns nanoseconds since 1970, which those of pandas have; with an offset, in UTC."""
    return _micros(value) * 1000 + getattr(value, "nanosecond", 0)


def _micros(value: dt.datetime) -> int:
    if value != value:
        raise ValueError(f"{value} is no time; None is a missing one")
    if value.tzinfo is not None:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return (value - _EPOCH) // dt.timedelta(microseconds=1)


def days(value: dt.date) -> int:
    """Returns days since 1970."""
    return value.toordinal() - _FIRST_DAY


def of_day(value: dt.time) -> int:
    """Returns microseconds since midnight."""
    if value.tzinfo is not None:
        raise TypeError(f"{value} has a time zone, for which no column has room")
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def span(value: dt.timedelta) -> int:
    """Returns microseconds."""
    if getattr(value, "nanoseconds", 0):
        raise ValueError(f"{value} has nanoseconds, for which an array of timedelta64[ns] has room")
    return value // dt.timedelta(microseconds=1)


_MINUTE = 60_000_000_000
_DAY = 1440 * _MINUTE
_NANOS = {"W": 7 * _DAY, "D": _DAY, "h": 60 * _MINUTE, "m": _MINUTE, "s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def datetime64(value: Any) -> tuple[bool, int]:
    """Returns whether a scalar of numpy is a date, and its days or else nanoseconds since 1970."""
    import numpy as np

    if np.isnat(value):
        raise ValueError("NaT is no time; None is a missing one")
    unit, step = np.datetime_data(value.dtype)
    if unit in ("Y", "M"):
        value, unit, step = value.astype("M8[D]"), "D", 1
    count = int(value.astype("i8")) * step
    if unit not in _NANOS:
        count, rest = divmod(count, {"ps": 1_000, "fs": 1_000_000, "as": 1_000_000_000}[unit])
        if rest:
            raise ValueError(f"{value} has more digits than nanoseconds")
        unit = "ns"
    is_date = unit in ("W", "D")
    return is_date, count * _NANOS[unit] // (_DAY if is_date else 1)


def plain(value: Any) -> Any:
    """Returns a scalar of numpy as a value of Python."""
    if value.dtype.kind == "M":
        is_date, count = datetime64(value)
        if is_date:
            return date(count, 1, None)
        if count % 1000:
            raise ValueError(f"{value} has nanoseconds, for which an array of datetime64[ns] has room")
        return timestamp(count, 1_000_000_000, None)
    if value.dtype.kind == "m":
        return _plain_span(value)
    return value.item()


def _plain_span(value: Any) -> dt.timedelta:
    import numpy as np

    if np.isnat(value):
        raise ValueError("NaT is no duration; None is a missing one")
    micros = value.astype("m8[us]")
    if micros != value:
        raise ValueError(f"{value!r} has nanoseconds, for which an array of timedelta64[ns] has room")
    return dt.timedelta(microseconds=int(micros.astype("i8")))


def decimals(values: "Sequence[Decimal | None]") -> "tuple[int, int, list[int | None]]":
    """Returns the precision and the scale of decimals, and their digits as integers."""
    scale, parts = 0, []
    for row, value in enumerate(values):
        sign, digits, exponent = (0, (), 0) if value is None else value.as_tuple()
        if not isinstance(exponent, int):
            raise ValueError(f"row {row} is {value}, which no decimal column holds")
        if exponent < -38 or len(digits) + exponent > 38:
            raise ValueError(f"row {row} is {value}; decimals have at most 38 digits")
        scale = max(scale, -exponent)
        parts.append((-1 if sign else 1, int("".join(map(str, digits)) or "0"), exponent))
    made = [None if value is None else s * n * 10 ** (e + scale) for value, (s, n, e) in zip(values, parts)]
    precision = max([scale, 1, *(len(str(abs(number))) for number in made if number is not None)])
    if precision > 38:
        raise ValueError(f"the decimals have {precision} digits together; a column has at most 38")
    return precision, scale, made
