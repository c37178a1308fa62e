"""Google Cloud Storage on this machine, as far as reading needs it: lists of objects, what one is, ranges of it."""

from __future__ import annotations

import hashlib
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from werkzeug.serving import WSGIRequestHandler, make_server

BUCKET = "reefs"
_PAGE = 3
"""Objects of one answer to a listing."""


@dataclass(slots=True)
class GoogleStore:
    """``objects`` are contents and generations by name. ``refusals`` are how many of the next requests for an object's
    bytes get the status 503, ``cuts`` after how many bytes its next answer ends; ``before`` is called before each of
    these with the name. ``sent`` counts their bytes. ``locked``: the bucket is not for everybody."""

    url: str = ""
    objects: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    cuts: dict[str, int] = field(default_factory=dict)
    before: Callable[[str], None] | None = None
    sent: int = 0
    locked: bool = False
    generation: int = 1700000000000000

    def put(self, name: str, content: bytes) -> None:
        """An object, or a new state of it."""
        self.generation += 1
        self.objects[name] = (content, self.generation)

    def put_folder(self, folder: Path, prefix: str) -> int:
        """All files of a folder; gives their bytes."""
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        for path in files:
            self.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return sum(path.stat().st_size for path in files)

    def environment(self, cache: Path, **settings: str) -> dict[str, str]:
        """That of a run which finds this store and nothing else."""
        return {
            "STORAGE_EMULATOR_HOST": self.url,
            "NO_GCE_CHECK": "true",
            "CLOUDSDK_CONFIG": str(cache / "none"),
            "HOME": str(cache),
            "RAGDATA_CACHE_DIR": str(cache),
            "NO_COLOR": "1",
            **settings,
        }

    def facts(self, name: str) -> dict[str, Any]:
        """An object as the interface describes it."""
        content, generation = self.objects[name]
        return {
            "kind": "storage#object",
            "name": name,
            "bucket": BUCKET,
            "size": str(len(content)),
            "generation": str(generation),
            "etag": f"E{generation}",
            "md5Hash": b64encode(hashlib.md5(content).digest()).decode(),
            "updated": "2026-11-01T00:00:00.000Z",
            "timeCreated": "2026-11-01T00:00:00.000Z",
            "mediaLink": f"{self.url}/download/storage/v1/b/{BUCKET}/o/{name}?alt=media",
        }

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        path = environ.get("RAW_URI", environ["PATH_INFO"]).split("?")[0]
        query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
        if self.locked:
            return _answer(start, "401 Unauthorized", {"error": {"code": 401, "message": "Anonymous caller"}})
        _, _, rest = path.partition(f"/b/{BUCKET}")
        if rest in ("", "/"):
            return _answer(start, "200 OK", {"kind": "storage#bucket", "name": BUCKET})
        name = unquote(rest.removeprefix("/o").removeprefix("/"))
        if not name:
            return _answer(start, "200 OK", self._listed(query))
        if name not in self.objects:
            return _answer(start, "404 Not Found", {"error": {"code": 404, "message": "No such object"}})
        if query.get("alt") == "media" or "/download/" in path:
            return self._content(name, environ, start)
        return _answer(start, "200 OK", self.facts(name))

    def _listed(self, query: dict[str, str]) -> dict[str, Any]:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        names = sorted(name for name in self.objects if name.startswith(prefix))
        below = [name for name in names if delimiter and delimiter in name[len(prefix) :]]
        folders = sorted({prefix + name[len(prefix) :].split(delimiter)[0] + delimiter for name in below})
        names = [name for name in names if name not in below]
        first = int(query.get("pageToken", 0))
        found: dict[str, Any] = {
            "kind": "storage#objects",
            "items": [self.facts(name) for name in names[first : first + _PAGE]],
        }
        if folders:
            found["prefixes"] = folders
        return found | ({"nextPageToken": str(first + _PAGE)} if first + _PAGE < len(names) else {})

    def _content(self, name: str, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        if self.before is not None:
            self.before(name)
        if self.refusals.get(name):
            self.refusals[name] -= 1
            return _answer(start, "503 Service Unavailable", {"error": {"code": 503, "message": "later"}})
        content, generation = self.objects[name]
        begin, _, end = environ.get("HTTP_RANGE", "bytes=0-").removeprefix("bytes=").partition("-")
        data = content[int(begin) : int(end) + 1 if end else None]
        headers = [("Content-Length", str(len(data))), ("x-goog-generation", str(generation))]
        span = f"bytes {begin}-{int(begin) + len(data) - 1}/{len(content)}"
        start("206 Partial Content", [*headers, ("Content-Range", span)])
        return self._sent(data, self.cuts.pop(name, None))

    def _sent(self, data: bytes, cut: int | None) -> Iterator[bytes]:
        part = data if cut is None else data[:cut]
        self.sent += len(part)
        yield part
        if cut is not None:
            raise ConnectionAbortedError


def _answer(start: Any, status: str, value: Any) -> list[bytes]:
    data = json.dumps(value).encode()
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(data)))])
    return [data]


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as it is called there
        """Nothing."""


@contextmanager
def running_google_store() -> Iterator[GoogleStore]:
    """A store that answers until the block ends, with one bucket."""
    store = GoogleStore()
    server = make_server("127.0.0.1", 0, store, threaded=True, request_handler=_Quiet)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
