"""Ranges judged by the executors of Spark: those of the active session, of a master, or local ones."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.engines.addresses import refuse_wrong_master
from ragdatakit.engines.local_engine import RETRIES, ClusterEngine, attempted, cause_of, given_by
from ragdatakit.schemas.errors import EngineError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

K = TypeVar("K")
V = TypeVar("V")

SETTINGS = ("master", "scratch")
"""What may be said of the cluster, beside Spark's own settings (``spark.…``)."""
_NEEDED = "pyspark, pyarrow and pandas"
_AHEAD = 8
"""So many ranges for each task at a time are a job: one takes a second to begin."""
_PARALLEL = 8
"""So many tasks at a time, where a session does not say how many it runs."""


class SparkEngine(ClusterEngine):
    """Tasks of Spark over Arrow. Raises `MissingExtraError` where it is not installed."""

    def __init__(self, settings: Mapping[str, str], jobs: int) -> None:
        try:
            import pyarrow as pa  # noqa: F401 - Spark needs it, too
            import pyspark.sql
        except ImportError:
            raise MissingExtraError("spark", _NEEDED) from None
        if find_spec("pandas") is None:  # which Spark looks for when it makes tables
            raise MissingExtraError("spark", _NEEDED)
        super().__init__(settings, jobs)
        refuse_wrong_master(settings.get("master", "local"))
        self._sql = pyspark.sql
        self._session: Any = None

    def map(self, function: Callable[[K], V], keys: Sequence[K], /) -> Iterator[V]:
        """As `Engine` has it."""
        self._connect()
        judge = partial(_judged, pickle.dumps(function))
        size = _AHEAD * self._parallel()
        batches = [keys[first : first + size] for first in range(0, len(keys), size)]
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._all_of, judge, batches[0])
            try:
                for number in range(len(batches)):
                    found = coming.result()
                    if number + 1 < len(batches):
                        coming = ahead.submit(self._all_of, judge, batches[number + 1])
                    yield from map(given_by, found)
            except BaseException:
                self._cancel()
                raise

    def _cancel(self) -> None:
        """End what our session works at: who waits for it would wait until it is done."""
        if self._ours:
            with suppress(Exception):
                self._session.sparkContext.cancelAllJobs()

    def _all_of(self, judge: Callable[[Any], Any], keys: Sequence[Any]) -> list[Any]:
        """What the function gives for some keys, each of which is a task."""
        rows = [(number, pickle.dumps(key)) for number, key in enumerate(keys)]
        try:
            frame = self._session.createDataFrame(rows, "number long, value binary")
            frame = frame.repartition(len(rows)).mapInArrow(judge, "number long, value binary")
            found = {row.number: row.value for row in frame.collect()}
        except Exception as error:  # noqa: BLE001 - of Py4J, of gRPC, of PySpark: they have no common class
            raise EngineError(f"Spark: {cause_of(error)}") from None
        return [pickle.loads(found[number]) for number in range(len(rows))]  # noqa: S301 - made by our own tasks

    def _parallel(self) -> int:
        try:
            return int(self._session.sparkContext.defaultParallelism)
        except Exception:  # noqa: BLE001 - over Spark Connect there is no context
            return _PARALLEL

    def _is_here(self) -> bool:
        """Whether all its workers are on this machine."""
        is_open = self._session is not None or self._sql.SparkSession.getActiveSession() is not None
        return not is_open and self._settings.get("master", "local").startswith("local")

    def _connect(self) -> None:
        if self._session is not None:
            return
        self._session = self._sql.SparkSession.getActiveSession()
        if self._session is not None:
            return
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # of its pandas, which is not used
        master = self._settings.get("master") or f"local[{self._jobs},{RETRIES + 1}]"
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = self._sql.SparkSession.builder.appName("ragdata")
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", **self._settings}
        remote = master.startswith("sc://")
        builder = builder.remote(master) if remote else builder.master(master)
        for name, value in settings.items():
            if name.startswith("spark.") and not (remote and name.startswith("spark.ui.")):
                builder = builder.config(name, value)
        try:
            # In a thread: in the main one Spark takes Ctrl-C for itself, and fails with a traceback.
            with ThreadPoolExecutor(1) as beginning:
                self._session = beginning.submit(builder.getOrCreate).result()
        except Exception as error:  # noqa: BLE001
            java = "" if which("java") or "JAVA_HOME" in os.environ else "; it needs Java 17 or later"
            raise EngineError(f"Spark does not start: {cause_of(error).strip(': .')}{java}") from None
        self._ours = True
        if not remote:
            self._session.sparkContext.setLogLevel("OFF")

    def close(self) -> None:
        """End the session, if it was not the caller who began it."""
        if self._ours:
            self._session.stop()
            self._session, self._ours = None, False


def _judged(function: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In an executor: what the function gives for each key."""
    import pyarrow as pa

    judge = pickle.loads(function)  # noqa: S301 - it comes from whoever started the job
    for batch in batches:
        for number, key in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found = pickle.dumps(attempted(judge, pickle.loads(key)))  # noqa: S301
            yield pa.RecordBatch.from_arrays(
                [pa.array([number], pa.int64()), pa.array([found], pa.binary())], names=["number", "value"]
            )
