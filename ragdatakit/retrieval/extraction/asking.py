"""Asks a language model behind an OpenAI-compatible server for one item after the other.

Replies are kept on disk by the client, so that a run that was stopped resumes where it was and the same run again asks
nothing. A reply that cannot be read is asked for once more; then its item counts as failed. Before anything is sent,
the same calls can be counted instead (``only_count``): what is not in the cache is then left without a reply.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.connections import in_order
from ragdatakit.retrieval.endpoint import SAME_FOR_ALL, Endpoint, EndpointError
from ragdatakit.retrieval.extraction.prompts import repair_of
from ragdatakit.retrieval.extraction.replies import UnreadableReplyError
from ragdatakit.retrieval.index_parts import Progress
from ragdatakit.schemas.conversions import ExtractionEstimate
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder

Item = TypeVar("Item")
Reply = TypeVar("Reply")
_CHAT = "chat/completions"
_HOPELESS = 20
"""Items of which none could be used, one after the other: the server is not there, or the model is unfit."""
_LEAST_JUDGED = 50
"""Items after which the share of failures counts while the run continues."""
_SHOWN_OF_REPLY = 2000
"""Characters of an unreadable reply that the model is shown again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model to ask and how.

    ``api_key_env`` names the environment variable that has the key (empty or unset: no key is sent). ``timeout`` is in
    seconds for a request, ``retries`` the attempts after the first. ``max_tokens`` limits a reply (0: as is usual for
    what is asked). A share of failed items over ``most_failures`` stops the run. ``document_tokens`` is how much of its
    document is sent with a chunk whose context is asked for (0: all of it). ``gleaning`` is how often the model is
    asked what it has missed in a passage (0 or 1). ``cache`` is the folder of replies (None: of the user's cache).
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: int = 4
    timeout: float = 120.0
    retries: int = 5
    max_tokens: int = 0
    most_failures: float = 0.2
    document_tokens: int = 0
    gleaning: int = 0
    cache: Path | None = None

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        if not self.model:
            raise RagdataError("the extractor openai needs a model: --model NAME, with --base-url URL")
        for name, value, least in (
            ("concurrency", self.concurrency, 1),
            ("retries", self.retries, 0),
            ("max_tokens", self.max_tokens, 0),
            ("document_tokens", self.document_tokens, 0),
        ):
            if value < least:
                raise RagdataError(f"{name} is {value!r}, expected {least} or more")
        if self.gleaning not in (0, 1):
            raise RagdataError(f"gleaning is {self.gleaning}, expected 0 or 1")
        if not 0 < self.timeout < float("inf"):
            raise RagdataError(f"timeout is {self.timeout!r}, expected a number of seconds")
        if not 0 <= self.most_failures <= 1:
            raise RagdataError(f"most_failures is {self.most_failures!r}, expected a share from 0 to 1")

    def endpoint(self) -> Endpoint:
        """The client. Raises `RagdataError` for an address or a key that cannot be used."""
        from ragdatakit.outputs.user_cache import cache_folder

        self.check()
        return Endpoint(
            self.base_url,
            (os.environ.get(self.api_key_env) or None) if self.api_key_env else None,
            timeout=self.timeout,
            retries=self.retries,
            concurrency=self.concurrency,
            cache=self.cache or cache_folder() / "replies",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[Item, Reply]):
    """What the model is asked for each item.

    ``request`` gives the payload of a chat completion (None: there is nothing to ask). ``read`` makes something of the
    text of a reply and raises `UnreadableReplyError`; ``again`` is what the model then hears, with ``{reason}``.
    ``expected`` is about how many tokens a reply has. ``items`` is what messages call the items, ``name`` one of them.
    """

    items: str
    request: Callable[[Item], dict[str, Any] | None]
    read: Callable[[str], Reply]
    again: str
    name: Callable[[Item], str]
    expected: Callable[[Item], int]


@dataclass(frozen=True, slots=True)
class Answer(Generic[Item, Reply]):
    """What became of one item. ``reply`` is None where nothing was asked and where asking failed, ``failure`` why."""

    item: Item
    reply: Reply | None = None
    failure: str = ""


class Asker:
    """Asks the model of ``options``. ``prices`` are those of a million prompt and reply tokens, for estimates.

    With ``only_count`` nothing is sent: requests that the cache does not answer are counted for `estimate`, which also
    says of how many texts the ``embedder`` is to make vectors. ``further`` says what is asked after that and cannot be
    counted.
    """

    def __init__(
        self,
        options: ModelOptions,
        progress: Progress | None = None,
        *,
        prices: tuple[float | None, float | None] = (None, None),
        embedder: ChosenEmbedder | None = None,
    ) -> None:
        self.options = options
        self.progress = progress
        self.only_count = False
        self.further = ""
        self._prices = prices
        self._embedder = embedder
        self._endpoint = options.endpoint()
        self._counted = _Counted()

    def begin(self, task: Task[Item, Reply], total: int = 0) -> Asking[Item, Reply]:
        """A series of requests, of ``total`` items where that is known."""
        return Asking(self, self._endpoint, task, total)

    def count(self, task: Task[Item, Any], items: Iterable[Item]) -> None:
        """Count what asking for all of these would take; nothing is asked."""
        for item in items:
            self._counted.add(self._endpoint, task, item, self.options.max_tokens)

    def estimate(self) -> ExtractionEstimate:
        """What was counted since the last estimate."""
        counted, self._counted = self._counted, _Counted()
        embedder, embedded = ("", 0) if self._embedder is None else (self._embedder.name, self._embedder.counted)
        if self._embedder is not None:
            self._embedder.counted = 0
        price_in, price_out = self._prices
        cost = None
        if price_in is not None or price_out is not None:
            cost = (counted.prompt_tokens * (price_in or 0.0) + counted.completion_tokens * (price_out or 0.0)) / 1e6
        return ExtractionEstimate(
            self._endpoint.base_url,
            self.options.model,
            counted.items,
            counted.cached,
            counted.prompt_tokens,
            counted.completion_tokens,
            cost,
            counted.what or "passages",
            embedded,
            embedder,
            self.further,
        )


@dataclass(slots=True)
class _Counted:
    """What asking would take."""

    what: str = ""
    items: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, endpoint: Endpoint, task: Task[Item, Any], item: Item, most: int) -> bool:
        """Count one item; whether its reply is in the cache."""
        request = task.request(item)
        if request is None:
            return False
        self.what = task.items
        self.items += 1
        if endpoint.is_cached(_CHAT, request):
            self.cached += 1
            return True
        self.prompt_tokens += sum(plain_tokens.count(message["content"]) for message in request["messages"])
        self.completion_tokens += min(most or request["max_tokens"], task.expected(item))
        return False


