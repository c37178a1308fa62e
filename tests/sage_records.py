"""Random SAGE records for property tests: documented ones, and such that today's operators leave."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
TEXTS = WORDS.map(lambda text: f"tide {text}")
SCORES = st.one_of(st.integers(-3, 3), st.floats(-10, 10), st.sampled_from([0, 1.0, 1e-300, 0.1 + 0.2]))
SECONDS = st.one_of(st.integers(0, 9), st.floats(0, 100))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(WORDS, inner, max_size=2)),
    max_leaves=4,
)
METADATA = st.dictionaries(
    st.sampled_from(["id", "title", "page", "ノート", "text"]), st.one_of(WORDS, st.integers()), max_size=3
)


@st.composite
def results(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Results with distinct texts, some with score and metadata."""
    found = []
    for text in draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True)):
        optional = {"score": SCORES, "metadata": METADATA}
        found.append({"text": text, **draw(st.fixed_dictionaries({}, optional=optional))})
    return found


@st.composite
def refined(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Refined results, some with their numbers."""
    found = []
    for text in draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True)):
        original, kept = draw(st.integers(1, 1000)), draw(st.integers(0, 1000))
        numbers = {"original_length": original, "refined_length": kept, "compression_ratio": kept / original}
        found.append({"text": text, **(numbers if draw(st.booleans()) else {})})
    return found


@st.composite
def documented_records(draw: st.DrawFn) -> dict[str, Any]:
    """A valid record of the documented generation, with any of its stages."""
    record: dict[str, Any] = {"query": draw(TEXTS)}
    if draw(st.booleans()):
        record["references"] = draw(st.lists(TEXTS, max_size=3))
    if draw(st.booleans()):
        sample = {"id": st.one_of(WORDS, st.integers()), "source": JSON, "answer": WORDS, "split": WORDS}
        record["question"] = draw(st.fixed_dictionaries({}, optional=sample))
    if draw(st.booleans()):
        _stage(draw, record, "retrieval", draw(results()))
        if draw(st.booleans()):
            _stage(
                draw, record, "reranking", [{"text": r["text"], "score": 1} for r in record["retrieval_results"][::-1]]
            )
    if draw(st.booleans()):
        _stage(draw, record, "refining", draw(refined()))
    more = {"prompt": WORDS, "generated": TEXTS, "generation_time": SECONDS, "almanac_page": JSON, "input": JSON}
    return record | draw(st.fixed_dictionaries({}, optional=more))


def _stage(draw: st.DrawFn, record: dict[str, Any], stage: str, found: list[dict[str, Any]]) -> None:
    record[f"{stage}_results"] = found
    record[f"{stage}_docs"] = [result["text"] for result in found]
    if draw(st.booleans()):
        record[f"{stage}_time"] = draw(SECONDS)
