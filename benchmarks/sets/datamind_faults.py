"""The faults that a DataMind loader drops, misreads or dies of, one breaker each, for `sets.faults`."""

from __future__ import annotations

from typing import Any

from sets.faults import Fault, as_line, changed, cut_short, without


def datamind_faults() -> dict[str, list[Fault]]:
    """Kinds of fault for chunks and for triples."""
    return {"chunks/*.jsonl": _chunks(), "triplets/*.jsonl": _triples()}


def _chunks() -> list[Fault]:
    def repeated(record: dict[str, Any], number: int) -> str:
        return as_line({**record, "text": f"another text under a used id, number {number}"})

    return [
        Fault("bad-json", cut_short),
        Fault("not-object", lambda record, number: as_line(["a", "b"])),
        Fault("text-missing", without("text")),
        Fault("text-null", changed(text=None)),
        Fault("text-number", changed(text=7)),
        Fault("text-empty", changed(text="")),
        Fault("metadata-null", changed(metadata=None)),
        Fault("metadata-nested", changed(metadata={"tags": {"k": 1}})),
        Fault("metadata-list", changed(metadata={"tags": []})),
        Fault("modality-unknown", changed(modality="Image")),
        Fault("image-missing", changed(image_path="images/none.png", modality="text_image")),
        Fault("duplicate-id", repeated, inserted=True),
        Fault("lone-surrogate", lambda record, number: as_line(record).replace('"text": "', '"text": "\\ud83d ', 1)),
    ]


def _triples() -> list[Fault]:
    return [
        Fault("bad-json", cut_short),
        Fault("not-object", lambda record, number: as_line(number)),
        Fault("subject-missing", without("subject")),
        Fault("object-null", changed(object=None)),
        Fault("relation-number", changed(relation=5)),
        Fault("subject-blank", changed(subject=" ")),
        Fault("object-empty", changed(object="")),
        Fault("confidence-text", changed(confidence="high")),
        Fault("confidence-null", changed(confidence=None)),
        Fault("type-null", changed(subject_type=None)),
        Fault("properties-null", changed(subject_properties=None)),
    ]
