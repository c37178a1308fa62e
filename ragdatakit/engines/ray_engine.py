"""Ranges judged by the workers of a Ray cluster: the one that is connected, that of an address, or a local one."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ragdatakit.engines.addresses import answers_of_ray
from ragdatakit.engines.local_engine import RETRIES, ClusterEngine, attempted, cause_of, given_by
from ragdatakit.schemas.errors import EngineError, MissingExtraError

K = TypeVar("K")
V = TypeVar("V")

SETTINGS = ("address", "namespace", "scratch")
"""What may be said of the cluster; without an address it is a local one (or that of RAY_ADDRESS)."""
_ASK = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
_ENDED = ("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError")
"""Errors of what was ended from outside."""
_ENDED_WORDS = f"a worker was ended {RETRIES + 1} times at the same part of the data"
_AHEAD = 2
"""So many ranges for each processor are with the workers at a time: what they give waits to be taken in order."""


class RayEngine(ClusterEngine):
    """Tasks of Ray. Raises `MissingExtraError` where it is not installed."""

    def __init__(self, settings: Mapping[str, str], jobs: int) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")  # a machine at work takes longer than its 30 s
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", "ray") from None
        super().__init__(settings, jobs)
        self._answers = answers_of_ray(settings.get("address", ""))
        self._ray = ray
        self._printed: Any = None

    def map(self, function: Callable[[K], V], keys: Sequence[K], /) -> Iterator[V]:
        """As `Engine` has it."""
        ray = self._ray
        waiting: deque[Any] = deque()
        try:
            self._connect()
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(attempted)
            sent = ray.put(function)
            most = _AHEAD * max(int(ray.cluster_resources().get("CPU", 1)), 1)
            for key in keys:
                waiting.append(task.remote(sent, key))
                if len(waiting) > most:
                    yield given_by(ray.get(waiting.popleft()))
            while waiting:
                yield given_by(ray.get(waiting.popleft()))
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no fault of the data
            ended = type(error).__name__ in _ENDED
            raise EngineError(f"Ray: {_ENDED_WORDS if ended else cause_of(error)}") from None
        finally:
            for each in waiting:
                ray.cancel(each, force=True)

    def _is_here(self) -> bool:
        """Whether all its workers are on this machine."""
        return not (self._ray.is_initialized() or self._settings.get("address") or "RAY_ADDRESS" in os.environ)

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        address = self._settings.get("address", "")
        if self._answers:
            _refuse_without_token(address)
        local: dict[str, Any] = {}
        if not address and "RAY_ADDRESS" not in os.environ:
            address, local = "local", {"num_cpus": self._jobs, "include_dashboard": False}
        try:
            with _handlers_kept():
                self._ray.init(
                    address=address or None,
                    namespace=self._settings.get("namespace"),
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **local,
                )
        except Exception as error:  # noqa: BLE001 - other versions and nodes that do not start have no class of their own
            raise EngineError(f"Ray does not start: {' '.join(str(error).split())}") from None
        self._ours = True
        self._keep_off_the_report()

    def _keep_off_the_report(self) -> None:
        """What Ray says of workers that ended goes to standard output, into the report: have it on standard error."""
        from ray._private import worker

        self._printed = printed = getattr(worker, "print_to_stdstream", None)
        if printed is not None:
            worker.print_to_stdstream = lambda data, *more, **named: printed({**data, "is_err": True}, *more, **named)

    def close(self) -> None:
        """Disconnect from the cluster, if it was not the caller who connected; a local one ends."""
        if self._ours:
            from ray._private import worker

            self._ray.shutdown()
            if self._printed is not None:
                worker.print_to_stdstream = self._printed
            self._ours = False


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """A context at whose end SIGTERM is handled as before: Ray would print a trace, and end with 15."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(ValueError, TypeError):  # not in the main thread; a handler that is none of Python's
            signal.signal(signal.SIGTERM, before)


def _refuse_without_token(address: str) -> None:
    """Raises `EngineError` where the cluster takes only those who have its token: Ray asks again for 20 seconds, and
    logs each answer. Another process asks, which is ended at the first."""
    with subprocess.Popen(
        [sys.executable, "-c", _ASK, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as asking:
        try:
            refused = asking.stderr is not None and any(b"Unauthenticated" in line for line in asking.stderr)
        finally:
            asking.kill()
    if refused:
        raise EngineError(
            f"Ray: the cluster at {address} takes only those who have its token; set RAY_AUTH_MODE=token, with the "
            "token of who began it in ~/.ray/auth_token or RAY_AUTH_TOKEN"
        )
