"""A client of OpenAI-compatible servers: JSON over HTTP, with deadlines, retries and a cache of replies.

A request has a deadline as a whole, so that a server that sends a byte now and then does not hold a run. What another
attempt may mend is tried again, after a wait that doubles each time. Replies are kept on disk: the same run again asks
nothing. Redirects are not followed: the key goes to the server that the user named, and nowhere else.
"""

from __future__ import annotations

import hashlib
import http.client
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import orjson

from ragdatakit.files.paths.writing import write_whole
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.connections import Connections, causes, in_order
from ragdatakit.retrieval.server_replies import ReplyError, json_body, json_object, one_line, server_message
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.version import __version__

_Error = TypeVar("_Error", bound=BaseException)
RETRIED = frozenset((408, 409, 425, 429, *range(500, 600)))
"""Answers after which the same request may succeed."""
SAME_FOR_ALL = frozenset((401, 403, 404))
"""Answers that every other request would get as well: the key, the address or the model is wrong."""
LONGEST_WAIT = 60.0
"""Seconds that are waited at most, whatever a server asks for."""
MAX_REPLY = 64 << 20
"""Bytes of a reply that are read at most."""
_FIRST_WAIT = 0.5
_LONGEST_BACKOFF = 30.0
_UNSEEN_RETRIES = 2  # of a server that has not answered yet: its address may be wrong
_HOPELESS = 20
"""Requests that may fail in a row before a series of requests is given up."""
_KEYLESS = "no key was sent: the variable OPENAI_API_KEY, or that of --api-key-env, is not set"
_QUOTA = "insufficient_quota"  # comes as 429, and waiting does not help


