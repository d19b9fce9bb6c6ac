"""Dates and times: numbers of Arrow to and from `datetime`."""

import datetime as dt
from typing import Any

_EPOCH = dt.datetime(1970, 1, 1)
_FIRST_DAY = _EPOCH.toordinal()


def date(days: int, _ticks: int, _zone: str | None) -> Any:
    """Returns a date, or the number of days if `datetime` does not have the year."""
    try:
        return dt.date.fromordinal(days + _FIRST_DAY)
    except (ValueError, OverflowError):
        return days


def time(count: int, ticks: int, _zone: str | None) -> Any:
    """Returns a time of day, or the count if `datetime` does not have it: nanoseconds."""
    micros, rest = divmod(count * 1_000_000, ticks)
    if rest or not 0 <= micros < 86_400_000_000:
        return count
    return (_EPOCH + dt.timedelta(microseconds=micros)).time()


def timestamp(count: int, ticks: int, zone: str | None) -> Any:
    """Returns a time, or the count if `datetime` does not have it: nanoseconds, or a year after 9999."""
    micros, rest = divmod(count * 1_000_000, ticks)
    if rest:
        return count
    try:
        naive = _EPOCH + dt.timedelta(microseconds=micros)
        return naive if zone is None else naive.replace(tzinfo=dt.timezone.utc).astimezone(_zone(zone))
    except (ValueError, OverflowError, KeyError):
        return count


def _zone(name: str) -> dt.tzinfo:
    if name[:1] in "+-":
        sign = -1 if name[0] == "-" else 1
        hours, _, minutes = name[1:].partition(":")
        return dt.timezone(sign * dt.timedelta(hours=int(hours), minutes=int(minutes or 0)))
    import zoneinfo

    return zoneinfo.ZoneInfo(name)


def micros(value: dt.datetime) -> int:
    """Returns microseconds since 1970; with an offset, in UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return (value - _EPOCH) // dt.timedelta(microseconds=1)


def days(value: dt.date) -> int:
    """Returns days since 1970."""
    return value.toordinal() - _FIRST_DAY
