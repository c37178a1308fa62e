"""Small light-splade datasets, each made from a seed, with none to three mutations out of the whole list."""

from __future__ import annotations

from random import Random

from tests.light_splade_drafts import DraftSet, valid
from tests.light_splade_line_mutations import LINE_MUTATIONS
from tests.light_splade_mutations import Mutation
from tests.light_splade_record_mutations import RECORD_MUTATIONS
from tests.light_splade_score_mutations import SCORE_MUTATIONS

MUTATIONS: tuple[Mutation, ...] = (*LINE_MUTATIONS, *RECORD_MUTATIONS, *SCORE_MUTATIONS)


def generate(seed: int) -> DraftSet:
    """The dataset of that seed: none, one, two or three mutations, in turn.

    A third of the mutations is legal, so that faults meet unusual storage and unusual values.
    """
    rng = Random(seed)
    draft = valid(rng)
    for _ in range(seed % 4):
        legal = rng.random() < 0.35
        rng.choice([m for m in MUTATIONS if m.applies(draft) and m.is_fault is not legal]).apply(draft, rng)
    return draft


def mutated(mutation: Mutation, seed: int) -> DraftSet:
    """A dataset with that one mutation."""
    rng = Random(f"{mutation.name} {mutation.kind} {seed}")
    while not mutation.applies(draft := valid(rng)):
        pass
    mutation.apply(draft, rng)
    return draft