class EndpointError(RagdataError):
    """A server could not be reached, or its answer is of no use. ``status`` is that of the last answer, if any."""

    def __init__(self, message: str, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.status = status
        self.attempts = attempts


@dataclass(frozen=True, slots=True)
class EndpointFailure:
    """A request of a series that failed, all attempts included; the others continue."""

    message: str
    status: int | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class EndpointCounts:
    """What a client has done. ``requests`` counts what was sent, repetitions included; ``cached`` replies were not
    asked for. Tokens are those of the replies that came over the net, as far as the server counts them."""

    requests: int = 0
    retries: int = 0
    cached: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Endpoint:
    """A server at ``base_url`` (usually ending in ``/v1``).

    ``timeout`` is the seconds that one attempt may take, connecting and reading included; ``retries`` the attempts
    after the first; ``concurrency`` the requests of `map` that are under way at once. ``cache`` is a folder for
    replies, made when the first is kept. ``sleep`` and ``seed`` (of the jitter of waits) are for tests. Raises
    `RagdataError` for an address or a key that cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 4,
        cache: Path | None = None,
        max_reply: int = MAX_REPLY,
        sleep: Callable[[float], None] = time.sleep,
        seed: int | None = None,
    ) -> None:
        self._base = _checked_url(base_url)
        self._key = _checked_key(api_key)
        self._timeout = timeout
        self._retries = max(0, retries)
        self._concurrency = max(1, concurrency)
        self._cache = cache
        self._max_reply = max_reply
        self._sleep = sleep
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._counts = EndpointCounts()
        self._connections: Connections | None = None
        self._is_there = False

    @property
    def base_url(self) -> str:
        """The address without its query, as messages show it."""
        return _shown(self._base)

    @property
    def counts(self) -> EndpointCounts:
        """What was done so far."""
        return self._counts

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a request, a JSON object; from the cache where it was asked before.

        ``path`` is relative to the base (``chat/completions``). Raises `EndpointError`.
        """
        url, body = self._url(path), json_body(payload)
        kept = self._kept(url, body)
        if kept is not None:
            self._count(cached=1)
            return kept
        try:
            reply = self._answer(url, body)
        except EndpointError:
            self._count(failures=1)
            raise
        self._keep(url, body, reply)
        return reply

    def map(self, path: str, payloads: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any] | EndpointFailure]:
        """The replies to a series of requests, in its order; payloads are taken as they are needed.

        Raises `EndpointError` where continuing is of no use: the key, the address or the model is refused, or 20
        requests failed in a row.
        """
        in_a_row = 0
        for reply in in_order(partial(self._tried, path), payloads, self._concurrency):
            if isinstance(reply, EndpointError):
                in_a_row += 1
                if reply.status in SAME_FOR_ALL:
                    raise reply
                if in_a_row >= _HOPELESS:
                    message = f"{_HOPELESS} requests in a row failed, the last one so: {reply}"
                    raise EndpointError(message, reply.status, reply.attempts)
                yield EndpointFailure(str(reply), reply.status, reply.attempts)
            else:
                in_a_row = 0
                yield reply

    def forget(self, path: str, payload: Mapping[str, Any]) -> None:
        """Remove a reply from the cache: it is of no use, and another may be better."""
        place = self._place(self._url(path), json_body(payload))
        if place is not None:
            with suppress(OSError):
                place.unlink(missing_ok=True)

    def is_cached(self, path: str, payload: Mapping[str, Any]) -> bool:
        """Whether a request would be answered from the cache."""
        return self._kept(self._url(path), json_body(payload)) is not None

    def _tried(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any] | EndpointError:
        try:
            return self.post(path, payload)
        except EndpointError as error:
            return error

    def _url(self, path: str) -> str:
        parts = urlsplit(self._base)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path.lstrip('/')}"))

    def _count(self, **more: int) -> None:
        with self._lock:
            self._counts = replace(self._counts, **{n: getattr(self._counts, n) + add for n, add in more.items()})

    # -- the cache

    def _place(self, url: str, body: bytes) -> Path | None:
        if self._cache is None:
            return None
        digest = hashlib.sha256(url.encode() + b"\n" + body).hexdigest()
        return self._cache / digest[:2] / f"{digest}.json"

    def _kept(self, url: str, body: bytes) -> dict[str, Any] | None:
        place = self._place(url, body)
        if place is None:
            return None
        try:
            entry = orjson.loads(place.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(entry, dict) or entry.get("url") != url or json_body(entry.get("request")) != body:
            return None
        reply = entry.get("reply")
        return reply if isinstance(reply, dict) else None

    def _keep(self, url: str, body: bytes, reply: dict[str, Any]) -> None:
        place = self._place(url, body)
        if place is None:
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, json_body({"url": url, "request": orjson.loads(body), "reply": reply}))
        except OSError as error:
            raise RagdataError(f"the reply cannot be kept in {self._cache}: {error.strerror or error}") from error

    # -- the net

    def _answer(self, url: str, body: bytes) -> dict[str, Any]:
        attempt = 0
        while True:
            attempt += 1
            self._count(requests=1)
            try:
                reply = self._attempt(url, body)
            except _Again as fault:
                if attempt > self._retries or (fault.nobody and not self._is_there and attempt > _UNSEEN_RETRIES):
                    times = f", after {attempt} attempts" if attempt > 1 else ""
                    raise EndpointError(f"{self._message(url, fault.reason)}{times}", fault.status, attempt) from None
                self._sleep(self._wait(attempt, fault.after))
                self._count(retries=1)
            except _Never as fault:
                raise EndpointError(self._message(url, fault.reason), fault.status, attempt) from None
            else:
                self._count_tokens(reply)
                return reply

    def _message(self, url: str, reason: str) -> str:
        message = one_line(reason)
        if self._key:
            message = message.replace(self._key, "***")
        return f"{_shown(url)}: {message}"

    def _wait(self, attempt: int, after: float | None) -> float:
        with self._lock:
            share = self._random.uniform(0.5, 1.0)
        backoff = min(_LONGEST_BACKOFF, _FIRST_WAIT * 2.0 ** (attempt - 1)) * share
        return min(LONGEST_WAIT, max(backoff, after or 0.0))

    def _attempt(self, url: str, body: bytes) -> dict[str, Any]:
        try:
            answer = self._opened().post(url, body, self._headers(), self._timeout, self._max_reply)
        except Exception as error:  # noqa: BLE001 - httpx has its own, those of the system lie below them
            raise _of_connection(error, self._timeout) from None
        self._is_there = True
        status, headers, data = answer.status, answer.headers, answer.data
        if len(data) > self._max_reply:
            raise _Never(f"the reply is larger than {self._max_reply:,} bytes", status)
        if 300 <= status < 400:
            target = _shown(headers.get("location", "")) or "another address"
            raise _Never(f"sends on to {target}; if that is the right server, give its address", status)
        if status >= 400:
            raise _of_status(status, headers, data, self._base, bool(self._key))
        try:
            reply = json_object(data)
        except ReplyError as error:
            raise _Never(str(error), status) from None
        if isinstance(reply.get("error"), dict | str) and "choices" not in reply and "data" not in reply:
            raise _of_error(reply, data)
        return reply

    def _headers(self) -> dict[str, str]:
        own = {"Content-Type": "application/json", "Accept": "application/json"}
        own["User-Agent"] = f"ragdata/{__version__}"
        if self._key:
            own["Authorization"] = f"Bearer {self._key}"
        return own

    def _opened(self) -> Connections:
        with self._lock:
            if self._connections is None:
                self._connections = Connections(self._base)
        return self._connections

    def _count_tokens(self, reply: Mapping[str, Any]) -> None:
        usage = reply.get("usage")
        if isinstance(usage, dict):
            names = ("prompt_tokens", "completion_tokens")
            found = {n: usage.get(n) for n in names}
            self._count(**{n: v for n, v in found.items() if isinstance(v, int) and 0 <= v < 1 << 40})


