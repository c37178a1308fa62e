"""A query is answered in a process of its own: it can be ended at any moment, and what it takes is bounded.

The process opens the datasets, fills the tables and runs the query; this one hears from it, in order:
``progress``, ``at_work`` (the user's SQL begins or pauses), ``lost``, then ``tables`` or ``columns`` and many
``piece``, and at last ``end``, or ``error``.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ragdatakit.api.query_datasets import Question, lost_words, open_queries
from ragdatakit.api.remote import at_hand, renamed
from ragdatakit.database.memory_bound import ENDED_ITSELF, MemoryBound
from ragdatakit.engines.side_process import SideStream
from ragdatakit.files.containers.arrow_library import arrow_library
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.errors import QueryError, RagdataError
from ragdatakit.schemas.options import Progress

if TYPE_CHECKING:
    from ragdatakit.database.safe_queries import Column, QueryResult, TableFacts

Send = Callable[[tuple[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """``lost`` are sentences about what could not be read. Then either ``tables``, or ``columns`` and ``pieces``: lists
    of rows, or record batches, of which the first is empty and has the schema. They come as they are asked for, once.
    """

    lost: list[str]
    tables: list[TableFacts]
    columns: tuple[Column, ...]
    pieces: Iterator[Any]


class _QueryFailed(Exception):
    """A fault of ours in the other process."""


@contextmanager
def asked(question: Question) -> Iterator[Answer]:
    """The answer, for a ``with`` block. Raises what the process met, and `QueryError` where its time is over or it
    wants more memory than it may have; `MissingExtraError` where record batches are asked for without pyarrow."""
    if question.as_batches:
        arrow_library()
    if not sys.executable:
        raise RagdataError("a query runs in a process of its own, and there is no Python to start for it")
    with ExitStack() as stack:
        here = stack.enter_context(at_hand(question.options, [question.path], question.options.source_format))
        progress = here.options.progress
        options = replace(here.options, progress=None, tell=None)  # they stay in this process
        path = Path(here.paths[0])
        question = replace(question, path=path, options=options, shows_progress=progress is not None)
        scratch = stack.enter_context(ScratchFolder())  # what the process leaves when it is ended is in there
        stream = stack.enter_context(SideStream(_answer, question, environment={"TMPDIR": str(scratch)}))
        heard = stack.enter_context(_Hearing(stream, question, progress))
        lost: list[str] = renamed(heard.next("lost"))
        if question.sql is None:
            yield Answer(lost, renamed(heard.next("tables")), (), iter(()))
        else:
            yield Answer(lost, [], heard.next("columns"), heard.rest("piece"))


class _Hearing:
    """What the process reports; it is ended when the time of the user's SQL is over, which is one for all that is done
    of it: it is bound to its tables, they are read, and it runs."""

    def __init__(self, stream: SideStream, question: Question, progress: Progress | None) -> None:
        self._stream, self._question, self._progress = stream, question, progress
        self._messages = iter(stream)
        self._timer: threading.Timer | None = None
        self._left, self._since = question.options.timeout, 0.0
        self._at_work = self._is_late = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._time(False)

    def next(self, kind: str) -> Any:
        """What it reports of this kind; it says nothing else before."""
        found = next(self.rest(kind), None)
        assert found is not None
        return found

    def rest(self, kind: str) -> Iterator[Any]:
        """All that it reports of this kind, until its end."""
        for heading, what in self._messages:
            if heading == kind:
                yield what
            elif heading == "progress" and self._progress is not None:
                self._progress(*what)
            elif heading == "at_work":
                self._time(what)
            elif heading == "error":
                raise what
            elif heading == "end":
                return
        raise self._ended()

    def _time(self, is_at_work: bool) -> None:
        now = time.monotonic()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._at_work and self._left is not None:
            self._left = max(self._left - (now - self._since), 0)
        self._at_work, self._since = is_at_work, now
        if is_at_work and self._left is not None:
            self._timer = threading.Timer(self._left, self._be_late)
            self._timer.daemon = True
            self._timer.start()

    def _be_late(self) -> None:
        self._is_late = True
        self._stream.kill()

    def _ended(self) -> RagdataError:
        """Why it said no more."""
        from ragdatakit.database.select_statements import NO_MEMORY

        code = self._stream.code
        if self._is_late:
            return QueryError(f"the query was stopped after {self._question.options.timeout:g} s (--timeout)")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if not self._at_work:
            return RagdataError(f"the process that reads the data ended with {how}; it may have had too little memory")
        if code in (ENDED_ITSELF, -6, -9):  # what cannot have memory calls abort; the system kills what takes too much
            return QueryError(NO_MEMORY)
        return QueryError(f"the database ended with {how} over this query")


def _answer(send: Send, question: Question) -> None:
    """In the process: everything that there is to tell."""
    try:
        _tell_all(send, question)
    except (RagdataError, OSError, MemoryError) as error:
        failure: Exception = error
    except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
        failure = _QueryFailed(f"{type(error).__name__}: {error}")
        failure.add_note(traceback.format_exc())
    else:
        send(("end", True))
        return
    MemoryBound(0).lift()  # so that it can be reported
    send(("error", failure))


def _tell_all(send: Send, question: Question) -> None:
    from ragdatakit.database.select_statements import parse_select

    bound = MemoryBound(question.options.memory_limit)

    def at_work(is_at_work: bool, used: int = 0) -> None:
        send(("at_work", is_at_work))
        if is_at_work:
            bound.set(used)
        else:
            bound.lift()

    def progress(what: str, done: int, total: int) -> None:
        send(("progress", (what, done, total)))

    select = None
    if question.sql is not None:  # what is wrong with it is reported before anything is read
        at_work(True)
        select = parse_select(question.sql)
        at_work(False)
    with open_queries(question, progress if question.shows_progress else None, at_work) as queries:
        if select is None:
            tables = list(queries.tables())
            send(("lost", lost_words(queries.losses, queries.unlisted)))
            send(("tables", tables))
            return
        result: QueryResult = queries.run(select)
        send(("lost", lost_words(queries.losses, queries.unlisted)))
        send(("columns", result.columns))
        for piece in result.batches() if question.as_batches else result.rows():
            send(("piece", piece))
