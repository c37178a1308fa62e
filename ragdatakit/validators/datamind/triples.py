"""What both DataMind loaders make of one triple, beyond its declaration. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.datamind.images import ImageFolder

NAMES = ("subject", "relation", "object")
ENTITY_PROPERTIES = ("subject_properties", "object_properties")
UNUSED_FIELDS = {
    "properties": "unused-edge-properties",
    "confidence": "unused-confidence",
    "source": "unused-triple-source",
}


def triple_problems(value: Any, images: ImageFolder) -> Iterator[Problem]:
    """The faults of one triple."""
    if not isinstance(value, dict):
        return
    for field in NAMES:
        name = value.get(field)
        # The empty name is found by the declaration.
        if isinstance(name, str) and name:
            stripped = name.strip()
            if not stripped:
                yield Problem("empty-name", f"/{field}", name)
            elif len(stripped) != len(name):
                yield Problem("padded-name", f"/{field}", name)
    subject, target = value.get("subject"), value.get("object")
    if isinstance(subject, str) and isinstance(target, str) and subject.strip() and subject.strip() == target.strip():
        yield Problem("self-loop", "/object", subject)
    for field in ENTITY_PROPERTIES:
        yield from _entity_image_problems(value.get(field), field, images)


def _entity_image_problems(properties: Any, field: str, images: ImageFolder) -> Iterator[Problem]:
    if not isinstance(properties, dict):
        return
    image = properties.get("image")
    if isinstance(image, str) and image:
        fault = images.fault(image)
        if fault is not None:
            reason = f"is {fault.reason}" if fault.kind == "missing" else fault.reason
            yield Problem("missing-entity-image", f"/{field}/image", image, {"field": field, "reason": reason})


def unused_fields(value: Any) -> Iterator[str]:
    """Rules about fields that one of the loaders throws away."""
    if not isinstance(value, dict):
        return
    if value.get("subject_properties") is not None or value.get("object_properties") is not None:
        yield "unused-entity-properties"
    for field, rule in UNUSED_FIELDS.items():
        if value.get(field) is not None:
            yield rule