class _Fault(Exception):
    def __init__(
        self, reason: str, status: int | None = None, after: float | None = None, nobody: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.nobody = nobody
        self.status = status
        self.after = after


class _Again(_Fault):
    """Another attempt may succeed, after so many seconds where the server says so."""


class _Never(_Fault):
    """Every other attempt would end in the same way."""


def _of_connection(error: Exception, timeout: float) -> _Fault:
    """What a failed request means; the system's own errors lie below those of httpx."""
    import httpx2

    if isinstance(error, RagdataError):
        raise error
    if isinstance(error, httpx2.InvalidURL):
        return _Never("this is not the address of a server")
    found = list(causes(error))

    def first(kind: type[_Error]) -> _Error | None:
        return next((cause for cause in found if isinstance(cause, kind)), None)

    if first(TimeoutError):
        return _Again(f"no whole answer within {timeout:g} s")
    if untrusted := first(ssl.SSLCertVerificationError):
        return _Never(f"its certificate is not trusted ({untrusted.verify_message})")
    if nameless := first(socket.gaierror):
        kind = _Again if nameless.errno == socket.EAI_AGAIN else _Never
        return kind("no server has this name")
    if first(ConnectionRefusedError):
        return _Again("no server answers there", nobody=True)
    if isinstance(error, httpx2.ProtocolError | httpx2.NetworkError) and not isinstance(error, httpx2.ConnectError):
        return _Again("the connection was cut before the answer was whole")
    return _Again(f"no answer ({error})")


def _of_status(status: int, headers: Mapping[str, str], data: bytes, base: str, has_key: bool) -> _Fault:
    message = server_message(data) or http.client.responses.get(status, "")
    reason = f"{status} {message}".strip()
    if status == 404 and not re.search(r"/v\d", urlsplit(base).path):
        reason += " (the address of such a server usually ends in /v1)"
    if status in (401, 403):
        reason += " (is the key right?)" if has_key else f" ({_KEYLESS})"
    if status in RETRIED and _QUOTA.encode() not in data:
        return _Again(reason, status, _asked_wait(headers))
    return _Never(reason, status)


def _of_error(reply: Mapping[str, Any], data: bytes) -> _Fault:
    """An error in a reply of status 200, as routers in front of models send it."""
    error = reply["error"]
    code = error.get("code") if isinstance(error, dict) else None
    reason = server_message(data) or "an error without a message"
    return _Again(reason, code) if isinstance(code, int) and code in RETRIED else _Never(reason)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, in one of the three ways to say it."""
    from email.utils import parsedate_to_datetime

    with suppress(ValueError):
        return max(0.0, float(headers.get("retry-after-ms", "")) / 1000)
    asked = headers.get("Retry-After", "")
    with suppress(ValueError):
        return max(0.0, float(asked))
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    return None


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise RagdataError(f"{one_line(url)} is not the address of a server") from None
    if not usable or re.search(r"[\x00-\x20\x7f]", url.strip()):
        raise RagdataError(f"{one_line(url)!r} is not an http(s) address, such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise RagdataError("the address of a server has no user or password: the key comes from the environment")
    return urlunsplit(parts._replace(fragment=""))


def _checked_key(key: str | None) -> str:
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise RagdataError("the key of the server has characters that a key cannot have")
    return key


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    try:
        parts = urlsplit(url)
        netloc = parts.netloc.rpartition("@")[2]
        return one_line(urlunsplit(parts._replace(netloc=netloc, query="", fragment="")))
    except ValueError:
        return ""
