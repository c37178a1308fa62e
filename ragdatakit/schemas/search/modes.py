"""The names of the ways to search."""

from __future__ import annotations

TREE_MODES = ("collapsed", "traversal")
MODES = ("bm25", "sparse", "dense", "graph", *TREE_MODES, "contextual", "hybrid")
"""Ways to search. ``sparse`` takes learned-sparse vectors, the two ways of a tree of summaries also find summaries,
``contextual`` takes chunks with contexts, ``hybrid`` fuses the others."""

LIGHTRAG_MODES = tuple(f"lightrag-{mode}" for mode in ("local", "global", "hybrid", "mix", "naive"))
GRAPHRAG_MODES = ("graphrag-local", "graphrag-global")
FRAMEWORK_MODES = (*LIGHTRAG_MODES, *GRAPHRAG_MODES)
"""Ways in which a framework searches: taken by name, and fused with nothing."""
ALL_MODES = (*MODES, *FRAMEWORK_MODES)
EXPLAINED_MODES = (*TREE_MODES, *FRAMEWORK_MODES)
"""Modes of which all candidates can be shown, with why each was found."""


def mode_hint(name: str) -> str:
    """What to say of a mode that a framework has and ragdata has not; empty for other names."""
    if name.lower() in ("drift", "graphrag-drift"):
        return "DRIFT search asks a language model for further questions, and ragdata asks none: use graphrag-local"
    return ""
