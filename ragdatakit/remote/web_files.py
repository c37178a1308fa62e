"""One file of a web server, by the standard library: servers have no list of their files that could be read."""

from __future__ import annotations

import base64
import http.client
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ragdatakit.remote.stores import CutError, Listing, StoredFile, changed, from_byte, shown_url
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.version import __version__

_SECONDS = 30
_PIECE = 1 << 20
_AS_IT_IS = "/%:@!$&'()*+,;=?~[]|"
_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows as usual, but a password is for the server that the user named, and the way it is reached."""

    def redirect_request(self, req: Any, *given: Any) -> urllib.request.Request | None:
        new = super().redirect_request(req, *given)
        if new is not None and urlsplit(new.full_url)[:2] != urlsplit(req.full_url)[:2]:
            new.remove_header("Authorization")
        return new


class WebFile:
    """What a URL of a web server names."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.shown = shown_url(url)
        user, _, host = parts.netloc.rpartition("@")
        path, query = (quote(each, safe=_AS_IT_IS) for each in (parts.path, parts.query))
        self._url = urlunsplit((parts.scheme, host, path, query, ""))
        self._headers = {"User-Agent": f"ragdata/{__version__}", "Accept-Encoding": "identity"}
        if user:
            self._headers["Authorization"] = f"Basic {base64.b64encode(unquote(user).encode()).decode()}"
        folders = [unquote(part) for part in parts.path.split("/") if part]
        if not folders or parts.path.endswith("/"):
            raise RagdataError(f"{self.shown} names no file; a web server does not say which files a folder has")
        self.place = (host.replace(":", "_"), *folders)
        self._opener = urllib.request.build_opener(_Redirects)

    def listed(self) -> Listing:
        """The file, with its size and its ETag (or the date of its last change)."""
        try:
            with self._answer("HEAD") as answer:
                headers = answer.headers
        except CutError as error:
            raise RagdataError(f"{self.shown} cannot be fetched: {error}") from None
        if not (headers.get("Content-Length") or "").isdigit():
            raise RagdataError(f"{self.shown}: the server does not say how long the file is, so it cannot be checked")
        size = int(headers["Content-Length"])
        file = StoredFile(name="", key=self._url, bytes=size, version=_version(headers))
        return Listing(files=(file,), is_file=True)

    def read(self, file: StoredFile, start: int, end: int) -> Generator[bytes, None, None]:
        """As `Store` has it."""
        wanted = {"Range": f"bytes={start}-{end - 1}"} if start or end < file.bytes else {}
        if file.version and not file.version.startswith(("W/", "date ")):
            wanted["If-Match"] = file.version
        with self._answer("GET", wanted) as answer:
            if _version(answer.headers) != file.version:
                raise changed(self.shown, "")
            yield from from_byte(iter(lambda: answer.read(_PIECE), b""), start if answer.status == 200 else 0)

    @contextmanager
    def _answer(self, method: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
        request = urllib.request.Request(self._url, headers={**self._headers, **(headers or {})}, method=method)
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error.code) from None
        except UnicodeError as error:
            raise RagdataError(f"{self.shown} names no host: {error}") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise CutError(str(reason) or type(error).__name__) from None

    def _refusal(self, status: int) -> Exception:
        if status in (404, 410):
            return RagdataError(f"no such file: {self.shown} (the server answered {status})")
        if status in (401, 403):
            return RagdataError(f"{self.shown}: access is denied (the server answered {status})")
        if status == 412:
            return changed(self.shown, "")
        if status in _AGAIN:
            return CutError(f"the server answered {status}")
        return RagdataError(f"{self.shown}: the server answered {status}")


def _version(headers: Any) -> str:
    date = headers.get("Last-Modified")
    return headers.get("ETag") or (f"date {date}" if date else "")
