"""A store of objects on this machine: moto's S3 behind a server that can also be slow, cut answers, or refuse."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "reefs"


@dataclass(slots=True)
class Store:
    """``refusals`` are how many of the next requests for a key get the status 503, ``cuts`` after how many bytes the
    next answers for it end, ``slow`` seconds before each answer; ``before`` is called before each GET of an object with
    its key. ``sent`` are the bytes of objects that were sent, ``gets`` the keys that were asked for."""

    url: str = ""
    refusals: dict[str, int] = field(default_factory=dict)
    cuts: dict[str, list[int]] = field(default_factory=dict)
    slow: float = 0.0
    before: Callable[[str], None] | None = None
    sent: int = 0
    gets: list[str] = field(default_factory=list)
    authorised: list[str] = field(default_factory=list)

    def client(self) -> Any:
        """A client of it."""
        keys = {"aws_access_key_id": "ours", "aws_secret_access_key": "ours", "region_name": "us-east-1"}
        return boto3.client("s3", endpoint_url=self.url, **keys)

    def put(self, key: str, content: bytes) -> None:
        """An object."""
        self.client().put_object(Bucket=BUCKET, Key=key, Body=content)

    def put_folder(self, folder: Path, prefix: str) -> int:
        """All files of a folder; gives their bytes."""
        client, total = self.client(), 0
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                client.put_object(Bucket=BUCKET, Key=f"{prefix}/{path.relative_to(folder).as_posix()}", Body=data)
                total += len(data)
        return total

    def open_to_all(self, prefix: str) -> None:
        """The objects there may be read by anybody."""
        client = self.client()
        for found in client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)["Contents"]:
            client.put_object_acl(Bucket=BUCKET, Key=found["Key"], ACL="public-read")

    def reset(self) -> None:
        """Nothing is injected or counted."""
        self.refusals, self.cuts, self.slow, self.before = {}, {}, 0.0, None
        self.sent, self.gets, self.authorised = 0, [], []

    def environment(self, cache: Path, **settings: str) -> dict[str, str]:
        """That of a run which finds this store and nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "ours",
            "AWS_SECRET_ACCESS_KEY": "not-to-be-printed",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(cache / "none"),
            "AWS_SHARED_CREDENTIALS_FILE": str(cache / "none"),
            "RAGDATA_CACHE_DIR": str(cache),
            "NO_COLOR": "1",
            **settings,
        }


class _Faulty:
    """The server, around moto."""

    def __init__(self, store: Store) -> None:
        self._moto, self._store = DomainDispatcherApplication(create_backend_app), store

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        store = self._store
        key = environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
        if environ["REQUEST_METHOD"] != "GET" or "list-type" in environ["QUERY_STRING"]:
            return self._moto(environ, start)  # type: ignore[no-any-return]
        sleep(store.slow)
        if store.before is not None:
            store.before(key)
        if store.refusals.get(key):
            store.refusals[key] -= 1
            start("503 Slow Down", [("Content-Length", "0")])
            return []
        store.gets.append(key)
        if "HTTP_AUTHORIZATION" in environ:
            store.authorised.append(key)
        cut = store.cuts[key].pop(0) if store.cuts.get(key) else None
        return self._counted(self._moto(environ, start), cut)

    def _counted(self, pieces: Iterable[bytes], cut: int | None) -> Iterator[bytes]:
        for data in pieces:
            if cut is not None:
                data, cut = data[:cut], max(cut - len(data), 0)
            self._store.sent += len(data)
            yield data
            if cut == 0:
                raise ConnectionAbortedError


@contextmanager
def running_store() -> Iterator[Store]:
    """A store that answers until the block ends, with one bucket."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    store = Store()
    server = make_server("127.0.0.1", 0, _Faulty(store), threaded=True)
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        store.client().create_bucket(Bucket=BUCKET)
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
