"""Entities and triples by a language model behind an OpenAI-compatible server, one request for each passage.

Replies are kept on disk by the client, so that a run that was stopped continues where it was and the same run again
asks nothing. A reply that cannot be read is asked for once more; then its passage counts as failed and has no part in
the graph.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts import plain_tokens
from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.retrieval.connections import in_order
from ragdatakit.retrieval.endpoint import SAME_FOR_ALL, Endpoint, EndpointError
from ragdatakit.retrieval.extraction.graph_store import GraphStore
from ragdatakit.retrieval.extraction.names import name_key
from ragdatakit.retrieval.extraction.prompts import repair_of, request_of
from ragdatakit.retrieval.extraction.replies import FoundGraph, UnreadableReplyError, parse_reply
from ragdatakit.retrieval.parts import Progress
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import ExtractionEstimate
from ragdatakit.schemas.errors import RagdataError

_CHAT = "chat/completions"
_HOPELESS = 20
"""Passages of which none could be used, one after the other: the server is not there, or the model is unfit."""
_LEAST_JUDGED = 50
"""Passages after which the share of failures counts while the run continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model to ask and how.

    ``api_key_env`` names the environment variable that has the key (empty or unset: no key is sent). ``timeout`` is in
    seconds for a request, ``retries`` the attempts after the first. ``max_tokens`` limits a reply. A share of failed
    passages over ``most_failures`` stops the run. ``cache`` is the folder of replies (None: of the user's cache).
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: int = 4
    timeout: float = 120.0
    retries: int = 5
    max_tokens: int = 2048
    most_failures: float = 0.2
    cache: Path | None = None

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        for name, value, least in (
            ("concurrency", self.concurrency, 1),
            ("retries", self.retries, 0),
            ("max_tokens", self.max_tokens, 1),
        ):
            if value < least:
                raise RagdataError(f"{name} is {value!r}, expected {least} or more")
        if not 0 < self.timeout < float("inf"):
            raise RagdataError(f"timeout is {self.timeout!r}, expected a number of seconds")
        if not 0 <= self.most_failures <= 1:
            raise RagdataError(f"most_failures is {self.most_failures!r}, expected a share from 0 to 1")

    def endpoint(self) -> Endpoint:
        """The client. Raises `RagdataError` for an address or a key that cannot be used."""
        self.check()
        return Endpoint(
            self.base_url,
            (os.environ.get(self.api_key_env) or None) if self.api_key_env else None,
            timeout=self.timeout,
            retries=self.retries,
            concurrency=self.concurrency,
            cache=self.cache or cache_folder() / "replies",
        )


@dataclass(slots=True)
class _Answer:
    """What became of one passage: a graph, or why there is none."""

    passage: Document
    graph: FoundGraph | None = None
    failure: str = ""


@dataclass(slots=True)
class _Asking:
    """Asks for one passage after the other; used by several threads."""

    endpoint: Endpoint
    options: ModelOptions
    stop: list[EndpointError] = field(default_factory=list)

    def answer(self, passage: Document) -> _Answer:
        if not passage.text.strip() or self.stop:
            return _Answer(passage, FoundGraph())
        request = _request(self.options, passage)
        try:
            return _Answer(passage, self._read(request))
        except UnreadableReplyError as error:
            return _Answer(passage, failure=f"the reply could not be read, nor the one after it: {error}")
        except EndpointError as error:
            if error.status in SAME_FOR_ALL:
                self.stop.append(error)
            return _Answer(passage, failure=str(error))

    def _read(self, request: dict[str, Any]) -> FoundGraph:
        reply = self.endpoint.post(_CHAT, request)
        said = ""
        try:
            said = _said(reply)
            return parse_reply(said)
        except UnreadableReplyError as error:
            again = repair_of(request, said[:2000], str(error))
        try:
            return parse_reply(_said(self.endpoint.post(_CHAT, again)))
        except UnreadableReplyError:
            self.endpoint.forget(_CHAT, request)  # the next run asks anew
            self.endpoint.forget(_CHAT, again)
            raise


def _request(options: ModelOptions, passage: Document) -> dict[str, Any]:
    return request_of(options.model, passage.title, passage.text, options.max_tokens)


def _said(reply: dict[str, Any]) -> str:
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


def fill_from_model(
    tables: CanonicalTables, store: GraphStore, options: ModelOptions, progress: Progress | None = None
) -> None:
    """Add every passage to the store, in order. Passages that failed are counted as losses, with their ids.

    Raises `RagdataError` where continuing is of no use, or too many passages failed.
    """
    asking = _Asking(options.endpoint(), options)
    total = sum(1 for _ in tables.peek_passages())
    failed = in_a_row = 0
    told = ""
    answers = in_order(asking.answer, tables.peek_passages(), options.concurrency)
    for number, answer in enumerate(answers, 1):
        if asking.stop:
            raise asking.stop[0]
        if answer.graph is None:
            failed += 1
            in_a_row += 1
            told = f"{answer.passage.doc_id}: {answer.failure}"
            if in_a_row >= _HOPELESS:
                raise RagdataError(f"{in_a_row} passages in a row failed, the last one so: {told}")
            _refuse_failures(failed, number, max(number, _LEAST_JUDGED), options.most_failures, told)
            tables.losses.add("lost", tables.passages, None, "the model gave no graph of it", told)
            store.add((), ())
        else:
            in_a_row = 0
            _add(store, answer.graph, tables, answer.passage.doc_id)
        if progress is not None:
            progress("asking the model", number, total)
    _refuse_failures(failed, total, total, options.most_failures, told)


def _refuse_failures(failed: int, asked: int, of: int, most: float, told: str) -> None:
    """Raise where more of the passages failed than may; of ``of``, of which the first ``asked`` were asked for."""
    if failed > most * of:
        so_far = "passages" if asked == of else f"passages that were asked for (of {of:,} at least)"
        raise RagdataError(
            f"{failed:,} of {asked:,} {so_far} failed, more than the share that may (most-failures={most:g}), the last "
            f"one so: {told}; good replies are kept, the next run asks for the others only"
        )


def _add(store: GraphStore, graph: FoundGraph, tables: CanonicalTables, passage_id: str) -> None:
    numbers: dict[str, int] = {}
    for name, entity in graph.entities.items():
        number = numbers[name] = store.entities(name_key(name))
        if number not in store.attributes and (entity.type or entity.description):
            given = {"entity_type": entity.type, "description": entity.description}
            store.attributes[number] = json_text.dumps({k: v for k, v in given.items() if v})
    triples = [(numbers[a], store.relations(relation), numbers[b]) for a, relation, b in graph.triples]
    store.add(numbers.values(), triples)
    if graph.left_out:
        reason = "a reply with more entities or triples than are taken"
        tables.losses.add("lost", tables.passages, None, reason, passage_id, graph.left_out)


def estimate(
    tables: CanonicalTables, options: ModelOptions, price_in: float | None = None, price_out: float | None = None
) -> ExtractionEstimate:
    """What asking for all passages would take; nothing is asked.

    Prices are for a million tokens. Tokens are counted without the model's tokenizer; a reply is taken to be as long as
    its text.
    """
    endpoint = options.endpoint()
    passages = cached = prompt_tokens = completion_tokens = 0
    for passage, request in _requests(tables, options):
        passages += 1
        if request is None:
            continue
        if endpoint.is_cached(_CHAT, request):
            cached += 1
            continue
        prompt_tokens += sum(plain_tokens.count(message["content"]) for message in request["messages"])
        completion_tokens += min(options.max_tokens, plain_tokens.count(passage.text))
    cost = None
    if price_in is not None or price_out is not None:
        cost = (prompt_tokens * (price_in or 0.0) + completion_tokens * (price_out or 0.0)) / 1e6
    return ExtractionEstimate(
        endpoint.base_url, options.model, passages, cached, prompt_tokens, completion_tokens, cost
    )


def _requests(tables: CanonicalTables, options: ModelOptions) -> Iterator[tuple[Document, dict[str, Any] | None]]:
    for passage in tables.peek_passages():
        yield passage, _request(options, passage) if passage.text.strip() else None
