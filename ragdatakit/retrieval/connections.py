"""Requests that have a deadline as a whole, by httpx, and requests that run side by side in order.

The time-outs of httpx count from one byte to the next: a server that sends a byte now and then would hold a run for
ever. An event loop ends a request at its deadline, whatever it waits for; it has a thread of its own, as callers may
have a loop, too (notebooks do).
"""

from __future__ import annotations

import os
import queue
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

if TYPE_CHECKING:
    import asyncio

    import httpx2

Item = TypeVar("Item")
Result = TypeVar("Result")
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, redirects and errors as they are; one byte more of ``data`` than asked for: there is more."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class Connections:
    """The way to the server at ``url``: by the proxy of the environment, but none for a server on this machine."""

    def __init__(self, url: str) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtraError("retrieval", "httpx2") from None
        parts = urlsplit(url)
        is_near = parts.hostname in _LOCAL or proxy_bypass(parts.netloc)
        proxy = None if is_near else getproxies().get(parts.scheme)
        is_plain = parts.scheme == "http" and proxy is None
        try:
            self._transport = httpx2.AsyncHTTPTransport(
                # To load the certificates takes as long as a hundred answers; without, TLS is trusted nowhere.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else ssl.create_default_context(),
                trust_env=False,
                proxy=proxy,
                limits=httpx2.Limits(max_keepalive_connections=0),  # none is left open, whoever forgets this object
            )
        except (ValueError, ImportError, httpx2.InvalidURL):  # whose words may quote its password
            raise RagdataError(f"the proxy that {parts.scheme}_proxy names cannot be used") from None

    def post(self, url: str, body: bytes, headers: dict[str, str], seconds: float, most: int) -> Answer:
        """The whole answer, as far as it has ``most`` bytes. Raises TimeoutError, and what httpx raises."""
        import asyncio

        import httpx2

        request = httpx2.Request("POST", url, content=body, headers=headers)
        return asyncio.run_coroutine_threadsafe(self._answer(request, seconds, most), _loop()).result()

    async def _answer(self, request: httpx2.Request, seconds: float, most: int) -> Answer:
        import asyncio

        async with asyncio.timeout(seconds):
            response = await self._transport.handle_async_request(request)
            try:
                data = bytearray()
                async for piece in response.aiter_raw():
                    data += piece
                    if len(data) > most:
                        break
            finally:
                await response.aclose()
        return Answer(response.status_code, response.headers, bytes(data))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):  # threads do not come along
    os.register_at_fork(after_in_child=_loop.cache_clear)


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    yield error
    for cause in (error.__cause__ or error.__context__, *getattr(error, "exceptions", ())):
        if cause is not None:
            yield from causes(cause)


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
