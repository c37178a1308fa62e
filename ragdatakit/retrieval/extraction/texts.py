"""Texts by a language model: the context of a chunk in its document, the summary of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.asking import Asker, Task
from ragdatakit.retrieval.extraction.prompts import TEXT_AGAIN, context_request, summary_request
from ragdatakit.retrieval.extraction.replies import parse_text
from ragdatakit.schemas.canonical import Chunk

_OF_CONTEXT, _OF_SUMMARY = 100, 100
"""Tokens of a reply, for the estimate."""


@dataclass(frozen=True, slots=True)
class Situated:
    """A chunk and as much of its document as the model is to see; ``cut`` where that is not all of it."""

    chunk: Chunk
    document: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Cluster:
    """Texts of which one summary is to be made; ``name`` is what messages call them."""

    name: str
    texts: tuple[str, ...]


def situated(document: str, chunks: Iterable[Chunk], most: int) -> Iterator[Situated]:
    """The chunks of a document, each with the document, or with ``most`` tokens of it around the chunk where it has
    more (0: always all of it)."""
    tokens = plain_tokens.count(document) if most else 0
    length = len(document) * most // tokens if tokens > most else len(document)
    for chunk in chunks:
        middle = max(0, document.find(chunk.text)) + len(chunk.text) // 2
        start = max(0, min(middle - length // 2, len(document) - length))
        yield Situated(chunk, document[start : start + length], length < len(document))


def context_task(asker: Asker) -> Task[Situated, str]:
    """What is asked for each chunk that has no context and is not all of its document."""
    options = asker.options

    def request(item: Situated) -> dict[str, Any] | None:
        text = item.chunk.text.strip()
        if item.chunk.context or not text or text == item.document.strip():
            return None
        return context_request(options.model, item.document, item.chunk.text, options.max_tokens)

    return Task(
        items="chunks",
        request=request,
        read=parse_text,
        again=TEXT_AGAIN,
        name=lambda item: item.chunk.chunk_id,
        expected=lambda _: _OF_CONTEXT,
    )


def summary_task(asker: Asker) -> Task[Cluster, str]:
    """What is asked for each cluster."""
    options = asker.options
    return Task(
        items="clusters",
        request=lambda cluster: summary_request(options.model, cluster.texts, options.max_tokens),
        read=parse_text,
        again=TEXT_AGAIN,
        name=lambda cluster: cluster.name,
        expected=lambda _: _OF_SUMMARY,
    )
