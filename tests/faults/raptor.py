"""Clean RAPTOR trees in the JSON form, and what their own checks add to the declaration."""

from __future__ import annotations

from ragdatakit.schemas.raptor.format import RAPTOR
from tests.faults.drafts import Draft, DraftFile, Place, cell
from tests.raptor_trees import sample_json

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """A file is one tree; forty of them, a line each, are reported as what they are."""
    path = "tree.json"
    return (
        Draft(
            "raptor tree",
            RAPTOR,
            (DraftFile(path, RAPTOR.file("tree"), tuple(cell(sample_json()) for _ in range(SIZE))),),
            frozenset({("several-trees-in-file", path)}),
            lambda path, kind, value: {},
            _own_rules,
            _consequences,
            notes={"entry": path, "format": "raptor"},
        ),
    )


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((name, variant), "").split())


def _consequences(draft: Draft) -> set[Place]:
    return set()


_HUGE = ("2^53 + 1", "2^63", "2^70")
OWN: dict[tuple[str, str], str] = {
    **{("num_layers", variant): "layers-not-whole" for variant in _HUGE},
    **{("embedding_key", variant): "uneven-embeddings" for variant in ("empty", "blank", "surrogate")},
    ("nodes", "empty"): "no-records",
    ("nodes", "an item twice"): "index-unlike-key",
    ("roots", "empty"): "roots-unlike-top-layer",
    **{("roots", f"item {variant}"): "roots-unlike-top-layer" for variant in (*_HUGE, "-2^63 - 1")},
}
"""What the checks report of a field that is so, beside what is declared."""
