"""A file on a server, of which ranges are read."""

import errno
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen


def local(url: str) -> str:
    """Returns the path that a URL such as ``file:///data/x.jay`` names."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise ValueError(f"{url}: a file of another machine ({parts.netloc}); file:///path names one of this machine")
    return url2pathname(parts.path)


class Http:
    """Reads ranges of a URL by HTTP, with the library of Python. Other stores: pass a file object, such as those of fsspec.

    Each answer must be of the version of the file that was opened: the one with the same size and the same ``ETag``, or without that the
    same ``Last-Modified``. A server that sends neither tells other versions by the size alone.
    """

    def __init__(self, url: str) -> None:
        scheme = urlsplit(url).scheme
        if scheme not in ("http", "https"):
            text = f"{url}: open reads http and https itself; for {scheme} pass a file object, as of fsspec.open({url!r}).open()"
            raise ValueError(text)
        self.name = url
        self._version: str | None = None
        self._condition: dict[str, str] = {}
        with self._get("bytes=0-0") as answer:
            span = answer.headers.get("Content-Range", "")
            if answer.status != 206 or not span.startswith("bytes 0-0/") or not span[10:].isdigit():
                raise OSError(f"{url}: the server does not send ranges; download the file, and open that")
            self.size = int(span[10:])
            self._version = self._version_of(answer)
        # A weak tag is none of the same bytes.
        if self._version and not self._version.startswith("W/"):
            self._condition = {"If-Range": self._version}

    @staticmethod
    def _version_of(answer: Any) -> str | None:
        version: str | None = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        return version

    def _get(self, span: str) -> Any:
        headers = {"Range": span, "Accept-Encoding": "identity", **self._condition}
        try:
            return urlopen(Request(self.name, headers=headers), timeout=60)
        except HTTPError as e:
            if e.code == 416:
                raise OSError(f"{self.name}: the file on the server is empty, or has changed") from None
            if e.code == 404:
                raise FileNotFoundError(errno.ENOENT, "the server has no such file (status 404)", self.name) from None
            raise OSError(f"{self.name}: the server answered {e.code} {e.reason}") from None
        except URLError as e:
            raise OSError(f"{self.name}: {e.reason}") from e

    def read_at(self, offset: int, count: int) -> bytes:
        """Returns bytes at an offset."""
        if count == 0:
            return b""
        last = offset + count - 1
        with self._get(f"bytes={offset}-{last}") as answer:
            span = answer.headers.get("Content-Range")
            if answer.status != 206 or self._version_of(answer) != self._version:
                raise OSError(f"{self.name}: the file on the server has changed")
            if span != f"bytes {offset}-{last}/{self.size}":
                raise OSError(f"{self.name}: the server sent {span} instead of bytes {offset}-{last}/{self.size}; has the file changed?")
            # One more, which must not be there.
            data: bytes = answer.read(count + 1)
        if len(data) != count:
            raise OSError(f"{self.name}: {'more' if len(data) > count else len(data)} bytes came instead of {count}")
        return data
