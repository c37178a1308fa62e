"""Why each entity, relationship, claim, report and text unit is in the context for a question, or is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragdatakit.retrieval.graphrag.context import Batch, Context, Knowledge, Settings, entity_row, ranked_units
from ragdatakit.schemas.retrieved import ContextItem
from ragdatakit.schemas.texts import many, shortened

_FULL = "the budget of tokens is full"
_CLAIM = 60


def explained(
    knowledge: Knowledge, found: Context, scores: Mapping[str, float], settings: Settings
) -> Iterator[ContextItem]:
    """All candidates of local search in their order; those that are left out say why."""
    yield from _entities(found, scores, settings)
    titles = {entity.title for entity in found.entities}
    for place, each in enumerate(found.relationships, 1):
        inside = each.source in titles and each.target in titles
        why = f"{'between two' if inside else 'of one'} of the entities, rank {each.rank:,}"
        tokens = settings.count(each.description)
        yield ContextItem("relation", f"{each.source} – {each.target}", place, why, tokens=tokens)
    for place, claim in enumerate(found.claims, 1):
        text = shortened(claim.values[-1] or claim.values[0], _CLAIM)
        yield ContextItem("claim", f"{claim.subject}: {text}", place, f"claimed of {claim.subject}")
    for place, report in enumerate(found.reports, 1):
        members = sum(report.community in knowledge.communities[e.entity_id] for e in found.entities)
        why = f"reports on a community of level {report.level} that has {members:,} of the entities"
        yield ContextItem("summary", report.title, place, why, report.rank, settings.count(report.content))
    used = {unit.unit_id for unit in found.units}
    for place, unit_id in enumerate(ranked_units(knowledge, found.entities), 1):
        first = next(entity for entity in found.entities if unit_id in entity.units)
        tokens = settings.count(knowledge.units[unit_id].text)
        yield ContextItem(
            "chunk", unit_id, place, f"names {first.title}", tokens=tokens, cut="" if unit_id in used else _FULL
        )


def _entities(found: Context, scores: Mapping[str, float], settings: Settings) -> Iterator[ContextItem]:
    shown = len(found.shown_entities)
    for place, entity in enumerate(found.entities, 1):
        score = scores.get(entity.entity_id)
        links = many(entity.rank, "relationship")
        why = f"near to the question, {links}" if score is not None else f"the question is empty, and it has {links}"
        cut = "" if place <= shown else _FULL
        yield ContextItem("entity", entity.title, place, why, score, settings.count(entity_row(entity)), cut)


def explained_batches(batches: Sequence[Batch], weights: Mapping[int, float]) -> Iterator[ContextItem]:
    """The reports of global search in the order in which a model would read them."""
    place = 0
    for number, batch in enumerate(batches, 1):
        for report in batch.reports:
            place += 1
            share = f"{weights[report.community]:.0%} of the most text units"
            why = f"batch {number:,}: level {report.level}, covers {share}"
            yield ContextItem("summary", report.title, place, why, report.rank)
