"""HTTP connections on which a request has a deadline as a whole, and requests that run beside each other in order.

The time-out of a socket counts from one byte to the next: a server that sends a byte now and then would hold a run for
ever. Here each wait gets what is left until the deadline.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

Item = TypeVar("Item")
Result = TypeVar("Result")
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Request(urllib.request.Request):
    """A POST that has to be answered at ``deadline`` (of `time.monotonic`)."""

    def __init__(self, url: str, body: bytes, headers: dict[str, str], deadline: float) -> None:
        super().__init__(url, body, headers, method="POST")
        self.deadline = deadline


class _Socket:
    """What `http.client` uses of a socket; every wait ends at the deadline."""

    def __init__(self, own: socket.socket, deadline: float) -> None:
        self._own = own
        self._deadline = deadline
        self._read = False

    def sendall(self, data: Any) -> None:
        self._own.settimeout(_left(self._deadline))
        self._own.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        self._read = True
        return io.BufferedReader(_Stream(self._own, self._deadline), 1 << 16)

    def close(self) -> None:
        if not self._read:  # else the stream closes it: the answer may still have to be read
            self._own.close()


class _Stream(io.RawIOBase):
    def __init__(self, own: socket.socket, deadline: float) -> None:
        self._own = own
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._own.settimeout(_left(self._deadline))
        return self._own.recv_into(buffer)

    def close(self) -> None:
        self._own.close()
        super().close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Http(http.client.HTTPConnection):
    def __init__(self, host: str, *, deadline: float, **given: Any) -> None:
        super().__init__(host, **given)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self.sock: Any = _Socket(self.sock, self._deadline)


class _Https(http.client.HTTPSConnection):
    def __init__(self, host: str, *, deadline: float, **given: Any) -> None:
        super().__init__(host, **given)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self.sock: Any = _Socket(self.sock, self._deadline)


class _Opens(urllib.request.AbstractHTTPHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__()
        self._context = context

    def http_open(self, request: Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Http, deadline=request.deadline), request)

    def https_open(self, request: Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Https, deadline=request.deadline, context=self._context), request)

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_


class _Proxies(urllib.request.ProxyHandler):
    """The proxies of the environment, but none for a server on this machine."""

    def proxy_open(self, req: urllib.request.Request, proxy: str, type: str) -> Any:  # noqa: A002
        if urlsplit(req.full_url).hostname in _LOCAL:
            return None
        return super().proxy_open(req, proxy, type)


def make_opener() -> urllib.request.OpenerDirector:
    """Opens `Request`s at http and https addresses; every answer comes back as it is, redirects and errors too."""
    opener = urllib.request.OpenerDirector()
    opener.add_handler(_Proxies())
    opener.add_handler(_Opens(ssl.create_default_context()))
    return opener


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """What ``work`` makes of each item, in their order; at most twice as many as there are workers are ahead.

    The threads do not keep a process alive: a run that is stopped does not wait for a server.
    """
    tasks: queue.SimpleQueue[tuple[Future[Result], Item] | None] = queue.SimpleQueue()
    waiting: deque[Future[Result]] = deque()
    threads: list[threading.Thread] = []
    try:
        for item in items:
            future: Future[Result] = Future()
            waiting.append(future)
            tasks.put((future, item))
            if len(threads) < workers:
                threads.append(threading.Thread(target=_serve, args=(work, tasks), daemon=True))
                threads[-1].start()
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for _ in threads:
            tasks.put(None)


def _serve(work: Callable[[Any], Any], tasks: queue.SimpleQueue[tuple[Future[Any], Any] | None]) -> None:
    while (task := tasks.get()) is not None:
        future, item = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(item))
            except BaseException as error:  # noqa: BLE001 - it is raised again where the result is taken
                future.set_exception(error)