@dataclass(slots=True)
class Asking(Generic[Item, Reply]):
    """A series of requests of one kind."""

    _asker: Asker
    _endpoint: Endpoint
    _task: Task[Item, Reply]
    _total: int
    _stop: list[EndpointError] = field(default_factory=list)
    _done: int = 0
    _failed: int = 0
    _in_a_row: int = 0
    _last: str = ""

    def answers(self, items: Iterable[Item]) -> Iterator[Answer[Item, Reply]]:
        """What becomes of each item, in their order; several are under way at once.

        Raises `RagdataError` where continuing is of no use, or too many items failed.
        """
        options = self._asker.options
        answers = (
            map(self._counted, items) if self._asker.only_count else in_order(self._answer, items, options.concurrency)
        )
        for answer in answers:
            if self._stop:
                raise self._stop[0]
            self._done += 1
            if answer.failure:
                self._fail(answer)
            else:
                self._in_a_row = 0
            yield answer
            if self._asker.progress is not None and not self._asker.only_count:
                self._asker.progress("asking the model", self._done, max(self._done, self._total))

    def finish(self) -> None:
        """Raise `RagdataError` where too many of all items failed."""
        self._refuse_failures(self._done)

    def _fail(self, answer: Answer[Item, Reply]) -> None:
        self._failed += 1
        self._in_a_row += 1
        self._last = f"{self._task.name(answer.item)}: {answer.failure}"
        if self._in_a_row >= _HOPELESS:
            raise RagdataError(f"{self._in_a_row} {self._task.items} in a row failed, the last one so: {self._last}")
        self._refuse_failures(max(self._done, _LEAST_JUDGED))

    def _refuse_failures(self, of: int) -> None:
        """Raise where more of the items failed than may; of ``of``, of which the first ones were asked for."""
        most = self._asker.options.most_failures
        if self._failed > most * of:
            items = self._task.items
            so_far = items if self._done == of else f"{items} that were asked for (of {of:,} at least)"
            raise RagdataError(
                f"{self._failed:,} of {self._done:,} {so_far} failed, more than the share that may "
                f"(most-failures={most:g}), the last one so: {self._last}; good replies are kept, the next run asks "
                "for the others only"
            )

    def _counted(self, item: Item) -> Answer[Item, Reply]:
        asker = self._asker
        if asker._counted.add(self._endpoint, self._task, item, asker.options.max_tokens):
            request = self._task.request(item)
            assert request is not None
            try:
                return Answer(item, self._task.read(said(self._endpoint.post(_CHAT, request))))
            except (UnreadableReplyError, EndpointError):
                pass
        return Answer(item)

    def _answer(self, item: Item) -> Answer[Item, Reply]:
        request = None if self._stop else self._task.request(item)
        if request is None:
            return Answer(item)
        try:
            return Answer(item, self._read(request))
        except UnreadableReplyError as error:
            return Answer(item, failure=f"the reply could not be read, nor the one after it: {error}")
        except EndpointError as error:
            if error.status in SAME_FOR_ALL:
                self._stop.append(error)
            return Answer(item, failure=str(error))

    def _read(self, request: dict[str, Any]) -> Reply:
        endpoint, task = self._endpoint, self._task
        reply = endpoint.post(_CHAT, request)
        text = ""
        try:
            text = said(reply)
            return task.read(text)
        except UnreadableReplyError as error:
            again = repair_of(request, text[:_SHOWN_OF_REPLY], task.again.format(reason=error))
        try:
            return task.read(said(endpoint.post(_CHAT, again)))
        except UnreadableReplyError:
            endpoint.forget(_CHAT, request)  # the next run asks anew
            endpoint.forget(_CHAT, again)
            raise


def said(reply: dict[str, Any]) -> str:
    """The text of a chat completion. Raises `UnreadableReplyError` where there is none."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):  # parts, of which some are texts
        content = "".join(p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str))
    if not isinstance(content, str):
        raise UnreadableReplyError("it has no text")
    return content
