"""Clean DataMind profiles, question sets and results of forty records a file, and what its own checks add."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.datamind.format import DATAMIND
from tests.faults.drafts import Draft, DraftFile, cell

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """A profile of required fields, one with every field, a question set, a file of results."""
    bench = _file("bench/tides.jsonl", "bench", [_question(i) for i in range(SIZE)])
    results = _file("benchmark_results.json", "results", [_result(i) for i in range(SIZE)])
    image = DraftFile("images/moon.png", DATAMIND.file("images"), (), content=PNG)
    return (
        Draft("datamind profile", DATAMIND, (_chunks(), _triples()), frozenset(), _derive, _own_rules_where_unused),
        Draft(
            "datamind full profile", DATAMIND, (_full_chunks(), _full_triples(), image), _BASELINE, _derive, _full_rules
        ),
        Draft("datamind questions", DATAMIND, (bench,), frozenset(), _derive, _own_rules),
        # What damage leaves of a lone file of results need not look like one: it is named, not found in its folder.
        Draft(
            "datamind results", DATAMIND, (results,), frozenset(), _derive, _own_rules, notes={"entry": results.path}
        ),
    )


PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
_UNUSED = {
    ("chunks", "id"): "unused-id-or-source",
    ("chunks", "source"): "unused-id-or-source",
    ("triplets", "subject_properties"): "unused-entity-properties",
    ("triplets", "object_properties"): "unused-entity-properties",
    ("triplets", "properties"): "unused-edge-properties",
    ("triplets", "confidence"): "unused-confidence",
    ("triplets", "source"): "unused-triple-source",
}
_BASELINE = frozenset((rule, f"{kind}/tides.jsonl") for (kind, _), rule in _UNUSED.items())


def _file(path: str, kind: str, values: list[Any]) -> DraftFile:
    return DraftFile(path, DATAMIND.file(kind), tuple(map(cell, values)))


def _chunks() -> DraftFile:
    return _file("chunks/tides.jsonl", "chunks", [{"text": _text(i)} for i in range(SIZE)])


def _full_chunks() -> DraftFile:
    given = {
        "image_path": "images/moon.png",
        "image_description": "A moon.",
        "modality": "text_image",
        "source": "tides.md",
    }
    values = [{"text": _text(i), "metadata": {"page": i}, "id": f"tide-{i}", **given} for i in range(SIZE)]
    return _file("chunks/tides.jsonl", "chunks", values)


def _text(i: int) -> str:
    return f"Spring tide number {i} follows the moon."


def _triples() -> DraftFile:
    return _file("triplets/tides.jsonl", "triplets", [_triple(i) for i in range(SIZE)])


def _triple(i: int) -> dict[str, Any]:
    return {"subject": f"Tide {i}", "relation": "caused_by", "object": f"Moon {i}"}


def _full_triples() -> DraftFile:
    given = {
        "subject_type": "Event",
        "object_type": "Body",
        "subject_properties": {"since": "1982"},
        "object_properties": {"since": "1982"},
        "properties": {"seen": "1999"},
        "confidence": 0.5,
        "source": "tides.md",
    }
    return _file("triplets/tides.jsonl", "triplets", [{**_triple(i), **given} for i in range(SIZE)])


def _question(i: int) -> dict[str, Any]:
    return {"question": f"What follows moon {i}?", "reference_answer": f"spring tide {i}", "question_id": f"n{i}"}


def _result(i: int) -> dict[str, Any]:
    return {
        "index": i,
        "question": f"What follows moon {i}?",
        "answer": f"The spring tide {i}.",
        "error": None,
        "latency_s": 1.25,
        "reference_answer": f"spring tide {i}",
        "question_id": f"n{i}",
    }


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    name = path.rsplit("/", 1)[-1]
    if kind == "bench":
        return {"@set": name}
    if kind != "chunks" or not isinstance(value, dict):
        return {}
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        return {}
    if value.get("id"):
        return {"@v2_id": str(value["id"]), "@text": text}
    source = value.get("source") or name
    return {"@v2_hash": (source, text.strip()) if isinstance(source, str) else None}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


def _full_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    if (kind, name, variant) in OWN_OF_FULL:
        return tuple(OWN_OF_FULL[kind, name, variant].split())
    return _own_rules(kind, name, variant)


def _own_rules_where_unused(kind: str, name: str, variant: str) -> tuple[str, ...]:
    """A field that one of the loaders throws away is reported once per file."""
    if (kind, name, variant) in OWN_OF_BARE:
        return tuple(OWN_OF_BARE[kind, name, variant].split())
    own = _own_rules(kind, name, variant)
    return (*own, f"!{_UNUSED[kind, name]}") if (kind, name) in _UNUSED and variant != "null" else own


_HUGE = ("2^53 + 1", "2^63", "2^70", "-2^63 - 1")
_ODD = ("NaN", "Infinity", "-Infinity", "1e400")
_NUMBERS = ("true", "a number", "a decimal", *_ODD, *_HUGE)
OWN: dict[tuple[str, str, str], str] = {
    ("chunks", "text", "blank"): "blank-text",
    **{("triplets", f, "blank"): "empty-name" for f in ("subject", "relation", "object")},
    ("bench", "question", "blank"): "missing-question",
    **{(k, "reference_answer", v): "empty-reference" for k in ("bench", "results") for v in ("empty", "blank")},
}
OWN_OF_BARE: dict[tuple[str, str, str], str] = {
    ("chunks", "text", "empty"): "empty-chunk",
    ("chunks", "image_path", "blank"): "missing-image image-with-text-modality",
    ("chunks", "image_path", "surrogate"): "missing-image image-with-text-modality",
    **{("chunks", "source", v): "source-not-string !unused-id-or-source" for v in ("a list", "an object", *_NUMBERS)},
}
OWN_OF_FULL: dict[tuple[str, str, str], str] = {
    ("chunks", "text", "empty"): "image-only-chunk",
    ("chunks", "image_path", "missing"): "modality-without-image",
    ("chunks", "image_path", "null"): "modality-without-image",
    ("chunks", "image_path", "empty"): "modality-without-image",
    ("chunks", "modality", "missing"): "image-with-text-modality",
    ("chunks", "image_path", "blank"): "missing-image",
    ("chunks", "image_path", "surrogate"): "missing-image",
    ("chunks", "source", "an object"): "source-not-string",
}
