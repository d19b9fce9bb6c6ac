"""A file on a server, of which ranges are read."""

from typing import Any
from urllib.request import Request, urlopen


class Http:
    """Reads ranges of a URL by HTTP, with the library of Python. Other stores: pass a file object, such as those of fsspec."""

    def __init__(self, url: str) -> None:
        self.name = url
        with self._get("bytes=0-0") as answer:
            span = answer.headers.get("Content-Range", "")
            if answer.status != 206 or not span.rpartition("/")[2].isdigit():
                raise OSError(f"{url}: the server does not send ranges; download the file, and open that")
            self.size = int(span.rpartition("/")[2])
            self._tag = answer.headers.get("ETag")

    def _get(self, span: str) -> Any:
        return urlopen(Request(self.name, headers={"Range": span, "Accept-Encoding": "identity"}), timeout=60)

    def read_at(self, offset: int, count: int) -> bytes:
        """Returns bytes at an offset."""
        with self._get(f"bytes={offset}-{offset + count - 1}") as answer:
            if answer.status != 206 or answer.headers.get("ETag") != self._tag:
                raise OSError(f"{self.name}: the file on the server has changed")
            data: bytes = answer.read()
        if len(data) != count:
            raise OSError(f"{self.name}: {len(data)} bytes came instead of {count}")
        return data
