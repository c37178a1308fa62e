"""Why each entity, relation and chunk is in the context for a question, or was left out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from ragdatakit.retrieval.lightrag.context import (
    Context,
    ContextSearch,
    EntityInfo,
    Pair,
    RelationInfo,
    Way,
    shown_chunk,
    shown_entity,
    shown_relation,
)
from ragdatakit.schemas.retrieved import ContextItem
from ragdatakit.schemas.texts import many, shortened

_Name = TypeVar("_Name")
_NAME = 60
_NAMED_BY = 3


def explained(search: ContextSearch, context: Context) -> Iterator[ContextItem]:
    """All candidates in their order: entities, relations, then chunks; those that are left out say why."""
    settings, store = search.settings, search.store
    yield from _items(
        "entity",
        search.entities,
        [shown_entity(store, name) for name in search.entities],
        search,
        settings.entity_tokens,
        lambda name: (name, *_of_entity(search, name)),
    )
    yield from _items(
        "relation",
        search.relations,
        [shown_relation(store, pair) for pair in search.relations],
        search,
        settings.relation_tokens,
        lambda pair: (_pair(pair), *_of_relation(search, pair)),
    )
    chunks = list(search.candidates)
    yield from _items(
        "chunk",
        chunks,
        [shown_chunk(store, chunk) for chunk in chunks],
        search,
        search.room,
        lambda chunk: (chunk, *_of_chunk(search, context, chunk)),
        settings.chunk_top_k,
    )


def _items(
    kind: str,
    names: Sequence[_Name],
    texts: Sequence[str],
    search: ContextSearch,
    budget: int,
    described: Callable[[_Name], tuple[str, str, float | None]],
    most: int | None = None,
) -> Iterator[ContextItem]:
    tokens = [search.settings.count(text if not place else f"\n{text}") for place, text in enumerate(texts)]
    for place, (name, own, used) in enumerate(zip(names, tokens, accumulate(tokens), strict=True), 1):
        cut = ""
        if most is not None and place > most:
            cut = f"beyond the first {most:,}"
        elif used > budget:
            cut = f"beyond the budget of {max(budget, 0):,} tokens ({used:,} with it)"
        shown, why, score = described(name)
        yield ContextItem(kind, shown, place, why, score, own, cut)


def _of_entity(search: ContextSearch, name: str) -> tuple[str, float | None]:
    found = []
    score = None
    if name in search.local.entities:
        score = search.local.scores[name]
        found.append(f"by the search of entities, place {search.local.entities.index(name) + 1:,}")
    if name in search.wide.entities:
        pair = next(pair for pair in search.wide.relations if name in pair)
        found.append(f"as an end of {_pair(pair)}, place {search.wide.entities.index(name) + 1:,}")
    return _turns(found), score


def _of_relation(search: ContextSearch, pair: Pair) -> tuple[str, float | None]:
    found = []
    score = None
    if (own := _among(pair, search.local)) is not None:
        degree, weight = search.local.ranks[own]
        ends = [name for name in search.local.entities if name in own]
        place = search.local.relations.index(own) + 1
        found.append(f"of {_named(ends)}, place {place:,} by degree {degree:,} and weight {weight:g}")
    if (own := _among(pair, search.wide)) is not None:
        score = search.wide.scores[own]
        found.append(f"by the search of relations, place {search.wide.relations.index(own) + 1:,}")
    return _turns(found), score


def _among(pair: Pair, way: Way) -> Pair | None:
    """The pair as a way has it, in either direction."""
    return next((each for each in (pair, (pair[1], pair[0])) if each in way.relations), None)


def _of_chunk(search: ContextSearch, context: Context, chunk: str) -> tuple[str, float | None]:
    origin, turn = search.candidates[chunk]
    if origin == "chunks":
        return f"by the search of chunks, place {turn:,}", search.searched[chunk]
    scores: Mapping[str, float | None] = search.of_entities if origin == "entities" else search.of_relations
    score = scores[chunk]
    if origin == "entities":
        named = [name for name in context.entities if _is_source(chunk, search.store.entity(name))]
    else:
        named = [_pair(pair) for pair in context.relations if _is_source(chunk, search.store.relation(pair))]
    how = "by its score" if score is not None else "by polling"
    return f"named by {_named(named)}, picked {how} as {_ordinal(turn)} of the {origin}", score


def _is_source(chunk: str, info: EntityInfo | RelationInfo | None) -> bool:
    return info is not None and chunk in info.sources


def _turns(found: Sequence[str]) -> str:
    return " and ".join(found)


def _named(names: Sequence[str]) -> str:
    more = f" and {many(len(names) - _NAMED_BY, 'other')}" if len(names) > _NAMED_BY else ""
    return ", ".join(shortened(name, _NAME) for name in names[:_NAMED_BY]) + more


def _ordinal(place: int) -> str:
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _pair(pair: Pair) -> str:
    return " – ".join(shortened(name, _NAME) for name in pair)
